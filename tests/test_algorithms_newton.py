"""tron, pcd, cutting planes and the textbook QP methods: random problems against Clarabel and SciPy, peers, pieces."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dualgap as dg
import reference
from dualgap.memory import need_memory
from dualgap.solvers import _qp
from reference import Case, cases

SMOOTH = ("squared_hinge", "smoothed_hinge", "logistic", "squared", "squared_epsilon_insensitive", "huber")
ANY = ("none", "regularized", "free")
quiet = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


def check(case, solver, tol, **options):
    """The objective is the optimum's to the tolerance, β feasible, and the certificate what NumPy computes."""
    result = dg.solve(case.problem(), solver, tol=tol, max_time=20, **options)
    P, D = reference.primal(case, result.coef, result.intercept), reference.dual(case, result.dual)
    best = reference.optimum(case)
    size = max(abs(P), abs(D))
    assert reference.infeasibility(case, result.dual) <= 1e-12
    assert result.certificate.primal == pytest.approx(P, rel=1e-9, abs=1e-12)
    assert result.certificate.dual == pytest.approx(D, rel=1e-9, abs=1e-9 * size + 1e-12)
    assert best + 1e-6 * size + 1e-9 >= D
    assert result.status == "optimal", result
    assert P - best <= (tol + 1e-6) * size + 1e-8


@settings(max_examples=60, **quiet)
@given(cases(losses=SMOOTH, intercepts=("none", "regularized")))
def test_tron(case):
    check(case, "tron", 1e-6)


@settings(max_examples=20, **quiet)
@given(cases(losses=("squared_hinge", "logistic"), intercepts=("free",), costs=(-3.0, 1.0)))
def test_tron_with_a_free_intercept(case):
    case.y[: len(case.y) // 2 + 1] *= -1  # both signs, or the logistic optimum is at infinity
    if len(case.y) > 1 and abs(case.y.sum()) < len(case.y):
        check(case, "tron", 1e-4)


@settings(max_examples=40, **quiet)
@given(cases(losses=SMOOTH, intercepts=("none", "regularized"), rows=120, columns=30))
def test_pcd(case):
    check(case, "pcd", 1e-5)


@settings(max_examples=20, **quiet)
@given(cases(losses=("hinge",), rows=150, columns=30))
def test_cutting_plane(case):
    check(case, "cutting-plane", 1e-3)


@settings(max_examples=20, **quiet)
@given(cases(losses=("hinge",), intercepts=("free",), rows=150, columns=40))
def test_projected_gradient(case):
    check(case, "projected-gradient", 1e-4)


@settings(max_examples=25, **quiet)
@given(cases(losses=("hinge",), intercepts=("free",), rows=150))
def test_active_set(case):
    check(case, "active-set", 1e-6)


@settings(max_examples=15, **quiet)
@given(cases(losses=("hinge",), intercepts=("free",), rows=16, columns=8))
def test_ellipsoid(case):
    check(case, "ellipsoid", 1e-2)


def tall(rows=40_000, cols=6, seed=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, cols)) * np.array([1, 2, 0.1, 5, 1, 1])[:cols]
    return X, np.where(X @ rng.standard_normal(cols) + 2 * rng.standard_normal(rows) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("preconditioner", ["mixed", "diagonal", "none"])
def test_tron_starts_many_rows_from_a_sample_and_ends_at_the_optimum(loss, preconditioner):
    X, y = tall()
    X[:, 1] *= np.arange(len(X)) % 4 == 1  # a period that a regular sample would miss
    c = Case(X, y, loss, 0.01)
    tight = dg.solve(c.problem(), "newton", tol=1e-9)
    result = dg.solve(c.problem(), "tron", tol=1e-7, preconditioner=preconditioner)
    assert result.status == "optimal"
    assert reference.primal(c, result.coef) == pytest.approx(tight.certificate.primal, rel=1e-6)


def test_tron_has_the_same_bits_with_two_threads():
    X, y = tall()
    for data in (X, sp.csr_matrix(X)):
        one, two = (
            dg.solve(dg.Problem(data, y, "logistic", intercept="regularized"), "tron", tol=1e-6, n_threads=threads)
            for threads in (1, 2)
        )
        assert one.coef.tobytes() == two.coef.tobytes() and one.dual.tobytes() == two.dual.tobytes()


def liblinear(X, y, number, C, p=0.0):
    from liblinear.liblinear import parameter, problem
    from liblinear.liblinearutil import train

    model = train(problem(y, sp.csr_matrix(X), -1), parameter(f"-s {number} -c {C} -e 1e-10 -p {p} -q"))
    w = np.array(model.w[: X.shape[1]])
    return -w if number < 8 and model.label[0] == -1 else w


PEERS = [
    ("tron", "logistic", 0),
    ("tron", "squared_hinge", 2),
    ("tron", "squared_epsilon_insensitive", 11),
    ("pcd", "squared_hinge", 2),
    ("pcd", "logistic", 7),
    ("dcd", "squared_hinge", 1),
    ("dcd", "hinge", 3),
    ("dcd", "squared_epsilon_insensitive", 12),
    ("dcd", "epsilon_insensitive", 13),
]


@pytest.mark.parametrize("solver, loss, number", PEERS)
def test_the_objective_is_liblinears(solver, loss, number):
    rng = np.random.default_rng(number)
    X = rng.standard_normal((150, 12))
    score = X @ rng.standard_normal(12) + rng.standard_normal(150)
    y = np.where(score > 0, 1.0, -1.0) if loss in reference.MARGIN else score
    parameters = {"epsilon": 0.1} if "epsilon" in loss else {}
    c = Case(X, y, loss, 0.02, parameters=parameters)  # a C at which their dual solvers end, too
    theirs = reference.primal(c, liblinear(X, y, number, 0.02, 0.1))
    result = dg.solve(c.problem(), solver, tol=1e-8, max_time=30)
    assert reference.primal(c, result.coef) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("solver, most", [("ellipsoid", 60), ("active-set", 2000), ("projected-gradient", 4000)])
def test_textbook_methods_refuse_large_problems_in_a_sentence(solver, most):
    X, y = tall(most + 1, 2)
    with pytest.raises(dg.UnsupportedProblem, match=f"{most + 1} rows .at most {most}.; these can: .*dcd"):
        dg.solve(dg.Problem(X, y, intercept="free"), solver)


def test_memory_is_asked_for_before_it_is_taken():
    with pytest.raises(MemoryError, match=r"^all products of rows: 1e\+12 GB are needed and .* GB are free\.$"):
        need_memory(1e21, "all products of rows")


@given(st.integers(0, 10_000), st.integers(1, 12))
@settings(max_examples=60, **quiet)
def test_the_projection_is_the_nearest_feasible_point(seed, n):
    rng = np.random.default_rng(seed)
    x, low = rng.normal(0, 3, n), -rng.random(n) * (rng.random(n) < 0.7)
    high = low + rng.random(n) * (rng.random(n) < 0.8)
    total = float(rng.uniform(low.sum(), high.sum()))
    at = _qp.project(x, low, high, total)
    assert np.all((at >= low) & (at <= high)) and at.sum() == pytest.approx(total, abs=1e-12)
    for _ in range(30):  # no feasible direction leads nearer: (x − at)ᵀ(other − at) ≤ 0
        other = low + (high - low) * rng.random(n)
        if other.sum() == pytest.approx(total, abs=1e-15):
            assert (x - at) @ (other - at) <= 1e-9
    shift = (x - at)[(at > low + 1e-9) & (at < high - 1e-9)]
    assert np.ptp(shift) <= 1e-9 if shift.size else True  # free coordinates all moved by the same t


@given(st.integers(0, 10_000), st.integers(1, 30), st.sampled_from([0.0, 0.5, 20.0]))
@settings(max_examples=60, **quiet)
def test_the_line_search_finds_the_minimum_of_the_ray(seed, n, square):
    rng = np.random.default_rng(seed)
    y, c, z = rng.choice([-1.0, 1.0], n), rng.random(n), rng.normal(0, 2, n)
    dz = rng.normal(0, 1, n) if square else np.ones(n)
    slope = float(rng.normal()) if square else 0.0

    def f(k):
        return 0.5 * square * k**2 + slope * k + c @ np.maximum(0, 1 - y * (z + k * dz))

    k = _qp.hinge_ray(y, c, z, dz, square, slope)
    assert f(k) <= min(f(t) for t in np.concatenate([k + np.linspace(-5, 5, 201), [0.0]])) + 1e-9


def test_an_ellipsoid_keeps_what_a_cut_leaves():
    from dualgap.solvers.ellipsoid import Ellipsoid

    rng = np.random.default_rng(3)
    region = Ellipsoid(np.zeros(4), 1.0)
    inside = rng.normal(size=(500, 4))
    inside /= np.linalg.norm(inside, axis=1, keepdims=True) / rng.random((500, 1))
    a = rng.normal(size=4)
    left = inside[inside @ a <= -0.1]
    volume = np.linalg.det(region.P)
    assert region.cut(a, 0.1)
    away = left - region.x
    assert np.einsum("ij,ij->i", away, np.linalg.solve(region.P, away.T).T).max() <= 1 + 1e-9
    assert np.linalg.det(region.P) < volume


def test_cutting_planes_drop_what_is_idle():
    X, y = tall(600, 6)
    problem = dg.Problem(X, y, C=0.5)
    kept, dropped = (dg.solve(problem, "cutting-plane", tol=1e-5, patience=k, trace=True) for k in (10_000, 3))
    assert kept.status == dropped.status == "optimal"
    assert dropped.trace.active.max() < kept.trace.active.max()


def test_tron_towards_an_intercept_without_end():
    """One sign and a free intercept: P falls to nothing, and what divides by its curvature must not overflow."""
    X = np.random.default_rng(0).standard_normal((30, 4)) + 900.0
    result = dg.solve(dg.Problem(X, np.ones(30), "logistic", C=5e10, intercept="free"), "tron", tol=1e-8)
    assert np.isfinite(result.coef).all() and np.isfinite(result.intercept)
    assert result.certificate.primal < 1e-12
