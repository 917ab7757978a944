"""What is left to do with a solver's point: the judge's word on it; and where floating point ended the progress, a
solve on the active set and a step off the kinks that hide the gap."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import Array
from dualgap.registry import loss_named
from dualgap.solvers import Answer

LONGER = (1e-13, 1e-11, 1e-9)  # by how much w is made longer; it costs twice that of ½‖w‖²
MOST_ROWS, MOST_ENTRIES = 20_000, 2e6  # of a problem whose active set is solved for
MOST_FREE = 1000  # rows of that set
ROUNDS = 8  # of the active set
REFINED = 4  # times
ROUNDING = 4 * np.finfo(np.float64).eps  # of the terms of a score
CLEAR = 1e-9  # of its score: a row at a bound so far beyond its kink has to leave


def judge(problem: Any, control: Any, answer: Answer) -> None:
    """The judge's word on a point that the solver left unjudged."""
    control.ask(
        problem._core,
        answer.solver,
        max(0.0, answer.epochs - control.epochs),
        problem.n_rows,
        np.ascontiguousarray(answer.coef),
        answer.intercept,
        answer.dual,
        decide=True,
    )
    answer.judged = True


def finish(problem: Any, control: Any, answer: Answer, tol: float) -> Answer:
    """A better point than one that has stalled, where there is one: solved for on the rows between their bounds, and
    moved off the kinks. What it returns has been judged."""
    if control.certificate.relative_gap <= tol or not loss_named(problem.loss).kinked:
        return answer
    control.reopen()
    if control.look():
        return answer
    best, gap = answer, control.certificate.relative_gap
    points = on_the_active_set(problem, control, answer)
    if loss_named(problem.loss).targets == "sign":
        points += [_longer(point, part) for part in LONGER for point in (*points[:1], answer)]
    for point in points:
        judge(problem, control, point)
        if control.stopped or control.certificate.relative_gap <= tol:
            return point
        if control.certificate.relative_gap < gap:
            best, gap = point, control.certificate.relative_gap
    judge(problem, control, best)
    control.stop("stalled")
    return best


def _longer(answer: Answer, part: float) -> Answer:
    """A row on the kink of a margin loss pays its cost for every rounding error of its score. Where that hides the gap,
    as it does on separable data at a huge C, a slightly longer w has no row there, and the gap can be proven."""
    return replace(answer, coef=answer.coef * (1 + part), intercept=answer.intercept * (1 + part))


def on_the_active_set(problem: Any, control: Any, answer: Answer) -> list[Answer]:
    """β of the rows between their bounds (F) from the equations that hold there, w = v + X_Fᵀβ, v of the other rows:

        X_F X_Fᵀ β + b = t − X_F v,    Σβ = 0 for a free intercept, b = s² Σβ for a regularised one,

    refined by residuals in more digits than float64. (Newton's β follows from scores, whose rounding a large C
    multiplies.) Rows that the solution sends beyond a bound stay there, rows that want to leave theirs join, and it is
    solved again. Where a kink has a side without loss there is a second point, whose scores are so far on that side
    that rounding w costs nothing. No point: rows on their kinks are too many, or none.
    """
    if problem.n_rows > MOST_ROWS or problem.n_rows * problem.n_cols > MOST_ENTRIES:
        return []
    X = problem._dense_rows().astype(np.longdouble)
    y, costs, beta = problem.y, problem.costs(), answer.dual.copy()
    w, b = answer.coef, answer.intercept
    solved = np.zeros(0, dtype=bool)  # the rows solved for last
    for _ in range(ROUNDS):
        z = np.asarray(X @ w + b, dtype=np.float64)
        low, high, target, slack = np.transpose(
            [_row(problem, *map(float, row)) for row in zip(y, costs, beta, z, strict=True)]
        )
        at_rest = (beta <= low) | (beta >= high) | (beta == 0)
        free = ~at_rest | (slack < -CLEAR * (1 + np.abs(z)))
        rows = np.flatnonzero(free)
        if not 0 < rows.size <= min(MOST_FREE, X.shape[1] + 1) or np.array_equal(free, solved) or control.look():
            break
        found = _solved(problem, X, beta, rows, target[rows])
        if found is None:
            break
        beta, w, b = found
        beta, solved = np.clip(beta, low, high), free
    if not solved.any():
        return []
    points = [replace(answer, coef=np.asarray(w, dtype=np.float64), intercept=float(b), dual=beta, judged=False)]
    rows = np.flatnonzero(solved)
    noise = ROUNDING * (np.abs(X[rows]) @ np.abs(w) + abs(b))
    beyond = target[rows] + np.sign(beta[rows]) * np.asarray(noise, dtype=np.float64)
    if not any(_value(problem, *map(float, row)) for row in zip(y[rows], beyond, strict=True)):
        moved = _solved(problem, X, beta, rows, beyond)
        if moved is not None:
            points.append(replace(points[0], coef=np.asarray(moved[1], dtype=np.float64), intercept=float(moved[2])))
    return points


def _value(problem: Any, y: float, z: float) -> float:
    value: float = _core.row_primitives(problem.loss, problem._parameter, y, 1.0, 0.0, z, 0.0)[0]
    return value


def _row(problem: Any, y: float, c: float, beta: float, z: float) -> tuple[float, float, float, float]:
    """Its bounds, the score at which β may be anywhere between, and how far z is from that (negative: beyond)."""
    _, dual, low, high, end, _, slack = _core.row_primitives(problem.loss, problem._parameter, y, c, beta, z, 0.0)
    if beta == 0 and end != 0:  # where it wants to go: the conjugate of a kinked loss is linear on either side of 0
        beta, dual = end, _core.row_primitives(problem.loss, problem._parameter, y, c, end, z, 0.0)[1]
    return low, high, dual / beta if beta else y, slack


def _solved(problem: Any, X: Any, beta: Array, rows: Any, target: Array) -> Any:
    """(β, w, b) with the scores of these rows at their targets; None where the equations have no single answer."""
    from scipy import linalg  # seldom needed, and long to import

    others = beta.copy()
    others[rows] = 0.0
    v, part, k = X.T @ others, X[rows], rows.size
    free, scale2 = problem.intercept == "free", problem.intercept_scaling**2 * (problem.intercept == "regularized")
    matrix = np.zeros((k + free, k + free))
    matrix[:k, :k] = np.asarray(part, dtype=np.float64) @ np.asarray(part, dtype=np.float64).T + scale2
    if free:
        matrix[k, :k] = matrix[:k, k] = 1.0
    size = np.sqrt(np.maximum(np.abs(np.diag(matrix)), np.abs(matrix).max(axis=0)))
    x = np.zeros(k + free, dtype=np.longdouble)
    with warnings.catch_warnings():
        warnings.simplefilter("error", linalg.LinAlgWarning)
        try:
            factor = linalg.lu_factor(matrix / np.outer(size, size))
        except (linalg.LinAlgError, linalg.LinAlgWarning, ValueError):
            return None
    for _ in range(REFINED):
        total = x[:k].sum() + others.sum()
        b = x[k] if free else scale2 * total
        left = target - part @ (v + part.T @ x[:k]) - b
        if free:
            left = np.append(left, -total)
        x = x + linalg.lu_solve(factor, np.asarray(left, dtype=np.float64) / size) / size
        if not np.isfinite(x).all():
            return None
    full = others.copy()
    full[rows] = x[:k]
    return full, v + part.T @ x[:k], x[k] if free else scale2 * (x[:k].sum() + others.sum())
