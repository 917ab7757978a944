"""OneClassSVM and SVDD: the region where most rows lie, with proof."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval

from dualgap.data import Array
from dualgap.errors import InvalidData
from dualgap.estimators.kernel import KernelEstimator
from dualgap.estimators.transfer import to_svm

BORDER = 1e-7  # support vectors lie on the border but for rounding: with this much room they are inside


class KernelOutlierDetector(OutlierMixin, KernelEstimator):  # type: ignore[misc]
    """What OneClassSVM and SVDD share: fit without targets, scores, ±1."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = dict(KernelEstimator._parameter_constraints)

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
        y : Ignored
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        started = time.perf_counter()
        X, _, sample_weight = self._checked(X, None, sample_weight, numeric=None)
        over = self._prepare(X, sample_weight)
        self._finish(self._fit_one(self._problem(over, np.arange(X.shape[0]), sample_weight), X, started))
        return self

    def _problem(self, over: Any, ids: Any, weight: Array | None) -> Any:
        raise AssertionError("a detector states its problem")

    def _finish(self, result: Any) -> None:
        raise AssertionError("a detector sets its offset")

    def score_samples(self, X: Any) -> Array:
        """The raw score of every row: the larger, the less of an outlier.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        return self._single_scores(X)

    def decision_function(self, X: Any) -> Array:
        """The score less ``offset_``: positive inside, negative outside.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        scores = self.score_samples(X)
        return np.asarray(scores - self.offset_)

    def predict(self, X: Any) -> Any:
        """+1 for rows inside, −1 for outliers.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        return np.where(self.decision_function(X) >= 0, 1, -1)


class OneClassSVM(KernelOutlierDetector):
    """One-class support vector machine with a certificate; takes the place of ``sklearn.svm.OneClassSVM``.

    Minimises ½‖w‖² − νnρ + Σ weightᵢ max(0, ρ − φ(xᵢ)ᵀw) to a proven relative gap;
    a row with φ(x)ᵀw < ρ is an outlier.

    Parameters
    ----------
    kernel, degree, gamma, coef0, nu, shrinking
        As in scikit-learn; kernels are also "laplacian" and "chi2".
    tol : float, default=1e-3
        The relative duality gap at which the fit is done.
    cache_size, verbose, max_iter, solver, max_time, n_jobs, warm_start, trace
        As in ``dualgap.SVC``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, offset_, coef_, fit_status_, n_iter_
        As in scikit-learn.
    certificate_ : Certificate
    result_ : Result

    Examples
    --------
    >>> from dualgap import OneClassSVM
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = OneClassSVM(nu=0.1).fit(X)
    >>> model.certificate_.relative_gap <= 1e-3, bool((model.predict(X) < 0).mean() < 0.2)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelOutlierDetector._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
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

    def _problem(self, over: Any, ids: Any, weight: Array | None) -> Any:
        mass = len(ids) if weight is None else float(weight.sum())
        return over(ids, np.zeros(len(ids)), task="one_class", sample_weight=weight, total=self.nu * mass)

    def _finish(self, result: Any) -> None:
        self.offset_ = result.threshold - BORDER * abs(result.threshold)
        self.intercept_ = np.array([-self.offset_])

    def to_sklearn(self) -> Any:
        """The fitted ``sklearn.svm.OneClassSVM`` with the same support vectors and coefficients.

        >>> from dualgap import OneClassSVM
        >>> OneClassSVM().fit([[0.0], [1.0], [0.5]]).to_sklearn().predict([[9.0]])
        array([-1])
        """
        return to_svm(self)


class SVDD(KernelOutlierDetector):
    """Support vector data description: the smallest ball around most rows, in the kernel's space, with a certificate.

    Minimises R² + C Σ weightᵢ max(0, ‖φ(xᵢ) − a‖² − R²) over the centre a and R² ≥ 0.

    The ends of C: below 1/n the ball is a point, the mean of the rows; from 1 on all rows are inside and nothing
    changes any more. With a kernel of constant k(x, x), such as "rbf", and C = 1/(νn) it finds OneClassSVM's region.

    Parameters
    ----------
    kernel, degree, gamma, coef0
        As in ``dualgap.SVC``.
    C : float, optional
        The cost of a squared distance outside the ball; None: 1/(νn).
    nu : float in (0, 1], default=0.5
        At most this share of the rows are outside; ignored where C is given.
    tol, shrinking, cache_size, verbose, max_iter, solver, max_time, n_jobs, warm_start, trace
        As in ``dualgap.SVC``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_
        The rows on and outside the ball; the centre is Σ dual_coefᵢ φ(support vectorᵢ).
    radius2_ : float
        R².
    offset_ : float
        −R²: ``score_samples`` is minus the squared distance from the centre.
    certificate_ : Certificate
    result_ : Result

    Examples
    --------
    >>> from dualgap import SVDD
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = SVDD(nu=0.1).fit(X)
    >>> model.certificate_.relative_gap <= 1e-3, bool((model.predict(X) < 0).mean() < 0.2)
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelOutlierDetector._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither"), None],
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        C: float | None = None,
        nu: float = 0.5,
        tol: float = 1e-3,
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

    def _problem(self, over: Any, ids: Any, weight: Array | None) -> Any:
        mass = len(ids) if weight is None else float(weight.sum())
        asked = 1.0 / (self.nu * mass) if self.C is None else float(self.C)
        self._is_point = asked * mass < 1
        cost = max(asked, (1 + 1e-12) / mass)  # below 1/n every α is at its bound: the mean
        return over(ids, np.zeros(len(ids)), task="svdd", C=cost, sample_weight=weight, total=1.0)

    def _finish(self, result: Any) -> None:
        self.radius2_ = 0.0 if self._is_point else result.threshold
        self.offset_ = -self.radius2_ * (1 + BORDER)
        dual = result.certificate.dual  # Σαk(x, x) − ‖a‖²
        own = self._own_values(self._fit_rows())
        self._centre2 = float(self._coef[0] @ own) - dual

    def _fit_rows(self) -> Any:
        if self._kernel.function is not None:
            return self._fit_X[self.support_]
        return self.support_vectors_

    def _own_values(self, X: Any) -> Array:
        """k(x, x) of every row."""
        kernel = self._kernel
        if kernel.function is not None:
            return np.array([float(kernel.table(X[k : k + 1], X[k : k + 1])[0, 0]) for k in range(X.shape[0])])
        if kernel.name in ("rbf", "laplacian", "chi2"):
            return np.ones(X.shape[0])
        squares = X.multiply(X).sum(axis=1) if hasattr(X, "tocsr") else np.einsum("ij,ij->i", X, X, dtype=np.float64)
        squares = np.asarray(squares, dtype=np.float64).ravel()
        if kernel.name == "linear":
            return squares
        inner = kernel.gamma * squares + kernel.coef0
        return np.asarray(inner**kernel.degree if kernel.name == "poly" else np.tanh(inner))

    def score_samples(self, X: Any) -> Array:
        """Minus the squared distance of every row from the centre.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        """
        X = self._rows_to_score(X)
        return np.asarray(2 * super().score_samples(X) - self._own_values(X) - self._centre2)

    def _prepare(self, X: Any, weight: Array | None) -> Any:
        if self.kernel == "precomputed":
            raise InvalidData(
                "SVDD needs k(x, x) of the rows it scores, which a precomputed kernel does not have; "
                "give the kernel as a function."
            )
        return super()._prepare(X, weight)
