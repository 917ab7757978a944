"""Primal coordinate descent: the loop is src/core/solvers/pcd.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.memory import need_memory
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    need_memory(12 * problem._matrix.entries, "solver='pcd' copies the data by columns")
    raw = _core.pcd(problem._core, control, beta=start.dual, w=start.coef, b=start.intercept, seed=options["seed"])
    return Answer.from_core(raw, "pcd")


SOLVER = Solver(
    name="pcd",
    summary="Primal coordinate descent: one weight at a time, over a copy of the data by columns.",
    source="000 §VII; Chang, Hsieh, Lin, JMLR 2008, alg. 2",
    losses=loss_names(kinked=False),
    intercepts=("none", "regularized", "free"),
    run=run,
    memory="a copy of the data by columns, 12 bytes an entry",
)
