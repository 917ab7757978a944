"""What the kernel estimators share: the kernel, its rows, the support, and scores of new rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted, validate_data

from dualgap import _core
from dualgap.config import available_threads
from dualgap.data import Array, as_matrix
from dualgap.errors import InvalidData
from dualgap.estimators.base import CertifiedEstimator
from dualgap.kernel_problem import KernelProblem
from dualgap.kernels import KERNELS, kernel_rows, make_kernel
from dualgap.result import Result, Status

SMALL = 20_000_000  # products below which one thread predicts


class KernelEstimator(CertifiedEstimator):
    """From rows to a kernel problem, and from β to scikit-learn's attributes."""

    _unbound: ClassVar[int] = -1
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: CertifiedEstimator._parameter_constraints[name] for name in ("tol", "verbose", "max_time", "n_jobs")},
        **{name: CertifiedEstimator._parameter_constraints[name] for name in ("warm_start", "trace", "solver")},
        "kernel": [StrOptions(set(KERNELS)), callable],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, -1, None, closed="left"), None],
    }
    random_state: Any = None

    def _solver_options(self) -> dict[str, Any]:
        return {"cache_size": float(self.cache_size), "shrinking": bool(self.shrinking)}

    def _solver_name(self) -> str:
        return "smo" if self.solver == "auto" else str(self.solver)

    def _checked(self, X: Any, y: Any, sample_weight: Any, numeric: bool | None) -> tuple[Any, Any, Array | None]:
        """Data by scikit-learn's rules (``numeric`` None: no targets); a kernel function gets what it was given."""
        if callable(self.kernel):
            check_consistent_length(*(part for part in (X, y) if part is not None))
            X = X if hasattr(X, "shape") else np.asarray(X)
            y = None if y is None else np.asarray(y)
            if sample_weight is not None:
                sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        elif numeric is None:
            X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
            if sample_weight is not None:
                sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        else:
            X, y, sample_weight = self._validated(X, y, sample_weight, numeric)
        if sample_weight is not None and not (sample_weight > 0).any():
            raise InvalidData("Invalid input - all samples have zero or negative weights.")
        return X, y, sample_weight

    def _prepare(self, X: Any, weight: Array | None) -> Callable[..., KernelProblem]:
        """Keeps the kernel, which scores need again; returns what makes a problem over some of the rows."""
        if not callable(self.kernel):
            as_matrix(X)  # finite, before anything is computed from it
        kernel = make_kernel(self.kernel, X, self.gamma, self.coef0, self.degree, weight)
        self._kernel = kernel
        self._gamma = kernel.gamma
        self._fit_X: Any = X if kernel.function else None
        self._sparse = hasattr(X, "tocsr")
        self.shape_fit_ = X.shape
        return partial(KernelProblem.over, kernel_rows(kernel, X), kernel)

    def _keep_support(self, X: Any, support: Any, dual_coef: Array) -> None:
        """``support_``, ``support_vectors_`` and ``dual_coef_`` (a row an output)."""
        self.support_ = support.astype(np.int32)
        if self._kernel.by_table:
            self.support_vectors_ = np.empty((0, 0))
        else:
            self.support_vectors_ = X[support]
        coef = np.ascontiguousarray(dual_coef)
        self._coef = coef
        if self._sparse:
            from scipy.sparse import csr_array, csr_matrix, issparse

            kind = csr_matrix if issparse(X) and not isinstance(X, csr_array) else csr_array
            self.dual_coef_ = kind(coef)
        else:
            self.dual_coef_ = coef

    def _scores(self, X: Any, ranges: Any) -> Array:
        """Σ coef k(x, support row) for every output and every range of support rows: rows × (ranges · outputs)."""
        X = self._rows_to_score(X)
        kernel = self._kernel
        rows = as_matrix(kernel.table(X, self._fit_X) if kernel.function else X)
        if kernel.by_table:
            support, ids = rows, self.support_.astype(np.uint32)
        else:
            support = as_matrix(self.support_vectors_) if len(self.support_) else rows
            ids = np.arange(len(self.support_), dtype=np.uint32)
        threads = self._threads(rows.rows * max(1, len(ids)) * min(rows.cols, 64))
        return np.asarray(
            _core.kernel_scores(rows, support, ids, kernel.core, self._coefficients().T, list(ranges), threads=threads)
        )

    def _coefficients(self) -> Array:
        """The coefficients as a dense array; where somebody replaced ``dual_coef_``, that one counts."""
        current = self.dual_coef_
        dense = current.toarray() if hasattr(current, "toarray") else np.asarray(current)
        return np.ascontiguousarray(dense, dtype=np.float64)

    def _rows_to_score(self, X: Any) -> Any:
        check_is_fitted(self)
        if callable(self.kernel):
            return X if hasattr(X, "shape") else np.asarray(X)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        if self.kernel == "precomputed" and X.shape[1] != self.shape_fit_[0]:
            raise InvalidData(
                f"X.shape[1] = {X.shape[1]} should be equal to {self.shape_fit_[0]}, the number of samples at training "
                "time: rows of kernel='precomputed' hold the kernel values with every training row."
            )
        if self._sparse and not hasattr(X, "tocsr"):
            from scipy.sparse import csr_array

            X = csr_array(X)
        elif hasattr(X, "tocsr") and not self._sparse:
            raise InvalidData(f"cannot use sparse input in {type(self).__name__!r} trained on dense data")
        return X

    def _threads(self, work: int) -> int:
        if self.n_jobs is None:
            return 1 if work < SMALL else available_threads()
        return int(self.n_jobs) if self.n_jobs > 0 else max(1, available_threads() + 1 + int(self.n_jobs))

    def _fit_one(self, problem: KernelProblem, X: Any, started: float) -> Any:
        """One problem over all rows, solved and kept: the result."""
        results = self._solved([lambda: problem], X, problem.work, started)
        self._keep(results)
        result = results[0]
        self.fit_status_ = int(result.status != Status.optimal)
        self.n_iter_: Any = max(1, result.n_iter)
        self._keep_support(X, result.support, result.dual[result.support][None, :])
        self._n_support = [len(self.support_)]
        return result

    def _after_stall(self, worst: Result) -> str:
        if np.isinf(worst.certificate.relative_gap):
            return "The kernel is not positive semidefinite as far as floating point can tell: choose another"
        return super()._after_stall(worst)

    def _single_scores(self, X: Any) -> Array:
        """Σ coef k(x, support row) where there is one output."""
        check_is_fitted(self)
        return np.asarray(self._scores(X, [(0, len(self.support_))])[:, 0])

    @property
    def n_support_(self) -> Any:
        """The number of support vectors, for each class where there are classes."""
        check_is_fitted(self)
        return np.asarray(self._n_support, dtype=np.int32)

    @property
    def coef_(self) -> Any:
        """The weights of the features, for a linear kernel."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        coef = self._coef_rows()
        return coef.toarray() if hasattr(coef, "toarray") and not self._sparse else coef

    def _coef_rows(self) -> Any:
        return self.dual_coef_ @ self.support_vectors_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.input_tags.sparse = self.kernel != "precomputed"
        return tags
