"""LinearSVR: scikit-learn's, with proof."""

from __future__ import annotations

import time
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, Real, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from dualgap.data import Array
from dualgap.estimators.base import CertifiedEstimator
from dualgap.estimators.callbacks import Watch, watched
from dualgap.estimators.transfer import to_linear_svr
from dualgap.problem import Problem


class LinearSVR(RegressorMixin, CertifiedEstimator):  # type: ignore[misc]
    """Linear support vector regression with a certificate; takes the place of ``sklearn.svm.LinearSVR``.

    Minimises ½‖w‖² + b²/(2s²) + C Σ weightᵢ ℓ(yᵢ − xᵢᵀw − b), ℓ(r) = max(0, |r| − ε) or its square, to a proven
    relative gap.

    Parameters
    ----------
    epsilon : float, default=0.0
    tol : float, default=1e-3
        The relative duality gap at which the fit is done.
    C : float, default=1.0
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1.0
        s: the intercept costs b²/(2s²), as in scikit-learn.
    dual : bool or "auto"
        Accepted; a fit here always has both a primal and a dual point.
    verbose : int, default=0
        1 draws a progress bar with the gap falling and says which solver ran and why.
    random_state : int, RandomState instance or None
        None is 0: the same call gives the same model.
    max_iter : int, default=1000
        Epochs. The default number does not bind; any other does.
    solver, intercept, max_time, n_jobs, warm_start, trace
        As for LinearSVC.

    Attributes
    ----------
    coef_, intercept_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    certificate_ : Certificate
    result_ : Result
    trace_ : Trace

    Examples
    --------
    >>> from dualgap import LinearSVR
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LinearSVR(C=100.0, epsilon=10.0).fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CertifiedEstimator._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        loss: str = "epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: bool | str = "auto",
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        solver: str = "auto",
        intercept: str = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearSVR:
        """Fit to a relative duality gap of ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Used in place when dense of either order or CSR, float32 or float64, also memory-mapped.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
        """
        started = time.perf_counter()
        X, y, sample_weight = self._validated(X, y, sample_weight, numeric=True)
        problem = Problem(
            X,
            y,
            loss=self.loss,
            C=self.C,
            sample_weight=sample_weight,
            intercept=self._intercept_mode(),
            intercept_scaling=self.intercept_scaling,
            epsilon=self.epsilon,
        )
        watch = Watch(self, X, y, sample_weight, 1, partial(_attributes, self)) if watched(self) else None
        results = self._solved([lambda: problem], X, problem._matrix.entries, started, watch)
        self._keep(results)
        self.__dict__.update(_attributes(self, {0: (results[0].coef, results[0].intercept)}))
        self.n_iter_ = results[0].n_iter
        return self

    def predict(self, X: Any) -> Array:
        """The predicted targets of the rows of X."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        return np.asarray(X @ self.coef_ + self.intercept_)

    def to_sklearn(self) -> Any:
        """The fitted ``sklearn.svm.LinearSVR`` with these coefficients.

        >>> from dualgap import LinearSVR
        >>> type(LinearSVR().fit([[0.0], [1.0]], [0.0, 1.0]).to_sklearn()).__module__
        'sklearn.svm._classes'
        """
        return to_linear_svr(self)


def _attributes(model: Any, points: dict[int, tuple[Array, float]]) -> dict[str, Any]:
    w, b = points[0]
    return {"coef_": np.array(w), "intercept_": np.array([b]) if model.fit_intercept else 0.0}
