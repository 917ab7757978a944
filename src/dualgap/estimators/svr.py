"""SVR and NuSVR: scikit-learn's kernel regressors, with proof."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval

from dualgap.data import Array
from dualgap.estimators.kernel import KernelEstimator
from dualgap.estimators.transfer import to_svm


class KernelRegressor(RegressorMixin, KernelEstimator):  # type: ignore[misc]
    """The fit and the prediction that SVR and NuSVR share; they state their problem."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelEstimator._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        started = time.perf_counter()
        X, y, sample_weight = self._checked(X, y, sample_weight, numeric=True)
        over = self._prepare(X, sample_weight)
        problem = self._problem(over, np.arange(X.shape[0]), np.asarray(y, dtype=np.float64), sample_weight)
        self.intercept_ = np.array([self._fit_one(problem, X, started).intercept])
        return self

    def _problem(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        raise AssertionError("a regressor states its problem")

    def predict(self, X: Any) -> Array:
        """The value of every row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        return np.asarray(self._single_scores(X) + self.intercept_[0])

    def to_sklearn(self) -> Any:
        """The fitted scikit-learn estimator of the same name with the same support vectors and coefficients.

        >>> from dualgap import SVR
        >>> SVR().fit([[0.0], [1.0]], [0.0, 1.0]).to_sklearn().predict([[2.0]]).shape
        (1,)
        """
        return to_svm(self)


class SVR(KernelRegressor):
    """Kernel support vector regression with a certificate; takes the place of ``sklearn.svm.SVR``.

    Minimises ½‖w‖² + C Σ weightᵢ max(0, |yᵢ − φ(xᵢ)ᵀw − b| − ε), to a proven relative gap.

    Parameters
    ----------
    kernel, degree, gamma, coef0, C, epsilon, shrinking
        As in scikit-learn; kernels are also "laplacian" and "chi2".
    tol : float, default=1e-3
        The relative duality gap at which the fit is done.
    cache_size, verbose, max_iter, solver, max_time, n_jobs, warm_start, trace
        As in ``dualgap.SVC``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, fit_status_, n_iter_
        As in scikit-learn.
    certificate_ : Certificate
    result_ : Result

    Examples
    --------
    >>> from dualgap import SVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = SVR(C=100).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelRegressor._parameter_constraints,
        "epsilon": [Interval(Real, 0.0, None, closed="left")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        solver: str = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _problem(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        return over(ids, y, loss="epsilon_insensitive", parameter=self.epsilon, C=self.C, sample_weight=weight)


class NuSVR(KernelRegressor):
    """Kernel regression where ν chooses ε; takes the place of ``sklearn.svm.NuSVR``.

    Minimises ½‖w‖² + C Σ weightᵢ max(0, |yᵢ − φ(xᵢ)ᵀw − b| − ε) + Cνnε over w, b and ε.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At most this share of the rows are outside the tube, and at least this share are support vectors.
    C, kernel, degree, gamma, coef0, shrinking
        As in scikit-learn; the others as in ``dualgap.SVC``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, fit_status_, n_iter_
        As in scikit-learn.
    epsilon_ : float
        The width of the tube that was chosen.
    certificate_ : Certificate
    result_ : Result

    Examples
    --------
    >>> from dualgap import NuSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> NuSVR(C=100).fit(X, y).certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelRegressor._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        solver: str = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _problem(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        mass = len(y) if weight is None else weight.sum()
        return over(ids, y, task="nu_svr", C=self.C, sample_weight=weight, total=self.C * self.nu * float(mass))

    @property
    def epsilon_(self) -> float:
        """The width of the tube that ν chose."""
        return float(self.result_.threshold)
