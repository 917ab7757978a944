"""Problems without targets: the plane beyond which most rows lie, and the smallest ball around most of them.

Both are, up to a factor, ½‖w‖² + b + Σ c max(0, yᵢ − xᵢᵀw − b): the pinball loss with quantile 1, a free intercept, and
Σβ = 1 in the dual where a classifier has 0. Targets 0 make the plane, ½‖xᵢ‖² the ball.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import as_matrix, as_vector
from dualgap.problem import Problem, _nu_and_cost, _share, _upper_bound


class OneClassProblem(Problem):
    """Minimise ½‖w‖² − ρ + (1/νn) Σ max(0, ρ − xᵢᵀw): a row with xᵀw < ρ is an outlier.

    The intercept of a result is −ρ, its dual point is α with 0 ≤ α ≤ 1/(νn) and Σα = 1.

    Relative gap: at the optimum the objective is −½‖w‖², which is 0 where the origin cannot be separated from the rows.
    So that a gap means something there too, it is divided by the largest of primal and dual without their signs and
    10⁻³ · ½ · mean ‖x‖²: w is an average of rows, and a ‖w‖ of a thirtieth of theirs counts as being near 0.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Used in place, as in ``Problem``.
    nu : float in (0, 1]
        At most this share of the rows are outliers, and at least this share have α > 0.
    kernel : str or callable, optional
        φ(x) in place of x, with ``gamma``, ``coef0`` and ``degree`` as in ``Problem``; a result then has ``dual`` and
        ``support`` in place of ``coef``, and ``threshold`` is ρ.

    Examples
    --------
    >>> import dualgap as dg
    >>> problem = dg.OneClassProblem([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [0.1, 0.1]], nu=0.5)
    >>> result = dg.solve(problem, tol=1e-6)
    >>> str(result.status), round(result.certificate.primal, 6)
    ('optimal', -0.64)
    >>> dg.OneClassProblem([[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [0.1, 0.1]], nu=0.5, kernel="rbf", gamma=1.0)
    OneClassProblem(4 × 2 dense float64, kernel='rbf', gamma=1, nu=0.5)
    """

    kind = "one_class"
    default_solver = "oneclass-dcd"

    def __new__(cls, X: Any = None, **keywords: Any) -> Any:
        if keywords.get("kernel") is None:
            return object.__new__(cls)
        from dualgap.kernel_problem import KernelOneClass, KernelSVDD

        return (KernelSVDD if issubclass(cls, SVDDProblem) else KernelOneClass)(X, **keywords)

    def __init__(self, X: Any, *, nu: float = 0.5, kernel: None = None) -> None:
        self.X = X
        self._matrix = as_matrix(X)
        self.nu = _share("nu", nu)
        norms = _core.squared_norms(self._matrix)
        self._set("one_class", _upper_bound(self.nu, self.n_rows), np.zeros(self.n_rows))
        self._core = _core.one_class_problem(self._matrix, self.y, self.C, 1e-3 * 0.5 * float(norms.mean()), 1.0)

    def _set(self, loss: str, C: float, y: Any) -> None:
        """What every problem says of itself."""
        self.loss, self.C, self.y = loss, C, y
        self.loss_parameters: dict[str, float] = {}
        self.intercept, self.intercept_scaling, self.sample_weight = "free", 1.0, None

    def __repr__(self) -> str:
        return f"OneClassProblem({self.n_rows} × {self.n_cols} {self.storage}, nu={self.nu:g})"


class SVDDProblem(OneClassProblem):
    """Minimise R² + C Σ max(0, ‖xᵢ − a‖² − R²) over the centre a and R² ≥ 0 (support vector data description).

    The coefficients of a result are the centre a, its intercept is ½(R² − ‖a‖²), so that xᵀa + intercept − ½‖x‖² =
    ½(R² − ‖x − a‖²) is positive inside; ``radius2`` gives R² back. The dual point is α with 0 ≤ α ≤ C and Σα = 1.

    The ends of C: below 1/n the dual constraint cannot hold, the ball is a point, and the point is the mean (α = 1/n,
    the objective C Σ ‖x − mean‖²); from 1 on all rows are inside and nothing changes any more.

    The relative gap is that of every problem: the objective is a squared length, 0 only where all rows are the same.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Used in place, as in ``Problem``.
    C : float, optional
        The cost of a squared distance outside the ball.
    nu : float in (0, 1], optional
        Instead of C = 1/(νn): at most this share of the rows are outside.
    kernel : str or callable, optional
        As in ``OneClassProblem``: the ball is around the φ(x), ``threshold`` of a result is R².

    Examples
    --------
    >>> import dualgap as dg
    >>> problem = dg.SVDDProblem([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]], C=1.0)
    >>> result = dg.solve(problem, tol=1e-9)
    >>> result.coef.round(6).tolist(), round(problem.radius2(result.coef, result.intercept), 6)
    ([1.0, 0.0], 1.0)
    """

    kind = "svdd"
    default_solver = "svdd-dcd"

    def __init__(self, X: Any, *, C: float | None = None, nu: float | None = None, kernel: None = None) -> None:
        self.X = X
        self._matrix = as_matrix(X)
        n = self._matrix.rows
        self.nu, cost = _nu_and_cost(C, nu, n)
        self._set("svdd", cost, 0.5 * _core.squared_norms(self._matrix))
        self.point = self.C * n < 1  # the ball is one
        bound, unit = (_upper_bound(1.0, n), 2 * self.C * n) if self.point else (self.C, 2.0)
        self._core = _core.one_class_problem(self._matrix, self.y, bound, 0.0, unit)

    def radius2(self, coef: Any, intercept: float) -> float:
        """R² of a point.

        >>> import dualgap as dg
        >>> dg.SVDDProblem([[0.0], [2.0]], C=1).radius2([1.0], 0.0)
        1.0
        """
        a = as_vector(coef, "coef", self.n_cols)
        return 2 * float(intercept) + float(a @ a)

    def objective(self, coef: Any, intercept: float = 0.0) -> float:
        """R² + C Σ max(0, ‖x − a‖² − R²) by the judge's arithmetic.

        >>> import dualgap as dg
        >>> dg.SVDDProblem([[0.0], [2.0]], C=1).objective([1.0], 0.0)
        1.0
        """
        return super().objective(coef, intercept) + self._above(coef, intercept)

    def _above(self, coef: Any, intercept: float) -> float:
        """Where the ball is a point the judge counts nC of R²: the rest of it."""
        return (1 - self.C * self.n_rows) * self.radius2(coef, intercept) if self.point else 0.0

    def __repr__(self) -> str:
        return f"SVDDProblem({self.n_rows} × {self.n_cols} {self.storage}, C={self.C:g})"
