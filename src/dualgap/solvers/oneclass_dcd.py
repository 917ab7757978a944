"""One-class descent: the loop is src/core/solvers/pair_descent.cpp, as oneclass_dcd.cpp asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver
from dualgap.solvers import Answer, Start, run_pairs


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    return run_pairs("oneclass-dcd", _core.oneclass_dcd, problem, control, start, options)


SOLVER = Solver(
    name="oneclass-dcd",
    summary="The one-class problem (a plane beyond which most rows lie) by pairs of rows.",
    source="000 §IX; Chou, Lin, Lin, SDM 2020",
    losses=("one_class",),
    intercepts=("free",),
    run=run,
    options={"pairs": "greedy", "shrinking": True},
    problems=("one_class",),
)
