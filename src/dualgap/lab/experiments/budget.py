"""002 figure 5: accuracy under a time budget."""

from __future__ import annotations

from dualgap.lab import Check, Experiment, Method, Panel, Record, Records, fit, points
from dualgap.lab.experiments.size import DCD, LAZY, covtype
from dualgap.lab.results import seconds

METHODS = (DCD, LAZY, Method("auto", "auto", {}, {"intercept": "regularized"}))


def budget_of(row: Record) -> float:
    return float(row.cell.setting["max_time"])


def panels(records: Records) -> list[Panel]:
    shown = []
    for sample in records.samples:
        lines = points(records.where(sample=sample), budget_of, "test_accuracy")
        shown.append(
            Panel(sample, "budget for the whole call", "test accuracy", lines, yscale="linear", xunit="s", yunit="%")
        )
    return shown


def first_within(records: Records, method: str, sample: str, best: float) -> float | None:
    """The smallest budget whose mean accuracy is within half a point of the best of all."""
    budgets = sorted({budget_of(row) for row in records.where(method=method, sample=sample)})
    for budget in budgets:
        if records.where(method=method, sample=sample, max_time=budget).mean("test_accuracy") >= best - 0.005:
            return budget
    return None


def checks(records: Records) -> list[Check]:
    found = []
    for sample in records.samples:
        some = records.where(sample=sample)
        means = [
            some.where(method=method.title, max_time=budget).mean("test_accuracy")
            for method in METHODS
            for budget in {budget_of(row) for row in some.where(method=method.title)}
        ]
        claim = f"DCD has its best accuracy within 0.5 s, SMO needs longer ({sample})."
        if not means or not len(some.where(method=LAZY.title)):
            found.append(Check(claim, None, "no cells of both"))
            continue
        dcd, smo = (first_within(records, method.title, sample, float(max(means))) for method in (DCD, LAZY))
        last = max(budget_of(row) for row in some)
        there = f"with {seconds(smo)}" if smo else f"not with {seconds(last)}"
        number = f"{sample}: DCD has the best accuracy with {seconds(dcd)}, SMO {there}"
        found.append(Check(claim, dcd is not None and dcd <= 0.5 and (smo is None or smo > dcd), number))
    return found


def budgets(*values: float) -> tuple[dict[str, object], ...]:
    return tuple({"max_time": value, "tol": 1e-9, "trace": False} for value in values)


EXPERIMENT = Experiment(
    name="budget",
    title="Accuracy under a time budget",
    question="Given so many seconds and no more, which method has the better model?",
    claim="DCD has its best test accuracy at the smallest budget measured (0.5 s); SMO needs far longer, and the "
    "more so the more rows there are.",
    source="002 fig. 5",
    data=(covtype(10_000), covtype(50_000)),
    methods=METHODS,
    settings=budgets(0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0),
    measure=fit,
    panels=panels,
    checks=checks,
    repeats=3,
    timeout=60,
    how="max_time covers the whole call, judging included.",
    quick={"data": (covtype(5_000), covtype(20_000)), "settings": budgets(0.02, 0.1, 0.5, 1.5), "repeats": 2},
)
