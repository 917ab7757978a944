"""Trust-region Newton with conjugate gradients: the loop is src/core/solvers/tron.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, number_of, one_of

MIXING = {"mixed": 0.1, "diagonal": 1.0, "none": 0.0}  # how much of diag(H) is in the preconditioner


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    raw = _core.tron(
        problem._core,
        control,
        beta=start.dual,
        w=start.coef,
        b=start.intercept,
        mixing=MIXING[one_of(options, "preconditioner", tuple(MIXING))],
        forcing=number_of(options, "forcing", high=1.0),
    )
    return Answer.from_core(raw, "tron")


SOLVER = Solver(
    name="tron",
    summary="Trust-region Newton with preconditioned conjugate gradients; few passes, any number of columns.",
    source="000 §VII; Lin, Weng, Keerthi 2008; Hsia, Chiang, Lin 2018; Galli, Lin 2021",
    losses=loss_names(kinked=False),
    intercepts=("none", "regularized", "free"),
    run=run,
    options={"preconditioner": "mixed", "forcing": 0.1},
    threaded=True,
    memory="68 bytes a row, 80 a feature",
)
