"""Data that is wrong, empty, extreme or oddly stored: a correct model or one clear sentence, never a NaN."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
import reference

GOOD = np.random.default_rng(0).standard_normal((30, 4))
SIGN = np.where(np.arange(30) % 2, 1.0, -1.0)


@pytest.mark.parametrize("bad, word", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, sp.csr_matrix, lambda a: a.astype(np.float32)])
def test_values_that_are_no_numbers(bad, word, kind):
    X = GOOD.copy()
    X[29, 3] = bad
    with pytest.raises(dg.InvalidData, match=word):
        dg.Problem(kind(X), SIGN)


@pytest.mark.parametrize(
    "make, word",
    [
        (lambda: dg.Problem(np.empty((0, 3)), []), "0 sample"),
        (lambda: dg.Problem(np.empty((3, 0)), [1, -1, 1]), "0 feature"),
        (lambda: dg.Problem([1.0, 2.0], [1, -1]), "2D"),
        (lambda: dg.Problem([["a"], ["b"]], [1, -1]), "numbers"),
        (lambda: dg.Problem([[1j], [2]], [1, -1]), "Complex"),
        (lambda: dg.Problem(GOOD, SIGN[:5]), "y has shape"),
        (lambda: dg.Problem(GOOD, np.where(SIGN > 0, np.nan, SIGN)), "NaN"),
        (lambda: dg.Problem(GOOD, np.arange(30.0)), "y contains"),
        (lambda: dg.Problem(GOOD, SIGN, C=0), "C=0"),
        (lambda: dg.Problem(GOOD, SIGN, C=float("inf")), "C=inf"),
        (lambda: dg.Problem(GOOD, SIGN, C="big"), "C='big'"),
        (lambda: dg.Problem(GOOD, SIGN, loss="zero_one"), "zero_one"),
        (lambda: dg.Problem(GOOD, SIGN, intercept="yes"), "yes"),
        (lambda: dg.Problem(GOOD, SIGN, sample_weight=-np.ones(30)), "negative"),
        (lambda: dg.Problem(GOOD, SIGN, "logistic", C=1e300, sample_weight=np.full(30, 1e9)), "adds up to inf"),
        (lambda: dg.Problem(GOOD, SIGN, C=1e-300, sample_weight=np.full(30, 1e-9)), "adds up to .*e-308"),
        (lambda: dg.Problem(GOOD, SIGN, sample_weight=np.zeros(30)), "zero for every row"),
        (lambda: dg.Problem(GOOD, SIGN, sample_weight=np.ones(7)), "sample_weight has shape"),
        (lambda: dg.solve(dg.Problem(GOOD, SIGN), tol=-1), "tol=-1"),
        (lambda: dg.solve(dg.Problem(GOOD, SIGN), tol=float("nan")), "tol=nan"),
        (lambda: dg.solve(dg.Problem(GOOD, SIGN), max_iter=0), "max_iter=0"),
        (lambda: dg.solve(dg.Problem(GOOD, SIGN), max_time="soon"), "max_time='soon'"),
        (lambda: dg.solve(dg.Problem(GOOD, SIGN), n_threads=0), "n_threads=0"),
        (lambda: dg.certify(dg.Problem(GOOD, SIGN), [1.0, 2.0]), "coef has shape"),
    ],
)
def test_one_clear_sentence(make, word):
    with pytest.raises(dg.InvalidData, match=word) as caught:
        make()
    assert isinstance(caught.value, ValueError) and "\n" not in str(caught.value)


def broken(change):
    csr = sp.csr_matrix(GOOD)
    change(csr)
    return csr


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.indices.__setitem__(3, 99),
        lambda a: a.indices.__setitem__(3, -1),
        lambda a: a.indptr.__setitem__(4, -5),
        lambda a: a.indptr.__setitem__(4, 10**6),
        lambda a: a.indptr.__setitem__(0, 2),
        lambda a: a.indptr.__setitem__(-1, 10**9),
    ],
)
def test_broken_csr_is_refused_before_it_is_read(change):
    with pytest.raises(dg.InvalidData):
        dg.Problem(broken(change), SIGN)


def fit(X, y=SIGN, **more):
    result = dg.solve(dg.Problem(X, y, **more), tol=1e-6, max_time=10)
    assert np.isfinite(result.coef).all() and np.isfinite(result.intercept)
    return result


def test_odd_storage_gives_the_same_model():
    plain = fit(GOOD).certificate.primal
    csr = sp.csr_matrix(GOOD)
    shuffled = sp.csr_matrix((csr.data.copy(), csr.indices.copy(), csr.indptr), shape=csr.shape)
    for i in range(30):  # unsorted
        part = slice(shuffled.indptr[i], shuffled.indptr[i + 1])
        shuffled.indices[part], shuffled.data[part] = (
            shuffled.indices[part][::-1].copy(),
            shuffled.data[part][::-1].copy(),
        )
    doubled = sp.csr_matrix((np.repeat(csr.data / 2, 2), np.repeat(csr.indices, 2), csr.indptr * 2), shape=csr.shape)
    before = doubled.data.copy()
    packed = np.zeros(30, dtype=[("a", "i1"), ("x", "f8", 4)])
    packed["x"] = GOOD
    for X in (
        GOOD.astype(">f8"),
        GOOD[::-1][::-1],
        np.repeat(GOOD, 2, axis=1)[:, ::2],
        GOOD.tolist(),
        packed["x"],
        shuffled,
        doubled,
        sp.csc_matrix(GOOD),
        sp.coo_matrix(GOOD),
        sp.csr_array(GOOD),
    ):
        assert fit(X).certificate.primal == pytest.approx(plain, rel=1e-6)
    assert (doubled.data == before).all(), "the user's own arrays are not touched"


@pytest.mark.parametrize("loss", reference.LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_one_class_constant_columns_and_empty_columns(loss, intercept):
    X = np.c_[GOOD, np.zeros(30), np.full(30, 7.0)]
    for y in (np.ones(30), -np.ones(30), SIGN):
        result = fit(X, y, loss=loss, intercept=intercept)
        assert result.status in ("optimal", "stalled"), result
        assert result.coef[4] == 0


@pytest.mark.parametrize("loss", reference.LOSSES)
@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e20, 1e139])
def test_values_of_any_size(loss, scale):
    result = fit(GOOD * scale, loss=loss)
    assert not np.isnan(result.certificate.primal)
    assert result.certificate.primal <= dg.Problem(GOOD, SIGN, loss).objective(np.zeros(4)) * (1 + 1e-9)


@pytest.mark.parametrize("kernel", [None, "rbf"])
@pytest.mark.parametrize("loss", [loss for loss in reference.LOSSES if loss not in reference.MARGIN])
def test_targets_of_any_size(loss, kernel):
    options = {"kernel": kernel, "intercept": "free"}
    result = fit(GOOD, SIGN * 1e100, loss=loss, **options)
    assert np.isfinite(result.certificate.primal)
    assert result.status == "optimal" or kernel  # β has no digits beside such y: a kernel's scores are nothing
    for scale in (1e101, 1e160, 1e308):
        with pytest.raises(dg.InvalidData, match=r"y reaches 1e.*divide y by a constant"):
            fit(GOOD, SIGN * scale, loss=loss, **options)


@pytest.mark.parametrize("loss", reference.LOSSES)
@pytest.mark.parametrize("C", [1e-12, 1e12])
def test_costs_of_any_size(loss, C):
    result = fit(GOOD, loss=loss, C=C)
    assert result.certificate.primal <= dg.Problem(GOOD, SIGN, loss, C).objective(np.zeros(4)) * (1 + 1e-9)
    if C < 1:
        assert result.status == "optimal"


def test_one_row_and_one_column():
    result = fit([[2.0]], [1.0])
    assert result.status == "optimal" and result.coef == pytest.approx([0.5], rel=1e-3)


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("value", [1e141, -1e160, 1e308])
def test_numbers_whose_squares_have_no_room_are_named(storage, value):
    X = np.array([[1.0, 2.0], [value, 0.5], [0.0, 1.0]])
    with pytest.raises(
        dg.InvalidData, match=rf"up to 1e\+{int(np.log10(abs(value)))}, whose squares float64 cannot hold"
    ):
        dg.Problem(storage(X), [1.0, -1.0, 1.0])
    assert dg.Problem(storage(X / abs(value) * 1e140), [1.0, -1.0, 1.0]).n_rows == 3
