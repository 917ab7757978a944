"""The problem: rows, targets, costs, loss and intercept, validated once and kept by reference."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import Array, as_matrix, as_number, as_vector, largest, looking_threads
from dualgap.errors import InvalidData
from dualgap.registry import loss_named

INTERCEPTS = ("none", "regularized", "free")
LARGEST_TARGET = 1e100  # its square at the largest cost is finite
LEAST_COST = 1e-100  # of all rows together, so that squares have room; the largest is its inverse


class Problem:
    """Minimise ½‖w‖² + R(b) + Σ cᵢ ℓ(yᵢ, xᵢᵀw + b) with cᵢ = C · sample_weightᵢ.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Dense of either order or CSR, float32 or float64, also memory-mapped: used in place. Other types are converted.
    y : array of shape (n,)
        ±1 for margin losses, any number for regression losses.
    loss : str
        One of ``dualgap.losses()``.
    C : float
        The cost of one unit of loss.
    sample_weight : array of shape (n,), optional
        Non-negative; a row of weight 2 counts as two rows.
    intercept : {"none", "regularized", "free"}
        No b; b with R(b) = b²/(2s²), s = ``intercept_scaling``; b with R = 0.
    kernel : str or callable, optional
        Scores Σ βᵢ k(x, xᵢ) + b instead of xᵀw + b, with ``gamma``, ``coef0`` and ``degree`` as in scikit-learn and a
        free intercept: see ``dualgap.kernel_problem.KernelProblem``, which this call then makes.
    **loss_parameters
        ``epsilon``, ``delta``, ``quantile`` or ``smoothing``, as the loss has it.

    Examples
    --------
    >>> import dualgap as dg
    >>> dg.Problem([[0.0, 1.0], [2.0, 1.0], [3.0, 0.0]], [-1, 1, 1], loss="hinge", C=10)
    Problem(3 × 2 dense float64, density 0.67, loss='hinge', C=10, intercept='none')
    """

    #: what ``solver="auto"`` means for this kind of problem
    default_solver = "auto"
    kind = "linear"
    _tells_of_scales = True  # where columns are of wild scale; False: the caller will, once for several problems

    def __new__(cls, *args: Any, **keywords: Any) -> Problem:
        if cls is Problem and keywords.get("kernel") is not None:
            from dualgap.kernel_problem import KernelProblem

            return object.__new__(KernelProblem)
        return object.__new__(cls)

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str = "hinge",
        C: float = 1.0,
        *,
        sample_weight: Any = None,
        intercept: str = "none",
        intercept_scaling: float = 1.0,
        kernel: None = None,
        **loss_parameters: float,
    ) -> None:
        self.X = X
        began = time.perf_counter()
        self._matrix = as_matrix(X)
        # seconds of one thread for a pass over the data, as this machine is today
        self._looking = (time.perf_counter() - began) * looking_threads(self._matrix)
        self.loss = loss
        entry = loss_named(loss)
        self._parameter = entry.parameter_value(loss_parameters)
        self.loss_parameters = {entry.parameter: self._parameter} if entry.parameter else {}
        self.C = _positive("C", C)
        if intercept not in INTERCEPTS:
            raise InvalidData(f"intercept={intercept!r} is not one of {', '.join(map(repr, INTERCEPTS))}.")
        self.intercept = intercept
        self.intercept_scaling = _positive("intercept_scaling", intercept_scaling)
        self.y = as_vector(y, "y", self._matrix.rows)
        if entry.targets == "sign":
            self._check_signs()
        else:
            self._check_targets()
        self.sample_weight = None
        if sample_weight is not None:
            self.sample_weight = as_vector(sample_weight, "sample_weight", self._matrix.rows)
        self._check_costs()
        self._core: Any = _core.Problem(
            self._matrix,
            self.y,
            self.sample_weight,
            self.C,
            loss,
            self._parameter,
            INTERCEPTS.index(intercept),
            self.intercept_scaling,
        )

    def _check_signs(self) -> None:
        y = self.y
        if np.count_nonzero(y == 1) + np.count_nonzero(y == -1) != y.size:
            raise InvalidData(
                f"loss={self.loss!r} takes y = -1 or +1, but y contains {y[np.abs(y) != 1][0]:g}; "
                "estimators map labels for you."
            )

    def _check_costs(self) -> None:
        weight = self.sample_weight
        if weight is not None and weight.min() < 0:
            raise InvalidData(f"sample_weight contains {weight.min():g}; weights must not be negative.")
        if weight is not None and not weight.any():
            raise InvalidData("sample_weight is zero for every row; at least one row must count.")
        with np.errstate(over="ignore"):
            total = self.C * float(self.n_rows if weight is None else weight.sum())
        if not LEAST_COST <= total <= 1 / LEAST_COST:
            raise InvalidData(
                f"C times the weights adds up to {total:g}, where float64 has no room left to compute: "
                f"bring C={self.C:g} or sample_weight nearer to 1."
            )

    def _check_targets(self) -> None:
        most = largest(self.y)
        if most > LARGEST_TARGET:
            raise InvalidData(f"y reaches {most:g}, where float64 has no room left to compute: divide y by a constant.")

    @property
    def work(self) -> int:
        """Entries touched by one pass: what decides about threads."""
        return int(self._matrix.entries)

    @property
    def n_rows(self) -> int:
        return self._matrix.rows

    @property
    def n_cols(self) -> int:
        return self._matrix.cols

    @property
    def storage(self) -> str:
        """ "dense float64", "dense float32", "csr float64" or "csr float32"."""
        return self._matrix.storage

    def _dense_rows(self) -> Array:
        """A dense copy of X in float64, for methods that need all of it at once."""
        return self._matrix.all_entries().reshape(self.n_rows, self.n_cols)

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """P(w, b) by the judge's arithmetic.

        >>> import dualgap as dg
        >>> dg.Problem([[1.0], [-1.0]], [1, -1]).objective([0.0])
        2.0
        """
        return _core.objective(self._core, as_vector(coef, "coef", self.n_cols), float(intercept), 1)

    def dual_objective(self, dual: Any) -> float:
        """D(β) by the judge's arithmetic, after β was moved to be feasible.

        >>> import dualgap as dg
        >>> dg.Problem([[1.0], [-1.0]], [1, -1]).dual_objective([0.5, -0.5])
        0.5
        """
        beta = as_vector(dual, "dual", self.n_rows).copy()
        return _core.judge(self._core, np.zeros(self.n_cols), 0.0, beta, 1).dual

    def _above(self, coef: Any, intercept: float) -> float:
        """What P(w, b) has beyond the core's formula: nothing, but for a ball that is a point."""
        return 0.0

    def costs(self) -> Array:
        """cᵢ = C · sample_weightᵢ for every row."""
        return np.full(self.n_rows, self.C) if self.sample_weight is None else self.C * self.sample_weight

    def __repr__(self) -> str:
        if hasattr(self.X, "tocsr"):
            filled = self._matrix.entries
        else:
            filled = int(np.count_nonzero(np.asarray(self.X)[:1000])) * max(1, self.n_rows // min(self.n_rows, 1000))
        parameters = "".join(f", {k}={v:g}" for k, v in self.loss_parameters.items())
        density = filled / (self.n_rows * self.n_cols)
        return (
            f"Problem({self.n_rows} × {self.n_cols} {self.storage}, density {density:.2g}, "
            f"loss={self.loss!r}{parameters}, C={self.C:g}, intercept={self.intercept!r})"
        )


def _positive(name: str, value: Any) -> float:
    number = as_number(value, name)
    if not (np.isfinite(number) and number > 0):
        raise InvalidData(f"{name}={value!r} must be a positive finite number.")
    return number


def _nu_and_cost(C: float | None, nu: float | None, n: int) -> tuple[float, float]:
    """ν and C of a ball around n rows, of which the user gave one."""
    if (C is None) == (nu is None):
        raise InvalidData("SVDDProblem takes either C or nu, and one of them must be given.")
    share = 1 / (_positive("C", C) * n) if nu is None else _share("nu", nu)
    return share, _upper_bound(share, n) if C is None else float(C)


def _share(name: str, value: Any) -> float:
    number = _positive(name, value)
    if number > 1:
        raise InvalidData(f"{name}={value!r} must be above 0 and at most 1: it is a share of the rows.")
    return number


def _upper_bound(nu: float, n: int) -> float:
    """1/(νn), rounded so that n of them reach 1."""
    from fractions import Fraction

    bound = 1 / (nu * n)
    while Fraction(bound) * n < 1:
        bound = math.nextafter(bound, math.inf)
    return bound
