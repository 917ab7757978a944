"""Problems over a kernel: ``Problem(…, kernel=…)``, and the tasks of the kernel estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import as_vector
from dualgap.errors import InvalidData, UnsupportedProblem
from dualgap.kernels import Kernel, kernel_rows, make_kernel
from dualgap.problem import Problem, _positive
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
        X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
        made = kernel if isinstance(kernel, Kernel) else make_kernel(kernel, X, gamma, coef0, degree)
        rows = X if isinstance(X, _core.Matrix) else kernel_rows(made, X)
        self._begin(X, rows, made, np.arange(rows.rows, dtype=np.uint32))
        entry = loss_named(loss)
        self.loss = loss
        self._parameter = entry.parameter_value(loss_parameters)
        self.loss_parameters = {entry.parameter: self._parameter} if entry.parameter else {}
        self.y = as_vector(y, "y", self.n_rows)
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
    ) -> KernelProblem:
        """A task over some of the rows: what the estimators solve."""
        problem = object.__new__(cls)
        problem._begin(None, rows, kernel, np.ascontiguousarray(ids, dtype=np.uint32))
        problem.loss = loss if task == "loss" else task
        problem.loss_parameters = {}
        problem._parameter = parameter
        problem.y = np.ascontiguousarray(y, dtype=np.float64)
        problem._end(task, C, sample_weight, total)
        return problem

    def _begin(self, X: Any, rows: Any, kernel: Kernel, ids: Any) -> None:
        self.X, self._matrix, self.kernel, self._ids = X, rows, kernel, ids
        self.intercept, self.intercept_scaling = "free", 1.0

    def _end(self, task: str, C: float, sample_weight: Any, total: float) -> None:
        self.task, self.C = task, _positive("C", C)
        self.sample_weight = None if sample_weight is None else as_vector(sample_weight, "sample_weight", self.n_rows)
        self._check_weight()
        loss = self.loss if task == "loss" else "hinge"
        self._core: Any = _core.KernelProblem(
            self._matrix, self._ids, self.kernel.core, self.y, self.sample_weight, self.C, task, loss, self._parameter,
            total,
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
