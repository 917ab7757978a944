"""How estimators behave when things go wrong, run at once, or are turned round."""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import dualgap as dg
from dualgap.estimators import base

MODELS = {
    "svc": lambda **k: dg.LinearSVC(**k),
    "hinge": lambda **k: dg.LinearSVC(loss="hinge", **k),
    "logistic": lambda **k: dg.LogisticRegression(**k),
    "svr": lambda **k: dg.LinearSVR(epsilon=0.05, **k),
    "svr2": lambda **k: dg.LinearSVR(loss="squared_epsilon_insensitive", epsilon=0.05, **k),
}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS.keys())


def data(seed=0, n=80, p=6, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    scores = X @ rng.standard_normal((p, classes)) + 0.3 * rng.standard_normal((n, classes))
    return X, scores.argmax(axis=1)


# ---------------------------------------------------------------- interrupts and time

INTERRUPTED = """
import sys, threading, time, numpy as np, dualgap as dg
rng = np.random.default_rng(0)
X = rng.standard_normal((60_000, 40)) * 10 ** rng.uniform(-3, 3, 40)
y = rng.integers(0, int(sys.argv[1]), len(X))
model = dg.LinearSVC(loss="hinge", solver="dcd", C=100.0, tol=1e-15, n_jobs=int(sys.argv[2]))
print("ready", flush=True)
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print("stopped", time.time(), flush=True)
print("threads", threading.active_count())
print("healthy", dg.LinearSVC().fit(X[:200], y[:200]).coef_.shape, flush=True)
"""


@pytest.mark.parametrize("classes, jobs", [(2, 1), (2, 2), (4, 2)], ids=["one", "threads", "classes"])
def test_ctrl_c_ends_a_fit_and_leaves_the_interpreter_healthy(classes, jobs):
    late = []
    for _ in range(4):  # a busy machine may hold one of them up
        child = subprocess.Popen(
            [sys.executable, "-c", INTERRUPTED, str(classes), str(jobs)], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout.readline().strip() == "ready"
        time.sleep(0.6)
        assert child.poll() is None
        sent = time.time()
        child.send_signal(2)
        lines = dict(line.split(" ", 1) for line in child.communicate(timeout=30)[0].splitlines())
        assert lines["healthy"].startswith("(") and lines["threads"] == "1" and child.returncode == 0
        late.append(float(lines["stopped"]) - sent)
        if late[-1] < 0.2:
            return
    raise AssertionError(f"Ctrl-C took {min(late):.2f} s at best")


@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("jobs", [1, 2])
def test_max_time_is_for_the_whole_fit_and_the_model_comes_with_a_certificate(classes, jobs):
    X, y = data(n=20_000, p=30, classes=classes)
    model = dg.LinearSVC(loss="hinge", solver="dcd", tol=1e-15, C=1e4, max_time=0.5, n_jobs=jobs)
    over = []
    for _ in range(3):
        start = time.perf_counter()
        with pytest.warns(ConvergenceWarning, match=r"max_time=0\.5"):
            model.fit(X, y)
        over.append(time.perf_counter() - start - 0.5)
        if over[-1] < 0.1:
            break
    assert min(over) < 0.1
    certificates = [model.certificate_] if classes == 2 else model.certificate_
    nothing = float(np.sum(np.maximum(0, 1 - 0 * y))) * 1e4  # P(0, 0)
    assert all(c.dual <= c.primal < nothing for c in certificates)
    assert model.score(X, y) > 0.6


def test_the_warning_says_what_was_reached_asked_for_and_what_to_try():
    X, y = data(n=300, classes=3)
    with pytest.warns(ConvergenceWarning) as caught:
        model = dg.LinearSVC(max_iter=1, solver="dcd", tol=1e-9).fit(X, y)
    (text,) = [str(w.message) for w in caught]
    worst = max(c.relative_gap for c in model.certificate_)
    assert f"{worst:.2g}" in text and "tol=1e-09" in text and "Raise max_iter=1" in text and "classes" in text
    assert caught[0].filename == __file__


# ---------------------------------------------------------------- threads and seeds


@pytest.mark.parametrize("kind", [dg.LinearSVC, dg.LogisticRegression, dg.LinearSVR])
@pytest.mark.parametrize("solver", ["auto", "dcd"])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_same_model_bit_for_bit_with_every_n_jobs(kind, solver, classes):
    X, y = data(n=3000, p=20, classes=classes)
    models = [kind(solver=solver, random_state=7, n_jobs=jobs, tol=1e-2).fit(X, y) for jobs in (1, 2, 3, -1, None)]
    for model in models[1:]:
        assert np.array_equal(model.coef_, models[0].coef_) and np.array_equal(model.intercept_, models[0].intercept_)


@pytest.mark.parametrize("kind", [dg.LinearSVC, dg.LogisticRegression, dg.LinearSVR])
def test_n_jobs_are_the_threads_of_a_single_problem(kind, monkeypatch):
    asked = []
    solve = base.solve
    monkeypatch.setattr(base, "solve", lambda *a, n_threads, **k: asked.append(n_threads) or solve(*a, **k))
    for jobs in (1, 2, None):
        kind(n_jobs=jobs).fit(*data(n=200))
    assert asked == [1, 2, None]


def test_fits_in_several_threads_at_once_are_those_one_after_another():
    sets = [data(seed, n=400) for seed in range(8)]

    def fit(pair):
        return dg.LinearSVC(loss="hinge", random_state=3).fit(*pair).coef_

    alone = [fit(pair) for pair in sets]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            assert all(np.array_equal(a, b) for a, b in zip(alone, pool.map(fit, sets), strict=True))


def test_a_random_state_is_a_seed():
    X, y = data(n=300)
    fit = lambda state: dg.LinearSVC(loss="hinge", solver="dcd", tol=1e-2, random_state=state).fit(X, y).coef_  # noqa: E731
    assert np.array_equal(fit(None), fit(None)) and np.array_equal(fit(4), fit(4))
    assert not np.array_equal(fit(4), fit(5))
    assert np.array_equal(fit(np.random.RandomState(1)), fit(np.random.RandomState(1)))


# ---------------------------------------------------------------- bad and odd input


@each_model
@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda X, y: (np.where(np.arange(6) == 2, np.nan, X), y), "NaN"),
        (lambda X, y: (np.where(np.arange(6) == 2, np.inf, X), y), "infinity"),
        (lambda X, y: (sp.csr_matrix(np.where(np.arange(6) == 2, -np.inf, X)), y), "infinity"),
        (lambda X, y: (X[:0], y[:0]), r"0 sample\(s\)"),
        (lambda X, y: (X[:, :0], y), r"0 feature\(s\)"),
        (lambda X, y: (X, y[:-1]), "inconsistent numbers of samples"),
        (lambda X, y: (X[0], y[:1]), "2D array"),
        (lambda X, y: (X * 1j, y), "[Cc]omplex"),
        (lambda X, y: (np.full((80, 6), "x"), y), "could not convert|must hold numbers"),
        (lambda X, y: (X, np.where(y == 0, np.nan, 1.0)), "NaN"),
    ],
)
def test_bad_data_is_a_value_error_in_a_sentence(make, spoil, says):
    with pytest.raises(ValueError, match=says):
        make().fit(*spoil(*data()))


@pytest.mark.parametrize("make", [dg.LinearSVC, dg.LogisticRegression])
def test_one_class_only_is_an_error(make):
    X = data()[0]
    with pytest.raises(ValueError, match="at least 2 classes"):
        make().fit(X, np.zeros(80))
    with pytest.raises(ValueError, match="continuous"):
        make().fit(X, X[:, 0])


@each_model
@pytest.mark.parametrize(
    ("weight", "says"),
    [
        (np.zeros(80), "zero"),
        (-np.ones(80), "negative"),
        (np.full(80, np.nan), "NaN"),
        (np.ones(79), "shape"),
        (np.ones((80, 2)), "1D"),
    ],
)
def test_bad_weights(make, weight, says):
    with pytest.raises(ValueError, match=says):
        make().fit(*data(), sample_weight=weight)


def test_a_free_intercept_needs_weight_on_both_sides():
    X, y = data()
    with pytest.raises(ValueError, match="one side of class"):
        dg.LogisticRegression().fit(X, y, sample_weight=(y == 1).astype(float))
    assert np.isfinite(dg.LinearSVC().fit(X, y, sample_weight=(y == 1).astype(float)).coef_).all()


@each_model
@pytest.mark.parametrize("exponent", [-150, -75, -20, 20, 75, 150])
@pytest.mark.parametrize("where", ["all", "column", "row"])
def test_values_of_any_size_give_a_correct_model_or_a_clear_error(make, exponent, where):
    X, y = data()
    part = {"all": np.s_[:], "column": np.s_[:, 0], "row": np.s_[3]}[where]
    X[part] *= 10.0**exponent
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            model = make(max_time=20.0).fit(X, y)
        except ValueError as error:
            assert exponent > 20 and "scale its columns" in str(error)
            return
    assert time.perf_counter() - start < 10
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()
    assert model.certificate_.relative_gap <= 1e-3 or caught
    assert model.certificate_.relative_gap <= 1e-3 or exponent > 0


@each_model
@pytest.mark.parametrize("C", [1e-12, 1e-6, 1e6, 1e12])
def test_costs_of_any_size(make, C):
    model = make(C=C, max_time=20.0).fit(*data())
    assert model.certificate_.relative_gap <= 1e-3 and np.isfinite(model.coef_).all()


@each_model
def test_zero_rows_zero_columns_and_constant_columns(make):
    X, y = data()
    reference = make(tol=1e-8).fit(np.delete(X, 2, axis=1), y)
    X[:, 2] = 0
    model = make(tol=1e-8).fit(X, y)
    assert model.coef_.ravel()[2] == 0 and np.allclose(np.delete(model.coef_.ravel(), 2), reference.coef_, atol=1e-4)
    X[5] = 0
    X[:, 3] = 7.0
    assert make().fit(X, y).certificate_.relative_gap <= 1e-3
    assert make().fit(np.zeros_like(X), y).certificate_.relative_gap <= 1e-3


def broken(change):
    X = sp.csr_matrix(np.eye(6)[[0, 1, 2, 3, 4, 5, 0, 1]])
    change(X)
    return X


@each_model
@pytest.mark.parametrize(
    "change",
    [
        lambda X: X.indices.__setitem__(3, 99),
        lambda X: X.indices.__setitem__(3, -1),
        lambda X: X.indptr.__setitem__(2, -5),
        lambda X: X.indptr.__setitem__(2, 7),
        lambda X: X.indptr.__setitem__(-1, 10**6),
    ],
    ids=["column too large", "column negative", "start negative", "starts fall", "end past the values"],
)
def test_broken_csr_is_an_error_and_never_a_crash(make, change):
    with pytest.raises(ValueError, match=r"ind|column|row|start"):
        make().fit(broken(change), [0, 1] * 4)


@each_model
def test_odd_storage_gives_the_same_model(make):
    X, y = data()
    reference = make(tol=1e-9).fit(X, y)
    S = sp.csr_matrix(X)
    unsorted = S.copy()
    for i in range(80):
        unsorted.indices[6 * i : 6 * i + 6] = unsorted.indices[6 * i : 6 * i + 6][::-1].copy()
        unsorted.data[6 * i : 6 * i + 6] = unsorted.data[6 * i : 6 * i + 6][::-1].copy()
    unsorted.has_sorted_indices = False
    twice = sp.csr_matrix((np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), S.indptr * 2), shape=S.shape)
    wide = S.copy()
    wide.indices, wide.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    hole = np.zeros((160, 12))
    hole[::2, ::2] = X
    kept = (unsorted.indices.copy(), twice.data.copy())
    for A in (np.asfortranarray(X), X.astype(">f8"), hole[::2, ::2], X[::-1][::-1], S, S.tocsc(), S.tocoo(), unsorted,
              twice, wide, X.tolist()):  # fmt: skip
        model = make(tol=1e-9).fit(A, y)
        assert np.allclose(model.coef_, reference.coef_, atol=1e-6)
        assert np.allclose(model.intercept_, reference.intercept_, atol=1e-6)
    assert np.array_equal(unsorted.indices, kept[0]) and np.array_equal(twice.data, kept[1])  # untouched
    assert np.allclose(make().fit((X > 0).astype(int), y).coef_, make().fit((X > 0) * 1.0, y).coef_)


# ---------------------------------------------------------------- what must not matter


@each_model
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_weights_are_repetitions(make, sparse, class_weight):
    X, y = data(n=60)
    weight = np.random.default_rng(1).integers(0, 4, 60)
    X2, y2 = X.repeat(weight, axis=0), y.repeat(weight)
    model = make(tol=1e-9)
    if class_weight:
        if "class_weight" not in model.get_params():
            return
        model.set_params(class_weight=class_weight)
    kind = sp.csr_matrix if sparse else np.asarray
    weighed = model.fit(kind(X), y, sample_weight=weight).coef_.copy()
    repeated = model.fit(kind(X2), y2).coef_
    assert np.allclose(weighed, repeated, atol=1e-5)
    assert not np.allclose(weighed, model.fit(kind(X), y).coef_, atol=1e-3)


@pytest.mark.parametrize("make", [MODELS["svc"], MODELS["hinge"], MODELS["logistic"]])
def test_swapping_labels_and_turning_columns(make):
    X, y = data()
    model, swapped, mirrored = (make(tol=1e-10).fit(A, t) for A, t in ((X, y), (X, 1 - y), (-X, y)))
    assert np.allclose(swapped.coef_, -model.coef_, atol=1e-5)
    assert np.allclose(swapped.intercept_, -model.intercept_, atol=1e-5)
    assert np.allclose(mirrored.coef_, -model.coef_, atol=1e-5)
    X, y = data(n=200, classes=4)
    order = np.array([2, 0, 3, 1])
    several, renamed = make(tol=1e-10).fit(X, y), make(tol=1e-10).fit(X, order[y])
    assert np.allclose(renamed.coef_[order], several.coef_, atol=1e-5)


@pytest.mark.parametrize("make", [MODELS["svr"], MODELS["svr2"]])
def test_turning_the_targets_turns_the_regression(make):
    X, y = data()
    model, turned = make(tol=1e-10).fit(X, y), make(tol=1e-10).fit(X, -y)
    assert np.allclose(turned.coef_, -model.coef_, atol=1e-5)
    assert np.allclose(turned.intercept_, -model.intercept_, atol=1e-5)


@each_model
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_and_dense_agree(make, dtype):
    X, y = data(n=200, p=12)
    X = (X * (X > 0.3)).astype(dtype)
    dense, sparse = make(tol=1e-10).fit(X, y), make(tol=1e-10).fit(sp.csr_matrix(X), y)
    assert np.allclose(dense.coef_, sparse.coef_, atol=1e-5)
    assert np.allclose(dense.predict(X), sparse.predict(sp.csr_matrix(X)), atol=1e-5)
