"""Newton on tables like pictures: pixels from 0 to 255, rows that can be told apart, a C so large that the kink of the
hinge is all there is. Each test fails where one of the things that bring it through is taken away."""

import numpy as np
import pytest

import dualgap as dg


def blots(seed, rows=1000, side=10):
    """Pictures of three blots each, in ten classes; the first against the rest."""
    random = np.random.default_rng(seed)
    places = random.uniform(0, side, (10, 3, 2))
    classes = random.integers(0, 10, rows)
    centres = places[classes] + random.normal(0, side / 12, (rows, 3, 2))
    pixels = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), -1).reshape(-1, 2)
    distance = ((pixels[None, :, None, :] - centres[:, None, :, :]) ** 2).sum(-1).min(-1)
    ink = np.exp(-distance / (2 * (side / 10) ** 2))
    ink = np.round(255 * np.where(ink < 0.1, 0.0, ink)).astype(np.float32)
    return ink, np.where(classes == 0, 1.0, -1.0)


def textures(seed, rows=6000, columns=256):
    """Pictures mixed from a few patterns; a tenth of them against the rest, which cannot be told apart wholly."""
    random = np.random.default_rng(seed)
    patterns = random.random((columns // 10, columns)) ** 4
    shares = random.gamma(0.3, 1, (rows, columns // 10))
    light = (shares @ patterns) / (shares @ patterns).max(axis=1, keepdims=True)
    scores = shares @ random.normal(size=columns // 10) + 0.5 * random.normal(size=rows)
    light = np.round(255 * np.clip(light - 0.15, 0, None) / 0.85).astype(np.float32)
    return light, np.where(scores > np.quantile(scores, 0.9), 1.0, -1.0)


@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("seed, C", [(2, 1e6), (12, 1e5), (15, 1e6), (19, 1e6)])
def test_a_step_does_not_end_short_of_a_corner(seed, C, intercept):
    X, y = blots(seed)
    result = dg.solve(dg.Problem(X, y, C=C, intercept=intercept), "newton", tol=1e-6)
    assert result.status == "optimal" and result.n_iter < 1000


@pytest.mark.parametrize("seed, C", [(10, 1e5), (12, 1e5), (17, 1e6)])
def test_a_dual_point_is_kept_where_the_judge_finds_fault_with_the_primal(seed, C):
    X, y = blots(seed)
    result = dg.solve(dg.Problem(X, y, C=C, intercept="free"), "newton", tol=1e-6)
    assert result.status == "optimal" and result.n_iter < 1000


@pytest.mark.parametrize("intercept", ["none", "regularized"])
@pytest.mark.parametrize("rows, side", [(1500, 10), (2500, 14)])
def test_a_long_way_to_the_first_good_dual_point_is_no_standstill(rows, side, intercept):
    X, y = blots(9, rows, side)
    result = dg.solve(dg.Problem(100 * X, y, C=1e4, intercept=intercept), "newton", tol=1e-6)
    assert result.status == "optimal" and result.n_iter < 1000


def test_rows_at_rest_do_not_wake_unseen():
    X, y = textures(1)
    result = dg.solve(dg.Problem(X, y, C=1e5, intercept="regularized"), "newton", tol=1e-6)
    assert result.status == "optimal" and result.n_iter < 200  # 114, and 321 where they do
