"""PegasosClassifier: a linear classifier that learns from a stream."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import _check_partial_fit_first_call
from sklearn.utils.validation import _check_sample_weight, validate_data

from dualgap.data import Array
from dualgap.errors import InvalidData
from dualgap.estimators.classifier import LinearClassifier
from dualgap.estimators.labels import class_factors, row_weights
from dualgap.problem import Problem
from dualgap.result import Certificate, Result, Status
from dualgap.solve import TINY, seed_of, solve


class PegasosClassifier(LinearClassifier):
    """Linear classification by stochastic subgradient steps, whole or in chunks as they come (``partial_fit``).

    Minimises (alpha/2)(‖w‖² + b²/s²) + (1/n) Σ ℓ(yᵢ(xᵢᵀw + b)) for each class against the rest; with weights the mean
    is the weighted one, so that a row of weight 2 counts as two rows. For an exact fit of data that is all there,
    ``LinearSVC`` with C = 1/(n·alpha) is faster; this one is for streams and loose tolerances. A whole table of at most
    2,048 entries gives chance nothing to gain: ``fit`` solves it exactly (``solver="auto"``).

    Parameters
    ----------
    alpha : float, default=1e-4
        The weight of the penalty, the paper's λ.
    loss : {"hinge", "squared_hinge", "smoothed_hinge", "logistic"}
    batch_size : int, default=1
        Rows a step.
    projection : bool, default=True
        Keep w inside the ball that holds the optimum.
    average : bool, default=True
        Hand out the average of the later steps, not the last one.
    fit_intercept, intercept_scaling, random_state, verbose, max_time, n_jobs, trace
        As in ``LinearSVC``.
    tol : float, default=1e-2
        The relative duality gap at which ``fit`` is done.
    max_iter : int or None, default=200
        The most epochs of stochastic steps in ``fit``; None sets no limit.
    class_weight : dict, "balanced" or None
        A factor for the rows of each class. "balanced" needs all rows at once, so ``partial_fit`` refuses it.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, n_features_in_
        As in scikit-learn.
    C_ : float
        Of ``fit``: what a row of weight 1 costs in the house's scaling, 1/(n·alpha).
    certificate_, result_ or results_, trace_
        Of ``fit``; a stream has none, since its rows are gone.
    t_ : int
        Steps taken by ``partial_fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from dualgap import PegasosClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PegasosClassifier(alpha=1e-2)
    >>> order = np.random.default_rng(0).permutation(150)
    >>> for chunk in np.split(np.tile(order, 20), 60):
    ...     model = model.partial_fit(X[chunk], y[chunk] == 0, classes=[False, True])
    >>> bool(model.score(X, y == 0) > 0.95)
    True
    """

    _unbound: ClassVar[int | None] = None
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LinearClassifier._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "loss": [StrOptions({"hinge", "squared_hinge", "smoothed_hinge", "logistic"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "projection": ["boolean"],
        "average": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
    }
    # what the shared fit asks for and this class does not offer
    intercept = "auto"
    solver = "pegasos"
    warm_start = False

    def __init__(
        self,
        alpha: float = 1e-4,
        loss: str = "hinge",
        *,
        batch_size: int = 1,
        projection: bool = True,
        average: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        tol: float = 1e-2,
        max_iter: int | None = 200,
        max_time: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        class_weight: Any = None,
        n_jobs: int | None = None,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol`` or for ``max_iter`` epochs.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
        """
        self.__dict__.pop("t_", None)
        return super().fit(X, y, sample_weight)

    def _loss_name(self) -> str:
        return str(self.loss)

    def _cost(self, rows: float) -> float:
        self.C_ = 1 / (self.alpha * max(rows, np.finfo(float).tiny))
        return float(self.C_)

    def _solved(self, problems: Any, X: Any, entries: int, *others: Any, **options: Any) -> list[Result]:
        self._exact = entries <= TINY
        return super()._solved(problems, X, entries, *others, **options)

    def _solver_name(self) -> str:
        return "auto" if self._exact else "pegasos"

    def _solver_options(self) -> dict[str, Any]:
        return {"max_iter": None} if self._exact else self._steps()

    def _steps(self) -> dict[str, Any]:
        average = "suffix" if self.average else "none"
        return {"batch_size": self.batch_size, "projection": self.projection, "average": average}

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """One pass over a chunk of a stream, going on where the last chunk ended.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,)
            All labels that will ever come; needed with the first chunk.
        sample_weight : array-like of shape (n_samples,), optional
            A factor of each row's step; one row in the stream has weight 1 on average, or alpha means another penalty.

        Returns
        -------
        self
        """
        if self.class_weight == "balanced":
            raise InvalidData(
                "class_weight='balanced' needs all rows at once; count the classes and give partial_fit a dictionary."
            )
        first = _check_partial_fit_first_call(self, classes)
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_all_finite=False, reset=first
        )
        unknown = np.setdiff1d(y, self.classes_)
        if unknown.size:
            raise InvalidData(f"y contains {unknown[0]!r}, which is not among the classes of the first chunk.")
        if first or not hasattr(self, "t_"):
            self._begin()
        rows = X.shape[0]
        weights = self._weights(X, y, sample_weight)
        self._rows_seen += rows
        # the ends of chunks are averaged with weights that rise as the cube of their place
        share = min(1.0, 4 * rows / (self._rows_seen + 3 * rows)) if self.average else 1.0
        problems = [
            Problem(X, np.where(y == label, 1.0, -1.0), sample_weight=weights, **self._words(rows))
            for label in self._positive_labels()
        ]
        for k, problem in enumerate(problems):
            result = self._step(problem, k)
            self._last_coef[k], self._last_intercept[k] = result.coef, result.intercept
            self.coef_[k] += share * (result.coef - self.coef_[k])
            self.intercept_[k] += share * (result.intercept - self.intercept_[k])
        self.t_ += -(-rows // self.batch_size)
        self.n_iter_ = 1
        return self

    def _weights(self, X: Any, y: Any, sample_weight: Any) -> Array | None:
        """A chunk's weights, those of the classes among them."""
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        codes = np.searchsorted(self.classes_, y)
        factors = class_factors(self.class_weight, self.classes_, codes, y, sample_weight)
        return row_weights(None if factors is None else factors[codes], sample_weight)

    def _positive_labels(self) -> list[Any]:
        return [self.classes_[1]] if len(self.classes_) == 2 else list(self.classes_)

    def _begin(self) -> None:
        """No chunk seen: zero coefficients, and no word left of an earlier fit."""
        count = len(self._positive_labels())
        for name in ("result_", "results_", "certificate_", "C_"):
            self.__dict__.pop(name, None)
        self.coef_: Array = np.zeros((count, self.n_features_in_))
        self.intercept_: Array = np.zeros(count)
        self._last_coef, self._last_intercept = self.coef_.copy(), self.intercept_.copy()
        self.t_ = self._rows_seen = 0

    def _words(self, rows: int) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "C": 1 / (self.alpha * rows),
            "intercept": self._intercept_mode(),
            "intercept_scaling": self.intercept_scaling,
        }

    def _step(self, problem: Problem, k: int) -> Result:
        """One pass from the last w; the dual point of other rows means nothing here."""
        start = Result(
            coef=self._last_coef[k],
            intercept=self._last_intercept[k],
            dual=np.zeros(problem.n_rows),
            certificate=Certificate(np.inf, -np.inf, np.inf, np.inf),
            status=Status.max_iter,
            solver="pegasos",
            n_iter=self.t_,
            epochs=0.0,
            seconds=0.0,
        )
        options = {**self._steps(), "average": "none", "steps": self.t_}
        seed = seed_of(self.random_state) + self.t_
        return solve(problem, "pegasos", tol=0.0, max_iter=1, random_state=seed, start=start, **options)
