"""Stochastic dual coordinate ascent: the loop is src/core/solvers/descent.cpp, as sdca.cpp asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, one_of


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    raw = _core.sdca(
        problem._core,
        control,
        beta=start.dual,
        order=one_of(options, "order", ("permuted", "random")),
        begin=one_of(options, "init", ("zero", "sgd")),
        output=one_of(options, "output", ("last", "average", "random")),
        seed=options["seed"],
    )
    return Answer.from_core(raw, "sdca")


SOLVER = Solver(
    name="sdca",
    summary="Stochastic dual coordinate ascent: permuted or with replacement; last, averaged or drawn output.",
    source="004; Shalev-Shwartz, Zhang, JMLR 2013",
    losses=loss_names(),
    intercepts=("none", "regularized"),
    run=run,
    options={"order": "permuted", "init": "zero", "output": "last"},
)
