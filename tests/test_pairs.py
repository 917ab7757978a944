"""smo and decomposition on linear problems: the optimum, feasibility, equal iterates, budgets, warm starts."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dualgap as dg

LOSSES = [loss.name for loss in dg.losses() if loss.name != "logistic"]


def data(seed, n=120, p=6, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    y = np.where(X[:, 0] + noise * rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return X, y


@pytest.mark.parametrize("solver", ["smo", "decomposition"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_reaches_newtons_optimum(solver, loss):
    X, y = data(1)
    weight = np.random.default_rng(2).uniform(0, 2, len(y)) * (np.arange(len(y)) % 7 > 0)
    for rows in (X, sp.csr_matrix(X), np.asfortranarray(X.astype(np.float32))):
        problem = dg.Problem(rows, y, loss=loss, C=2.0, sample_weight=weight, intercept="free")
        best = dg.solve(problem, "newton", tol=1e-9).certificate
        result = dg.solve(problem, solver, tol=1e-7)
        assert result.status == "optimal"
        assert result.certificate.primal <= best.primal + 2e-7 * abs(best.primal)
        assert abs(result.dual.sum()) < 1e-12


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 80),
    p=st.integers(1, 12),
    logC=st.floats(-3, 2),
    sparse=st.booleans(),
    solver=st.sampled_from(["smo", "decomposition"]),
)
def test_random_problems_are_certified(seed, n, p, logC, sparse, solver):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    X[n // 2 :] = X[: n - n // 2]  # duplicates
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    C = 10.0**logC
    result = dg.solve(
        dg.Problem(sp.csr_matrix(X) if sparse else X, y, C=C, intercept="free"), solver, tol=1e-6, max_time=20
    )
    assert result.status == "optimal"
    a = y * result.dual
    assert a.min() >= 0 and a.max() <= C and abs(result.dual.sum()) <= 1e-12 * max(C * n, 1)
    w, v = result.coef, X.T @ result.dual
    primal = 0.5 * w @ w + C * np.maximum(0, 1 - y * (X @ w + result.intercept)).sum()
    assert primal - (a.sum() - 0.5 * v @ v) <= 1.01e-6 * primal + 1e-12


@pytest.mark.parametrize("steps", [1, 3])
def test_working_sets_of_two_repeat_smo(steps):
    X, y = data(3, n=200)
    problem = dg.Problem(X, y, C=1.0, intercept="free")
    # 200 iterations change 400 variables: two epochs
    smo = dg.solve(problem, "smo", selection="most-violating", shrinking=False, tol=0, max_iter=2 * steps)
    two = dg.solve(problem, "decomposition", working_set=2, shrinking=False, tol=0, max_iter=2 * steps)
    assert smo.n_iter == two.n_iter == 200 * steps
    np.testing.assert_allclose(smo.dual, two.dual, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", ["smo", "decomposition"])
@pytest.mark.parametrize(
    "options", [{"cache_size": 0.01}, {"shrinking": False}, {"precomputed": True}, {"cache_size": 1e-6}]
)
def test_cache_shrinking_and_precomputing_change_the_way_not_the_answer(solver, options):
    X, y = data(5, n=900, p=4)
    problem = dg.Problem(X, y, C=5.0, intercept="free")
    best = dg.solve(problem, "newton", tol=1e-10).certificate.primal
    result = dg.solve(problem, solver, tol=1e-6, **options)
    assert result.status == "optimal" and result.certificate.primal <= best * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["smo", "decomposition"])
def test_warm_start_budgets_and_trace(solver):
    X, y = data(7, n=300)
    problem = dg.Problem(X, y, C=1.0, intercept="free")
    first = dg.solve(problem, solver, tol=1e-7)
    again = dg.solve(problem, solver, tol=1e-6, start=first)
    assert again.n_iter == 0 and again.status == "optimal"
    other = dg.solve(dg.Problem(X, y, C=1.1, intercept="free"), solver, tol=1e-6, start=first)
    assert other.status == "optimal"
    limited = dg.solve(dg.Problem(X, y, C=100.0, intercept="free"), solver, tol=0, max_iter=0.1)
    assert limited.status == "max_iter" and np.isfinite(limited.certificate.gap)
    timed = dg.solve(dg.Problem(X, y, loss="pinball", C=1e5, intercept="free"), solver, tol=0, max_time=0.2)
    assert timed.status in ("max_time", "stalled") and timed.seconds < 0.5
    traced = dg.solve(problem, solver, tol=1e-6, trace=True)
    assert len(traced.trace) > 1 and (traced.trace.gap >= -1e-9).all()
    seen = []
    stopped = dg.solve(problem, solver, tol=0, callback=lambda state: seen.append(state.coef) or len(seen) == 2)
    assert stopped.status == "interrupted" and len(seen) == 2 and seen[0].shape == (6,)


def test_one_class_alone_and_bad_options():
    X, _ = data(8, n=20)
    result = dg.solve(dg.Problem(X, np.ones(20), C=1.0, intercept="free"), "smo")
    assert result.status == "optimal" and result.intercept >= 1 and not result.dual.any()
    problem = dg.Problem(X, np.ones(20), intercept="free")
    with pytest.raises(dg.InvalidData, match="working_set"):
        dg.solve(problem, "decomposition", working_set=1)
    with pytest.raises(dg.InvalidData, match="cache_size"):
        dg.solve(problem, "smo", cache_size=-1)
    with pytest.raises(dg.UnsupportedProblem, match="newton"):
        dg.solve(dg.Problem(X, np.ones(20)), "smo")
