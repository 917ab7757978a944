"""How a solve behaves: determinism, budgets, interrupts, warm starts, memory."""

import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import dualgap as dg

SOLVERS = {s.name: s for s in dg.solvers() if "linear" in s.problems}
FAST = [s for s in SOLVERS.values() if s.max_rows is None]


def some(rows=240, cols=17, seed=2, sparse=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, cols)) * (rng.random((rows, cols)) < 0.35)
    y = np.where(X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(rows) > 0, 1.0, -1.0)
    return (sp.csr_matrix(X) if sparse else X), y


def first_problem(solver, **shape):
    X, y = some(**shape)
    return dg.Problem(X, y, solver.losses[0], 0.5, intercept=solver.intercepts[0])


def bits(result):
    return result.coef.tobytes(), np.float64(result.intercept).tobytes(), result.dual.tobytes(), result.epochs


@pytest.mark.parametrize("solver", FAST, ids=lambda s: s.name)
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "csr"])
def test_same_seed_same_bits_with_one_and_two_threads(solver, sparse):
    for intercept in solver.intercepts:
        X, y = some(sparse=sparse)
        problem = dg.Problem(X, y, solver.losses[0], 0.5, intercept=intercept)
        budget = {"tol": 1e-5, "max_iter": 60}
        one, two, again = (
            dg.solve(problem, solver=solver.name, random_state=3, n_threads=t, **budget) for t in (1, 2, 2)
        )
        assert bits(one) == bits(two) == bits(again)


def test_another_seed_gives_another_order():
    X, y = some()
    fits = [dg.solve(dg.Problem(X, y), solver="dcd", random_state=s, max_iter=2, tol=0) for s in (0, 1)]
    assert bits(fits[0]) != bits(fits[1])


def test_every_kind_of_random_state_is_a_seed():
    X, y = some(rows=40)
    solve = lambda state: bits(dg.solve(dg.Problem(X, y), solver="dcd", random_state=state, max_iter=3, tol=0))  # noqa: E731
    assert solve(None) == solve(0)
    assert solve(np.random.RandomState(5)) == solve(np.random.RandomState(5))
    assert solve(np.random.default_rng(5)) == solve(np.random.default_rng(5))
    with pytest.raises(dg.InvalidData, match="random_state"):
        solve(-1)


@pytest.mark.parametrize("solver", ["dcd", "auto"])
def test_fits_in_several_threads_at_once_are_the_fits_one_after_another(solver):
    X, y = some(rows=3000, sparse=True)
    problem = dg.Problem(X, y)

    def fit(seed):
        return bits(dg.solve(problem, solver=solver, random_state=seed, tol=1e-5, max_iter=50, n_threads=2))

    alone = [fit(seed) for seed in range(6)]
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(fit, range(6))) == alone


@pytest.mark.parametrize("solver", FAST, ids=lambda s: s.name)
def test_a_budget_that_ran_out_is_a_status(solver):
    result = dg.solve(first_problem(solver), solver=solver.name, tol=1e-14, max_iter=1)
    assert result.status in ("max_iter", "stalled", "optimal")
    assert result.status != "optimal" or result.certificate.relative_gap <= 1e-14
    assert np.isfinite(result.coef).all() and result.certificate.gap >= 0


@pytest.mark.parametrize("solver", FAST, ids=lambda s: s.name)
def test_a_callback_sees_the_truth_and_can_stop(solver):
    problem, seen = first_problem(solver), []

    def look(state):
        seen.append(state)
        assert state.primal == pytest.approx(problem.objective(state.coef, state.intercept), rel=1e-9)
        assert not state.coef.flags.writeable
        return len(seen) == 2

    result = dg.solve(problem, solver=solver.name, tol=1e-13, callback=look, max_iter=100)
    assert seen
    assert all(state.gap == pytest.approx(state.primal - state.dual, abs=1e-9) for state in seen)
    if len(seen) >= 2 and result.status != "optimal":
        assert result.status == "interrupted" and len(seen) == 2


@pytest.mark.parametrize("solver", ["dcd", "auto"])
def test_what_a_callback_raises_comes_out(solver):
    def fail(state):
        raise LookupError("from the callback")

    X, y = some()
    with pytest.raises(LookupError, match="from the callback"):
        dg.solve(dg.Problem(X, y), solver=solver, callback=fail)
    assert dg.solve(dg.Problem(X, y), solver=solver).status == "optimal"


@pytest.mark.parametrize("solver", ["dcd", "auto"])
def test_the_answer_comes_within_a_tenth_of_a_second_of_the_limit(solver):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500_000, 40))  # Newton takes more to come to the limits of floating point here
    y = np.where(rng.random(500_000) > 0.5, 1.0, -1.0)
    problem = dg.Problem(X, y, C=1e3)
    start = time.perf_counter()
    result = dg.solve(problem, solver=solver, tol=1e-15, max_time=0.3, n_threads=1)
    took = time.perf_counter() - start
    assert result.status in ("max_time", "stalled"), result
    assert took <= 0.3 + 0.1 + 0.3 * (os.getloadavg()[0] > 2), took  # a busy machine may keep us waiting
    assert np.isfinite(result.certificate.relative_gap)


INTERRUPT = """
import sys, time, numpy as np, dualgap as dg
rng = np.random.default_rng(0)
X = rng.standard_normal((100_000, 60)); y = np.where(rng.random(100_000) > 0.5, 1.0, -1.0)
problem = dg.Problem(X, y, C=1e4)
print("ready", flush=True)
try:
    end = time.time() + 20
    while time.time() < end:
        dg.solve(problem, solver=sys.argv[1], tol=1e-15)
except KeyboardInterrupt:
    print("seen", time.time(), dg.solve(dg.Problem(X[:50], y[:50])).status, flush=True)
"""


@pytest.mark.parametrize("solver", ["dcd", "auto"])
def test_ctrl_c_stops_a_fit_and_leaves_the_interpreter_healthy(solver):
    process = subprocess.Popen([sys.executable, "-c", INTERRUPT, solver], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline().strip() == "ready"
    time.sleep(0.5)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    word, seen, status = process.communicate(timeout=30)[0].split()
    assert (word, status, process.returncode) == ("seen", "optimal", 0)
    assert float(seen) - sent <= 0.2 + 0.5 * (os.getloadavg()[0] > 2)  # a busy machine may keep us waiting


WARM = [s for s in FAST if s.warm_start and s.exact]


@pytest.mark.parametrize("solver", WARM, ids=lambda s: s.name)
def test_a_warm_start_at_the_optimum_costs_nothing(solver):
    for intercept in solver.intercepts:
        X, y = some()
        problem = dg.Problem(X, y, solver.losses[0], 0.5, intercept=intercept)
        cold = dg.solve(problem, solver=solver.name, tol=1e-6, max_time=20)
        warm = dg.solve(problem, solver=solver.name, tol=1e-5, start=cold, max_time=20)
        assert warm.status == "optimal", (intercept, warm)
        assert warm.epochs <= max(3.0, 0.35 * cold.epochs), (intercept, cold.epochs, warm.epochs)


@pytest.mark.parametrize("solver", WARM, ids=lambda s: s.name)
def test_a_start_from_another_problem_is_put_inside_the_bounds(solver):
    X, y = some()
    weight = np.where(np.arange(len(y)) % 2, 0.0, 2.0)
    make = lambda C, w=None: dg.Problem(X, y, solver.losses[0], C, sample_weight=w, intercept=solver.intercepts[-1])  # noqa: E731
    start = dg.solve(make(5.0), solver=solver.name, tol=1e-4, max_time=20)
    for problem in (make(0.01), make(50.0), make(1.0, weight)):
        warm = dg.solve(problem, solver=solver.name, tol=1e-5, start=start, max_time=20)
        cold = dg.solve(problem, solver="auto", tol=1e-5)
        assert warm.status == "optimal", warm
        assert warm.certificate.primal == pytest.approx(cold.certificate.primal, rel=3e-5)


def test_a_start_from_fewer_rows():
    X, y = some(rows=600)
    rows = np.arange(0, 600, 2)
    part = dg.solve(dg.Problem(X[rows], y[rows]), tol=1e-6)
    whole = dg.solve(dg.Problem(X, y), tol=1e-6, start=part, start_rows=rows)
    assert whole.status == "optimal"
    with pytest.raises(dg.InvalidData, match="start_rows"):
        dg.solve(dg.Problem(X, y), start=part)


MEMORY = """
import sys, numpy as np, scipy.sparse as sp, dualgap as dg
kind, dtype, index = sys.argv[1:4]
rng, n, p = np.random.default_rng(0), 400_000, 12
if kind == "csr":
    p, k = 3000, 8
    X = sp.csr_matrix((n, p))
    X.data = np.empty(n * k, dtype); rng.random(out=X.data, dtype=dtype)
    X.indices = np.tile(np.arange(0, p, p // k, dtype=index)[:k], n); X.indptr = np.arange(0, n * k + 1, k, dtype=index)
else:
    X = np.empty((n, p), dtype, order=kind); rng.random(out=X if kind == "C" else X.T, dtype=dtype)
y = np.where(np.arange(n) % 2, 1.0, -1.0)
dg.solve(dg.Problem(np.eye(20), y[:20]), solver="dcd", tol=1e-2)
def read(key):
    return int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1]) * 1024
hidden = np.zeros(max(0, read("VmHWM") - read("VmRSS")) + 4096, np.uint8); hidden[::512] = 1  # up to the old peak
before = read("VmRSS")
result = dg.solve(dg.Problem(X, y, loss="hinge", C=0.01), solver="dcd", max_iter=3, tol=1e-3)
print((read("VmHWM") - before) / (40 * n + 24 * p + 8e6))
"""
STORAGES = [("C", "f8", "i4"), ("C", "f4", "i4"), ("F", "f8", "i4"), ("csr", "f8", "i4"), ("csr", "f4", "i8")]


@pytest.mark.parametrize("storage", STORAGES if Path("/proc/self/status").exists() else [], ids="-".join)
def test_descent_takes_forty_bytes_a_row_beyond_the_input(storage):
    done = subprocess.run([sys.executable, "-c", MEMORY, *storage], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 1


MEMORY_OF_NEWTON = """
import sys, numpy as np, scipy.sparse as sp, dualgap as dg
from dualgap import _core
from dualgap.solvers import newton
kind, loss, n, p, threads, memory = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
rng = np.random.default_rng(0)
dg.solve(dg.Problem(rng.random((50, 3)), np.where(np.arange(50) % 2, 1.0, -1.0)), solver="newton")
X = rng.random((n, p))
if kind == "csr":
    X *= X < 0.2
    X = sp.csr_matrix(X)
y = np.where(np.arange(n) % 3, 1.0, -1.0)
problem = dg.Problem(X, y, loss=loss, C=1.0)
def read(key):
    return int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1]) * 1024
hidden = np.zeros(max(0, read("VmHWM") - read("VmRSS")) + 4096, np.uint8); hidden[::512] = 1  # up to the old peak
before = read("VmRSS")
result = dg.solve(problem, solver="newton", tol=1e-4, n_threads=threads, memory=memory)
allowed = newton.A_ROW * n + min(memory, _core.newton_matrices(problem._core))
print(result.status, (read("VmHWM") - before) / (allowed + 8e6))  # what Python and the allocator take by the way
"""
LARGE_TABLES = [
    ("dense", "hinge", "300000", "15", "2", "2000000000"),
    ("csr", "logistic", "200000", "20", "2", "2000000000"),
    ("dense", "squared_hinge", "5000", "800", "8", "2000000000"),
    ("dense", "hinge", "9000", "1000", "8", "60000000"),
    ("dense", "hinge", "9000", "1000", "2", "25000000"),
    ("csr", "hinge", "5000", "800", "2", "2000000000"),
    ("dense", "hinge", "2000", "1600", "2", "2000000000"),
]


@pytest.mark.parametrize("table", LARGE_TABLES if Path("/proc/self/status").exists() else [], ids="-".join)
def test_newton_takes_no_more_than_it_asks_for(table):
    """O(n + p²) beyond the input, with the numbers by which `room` looks whether there is so much."""
    done = subprocess.run([sys.executable, "-c", MEMORY_OF_NEWTON, *table], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    status, share = done.stdout.split()
    assert status == "optimal" and float(share) <= 1


@pytest.mark.parametrize("jobs", [None, 1, 2])
def test_warnings_point_at_the_line_of_the_caller(jobs):
    """Also from several classes in threads; once for each call."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3)) * [1.0, 1e6, 1.0]
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    calls = [
        (dg.ScaleWarning, lambda: dg.solve(dg.Problem(X, y))),
        (ConvergenceWarning, lambda: dg.LinearSVC(max_iter=1, tol=1e-12, n_jobs=jobs).fit(X, y)),
        (dg.ScaleWarning, lambda: dg.LinearSVC(n_jobs=jobs).fit(X, np.arange(600) % 3)),
        (dg.ScaleWarning, lambda: GridSearchCV(dg.LinearSVC(n_jobs=jobs), {"C": [1.0]}, cv=2, refit=False).fit(X, y)),
    ]
    for (category, call), times in zip(calls, (1, 1, 1, 2), strict=True):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        assert [w.filename for w in told if w.category is category] == times * [__file__]
