"""000 §IX: the problems that have the linear constraint by nature."""

from __future__ import annotations

from collections.abc import Sequence

from dualgap.lab import Check, Experiment, Method, Panel, Records, Sample, curves, fit
from dualgap.lab.checks import by_ratio, faster
from dualgap.lab.declare import Cell
from dualgap.lab.results import ratios

PAIRS = {"greedy": "greedy pairs", "random": "random pairs", "cyclic": "cyclic pairs"}
KINDS = {"oneclass-dcd": "one-class", "svdd-dcd": "svdd", "sklearn:OneClassSVM": "one-class"}
METHODS = (
    *(
        Method(solver, words, {"pairs": pairs}, style=style)
        for solver in ("oneclass-dcd", "svdd-dcd")
        for style, (pairs, words) in enumerate(PAIRS.items())
    ),
    Method("sklearn:OneClassSVM", "OneClassSVM"),
)


def panels(records: Records) -> list[Panel]:
    shown = []
    for kind, words in (("one-class", "one-class SVM"), ("svdd", "SVDD")):
        for sample in records.samples:
            lines = curves(records.where(sample=sample, kind=kind), "relative_gap", floor=1e-6)
            shown.append(Panel(f"{words}, {sample}", "time (judging not counted)", "relative gap", lines, xunit="s"))
    return shown


def checks(records: Records) -> Sequence[Check]:
    found = []
    for kind, words in (("one-class", "one-class SVM"), ("svdd", "SVDD")):
        some = records.where(kind=kind, method="greedy pairs")
        there = sum(row.get("seconds") is not None for row in some)
        claim = f"A coordinate method solves the linear {words} to the gap asked for."
        number = f"descent by greedy pairs certified {there} of {len(some)} fits of the {words}"
        found.append(Check(claim, there == len(some) if len(some) else None, number))
        quick = ratios(records.where(kind=kind), "random pairs", "greedy pairs")
        claim = f"Choosing the first of a pair by its gradient beats random pairs ({words})."
        found.append(by_ratio(quick, "greedy choice", "random choice", claim))
    one = records.where(kind="one-class")
    return [*found, faster(one, "greedy pairs", "OneClassSVM", "Descent is faster than scikit-learn's OneClassSVM.")]


def sensible(cell: Cell) -> bool:
    return bool(KINDS[cell.method.solver] == cell.problem["kind"])


EXPERIMENT = Experiment(
    name="one-class",
    title="One-class SVM and data description: descent by pairs",
    question="Can coordinate methods deal with a linear constraint that cannot be left out, and which choice of pairs "
    "is best?",
    claim="For one-class SVMs and SVDD, which have an inherent linear constraint, novel coordinate descent methods "
    "have to be developed.",
    source="000 §IX",
    data=(
        Sample("a9a", rows=10_000, label="a9a, 10,000 rows"),
        Sample("mnist.scale", rows=3_000, label="mnist, 3,000 rows"),
        Sample("20news", label="20news"),
    ),
    problems=({"kind": "one-class", "nu": 0.1}, {"kind": "svdd", "nu": 0.1}),
    methods=METHODS,
    settings=({"tol": 1e-4, "max_time": 6.0},),
    measure=fit,
    panels=panels,
    checks=checks,
    only=sensible,
    repeats=3,
    timeout=120,
    how="ν = 0.1. Labels are not used. scikit-learn's OneClassSVM (linear kernel) gets the loosest tolerance of "
    "its own at which the judge certifies our gap.",
    quick={
        "data": (
            Sample("a9a", rows=4000, label="a9a, 4,000 rows"),
            Sample("20news", rows=1000, label="20news, 1,000 rows"),
        ),
        "settings": ({"tol": 1e-3, "max_time": 2.0},),
        "repeats": 2,
        "timeout": 30,
    },
)
