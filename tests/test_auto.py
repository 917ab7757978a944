"""The choice of solver: what it looks at, what it decides, and what it says of it."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap.data import as_matrix
from dualgap.solvers import auto
from tables import text, words


def test_verbose_says_who_ran_and_why(capfd):
    problem = dg.Problem([[1.0], [-1.0]], [1, -1])
    dg.solve(problem)
    assert capfd.readouterr().err == ""
    result = dg.solve(problem, verbose=1)
    assert f"auto: {result.why}" in capfd.readouterr().err and result.solver in result.why


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_auto_stays_with_descent_where_it_falls_fast(loss):
    """A relative gap of 1 that does not move is no reason to leave: the primal is on its way down from far above."""
    X, y = words(loss, 1500, 10_000)
    result = dg.solve(dg.Problem(X, y, loss, C=100.0), tol=1e-5)
    assert result.status == "optimal" and result.solver == "dcd"


@pytest.mark.filterwarnings("ignore::dualgap.ScaleWarning")
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_auto_hands_wide_data_to_newton_where_descent_crawls(loss):
    X, y = words(loss, 2000, 10_000)
    scales = np.random.default_rng(0).permutation(np.geomspace(0.01, 100, 10_000))
    X = sp.csr_matrix(X.multiply(scales))
    result = dg.solve(dg.Problem(X, y, loss, C=1000.0), tol=1e-5, max_iter=4000)  # descent alone: more than 5,500
    assert result.status == "optimal" and result.solver == "dcd, newton"


def test_a_change_of_solver_has_the_same_bits_for_every_number_of_threads():
    X, y = words("epsilon_insensitive", 1000, 4000)
    X = sp.csr_matrix(X.multiply(np.random.default_rng(0).permutation(np.geomspace(0.1, 10, 4000))))
    problem = dg.Problem(X, y, "epsilon_insensitive", C=1000.0)
    one, *others = (dg.solve(problem, tol=1e-5, n_threads=threads) for threads in (1, 2, 3))
    assert one.solver == "dcd, newton" and one.status == "optimal"
    for other in others:
        assert np.array_equal(one.coef, other.coef) and np.array_equal(one.dual, other.dual)
        assert (one.solver, one.epochs, one.why) == (other.solver, other.epochs, other.why)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_an_easy_problem_takes_an_epoch_or_two(loss):
    X, y = text()
    problem = dg.Problem(X, y, loss, C=0.01)
    result = dg.solve(problem, tol=1e-2)
    assert result.status == "optimal" and result.epochs <= 2
    slow, fast = (dg.solve(problem, "dcd", tol=1e-3, init=init) for init in ("zero", "sgd"))
    assert fast.epochs < slow.epochs


def test_epochs_of_several_solvers_add_up():
    """Quantiles at a huge C: descent, then Newton, which stalls, then descent again."""
    X, y = np.random.default_rng(1).standard_normal((5, 8)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    problem = dg.Problem(X, y, "pinball", C=1e12, intercept="free", quantile=0.3)
    result = dg.solve(problem, tol=1e-6, trace=True)
    assert result.solver == "dcd, newton, dcd"
    assert (np.diff(result.trace.epoch) >= 0).all() and result.epochs == pytest.approx(result.trace.epoch[-1])


def test_descent_has_its_epochs_before_it_gives_up(monkeypatch):
    """Also where it follows a Newton that stalled."""
    runs, descent = [], auto.DCD

    def run(problem, control, start, options):
        runs.append(options)
        return descent.run(problem, control, start, options)

    X, y = np.random.default_rng(1).standard_normal((5, 8)), np.array([1.0, -1.0, 1.0, -1.0, 1.0])
    problem = dg.Problem(X, y, "pinball", C=1e12, intercept="free", quantile=0.3)
    with monkeypatch.context() as patch:
        patch.setattr(auto, "DCD", replace(descent, run=run))
        assert dg.solve(problem, tol=1e-6).solver == "dcd, newton, dcd"
    assert len(runs) == 2 and all(options["least_epochs"] >= 0.05 * options["patience"] for options in runs)
    assert runs[0]["least_epochs"] >= auto.PART * runs[0]["patience"]
    crawling = np.random.default_rng(0).standard_normal((300, 20)) * 10.0 ** np.linspace(-3, 3, 20)
    problem = dg.Problem(crawling, np.sign(crawling.sum(axis=1)), "hinge", C=100.0)
    for least, epochs in ((0.0, (0, 30)), (40.0, (40, 70))):
        result = dg.solve(problem, "dcd", tol=1e-9, patience=5.0, least_epochs=least, shrinking=False)
        assert epochs[0] <= result.epochs <= epochs[1]


@pytest.mark.parametrize(
    "rows, columns, loss, C, first",
    [
        (5000, 300, "hinge", 1.0, "dcd"),  # 4 epochs; Newton takes ten times as long
        (5000, 300, "squared_hinge", 0.01, "dcd"),
        (5000, 300, "logistic", 1.0, "dcd"),
        (5000, 300, "squared_hinge", 100.0, "newton"),  # 280 epochs
        (20_000, 20, "squared_hinge", 1.0, "newton"),
        (20_000, 20, "logistic", 100.0, "newton"),
        (20_000, 20, "hinge", 100.0, "newton"),
        (20_000, 100, "hinge", 0.01, "dcd"),
        (500, 2000, "logistic", 100.0, "dcd"),  # 3 epochs: rows can be told apart
    ],
)
def test_auto_begins_where_it_is_cheap(rows, columns, loss, C, first):
    """Normal values, mean ‖x‖² = 1: what was measured to be done first, by far (ADR 7)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns)) / np.sqrt(columns)
    score = X @ rng.standard_normal(columns)
    y = np.where(score + 0.5 * np.std(score) * rng.standard_normal(rows) > 0, 1.0, -1.0)
    plan = auto.forecast(dg.Problem(X, y, loss, C=C), 1e-2)
    assert ("newton" if plan.newton_first else "dcd") == first
    result = dg.solve(dg.Problem(X, y, loss, C=C), tol=1e-2)
    assert result.solver == first and f"newton's work is that of {plan.patience:.0f} epochs" in result.why


def test_newton_goes_on_where_no_row_moves_any_more():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((6, 300))
    problem = dg.Problem(
        X, np.where(rng.random(6) < 0.5, 1.0, -1.0), "pinball", C=1e9, intercept="regularized", quantile=0.5
    )
    assert dg.solve(problem, "dcd", tol=1e-6).status == "stalled"
    result = dg.solve(problem, tol=1e-6)
    assert "epochs no row moved any more: newton from its point" in result.why


@pytest.mark.parametrize("loss", [entry.name for entry in dg.losses()])
def test_newton_finds_an_intercept_that_is_nearly_all_there_is_to_seek(loss):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 10))
    y = np.where(X[:, 0] + rng.standard_normal(10_000) > 1, 1.0, -1.0)
    result = dg.solve(dg.Problem(X, y, loss, C=1e-6, intercept="free"), tol=1e-3)
    assert result.status == "optimal" and result.solver == "newton" and "an intercept to find" in result.why
    for other in ({"C": 1e-3, "intercept": "free"}, {"C": 1e-6, "intercept": "none"}):
        assert not auto.forecast(dg.Problem(X, y, loss, **other), 1e-3).adrift


@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "huber"])
def test_a_tiny_fit_ends_where_its_gap_is_rounding(loss):
    """Aimed at 1e-15, which sums without compensation never show: the judge is asked before steps are wasted."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((1500, 1)) * 1e-4, np.where(rng.random(1500) < 0.4, 1.0, -1.0)
    result = dg.solve(dg.Problem(X, y, loss, C=6.0, intercept="regularized"))
    assert result.status == "optimal" and result.certificate.relative_gap <= 1e-14
    assert result.n_iter <= 15


def test_newton_on_wide_data_is_not_charged_more_than_descent_could_win():
    X, y = text()
    charged = {loss: auto.forecast(dg.Problem(X, y, loss), 1e-3).patience for loss in ("hinge", "squared_hinge")}
    assert charged == pytest.approx({"hinge": auto.MOST_EPOCHS, "squared_hinge": auto.MOST_EPOCHS_SMOOTH})
    assert auto.forecast(dg.Problem(X, y, "smoothed_hinge"), 1e-3).patience == auto.MOST_EPOCHS


@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0, 1.0]])
@pytest.mark.parametrize("loss", [entry.name for entry in dg.losses()])
def test_an_intercept_that_fits_every_row_is_the_answer(loss, weights):
    """P = 0 = D: no gap is small relative to nothing, so coming close to it would never do."""
    y = np.array([-1.0, 1.0 if weights else -1.0, -1.0, -1.0])  # the one row that differs has no weight
    X = np.random.default_rng(0).standard_normal((4, 3))
    result = dg.solve(dg.Problem(X, y, loss, sample_weight=weights, intercept="free"))
    assert result.status == "optimal" and result.certificate.relative_gap == 0 == result.certificate.primal
    assert not result.coef.any() and not result.dual.any() and result.intercept < 0


def test_a_tube_that_holds_every_target_needs_no_slope():
    X, y = np.random.default_rng(0).standard_normal((50, 3)), np.linspace(2.0, 2.4, 50)
    result = dg.solve(dg.Problem(X, y, "epsilon_insensitive", intercept="free", epsilon=0.25))
    assert result.status == "optimal" and result.certificate.primal == 0 and not result.coef.any()
    steep = dg.solve(dg.Problem(X, y, "epsilon_insensitive", intercept="free", epsilon=0.1))
    assert steep.status == "optimal" and steep.certificate.primal > 0


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array])
def test_wild_columns_are_named_once_and_the_problem_is_solved(storage):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)) * [1.0, 1e5, 10.0, 1e-2]
    y = np.where(X[:, 0] + X[:, 2] > 0, 1.0, -1.0)
    named = r"smallest entries are in column 3 \(about .*e-0[23]\), the largest in column 1 \(about .*e\+0[45]\)"
    with pytest.warns(dg.ScaleWarning, match=named) as told:
        result = dg.solve(dg.Problem(storage(X), y), tol=1e-6)
    assert len(told) == 1 and "Standardising the columns would change the model" in str(told[0].message)
    assert result.certificate.relative_gap <= 1e-6
    assert f"solved all the same, at a relative gap of {result.certificate.relative_gap:.1e}" in str(told[0].message)
    with pytest.warns(dg.ScaleWarning, match=r"This fit ended \(max_iter\) at a relative gap of [0-9.]+e[+-]"):
        dg.solve(dg.Problem(storage(X), y), tol=1e-9, max_iter=1)
    for labels in (y, np.arange(200) % 3):  # of three problems one speaks
        with pytest.warns(dg.ScaleWarning) as told:
            dg.LinearSVC(n_jobs=2).fit(storage(X), labels)
        assert len(told) == 1


def test_wild_columns_have_their_own_names():
    """Those of a table, also where an estimator has made an array of it; three of many that are alike."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((200, 6)) * [1e-6, 1e-6, 1e-6, 1e-6, 1.0, 1e3], columns=[*"pqrst", "income"])
    y = np.where(X.t > 0, 1.0, -1.0)
    for fit in (lambda: dg.solve(dg.Problem(X, y)), lambda: dg.LinearSVC().fit(X, y)):
        with pytest.warns(dg.ScaleWarning) as told:
            fit()
        words = str(told[0].message)
        assert "column 'income' (about " in words and "and 1 more near them" in words
        assert len(told) == 1 and sum(f"{name!r} (about " in words for name in "pqrs") == 3


@pytest.mark.filterwarnings("ignore::dualgap.ScaleWarning")
def test_what_is_told_of_wild_columns_is_what_came_of_the_fit():
    """Tiny tables aim beyond tol, and a stalled fit may be mended after `auto`: the last word counts. Of several
    classes it is the worst one's."""
    seen = set()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((30, 5)) * 10.0 ** rng.uniform(-5, 5, 5)
        X[0] *= 1e6
        problem = dg.Problem(X, np.where(rng.random(30) < 0.5, 1.0, -1.0), C=10.0 ** rng.uniform(0, 10))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = dg.solve(problem, tol=1e-8)
        if result.scales is not None:
            words = "solved all the same" if result.status == "optimal" else f"This fit ended ({result.status})"
            assert len(told) == 1 and words in str(told[0].message)
            assert f"{result.certificate.relative_gap:.1e}. Standardising" in str(told[0].message)
            seen.add(str(result.status))
    assert "optimal" in seen
    X = np.random.default_rng(0).standard_normal((300, 4)) * [1.0, 1e5, 10.0, 1e-2]
    with pytest.warns(dg.ScaleWarning) as told:
        model = dg.LinearSVC().fit(X, np.arange(300) % 3)
    worst = max(certificate.relative_gap for certificate in model.certificate_)
    assert f"solved all the same, at a relative gap of at most {worst:.1e}" in str(told[0].message)


@pytest.mark.parametrize(
    "table, named",
    [
        (lambda X: pa.table({f"f{j}": X[:, j] for j in range(3)}), "column 'f2'"),
        (lambda X: pd.DataFrame(X, columns=["a", "a", "b"]), "column 2 "),  # no two alike, or the number
        (lambda X: pd.DataFrame(X), "column 2 "),
        (lambda X: pd.DataFrame(X, columns=pd.MultiIndex.from_product([["a"], [1, 2, 3]])), "column 2 "),
    ],
)
def test_names_that_are_none(table, named):
    X = np.random.default_rng(0).standard_normal((200, 3)) * [1.0, 1.0, 1e5]
    with pytest.warns(dg.ScaleWarning) as told:
        dg.solve(dg.Problem(table(X), np.where(X[:, 0] > 0, 1.0, -1.0)))
    assert f"the largest in {named}" in str(told[0].message) and len(str(told[0].message)) < 500


def test_auto_says_why():
    """The numbers that its rule looked at, whichever way it went."""
    X, y = text(3000, 4000)
    easy = dg.solve(dg.Problem(X, y, C=0.01), tol=1e-2)
    assert easy.why == (
        "dcd, its first epoch stochastic: newton's work is that of 350 epochs of descent (columns are too many for a "
        "matrix), which may need 4 (C · mean ‖x‖² is 0.01)"
    )
    rng = np.random.default_rng(0)
    dense = rng.standard_normal((3000, 400)) * 10.0 ** rng.uniform(-3, 3, 400)
    crawling = dg.solve(dg.Problem(dense, np.where(dense[:, 0] > 0, 1.0, -1.0), C=1e3, intercept="free"), tol=1e-2)
    assert crawling.why.startswith("newton: newton's work is that of ")
    assert crawling.why.endswith(
        "epochs of descent, which may need thousands (C · mean ‖x‖² is 1.4e+10, columns of wild scale)"
    )
    tiny = dg.solve(dg.Problem(dense[:10, :3], y[:10]), tol=1e-2)
    assert tiny.why.endswith("; tiny, so aimed at the limits of floating point")
    stopped = dg.solve(dg.Problem(dense[:10, :3], y[:10]), tol=1e-9, max_iter=1e-9)
    assert stopped.status == "max_iter" and "tiny" not in stopped.why
    again = dg.solve(dg.Problem(X, y, C=0.01), tol=1e-2, start=easy)
    assert again.why.startswith("dcd: newton's work")


@pytest.mark.filterwarnings("ignore::dualgap.ScaleWarning")
def test_auto_begins_with_newton_where_columns_differ_wildly():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 400))
    y = np.where(X[:, :3].sum(axis=1) + rng.standard_normal(3000) > 0, 1.0, -1.0)
    for spread, first in ((0.0, "dcd"), (2.5, "newton")):
        Z = X * 10 ** np.linspace(-spread, spread, 400)
        Z /= np.sqrt((Z**2).sum(axis=1).mean())
        result = dg.solve(dg.Problem(Z, y, C=300.0), tol=1e-3)
        assert result.why.startswith(f"{first}:") and result.status == "optimal"


def test_of_long_rows_auto_looks_at_some():
    X = np.random.default_rng(0).standard_normal((400, 2000)) * np.where(np.arange(400) % 12 == 0, 1.0, 100.0)[:, None]
    square, *_ = as_matrix(X).profile()
    assert square == pytest.approx((X[::12] ** 2).sum(axis=1).mean())


def test_the_forecast_is_a_number_whatever_it_is_asked():
    """One class, weights that leave one row, squares that leave float64's room."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 3))
    one = np.ones(50)
    weight = np.zeros(50)
    weight[7] = 3.0
    for rows, y, C, sample_weight in (
        (1e139 * X, one, 1e90, None),
        (X, np.sign(X[:, 0]), 1.0, weight),
        (0 * X, one, 1e-90, None),
    ):
        for entry in dg.losses():
            plan = auto.forecast(dg.Problem(rows, y, entry.name, C=C, sample_weight=sample_weight), 0.0)
            assert np.isfinite([plan.epoch, plan.newton, plan.expected, plan.hardness, plan.patience]).all()
            assert "nan" not in str(plan)


def test_weights_count_in_what_auto_expects():
    """A rare class with as much weight as the other is not rare."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((2000, 5)), np.where(np.arange(2000) % 25 == 0, 1.0, -1.0)
    balanced = np.where(y > 0, 12.5, 12.5 / 24)
    rare, fair = (auto.forecast(dg.Problem(X, y, sample_weight=w), 1e-2).expected for w in (None, balanced))
    assert fair > 1.2 * rare


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_array, lambda X: X.astype(np.float32), np.asfortranarray])
def test_what_auto_looks_at(storage):
    """All rows of a short table, some hundred of a long one."""
    rng = np.random.default_rng(4)
    for rows in (150, 5000):
        X = rng.standard_normal((rows, 12)) * np.where(rng.random((rows, 12)) < 0.7, 0.0, 10.0 ** np.arange(-6, 6))
        X[:, 5] = 0.0
        matrix = as_matrix(storage(X))
        square, entries, pairs, smallest, largest = matrix.profile()
        length = np.count_nonzero(X) / rows if storage is sp.csr_array else 12
        kept = X[:: max(1, rows // int(np.clip(10_000 / length, 200, 1000)))]
        count = (kept != 0).sum(axis=1) if storage is sp.csr_array else np.full(len(kept), 12)
        counted = np.maximum((kept != 0).sum(axis=0), 1) if storage is sp.csr_array else np.full(12, len(kept))
        scale = np.where(counted >= 4, np.sqrt((kept**2).sum(axis=0) / counted), 0.0)
        assert np.allclose([square, entries], [(kept**2).sum(axis=1).mean(), length], rtol=1e-6)
        assert np.isclose(pairs, (0.5 * count * (count + 1)).mean())
        assert np.allclose([smallest, largest], scale[[0, 11]], rtol=1e-6)
        assert np.allclose(matrix.column_scales(), scale, rtol=1e-6)


def test_one_entry_next_to_zero_makes_no_column_small():
    rng = np.random.default_rng(1)
    X = sp.random(2000, 10_000, 0.005, format="csr", random_state=1, data_rvs=rng.random)
    y = np.where(rng.random(2000) < 0.5, 1.0, -1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dg.ScaleWarning)
        dg.solve(dg.Problem(X, y, C=0.01), tol=1e-2)


def test_counts_of_rare_words_are_not_wild():
    X, y = words("hinge", 2000, 3500, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", dg.ScaleWarning)
        dg.solve(dg.Problem(X, y, C=0.01), tol=1e-2)
