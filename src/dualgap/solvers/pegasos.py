"""Stochastic subgradient steps: the loop is src/core/solvers/pegasos.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, number_of, one_of, whole_of


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    steps = number_of(options, "steps", high=1e300)
    stream = steps > 0 and start.coef is not None
    raw = _core.pegasos(
        problem._core,
        control,
        w=np.ascontiguousarray(start.coef, dtype=np.float64) if stream else None,
        b=start.intercept if stream else 0.0,
        order=one_of(options, "order", ("permuted", "random")),
        average=one_of(options, "average", ("suffix", "all", "none")),
        batch=whole_of(options, "batch_size"),
        projection=bool(options["projection"]),
        steps=steps if stream else 0.0,
        seed=options["seed"],
    )
    return Answer.from_core(raw, "pegasos")


SOLVER = Solver(
    name="pegasos",
    summary="Stochastic subgradient steps on the primal, with mini-batches, projection and averaging; for loose gaps.",
    source="004 §2, 000 §VII; Shalev-Shwartz et al., Mathematical Programming 2011",
    losses=loss_names(),
    intercepts=("none", "regularized"),
    run=run,
    options={
        "order": "permuted",
        "average": "suffix",
        "batch_size": 1,
        "projection": True,
        "steps": 0,
    },
    exact=False,
    warm_start=False,
)
