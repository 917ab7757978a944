"""Stochastic subgradient steps: the loop is src/core/solvers/pegasos.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.errors import InvalidData
from dualgap.registry import Solver, _losses
from dualgap.solvers import Answer, Start, one_of


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    batch, steps = options["batch_size"], float(options["steps"])
    if not isinstance(batch, (int, np.integer)) or batch < 1:
        raise InvalidData(f"batch_size={batch!r} is not a whole number from 1.")
    if not 0 <= steps < np.inf:
        raise InvalidData(f"steps={steps:g} must be 0 or more: it counts the steps taken before.")
    stream = steps > 0 and start.coef is not None
    raw = _core.pegasos(
        problem._core,
        control,
        w=np.ascontiguousarray(start.coef, dtype=np.float64) if stream else None,
        b=start.intercept if stream else 0.0,
        order=one_of(options, "order", ("permuted", "random")),
        average=one_of(options, "average", ("suffix", "all", "none")),
        batch=int(batch),
        projection=bool(options["projection"]),
        steps=steps if stream else 0.0,
        seed=options["seed"],
    )
    return Answer.from_core(raw, "pegasos")


SOLVER = Solver(
    name="pegasos",
    summary="Stochastic subgradient steps on the primal, with mini-batches, projection and averaging; for loose gaps.",
    source="004 §2, 000 §VII; Shalev-Shwartz et al., Mathematical Programming 2011",
    losses=tuple(loss.name for loss in _losses()),
    intercepts=("none", "regularized"),
    run=run,
    options={
        "order": "permuted",
        "average": "suffix",
        "batch_size": 1,
        "projection": True,
        "steps": 0,
        "seed": 0,
    },
    exact=False,
    warm_start=False,
)
