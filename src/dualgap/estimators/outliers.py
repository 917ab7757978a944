"""LinearOneClassSVM and LinearSVDD: rows that do not belong, by a plane or a ball, with scikit-learn's conventions."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import row_norms, safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap.data import Array
from dualgap.estimators.base import CertifiedEstimator
from dualgap.one_class import OneClassProblem, SVDDProblem


class LinearOutlierDetector(OutlierMixin, CertifiedEstimator):  # type: ignore[misc]
    """The fit and the decisions that both share: ``decision_function`` = ``score_samples`` − ``offset_``."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CertifiedEstimator._parameter_constraints,
        "nu": [Interval(Real, 0, 1, closed="right")],
    }
    solver = "auto"

    def _make(self, X: Any) -> OneClassProblem:
        raise AssertionError("a detector names its problem")

    def _take(self, problem: Any, result: Any) -> None:
        raise AssertionError("a detector says what its result means")

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Used in place when dense of either order or CSR, float32 or float64.
        y : ignored

        Returns
        -------
        self
        """
        started = time.perf_counter()
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False)
        problem = self._make(X)
        results = self._solved([lambda: problem], X, problem._matrix.entries, started, None)
        self._keep(results)
        self.n_iter_ = max(1, results[0].n_iter)
        self._take(problem, results[0])
        return self

    def _rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)

    def decision_function(self, X: Any) -> Array:
        """``score_samples`` − ``offset_``: positive for inliers, negative for outliers."""
        scores: Array = self.score_samples(X) - self.offset_
        return scores

    def score_samples(self, X: Any) -> Array:
        """The larger, the more normal."""
        raise AssertionError("a detector scores its rows")

    def predict(self, X: Any) -> Any:
        """1 for inliers, −1 for outliers."""
        return np.where(self.decision_function(X) >= 0, 1, -1)


class LinearOneClassSVM(LinearOutlierDetector):
    """A plane with most rows on its far side from the origin; the linear ``sklearn.svm.OneClassSVM`` with proof.

    Minimises ½‖w‖² − ρ + (1/νn) Σ max(0, ρ − xᵢᵀw), whose relative gap ``OneClassProblem`` defines.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At most this share of the training rows are outliers.
    tol : float, default=1e-3
        The relative duality gap at which the fit is done.
    max_iter : int, default=1000
        Epochs. The default number does not bind; any other does.
    max_time : float, optional
        Seconds for the whole fit.
    random_state, verbose, n_jobs, warm_start, trace
        As in ``LinearSVC``.

    Attributes
    ----------
    coef_ : array of shape (1, n_features)
    intercept_ : array of shape (1,), −ρ
    offset_ : float, ρ
    certificate_, result_, trace_, n_iter_, n_features_in_

    Examples
    --------
    >>> from dualgap import LinearOneClassSVM
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = LinearOneClassSVM(nu=0.1).fit(X)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> bool((model.predict(X) == -1).mean() <= 0.11)
    True
    """

    def __init__(
        self,
        nu: float = 0.5,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _make(self, X: Any) -> OneClassProblem:
        return OneClassProblem(X, nu=self.nu)

    def _take(self, problem: Any, result: Any) -> None:
        self.coef_ = result.coef.reshape(1, -1)
        self.intercept_ = np.array([result.intercept])
        self.offset_ = -result.intercept

    def score_samples(self, X: Any) -> Array:
        """xᵀw: the larger, the more normal."""
        X = self._rows(X)
        scores: Array = np.ravel(safe_sparse_dot(X, self.coef_.ravel(), dense_output=True)).astype(np.float64)
        return scores


class LinearSVDD(LinearOutlierDetector):
    """The smallest ball around most rows: support vector data description, linear, with proof.

    Minimises R² + C Σ max(0, ‖xᵢ − a‖² − R²).

    Parameters
    ----------
    C : float, optional
        The cost of a squared distance outside the ball. Below 1/n the ball is the mean alone, from 1 on it holds every
        row.
    nu : float in (0, 1], default=0.5
        Instead of C, where that is None: C = 1/(νn), so that at most this share of the training rows are outside.
    tol, max_iter, max_time, random_state, verbose, n_jobs, warm_start, trace
        As in ``LinearOneClassSVM``.

    Attributes
    ----------
    center_ : array of shape (n_features,)
    radius_ : float
    offset_ : float, −R²
    certificate_, result_, trace_, n_iter_, n_features_in_

    Examples
    --------
    >>> from dualgap import LinearSVDD
    >>> model = LinearSVDD(C=1.0).fit([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> model.center_.round(3).tolist(), round(model.radius_, 3)
    ([1.0, 0.0], 1.0)
    >>> model.predict([[1.0, 0.9], [3.0, 3.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearOutlierDetector._parameter_constraints,
        "C": [Interval(Real, 0, None, closed="neither"), None],
    }

    def __init__(
        self,
        C: float | None = None,
        nu: float = 0.5,
        *,
        tol: float = 1e-3,
        max_iter: int = 1000,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _make(self, X: Any) -> OneClassProblem:
        return SVDDProblem(X, nu=self.nu) if self.C is None else SVDDProblem(X, C=self.C)

    def _take(self, problem: Any, result: Any) -> None:
        self.center_ = result.coef
        radius2 = max(0.0, problem.radius2(result.coef, result.intercept))
        self.radius_ = float(np.sqrt(radius2))
        self.offset_ = -radius2

    def score_samples(self, X: Any) -> Array:
        """−‖x − a‖²: the larger, the more normal."""
        X = self._rows(X)
        along = np.ravel(safe_sparse_dot(X, self.center_, dense_output=True))
        norms = row_norms(X, squared=True).astype(np.float64)
        scores: Array = -np.maximum(norms - 2 * along + float(self.center_ @ self.center_), 0.0)
        return scores
