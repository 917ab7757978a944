"""LogisticRegression: scikit-learn's (L2), with proof."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import sklearn
from sklearn.utils._param_validation import Interval, Real, StrOptions
from sklearn.utils.fixes import parse_version

from dualgap.data import Array
from dualgap.errors import UnsupportedProblem, tell
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.transfer import to_logistic_regression

_PENALTY_IS_DEPRECATED = parse_version(sklearn.__version__) >= parse_version("1.8")


class LogisticRegression(LinearClassifier):
    """L2-regularised logistic regression with a certificate; takes the place of scikit-learn's for two classes.

    Minimises ½‖w‖² + C Σ weightᵢ log(1 + exp(−yᵢ(xᵢᵀw + b))) to a proven relative gap; the intercept is not
    regularised, as in scikit-learn.

    **More than two classes are one-versus-rest here**, each class with its own certificate; scikit-learn's default is
    the multinomial model, which is another problem with other coefficients.

    Parameters
    ----------
    penalty : {"l2"}
        Deprecated in scikit-learn 1.8; "l1", "elasticnet" and None are not there and say so.
    C : float, default=1.0
        ``inf``, scikit-learn's way to say "no penalty", is not there: without ½‖w‖² a minimum need not exist.
    l1_ratio : float, default=0.0
        Only 0 (or None), the L2 penalty.
    dual : bool or "auto"
        Accepted; a fit here always has both a primal and a dual point.
    tol : float, default=1e-3
        The relative duality gap at which the fit is done.
    fit_intercept : bool, default=True
    intercept_scaling : float, default=1
        s, for a regularised intercept: it costs b²/(2s²).
    class_weight : dict, "balanced" or None
    random_state : int, RandomState instance or None
        None is 0: the same call gives the same model.
    solver : str, default="auto"
        One of ``dualgap.solvers()``. scikit-learn's names are accepted; "liblinear" regularises the intercept as there.
    max_iter : int, default=100
        Epochs. The default number does not bind; any other does.
    multi_class : {"deprecated", "auto", "ovr"}
        As scikit-learn had it before 1.8; "multinomial" is not there and says so.
    verbose : int, default=0
        1 draws a progress bar with the gap falling and says which solver ran and why.
    warm_start : bool, default=False
        Begin at the last fit's dual point when the rows are as many as then.
    n_jobs : int, optional
        Threads: over classes, or inside the one fit of two classes. The model is the same bit for bit.
    intercept : {"auto", "none", "regularized", "free"}
        "auto" is "free", and "regularized" with solver="liblinear".
    max_time, trace
        As for LinearSVC.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_, feature_names_in_
        As in scikit-learn; for float32 data ``coef_`` is float32, and ``result_.coef`` is what was certified.
    certificate_ : Certificate, or a list of one a class
    result_ : Result (two classes); results_ : list of Result (more)
    trace_ : Trace, or a list of one a class

    Examples
    --------
    >>> from dualgap import LogisticRegression
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(X, y)
    >>> model.certificate_.relative_gap <= 1e-3
    True
    >>> model.predict_proba(X[:1]).shape
    (1, 2)
    """

    _unbound = 100
    _usual_intercept = "free"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "penalty": [StrOptions({"l1", "l2", "elasticnet", "deprecated"}), None],
        "C": [Interval(Real, 0, None, closed="right")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both"), None],
        "multi_class": [StrOptions({"auto", "ovr", "multinomial", "deprecated"})],
    }

    def __init__(
        self,
        penalty: str | None = "deprecated",
        *,
        C: float = 1.0,
        l1_ratio: float | None = 0.0,
        dual: bool | str = False,
        tol: float = 1e-3,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "auto",
        max_iter: int = 100,
        multi_class: str = "deprecated",
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: int | None = None,
        intercept: str = "auto",
        max_time: float | None = None,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _check_supported(self) -> None:
        if self.penalty != "deprecated" and _PENALTY_IS_DEPRECATED:
            tell(
                "'penalty' is deprecated since scikit-learn 1.8: leave it out (it means l2 here).",
                FutureWarning,
            )
        if self.penalty is None or np.inf == self.C:
            raise UnsupportedProblem(
                "LogisticRegression does not do penalty=None (C=inf): without ½‖w‖² a minimum need not exist and "
                "nothing can be certified; use a large C, such as C=1e6."
            )
        if self.penalty not in ("l2", "deprecated"):
            raise self._unsupported(f"penalty={self.penalty!r}", "penalty='l2'")
        if self.l1_ratio and self.penalty == "deprecated":
            raise self._unsupported(f"l1_ratio={self.l1_ratio}", "l1_ratio=0 (the L2 penalty)")
        if self.multi_class == "multinomial":
            raise self._unsupported("multi_class='multinomial'", "multi_class='ovr' (one-versus-rest)")

    def _loss_name(self) -> str:
        return "logistic"

    def _intercept_mode(self) -> str:
        if self.fit_intercept and self.intercept == "auto" and self.solver == "liblinear":
            return "regularized"
        return super()._intercept_mode()

    def _coef_dtype(self, X: Any) -> Any:
        return np.float64 if self.solver == "liblinear" else X.dtype

    def _n_iter(self, counts: list[int]) -> Any:
        return np.array(counts, dtype=np.int32)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class in the order of ``classes_``; one-versus-rest ones are scaled to sum to one."""
        return np.asarray(self._predict_proba_lr(X))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of ``predict_proba``, for two classes without underflow."""
        if len(getattr(self, "classes_", ())) != 2:
            with np.errstate(divide="ignore"):
                return np.log(self.predict_proba(X))
        z = self.decision_function(X)
        return np.column_stack([-np.logaddexp(0, z), -np.logaddexp(0, -z)])

    def to_sklearn(self) -> Any:
        """The fitted scikit-learn estimator with these coefficients: LogisticRegression, or for more than two classes
        a OneVsRestClassifier of them.

        >>> from dualgap import LogisticRegression
        >>> LogisticRegression().fit([[0.0], [1.0]], [0, 1]).to_sklearn().predict([[2.0]])
        array([1])
        """
        return to_logistic_regression(self)
