"""The choice of solver: the rule is this file, the measurements behind its constants are docs/adr/0007-auto.md.

Two horses. Descent (dcd) pays by the epoch and needs about as many epochs as the problem is hard: few where the cost
times the squared length of a row is small, hundreds or thousands where columns differ in scale or C is large. Newton
pays for a matrix over the columns (or, where they are too many, over rows of the zone), and then hardly cares.

1. Work is counted in entries touched, never in seconds, so the same problem always takes the same way.
2. Where Newton's whole work is less than a few epochs of descent, Newton runs from the start, unless the problem is so
   easy (C · mean ‖x‖² small) that descent will be done in fewer. "A few" is more where descent would get nowhere: C ·
   mean ‖x‖² huge, or large and columns wildly different in scale.
3. Otherwise descent begins, its first epoch one of stochastic steps where C · mean ‖x‖² is small (and, where β has no
   bound, rows share few columns). It has a patience: when its own forecast needs more epochs than Newton would cost, it
   stops and hands (w, β) over.
4. Where Newton stalls in floating point, descent goes on from nothing, and the better half of each point counts.
5. Where columns differ wildly in scale the answer says so, and the user is told once (scales.py).
6. Where an intercept without a penalty fits every row that counts by itself, that is the answer: P = 0 = D, which steps
   only come close to, and no gap is small relative to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.errors import NotEnoughMemory
from dualgap.registry import Solver, loss_named
from dualgap.solvers import Answer, Start
from dualgap.solvers._finish import finish, judge
from dualgap.solvers.dcd import SOLVER as DCD
from dualgap.solvers.newton import SOLVER as NEWTON

EASY = 0.3  # C · mean ‖x‖² below which descent needs a handful of epochs
FEW_EPOCHS = 30.0  # Newton within this many epochs of descent is tried first
FEW_EPOCHS_KINKED = 26.0  # the same where the loss has a corner: descent's first epochs serve Newton better there
HOPELESS = 2e3  # C · mean ‖x‖² above which a few epochs of descent are no start for Newton either
HOPELESS_WILD = 20.0  # the same where columns differ wildly in scale
FEW_EPOCHS_HOPELESS = 50.0  # there Newton is tried first up to this many
MANY_ROWS = 1600  # that a step is taken to factor at most where columns are too many for a matrix
MOST_EPOCHS = 350.0  # that Newton is taken to cost there at all
MOST_EPOCHS_SMOOTH = 150.0  # the same for smooth losses: conjugate gradients take most of the steps
DOZEN = 12.0  # epochs of descent that are worth their while as a start where Newton is dear or wide
PRODUCTS = 8.0  # epochs' worth of conjugate gradients a step, where they are all there is
ENOUGH_EPOCHS = 15.0  # on an easy problem descent is tried first where Newton costs more than this
ENOUGH_EPOCHS_EXACT = 20.0  # the same for squared losses and the logistic: one exact step brings and proves nearly all
GENTLE = 0.05  # C · mean ‖x‖² up to which descent begins with a stochastic pass, where rows share few columns
GENTLE_SIGNS = 2.0  # the same for signs and a bounded β, where it helps longer, whatever they share
THIN = 0.02  # the part of the columns that a row has where they share few
ENOUGH = 1e-9  # a gap at which a stalled fit is left alone
WILD = 1e4  # ratio of column scales that is worth a word


@dataclass(frozen=True)
class Forecast:
    """Work in entries touched: one epoch of descent, and all of Newton."""

    epoch: float
    newton: float
    hardness: float  # C · mean ‖x‖²
    density: float  # the part of the columns that a row has
    wide: bool  # Newton makes no matrix over the columns
    smallest: float  # root mean square of a column's entries
    largest: float

    @property
    def wild(self) -> bool:
        """Do columns differ in scale so much that it is worth a word?"""
        return self.largest > WILD * self.smallest

    @property
    def hopeless(self) -> bool:
        """Would descent not even be a good start for Newton?"""
        return self.hardness > (HOPELESS_WILD if self.wild else HOPELESS)

    @property
    def patience(self) -> float:
        """Epochs of descent that cost as much as Newton."""
        return self.newton / self.epoch if self.epoch else 0.0  # a table without entries: only the intercept is sought


def forecast(problem: Any, tol: float) -> Forecast:
    """What each horse would cost, from the shape of the data and some of its rows."""
    mean_square, entries, pairs, smallest, largest = problem._matrix.profile()
    n, d = problem.n_rows, problem.n_cols + (problem.intercept != "none")
    loss = loss_named(problem.loss)
    digits = max(1.0, -math.log10(max(tol, 1e-12)))
    steps = 4.0 + digits if loss.smooth else 6.0 * digits
    packed = _core.packs_rows(problem._core)  # then wide instructions multiply many at a time
    gram = n * (d * d / 24.0 if packed else 1.5 * pairs)
    full_grams = 2.0 if not loss.smooth else 3.0
    memory = NEWTON.options["memory"]
    wide = _core.newton_is_wide(problem._core, memory)  # then a step factors rows of its zone, or none
    side = min(n, MANY_ROWS) if wide else min(d, n)
    costs = problem.C * (1.0 if problem.sample_weight is None else float(problem.sample_weight.mean()))
    hardness = costs * mean_square
    epoch = 3.0 * n * entries
    newton = (0.0 if wide else full_grams * gram) + steps * (epoch + side**3 / 60.0)
    if wide:
        newton = min(newton, (MOST_EPOCHS_SMOOTH if loss.smooth else MOST_EPOCHS) * epoch)
    if wide and loss.smooth and loss.bounded and hardness <= HOPELESS:  # logistic: no rows are factored
        newton = min(newton, steps * PRODUCTS * epoch)
    return Forecast(epoch, newton, hardness, entries / max(problem.n_cols, 1), wide, smallest, largest)


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    constant = _constant(problem)
    if constant is not None:
        return constant
    plan = forecast(problem, control.tol)
    seed = {"seed": options["seed"]}
    loss = loss_named(problem.loss)
    exact = loss.name == "logistic" or (loss.smooth and not loss.bounded)
    enough = ENOUGH_EPOCHS_EXACT if exact and not plan.wide else ENOUGH_EPOCHS
    easy = plan.hardness <= EASY and control.tol >= 1e-5 and plan.patience > enough
    usual = FEW_EPOCHS_KINKED if loss.kinked else FEW_EPOCHS
    few = FEW_EPOCHS_HOPELESS if plan.hopeless else usual
    if plan.patience <= few and not easy:
        answer = _newton_or_descent(problem, control, start, seed)
        why = f"newton: its work is that of {plan.patience:.0f} epochs of descent{_without_matrix(plan)}"
        if plan.patience > usual:
            scales = ", columns of wild scale" if plan.wild else ""
            why += f", and descent would crawl (C · mean ‖x‖² is {plan.hardness:.1g}{scales})"
    else:
        if loss.targets == "sign" and loss.bounded:
            gentle = plan.hardness <= GENTLE_SIGNS
        else:
            gentle = plan.hardness <= GENTLE and plan.density <= THIN
        gentle = gentle and start.dual is None
        descent = {"init": "sgd" if gentle else "zero", **_patient(max(plan.patience, 10.0), plan.wide)}
        answer = DCD.run(problem, control, start, {**DCD.options, **seed, **descent})
        why = f"dcd{', its first epoch stochastic' if gentle else ''}: "
        why += f"easy, C · mean ‖x‖² is {plan.hardness:.1g}; " if easy else ""
        why += f"newton would cost {plan.patience:.0f} epochs{_without_matrix(plan)}"
        if not control.stopped:
            first = answer
            control.end_solver(first.epochs)
            begin = Start(first.dual, first.intercept, first.coef)
            answer = _newton_or_descent(problem, control, begin, seed)
            answer = replace(
                answer,
                solver="dcd, newton" if answer.solver == "newton" else "dcd",
                n_iter=first.n_iter + answer.n_iter,
                epochs=first.epochs + answer.epochs,
            )
            why += f"; after {first.epochs:.0f} epochs more than that were still to go: newton from its point"
    if not control.stopped and not answer.judged:
        judge(problem, control, answer)
    if answer.why:  # memory was short
        why += f"; {answer.why}"
    if _stuck(control) and answer.solver != "dcd":
        answer = finish(problem, control, replace(answer, why=why), max(control.tol, ENOUGH))
        why = answer.why
        if _stuck(control):
            answer = _descent_instead(problem, control, answer, options)
            why += "; newton stalled: dcd from the start"
    return replace(answer, why=why, wild=plan.wild)


def _without_matrix(plan: Forecast) -> str:
    return " (columns are too many for a matrix)" if plan.wide else ""


def _patient(epochs: float, wide: bool = False) -> dict[str, float]:
    """Descent gives up when it needs more epochs than these, but not before it has had a twentieth of them, nor a dozen
    where it has many to win or Newton begins without a matrix over the columns."""
    return {"patience": epochs, "least_epochs": max(0.05 * epochs, DOZEN if wide or epochs > 100 else 0.0)}


def _newton_or_descent(problem: Any, control: Any, start: Start, seed: Mapping[str, Any]) -> Answer:
    """Newton, or where the memory has no room for it descent with all patience."""
    try:
        answer: Answer = NEWTON.run(problem, control, start, {**NEWTON.options, **seed})
    except NotEnoughMemory as error:
        answer = replace(DCD.run(problem, control, start, {**DCD.options, **seed}), why=f"dcd instead: {error}")
    return answer


def _constant(problem: Any) -> Answer | None:
    """w = 0 and the b that fits every row that counts, where there is one; β = 0 proves it. Where a loss only tends to
    0 (logistic), b is so far out that it is 0 in float64."""
    if problem.intercept != "free":
        return None
    y = problem.y if problem.sample_weight is None else problem.y[problem.sample_weight > 0]
    low, high = float(y.min()), float(y.max())
    if high - low > 2 * problem.loss_parameters.get("epsilon", 0.0):
        return None
    b = 1000.0 * low if problem.loss == "logistic" else 0.5 * (low + high)
    coef = np.zeros(problem.n_cols)
    if problem.objective(coef, b) != 0:
        return None
    why = "nothing to solve: the intercept alone fits every row"
    return Answer(coef, b, np.zeros(problem.n_rows), epochs=0.0, n_iter=0, solver="auto", why=why)


def _stuck(control: Any) -> bool:
    return control.status in ("stalled", "running") and control.certificate.relative_gap > max(control.tol, ENOUGH)


def _descent_instead(problem: Any, control: Any, stalled: Answer, options: Mapping[str, Any]) -> Answer:
    """Where a few rows are longer than the others by many orders of magnitude, β from scores has no digits left and
    Newton stalls; descent keeps β itself and may still get there. The better primal and the better dual point count."""
    before = control.certificate
    control.end_solver(stalled.epochs - control.epochs)
    control.reopen()
    patience = _patient(min(3e4, max(20.0, 1e9 / max(problem._matrix.entries, 1))))
    answer: Answer = DCD.run(problem, control, Start(), {**DCD.options, "seed": options["seed"], **patience})
    answer.epochs += stalled.epochs
    if not answer.judged:
        judge(problem, control, answer)
    within = control.certificate.relative_gap <= control.tol
    if not within and (before.primal < control.certificate.primal or before.dual > control.certificate.dual):
        if before.primal < control.certificate.primal:
            answer.coef, answer.intercept = stalled.coef, stalled.intercept
        if before.dual > control.certificate.dual:
            answer.dual = stalled.dual
        judge(problem, control, answer)
    control.stop("stalled")
    return replace(answer, solver=f"{stalled.solver}, dcd", judged=True, n_iter=stalled.n_iter + answer.n_iter)


SOLVER = Solver(
    name="auto",
    summary="Chooses by shape, scale, loss and tolerance, and changes solver while it still helps.",
    source="docs/adr/0007-auto.md",
    losses=DCD.losses,
    intercepts=DCD.intercepts,
    run=run,
    threaded=True,
    memory=NEWTON.memory,
)
