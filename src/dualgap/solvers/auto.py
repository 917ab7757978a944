"""The choice of solver, in one place: Newton where a Hessian is cheap, descent where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers.dcd import SOLVER as DCD
from dualgap.solvers.newton import SOLVER as NEWTON


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    chosen = NEWTON if problem.n_cols <= 4000 else DCD
    answer: Answer = chosen.run(problem, control, start, {**chosen.options, "seed": options["seed"]})
    if chosen is DCD:
        return answer
    if not answer.judged and not control.stopped:
        _judge(problem, control, answer)
    stuck = control.status in ("stalled", "running") and control.certificate.relative_gap > max(control.tol, 1e-9)
    return _descent_instead(problem, control, answer, options) if stuck else answer


def _descent_instead(problem: Any, control: Any, stalled: Answer, options: Mapping[str, Any]) -> Answer:
    """Where a few rows are longer than the others by many orders of magnitude, β from scores has no digits left and
    Newton stalls; descent keeps β itself and may still get there. The better primal and the better dual point count."""
    before = control.certificate
    control.end_solver(stalled.epochs)
    control.reopen()
    patience = min(3e4, max(20.0, 1e9 / problem._matrix.entries))
    answer: Answer = DCD.run(problem, control, Start(), {**DCD.options, "seed": options["seed"], "patience": patience})
    if not answer.judged:
        _judge(problem, control, answer)
    if before.primal < control.certificate.primal or before.dual > control.certificate.dual:
        if before.primal < control.certificate.primal:
            answer.coef, answer.intercept = stalled.coef, stalled.intercept
        if before.dual > control.certificate.dual:
            answer.dual = stalled.dual
        _judge(problem, control, answer)
    control.stop("stalled")
    return replace(answer, solver="newton, dcd", judged=True, n_iter=stalled.n_iter + answer.n_iter)


def _judge(problem: Any, control: Any, answer: Answer) -> None:
    coef = np.ascontiguousarray(answer.coef)
    control.ask(
        problem._core, answer.solver, answer.epochs, problem.n_rows, coef, answer.intercept, answer.dual, decide=True
    )
    answer.judged = True


SOLVER = Solver(
    name="auto",
    summary="Chooses by shape, scale, loss and tolerance, and changes solver while it still helps.",
    source="docs/adr",
    losses=DCD.losses,
    intercepts=DCD.intercepts,
    run=run,
    options={"seed": 0},
    threaded=True,
)
