"""001: which rows to change next, and the textbook methods for the same quadratic programme."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.lab import Case, Check, Curve, Experiment, Method, Panel, Records, Sample
from dualgap.lab.declare import Cell
from dualgap.lab.measure import curve, make_problem, need, seconds_to
from dualgap.lab.results import geometric_mean, number

PAIR = (
    Method("smo", "most violating", {"selection": "most-violating"}),
    Method("smo", "second order", {"selection": "second-order"}, style=1),
)
BLOCKS = tuple(
    Method("decomposition", f"q = {q}", {"working_set": q}, style=style) for style, q in enumerate((2, 4, 10, 40))
)
TEXTBOOK = (Method("projected-gradient"), Method("active-set"), Method("ellipsoid"))
SMALL = Sample("heart", rows=40, prepare="standard", label="heart, 40 rows")
LARGE = Sample("covtype.binary.scale", rows=2000, label="covtype")


def measure(case: Case) -> dict[str, Any]:
    """The trace, and the violation of the optimality conditions after more and more iterations.

    The violation is max over R of −y∇f minus min over S, from the dual point that comes back: the fit is run again with
    larger and larger limits, and the same seed gives the same iterates.
    """
    need(case.method.solver)
    problem, limit = make_problem(case), float(case.setting["max_time"])
    options = {"random_state": case.seed, "n_threads": 1, "trace": True, **case.method.options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = dg.solve(problem, case.method.solver, tol=case.setting["tol"], max_time=limit, **options)
        line, begin, steps = curve(whole.trace), time.perf_counter(), {}
        last = line["epoch"][-1] if line["epoch"] else 1.0
        for epochs in np.geomspace(min(1.0, last) / 30, max(last, 1.0), int(case.setting["snapshots"])):
            if time.perf_counter() - begin > limit:
                break
            part = dg.solve(problem, case.method.solver, tol=1e-12, max_iter=float(epochs), max_time=limit, **options)
            steps[part.n_iter] = (curve(part.trace)["seconds"] or [part.seconds], violation(case, part.dual))
    counts = sorted(count for count in steps if count > 0)
    shown = {
        "iterations": counts,
        "seconds": np.maximum.accumulate([steps[count][0][-1] for count in counts]).tolist() if counts else [],
        "violation": [steps[count][1] for count in counts],
    }
    return {
        "curve": line,
        "steps": shown,
        "seconds": seconds_to(line, case.setting["tol"]),
        "iterations": whole.n_iter,
        "epochs": whole.epochs,
        "status": str(whole.status),
        "primal": whole.certificate.primal,
        "dual": whole.certificate.dual,
        "relative_gap": whole.certificate.relative_gap,
    }


def violation(case: Case, beta: Any) -> float:
    """max over R(α) of −y∇f(α) − min over S(α), at least 0; with a = yβ, −y∇f = y − Xv."""
    C, a = float(case.problem["C"]), case.y * beta
    value = case.y - case.X @ (case.X.T @ beta)
    edge = 1e-10 * C
    up = ((case.y > 0) & (a < C - edge)) | ((case.y < 0) & (a > edge))
    down = ((case.y > 0) & (a > edge)) | ((case.y < 0) & (a < C - edge))
    return float(max(0.0, value[up].max() - value[down].min())) if up.any() and down.any() else 0.0


def step_curves(records: Records, x: str) -> list[Curve]:
    """The violation of the first repeat's fit; iterations are the same in every repeat of the same rows."""
    found = []
    for method in records.methods:
        for row in records.where(method=method.title).rows[:1]:
            steps = row.values["steps"]
            kept = [(at, max(v, 1e-6)) for at, v in zip(steps[x], steps["violation"], strict=True) if at > 0]
            places, values = [at for at, _ in kept], [value for _, value in kept]
            found.append(Curve(method.title, places, values, solver=method.solver, style=method.style))
    return found


def panels(records: Records) -> list[Panel]:
    shown = []
    for sample in records.samples:
        some = records.where(sample=sample)
        groups = [
            ("pairs", some.where(lambda c: c.method in PAIR)),
            ("blocks", some.where(lambda c: c.method in BLOCKS)),
        ]
        if sample == SMALL.title:
            both = [("pairs and blocks", some.where(lambda c: c.method not in TEXTBOOK))]
            groups = [*both, ("textbook and SMO", some.where(lambda c: c.method in (*TEXTBOOK, PAIR[1])))]
        for words, group in groups:
            for x, axis, unit in (("iterations", "iterations", ""), ("seconds", "time (judging not counted)", "s")):
                title = f"{sample}: {words}"
                shown.append(Panel(title, axis, "KKT violation", step_curves(group, x), xunit=unit))
    return shown


def checks(records: Records) -> Sequence[Check]:
    def iterations(method: str, sample: str) -> list[float]:
        return records.where(method=method, sample=sample).numbers("iterations")

    found = []
    first, second = (iterations(method.title, LARGE.title) for method in PAIR)
    claim = "The choice of the pair decides the speed: second order needs fewer iterations than most violating."
    if first and second:
        ratio = geometric_mean(first) / geometric_mean(second)
        found.append(Check(claim, ratio > 1, f"most violating needs {number(ratio)} times the iterations on covtype"))
    else:
        found.append(Check(claim, None, "no cells of both"))
    times = {m.title: records.where(method=m.title, sample=LARGE.title).numbers("seconds") for m in BLOCKS}
    best = {title: geometric_mean(values) for title, values in times.items() if values}
    claim = "Larger working sets do not pay: q = 2 is the fastest block."
    if len(best) > 1:
        winner = min(best, key=lambda title: best[title])
        text = f"{winner} is fastest, q = 2 takes {number(best.get('q = 2', np.inf) / best[winner])} times its time"
        found.append(Check(claim, winner == "q = 2", text))
    else:
        found.append(Check(claim, None, "no cells"))
    return [*found, _textbook(records)]


def _textbook(records: Records) -> Check:
    claim = "SMO beats the textbook QP methods even on 40 rows."
    smo = records.where(method=PAIR[1].title, sample=SMALL.title).numbers("seconds")
    others = {m.title: records.where(method=m.title, sample=SMALL.title).numbers("seconds") for m in TEXTBOOK}
    if not smo or not any(others.values()):
        return Check(claim, None, "no cells of both")
    ratios = {title: geometric_mean(values) / geometric_mean(smo) for title, values in others.items() if values}
    text = ", ".join(f"{title} takes {number(value)} times SMO's time" for title, value in ratios.items())
    return Check(claim, min(ratios.values()) > 1, text)


def sensible(cell: Cell) -> bool:
    return cell.sample.title == SMALL.title or cell.method not in TEXTBOOK


EXPERIMENT = Experiment(
    name="working-set",
    title="Which rows next? SMO's pairs, larger working sets, textbook methods",
    question="How do the choice of the working set and its size change the way to the optimum?",
    claim="The choice of the active set determines convergence; SMO takes the pair that violates the KKT conditions"
    " worst, the general decomposition method q rows; SMO stands against the standard QP solvers.",
    source="001",
    data=(SMALL, LARGE),
    problems=({"loss": "hinge", "C": 1.0, "intercept": "free"},),
    methods=(*PAIR, *BLOCKS, *TEXTBOOK),
    settings=({"tol": 1e-4, "max_time": 8.0, "snapshots": 24},),
    measure=measure,
    panels=panels,
    checks=checks,
    only=sensible,
    repeats=3,
    timeout=150,
    how="Linear kernel, free bias. The violation is max over R(α) of −y∇f minus min over S(α), not 001's α(1 − "
    "yz), which misses rows with α = 0 inside the margin.",
    quick={
        "data": (SMALL, replace(LARGE, rows=400)),
        "settings": ({"tol": 1e-3, "max_time": 1.5, "snapshots": 12},),
        "repeats": 2,
        "timeout": 30,
    },
)
