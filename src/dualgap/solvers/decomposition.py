"""Decomposition with working sets of q rows, linear and kernel: the loop is src/core/solvers/decomposition.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, pair_options, whole_of


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    q = whole_of(options, "working_set", least=2)
    raw = _core.decomposition(problem._core, control, beta=start.dual, working_set=q, **pair_options(options))
    return Answer.from_core(raw, "decomposition")


SOLVER = Solver(
    name="decomposition",
    summary="Working sets of some hundred rows, their kernel rows made as one product.",
    source='001 "general decomposition"; Joachims 1999; Wen et al., JMLR 2018',
    losses=loss_names(but="logistic"),
    intercepts=("free",),
    run=run,
    options={"working_set": 1024, "shrinking": True, "cache_size": 200.0, "precomputed": False},
    threaded=True,
    problems=("linear", "kernel"),
    memory="cache_size MB of kernel rows, a float32 copy of X, 80 bytes a row",
)
