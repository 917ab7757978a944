"""The proximal Newton method: the loop is src/core/solvers/newton.cpp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dualgap import _core
from dualgap.blas import one_blas_thread
from dualgap.memory import available_memory, need_memory
from dualgap.registry import Solver, loss_names
from dualgap.solvers import Answer, Start, number_of

A_ROW = 100.0  # bytes at most, beside the data
MUCH = 1e8  # bytes worth a look at what is free


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    asked = number_of(options, "memory")
    memory = room(problem, asked)
    short = memory < asked and _core.newton_is_wide(problem._core, memory) != _core.newton_is_wide(problem._core, asked)
    with one_blas_thread():
        raw = _core.newton(
            problem._core,
            control,
            beta=start.dual,
            w=start.coef,
            b=start.intercept,
            memory=memory,
            q=number_of(options, "q"),
            shrink=number_of(options, "shrink", low=1.1),
            inner=number_of(options, "inner", low=1e-6, high=1.0),
            sampling=bool(options["sampling"]),
        )
    answer = Answer.from_core(raw, "newton")
    return replace(answer, why=f"no matrix over the columns: {memory:.1g} bytes are free for it") if short else answer


def room(problem: Any, memory: float) -> float:
    """Bytes for matrices: what is asked for, unless less is free. Where columns do not fit, rows are factored."""
    rows = A_ROW * problem.n_rows
    if rows + min(memory, _core.newton_matrices(problem._core)) < MUCH:
        return memory
    free = available_memory()
    need_memory(rows, f"solver='newton' keeps {A_ROW:.0f} bytes for each of {problem.n_rows:,} rows", free)
    return float(min(memory, free - rows))


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
