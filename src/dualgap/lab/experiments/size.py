"""002 figures 1 and 4: training time and test accuracy against the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dualgap.lab import Check, Experiment, Method, Note, Panel, Record, Records, Sample, fit, points
from dualgap.lab.checks import exponent
from dualgap.lab.declare import Cell
from dualgap.lab.results import Slope, number, power, power_law

DCD = Method("dcd", "DCD", {}, {"intercept": "regularized"})
LAZY = Method("smo", "SMO, lazy", {"precomputed": False}, {"intercept": "free"})
PRECOMPUTED = Method("smo", "SMO, precomputed", {"precomputed": True}, {"intercept": "free"}, style=1)
SMO_ROWS = 8_000  # above this SMO would take the whole run


def covtype(rows: int) -> Sample:
    return Sample("covtype.binary.scale", rows=rows, test=20_000, label=f"covtype, {rows:,} rows")


def rows_of(row: Record) -> float:
    return float(row.values["rows"])


def exponent_of(records: Records, method: str, tol: float) -> Slope | None:
    some = [row for row in records.where(method=method, tol=tol) if row.get("seconds")]
    return power_law([rows_of(row) for row in some], [row.values["seconds"] for row in some])


def tolerances(records: Records) -> list[float]:
    return sorted({row.cell.setting["tol"] for row in records}, reverse=True)


def panels(records: Records) -> list[Panel]:
    shown = []
    for tol in tolerances(records):
        lines = points(records.where(tol=tol), rows_of, "seconds")
        shown.append(Panel(f"time to a gap of {power(tol)}", "rows", "time (judging not counted)", lines, yunit="s"))
    tight = tolerances(records)[-1]
    lines = points(records.where(tol=tight), rows_of, "test_accuracy")
    shown.append(Panel("accuracy on 20,000 other rows", "rows", "test accuracy", lines, yscale="linear", yunit="%"))
    return shown


def checks(records: Records) -> list[Check]:
    middle = tolerances(records)[len(tolerances(records)) // 2]
    found = [
        exponent(
            exponent_of(records, "DCD", middle),
            "DCD",
            "DCD's time is linear in the rows (exponent 0.8 to 1.2).",
            low=0.8,
            high=1.2,
        ),
        exponent(
            exponent_of(records, LAZY.title, middle),
            LAZY.title,
            "SMO's time is quadratic (exponent 1.7 to 2.3).",
            low=1.7,
            high=2.3,
        ),
    ]
    lazy, dense = (records.where(method=m.title).numbers("seconds") for m in (LAZY, PRECOMPUTED))
    if lazy and dense:
        ratio = float(np.exp(np.mean(np.log(dense)) - np.mean(np.log(lazy))))
        claim = "Computing Q in advance or lazily makes no significant difference (within 1.5 times)."
        found.append(Check(claim, 1 / 1.5 <= ratio <= 1.5, f"precomputed takes {number(ratio)} times the time of lazy"))
    else:
        found.append(
            Check("Computing Q in advance or lazily makes no significant difference.", None, "no cells of both")
        )
    return [*found, _accuracy(records)]


def _accuracy(records: Records) -> Check:
    """Which moves the accuracy more: the rows or the tolerance?"""
    claim = "Test accuracy depends on the number of rows rather than on the tolerance."
    some = records.where(method="DCD")
    table: dict[tuple[float, float], list[float]] = {}
    for row in some:
        table.setdefault((rows_of(row), row.cell.setting["tol"]), []).append(row.values["test_accuracy"])
    means = {key: float(np.mean(values)) for key, values in table.items()}
    sizes, tols = sorted({rows for rows, _ in means}), sorted({tol for _, tol in means})
    if len(sizes) < 2 or len(tols) < 2:
        return Check(claim, None, "too few cells")
    by_rows = np.mean([np.ptp([means[s, t] for s in sizes if (s, t) in means]) for t in tols])
    by_tol = np.mean([np.ptp([means[s, t] for t in tols if (s, t) in means]) for s in sizes])
    text = f"rows move DCD's accuracy by {100 * by_rows:.1f} points, the tolerance by {100 * by_tol:.1f}"
    return Check(claim, bool(by_rows > by_tol), text)


def notes(records: Records) -> Sequence[Note]:
    rows = []
    for method in records.methods:
        rows.append(
            [method.title, *(str(exponent_of(records, method.title, tol) or "–") for tol in tolerances(records))]
        )
    header = ["method", *(f"gap {power(tol)}" for tol in tolerances(records))]
    return [Note("Fitted exponents of time against rows", header, rows)]


def affordable(cell: Cell) -> bool:
    return cell.method.solver != "smo" or (cell.sample.rows or 0) <= SMO_ROWS


EXPERIMENT = Experiment(
    name="size",
    title="Time and accuracy against the number of rows",
    question="How does training time grow with the rows of covtype for SMO and DCD, and what do more rows bring?",
    claim="DCD's time grows linearly with the rows, SMO's quadratically; Q computed in advance or lazily makes no "
    "difference; test accuracy depends on the rows, not on the tolerance.",
    source="002 fig. 1, 4",
    data=tuple(covtype(rows) for rows in (250, 500, 1000, 2000, 4000, 8000, 32_000, 128_000)),
    methods=(DCD, LAZY, PRECOMPUTED),
    settings=tuple({"tol": tol, "max_time": 20.0} for tol in (1e-1, 1e-2, 1e-3)),
    measure=fit,
    panels=panels,
    checks=checks,
    notes=notes,
    only=affordable,
    repeats=3,
    timeout=150,
    how="Columns scaled to [0, 1], C = 1, hinge. DCD has a constant column, SMO a free bias, as in the document.",
    quick={
        "data": tuple(covtype(rows) for rows in (125, 250, 500, 1000, 2000)),
        "settings": tuple({"tol": tol, "max_time": 4.0} for tol in (1e-1, 1e-2, 1e-3)),
        "repeats": 2,
        "timeout": 30,
    },
)
