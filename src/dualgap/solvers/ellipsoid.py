"""The ellipsoid method on the dual with its equality constraint: for teaching, at most 60 rows.

    min f(β) = ½βᵀKβ − yᵀβ  over  β in its box,  Σβ = 0

The sum is removed first: β = β₀ + h∘(Nx), with h half the widths of the box and N a basis of what is orthogonal to h.
The optimum lies in {x : (x − x_k)ᵀP⁻¹(x − x_k) ≤ 1}. Let a be the gradient of f at the centre, or of the worst bound
where the centre is outside the box, and the depth α how far the centre is beyond the best f, or beyond the bound, in
units of √(aᵀPa):

    x ← x − (1 + mα)/(m + 1) · Pa/√(aᵀPa)
    P ← m²(1 − α²)/(m² − 1) · (P − 2(1 + mα)/((m + 1)(1 + α)) · Paaᵀ P/(aᵀPa))

the smallest ellipsoid around the half that is left. Source: 001; Bland, Goldfarb, Todd, Operations Research 1981, §2
and §3 (deep cuts). f(x_k) − √(aᵀPa) is a lower bound of its own; the judge's gap decides all the same, at the centre
projected onto the feasible set. The volume falls by a factor e^(−1/(2m)) a cut, so the cuts grow with the square of
the rows.

An epoch is m cuts here (an outer iteration), each n² multiplications. Memory: 2n² numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap.data import Array
from dualgap.registry import Solver
from dualgap.solvers import Answer, Start
from dualgap.solvers._qp import Program, Report, hinge_program


class Ellipsoid:
    """Centre and shape, and how a cut changes them."""

    def __init__(self, centre: Array, radius: float) -> None:
        self.x, self.P, self.m = centre, radius**2 * np.eye(len(centre)), len(centre)

    def cut(self, a: Array, beyond: float) -> bool:
        """Keep the part where aᵀ(x − centre) ≤ −beyond. False: rounding has flattened it, or nothing is left."""
        m, Pa = self.m, self.P @ a
        length = np.sqrt(max(float(a @ Pa), 0.0))
        if not length > 0 or beyond >= length:
            return False
        alpha = beyond / length
        Pa /= length
        if m == 1:
            self.x = self.x - (1 + alpha) / 2 * Pa
            self.P = self.P * ((1 - alpha) / 2) ** 2
            return True
        self.x = self.x - (1 + m * alpha) / (m + 1) * Pa
        shrunk = self.P - 2 * (1 + m * alpha) / ((m + 1) * (1 + alpha)) * np.outer(Pa, Pa)
        self.P = m**2 * (1 - alpha**2) / (m**2 - 1) * (shrunk + shrunk.T) / 2
        return True


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    program, rows = hinge_program(problem, "ellipsoid")
    report = Report("ellipsoid", problem, control, program, rows)
    beta = report.first(start)
    moving = np.flatnonzero(program.high > program.low)
    both = program.high[moving].any() and program.low[moving].any()
    if report.leave(beta, program.gradient(beta), len(moving), ended=not both):  # one class: β = 0 is all there is
        return report.answer()
    h = (program.high - program.low)[moving] / 2
    N = np.linalg.svd(h[None, :])[2][1:].T  # columns orthogonal to h and to each other
    region = Ellipsoid(np.zeros(N.shape[1]), 2 * np.sqrt(len(h)))
    centre = np.zeros(problem.n_rows)
    best, alive = np.inf, True
    while alive:
        for _ in range(max(region.m, 10)):
            centre[moving] = beta[moving] + h * (N @ region.x)
            best, alive = _cut(program, moving, h, N, region, centre, best)
            if not alive:
                break
        centre[moving] = beta[moving] + h * (N @ region.x)
        point = program.project(centre)
        if report.leave(point, program.gradient(point), len(moving), ended=not alive):
            break
    return report.answer()


def _cut(
    program: Program, moving: Any, h: Array, N: Array, region: Ellipsoid, centre: Array, best: float
) -> tuple[float, bool]:
    """One cut: by the worst bound where the centre is outside the box, otherwise by f. The best f inside so far."""
    over, under = (centre - program.high)[moving] / h, (program.low - centre)[moving] / h
    i, j = int(np.argmax(over)), int(np.argmax(under))
    if max(over[i], under[j]) > 0:
        a, beyond = (N[i], over[i]) if over[i] >= under[j] else (-N[j], under[j])
        return best, region.cut(a, float(beyond))
    g = program.gradient(centre)
    f = float(0.5 * centre @ (g - program.y))
    best = min(best, f)
    return best, region.cut(N.T @ (h * g[moving]), f - best)


SOLVER = Solver(
    name="ellipsoid",
    summary="The dual by the ellipsoid method with deep cuts: for teaching, slow, at most 60 rows.",
    source="001; Bland, Goldfarb, Todd 1981",
    losses=("hinge",),
    intercepts=("free",),
    run=run,
    memory="2n² numbers",
    max_rows=60,
)
