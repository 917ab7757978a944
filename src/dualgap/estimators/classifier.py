"""Linear classifiers: labels → ±1, one problem for two classes, one a class for more (one-versus-rest)."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import _fit_context
from sklearn.linear_model._base import LinearClassifierMixin, SparseCoefMixin
from sklearn.utils._param_validation import StrOptions

from dualgap.data import Array, as_matrix
from dualgap.errors import InvalidData
from dualgap.estimators.base import CertifiedEstimator
from dualgap.estimators.callbacks import Watch, watched
from dualgap.estimators.labels import Codes, class_factors, encode, row_weights, signs
from dualgap.problem import Problem


class LinearClassifier(LinearClassifierMixin, SparseCoefMixin, CertifiedEstimator):  # type: ignore[misc]
    """The fit that LinearSVC and LogisticRegression share; they say which loss, and what their parameters mean."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CertifiedEstimator._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def _check_supported(self) -> None:
        """Raises for parameters of scikit-learn's that have no counterpart here."""

    def _cost(self, rows: float) -> float:
        """C, given how many rows there are, weights counted as repetitions."""
        return float(self.C)

    def _loss_name(self) -> str:
        raise AssertionError("a classifier names its loss")

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Used in place when dense of either order or CSR, float32 or float64, also memory-mapped.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
        """
        started = time.perf_counter()
        self._check_supported()
        X, y, sample_weight = self._validated(X, y, sample_weight, numeric=False)
        looking = -time.perf_counter()
        matrix = as_matrix(X)
        looking += time.perf_counter()
        self.classes_, codes = encode(y)
        factors = class_factors(self.class_weight, self.classes_, codes, y, sample_weight)
        positives = [1] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        shape, dtype = (len(positives), matrix.cols), self._coef_dtype(X)
        watch = None
        if watched(self):
            reconstruct = partial(self._attributes, shape=shape, dtype=dtype)
            watch = Watch(self, X, y, sample_weight, len(positives), reconstruct)
        problem = partial(self._problem, matrix, looking, codes, factors, sample_weight)
        problems: list[Callable[[], Problem]] = [partial(problem, k) for k in positives]
        results = self._solved(problems, X, matrix.entries, started, watch)
        self._keep(results)
        points = {k: (result.coef, result.intercept) for k, result in enumerate(results)}
        self.__dict__.update(self._attributes(points, shape, dtype))
        self.n_iter_ = self._n_iter([result.n_iter for result in results])
        return self

    def _problem(
        self, matrix: Any, looking: float, codes: Codes, factors: Array | None, sample_weight: Array | None, k: int
    ) -> Problem:
        """Class k against the rest."""
        y = signs(codes, k)
        weights = row_weights(self._factor_of_row(factors, codes, y), sample_weight)
        mode = self._intercept_mode()
        if mode == "free" and weights is not None and not (weights[y > 0].any() and weights[y < 0].any()):
            raise InvalidData(
                f"Every row that counts is on one side of class {self.classes_[k]!r} (the others have weight 0): "
                "a free intercept would go to infinity; drop that class or use intercept='regularized'."
            )
        problem = Problem(
            matrix,
            y,
            loss=self._loss_name(),
            C=self._cost(matrix.rows if sample_weight is None else float(sample_weight.sum())),
            sample_weight=weights,
            intercept=mode,
            intercept_scaling=self.intercept_scaling,
        )
        problem._looking = looking
        return problem

    def _attributes(self, points: dict[int, tuple[Array, float]], shape: tuple[int, int], dtype: Any) -> dict[str, Any]:
        """``coef_`` and ``intercept_`` from the points found so far; the others are zero."""
        coef, intercept = np.zeros(shape, dtype), np.zeros(shape[0], dtype)
        for k, (w, b) in points.items():
            coef[k] = w
            intercept[k] = b
        return {"coef_": coef, "intercept_": intercept}

    def _factor_of_row(self, factors: Array | None, codes: Codes, y: Array) -> Array | None:
        """The class factor of each row of a one-versus-rest problem."""
        return None if factors is None else factors[codes]

    def _coef_dtype(self, X: Any) -> Any:
        return np.float64

    def _n_iter(self, counts: list[int]) -> Any:
        return max(counts)
