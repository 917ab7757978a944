"""Seconds to a distance from the optimum: the loosest setting that gets there, then best of several, alternating."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Callable
from typing import Any

import numpy as np

from . import objective
from .peers import Contestant


def lower_bound(X: Any, y: np.ndarray, loss: str, C: float, limit: float = 120.0) -> float:
    """A dual value by our own arithmetic here, so close to the primal that distances down to 1e-4 mean something."""
    import dualgap as dg

    result = dg.solve(dg.Problem(X, y, loss=loss, C=C), tol=1e-6, max_time=limit)
    P = objective.primal(X, y, loss, C, result.coef)
    D = objective.dual(X, y, loss, C, result.dual)
    if not 2e-5 * abs(P) >= P - D:
        raise RuntimeError(f"no bound good enough to measure from: primal {P}, dual {D}, {result.status}")
    return D


def distances(
    runner: Contestant, X: Any, y: np.ndarray, loss: str, C: float, best: float, goal: float, cap: float
) -> Any:
    """(setting, seconds, distance) from loose to tight until the goal is reached or the cap on seconds is."""
    found, spent = [], 0.0
    for setting in runner.settings:
        try:
            seconds, w = runner.fit(X, y, loss, C, setting)
        except Exception as error:  # a peer that cannot is not in this race
            print(f"    {runner.name}: {type(error).__name__}: {str(error)[:100]}")
            return found
        distance = (objective.primal(X, y, loss, C, w) - best) / abs(best)
        found.append((setting, seconds, distance))
        spent += seconds
        if distance <= goal or spent > cap:
            break
    return found


def race(
    X: Any, y: np.ndarray, loss: str, C: float, runners: list[Contestant], goals: tuple[float, ...], cap: float
) -> dict[tuple[str, float], float]:
    """Best seconds of each contestant to each goal (inf: not reached), measured in alternating rounds."""
    best = lower_bound(X, y, loss, C)
    picked: dict[tuple[str, float], tuple[Contestant, float]] = {}
    seconds: dict[tuple[str, float], float] = {}
    for runner in runners:
        if not runner.enters(X, loss):
            continue
        tried = distances(runner, X, y, loss, C, best, min(goals), cap)
        for goal in goals:
            reached = next(((s, t) for s, t, d in tried if d <= goal), None)
            seconds[runner.name, goal] = reached[1] if reached else math.inf
            if reached:
                picked[runner.name, goal] = (runner, reached[0])
    order = list(picked.items())
    for _ in range(3):
        order.reverse()  # some libraries' threads spin for a while after work: not always on the same neighbour's time
        for key, (runner, setting) in order:
            if seconds[key] < 1.0:
                seconds[key] = min(seconds[key], runner.fit(X, y, loss, C, setting)[0])
    return seconds


def in_child(work: Callable[[], Any], limit: float) -> Any:
    """What work() answers in a fork of this process; None where it fails, or takes longer and is stopped. Data and
    modules come along, and every library's threads begin afresh."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=lambda: send.send(work()), daemon=True)
    child.start()
    send.close()
    try:
        return receive.recv() if receive.poll(limit) else None
    except EOFError:  # it said why on its standard error
        return None
    finally:
        child.kill()
        child.join()


def arrival(
    runner: Contestant, X: Any, y: np.ndarray, loss: str, C: float, best: float, goal: float, limit: float
) -> tuple[float, float]:
    """(the loosest setting that gets there, its seconds); infinite where a fit takes more than the limit."""
    for setting in runner.settings if runner.enters(X, loss) else ():
        found = in_child(lambda setting=setting: runner.fit(X, y, loss, C, setting), limit + 0.5)
        if found is None or found[0] > limit:
            break
        if objective.primal(X, y, loss, C, found[1]) - best <= goal * abs(best):
            return setting, found[0]
    return math.nan, math.inf


def again(
    runners: list[Contestant], X: Any, y: np.ndarray, loss: str, C: float, settings: dict[Contestant, float]
) -> list[float]:
    """Seconds of each one's best fit, in turns to and fro in one process of their own, until the fastest has had a
    fifth of a second, and three turns at least where they take less than three seconds: the first ones there pay for
    pages and threads that a fork has not got yet."""

    def fits() -> list[float]:
        taken: list[list[float]] = [[] for _ in runners]
        turns = list(zip(runners, taken, strict=True))
        while min(map(sum, taken)) < 0.2 or (len(taken[0]) < 3 and max(map(min, taken)) < 3.0):
            for runner, seconds in turns:
                seconds.append(runner.fit(X, y, loss, C, settings[runner])[0])
            turns.reverse()  # nobody always follows the same one, whose memory and threads it finds
        return [min(seconds) for seconds in taken]

    return in_child(fits, 600.0) or [math.inf] * len(runners)


def geometric_mean(values: Any) -> float:
    values = [v for v in values if math.isfinite(v) and v > 0]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan
