"""Cutting planes for the hinge: one slack, a small program over the planes, and a line search.

    min P(w) = ½‖w‖² + R(w),   R(w) = Σ cᵢ max(0, 1 − yᵢxᵢᵀw)

Every set A of rows bounds R from below: R(w) ≥ o − uᵀw with u = Σ_A cᵢyᵢxᵢ, o = Σ_A cᵢ. With planes 1…k:

    α ← argmax oᵀα − ½‖Σ αⱼuⱼ‖² over the simplex,   w_t ← Σ αⱼuⱼ
    w_b ← the best point between w_b and w_t, and beyond (line search)
    a new plane from the rows inside the margin at (1 − μ)w_b + μw_t,  μ = 0.1

Source: 001, 000 §VII; Joachims, KDD 2006, algorithm 1 (one slack); Franc, Sonnenburg, ICML 2008, algorithm 2 (OCAS: the
line search and μ). The multipliers give the dual point: βᵢ = cᵢyᵢ Σ αⱼ over the planes that hold row i is feasible, and
D(β) is the value of the small program, so the gap needs nothing more. The small program is solved by the active-set
steps of _qp.py from the last α. A plane that had no weight for ``patience`` iterations is dropped.

Cost: an iteration reads the rows twice. Memory: for each plane kept a vector of the features' length and a bit a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import Array
from dualgap.registry import Solver
from dualgap.solvers import Answer, Start, whole_of
from dualgap.solvers._qp import Program, active_set, hinge_ray

MU = 0.1


class Planes:
    """o − uᵀw for several sets of rows; the first is R ≥ 0. ``alpha`` is on the simplex."""

    def __init__(self, n: int, p: int) -> None:
        self.u = np.zeros((1, p))
        self.o = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.alpha = np.ones(1)
        self.idle = np.zeros(1, dtype=int)
        self.shares: list[Any] = [np.packbits(np.zeros(n, dtype=bool))]  # rows of a plane, as bits, or a share each
        self.n = n

    def add(self, u: Array, o: float, share: Any) -> None:
        across = self.u @ u
        self.gram = np.block([[self.gram, across[:, None]], [across, np.array([[u @ u]])]])
        self.u, self.o = np.vstack([self.u, u]), np.append(self.o, o)
        self.alpha, self.idle = np.append(self.alpha, 0.0), np.append(self.idle, 0)
        self.shares.append(np.packbits(share) if share.dtype == bool else share)

    def balance(self) -> None:
        """The best weights, from the last ones."""
        simplex = Program(self.gram, self.o, np.zeros(len(self.o)), np.ones(len(self.o)), 1.0)
        for step, (alpha, _, _) in enumerate(active_set(simplex, simplex.project(self.alpha))):
            self.alpha = alpha
            if step > 20 * len(self.o):
                break
        self.idle = np.where(self.alpha > 0, 0, self.idle + 1)

    def drop(self, patience: int) -> None:
        keep = self.idle < patience
        keep[0] = True
        if keep.all():
            return
        self.u, self.o, self.alpha, self.idle = self.u[keep], self.o[keep], self.alpha[keep], self.idle[keep]
        self.gram = self.gram[np.ix_(keep, keep)]
        self.shares = [share for share, kept in zip(self.shares, keep, strict=True) if kept]

    def value(self) -> float:
        """The small program's: D(β)."""
        return float(self.o @ self.alpha - 0.5 * self.alpha @ self.gram @ self.alpha)

    def dual(self, costs: Array, y: Array) -> Array:
        """β of the weights."""
        share = np.zeros(self.n)
        for weight, rows in zip(self.alpha, self.shares, strict=True):
            if weight > 0:
                share += weight * (np.unpackbits(rows, count=self.n) if rows.dtype == np.uint8 else rows)
        return costs * y * share


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    y, c = problem.y, problem.costs()
    planes, patience = Planes(problem.n_rows, problem.n_cols), whole_of(options, "patience")
    w = np.zeros(problem.n_cols) if start.coef is None else np.ascontiguousarray(start.coef)
    z = _core.scores(problem._core, control, w)
    answer = Answer(w, 0.0, np.zeros(problem.n_rows), 1.0, 0, solver="cutting-plane")

    def add_plane(share: Any) -> None:
        beta = c * y * share
        planes.add(_core.combination(problem._core, control, beta), float(c @ share), share)
        answer.epochs += float(np.mean(share != 0))

    if start.dual is not None:
        add_plane(np.clip(np.divide(y * start.dual, c, out=np.zeros(len(y)), where=c > 0), 0.0, 1.0))
    add_plane(y * z < 1)
    while not control.stopped:
        planes.balance()
        target = planes.alpha @ planes.u
        if control.look():
            break
        dw = target - w
        dz = _core.scores(problem._core, control, target) - z
        k = max(0.0, hinge_ray(y, c, z, dz, float(dw @ dw), float(w @ dw)))
        new_z = z + dz
        w, z = w + k * dw, z + k * dz
        answer.epochs += 1
        answer.n_iter += 1
        answer.coef = w
        if _leave(problem, control, planes, answer, float(0.5 * w @ w + c @ np.maximum(0.0, 1 - y * z)), k == 0):
            break
        add_plane(y * ((1 - MU) * z + MU * new_z) < 1)
        planes.drop(patience)
    if not answer.judged:
        answer.dual = planes.dual(c, y)
    return answer


def _leave(problem: Any, control: Any, planes: Planes, answer: Answer, primal: float, stays: bool) -> bool:
    """Ask the judge where the planes say that he will agree; heed the budgets."""
    dual = planes.value()
    near = primal - dual <= control.tol * max(abs(primal), abs(dual))
    stuck = stays and primal - dual <= 1e-13 * abs(primal)
    if near or stuck or control.watched:
        answer.dual = planes.dual(problem.costs(), problem.y)
        place = (answer.solver, answer.epochs, len(planes.o), answer.coef, 0.0, answer.dual)
        answer.judged = control.ask(problem._core, *place, decide=near or stuck)
        if stuck and not control.stopped:
            control.stop("stalled")
    return bool(control.over(answer.epochs) or control.look())


SOLVER = Solver(
    name="cutting-plane",
    summary="One-slack cutting planes with a line search: few, whole passes over the rows.",
    source="001, 000 §VII; Joachims 2006, alg. 1; Franc, Sonnenburg 2008, alg. 2",
    losses=("hinge",),
    intercepts=("none",),
    run=run,
    options={"patience": 50},
    memory="a vector of p numbers and n bits a plane, some hundred planes",
)
