"""SVC and NuSVC: scikit-learn's kernel classifiers, with proof."""

from __future__ import annotations

import time
from functools import partial
from itertools import combinations
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_is_fitted

from dualgap import _core
from dualgap.data import Array
from dualgap.errors import InvalidData, tell
from dualgap.estimators.kernel import KernelEstimator
from dualgap.estimators.labels import class_factors, encode, row_weights
from dualgap.estimators.transfer import to_svm
from dualgap.result import Status


def cache_shares(megabytes: float, sizes: list[int]) -> tuple[float, float, int]:
    """How the problems of every two classes of these sizes share a cache of kernel rows.

    Megabytes for what they have in common, megabytes for each, and how many may run at the same time so that all of it
    stays within the cache. No share depends on the number of threads, so no model does.

    >>> from dualgap.estimators.svc import cache_shares
    >>> [round(share, 2) for share in cache_shares(200.0, [1000, 1000, 1000])]
    [11.44, 15.5, 12]
    >>> cache_shares(1.0, [1000, 1000, 1000])
    (0.25, 0.375, 2)
    """
    common = min(sum(4.0 * size * size for size in sizes) / 2**20, megabytes / 4)
    largest = sum(sorted(sizes)[-2:])
    each = min(4.0 * largest * (largest + 32) / 2**20, (megabytes - common) / 2)
    return common, each, int((megabytes - common) / each)


class KernelClassifier(ClassifierMixin, KernelEstimator):  # type: ignore[misc]
    """One-versus-one over a kernel: a problem for every two classes, all predictions from the same support rows."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelEstimator._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "break_ties": ["boolean"],
        "probability": ["boolean", StrOptions({"deprecated"})],
        "random_state": ["random_state"],
    }

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit to a relative duality gap of ``tol``, for every two classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples)
            The second where ``kernel="precomputed"``: the kernel matrix.
        y : array-like of shape (n_samples,)
            Labels of any type.
        sample_weight : array-like of shape (n_samples,), optional
            A row of weight 2 counts as two rows, one of weight 0 as none.

        Returns
        -------
        self
        """
        started = time.perf_counter()
        if self.probability is True:
            raise self._unsupported(
                "probability=True", "sklearn.calibration.CalibratedClassifierCV around it (docs/coming-from-svc.md)"
            )
        X, y, sample_weight = self._checked(X, y, sample_weight, numeric=False)
        self.classes_, codes = encode(y)
        factors = class_factors(self.class_weight, self.classes_, codes, y, sample_weight)
        self.class_weight_ = np.ones(len(self.classes_)) if factors is None else factors
        weights = row_weights(None if factors is None else factors[codes], sample_weight)
        over = self._prepare(X, sample_weight)
        members = [np.flatnonzero(codes == k) for k in range(len(self.classes_))]
        pairs = [(1, 0)] if len(members) == 2 else list(combinations(range(len(members)), 2))
        work = max(len(members[i]) + len(members[j]) for i, j in pairs) ** 2
        room: dict[str, Any] = {}
        if len(pairs) > 1:
            common, each, at_once = cache_shares(float(self.cache_size), [len(rows) for rows in members])
            over = partial(over, shared=_core.SharedRows(codes.astype(np.uint32), common * 2**20))
            room = {"cache_size": each, "at_once": at_once}
        problems = [partial(self._problem, over, members[i], members[j], weights) for i, j in pairs]
        results = self._solved(problems, X, work, started, **room)
        self._keep(results)
        self._assemble(X, members, pairs, results)
        self.fit_status_ = int(any(result.status != Status.optimal for result in results))
        self.n_iter_ = np.array([max(1, result.n_iter) for result in results], dtype=np.int32)
        return self

    def _problem(self, over: Any, positive: Any, negative: Any, weights: Array | None) -> Any:
        """The rows of one class against those of another."""
        ids = np.concatenate([positive, negative])
        y = np.repeat([1.0, -1.0], [len(positive), len(negative)])
        weight = None if weights is None else weights[ids]
        if weight is not None and not (weight[y > 0].any() and weight[y < 0].any()):
            raise InvalidData("Invalid input - all samples of a class have zero weight; drop that class.")
        return self._pair(over, ids, y, weight)

    def _pair(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        raise AssertionError("a classifier states its problem")

    def _scale(self, result: Any) -> float:
        """What β and b are divided by."""
        return 1.0

    def _assemble(self, X: Any, members: list[Any], pairs: list[tuple[int, int]], results: list[Any]) -> None:
        """β of all pairs → one set of support rows by class, LIBSVM's rows of coefficients, an intercept a pair."""
        n, count = sum(map(len, members)), len(members)
        coef = np.zeros((count - 1, n))
        intercepts = []
        for (i, j), result in zip(pairs, results, strict=True):
            scale = self._scale(result)
            beta = result.dual / scale
            size = len(members[i])
            coef[j - 1 if j > i else j, members[i]] = beta[:size]
            coef[i - 1 if i > j else i, members[j]] = beta[size:]
            intercepts.append(result.intercept / scale)
        used = np.asarray(coef.any(axis=0))
        by_class = [rows[used[rows]] for rows in members]
        self._n_support = [len(rows) for rows in by_class]
        support = np.concatenate(by_class)
        self._keep_support(X, support, coef[:, support])
        self.intercept_ = np.array(intercepts)

    def _pair_scores(self, X: Any) -> Array:
        """Scores of every pair: positive for the first class of the two (for two classes: for the second)."""
        check_is_fitted(self)
        counts = np.asarray(self._n_support)
        count = len(counts)
        ends = np.cumsum(counts)
        if count == 2:
            return np.asarray(self._scores(X, [(0, int(ends[-1]))])[:, 0] + self.intercept_[0])
        parts = self._scores(X, [(int(end - size), int(end)) for end, size in zip(ends, counts, strict=True)])
        scores = np.empty((parts.shape[0], count * (count - 1) // 2))
        for k, (i, j) in enumerate(combinations(range(count), 2)):
            scores[:, k] = parts[:, i * (count - 1) + j - 1] + parts[:, j * (count - 1) + i] + self.intercept_[k]
        return scores

    def decision_function(self, X: Any) -> Array:
        """Scores: one a row for two classes; of every class ("ovr") or every pair of classes ("ovo") for more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        scores = self._pair_scores(X)
        if self.decision_function_shape == "ovr" and len(self.classes_) > 2:
            return np.asarray(_ovr_decision_function(scores < 0, -scores, len(self.classes_)))
        return scores

    def predict(self, X: Any) -> Any:
        """The class of every row: the sign for two classes, the most votes of the pairs for more.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features) or (n_samples, n_samples_at_fit)
        """
        if self.break_ties and self.decision_function_shape == "ovo":
            raise InvalidData("break_ties must be False when decision_function_shape is 'ovo'")
        if self.break_ties and hasattr(self, "classes_") and len(self.classes_) > 2:
            return self.classes_[np.argmax(self.decision_function(X), axis=1)]
        scores = self._pair_scores(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        count = len(self.classes_)
        votes = np.zeros((len(scores), count), dtype=np.intp)
        for k, (i, j) in enumerate(combinations(range(count), 2)):
            first = scores[:, k] > 0
            votes[:, i] += first
            votes[:, j] += ~first
        return self.classes_[np.argmax(votes, axis=1)]

    def _coef_rows(self) -> Any:
        if len(self.classes_) == 2:
            return super()._coef_rows()
        ends = np.cumsum([0, *self._n_support])
        coef = self._coefficients()
        vectors = self.support_vectors_
        part = {
            (i, j): coef[j - 1 if j > i else j, ends[i] : ends[i + 1]] @ vectors[ends[i] : ends[i + 1]]
            for i in range(len(self.classes_))
            for j in range(len(self.classes_))
            if i != j
        }
        return np.vstack([part[i, j] + part[j, i] for i, j in combinations(range(len(self.classes_)), 2)])

    def to_sklearn(self) -> Any:
        """The fitted scikit-learn estimator of the same name with the same support vectors and coefficients.

        >>> from dualgap import SVC
        >>> SVC().fit([[0.0], [1.0]], [0, 1]).to_sklearn().predict([[2.0]])
        array([1])
        """
        return to_svm(self)


class SVC(KernelClassifier):
    """Kernel support vector classification with a certificate; takes the place of ``sklearn.svm.SVC``.

    Minimises ½‖w‖² + C Σ weightᵢ max(0, 1 − yᵢ(φ(xᵢ)ᵀw + b)) for every two classes, to a proven relative gap.

    Parameters
    ----------
    C, kernel, degree, gamma, coef0, shrinking, class_weight, decision_function_shape, break_ties, random_state
        As in scikit-learn; kernels are also "laplacian" and "chi2".
    probability : {False, "deprecated"}
        True is not there: ``sklearn.calibration.CalibratedClassifierCV`` around this does it better.
    tol : float, default=1e-3
        The relative duality gap, (primal − dual) / max(|primal|, |dual|), at which a pair is done.
    cache_size : float, default=200
        Megabytes of kernel rows kept, over all pairs of classes. Beside them a fit holds a float32 copy of X, 140 bytes
        a row and 48 MB of blocks.
    verbose : bool, default=False
    max_iter : int, default=-1
        Epochs (n changed variables are one); −1 sets no limit.
    solver : str, default="auto"
        "smo" (what "auto" is) or "decomposition".
    max_time : float, optional
        Seconds for the whole fit.
    n_jobs : int, optional
        Threads: over pairs of classes, or inside the one fit of two classes; and in prediction.
    warm_start : bool, default=False
        Begin at the last fit's dual point when the rows are as many as then.
    trace : bool, default=False
        Keep ``trace_``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_, classes_, class_weight_, fit_status_, n_iter_
        As in scikit-learn.
    certificate_ : Certificate, or a list of one a pair of classes
    result_ : Result (two classes); results_ : list of Result (more)

    Examples
    --------
    >>> from dualgap import SVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> all(certificate.relative_gap <= 1e-3 for certificate in model.certificate_)
    True
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        "C": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: str = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _pair(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        return over(ids, y, C=self.C, sample_weight=weight)


class NuSVC(KernelClassifier):
    """Kernel classification where ν bounds the shares of errors and of support vectors; ``sklearn.svm.NuSVC``.

    Minimises ½‖w‖² − νnρ + Σ weightᵢ max(0, ρ − yᵢ(φ(xᵢ)ᵀw + b)) for every two classes; the model is (w, b)/ρ, that of
    SVC with C = 1/ρ.

    Parameters
    ----------
    nu : float in (0, 1], default=0.5
        At most this share of the rows are inside the margin, and at least this share are support vectors. More than
        twice the share of the smaller class is infeasible: then that is used, with a warning.
    kernel, degree, gamma, coef0, shrinking, class_weight, decision_function_shape, break_ties, random_state
        As in scikit-learn; the others as in ``dualgap.SVC``.

    Attributes
    ----------
    support_, support_vectors_, n_support_, dual_coef_, intercept_, classes_, fit_status_, n_iter_
        As in scikit-learn.
    certificate_, result_ or results_
        As in ``dualgap.SVC``.

    Examples
    --------
    >>> from dualgap import NuSVC
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(NuSVC(nu=0.2).fit(X, y).score(X, y) > 0.95)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **KernelClassifier._parameter_constraints,
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        solver: str = "auto",
        max_time: float | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        trace: bool = False,
    ) -> None:
        self._set(locals())

    def _pair(self, over: Any, ids: Any, y: Array, weight: Array | None) -> Any:
        costs = np.ones(len(y)) if weight is None else weight
        total = self.nu * float(costs.sum())
        most = 2 * float(min(costs[y > 0].sum(), costs[y < 0].sum()))
        if total > most * (1 + 1e-12):
            tell(
                f"nu={self.nu:g} is infeasible for these classes; the largest that is not, "
                f"{most / costs.sum():.3g}, is used instead.",
                UserWarning,
            )
        total = min(total, most)
        return over(ids, y, task="nu_svc", C=1.0, sample_weight=weight, total=total)

    def _scale(self, result: Any) -> float:
        return float(result.threshold) if result.threshold > 0 else 1.0
