"""002 figure 7: time against the number of features."""

from __future__ import annotations

from dualgap.lab import Check, Experiment, Panel, Record, Records, Sample, fit, points
from dualgap.lab.checks import exponent
from dualgap.lab.experiments.size import DCD, LAZY
from dualgap.lab.results import Slope, power_law


def columns_of(row: Record) -> float:
    return float(row.values["columns"])


def covtype(columns: int, rows: int) -> Sample:
    return Sample("covtype.binary.scale", rows=rows, test=10_000, columns=columns, label=f"covtype, {columns} columns")


def exponent_of(records: Records, method: str, name: str) -> Slope | None:
    some = [row for row in records.where(method=method) if row.get(name)]
    return power_law([columns_of(row) for row in some], [row.values[name] for row in some])


def per_epoch(row: Record) -> float | None:
    line = row.get("curve")
    return line["seconds"][-1] / line["epoch"][-1] if line and line["epoch"] and line["epoch"][-1] else None


def panels(records: Records) -> list[Panel]:
    time = points(records, columns_of, "seconds")
    epoch = points(records, columns_of, per_epoch)
    accuracy = points(records, columns_of, "test_accuracy")
    return [
        Panel("time to a gap of 10⁻²", "columns", "time (judging not counted)", time, yunit="s"),
        Panel("time of one epoch", "columns", "time a pass over the rows", epoch, yunit="s"),
        Panel("accuracy on other rows", "columns", "test accuracy", accuracy, yscale="linear", yunit="%"),
    ]


def checks(records: Records) -> list[Check]:
    return [
        exponent(
            exponent_of(records, method.title, "seconds"),
            method.title,
            f"{method.title}'s time is linear in the columns (exponent 0.7 to 1.3).",
            low=0.7,
            high=1.3,
        )
        for method in (DCD, LAZY)
    ]


EXPERIMENT = Experiment(
    name="features",
    title="Time against the number of columns",
    question="Does training time grow linearly with the number of features?",
    claim="Training time is linear in the number of features, for SMO as for DCD.",
    source="002 fig. 7",
    data=tuple(covtype(columns, 4000) for columns in (4, 7, 11, 18, 27, 38, 54)),
    methods=(DCD, LAZY),
    settings=({"tol": 1e-2, "max_time": 30.0},),
    measure=fit,
    panels=panels,
    checks=checks,
    repeats=8,
    timeout=90,
    how="Each repeat draws other columns; both methods get the same.",
    quick={
        "data": tuple(covtype(columns, 1000) for columns in (5, 11, 24, 54)),
        "settings": ({"tol": 1e-2, "max_time": 3.0},),
        "repeats": 3,
        "timeout": 30,
    },
)
