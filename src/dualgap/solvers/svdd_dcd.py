"""Support vector data description: the loop is src/core/solvers/pair_descent.cpp, as svdd_dcd.cpp asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dualgap import _core
from dualgap.registry import Solver
from dualgap.solvers import Answer, Start, run_pairs


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    answer = run_pairs("svdd-dcd", _core.svdd_dcd, problem, control, start, options)
    # R = 0 where the ball is a point (there the judge's formula is the problem's) or any R² from below 0 is as good
    if problem.point or problem.radius2(answer.coef, answer.intercept) < 0:
        return replace(answer, intercept=-0.5 * float(answer.coef @ answer.coef), judged=False)
    return answer


SOLVER = Solver(
    name="svdd-dcd",
    summary="The smallest ball around most rows (support vector data description) by pairs of rows.",
    source="000 §IX; Chou, Lin, Lin, SDM 2020; Chang, Lee, Lin 2013",
    losses=("svdd",),
    intercepts=("free",),
    run=run,
    options={"pairs": "greedy", "shrinking": True},
    problems=("svdd",),
)
