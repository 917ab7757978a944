"""What must not change the answer, and what must change it in a known way; for `auto` and every exact solver."""

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
import reference

LOSSES = list(reference.LOSSES)
TOL = 1e-7


@pytest.fixture(params=["dcd", "auto"])
def solver(request):
    return request.param


def data(loss, seed=4, rows=60, cols=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, cols))
    score = X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.standard_normal(rows) + 0.3
    return X, np.where(score > 0, 1.0, -1.0) if loss in reference.MARGIN else score


def fit(X, y, loss, solver, C=0.7, intercept="none", **more):
    problem = dg.Problem(X, y, loss, C, intercept=intercept, **more, **reference.LOSSES[loss])
    result = dg.solve(problem, solver=solver, tol=TOL, max_time=20)
    assert result.status == "optimal", result
    return result


def same(a, b, factor=1.0):
    """Both certified to TOL: their objectives agree to that, their coefficients to its square root."""
    assert a.certificate.primal == pytest.approx(factor * b.certificate.primal, rel=3 * TOL)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_weights_are_repetitions(loss, intercept, solver):
    X, y = data(loss)
    times = np.arange(len(y)) % 3
    weighted = fit(X, y, loss, solver, intercept=intercept, sample_weight=times.astype(float))
    repeated = fit(np.repeat(X, times, axis=0), np.repeat(y, times), loss, solver, intercept=intercept)
    same(weighted, repeated)
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=2e-3)
    assert not weighted.dual[times == 0].any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_turning_the_labels_turns_the_model(loss, intercept, solver):
    X, y = data(loss)
    if loss == "pinball":
        other = dg.solve(
            dg.Problem(X, -y, loss, 0.7, intercept=intercept, quantile=1 - reference.LOSSES[loss]["quantile"]),
            solver=solver,
            tol=TOL,
        )
    else:
        other = fit(X, -y, loss, solver, intercept=intercept)
    one = fit(X, y, loss, solver, intercept=intercept)
    same(one, other)
    np.testing.assert_allclose(one.coef, -other.coef, atol=2e-3)
    if intercept == "regularized":
        assert one.intercept == pytest.approx(-other.intercept, abs=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_order_of_rows_and_columns_does_not_matter(loss, solver):
    X, y = data(loss)
    rows, cols = np.random.default_rng(0).permutation(len(y)), np.random.default_rng(1).permutation(X.shape[1])
    one, other = fit(X, y, loss, solver), fit(X[rows][:, cols], y[rows], loss, solver)
    same(one, other)
    np.testing.assert_allclose(one.coef[cols], other.coef, atol=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("factor", [1e-3, 8.0, 1e4])
def test_scaling_the_table_and_the_cost_together(loss, factor, solver):
    """With fX and C/f² the optimum is P/f² and the coefficients are w/f."""
    X, y = data(loss)
    one, other = fit(X, y, loss, solver), fit(factor * X, y, loss, solver, C=0.7 / factor**2)
    same(one, other, factor**2)
    np.testing.assert_allclose(one.coef, factor * other.coef, atol=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_sparse_and_dense_agree(loss, intercept, solver):
    X, y = data(loss)
    X = X * (np.random.default_rng(2).random(X.shape) < 0.4)
    same(fit(X, y, loss, solver, intercept=intercept), fit(sp.csr_matrix(X), y, loss, solver, intercept=intercept))


@pytest.mark.parametrize("loss", LOSSES)
def test_an_implied_column_is_a_stored_one(loss, solver):
    X, y = data(loss)
    implied = fit(X, y, loss, solver, intercept="regularized", intercept_scaling=2.0)
    stored = fit(np.c_[X, np.full(len(y), 2.0)], y, loss, solver)
    same(implied, stored)
    assert implied.intercept == pytest.approx(2 * stored.coef[-1], abs=2e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_empty_rows_cost_what_they_must(loss, solver):
    X, y = data(loss)
    padded, more = np.r_[X, np.zeros((4, X.shape[1]))], np.r_[y, y[:4]]
    extra = 0.7 * float(np.sum(reference.value(loss, y[:4], 0.0, **reference.LOSSES[loss])))
    with_them, without = fit(padded, more, loss, solver), fit(X, y, loss, solver)
    assert with_them.certificate.primal == pytest.approx(without.certificate.primal + extra, rel=1e-6)
