"""Every loss of the registry against its definition: conjugate, Fenchel–Young, derivative, proximal step, extremes."""

import itertools

import numpy as np
import pytest
import scipy.optimize
import scipy.special

import dualgap as dg
import reference
from dualgap import _core

LOSSES = {loss.name: loss for loss in dg.losses()}
# each at its default and at the parameter the reference uses
CASES = [(name, value) for name in LOSSES for value in {LOSSES[name].default, *reference.LOSSES[name].values()}]
COSTS = (1e-3, 1.0, 40.0)
SCORES = np.linspace(-4, 4, 41)


def targets(name):
    return (-1.0, 1.0) if LOSSES[name].targets == "sign" else (-2.5, 0.0, 0.7, 3.0)


def words(name, parameter):
    return {LOSSES[name].parameter: parameter} if LOSSES[name].parameter else {}


class Row:
    """One row's primitives, with names."""

    def __init__(self, name, parameter, y, c, beta=0.0, z=0.0, q=1.0):
        self.value, self.dual, self.low, self.high, self.beta, self.slope, self.slack = _core.row_primitives(
            name, parameter, y, c, beta, z, q
        )


def betas(name, parameter, y, c, count=9):
    """Dual points of the box, ends and just inside them included; a wide stretch where it has no end."""
    row = Row(name, parameter, y, c)
    low, high = max(row.low, -6 * c), min(row.high, 6 * c)
    inside = np.linspace(low, high, count)
    return np.unique(np.r_[inside, low + 1e-9 * (high - low), high - 1e-9 * (high - low)])


def test_the_registry_and_the_reference_know_the_same_losses():
    assert set(LOSSES) == set(reference.LOSSES)


@pytest.mark.parametrize("name, parameter", CASES)
def test_value_box_and_dual_are_those_of_the_definition(name, parameter):
    for y, c in itertools.product(targets(name), COSTS):
        low, high = reference.box(name, np.array(y), np.array(c), **words(name, parameter))
        for beta, z in itertools.product(betas(name, parameter, y, c), SCORES):
            row = Row(name, parameter, y, c, beta, z)
            expected = reference.value(name, y, z, **words(name, parameter))
            assert row.value == pytest.approx(expected, rel=1e-13, abs=1e-15)
            assert (row.low, row.high) == pytest.approx((float(low), float(high)))
            expected = float(reference.dual_term(name, y, c, beta, **words(name, parameter)))
            assert row.dual == pytest.approx(expected, rel=1e-9, abs=1e-12 * c)


@pytest.mark.parametrize("name, parameter", CASES)
def test_the_dual_term_is_the_conjugate_by_brute_force(name, parameter):
    """−cℓ*(−β/c) = min over z of βz + cℓ(z)."""
    grid = np.linspace(-60, 60, 4001)
    for y, c in itertools.product(targets(name), COSTS):
        values = np.array([Row(name, parameter, y, c, 0.0, z).value for z in grid])
        for beta in betas(name, parameter, y, c):
            k = int(np.argmin(beta * grid + c * values))
            best = scipy.optimize.minimize_scalar(
                lambda z, y=y, c=c, beta=beta: beta * z + c * Row(name, parameter, y, c, 0.0, z).value,
                bounds=(grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]),
                method="bounded",
                options={"xatol": 1e-12},
            ).fun
            dual = Row(name, parameter, y, c, beta).dual
            assert dual <= best + 1e-12 * c
            assert best - dual <= 1e-7 * c


@pytest.mark.parametrize("name, parameter", CASES)
def test_fenchel_young_holds_and_is_tight_at_the_derivative(name, parameter):
    for y, c, z in itertools.product(targets(name), COSTS, SCORES):
        for beta in betas(name, parameter, y, c):
            row = Row(name, parameter, y, c, beta, z)
            assert c * row.value - row.dual + beta * z >= -1e-12 * c
        slope = Row(name, parameter, y, c, 0.0, z, 0.0).beta
        row = Row(name, parameter, y, c, slope, z)
        assert c * row.value - row.dual + slope * z == pytest.approx(0.0, abs=1e-11 * c * (1 + abs(z)))


@pytest.mark.parametrize("name, parameter", CASES)
def test_no_smoothing_gives_minus_the_derivative(name, parameter):
    """At q = 0 the step is −cℓ′(z): by central differences where smooth, between the one-sided ones at a kink."""
    h = 1e-6
    for y, c, z in itertools.product(targets(name), COSTS, SCORES + 0.00137):
        before, here, after = (Row(name, parameter, y, c, 0.0, t).value for t in (z - h, z, z + h))
        left, right = (here - before) / h, (after - here) / h
        beta = Row(name, parameter, y, c, 0.0, z, 0.0).beta
        assert -c * (max(left, right) + 2e-5) <= beta <= -c * (min(left, right) - 2e-5)


@pytest.mark.parametrize("name, parameter", CASES)
@pytest.mark.parametrize("q", [1e-9, 1e-2, 1.0, 300.0, 1e9])
def test_the_step_is_the_best_point_of_the_box(name, parameter, q):
    """B maximises −cℓ*(−B/c) − z(B − β) − ½q(B − β)²: no point of a fine grid around it and over the box is better."""
    for y, c, z in itertools.product(targets(name), COSTS, (-3.0, -0.9, 0.0, 0.4, 2.5)):
        for beta in betas(name, parameter, y, c, 4):
            step = Row(name, parameter, y, c, beta, z, q)
            assert step.low <= step.beta <= step.high

            def gain(at, y=y, c=c, z=z, beta=beta):
                return Row(name, parameter, y, c, at).dual - z * (at - beta) - 0.5 * q * (at - beta) ** 2

            reach = abs(step.beta - beta) + c
            near = np.clip(step.beta + reach * np.r_[-1e-2, -1e-4, 1e-4, 1e-2], step.low, step.high)
            best = max(gain(at) for at in [*near, *betas(name, parameter, y, c, 7)])
            size = abs(gain(step.beta)) + abs(z * (step.beta - beta)) + q * (step.beta - beta) ** 2 + c
            assert gain(step.beta) >= best - 1e-9 * size


@pytest.mark.parametrize("name, parameter", CASES)
def test_the_slope_is_the_derivative_of_the_step(name, parameter):
    h = 1e-6
    for y, c, q, z in itertools.product(targets(name), (1.0, 40.0), (0.5, 7.0), SCORES + 0.00137):
        for beta in betas(name, parameter, y, c, 3):
            low, here, high = (Row(name, parameter, y, c, beta, t, q) for t in (z - h, z, z + h))
            assert here.slope >= 0
            if (low.slope > 0 and high.slope > 0) or low.slope == high.slope == 0:  # not across a corner
                assert here.slope == pytest.approx((low.beta - high.beta) / (2 * h), rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("name, parameter", CASES)
def test_rows_without_weight_or_without_entries(name, parameter):
    for y, z, q in itertools.product(targets(name), (-3.0, 0.0, 0.5, 3.0), (0.0, 1.0)):
        row = Row(name, parameter, y, 0.0, 0.0, z, q)
        assert (row.beta, row.slope, row.dual) == (0.0, 0.0, 0.0)
        assert row.low == row.high == 0
    for y, c in itertools.product(targets(name), COSTS):
        row = Row(name, parameter, y, c, 0.0, 0.0, 0.0)
        assert np.isfinite([row.beta, row.slope]).all() and row.low <= row.beta <= row.high


@pytest.mark.parametrize("name, parameter", CASES)
def test_extremes_stay_finite_and_inside(name, parameter):
    for y, c in itertools.product(targets(name), (1e-12, 1e12)):
        box = Row(name, parameter, y, c)
        for z, q in itertools.product((-1e9, -800.0, 0.0, 800.0, 1e9), (1e-150, 1e-9, 1.0, 1e150)):
            for beta in (0.0, np.clip(c / 2, box.low, box.high), np.clip(-c / 2, box.low, box.high)):
                row = Row(name, parameter, y, c, beta, z, q)
                assert np.isfinite([row.value, row.dual, row.beta, row.slope]).all(), (y, c, z, q, beta)
                assert row.low <= row.beta <= row.high and row.slope >= 0


@pytest.mark.parametrize("name, parameter", CASES)
def test_slack_is_positive_only_where_the_step_stays_at_its_bound(name, parameter):
    for y, c, z in itertools.product(targets(name), (1.0, 40.0), SCORES + 0.00137):
        box = Row(name, parameter, y, c)
        for beta in {x for x in (box.low, box.high, 0.0) if np.isfinite(x)}:
            row = Row(name, parameter, y, c, beta, z, 1.0)
            if row.slack > 0:
                assert row.beta == pytest.approx(beta, abs=1e-12)
            elif row.slack < -1e-6:
                assert row.beta != beta


@pytest.mark.parametrize("name", LOSSES)
def test_parameters_are_checked(name):
    loss = LOSSES[name]
    with pytest.raises(dg.InvalidData, match="takes"):
        dg.Problem([[1.0]], [1.0], loss=name, wrong=1.0)
    if loss.parameter:
        with pytest.raises(dg.InvalidData, match=loss.parameter):
            dg.Problem([[1.0]], [1.0], loss=name, **{loss.parameter: -1.0})
        with pytest.raises(dg.InvalidData, match=loss.parameter):
            dg.Problem([[1.0]], [1.0], loss=name, **{loss.parameter: "much"})


@pytest.mark.parametrize(
    "c, q", [(1.0, 0.5), (40.0, 0.5), (40.0, 7.0), (1e-6, 1e8), (1e6, 1e3), (1e12, 1e20), (1e4, 1e-9)]
)
def test_the_logistic_step_finds_its_root_wherever_it_starts(c, q):
    """u + yz + q(cσ(u) − a) = 0, by bisection in the log-odds; Newton alone walks to and fro across the steep part."""
    for y, z, part in itertools.product((-1.0, 1.0), SCORES + 0.00137, (0.0, 1e-9, 0.3, 0.5, 1 - 1e-9, 1.0)):
        start = c * part

        def miss(u, m=y * z, start=start):
            return u + m + q * (c * scipy.special.expit(u) - start)

        low, high = -y * z - q * (c - start) - 1, -y * z + q * start + 1
        root = scipy.optimize.brentq(miss, max(low, -800), min(high, 800), xtol=1e-14, rtol=1e-15, maxiter=500)
        found = y * Row("logistic", 0.0, y, c, y * start, z, q).beta
        slope = c * scipy.special.expit(root) * scipy.special.expit(-root)
        assert abs(found - c * scipy.special.expit(root)) <= 1e-9 * slope + 1e-15 * c, (y, z, part)
