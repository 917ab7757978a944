"""Projected gradient on the dual with its equality constraint, dense and small: written to be read.

    min ½βᵀKβ − yᵀβ  over  β in its box,  Σβ = 0        (β = yα: the documents' ½αᵀQα − eᵀα, yᵀα = 0, 0 ≤ α ≤ c)

    d ← project(β − step·g) − β,   t ← backtracking against the largest f of the last ten,   β ← β + t d

Source: 001; Birgin, Martínez, Raydan, SIAM J. Optim. 2000, algorithm 2.2 (SPG2): steps of Barzilai and Borwein, here
the long and the short one in turn, and a line search that need not fall every time. The projection is exact: one
monotone root, found among its sorted bends. f being quadratic, the line search costs nothing.

An epoch is one product with K, n² multiplications; K itself costs n²p once. Memory: n² numbers.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers._qp import Report, backtrack, barzilai_borwein, hinge_program


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    program, rows = hinge_program(problem, "projected-gradient")
    report = Report("projected-gradient", problem, control, program, rows)
    beta = report.first(start)
    g = program.gradient(beta)
    f = float(0.5 * beta @ (g - program.y))
    history = deque([f], maxlen=10)
    step = 1 / max(float(np.abs(program.project(beta - g) - beta).max()), 1e-300)
    moving = True
    while not report.leave(beta, g, _free(program, beta), ended=not moving):
        d = program.project(beta - step * g) - beta
        Kd = program.K @ d
        t = backtrack(f, float(g @ d), float(d @ Kd), max(history))
        moving = bool(np.any(beta + t * d != beta))
        beta, g = beta + t * d, g + t * Kd
        if report.n_iter % 50 == 0:
            g = program.gradient(beta)  # what rounding has left in the updates
        f = float(0.5 * beta @ (g - program.y))
        history.append(f)
        step = barzilai_borwein(d, Kd, report.n_iter)
    return report.answer()


def _free(program: Any, beta: Any) -> int:
    return int(np.count_nonzero((beta > program.low) & (beta < program.high)))


SOLVER = Solver(
    name="projected-gradient",
    summary="The dual by projected gradients with Barzilai-Borwein steps: dense, small, written to be read.",
    source="001; Birgin, Martínez, Raydan 2000, alg. 2.2",
    losses=("hinge",),
    intercepts=("free",),
    run=run,
    memory="n² numbers",
    max_rows=4000,
)
