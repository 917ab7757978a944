"""Every solver of the registry on 200 random problems of its own: the objective against Clarabel or SciPy, the dual
point feasible to 1e-12, and the certificate what plain NumPy computes."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, Phase, given, settings

import dualgap as dg
import reference
from dualgap import _core
from reference import Case, cases

SOLVERS = {s.name: s for s in dg.solvers() if "linear" in s.problems}
EXAMPLES = 200
quiet = {"deadline": None, "suppress_health_check": list(HealthCheck), "print_blob": True}
# a tolerance that suits the method, and shapes for those that pay dearly for a row
TOL = {"cutting-plane": 1e-3, "projected-gradient": 1e-4, "ellipsoid": 1e-2, "pegasos": 0.1, "active-set": 1e-5}
SHAPES = {"projected-gradient": (100, 40), "active-set": (100, 60), "ellipsoid": (12, 6), "cutting-plane": (120, 30)}
# these are done whatever C and the columns are; the others may run out of epochs, and then say so
ALWAYS = ("auto", "newton", "active-set")
EPOCHS = {"dcd": 300, "pair-dcd": 300, "sdca": 1000, "pegasos": 30, "pcd": 500, "tron": 500}
EPOCHS |= {"cutting-plane": 300, "projected-gradient": 300, "smo": 60, "decomposition": 30}


def trivial(case: Case) -> bool:
    """A free intercept fits every row that counts: the infimum is 0, relative to which no gap is small."""
    counted = case.costs > 0
    return case.intercept == "free" and (counted.sum() < 2 or len(set(case.y[counted])) < 2)


def check(case: Case, result: dg.Result, tol: float) -> None:
    primal = reference.primal(case, result.coef, result.intercept)
    dual = reference.dual(case, result.dual)
    best, size = reference.optimum(case), max(abs(primal), 1e-12)
    c = result.certificate
    assert reference.infeasibility(case, result.dual) <= 1e-12
    assert c.primal == pytest.approx(primal, rel=1e-9, abs=1e-9 * size)
    assert c.dual == pytest.approx(dual, rel=1e-9, abs=1e-8 * size)
    assert c.gap == pytest.approx(primal - dual, rel=1e-6, abs=1e-8 * size)
    slack = 1e-6 * size + 1e-9 * (1 + case.costs.sum())  # the reference's own
    assert dual - slack <= best <= primal + slack
    assert (result.status == "optimal") == (c.relative_gap <= tol)
    if result.status == "optimal":
        assert primal - best <= tol * size + slack


@pytest.mark.parametrize("solver", SOLVERS)
def test_random_problems(solver):
    one, tol = SOLVERS[solver], TOL.get(solver, 1e-6)
    rows, columns = SHAPES.get(solver, (300, 60))
    losses = tuple(loss for loss in one.losses if loss in reference.LOSSES)

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
        phases=[Phase.explicit, Phase.generate],
    )
    @given(cases(losses=losses, intercepts=one.intercepts, rows=rows, columns=columns))
    def run(case):
        problem = case.problem()
        if (trivial(case) and solver != "auto") or one.takes(problem):
            return
        result = dg.solve(problem, solver, tol=tol, max_iter=EPOCHS.get(solver), max_time=5)
        check(case, result, tol)
        column = case.scale**2 if case.intercept == "regularized" else 0.0
        # few epochs are enough there, but for a kinked loss nobody says so
        easy = case.C * ((case.X**2).sum(axis=1).max() + column) <= 1 and case.intercept != "free"
        easy = easy and not dg.registry.loss_named(case.loss).kinked
        if solver in ALWAYS or (easy and one.exact):
            assert result.status == "optimal", (case, result)

    run()


def test_the_problems_are_as_various_as_they_say():
    """Shapes from 1 to 300 × 1 to 60, dense and sparse, one sign and two, C from 1e-4 to 1e4."""
    seen = []

    @settings(max_examples=EXAMPLES, **quiet)
    @given(cases())
    def run(case):
        seen.append((*case.X.shape, case.sparse, len(set(case.y)) < 2, np.log10(case.C)))

    run()
    rows, columns, sparse, one_sided, cost = map(np.array, zip(*seen, strict=True))
    assert rows.min() == 1 and rows.max() > 200 and columns.min() == 1 and columns.max() > 40
    assert 0.1 < sparse.mean() < 0.9 and 0 < one_sided.mean() < 0.9 and cost.min() < -3 and cost.max() > 3


@pytest.mark.parametrize("intercept", ["none", "free"])
def test_newton_goes_on_while_the_primal_falls_and_the_dual_is_below_zero(intercept):
    """Heavy tails: for many steps the relative gap is 1 and says nothing about what the steps bring."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.standard_cauchy((300, 60))
        y = np.where(X @ rng.standard_normal(60) + rng.standard_normal(300) > 0, 1.0, -1.0)
        result = dg.solve(dg.Problem(X, y, "squared_hinge", 16.0, intercept=intercept), tol=1e-5, max_time=5)
        assert result.status == "optimal", (seed, result)


@pytest.mark.parametrize("loss", ["pinball", "epsilon_insensitive", "huber"])
def test_a_free_intercept_far_away_is_found(loss):
    """Descent's own estimate does not see how far the intercept has to go; it must not believe itself for ever."""
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((30, 30)), 1e5 + rng.standard_normal(30)
    result = dg.solve(dg.Problem(X, y, loss, 1e-4, intercept="free"), tol=1e-7, max_time=5)
    assert result.status == "optimal" and result.seconds < 2, result
    assert abs(result.intercept - 1e5) < 5


@pytest.mark.parametrize("solver", ["auto", "dcd", "pair-dcd"])
@pytest.mark.parametrize("C", [1e6, 1e12, 1e16])
def test_a_hard_margin_is_proven(C, solver):
    """At C = 1e12 the last bits of a margin cost as much as ½‖w‖²; a w longer by a few has no row on the kink."""
    for seed in range(20 if solver == "auto" else 3):
        result = dg.solve(dg.Problem(*few(seed), C=C, intercept="free"), solver, tol=1e-6, max_time=10)
        certificate = result.certificate
        assert result.status == "optimal", (seed, result)
        assert max(certificate.gap, certificate.rounding) <= 1e-6 * certificate.dual, (seed, result)


@pytest.mark.parametrize(("C", "known"), [(1e6, True), (1e10, False), (1e12, False), (1e16, False)])
def test_no_optimum_is_claimed_where_rounding_hides_the_gap(C, known):
    """Here nothing helps: a quantile costs on both sides of its kink. Nor has a kernel a w that could be longer."""
    quantile = dg.Problem(*few(1), "pinball", C=C, intercept="free", quantile=0.3)
    kernel = dg.Problem(*few(1), C=C, kernel="linear")
    for problem in (quantile, kernel):
        result = dg.solve(problem, tol=1e-6, max_time=10)
        certificate = result.certificate
        assert (result.status == "optimal") == known
        assert known or certificate.relative_gap * certificate.primal >= 0.999 * certificate.rounding


@pytest.mark.parametrize("C", [1e6, 1e10, 1e16])
def test_rows_on_the_edges_of_a_tube_are_proven_by_a_score_inside(C):
    X, y = few(1)
    result = dg.solve(dg.Problem(X, y, "epsilon_insensitive", C=C, intercept="free", epsilon=0.1), tol=1e-6)
    assert result.status == "optimal"
    w, beta, b, edge = [Fraction(v) for v in result.coef], [Fraction(v) for v in result.dual], result.intercept, 0.1
    table = [[Fraction(x) for x in row] for row in X]
    scores = [sum(x * v for x, v in zip(row, w, strict=True)) + Fraction(b) for row in table]
    losses = sum(max(abs(Fraction(t) - z) - Fraction(edge), 0) for t, z in zip(y, scores, strict=True))
    v = [sum(part * row[j] for part, row in zip(beta, table, strict=True)) for j in range(X.shape[1])]
    terms = sum(Fraction(t) * part - Fraction(edge) * abs(part) for t, part in zip(y, beta, strict=True))
    P, D = sum(u * u for u in w) / 2 + Fraction(C) * losses, terms - sum(u * u for u in v) / 2
    assert abs(sum(beta)) <= 1e-15 and 0 <= P - D <= 1e-9 * D


def test_a_dual_point_of_zeros_proves_nothing_but_an_optimum_of_zero():
    X, y = few(1)
    w = np.linalg.lstsq(X, y, rcond=None)[0]
    assert dg.certify(dg.Problem(X, y, C=1e16), w, dual=np.zeros(5)).relative_gap >= 1
    tube = dg.Problem(X, 1e-3 * y, "epsilon_insensitive", C=1e16, epsilon=0.1)
    assert dg.certify(tube, np.zeros(8), dual=np.zeros(5)).relative_gap == 0


BENDS = {"squared_hinge": lambda short: max(short, 0) ** 2, "squared": lambda short: short**2 / 2}


@pytest.mark.parametrize("C", [1e20, 1e30, 1e40])
@pytest.mark.parametrize("loss", BENDS)
def test_what_a_bend_makes_of_rounding_is_in_the_certificate(loss, C):
    """c·δ² where the slope at the score itself is nothing: P from fractions, which do not round."""
    X, y = few(3)
    result = dg.solve(dg.Problem(X, y, loss, C=C), tol=1e-6, max_time=5)
    w = [Fraction(v) for v in result.coef]
    scores = (sum(Fraction(x) * v for x, v in zip(row, w, strict=True)) for row in X)
    losses = sum(BENDS[loss](1 - Fraction(sign) * z) for sign, z in zip(y, scores, strict=True))
    exact = sum(v * v for v in w) / 2 + Fraction(C) * losses
    assert abs(float(exact - Fraction(result.certificate.primal))) <= result.certificate.rounding


EXACT = {
    **BENDS,
    "hinge": lambda short: max(short, 0),
    "logistic": lambda short: max(short - 1, 0) + Fraction(math.log1p(math.exp(-abs(float(short - 1))))),
}


@pytest.mark.parametrize("loss", EXACT)
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, np.asfortranarray], ids=["rows", "csr", "columns"])
def test_the_rounding_of_scores_is_in_the_certificate(loss, storage):
    """Rows of every length, what is large in them taken off again: P from fractions."""
    rng = np.random.default_rng(0)
    for size in range(1, 15):
        X = rng.standard_normal((40, size)) * 10.0 ** rng.integers(-2, 3, (40, size))
        if size > 2:
            X[:, -1] = -X[:, 0] * (1 + 1e-13 * rng.standard_normal(40))
        w, y = np.ones(size), np.where(rng.random(40) < 0.5, 1.0, -1.0)
        certificate = dg.certify(dg.Problem(storage(X), y, loss, C=3.0), w)
        scores = (sum(map(Fraction, row)) for row in X)
        losses = sum(EXACT[loss](1 - Fraction(sign) * z) for sign, z in zip(y, scores, strict=True))
        exact = Fraction(size) / 2 + 3 * losses
        assert abs(float(exact - Fraction(certificate.primal))) <= certificate.rounding


@pytest.mark.parametrize("loss", EXACT)
def test_a_score_without_a_digit_left(loss):
    """Four sums side by side lose −4000 beside 10²⁰; the slope where they say the score is would be nothing."""
    row = np.zeros(12)
    row[[0, 1, 4, 8]] = 1e20, 1000.0, -5000.0, -1e20
    certificate = dg.certify(dg.Problem(row[None], [1.0], loss), np.ones(12))
    exact = Fraction(6) + EXACT[loss](1 + Fraction(4000))
    assert abs(float(exact - Fraction(certificate.primal))) <= certificate.rounding


def test_a_dual_point_whose_sum_is_lost_in_rounding_proves_nothing():
    """v = Σβx is 256·200 in one column, and 0 beside 2⁷⁰; with w = 0 no score tells how large it was on the way."""
    large, small, n = 2.0**70, 2.0**60, 200
    rows = [[large, -large], *n * [[small + 256, -small]], *n * [[small - 256, -small]], [large, -large]]
    y = np.array([1.0] + n * [1.0] + n * [-1.0] + [-1.0])
    for wide in (2, 400):
        X = np.hstack([rows, np.zeros((len(y), wide - 2))])
        for table in (X, sp.csr_array(X)):
            assert dg.certify(dg.Problem(table, y), np.zeros(wide), dual=y).relative_gap >= 0.5


@pytest.mark.parametrize("scale", [1e-220, 1e-160, 1.0, 1e120, 1e135])
def test_certificates_of_rows_whose_squares_have_little_room(scale):
    X, y = few(2)
    result = dg.solve(dg.Problem(X, y), tol=1e-9)
    certificate = dg.certify(dg.Problem(X * scale, y, C=1.0), result.coef / scale, dual=result.dual)
    assert certificate.primal >= certificate.dual and not np.isnan(certificate.relative_gap)


def test_a_share_of_c_less_than_every_number():
    assert dg.certify(dg.Problem([[1e-3]], [1.0], "logistic", C=1e90), [0.0], dual=[1e-300]).dual < 1e-290


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
def test_rows_that_do_not_count_do_not_blur(loss):
    X, y = np.array([[1.0, 0.0], [-1.0, 0.5], [1e140, 0.0]]), [1.0, -1.0, 1.0]
    known = dg.solve(dg.Problem(X[:2], y[:2], loss, C=1e3), tol=1e-6)
    problem = dg.Problem(X, y, loss, C=1e3, sample_weight=[1.0, 1.0, 0.0])
    for stretch in (1.0, 1e170):  # then the last row's score is beyond every number
        w = stretch * known.coef
        alone = dg.certify(dg.Problem(X[:2], y[:2], loss, C=1e3), w, dual=known.dual)
        beside = dg.certify(problem, w, dual=np.append(known.dual, 0.0))
        assert (beside.primal, beside.dual, beside.relative_gap) == (alone.primal, alone.dual, alone.relative_gap)


@pytest.mark.parametrize("loss", [entry.name for entry in dg.losses()])
@pytest.mark.parametrize("w", [[np.nan, 0.0], [np.inf, 0.0], [np.inf, -np.inf], [1e200, 1e200]])
def test_no_point_beyond_numbers_is_certified(loss, w):
    X, y = np.array([[1.0, 1.0], [1.0, -1.0], [1e130, -1e130]]), [1.0, -1.0, 1.0]
    certificate = _core.judge(dg.Problem(X, y, loss)._core, np.array(w), 0.0, np.zeros(3), 1)
    assert certificate.relative_gap == np.inf and certificate.primal == np.inf


def test_a_tube_far_wider_than_the_scores():
    """|y − z| − ε: what y and ε lose against each other is in the certificate."""
    problem = dg.Problem([[3.0], [-3.0]], [0.1001, -0.1001], "epsilon_insensitive", C=1e12, epsilon=0.1)
    result = dg.solve(problem, tol=1e-6, max_time=5)
    assert result.status == "stalled" and result.certificate.rounding >= result.certificate.dual


@pytest.mark.parametrize("solver", ["newton", "auto"])
def test_a_refusal_for_rounding_ends_the_fit(solver):
    """The judge refuses what rounding hides; our own numbers say that all is done. Neither changes its mind."""
    tube = dg.Problem([[2.0, 1.0]], [0.33], "epsilon_insensitive", C=1e11, epsilon=0.1)
    margin = dg.Problem([[1.0, 0.3], [-0.3, 0.5]], [1.0, -1.0], C=1e11, intercept="regularized")
    for problem in (tube, margin):
        result = dg.solve(problem, solver, tol=1e-6)
        assert result.status in ("optimal", "stalled") and result.n_iter < 1000


def test_a_callback_is_heard_when_the_fit_has_stalled():
    problem = dg.Problem([[3.0], [-3.0]], [0.1001, -0.1001], "epsilon_insensitive", C=1e12, epsilon=0.1)
    calls = []
    assert (
        dg.solve(problem, "newton", tol=1e-6, callback=lambda state: calls.append(state) and False).status == "stalled"
    )
    left = iter(calls[1:])
    assert (
        dg.solve(problem, "newton", tol=1e-6, callback=lambda state: next(left, None) is None).status == "interrupted"
    )


def few(seed):
    return np.random.default_rng(seed).standard_normal((5, 8)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])


def test_the_rounding_of_a_score_at_a_kink_is_in_the_certificate():
    """A target that is the rounded score: the residual is 0 as far as float64 sees, and C makes the rest of it large.
    The certificate may be off by that, but not by more than it says."""
    rng, wide = np.random.default_rng(0), np.longdouble
    for _ in range(200):
        X, coef, C = rng.standard_normal((1, 8)) * 1e3, rng.standard_normal(8), 1e6
        y = X @ coef
        certificate = dg.certify(dg.Problem(X, y, "epsilon_insensitive", C, epsilon=0.0), coef)
        primal = 0.5 * coef @ coef + C * float(np.abs(X.astype(wide) @ coef.astype(wide) - y)[0])
        assert abs(primal - certificate.primal) <= certificate.rounding <= 1e-10 * C * 1e3


@pytest.mark.parametrize("part", [1e-14, 1e-9, 1e-3, 0.5, 1 - 1e-3, 1 - 1e-9])
def test_the_logistic_dual_has_its_digits_at_both_ends(part):
    """−a log(a/c) − (c − a) log(1 − a/c): the second term is about a where a is small, not 0 or the rounding of c."""
    C = 2.0**30
    a = C * part
    rest = C - a
    small, big = min(a, rest), max(a, rest)
    entropy = -small * np.log(small / C) - big * np.log1p(-small / C)
    problem = dg.Problem([[0.0]], [1.0], "logistic", C)
    assert problem.dual_objective(np.array([a])) == pytest.approx(entropy, rel=1e-14)
