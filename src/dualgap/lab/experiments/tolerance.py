"""002 figures 2 and 3: time and accuracy against the tolerance of the stop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dualgap.lab import Check, Experiment, Note, Panel, Record, Records, fit, points
from dualgap.lab.experiments.size import DCD, LAZY, covtype
from dualgap.lab.results import Slope, line

TOLERANCES = (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5)


def tol_of(row: Record) -> float:
    return float(row.cell.setting["tol"])


def a_digit_more(records: Records, method: str) -> Slope | None:
    """The factor in time for each further digit: 10 to the slope of log time on digits."""
    some = [row for row in records.where(method=method) if row.get("seconds")]
    digits = [-np.log10(tol_of(row)) for row in some]
    found = line(digits, np.log10([row.values["seconds"] for row in some])) if len(set(digits)) > 1 else None
    return Slope(10**found.slope, 10**found.low, 10**found.high) if found else None


def panels(records: Records) -> list[Panel]:
    shown = []
    for sample in records.samples:
        some = records.where(sample=sample)
        time = points(some, tol_of, "seconds")
        train = points(some, tol_of, "train_accuracy")
        x = "tolerance: certified relative gap"
        shown.append(Panel(f"{sample}: time", x, "time (judging not counted)", time, yunit="s", flip=True))
        shown.append(
            Panel(
                f"{sample}: training accuracy",
                x,
                "accuracy on the training rows",
                train,
                yscale="linear",
                yunit="%",
                flip=True,
            )
        )
    return shown


def checks(records: Records) -> list[Check]:
    dcd, smo = a_digit_more(records, DCD.title), a_digit_more(records, LAZY.title)
    claim = "A further digit costs DCD relatively more than SMO."
    if dcd and smo:
        number = f"a digit more multiplies DCD's time by {dcd} and SMO's by {smo}"
        found = [Check(claim, dcd.slope > smo.slope, number)]
    else:
        found = [Check(claim, None, "too few cells of both")]
    return [*found, _settles(records, DCD.title), _settles(records, LAZY.title)]


def _settles(records: Records, method: str) -> Check:
    """Is the training accuracy of the tightest fit reached, within half a point, at a gap of 10⁻²?"""
    claim = f"{method} has its training accuracy at a loose tolerance (10⁻², within half a point)."
    tightest = min((tol_of(row) for row in records.where(method=method)), default=None)
    if tightest is None:
        return Check(claim, None, f"no cells of {method}")
    ends, loose = (records.where(method=method, tol=t).mean("train_accuracy") for t in (tightest, 1e-2))
    return Check(
        claim,
        bool(abs(ends - loose) <= 0.005),
        f"{method}'s training accuracy is {100 * loose:.2f} % at 10⁻², {100 * ends:.2f} % at the tightest",
    )


def notes(records: Records) -> Sequence[Note]:
    rows = [[method.title, str(a_digit_more(records, method.title) or "–")] for method in records.methods]
    return [Note("Factor in time for one digit more", ["method", "factor (95 %)"], rows)]


EXPERIMENT = Experiment(
    name="tolerance",
    title="What a tighter tolerance costs, and what it brings",
    question="How do time and accuracy depend on the tolerance at which a fit stops?",
    claim="SMO's time grows linearly with the digits asked for, DCD's exponentially; accuracy is reached at loose "
    "tolerances.",
    source="002 fig. 2, 3",
    data=(covtype(1000), covtype(4000)),
    methods=(DCD, LAZY),
    settings=tuple({"tol": tol, "max_time": 12.0} for tol in TOLERANCES),
    measure=fit,
    panels=panels,
    checks=checks,
    notes=notes,
    repeats=3,
    timeout=150,
    how="The tolerance here is the certified relative gap for both; the document used each program's own stop, "
    "which do not compare.",
    quick={
        "data": (covtype(1000),),
        "settings": tuple({"tol": tol, "max_time": 4.0} for tol in (1e-1, 1e-2, 1e-3, 1e-4)),
        "repeats": 2,
        "timeout": 30,
    },
)
