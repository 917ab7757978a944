"""The primal active-set method on the dual with its equality constraint, dense and small: written to be read.

    min ½βᵀKβ − yᵀβ  over  β in its box,  Σβ = 0

    free rows F:   d ← argmin ½dᵀK_FF d + g_Fᵀd over Σd = 0;   β_F ← β_F + t d, t ≤ 1 the longest inside the box
    t < 1: the row that met its bound is held there;   t = 1: the bound with the most wrong multiplier is let go

Source: 001; Nocedal, Wright, Numerical Optimization (2006), algorithm 16.3. Where K_FF is singular (more free rows than
columns, repeated rows) and g_F has a part in its null space, the way down has no end but the box: it is followed there.
After steps of length zero bounds are let go by Bland's rule. The steps are ``active_set`` in _qp.py, which the cutting
planes use too.

An epoch is n rows of K read, by as many steps as have n free rows between them; K costs n²p once. Memory: n² numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers._qp import Report, active_set, hinge_program


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    program, rows = hinge_program(problem, "active-set")
    report = Report("active-set", problem, control, program, rows)
    beta = report.first(start)
    if report.leave(beta, program.gradient(beta), 0):
        return report.answer()
    g, free = program.gradient(beta), 0
    for tolerance in (1e-9, 1e-11, 1e-13, 1e-15):
        for point, g, free in active_set(program, beta, tolerance):
            beta = point
            if report.leave(beta, g, free, epochs=(free + 1) / problem.n_rows):
                return report.answer()
    report.leave(beta, g, free, epochs=0.0, ended=True)
    return report.answer()


SOLVER = Solver(
    name="active-set",
    summary="The dual by the primal active-set method: exact in finitely many steps; dense, small, written to be read.",
    source="001; Nocedal, Wright 2006, alg. 16.3",
    losses=("hinge",),
    intercepts=("free",),
    run=run,
    memory="n² numbers",
    max_rows=2000,
)
