"""Kernel problems and estimators: LIBSVM's optimum, certificates recomputed here, every kernel and storage."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel, polynomial_kernel, rbf_kernel

import dualgap as dg

KERNELS = {
    "linear": lambda X, Y: X @ Y.T,
    "poly": lambda X, Y: polynomial_kernel(X, Y, degree=3, gamma=0.1, coef0=1.0),
    "rbf": lambda X, Y: rbf_kernel(X, Y, gamma=0.1),
    "laplacian": lambda X, Y: laplacian_kernel(X, Y, gamma=0.1),
    "chi2": lambda X, Y: chi2_kernel(X, Y, gamma=0.1),
}
PARAMETERS = {"gamma": 0.1, "coef0": 1.0, "degree": 3}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return (X - X.min(0)) / X.std(0), np.where(y == 1, 1.0, -1.0)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("solver", ["smo", "decomposition", "auto"])
def test_a_kernel_problem_is_certified(cancer, name, solver):
    X, y = cancer
    problem = dg.Problem(X, y, C=2.0, kernel=name, **PARAMETERS)
    result = dg.solve(problem, solver, tol=1e-5)
    K = KERNELS[name](X, X)
    assert result.status == "optimal" and result.coef.size == 0
    a = y * result.dual
    assert a.min() >= 0 and a.max() <= 2.0 and abs(result.dual.sum()) < 1e-10
    dual = a.sum() - 0.5 * result.dual @ K @ result.dual
    primal = (
        0.5 * result.dual @ K @ result.dual + 2.0 * np.maximum(0, 1 - y * (K @ result.dual + result.intercept)).sum()
    )
    assert result.certificate.primal == pytest.approx(primal, rel=1e-9)
    assert result.certificate.dual == pytest.approx(dual, rel=1e-9)
    assert primal - dual <= 1e-5 * primal
    assert np.array_equal(result.support, np.flatnonzero(a))
    again = dg.certify(problem, intercept=result.intercept, dual=result.dual)
    assert again.gap == pytest.approx(result.certificate.gap, rel=1e-6, abs=1e-9 * primal)


def test_other_tasks_agree_with_scikit_learn(cancer):
    X, y = cancer
    R, t = load_diabetes(return_X_y=True)
    cases = [
        (dg.NuSVC(nu=0.2, tol=1e-8), svm.NuSVC(nu=0.2, tol=1e-8), X, y, "decision_function"),
        (dg.OneClassSVM(nu=0.2, tol=1e-8), svm.OneClassSVM(nu=0.2, tol=1e-8), X, None, "score_samples"),
        (dg.SVR(C=50, epsilon=5, tol=1e-8), svm.SVR(C=50, epsilon=5, tol=1e-8), R, t, "predict"),
        (dg.NuSVR(C=50, nu=0.3, tol=1e-8), svm.NuSVR(C=50, nu=0.3, tol=1e-8), R, t, "predict"),
        (dg.SVC(C=3, tol=1e-8), svm.SVC(C=3, tol=1e-8), *load_iris(return_X_y=True), "decision_function"),
    ]
    for ours, theirs, rows, target, method in cases:
        for storage in (np.asarray, sp.csr_matrix):
            data = storage(rows)
            a = getattr(ours.fit(data, target), method)(data)
            b = getattr(theirs.fit(data, target), method)(data)
            np.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-4 * np.abs(b).max(), err_msg=type(ours).__name__)
            certificates = np.atleast_1d(ours.certificate_)
            assert all(c.relative_gap <= 1e-8 for c in certificates)
            assert (ours.predict(data) == theirs.predict(data)).mean() > 0.998 or method == "predict" or target is None
        np.testing.assert_allclose(
            getattr(ours.fit(rows, target).to_sklearn(), method)(rows), getattr(ours, method)(rows), atol=1e-8
        )


def test_nu_svr_chooses_epsilon_and_svdd_is_a_ball():
    R, t = load_diabetes(return_X_y=True)
    nu = dg.NuSVR(C=50, nu=0.3, tol=1e-8).fit(R, t)
    fixed = dg.SVR(C=50, epsilon=nu.epsilon_, tol=1e-8).fit(R, t)
    np.testing.assert_allclose(nu.predict(R), fixed.predict(R), atol=0.02)
    X, _ = load_iris(return_X_y=True)
    ball = dg.SVDD(kernel="linear", C=1.0, tol=1e-9).fit(X)
    centre = (ball.dual_coef_ @ ball.support_vectors_)[0]
    distances = ((X - centre) ** 2).sum(axis=1)
    assert ball.radius2_ == pytest.approx(distances.max(), rel=1e-5)
    np.testing.assert_allclose(ball.score_samples(X), -distances, atol=1e-6)
    point = dg.SVDD(kernel="linear", C=1e-3).fit(X)
    np.testing.assert_allclose((point.dual_coef_ @ point.support_vectors_)[0], X.mean(axis=0), rtol=1e-6)


def test_callable_and_precomputed_kernels_are_the_named_ones(cancer):
    X, y = cancer
    train, test = X[::2], X[1::2]
    named = dg.SVC(gamma=0.1, tol=1e-7).fit(train, y[::2])
    function = dg.SVC(kernel=KERNELS["rbf"], tol=1e-7).fit(train, y[::2])
    table = dg.SVC(kernel="precomputed", tol=1e-7).fit(KERNELS["rbf"](train, train), y[::2])
    expected = named.decision_function(test)
    np.testing.assert_allclose(function.decision_function(test), expected, atol=1e-3)
    np.testing.assert_allclose(table.decision_function(KERNELS["rbf"](test, train)), expected, atol=1e-3)


def test_bad_kernels_are_named():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(dg.InvalidData, match="square"):
        dg.SVC(kernel="precomputed").fit(X, y)
    with pytest.raises(dg.InvalidData, match="not symmetric"):
        dg.SVC(kernel="precomputed").fit(np.triu(np.ones((150, 150))), y)
    with pytest.raises(dg.InvalidData, match="NaN"):
        dg.SVC(kernel="precomputed").fit(np.full((150, 150), np.nan), y)
    with pytest.raises(dg.InvalidData, match="shape"):
        dg.SVC(kernel=lambda a, b: np.ones((2, 2))).fit(X, y)
    with pytest.raises(dg.InvalidData, match="negative"):
        dg.SVC(kernel="chi2").fit(-X, y)
    with pytest.raises(dg.UnsupportedProblem, match="free intercept"):
        dg.Problem(X, np.ones(150), kernel="rbf", intercept="none")
    with pytest.raises(dg.UnsupportedProblem, match="CalibratedClassifierCV"):
        dg.SVC(probability=True).fit(X, y)
    with pytest.raises(dg.UnsupportedProblem, match="kernel problems"):
        dg.solve(dg.Problem(X, np.ones(150), kernel="rbf"), "dcd")


def test_a_kernel_that_is_not_positive_ends_and_says_so():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((80, 80))
    y = np.where(rng.random(80) < 0.5, 1.0, -1.0)
    result = dg.solve(dg.Problem(A + A.T, y, kernel="precomputed", C=1.0), max_time=20)
    assert result.status == "stalled" and np.isinf(result.certificate.relative_gap)
    a = y * result.dual
    assert a.min() >= 0 and a.max() <= 1.0


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_the_exponential_is_right_at_every_level(level, tmp_path):
    import os
    import subprocess
    import sys

    code = """
import numpy as np, dualgap as dg
from dualgap import _core
if not _core.simd_has(LEVEL): raise SystemExit
assert _core.simd_level() == LEVEL
x = np.linspace(0, 26, 4001)[:, None]
one = _core.kernel_scores(_core.dense(x), _core.dense(np.zeros((1, 1))), np.zeros(1, dtype=np.uint32),
    _core.Kernel("rbf", 1.0, 0.0, 3), np.ones((1, 1), order="F"), [(0, 1)], threads=1)[:, 0]
np.testing.assert_allclose(one, np.exp(-x[:, 0] ** 2), rtol=1e-12)
"""
    code = f"LEVEL = {level!r}\n" + code
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "DUALGAP_SIMD": level}, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_threads_and_a_small_cache_change_nothing_that_matters():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((2500, 8))
    y = np.where((X[:, :3] ** 2).sum(axis=1) + 0.5 * rng.standard_normal(2500) > 2.5, 1, 0)
    one = dg.SVC(C=5, tol=1e-6, n_jobs=1).fit(X, y)
    two = dg.SVC(C=5, tol=1e-6, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
    small = dg.SVC(C=5, tol=1e-6, cache_size=1).fit(X, y)
    assert small.certificate_.primal == pytest.approx(one.certificate_.primal, rel=2e-6)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_warm_start_budget_and_weights(cancer):
    X, y = cancer
    first = dg.solve(dg.Problem(X, y, C=1.0, kernel="rbf"), tol=1e-6)
    assert dg.solve(dg.Problem(X, y, C=1.0, kernel="rbf"), tol=1e-5, start=first).n_iter == 0
    grown = dg.solve(dg.Problem(X, y, C=1.2, kernel="rbf"), tol=1e-6, start=first)
    assert grown.status == "optimal"
    half = dg.solve(dg.Problem(X[:300], y[:300], C=1.0, kernel="rbf", gamma=0.1), tol=1e-6)
    more = dg.solve(dg.Problem(X, y, C=1.0, kernel="rbf", gamma=0.1), tol=1e-6, start=half, start_rows=np.arange(300))
    assert more.status == "optimal"
    limited = dg.solve(dg.Problem(X, y, C=1e6, kernel="rbf"), tol=0, max_time=0.1)
    assert limited.status in ("max_time", "stalled", "optimal") and limited.seconds < 1
    weight = np.random.default_rng(1).integers(0, 3, len(y))
    weighted = dg.SVC(gamma=0.1, tol=1e-8).fit(X, y, sample_weight=weight)
    repeated = dg.SVC(gamma=0.1, tol=1e-8).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-3)


def test_second_order_choice_needs_fewer_steps(cancer):
    X, y = cancer
    problem = dg.Problem(X, y, C=100.0, kernel="rbf", gamma=0.1)
    steps = {s: dg.solve(problem, "smo", selection=s, tol=1e-5).n_iter for s in ("second-order", "most-violating")}
    assert steps["second-order"] < steps["most-violating"]


@pytest.mark.parametrize("name", ["SVC", "SVR", "NuSVC", "NuSVR", "OneClassSVM", "SVDD"])
def test_scikit_learns_checks(name):
    from sklearn.utils.estimator_checks import check_estimator

    reports = check_estimator(getattr(dg, name)(), on_fail=None, on_skip=None)
    bad = [r for r in reports if r["status"] not in ("passed", "skipped")]
    assert not bad, [(r["check_name"], str(r["exception"])[:200]) for r in bad]


def test_certify_reads_kernel_models(cancer):
    X, y = cancer
    ours = dg.SVC(C=2, tol=1e-6).fit(X, y)
    assert dg.certify(ours, X, y).gap == pytest.approx(ours.certificate_.gap, rel=1e-3, abs=1e-9)
    theirs = dg.certify(svm.SVC(C=2, tol=1e-6).fit(X, y), X, y)
    assert theirs.primal == pytest.approx(ours.certificate_.primal, rel=1e-5) and 0 <= theirs.relative_gap < 1e-4
    flowers, kinds = load_iris(return_X_y=True)
    several = dg.certify(svm.SVC(tol=1e-6, class_weight="balanced").fit(flowers, kinds), flowers, kinds)
    assert len(several) == 3 and all(0 <= c.relative_gap < 1e-4 for c in several)
    R, t = load_diabetes(return_X_y=True)
    assert dg.certify(svm.SVR(C=50, tol=1e-6).fit(R, t), R, t).relative_gap < 1e-4
    with pytest.raises(dg.UnsupportedProblem, match="NuSVC"):
        dg.certify(svm.NuSVC(nu=0.2).fit(X, y), X, y)
