"""LinearSVC: scikit-learn's, with proof."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import StrOptions

from dualgap.data import Array
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.labels import Codes
from dualgap.estimators.transfer import to_linear_svc


class LinearSVC(LinearClassifier):
    """Linear support vector classification with a certificate; takes the place of ``sklearn.svm.LinearSVC``.

    Minimises ½‖w‖² + b²/(2s²) + C Σ weightᵢ ℓ(yᵢ(xᵢᵀw + b)) for each class against the rest, to a proven relative gap.

    Parameters
    ----------
    penalty : {"l2"}
        "l1" is not there and says so.
    loss : {"squared_hinge", "hinge"}
    dual : bool or "auto"
        Accepted; a fit here always has both a primal and a dual point.
    tol : float, default=1e-3
        The relative duality gap, (primal − dual) / max(|primal|, |dual|), at which the fit is done.
    C : float, default=1.0
    multi_class : {"ovr"}
        "crammer_singer" is not there and says so.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        s: the intercept costs b²/(2s²), as in scikit-learn.
    class_weight : dict, "balanced" or None
        As in LIBLINEAR: with more than two classes the factor of a class counts in its own problem, where it stands
        against the rest.
    verbose : int, default=0
        1 draws a progress bar with the gap falling and says which solver ran and why.
    random_state : int, RandomState instance or None
        None is 0: the same call gives the same model.
    max_iter : int, default=1000
        Epochs. The default number does not bind; any other does.
    solver : str, default="auto"
        One of ``dualgap.solvers()``.
    intercept : {"auto", "none", "regularized", "free"}
        "auto" is "regularized", what scikit-learn's class does.
    max_time : float, optional
        Seconds for the whole fit; the best model so far comes back, with its certificate.
    n_jobs : int, optional
        Threads: over classes, or inside the one fit of two classes. The model is the same bit for bit.
    warm_start : bool, default=False
        Begin at the last fit's dual point when the rows are as many as then.
    trace : bool, default=False
        Keep ``trace_``, the gap at every epoch.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn.
    certificate_ : Certificate, or a list of one a class
    result_ : Result (two classes); results_ : list of Result (more)
    trace_ : Trace, or a list of one a class

    Examples
    --------
    >>> from dualgap import LinearSVC
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LinearSVC(loss="hinge").fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2"})],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "multi_class": [StrOptions({"ovr", "crammer_singer"})],
    }

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: bool | str = "auto",
        tol: float = 1e-3,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
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

    def _check_supported(self) -> None:
        if self.penalty != "l2":
            raise self._unsupported(f"penalty={self.penalty!r}", "penalty='l2'")
        if self.multi_class != "ovr":
            raise self._unsupported(f"multi_class={self.multi_class!r}", "multi_class='ovr' (one-versus-rest)")

    def _loss_name(self) -> str:
        return str(self.loss)

    def _factor_of_row(self, factors: Array | None, codes: Codes, y: Array) -> Array | None:
        if factors is None or len(factors) == 2:
            return super()._factor_of_row(factors, codes, y)
        return np.where(y > 0, factors[codes], 1.0)

    def _attributes(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        found = super()._attributes(*args, **kwargs)
        return found if self.fit_intercept else {**found, "intercept_": 0.0}

    def to_sklearn(self) -> Any:
        """The fitted ``sklearn.svm.LinearSVC`` with these coefficients.

        >>> from dualgap import LinearSVC
        >>> LinearSVC().fit([[0.0], [1.0]], [0, 1]).to_sklearn().predict([[2.0]])
        array([1])
        """
        return to_linear_svc(self)
