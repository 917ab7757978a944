"""Descent on the dual (dcd, sdca, pair-dcd), its one-class kin and pegasos, against Clarabel, SciPy and the peers."""

import ctypes

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.svm import OneClassSVM
from sklearn.utils.estimator_checks import check_estimator

import dualgap as dg
import reference
from reference import Case, cases

TOL = 1e-5
quiet = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow], "print_blob": True}


def check(case: Case, result: dg.Result, tol: float) -> None:
    """The certificate is what plain NumPy finds, β is feasible, P* lies between, and optimal means optimal."""
    primal = reference.primal(case, result.coef, result.intercept)
    dual = reference.dual(case, result.dual)
    best, size = reference.optimum(case), max(abs(primal), 1e-12)
    c = result.certificate
    assert c.primal == pytest.approx(primal, rel=1e-9, abs=1e-9 * size)
    assert c.dual == pytest.approx(dual, rel=1e-9, abs=1e-8 * size)
    assert c.gap == pytest.approx(primal - dual, rel=1e-6, abs=1e-8 * size)
    assert reference.infeasibility(case, result.dual) <= 1e-12
    slack = 1e-6 * size + 1e-9 * (1 + case.costs.sum())  # Clarabel's own
    assert dual - slack <= best <= primal + slack
    assert (result.status == "optimal") == (c.relative_gap <= tol)
    if result.status == "optimal":
        assert primal - best <= tol * size + slack


def separate(case: Case) -> bool:
    """May a smooth loss with a free intercept have no optimum here: rows that count on one side only?"""
    return case.intercept == "free" and case.loss in reference.MARGIN and len(set(case.y[case.costs > 0])) < 2


@pytest.mark.parametrize(
    "solver, intercepts", [("dcd", ("none", "regularized")), ("sdca", ("none", "regularized")), ("pair-dcd", ("free",))]
)
def test_random_problems(solver, intercepts):
    @settings(max_examples=40, **quiet)
    @given(cases(intercepts=intercepts))
    def run(case):
        if separate(case) and case.loss == "logistic":
            return  # the infimum is not attained
        result = dg.solve(case.problem(), solver, tol=TOL, max_iter=5000, max_time=2)
        check(case, result, TOL)
        if case.C * (case.X**2).sum(axis=1).max(initial=0) <= 1:
            assert result.status == "optimal"

    run()


def sample(loss="hinge", intercept="none", n=150, p=8, C=0.5, seed=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    score = X @ rng.standard_normal(p) + 0.7 * rng.standard_normal(n) + 0.4
    y = np.where(score > 0, 1.0, -1.0) if loss in reference.MARGIN else score
    return Case(X, y, loss, C, intercept, parameters=reference.LOSSES[loss])


# --- sdca


@pytest.mark.parametrize("order", ["permuted", "random"])
@pytest.mark.parametrize("output", ["last", "average", "random"])
@pytest.mark.parametrize("loss", ["hinge", "smoothed_hinge", "logistic"])
def test_sdca_hands_out_w_and_dual_of_the_same_moment(order, output, loss):
    case = sample(loss)
    result = dg.solve(case.problem(), "sdca", tol=TOL, order=order, output=output)
    check(case, result, TOL)
    assert result.status == "optimal"
    np.testing.assert_allclose(result.coef, case.X.T @ result.dual, atol=1e-9)


def test_sdca_begins_with_stochastic_steps():
    """Their hinge formula on two orthogonal rows: αₜyₜ = clip(λt(1 − yₜxₜᵀw)/‖xₜ‖²), λ = 1/(nC), in either order."""
    X, C = np.diag([2.0, 2.0]), 0.4
    result = dg.solve(dg.Problem(X, [1, 1], C=C), "sdca", init="sgd", max_iter=1, tol=0)
    lam = 1 / (2 * C)
    expected = [C * min(1.0, lam * t / 4) for t in (1, 2)]
    assert sorted(result.dual) == pytest.approx(expected)
    assert result.epochs == 1


def test_sdca_reaches_the_optimum_from_either_start():
    case = sample(n=400, C=0.02)
    duals = {}
    for init in ("zero", "sgd"):
        duals[init] = dg.solve(case.problem(), "sdca", init=init, max_iter=2, tol=0).certificate.dual
    assert 0 < duals["zero"] <= reference.optimum(case) and 0 < duals["sgd"] <= reference.optimum(case)
    for init in duals:
        assert dg.solve(case.problem(), "sdca", init=init, tol=TOL).status == "optimal"


def test_sdca_draws_by_the_seed():
    problem = sample().problem()
    first, again, other = (dg.solve(problem, "sdca", order="random", random_state=k, max_iter=3) for k in (1, 1, 2))
    assert (first.dual == again.dual).all() and (first.dual != other.dual).any()


# --- pair-dcd


@pytest.mark.parametrize("loss", list(reference.LOSSES))
@pytest.mark.parametrize("pairs", ["cyclic", "random", "greedy"])
@pytest.mark.parametrize("shrinking", [True, False])
def test_every_choice_of_pairs_reaches_the_optimum(loss, pairs, shrinking):
    case, tol = sample(loss, "free", n=60, p=4), 1e-4
    result = dg.solve(case.problem(), "pair-dcd", tol=tol, pairs=pairs, shrinking=shrinking, max_time=20)
    check(case, result, tol)
    assert result.status == "optimal"


def test_the_intercept_is_where_the_free_rows_put_it():
    case = sample("hinge", "free", C=2.0)
    result = dg.solve(case.problem(), "pair-dcd", tol=1e-9)
    free = (np.abs(result.dual) > 1e-6) & (np.abs(result.dual) < case.C - 1e-6)
    assert free.any()
    np.testing.assert_allclose((case.y - case.X @ result.coef)[free], result.intercept, atol=1e-3)


def test_rows_of_one_sign_and_equal_rows():
    one = Case(np.eye(5), np.ones(5), "hinge", 1.0, "free")
    assert dg.solve(one.problem(), "pair-dcd").certificate.primal == pytest.approx(0, abs=1e-12)
    twins = Case(np.ones((6, 2)), np.array([1, 1, 1, 1, -1, -1.0]), "hinge", 1.0, "free")
    assert dg.solve(twins.problem(), "pair-dcd", tol=1e-8).certificate.primal == pytest.approx(4.0)


def test_warm_start_at_the_optimum_costs_nothing():
    problem = sample("squared_hinge", "free").problem()
    first = dg.solve(problem, "pair-dcd", tol=1e-6)
    again = dg.solve(problem, "pair-dcd", tol=1e-5, start=first)
    assert again.status == "optimal" and again.n_iter <= 2


def test_the_peers_find_the_same_objectives():
    from liblinear.liblinearutil import parameter, problem, train
    from libsvm.svmutil import svm_parameter, svm_problem, svm_train

    case = sample("hinge", "free", C=1.0)
    theirs = svm_train(svm_problem(case.y, case.X), svm_parameter("-s 0 -t 0 -c 1 -e 1e-9 -q"))
    beta = np.zeros(len(case.y))
    beta[np.array(theirs.get_sv_indices()) - 1] = np.ravel(theirs.get_sv_coef()) * (
        1 if theirs.get_labels()[0] == 1 else -1
    )
    ours = dg.solve(case.problem(), "pair-dcd", tol=1e-8)
    assert ours.certificate.dual == pytest.approx(reference.dual(case, beta), rel=1e-6)

    for loss, kind in (("hinge", 3), ("squared_hinge", 1), ("logistic", 7)):
        case = sample(loss)
        ctypes.CDLL(None).srand(1)  # its order of rows is C's, wherever the tests before have left that
        model = train(problem(case.y, case.X), parameter(f"-s {kind} -c {case.C} -e 1e-10 -q"))
        w = np.array(model.get_decfun()[0])
        ours = dg.solve(case.problem(), "sdca", tol=1e-8)
        assert ours.certificate.primal == pytest.approx(reference.primal(case, w), rel=1e-6)


@pytest.mark.parametrize("seed", [0, 4, 15, 26, 29])
def test_pairs_get_to_the_end_where_the_tube_is_flat(seed):
    """Rows that want little were left out for good, and the gap stood at 1e-3 after 200,000 epochs."""
    random = np.random.default_rng(seed)
    X = random.standard_normal((170, 12))
    y = X @ random.standard_normal(12) + random.standard_normal(170)
    problem = dg.Problem(X, y, loss="epsilon_insensitive", epsilon=0.1, C=5.0, intercept="free")
    assert dg.solve(problem, "pair-dcd", tol=1e-5, max_iter=100_000).status == "optimal"


# --- pegasos


@pytest.mark.parametrize("loss", ["hinge", "logistic", "huber"])
@pytest.mark.parametrize("average", ["suffix", "all", "none"])
def test_pegasos_comes_near_and_says_how_near(loss, average):
    case, tol = sample(loss, C=0.1), 0.05
    result = dg.solve(case.problem(), "pegasos", tol=tol, average=average, max_time=20)
    check(case, result, tol)
    assert result.status == "optimal"


@pytest.mark.parametrize("batch_size", [1, 10, 150])
def test_pegasos_keeps_a_dual_point(batch_size):
    """In permuted epochs w is Σβx with β the mean of the subgradients: inside its box without a projection."""
    case = sample(C=0.1)
    result = dg.solve(
        case.problem(), "pegasos", tol=0, max_iter=8, average="none", batch_size=batch_size, projection=False
    )
    np.testing.assert_allclose(result.coef, case.X.T @ result.dual, atol=1e-10)
    assert result.certificate.moved <= 1e-12


def test_pegasos_stays_in_its_ball():
    case = sample(C=50.0)
    result = dg.solve(case.problem(), "pegasos", tol=0, max_iter=1, average="none")
    assert result.coef @ result.coef <= case.C * len(case.y) * (1 + 1e-9)


def test_pegasos_stays_a_number_where_the_ball_is_met_at_every_step():
    """Steps far beyond the ball shrink the factor of w each time; the average must not drown in that."""
    case = sample("huber", "regularized", n=300, C=2500.0)
    for average in ("none", "suffix", "all"):
        result = dg.solve(case.problem(), "pegasos", tol=0.1, max_iter=30, average=average)
        P = reference.primal(case, result.coef, result.intercept)
        assert np.isfinite(result.coef).all() and result.certificate.primal == pytest.approx(P, rel=1e-9)
        assert 1e4 * reference.primal(case, np.zeros(case.X.shape[1])) >= P


def test_pegasos_sparse_steps_are_the_dense_ones():
    case = sample(intercept="regularized", C=0.1)
    case.X[np.abs(case.X) < 0.8] = 0
    dense, sparse = (
        dg.solve(dg.Problem(X, case.y, C=0.1, intercept="regularized"), "pegasos", tol=0, max_iter=5)
        for X in (case.X, sp.csr_matrix(case.X))
    )
    np.testing.assert_allclose(dense.coef, sparse.coef, atol=1e-12)


def test_a_stream_is_learned_chunk_by_chunk():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3000, 6))
    y = np.array(["a", "b", "c"])[np.argmax(X[:, :3] + 0.1 * rng.standard_normal((3000, 3)), axis=1)]
    model = dg.PegasosClassifier(alpha=1e-3, random_state=0)
    for chunk in np.split(np.arange(3000), 100):
        model.partial_fit(X[chunk], y[chunk], classes=["a", "b", "c"])
    assert model.t_ == 3000 and model.score(X, y) > 0.9
    with pytest.raises(ValueError, match="first chunk"):
        model.partial_fit(X[:3], ["a", "b", "d"])


def test_a_stream_of_one_chunk_is_one_epoch():
    case = sample()
    model = dg.PegasosClassifier(alpha=1e-2, average=False, fit_intercept=False).partial_fit(case.X, case.y, [-1, 1])
    C = 1 / (1e-2 * len(case.y))
    once = dg.solve(dg.Problem(case.X, case.y, C=C), "pegasos", tol=0, max_iter=1, average="none")
    np.testing.assert_array_equal(model.coef_[0], once.coef)


def test_the_rows_of_a_stream_have_weights():
    """A class of weight 2 is a chunk of weights 2, rows of weight 0 pull nothing, and all weights 1 change nothing."""
    case = sample()
    plain = dg.PegasosClassifier(alpha=1e-2).partial_fit(case.X, case.y, [-1, 1])
    ones = dg.PegasosClassifier(alpha=1e-2).partial_fit(case.X, case.y, [-1, 1], sample_weight=np.ones(len(case.y)))
    np.testing.assert_array_equal(ones.coef_, plain.coef_)
    doubled = np.where(case.y > 0, 2.0, 1.0)
    by_class = dg.PegasosClassifier(alpha=1e-2, class_weight={1: 2.0}).partial_fit(case.X, case.y, [-1, 1])
    by_row = dg.PegasosClassifier(alpha=1e-2).partial_fit(case.X, case.y, [-1, 1], sample_weight=doubled)
    np.testing.assert_array_equal(by_class.coef_, by_row.coef_)
    assert not np.array_equal(by_class.coef_, plain.coef_)
    silent = dg.PegasosClassifier(alpha=1e-2).partial_fit(
        np.vstack([case.X, 1e3 * case.X]), np.tile(case.y, 2), [-1, 1], np.repeat([1.0, 0.0], len(case.y))
    )
    assert np.abs(silent.coef_).max() < 100 * np.abs(plain.coef_).max()
    with pytest.raises(ValueError, match="all rows at once"):
        dg.PegasosClassifier(class_weight="balanced").partial_fit(case.X, case.y, [-1, 1])


def test_a_weight_is_a_repetition_for_the_stochastic_classifier_too():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 8))
    y, weight = np.sign(X[:, 0] + rng.standard_normal(400)), rng.integers(0, 4, 400)
    model = dg.PegasosClassifier(alpha=1e-2, tol=1e-3, max_iter=None).fit(X, y, weight)
    again = dg.PegasosClassifier(alpha=1e-2, tol=1e-3, max_iter=None).fit(X.repeat(weight, 0), y.repeat(weight))
    assert model.result_.solver == "pegasos" and model.C_ == again.C_ == 1 / (1e-2 * weight.sum())
    assert model.certificate_.primal == pytest.approx(again.certificate_.primal, rel=2e-3)
    exact = dg.LinearSVC(loss="hinge", C=model.C_, tol=1e-9).fit(X, y, weight).certificate_
    assert exact.primal <= model.certificate_.primal <= exact.primal * 1.002
    balanced = dg.PegasosClassifier(alpha=1e-2, class_weight="balanced").fit(X, y, weight)
    counts = np.array([weight[y < 0].sum(), weight[y > 0].sum()])
    factor = dict(zip([-1, 1], weight.sum() / 2 / counts, strict=True))
    same = dg.PegasosClassifier(alpha=1e-2, class_weight=factor).fit(X, y, weight)
    np.testing.assert_allclose(balanced.coef_, same.coef_)


def test_a_saved_stream_goes_on(tmp_path):
    case = sample()
    model = dg.PegasosClassifier(alpha=1e-2).partial_fit(case.X[:50], case.y[:50], [-1, 1])
    model.save(tmp_path / "m")
    again = dg.load(tmp_path / "m").partial_fit(case.X[50:], case.y[50:])
    np.testing.assert_array_equal(again.coef_, model.partial_fit(case.X[50:], case.y[50:]).coef_)


# --- one class and the ball


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    n, p = draw(st.integers(1, 300), label="rows"), draw(st.integers(1, 60), label="columns")
    X = rng.standard_normal((n, p)) + draw(st.sampled_from([0.0, 1.0, 5.0]), label="centre")
    kind = draw(st.sampled_from(["plain", "duplicates", "zero rows", "sparse"]), label="kind")
    if kind == "duplicates":
        X[n // 2 :] = X[: n - n // 2]
    if kind == "zero rows":
        X[::3] = 0
    if kind == "sparse":
        X *= rng.random((n, p)) < 0.3
    return X, kind == "sparse"


@settings(max_examples=200, **quiet)
@given(tables(), st.one_of(st.just(1.0), st.floats(0.01, 1.0)))
def test_one_class_on_random_tables(table, nu):
    X, sparse = table
    problem = dg.OneClassProblem(sp.csr_matrix(X) if sparse else X, nu=nu)
    result = dg.solve(problem, tol=TOL, max_iter=20000, max_time=3)
    primal = reference.one_class_primal(X, nu, result.coef, -result.intercept)
    best, floor = reference.one_class_optimum(X, nu), 0.5e-3 * (X**2).sum(axis=1).mean()
    size = max(abs(primal), floor, 1e-9)
    assert result.certificate.primal == pytest.approx(primal, abs=1e-9 * max(1.0, size))
    v = X.T @ result.dual
    assert result.certificate.dual == pytest.approx(-v @ v / 2, abs=1e-9 * max(1.0, size))
    assert abs(result.dual.sum() - 1) <= 1e-12 and result.dual.min() >= 0
    assert result.dual.max() <= 1 / (nu * len(X)) * (1 + 1e-15)
    # where the origin is just not separable w goes to 0 by ever smaller steps, and the budget may end them
    within = result.certificate.relative_gap
    assert (result.status == "optimal") == (within <= TOL) and within <= (TOL if abs(best) >= floor else 1e-3)
    assert primal - best <= max(TOL, within) * size + 1e-7 * max(1.0, size)
    assert result.certificate.dual <= best + 1e-7 * max(1.0, size)


@settings(max_examples=200, **quiet)
@given(tables(), st.floats(-4.0, 4.0))
def test_the_ball_on_random_tables(table, log_c):
    (X, sparse), C = table, 10.0**log_c
    problem = dg.SVDDProblem(sp.csr_matrix(X) if sparse else X, C=C)
    result = dg.solve(problem, tol=TOL, max_iter=20000, max_time=3)
    radius2 = problem.radius2(result.coef, result.intercept)
    primal, best = reference.svdd_primal(X, C, result.coef, radius2), reference.svdd_optimum(X, C)
    size = max(abs(best), 1e-9 * (X**2).sum(axis=1).max(), 1e-9)
    near = 1e-8 * size + 1e-14 * (1 + len(X) * C) * (X**2).sum(axis=1).max()  # C multiplies the rounding of ‖x − a‖²
    assert radius2 >= -1e-9 * size
    assert result.certificate.primal == pytest.approx(primal, abs=near)
    assert result.status == "optimal"
    assert primal - best <= (TOL + 1e-6) * size + near
    assert result.certificate.dual <= best + 1e-6 * size + near
    assert abs(result.dual.sum() - 1) <= 1e-12 and result.dual.min() >= 0
    assert problem.objective(result.coef, result.intercept) == pytest.approx(primal, abs=near)


def test_the_ends_of_the_balls_cost():
    X = np.random.default_rng(0).standard_normal((20, 3)) + 4
    small = dg.SVDDProblem(X, C=0.01)  # below 1/n
    result = dg.solve(small, tol=1e-9)
    np.testing.assert_allclose(result.coef, X.mean(axis=0))
    assert small.radius2(result.coef, result.intercept) == pytest.approx(0, abs=1e-9)
    assert result.certificate.primal == pytest.approx(0.01 * ((X - X.mean(axis=0)) ** 2).sum())
    wide = dg.certify(small, result.coef, result.intercept + 0.5)  # R² = 1: the certificate counts all of it
    assert wide.primal == pytest.approx(reference.svdd_primal(X, 0.01, result.coef, 1.0))
    one, huge = (dg.solve(dg.SVDDProblem(X, C=C), tol=1e-8) for C in (1.0, 1e4))
    assert one.certificate.primal == pytest.approx(huge.certificate.primal, rel=1e-6)
    assert huge.certificate.primal == pytest.approx(((X - huge.coef) ** 2).sum(axis=1).max(), rel=1e-6)


def test_equal_rows_make_a_ball_of_no_size():
    problem = dg.SVDDProblem(np.full((10, 3), 7.0), nu=0.3)
    result = dg.solve(problem)
    np.testing.assert_allclose(result.coef, [7.0] * 3)
    assert result.certificate.gap <= 1e-9


def test_libsvm_and_liblinear_find_the_same_plane():
    from liblinear.liblinearutil import parameter, problem, train
    from libsvm.svmutil import svm_parameter, svm_problem, svm_train

    X, nu = np.random.default_rng(1).standard_normal((120, 5)) + 1.5, 0.3
    ours = dg.solve(dg.OneClassProblem(X, nu=nu), tol=1e-9)
    theirs = svm_train(svm_problem(np.ones(120), X), svm_parameter(f"-s 2 -t 0 -n {nu} -e 1e-10 -q"))
    alpha = np.zeros(120)
    alpha[np.array(theirs.get_sv_indices()) - 1] = np.ravel(theirs.get_sv_coef()) / (nu * 120)
    w = X.T @ alpha
    assert ours.certificate.dual == pytest.approx(-w @ w / 2, rel=1e-6)
    model = train(problem(np.ones(120), X), parameter(f"-s 21 -n {nu} -e 1e-10 -q"))
    w, rho = np.array(model.get_decfun()[0]) / (nu * 120), model.rho / (nu * 120)
    assert ours.certificate.primal == pytest.approx(reference.one_class_primal(X, nu, w, rho), rel=1e-6)


@pytest.mark.parametrize("make", [lambda X: dg.OneClassProblem(X, nu=0.2), lambda X: dg.SVDDProblem(X, nu=0.2)])
def test_one_class_problems_behave_like_every_other(make):
    X = np.random.default_rng(2).standard_normal((200, 6)) + 1
    problem = make(X)
    result = dg.solve(problem, tol=1e-6, trace=True)
    assert (np.diff(result.trace.epoch) >= 0).all() and (result.trace.gap >= -1e-9).all()
    assert dg.solve(problem, tol=1e-6).coef.tolist() == result.coef.tolist()
    assert dg.solve(problem, tol=1e-5, start=result).epochs <= 3
    assert dg.certify(problem, result.coef, result.intercept, result.dual).relative_gap <= 1e-6
    assert dg.certify(problem, result.coef, result.intercept).relative_gap <= 1e-2
    assert problem.objective(result.coef, result.intercept) == pytest.approx(result.certificate.primal)
    assert problem.dual_objective(result.dual) == pytest.approx(result.certificate.dual)
    assert dg.solve(problem, tol=1e-14, max_iter=2).status in ("max_iter", "stalled")
    with pytest.raises(dg.UnsupportedProblem, match="these can: " + problem.default_solver):
        dg.solve(problem, "dcd")
    with pytest.raises(dg.UnsupportedProblem):
        dg.solve(sample().problem(), problem.default_solver)


@pytest.mark.parametrize("words", [{"nu": 0}, {"nu": 1.5}, {"nu": "few"}])
def test_a_share_is_a_share(words):
    with pytest.raises(ValueError, match="nu="):
        dg.OneClassProblem(np.eye(3), **words)


def test_the_ball_takes_one_cost():
    with pytest.raises(ValueError, match="either C or nu"):
        dg.SVDDProblem(np.eye(3), C=1.0, nu=0.5)
    with pytest.raises(ValueError, match="either C or nu"):
        dg.SVDDProblem(np.eye(3))


# --- estimators


@pytest.mark.parametrize("estimator", [dg.LinearOneClassSVM(), dg.LinearSVDD(), dg.PegasosClassifier()])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks(estimator):
    done = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = [r for r in done if r["status"] not in ("passed", "skipped")]
    assert not failed, [(r["check_name"], r["exception"]) for r in failed]


def test_the_plane_is_scikit_learns():
    X = np.random.default_rng(4).standard_normal((150, 4)) + 2
    ours = dg.LinearOneClassSVM(nu=0.23, tol=1e-9).fit(X)
    theirs = OneClassSVM(kernel="linear", nu=0.23, tol=1e-10).fit(X)
    scale = 0.23 * 150  # theirs has α ≤ 1
    np.testing.assert_allclose(ours.coef_, theirs.coef_ / scale, atol=1e-5)
    assert ours.offset_ == pytest.approx(float(theirs.offset_[0]) / scale, abs=1e-5)
    np.testing.assert_allclose(ours.decision_function(X), ours.score_samples(X) - ours.offset_)
    assert (ours.predict(X) == -1).sum() <= 0.23 * 150 + 1


def test_the_ball_separates_what_is_far():
    rng = np.random.default_rng(6)
    X = np.vstack([rng.standard_normal((190, 3)), rng.standard_normal((10, 3)) + 12])
    model = dg.LinearSVDD(nu=0.3, tol=1e-6).fit(sp.csr_matrix(X))
    assert model.score_samples(X)[190:].max() < model.score_samples(X)[:190].min()
    assert (model.predict(X)[190:] == -1).all() and (model.predict(X) == -1).mean() <= 0.31
    distance = np.linalg.norm(X - model.center_, axis=1)
    np.testing.assert_allclose(model.decision_function(X), model.radius_**2 - distance**2, atol=1e-9)
    assert model.certificate_.relative_gap <= 1e-6
