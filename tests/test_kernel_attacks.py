"""Kernel machines under attack: kernels that are none, scales that overflow, no time, no cache, rows without values."""

import tracemalloc
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg
from dualgap.kernels import gamma_value

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 5))
K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=-1))
LABELS = (X[:, 0] + 0.3 * rng.standard_normal(60) > 0).astype(int)
TASKS = {
    "SVC": (dg.SVC(), LABELS),
    "NuSVC": (dg.NuSVC(nu=0.3), LABELS),
    "SVR": (dg.SVR(), X[:, 0]),
    "NuSVR": (dg.NuSVR(nu=0.3), X[:, 0]),
    "OneClassSVM": (dg.OneClassSVM(nu=0.3), None),
    "SVDD": (dg.SVDD(nu=0.3), None),
}
TABLES = [name for name in TASKS if name != "SVDD"]


def fitted(name, data, weight=None, **parameters):
    model, target = TASKS[name]
    return type(model)(**{**model.get_params(), **parameters}).fit(data, target, sample_weight=weight)


def scores(model, data):
    return model.decision_function(data) if hasattr(model, "decision_function") else model.predict(data)


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(
    "kernel, message",
    [
        (lambda a, b: None, "shape"),
        (lambda a, b: "words", "shape"),
        (lambda a, b: np.ones((len(a), len(b), 1)), "shape"),
        (lambda a, b: (a @ b.T) * 1j, "complex128, expected real"),
        (lambda a, b: np.full((len(a), len(b)), None), "object, expected real"),
        (lambda a, b: np.full((len(a), len(b)), np.nan), "NaN"),
        (lambda a, b: np.full((len(a), len(b)), -np.inf), "infinite"),
        (lambda a, b: a @ b.T + np.arange(len(b)), "not symmetric"),
        (lambda a, b: (a @ b.T) * 1e300, "too large|cannot hold"),
    ],
)
def test_rubbish_from_a_kernel_function_is_named(name, kernel, message):
    with pytest.raises(dg.InvalidData, match=message):
        fitted(name, X, kernel=kernel)


@pytest.mark.parametrize("name", TASKS)
def test_rubbish_at_prediction_is_named_and_a_sparse_table_is_taken(name):
    model = fitted(name, X, kernel=lambda a, b: a @ b.T if len(a) == 60 or len(a) == len(b) else np.ones((3, 3)))
    with pytest.raises(dg.InvalidData, match="shape"):
        scores(model, X[:7])
    table = fitted(name, X, kernel=lambda a, b: sp.csr_matrix(a @ b.T))
    np.testing.assert_allclose(scores(table, X[:7]), scores(fitted(name, X, kernel=lambda a, b: a @ b.T), X[:7]))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("table", [-np.eye(60), K - 2 * np.eye(60)], ids=["negative", "indefinite"])
def test_a_table_that_is_no_kernel_ends_and_the_warning_says_why(name, table):
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        model = fitted(name, table, kernel="precomputed")
    assert np.isfinite(scores(model, table)).all()


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("change", [np.triu, lambda K: sp.csr_matrix(np.triu(K))], ids=["dense", "sparse"])
def test_a_lopsided_table_is_refused(name, change):
    with pytest.raises(dg.InvalidData, match="not symmetric"):
        fitted(name, change(K), kernel="precomputed")


@pytest.mark.parametrize("name", TASKS)
def test_values_whose_squares_overflow_are_refused(name):
    for kernel in ("rbf", "linear", "poly", "laplacian"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(dg.InvalidData, match="squares"):
                fitted(name, X * 1e200, kernel=kernel, gamma=1.0)
    if name != "SVDD":
        with pytest.raises(dg.InvalidData, match="squares"):
            fitted(name, K * 1e300, kernel="precomputed")


@pytest.mark.parametrize("name", ["OneClassSVM", "NuSVC"])
@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e-10, 1e10, 1e60])
def test_the_scale_of_a_kernel_changes_nothing_where_the_problem_has_none(name, scale):
    """Below 1e-12 the least curvature of a pair used to hold every step back, for ever."""
    model, usual = (fitted(name, scale_by * K, kernel="precomputed", tol=1e-6) for scale_by in (scale, 1.0))
    assert model.certificate_.relative_gap <= 1e-6
    expected = scores(usual, K)
    np.testing.assert_allclose(
        scores(model, scale * K) / (scale if name == "OneClassSVM" else 1), expected, atol=1e-3 * np.abs(expected).max()
    )


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("gamma", [1e300, 1e6, 1e-300, 0.0])
def test_the_ends_of_gamma_are_certified(name, gamma):
    model = fitted(name, X, gamma=gamma)
    assert model.certificate_.relative_gap <= 1e-3 and np.isfinite(scores(model, X)).all()


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize(
    "data",
    [
        sp.csr_matrix(X * (np.arange(60) % 3 > 0)[:, None]),
        sp.csr_matrix((60, 5)),
        np.zeros((60, 5)),
        np.repeat(X[:1], 60, axis=0),
        X.astype(np.float32),
        X * 1e-200,
        X * 1e25,
    ],
    ids=["empty rows", "no values", "zeros", "all rows equal", "float32", "tiny", "beyond float32"],
)
def test_degenerate_rows_are_certified(name, data):
    model = fitted(name, data)
    assert model.certificate_.relative_gap <= 1e-3 and np.isfinite(scores(model, data)).all()


@pytest.mark.parametrize("name", TASKS)
def test_weights_of_nothing(name):
    half = (np.arange(60) % 2).astype(float)
    assert fitted(name, X, weight=half).certificate_.relative_gap <= 1e-3
    assert not np.isin(np.flatnonzero(half == 0), fitted(name, X, weight=half).support_).any()
    for bad, message in ((np.zeros(60), "non-zero|zero or neg"), (-half, "negative"), (half * np.nan, "NaN")):
        with pytest.raises(ValueError, match=message):
            fitted(name, X, weight=bad)


@pytest.mark.parametrize("name", TASKS)
def test_no_time_and_no_cache(name):
    assert fitted(name, X, cache_size=1e-9).certificate_.relative_gap <= 1e-3
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = fitted(name, X, max_time=1e-12)
    assert np.isfinite(scores(model, X)).all() and model.certificate_.relative_gap > 1e-3


def test_no_time_keeps_the_point_it_was_given():
    first = dg.solve(dg.Problem(X, 2.0 * LABELS - 1, kernel="rbf"), tol=1e-6)
    again = dg.solve(dg.Problem(X, 2.0 * LABELS - 1, kernel="rbf"), tol=0, max_time=1e-12, start=first)
    np.testing.assert_array_equal(again.dual, first.dual)


def test_time_that_is_left_after_a_short_try_is_used():
    """NuSVR with huge kernel values needs more steps than small problems get at first."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted("NuSVR", 1e10 * K, kernel="precomputed", max_time=0.3)
    assert model.result_.status != "max_iter"


@pytest.mark.parametrize("name", ["SVR", "NuSVR", "OneClassSVM", "SVDD"])
def test_one_row(name):
    model, target = TASKS[name]
    model = type(model)().fit(X[:1], None if target is None else target[:1])
    assert model.certificate_.relative_gap <= 1e-3 and scores(model, X[:1]).shape == (1,)


@pytest.mark.parametrize("name", ["SVC", "NuSVC"])
def test_one_class(name):
    for labels in (LABELS[:1], np.zeros(60)):
        with pytest.raises(dg.InvalidData, match="one class"):
            type(TASKS[name][0])().fit(X[: len(labels)], labels)


def test_gamma_scale_takes_no_copy_of_the_rows():
    big = np.random.default_rng(1).standard_normal((40000, 50)) + 3
    weight = np.random.default_rng(2).integers(0, 3, len(big)).astype(float)
    kept = sp.csr_matrix(np.where(big > 4, big, 0.0))
    for data in (big, np.asfortranarray(big), big.astype(np.float32), kept):
        dense = data.toarray() if sp.issparse(data) else data
        tracemalloc.start()
        found = gamma_value("scale", data)
        assert tracemalloc.get_traced_memory()[1] < 6e6  # the rows are 16 MB
        tracemalloc.stop()
        assert found == pytest.approx(1 / (50 * dense.var(dtype=np.float64)), rel=1e-9)
        repeated = np.repeat(dense, weight.astype(int), axis=0)
        assert gamma_value("scale", data, weight) == pytest.approx(1 / (50 * repeated.var(dtype=np.float64)), rel=1e-9)
    twice = sp.csr_matrix((np.ones(4), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2))
    assert gamma_value("scale", twice) == pytest.approx(1 / (2 * twice.toarray().var()))
