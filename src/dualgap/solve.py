"""The verb: choose a solver, run it under a control, let the judge speak, hand back a result."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.config import available_threads, threads_for
from dualgap.data import Array, as_number, column_names
from dualgap.errors import InvalidData
from dualgap.memory import need_memory
from dualgap.problem import Problem
from dualgap.progress import GapBar
from dualgap.registry import solver_named
from dualgap.result import Certificate, Result, State, Status, Trace, state_callback
from dualgap.scales import tell_of_scales
from dualgap.solvers import Start
from dualgap.solvers._finish import finish, judge
from dualgap.together import give_up

# Tiny problems are solved to the limits of floating point: that costs microseconds, and then weights and repetitions,
# or rows in another order, agree to the last digits.
TINY = 2048  # entries
TINY_KERNEL = 10_000  # kernel values
POLISH, POLISH_EPOCHS = 1e-16, 300  # what a tiny kernel problem is solved to, as far as these epochs go
WIDE = 50_000_000  # columns from which memory is asked for before it is taken


def solve(
    problem: Problem,
    solver: str = "auto",
    *,
    tol: float = 1e-3,
    max_iter: float | None = None,
    max_time: float | None = None,
    random_state: Any = None,
    n_threads: int | None = None,
    start: Result | None = None,
    start_rows: Any = None,
    callback: Callable[[State], Any] | None = None,
    trace: bool = False,
    verbose: int = 0,
    **solver_options: Any,
) -> Result:
    """Solve a problem to a relative duality gap of ``tol``.

    Parameters
    ----------
    problem : Problem
    solver : str
        A name from ``dualgap.solvers()``; "auto" chooses.
    tol : float
        The relative gap, (primal − dual) / max(|primal|, |dual|), at which the answer is optimal.
    max_iter : float, optional
        Epochs (passes' worth of row operations); none by default.
    max_time : float, optional
        Seconds of the whole call, judging included.
    random_state : int, RandomState or None
        The seed; None is 0, so that the same call gives the same answer.
    n_threads : int, optional
        None: one for small problems, idle cores for those a little larger, otherwise what the process may use.
    start : Result, optional
        An earlier answer, also from another C, other weights, another solver, or, with ``start_rows``, fewer rows.
    start_rows : array of int, optional
        The rows of this problem that the rows of ``start`` are.
    callback : callable, optional
        Gets a ``State`` every epoch; returning True stops the fit with status "interrupted".
    trace : bool
        Keep a ``Trace`` of every epoch, judged off its clock.
    verbose : int
        1 draws a progress bar with the gap falling; "auto" says which solver ran and why.
    **solver_options
        The solver's own; ``dualgap.solvers()`` lists them.

    Examples
    --------
    >>> import dualgap as dg
    >>> problem = dg.Problem([[0.0, 1.0], [2.0, 1.0], [3.0, 0.0]], [-1, 1, 1])
    >>> result = dg.solve(problem, tol=1e-6)
    >>> result.status == "optimal", result.certificate.relative_gap <= 1e-6
    (True, True)
    """
    tol = _tolerance(tol)
    chosen = solver_named(problem.default_solver if solver == "auto" else solver)
    if problem.kind == "kernel" and problem.work <= TINY_KERNEL and max_iter is None and tol > POLISH:
        common = {"random_state": random_state, "n_threads": n_threads, "callback": callback, "trace": trace,
                  "verbose": verbose}  # fmt: skip
        polished = solve(problem, solver, tol=POLISH, max_iter=POLISH_EPOCHS, max_time=max_time, start=start,
                         start_rows=start_rows, **common, **solver_options)  # fmt: skip
        within = polished.status != "interrupted" and polished.certificate.relative_gap <= tol
        if within or polished.status in ("interrupted", "max_time"):
            return replace(polished, tol=tol, status=Status.optimal if within else polished.status)
        max_time = None if max_time is None else max(max_time - polished.seconds, 1e-9)
    options = {**chosen.check(problem, solver_options), "seed": seed_of(random_state)}
    if problem.kind != "kernel" and problem.n_cols > WIDE:
        need_memory(40.0 * problem.n_cols, f"A fit over {problem.n_cols:,} columns keeps five vectors of that length")
    begin = _start(problem, start, start_rows)
    bar = GapBar(tol) if verbose else None
    hooks = [hook for hook in (bar, callback and state_callback(callback)) if hook]
    threads = thread_count(problem, n_threads)
    aim = _aim(problem, solver, tol)
    control = _control(aim, max_time, max_iter, threads, trace, hooks)
    control.expect_judging(_judging(problem, max_time, threads))
    try:
        answer = chosen.run(problem, control, begin, options)
        if not answer.judged and problem.kind != "kernel":
            judge(problem, control, answer)
        if problem.kind == "linear" and control.status == "stalled":
            answer = finish(problem, control, answer, tol)
    finally:
        if bar:
            bar.close()
    status = _status(control, tol)
    if aim < tol and answer.solver != "auto" and status in (Status.optimal, Status.stalled):
        answer.why += "; tiny, so aimed at the limits of floating point"
    if verbose and answer.why:
        print(f"{solver}: {answer.why}", file=sys.stderr)
    result = Result(
        coef=answer.coef,
        intercept=answer.intercept,
        dual=answer.dual,
        certificate=Certificate.from_core(control.certificate),
        status=status,
        solver=answer.solver,
        n_iter=answer.n_iter,
        epochs=answer.epochs,
        seconds=control.seconds,
        trace=Trace(control.trace, answer.why) if trace else None,
        tol=tol,
        why=answer.why,
        scales=problem._matrix.column_scales() if answer.wild else None,
        threshold=answer.threshold,
    )
    if result.scales is not None and problem._tells_of_scales:
        tell_of_scales([result], column_names(problem.X, problem.n_cols))
    return result


def _control(
    tol: float, max_time: Any, max_iter: Any, threads: int, trace: bool, hooks: Sequence[Callable[..., Any]]
) -> _core.Control:
    """Clock, budgets, trace and the way to the judge; every hook sees every judged moment, and any may stop the fit."""
    return _core.Control(
        tol=tol,
        max_time=_limit("max_time", max_time),
        max_epochs=_limit("max_iter", max_iter),
        threads=threads,
        trace=bool(trace),
        callback=(lambda *moment: any([hook(*moment) for hook in hooks])) if hooks else None,
        give_up=stop.is_set if (stop := give_up.get()) else None,
    )


def _judging(problem: Any, max_time: float | None, threads: int) -> float:
    """Seconds that the first judging will take: three times what the look at the data would, or a guess from its
    size."""
    guess = max(3e-9 * float(problem._matrix.entries), 3 * float(getattr(problem, "_looking", 0.0)) / threads)
    return guess if max_time is None else min(guess, 0.8 * float(max_time))


def _aim(problem: Problem, solver: str, tol: float) -> float:
    """What a fit aims at: tol, or less where the problem is tiny and "auto" chooses."""
    tiny = solver == problem.default_solver == "auto" and problem._matrix.entries <= TINY and problem.n_cols <= 256
    return min(tol, 1e-15) if tiny else tol


def _status(control: Any, tol: float) -> Status:
    """Why the fit ended; a gap within tol is optimal whatever ended it, unless the user did."""
    if control.status != "interrupted" and control.certificate.relative_gap <= tol:
        return Status.optimal
    return Status(control.status if control.status not in ("running", "optimal") else "stalled")


def seed_of(random_state: Any) -> int:
    """A 64-bit seed from None (0), a whole number, or a NumPy generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)) and random_state >= 0:
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31))
    raise InvalidData(f"random_state={random_state!r} is not None, a whole number from 0, or a NumPy generator.")


def thread_count(problem: Problem, n_threads: int | None) -> int:
    """How many threads one fit may use."""
    if n_threads is None:
        return threads_for(problem.work)
    if not isinstance(n_threads, (int, np.integer)) or n_threads == 0:
        raise InvalidData(f"n_threads={n_threads!r} is not a whole number other than 0.")
    return min(int(n_threads), 256) if n_threads > 0 else max(1, available_threads() + 1 + int(n_threads))


def _tolerance(tol: Any) -> float:
    value = as_number(tol, "tol")
    if not 0 <= value < math.inf:
        raise InvalidData(f"tol={tol!r} must be 0 or more: it is a relative duality gap.")
    return value


def _limit(name: str, value: Any) -> float:
    if value is None:
        return math.inf
    number = as_number(value, name)
    if not number > 0:
        raise InvalidData(f"{name}={value!r} must be positive, or None for no limit.")
    return number


def _start(problem: Problem, start: Result | None, rows: Any) -> Start:
    """β of an earlier result on this problem's rows; the solver puts it inside this problem's bounds."""
    if start is None:
        return Start()
    dual: Array = np.asarray(start.dual, dtype=np.float64)
    if rows is not None:
        spread = np.zeros(problem.n_rows)
        spread[np.asarray(rows)] = dual
        dual = spread
    if dual.size != problem.n_rows:
        raise InvalidData(
            f"start has {dual.size} rows, this problem {problem.n_rows}; say with start_rows= which rows they are."
        )
    coef = start.coef if start.coef.size == problem.n_cols else None
    return Start(np.ascontiguousarray(dual), float(start.intercept), coef)
