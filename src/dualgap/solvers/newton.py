"""The proximal Newton method: the loop is src/core/solvers/newton.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap import _core
from dualgap.blas import one_blas_thread
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, number_of


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    with one_blas_thread():
        raw = _core.newton(
            problem._core,
            control,
            beta=start.dual,
            w=start.coef,
            b=start.intercept,
            memory=number_of(options, "memory"),
            q=number_of(options, "q"),
            shrink=number_of(options, "shrink", low=1.1),
            inner=number_of(options, "inner", low=1e-6, high=1.0),
            sampling=bool(options["sampling"]),
        )
    return Answer.from_core(raw, "newton")


SOLVER = Solver(
    name="newton",
    summary="Proximal Newton: any scale of columns, any C, to any tolerance; the first choice with few columns.",
    source="Rockafellar 1976; Li, Sun, Toh 2018; Yan, Li 2020; Niu et al. 2022",
    losses=loss_names(),
    intercepts=("none", "regularized", "free"),
    run=run,
    threaded=True,
    memory="O(n + min(p, zone)²)",
    options={"memory": 2e9, "q": 0.0, "shrink": 2.5, "inner": 0.3, "sampling": True},
)
