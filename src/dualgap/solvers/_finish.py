"""What is left to do with a solver's point: the judge's word on it, and a step off the kinks that hide it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualgap.registry import loss_named
from dualgap.solvers import Answer

LONGER = (1e-13, 1e-11, 1e-9)  # by how much w is made longer; it costs twice that of ½‖w‖²


def judge(problem: Any, control: Any, answer: Answer) -> None:
    """The judge's word on a point that the solver left unjudged."""
    control.ask(
        problem._core,
        answer.solver,
        max(0.0, answer.epochs - control.epochs),
        problem.n_rows,
        np.ascontiguousarray(answer.coef),
        answer.intercept,
        answer.dual,
        decide=True,
    )
    answer.judged = True


def off_the_kink(problem: Any, control: Any, answer: Answer, tol: float) -> Answer:
    """A row on the kink of a margin loss pays its cost for every rounding error of its score. Where that hides the gap,
    as it does on separable data at a huge C, a slightly longer w has no row there, and the gap can be proven. For fits
    that have stalled."""
    loss, certificate = loss_named(problem.loss), control.certificate
    hidden = tol < certificate.relative_gap and certificate.gap <= 10 * certificate.rounding
    if not (hidden and loss.kinked and loss.targets == "sign"):
        return answer
    control.reopen()
    if control.look():
        return answer
    for longer in LONGER:
        stepped = replace(answer, coef=answer.coef * (1 + longer), intercept=answer.intercept * (1 + longer))
        judge(problem, control, stepped)
        if control.stopped or control.certificate.relative_gap <= tol:
            return stepped
    judge(problem, control, answer)
    control.stop("stalled")
    return answer
