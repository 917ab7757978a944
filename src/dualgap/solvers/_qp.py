"""What the textbook methods share: the dual as a dense quadratic program, its projection, its steps, its report.

    minimise  f(β) = ½βᵀKβ − yᵀβ   over  low ≤ β ≤ high,  Σβ = total

With K = XXᵀ, total = 0 and the hinge's box this is the dual with a free intercept, −f = D; with K the Gram matrix of
cutting planes, y their offsets, low = 0 and total = 1 it is the small program of ``cutting-plane``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.data import Array
from dualgap.memory import need_memory
from dualgap.solvers import Answer, Start


@dataclass
class Program:
    """K, y, the box and the sum."""

    K: Array
    y: Array
    low: Array
    high: Array
    total: float = 0.0

    def gradient(self, beta: Array) -> Array:
        return self.K @ beta - self.y

    def project(self, x: Array) -> Array:
        """The nearest point of the feasible set."""
        return project(x, self.low, self.high, self.total)


def hinge_program(problem: Any, name: str) -> tuple[Program, Array]:
    """The dual program of a hinge problem with a free intercept, and its rows, dense."""
    n = problem.n_rows
    need_memory(8.0 * n * (n + problem.n_cols), f"solver={name!r} keeps all products of rows")
    X = problem._dense_rows()
    end = problem.y * problem.costs()
    return Program(X @ X.T, problem.y, np.minimum(0.0, end), np.maximum(0.0, end)), X


def project(x: Array, low: Array, high: Array, total: float = 0.0) -> Array:
    """The Euclidean projection onto {low ≤ β ≤ high, Σβ = total}: clip(x − t) for the one t that sums right.

    The sum falls with t and bends where a coordinate meets an end of its interval: the bends are sorted, the right
    piece is found by halving, and on it the sum is linear.

    >>> project(np.array([2.0, 0.5]), np.zeros(2), np.ones(2), 1.0)
    array([1., 0.])
    """
    bends = np.sort(np.concatenate([x - low, x - high]))
    at, past = 0, len(bends) - 1  # the sum is ≥ total at bends[at], ≤ total at bends[past]
    while past - at > 1:
        middle = (at + past) // 2
        if np.clip(x - bends[middle], low, high).sum() >= total:
            at = middle
        else:
            past = middle
    first, last = (np.clip(x - bends[k], low, high).sum() for k in (at, past))
    share = (first - total) / (first - last) if first > last else 0.0
    t = bends[at] + min(max(share, 0.0), 1.0) * (bends[past] - bends[at])
    nearest: Array = np.clip(x - t, low, high)
    return nearest


def hinge_ray(y: Array, c: Array, z: Array, dz: Array, square: float = 0.0, slope: float = 0.0) -> float:
    """The k that minimises ½·square·k² + slope·k + Σ c max(0, 1 − y(z + k dz)): a root of a rising, bending line.

    With dz = 1 and no square it is the best intercept for given scores; along a ray it is OCAS's line search.
    """
    s, room = y * dz, 1 - y * z
    bending = (s != 0) & (c > 0)
    s, room, c = s[bending], room[bending], c[bending]
    if s.size == 0:
        return -slope / square if square > 0 else 0.0
    at = room / s
    order = np.argsort(at)
    at = at[order]
    rises = np.cumsum((c * np.abs(s))[order])
    start = slope - float((c * s)[s > 0].sum())  # the derivative before every bend, without its square's part
    after = square * at + start + rises
    crossing = int(np.searchsorted(after, 0.0))
    if crossing == len(at):
        return float((-start - rises[-1]) / square) if square > 0 and after[-1] < 0 else float(at[-1])
    before = start + (rises[crossing - 1] if crossing else 0.0)
    if square * at[crossing] + before > 0:
        return float(-before / square)
    if square == 0 and after[crossing] <= 1e-12 * rises[-1] and crossing + 1 < len(at):
        return float((at[crossing] + at[crossing + 1]) / 2)  # flat: the middle of the interval
    return float(at[crossing])


def barzilai_borwein(d: Array, Kd: Array, k: int) -> float:
    """The step from the last change d and the change of the gradient it made: long and short ones in turn."""
    across = float(d @ Kd)
    if across <= 0:
        return 1e10
    step = float(d @ d) / across if k % 2 else across / float(Kd @ Kd)
    return min(max(step, 1e-10), 1e10)


def backtrack(f: float, slope: float, curvature: float, bar: float) -> float:
    """The first t of 1, ½, ¼, … with f + t·slope + ½t²·curvature ≤ bar + 10⁻⁴ t·slope; exact for a quadratic."""
    t = 1.0
    while f + t * slope + 0.5 * t * t * curvature > bar + 1e-4 * t * slope and t > 1e-10:
        t /= 2
    return t


def active_set(program: Program, beta: Array, tolerance: float = 1e-11) -> Iterator[tuple[Array, Array, int]]:
    """Primal active-set steps from a feasible β; yields (β, gradient, rows free) after each, and ends at the optimum.

    The free rows go to the optimum of their equality-constrained program, or until one meets its bound and is held
    there; when they are at the optimum, the bound whose multiplier is most wrong is let go (after steps of length zero
    the first such one: Bland's rule, which cannot cycle).
    """
    low, high = program.low, program.high
    beta = beta.copy()
    g = program.gradient(beta)
    free = (beta > low) & (beta < high)
    size = max(float(np.abs(program.y).max()), float(np.abs(g).max()))
    blocked = again = 0
    while True:
        F = np.flatnonzero(free)
        d, bounded = _free_direction(program.K[np.ix_(F, F)], g[F], 1e-14 * size)
        room = np.where(d > 0, high[F] - beta[F], low[F] - beta[F])
        limits = np.divide(room, d, out=np.full(len(F), np.inf), where=d != 0)
        t = min([1.0, *limits]) if bounded else min([np.inf, *limits])
        if np.isfinite(t) and d.any():
            held = limits <= t
            beta[F] += t * d
            beta[F[held]] = np.where(d[held] > 0, high[F[held]], low[F[held]])
            g = g + (t * d) @ program.K[F]  # K is symmetric, and its rows are contiguous
            free[F[held]] = False
            blocked = blocked + 1 if t == 0 else 0
            yield beta, g, int(free.sum())
            if t < 1.0 or not bounded:
                again = 0
                continue
            again += 1
            if again < 4 and np.ptp(g[F]) > tolerance * size:
                continue  # what a nearly flat direction hid from this step is the next one
        again = 0
        let_go = _wrong_bounds(g, beta, program, free, tolerance, blocked > len(beta))
        if not let_go:
            yield beta, program.gradient(beta), int(free.sum())
            return
        free[let_go] = True


def _free_direction(K: Array, g: Array, rounding: float) -> tuple[Array, bool]:
    """The step to the minimum of ½dᵀKd + gᵀd over Σd = 0; where K is flat and g is not, the way down (False)."""
    pull = g.mean() - g if len(g) else g
    if np.abs(pull).max(initial=0.0) <= rounding:
        return np.zeros(len(g)), True
    centred = K - K.mean(axis=0)
    centred -= centred.mean(axis=1)[:, None]
    plain = _by_cholesky(centred, pull)
    if plain is not None:
        return plain, True
    curvature, directions = np.linalg.eigh(centred)
    flat = curvature <= 1e-12 * max(curvature[-1], 1e-300)
    along = directions.T @ pull
    if np.abs(along[flat]).max(initial=0.0) > max(1e-9 * np.abs(along).max(), 10 * rounding):
        way = directions[:, flat] @ along[flat]
        way /= np.abs(way).max()
        return way - way.mean(), False
    d = directions[:, ~flat] @ (along[~flat] / curvature[~flat])
    return d - d.mean(), True


def _by_cholesky(centred: Array, pull: Array) -> Array | None:
    """The same step where the curvature is sound in every direction of sum zero: the usual case, and the cheap one."""
    size = np.trace(centred) / len(pull)
    try:
        L = np.linalg.cholesky(centred + size)  # `size` along the ones, where the centred matrix has nothing
    except np.linalg.LinAlgError:
        return None
    if np.diag(L).min() ** 2 <= 1e-10 * np.diag(L).max() ** 2:
        return None
    from scipy.linalg import cho_solve

    d = cho_solve((L, True), pull)
    return np.asarray(d - d.mean())


def _wrong_bounds(g: Array, beta: Array, program: Program, free: Any, tolerance: float, first: bool) -> list[int]:
    """The bound to let go, by its multiplier; two of them where no row is free; none at the optimum."""
    up, down = beta < program.high, beta > program.low  # may rise, may fall
    if not up.any() or not down.any():
        return []
    size = tolerance * max(1e-300, float(np.abs(g).max()), float(np.abs(program.y).max()))
    if not free.any():  # the multiplier of the sum may be anything between these two
        i, j = int(np.argmin(np.where(up, g, np.inf))), int(np.argmax(np.where(down, g, -np.inf)))
        return [i, j] if g[j] - g[i] > size else []
    multiplier = g - g[free].mean()
    wrong = np.where(free, 0.0, np.maximum(np.where(up, -multiplier, 0.0), np.where(down, multiplier, 0.0)))
    if not wrong.max() > size:
        return []
    return [int(np.flatnonzero(wrong > size)[0] if first else np.argmax(wrong))]


class Report:
    """What each textbook method does once an iteration: keep the best points, ask the judge, heed the budgets."""

    def __init__(self, name: str, problem: Any, control: Any, program: Program, rows: Array) -> None:
        self.name, self.problem, self.control, self.program, self.rows = name, problem, control, program, rows
        self.costs = problem.costs()
        self.epochs, self.n_iter, self.judged = 0.0, 0, False
        self.primal, self.dual = np.inf, -np.inf
        self.beta = np.zeros(problem.n_rows)
        self.coef, self.intercept = np.zeros(problem.n_cols), 0.0

    def first(self, start: Start) -> Array:
        """A feasible point to begin with; an earlier answer's w and b are kept as a first primal point."""
        beta = self.program.project(np.zeros(len(self.beta)) if start.dual is None else start.dual)
        if start.coef is not None:
            self._offer(self.rows @ start.coef, start.coef, start.intercept)
        return beta

    def leave(self, beta: Array, gradient: Array, active: int, epochs: float = 1.0, ended: bool = False) -> bool:
        """β is a feasible point with this gradient, reached with ``epochs`` more. True: the solver is to return."""
        self.epochs += epochs
        self.n_iter += 1
        z = gradient + self.program.y
        value = float(self.program.y @ beta - 0.5 * beta @ z)
        if value > self.dual:
            self.dual, self.beta = value, beta.copy()
        b = hinge_ray(self.program.y, self.costs, z, np.ones(len(z)))
        self._offer(z, self.rows.T @ beta, b)
        self.control.over(self.epochs)
        near = self.primal - self.dual <= self.control.tol * max(abs(self.primal), abs(self.dual)) or ended
        if near or self.control.watched:
            self.judged = self.ask(active, near)
        if ended and not self.control.stopped:
            self.control.stop("stalled")
        return bool(self.control.look())

    def ask(self, active: int, decide: bool) -> bool:
        place = (self.name, self.epochs, active, self.coef, self.intercept, self.beta)
        return bool(self.control.ask(self.problem._core, *place, decide=decide))

    def _offer(self, z: Array, coef: Array, b: float) -> None:
        """Keep (w, b) where it is the best so far; z = Xw."""
        losses = self.costs @ np.maximum(0.0, 1 - self.program.y * (z + b))
        primal = float(0.5 * coef @ coef + losses)
        if primal < self.primal:
            self.primal, self.coef, self.intercept = primal, np.ascontiguousarray(coef), float(b)

    def answer(self) -> Answer:
        return Answer(self.coef, self.intercept, self.beta, self.epochs, self.n_iter, self.judged, self.name)
