"""The benchmarks' own arithmetic and stages, on tables that take no time."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import dualgap as dg
import reference
from reference import Case

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks import contest, data, easy, hard, objective, race, report, stalls
from benchmarks.peers import PEERS, SVM, Contestant, dualgap


@pytest.mark.parametrize("loss", reference.LOSSES)
@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
def test_the_objective_that_everyone_is_measured_by(loss, intercept):
    rng = np.random.default_rng(1)
    X, z = rng.standard_normal((40, 3)), rng.standard_normal(40)
    y = np.sign(z) if loss in reference.MARGIN else z
    parameters = reference.LOSSES[loss]
    case = Case(X, y, loss, 0.7, intercept, parameters=parameters)
    how = {"intercept": intercept, "p": next(iter(parameters.values()), 0.0)}
    w = rng.standard_normal(3)
    b = 0.4 if intercept != "none" else 0.0
    assert objective.primal(X, y, loss, 0.7, w, b, **how) == pytest.approx(reference.primal(case, w, b))
    result = dg.solve(case.problem(), tol=1e-8)
    assert objective.dual(X, y, loss, 0.7, result.dual, **how) == pytest.approx(result.certificate.primal, rel=1e-6)


@pytest.fixture
def small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    return X, np.where(X[:, 0] + rng.standard_normal(200) > 0, 1.0, -1.0)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "logistic"])
def test_everyone_who_enters_arrives(small, loss):
    X, y = small
    runners = [dualgap("auto", 1, "dualgap"), *(p for p in PEERS if p.package in ("sklearn", "liblinear"))]
    seconds = contest.race(X, y, loss, 1.0, runners, (1e-2, 1e-4), cap=5.0)
    entered = [r.name for r in runners if r.enters(X, loss)]
    assert {who for who, _ in seconds} == set(entered)
    assert all(0 < t < 5 for t in seconds.values()), seconds
    row = race.line("a9a", X, loss, 1.0, 1e-2, seconds)
    assert row["× best peer"] == pytest.approx(row[row["best peer"]] / row["dualgap"])


def test_a_cell_of_the_hard_grid(small):
    X, y = small
    cell = hard.cell("small", X * [1e-4, 1, 1, 1, 1e4], y, "hinge", 0.0, 1.0, "none", cap=0.2)
    assert cell["certified"] and cell["gap"] <= 1.1e-6 and cell["scikit-learn liblinear"] > 0
    assert any("1 of 1 cells" in line for line in hard.summary([cell]))


def test_a_table_says_where_we_lose():
    text = report.table([{"set": "a", "× best peer": 0.5}, {"set": "b", "× best peer": 2.0, "seconds": float("inf")}])
    assert "**0.5**" in text and "**2**" not in text and "–" in text


def test_generated_sets_stand_in(monkeypatch):
    monkeypatch.delenv("DUALGAP_DATA", raising=False)
    data.load.cache_clear(), data._real.cache_clear()
    X, y = data.load("reuters")
    assert X.shape == (7770, 8315) and set(y) == {-1.0, 1.0}
    data.load.cache_clear(), data._real.cache_clear()


@pytest.mark.parametrize("losses", [hard.MARGIN, hard.REAL], ids=["labels", "targets"])
@pytest.mark.parametrize("name", [name for name in data.hard_tables() if name != "many rows"])
def test_the_hard_grid_on_generated_tables(name, losses):
    X, labels, targets = data.hard_tables()[name]
    for row in hard.cells(name, X, labels if losses is hard.MARGIN else targets, losses, cap=0.0):
        assert row["certified"] and (0 < row["steps"] <= 100 or "newton" not in row["solver"]), row


def test_work_in_a_child_is_answered_fails_or_is_stopped():
    assert contest.in_child(lambda: {"answer": 42}, 60.0) == {"answer": 42}
    assert contest.in_child(lambda: 1 // 0, 60.0) is None
    assert contest.in_child(lambda: time.sleep(60), 0.05) is None


def test_a_cell_of_the_easy_grid(small, monkeypatch):
    crawls = Contestant("crawls", lambda *_: time.sleep(60), (1.0,), SVM, "sklearn")
    lies = Contestant("lies", lambda X, *_: (0.0, np.zeros(X.shape[1])), (1.0, 0.1), SVM, "sklearn")
    monkeypatch.setattr(easy, "PEERS", (lies, crawls))
    row = easy.cell("small", *small, "hinge", 1.0, rounds=1)
    assert row["× best peer"] == easy.FAR and "none in 30" in row["best peer"]  # neither arrived: the bound counts
    monkeypatch.setattr(easy, "PEERS", (lies, PEERS[0], crawls))
    row = easy.cell("small", *small, "hinge", 1.0, rounds=1)
    assert row["best peer"] == "LIBLINEAR dual" and row["× best peer"] == row["its seconds"] / row["dualgap"]
    assert "slower in" in easy.summary([row])[0]


def test_awkward_tables_end_as_they_say():
    rows = stalls.run(full=False, seeds=range(8))
    for row in rows:
        assert row["confirmed"] if row["status"] == "optimal" else row["gap"] > 1e-6
    rows.append({**rows[0], "loss": "pinball", "status": "optimal", "confirmed": False})
    assert "1 of them wrongly" in stalls.summary(rows)[0]
