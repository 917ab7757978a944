"""003: the order of the coordinates, shrinking, and the loss."""

from __future__ import annotations

from dualgap.lab import Check, Experiment, Method, Panel, Records, Sample, curves, dots, fit
from dualgap.lab.checks import by_ratio
from dualgap.lab.results import ratios

ORDERS = {"cyclic": "in order", "permuted": "permuted", "random": "random"}
METHODS = tuple(
    Method(
        "dcd",
        f"{words}, {'shrinking' if shrinking else 'no shrinking'}",
        {"order": order, "shrinking": shrinking},
        style=style + 2 * (not shrinking),
    )
    for style, (order, words) in enumerate(ORDERS.items())
    for shrinking in (True, False)
)
LOSSES = ("hinge", "squared_hinge", "logistic")


def panels(records: Records) -> list[Panel]:
    shown = []
    for loss in LOSSES:
        for sample in records.samples:
            title = f"{sample}, {loss.replace('_', ' ')}"
            shown.append(dots(records.where(sample=sample, loss=loss), "seconds", title, "time to the gap", xunit="s"))
    first = records.where(sample=records.samples[0], loss="logistic")
    lines = curves(first, "relative_gap", "epoch", floor=1e-7)
    return [*shown, Panel(f"{records.samples[0]}, logistic: the way", "epochs", "relative gap", lines)]


def checks(records: Records) -> list[Check]:
    permuted = ratios(records, "in order, shrinking", "permuted, shrinking")
    found = [
        by_ratio(
            permuted, "the permuted order", "the fixed order", "A permuted order converges faster than a fixed one."
        )
    ]
    for loss in LOSSES:
        shrunk = ratios(records, "permuted, no shrinking", "permuted, shrinking", loss=loss)
        claim = f"Shrinking speeds up the fit ({loss.replace('_', ' ')})."
        found.append(by_ratio(shrunk, "shrinking", "no shrinking", claim))
    logistic = records.where(loss="logistic", method="permuted, shrinking")
    there = sum(row.get("seconds") is not None for row in logistic)
    claim = "Dual coordinate descent solves logistic regression to the gap."
    found.append(
        Check(claim, there == len(logistic) if len(logistic) else None, f"{there} of {len(logistic)} fits got there")
    )
    return found


EXPERIMENT = Experiment(
    name="ablation",
    title="Order and shrinking, for three losses",
    question="What do a permuted order and shrinking bring, for the hinge, its square and the logistic loss?",
    claim="Solving the subproblems in random order can speed up convergence; shrinking speeds up the solution; dual"
    " descent with Newton steps solves logistic regression.",
    source="003",
    data=(Sample("a9a"), Sample("w8a"), Sample("20news", positive=0, label="20news, one class")),
    problems=tuple({"loss": loss, "C": 1.0} for loss in LOSSES),
    methods=METHODS,
    settings=({"tol": 1e-6, "max_time": 6.0},),
    measure=fit,
    panels=panels,
    checks=checks,
    repeats=2,
    timeout=120,
    quick={
        "data": (
            Sample("a9a", rows=4000, label="a9a, 4,000 rows"),
            Sample("20news", rows=4000, positive=0, label="20news, 4,000 rows"),
        ),
        "settings": ({"tol": 1e-6, "max_time": 1.5},),
        "repeats": 2,
        "timeout": 30,
    },
)
