"""What is left to do with a solver's point: the judge's word on it; and where floating point ended the progress, a
solve on the active set and a step off the kinks that hide the gap."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.blas import one_blas_thread
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
    points = on_the_active_set(problem, control, answer)
    if loss_named(problem.loss).targets == "sign":
        points += [_longer(point, part) for part in LONGER for point in (*points[:1], replace(answer, why=""))]
    best = last = answer
    gap = control.certificate.relative_gap
    for last in points:
        judge(problem, control, last)
        if control.certificate.relative_gap < gap:
            best, gap = last, control.certificate.relative_gap
        if control.stopped or gap <= tol:
            break
    if last is not best:
        judge(problem, control, best)
    control.stop("stalled")  # unless it has been stopped for something else
    if best is answer:
        return answer
    stalled = f"{answer.solver} stalled: {best.why}"
    return replace(best, why=f"{answer.why}; {stalled}" if answer.why else stalled)


def _longer(answer: Answer, part: float) -> Answer:
    """A row on the kink of a margin loss pays its cost for every rounding error of its score. Where that hides the gap,
    as it does on separable data at a huge C, a slightly longer w has no row there, and the gap can be proven."""
    how = f"{answer.why}, w made longer by {part:.0e}" if answer.why else f"w made longer by {part:.0e}"
    return replace(answer, coef=answer.coef * (1 + part), intercept=answer.intercept * (1 + part), why=how)


def on_the_active_set(problem: Any, control: Any, answer: Answer) -> list[Answer]:
    """β of the rows between their bounds (F) from the equations that hold there, w = v + X_Fᵀβ, v of the other rows:

        X_F X_Fᵀ β + b = t − X_F v,    Σβ = 0 for a free intercept, b = s² Σβ for a regularised one,

    refined by residuals in long double, which has more digits on most machines. (Newton's β follows from scores, whose
    rounding a large C multiplies.) Rows that the solution sends beyond a bound stay there, rows that want to leave
    theirs join, and it is solved again. Where a kink has a side without loss there is a second point, whose scores are
    so far on that side that rounding w costs nothing. No point: rows on their kinks are too many, or none.
    """
    if problem.n_rows > MOST_ROWS or problem.n_rows * problem.n_cols > MOST_ENTRIES:
        return []
    X = problem._dense_rows().astype(np.longdouble)
    movable = X.any(axis=1) | (problem.intercept != "none")
    y, costs, beta = problem.y, problem.costs(), answer.dual.copy()
    w, b = answer.coef, answer.intercept
    rows, kinks = np.zeros(0, dtype=np.intp), np.zeros(0)  # of F, solved for
    with one_blas_thread(), np.errstate(all="ignore"):  # what is not finite is no answer, and seen to be none
        for _ in range(ROUNDS):
            z = np.asarray(X @ w + b, dtype=np.float64)
            low, high, target, slack = np.transpose(
                [_row(problem, *map(float, row)) for row in zip(y, costs, beta, z, strict=True)]
            )
            at_rest = (beta <= low) | (beta >= high) | (beta == 0)
            free = np.flatnonzero(movable & (~at_rest | (slack < -CLEAR * (1 + np.abs(z)))))
            if not 0 < free.size <= min(MOST_FREE, X.shape[1] + 1):
                break
            if np.array_equal(free, rows) and np.array_equal(target[free], kinks):
                break
            found = _solved(problem, control, X, beta, free, target[free])
            if found is None:
                break
            rows, kinks = free, target[free]
            beta, w, b = np.clip(found[0], low, high), found[1], found[2]
        if not rows.size or control.stopped:
            return []
        found = {"coef": np.asarray(w, dtype=np.float64), "intercept": float(b), "dual": beta}
        points = [replace(answer, **found, judged=False, why="solved on its active set")]
        noise = ROUNDING * (np.abs(X[rows]) @ np.abs(w) + abs(b))
        beyond = kinks + np.sign(beta[rows]) * np.asarray(noise, dtype=np.float64)
        if not any(_value(problem, *map(float, row)) for row in zip(y[rows], beyond, strict=True)):
            moved = _solved(problem, control, X, beta, rows, beyond)
            if moved is not None:
                points.append(
                    replace(points[0], coef=np.asarray(moved[1], dtype=np.float64), intercept=float(moved[2]))
                )
    return points if all(np.isfinite(point.coef).all() for point in points) else []


def _value(problem: Any, y: float, z: float) -> float:
    value: float = _core.row_primitives(problem.loss, problem._parameter, y, 1.0, 0.0, z, 0.0)[0]
    return value


def _row(problem: Any, y: float, c: float, beta: float, z: float) -> tuple[float, float, float, float]:
    """Its bounds, the score at which β may be anywhere between, and how far z is from that (negative: beyond)."""
    _, dual, low, high, end, _, slack = _core.row_primitives(problem.loss, problem._parameter, y, c, beta, z, 0.0)
    if beta == 0 and end != 0:  # where it wants to go: the conjugate of a kinked loss is linear on either side of 0
        beta, dual = end, _core.row_primitives(problem.loss, problem._parameter, y, c, end, z, 0.0)[1]
    target = dual / beta if beta else y
    if target != y:  # an end of the tube, whose rows are on this side of 0
        low, high = (0.0, high) if beta > 0 else (low, 0.0)
    return low, high, target, slack


def _solved(problem: Any, control: Any, X: Any, beta: Array, rows: Any, target: Array) -> Any:
    """(β, w, b) with the scores of these rows at their targets; None where the equations have no single answer, or time
    is up."""
    from scipy.linalg import blas, lapack  # seldom needed, and long to import

    others = beta.copy()
    others[rows] = 0.0
    v, part, k, border = X.T @ others, X[rows], rows.size, problem.intercept != "none"
    corner = 0.0 if problem.intercept == "free" else -1 / np.float64(problem.intercept_scaling) ** 2
    matrix = np.zeros((k + border, k + border))
    upper = blas.dsyrk(1.0, np.asarray(part, dtype=np.float64))
    matrix[:k, :k] = upper + np.triu(upper, 1).T
    if border:
        matrix[k, :k] = matrix[:k, k] = 1.0
        matrix[k, k] = corner
    size = np.sqrt(np.abs(matrix).max(axis=0))
    factor, pivots, failed = lapack.dgetrf(matrix / np.outer(size, size))
    x = np.zeros(k + border, dtype=np.longdouble)
    for _ in range(REFINED):
        if failed or not np.isfinite(x).all() or control.look():
            return None
        b = x[k] if border else 0.0
        left = target - part @ (v + part.T @ x[:k]) - b
        if border:
            left = np.append(left, -(x[:k].sum() + others.sum()) - corner * b)
        x = x + lapack.dgetrs(factor, pivots, np.asarray(left, dtype=np.float64) / size)[0] / size
    full = others.copy()
    full[rows] = x[:k]
    return full, v + part.T @ x[:k], x[k] if border else 0.0
