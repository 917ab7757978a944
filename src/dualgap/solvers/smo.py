"""Sequential minimal optimisation, linear and kernel: the loop is src/core/solvers/smo.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, one_of, pair_options


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    selection = one_of(options, "selection", ("second-order", "most-violating"))
    raw = _core.smo(problem._core, control, beta=start.dual, selection=selection, **pair_options(options))
    return Answer.from_core(raw, "smo")


SOLVER = Solver(
    name="smo",
    summary="Two rows at a time with a free intercept, by a stored gradient; what kernel problems want.",
    source="001, 002 §2.1; Platt 1998; Keerthi et al. 2001; Fan, Chen, Lin, JMLR 2005",
    losses=loss_names(but="logistic"),
    intercepts=("free",),
    run=run,
    options={"selection": "second-order", "shrinking": True, "cache_size": 200.0, "precomputed": False},
    threaded=True,
    problems=("linear", "kernel"),
    memory="cache_size MB of kernel rows, a float32 copy of X, 80 bytes a row",
)
