"""Two-variable dual descent: the loop is src/core/solvers/pair_descent.cpp, as pair_dcd.cpp asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, run_pairs


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    return run_pairs("pair-dcd", _core.pair_dcd, problem, control, start, options)


SOLVER = Solver(
    name="pair-dcd",
    summary="Dual descent by pairs of rows, exact steps that keep the sum: an intercept without a penalty.",
    source="000 §VI; Chiu, Lin, Lin, SDM 2020",
    losses=loss_names(),
    intercepts=("free",),
    run=run,
    options={"pairs": "greedy", "shrinking": True},
)
