"""Problems over a kernel: ``Problem(…, kernel=…)``, and the tasks of the kernel estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import as_vector
from dualgap.errors import InvalidData, UnsupportedProblem
from dualgap.kernels import Kernel, kernel_rows, make_kernel
from dualgap.problem import Problem, _nu_and_cost, _positive, _share, _upper_bound
from dualgap.registry import loss_named

TASKS = ("loss", "one_class", "svdd", "nu_svc", "nu_svr")


class KernelProblem(Problem):
    """Minimise ½‖w‖² + Σ cᵢ ℓ(yᵢ, φ(xᵢ)ᵀw + b) with φ(x)ᵀφ(y) = k(x, y) and a free intercept.

    ``dualgap.Problem(X, y, kernel="rbf")`` makes one. w = Σ βᵢφ(xᵢ) has no coordinates, so a result has ``dual`` (β)
    and ``support`` instead of ``coef``; scores of new rows are Σ βᵢ k(x, xᵢ) + b.

    Parameters
    ----------
    kernel : str or callable
        "linear", "poly", "rbf", "sigmoid", "laplacian", "chi2"; "precomputed", where X is the kernel matrix; or a
        function of two sets of rows.
    gamma : float, "scale" or "auto"
    coef0, degree : float, int
        r and d of "poly" and "sigmoid".
    """

    kind = "kernel"
    default_solver = "smo"

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: str = "hinge",
        C: float = 1.0,
        *,
        kernel: Any,
        gamma: Any = "scale",
        coef0: float = 0.0,
        degree: int = 3,
        sample_weight: Any = None,
        intercept: str = "free",
        **loss_parameters: float,
    ) -> None:
        if intercept != "free":
            raise UnsupportedProblem(f"A kernel problem has a free intercept, not intercept={intercept!r}.")
        if loss == "logistic":
            raise UnsupportedProblem("loss='logistic' has no kernel solver; these losses have: hinge and all others.")
        self._rows_of(X, kernel, gamma, coef0, degree)
        entry = loss_named(loss)
        self.loss = loss
        self._parameter = entry.parameter_value(loss_parameters)
        self.loss_parameters = {entry.parameter: self._parameter} if entry.parameter else {}
        self.y = as_vector(y, "y", self.n_rows)
        if entry.targets == "sign":
            self._check_signs()
        self._end("loss", C, sample_weight, 0.0)

    @classmethod
    def over(
        cls,
        rows: Any,
        kernel: Kernel,
        ids: Any,
        y: Any,
        *,
        task: str = "loss",
        loss: str = "hinge",
        C: float = 1.0,
        parameter: float = 0.0,
        sample_weight: Any = None,
        total: float = 0.0,
        shared: Any = None,
    ) -> KernelProblem:
        """A task over some of the rows: what the estimators solve. ``shared``: the core's ``SharedRows``."""
        problem = object.__new__(cls)
        problem._begin(None, rows, kernel, np.ascontiguousarray(ids, dtype=np.uint32))
        problem.loss = loss if task == "loss" else task
        problem.loss_parameters = {}
        problem._parameter = parameter
        problem.y = np.ascontiguousarray(y, dtype=np.float64)
        problem._end(task, C, sample_weight, total, shared)
        return problem

    def _rows_of(self, X: Any, kernel: Any, gamma: Any, coef0: float, degree: int) -> None:
        """All rows of X, under the kernel of that name."""
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        made = make_kernel(kernel, X, gamma, coef0, degree)
        rows = kernel_rows(made, X)
        self._begin(X, rows, made, np.arange(rows.rows, dtype=np.uint32))

    def _begin(self, X: Any, rows: Any, kernel: Kernel, ids: Any) -> None:
        self.X, self._matrix, self.kernel, self._ids = X, rows, kernel, ids
        self.intercept, self.intercept_scaling = "free", 1.0

    def _end(self, task: str, C: float, sample_weight: Any, total: float, shared: Any = None) -> None:
        self.task, self.C = task, _positive("C", C)
        self.sample_weight = None if sample_weight is None else as_vector(sample_weight, "sample_weight", self.n_rows)
        self._check_costs()
        self._check_targets()
        loss = self.loss if task == "loss" else "hinge"
        self._core: Any = _core.KernelProblem(
            self._matrix, self._ids, self.kernel.core, self.y, self.sample_weight, self.C, task, loss, self._parameter,
            total, shared,
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        return len(self._ids)

    @property
    def work(self) -> int:
        return max(self.n_rows * self.n_rows, self._matrix.entries)

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """Not there: w has no coordinates. ``dualgap.certify(problem, dual=β)`` gives P of w = Σ βφ(x)."""
        raise InvalidData("A kernel problem has no coef; ask dualgap.certify(problem, dual=…) for its primal value.")

    def dual_objective(self, dual: Any) -> float:
        """D(β) by the judge's arithmetic, after β was moved to be feasible.

        >>> import dualgap as dg
        >>> problem = dg.Problem([[1.0], [-1.0]], [1, -1], kernel="linear")
        >>> problem.dual_objective([0.5, -0.5])
        0.5
        """
        return float(self.judged(dual, None)[0].dual)

    def judged(self, dual: Any, intercept: float | None, threads: int = 1) -> Any:
        """The core's certificate of β, and the thresholds that go with it; without an intercept the best one."""
        beta = as_vector(dual, "dual", self.n_rows).copy()
        return _core.judge_kernel(self._core, beta, threads, intercept)

    def __repr__(self) -> str:
        parameters = "".join(f", {k}={v:g}" for k, v in self.loss_parameters.items())
        return (
            f"Problem({self.n_rows} × {self.n_cols} {self.storage}, {self.kernel}, loss={self.loss!r}{parameters}, "
            f"C={self.C:g}, intercept='free')"
        )


class KernelOneClass(KernelProblem):
    """``OneClassProblem`` over a kernel: ½‖w‖² − ρ + (1/νn) Σ max(0, ρ − φ(xᵢ)ᵀw), α in [0, 1/(νn)], Σα = 1.

    >>> import dualgap as dg
    >>> result = dg.solve(dg.OneClassProblem([[0.0], [1.0], [9.0]], nu=0.5, kernel="rbf", gamma=0.1), tol=1e-9)
    >>> bool(abs(result.dual.sum() - 1) < 1e-12), result.intercept == -result.threshold
    (True, True)
    """

    def __init__(
        self, X: Any, *, nu: float = 0.5, kernel: Any, gamma: Any = "scale", coef0: float = 0.0, degree: int = 3
    ) -> None:
        self._rows_of(X, kernel, gamma, coef0, degree)
        self.nu = _share("nu", nu)
        self._without_targets("one_class", _upper_bound(self.nu, self.n_rows))

    def _without_targets(self, task: str, C: float) -> None:
        self.loss, self.loss_parameters, self._parameter = task, {}, 0.0
        self.y = np.zeros(self.n_rows)
        self._end(task, C, None, 1.0)

    def __repr__(self) -> str:
        return f"OneClassProblem({self.n_rows} × {self.n_cols} {self.storage}, {self.kernel}, nu={self.nu:g})"


class KernelSVDD(KernelOneClass):
    """``SVDDProblem`` over a kernel: R² + C Σ max(0, ‖φ(xᵢ) − a‖² − R²), α in [0, C], Σα = 1, a = Σ αφ(x).

    φ(x)ᵀa + intercept − ½k(x, x) = ½(R² − ‖φ(x) − a‖²) is positive inside, R² is a result's ``threshold``. C is at
    least 1/n: below that the ball is a point, for which ``SVDD`` stands.

    >>> import dualgap as dg
    >>> result = dg.solve(dg.SVDDProblem([[0.0], [2.0], [1.5]], C=1.0, kernel="linear"), tol=1e-9)
    >>> round(result.threshold, 6), result.support.tolist()
    (1.0, [0, 1])
    """

    def __init__(
        self,
        X: Any,
        *,
        C: float | None = None,
        nu: float | None = None,
        kernel: Any,
        gamma: Any = "scale",
        coef0: float = 0.0,
        degree: int = 3,
    ) -> None:
        self._rows_of(X, kernel, gamma, coef0, degree)
        self.nu, cost = _nu_and_cost(C, nu, self.n_rows)
        if self.nu > 1 + 1e-12:
            raise UnsupportedProblem(
                f"C={C:g} is below 1/n = {1 / self.n_rows:g}: the ball is a point, which the linear SVDDProblem and "
                "the estimator SVDD take."
            )
        self._without_targets("svdd", cost)

    def __repr__(self) -> str:
        return f"SVDDProblem({self.n_rows} × {self.n_cols} {self.storage}, {self.kernel}, C={self.C:g})"
