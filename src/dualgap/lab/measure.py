"""What a cell measures. Quality is what the judge says; seconds are on its clock (judging not counted).

``fit`` serves nearly every experiment: it solves once with a trace, and says when the certified relative gap first was
within the tolerance. Peers have no trace: they are run at tighter and tighter settings of their own until the judge
certifies the same gap, and the time of the first setting that passes is theirs; or, to draw their way, from the start
again with more and more iterations.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.lab.declare import Case, Missing
from dualgap.lab.peers import PEERS

POINTS = 160  # of a stored curve
REPEAT = 0.1  # seconds after which a fit is not repeated


def fit(case: Case) -> dict[str, Any]:
    """Solve to ``tol`` (and at most ``max_time``) and measure time, certificate and accuracy.

    Settings: ``tol``, ``max_time``, ``max_iter``, ``best_of`` (short fits are repeated, the fastest kept),
    ``trace`` (False: only the user's whole time), ``watch`` (True: also the accuracy on the test rows along the way;
    a peer's way is whole fits of ``peer_iterations``).
    """
    problem = make_problem(case)
    begin = time.perf_counter()
    runs = [_once(case, problem)]
    while len(runs) < case.setting.get("best_of", 3) and time.perf_counter() - begin < REPEAT:
        runs.append(_once(case, problem))
    return min(runs, key=lambda run: (run["seconds"] is None, run["seconds"] or 0.0))


def make_problem(case: Case) -> Any:
    """The problem of a case: linear unless it says ``kind`` "one-class" or "svdd"."""
    keywords = dict(case.problem)
    kind = keywords.pop("kind", "linear")
    if kind == "linear":
        if keywords.pop("per_row", False):  # C stated as λ = 1/(nC)
            keywords["C"] = 1 / (keywords.pop("regularization") * case.X.shape[0])
        return dg.Problem(case.X, case.y, **keywords)
    made = {"one-class": dg.OneClassProblem, "svdd": dg.SVDDProblem}[kind]
    return made(case.X, **keywords)


def need(solver: str) -> None:
    """A solver that is not there makes its cells missing, not failed."""
    if solver not in [entry.name for entry in dg.solvers()]:
        raise Missing(f"solver {solver!r} is not in this build")


def _once(case: Case, problem: Any) -> dict[str, Any]:
    if case.method.solver in PEERS:
        return _peer_way(case, problem) if case.setting.get("watch") else _peer(case, problem)
    need(case.method.solver)
    limits = {name: case.setting[name] for name in ("tol", "max_time", "max_iter") if name in case.setting}
    watched: list[tuple[float, Any, float]] = []
    if case.setting.get("watch"):
        limits["callback"] = lambda state: watched.append((state.seconds, np.array(state.coef), state.intercept))
    trace = bool(case.setting.get("trace", True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a budget that runs out is a status here
        result = dg.solve(
            problem,
            case.method.solver,
            random_state=case.seed,
            n_threads=1,
            trace=trace,
            **limits,
            **case.method.options,
        )
    values = _certified(result.certificate)
    values |= {"status": str(result.status), "epochs": result.epochs, "iterations": result.n_iter}
    values |= {"whole_seconds": result.seconds, "seconds": result.seconds}
    if trace:
        values["curve"] = curve(result.trace)
        values["seconds"] = seconds_to(values["curve"], case.setting.get("tol", 1e-3))
        values["solver_seconds"] = values["curve"]["seconds"][-1] if values["curve"]["seconds"] else None
    if case.y_test is not None:
        values |= accuracies(case, result.coef, result.intercept)
    if case.setting.get("keep_model"):
        values |= {"coef": result.coef, "intercept": result.intercept}
    if watched:
        values["watched"] = {
            "seconds": [seconds for seconds, _, _ in watched],
            "accuracy": [accuracy(case.X_test, case.y_test, coef, b) for _, coef, b in watched],
        }
    return values


def _peer(case: Case, problem: Any) -> dict[str, Any]:
    """The loosest of the peer's own tolerances at which the judge certifies ours."""
    peer, tol = PEERS[case.method.solver], case.setting.get("tol", 1e-3)
    values: dict[str, Any] = {}
    spent, enough = 0.0, 3 * case.setting.get("max_time", 20.0)
    for theirs in peer.tolerances:
        model, seconds = _peer_fit(case, theirs, int(case.setting.get("peer_max_iter", 20_000)))
        spent += seconds
        coef, intercept, certificate = peer.certify(model, case, problem)
        values = {**_certified(certificate), "status": "optimal", "seconds": seconds, "whole_seconds": seconds}
        values |= {"their_tolerance": theirs, "epochs": None}
        if coef is not None:
            values |= accuracies(case, coef, intercept)
        if case.setting.get("keep_model"):
            values |= {"coef": coef, "intercept": intercept}
        if certificate.relative_gap <= tol:
            return values
        if spent > enough:
            break
    return {**values, "status": "no setting of theirs certified in time", "seconds": None, "solver_seconds": spent}


def _peer_fit(case: Case, tol: float, max_iter: int) -> tuple[Any, float]:
    """A fitted peer and the seconds of its fit."""
    peer = PEERS[case.method.solver]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        model = peer.make(case, tol, max_iter)
        peer.fit(model, case)
        return model, time.perf_counter() - begin


def _peer_way(case: Case, problem: Any) -> dict[str, Any]:
    """A curve of whole fits, each from the start with more iterations, until they took twice the time allowed."""
    line: dict[str, list[float]] = {"epoch": [], "seconds": [], "primal": [], "dual": [], "relative_gap": []}
    right: list[float] = []
    values: dict[str, Any] = {}
    for iterations in case.setting["peer_iterations"]:
        model, seconds = _peer_fit(case, 1e-9, int(iterations))
        coef, intercept, certificate = PEERS[case.method.solver].certify(model, case, problem)
        values = {**_certified(certificate), **accuracies(case, coef, intercept), "epochs": iterations}
        line["epoch"].append(float(iterations))
        line["seconds"].append(seconds)
        for name in ("primal", "dual", "relative_gap"):
            line[name].append(values[name])
        right.append(values["test_accuracy"])
        if sum(line["seconds"]) > 2 * case.setting.get("max_time", 20.0):
            break
    reached = seconds_to(line, case.setting.get("tol", 1e-3))
    values |= {"status": "max_iter" if reached is None else "optimal", "seconds": reached, "curve": line}
    values |= {"solver_seconds": line["seconds"][-1], "whole_seconds": line["seconds"][-1]}
    return {**values, "watched": {"seconds": line["seconds"], "accuracy": right}}


def _certified(certificate: Any) -> dict[str, Any]:
    return {
        "primal": certificate.primal,
        "dual": certificate.dual,
        "gap": certificate.gap,
        "relative_gap": certificate.relative_gap,
    }


def curve(trace: Any) -> dict[str, list[float]]:
    """A trace's numbers, thinned evenly in the logarithm of its length."""
    size = np.maximum(np.maximum(np.abs(trace.primal), np.abs(trace.dual)), 1e-300)
    columns = {"epoch": trace.epoch, "seconds": trace.seconds, "primal": trace.primal, "dual": trace.dual}
    whole = np.isfinite(size)  # a point without a finite objective is as far away as can be
    columns["relative_gap"] = np.divide(trace.gap, size, out=np.ones(len(trace)), where=whole)
    count = len(trace)
    if count > POINTS:
        keep = np.unique(np.round(np.geomspace(1, count, POINTS)).astype(int)) - 1
        columns = {name: column[keep] for name, column in columns.items()}
    return {name: [float(value) for value in column] for name, column in columns.items()}


def seconds_to(line: Mapping[str, list[float]], tol: float, what: str = "relative_gap") -> float | None:
    """When a curve first is at or below tol; None where it never is."""
    return next((s for s, value in zip(line["seconds"], line[what], strict=True) if value <= tol), None)


def accuracies(case: Case, coef: Any, intercept: float) -> dict[str, float]:
    found = {"train_accuracy": accuracy(case.X, case.y, coef, intercept)}
    if case.X_test is not None and case.X_test.shape[0]:
        found["test_accuracy"] = accuracy(case.X_test, case.y_test, coef, intercept)
    return found


def accuracy(X: Any, y: Any, coef: Any, intercept: float) -> float:
    return float(np.mean(np.where(X @ coef + intercept > 0, 1.0, -1.0) == y))
