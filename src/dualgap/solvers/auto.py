"""The choice of solver: the rule is this file, the measurements behind its constants are docs/adr/0007-auto.md.

Two horses. Descent (dcd) pays by the epoch and needs about as many epochs as the problem is hard: few where the cost
times the squared length of a row is small, hundreds or thousands where columns differ in scale or C is large. Newton
pays for a matrix over the columns (or, where they are too many, over rows of the zone), and then hardly cares.

1. Work is counted from the shape of the data, never in seconds, so the same problem always takes the same way.
2. Both are forecast before the start: the epochs that descent is likely to need, and those that cost as much as all of
   Newton's work. Newton runs first where its work is less. But where it is much, or rows are few, descent is worth a
   try, as a start for Newton if not more, unless C is large and columns are wildly different in scale.
3. Otherwise descent begins, its first epoch one of stochastic steps where C · mean ‖x‖² is small (and, where β has no
   bound, rows share few columns). It has a patience: when its own forecast needs more epochs than Newton would cost, it
   stops and hands (w, β) over; so it does where no row moves any more.
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
from dualgap.config import LARGE, SMALL
from dualgap.errors import NotEnoughMemory
from dualgap.registry import Solver, loss_named
from dualgap.solvers import Answer, Start
from dualgap.solvers._finish import finish, judge
from dualgap.solvers.dcd import SOLVER as DCD
from dualgap.solvers.newton import SOLVER as NEWTON

# Work is counted in nanoseconds of one core as it was measured; a choice rests on ratios only.
ROW, LOGARITHMS, FAR = 20.0, 40.0, 50.0  # descent, a row: its step; logarithms besides; out of the caches
ENTRY, SCATTERED = 0.28, 1.2  # an entry of it, side by side with the others or not
PASS_ROW, PASS_ENTRY, PASS_SCATTERED = 30.0, 0.2, 1.0  # Newton, a pass
PRODUCT, PAIR, CUBE = 0.016, 0.45, 0.012  # a product of a Gram, rows packed or not; a factor, for the cube of its side
SHARED = 0.6  # Newton's part of all this where tables are large enough for threads

FEW_EPOCHS = 40.0  # Newton within this many epochs of descent may go first
HARD = 20.0  # C · mean ‖x‖² above which descent is not even a start for Newton where columns differ wildly in scale
MANY_ROWS = 1600  # that a step is taken to factor at most where columns are too many for a matrix
MOST_EPOCHS = 350.0  # that Newton is taken to cost there at all
MOST_EPOCHS_SMOOTH = 150.0  # the same for smooth losses: conjugate gradients take most of the steps
DOZEN = 12.0  # epochs of descent that are worth their while as a start where Newton is dear or wide
PRODUCTS = 8.0  # epochs' worth of conjugate gradients a step, where they are all there is
TOO_HARD = 2e3  # C · mean ‖x‖² above which they are not
GENTLE = 0.05  # C · mean ‖x‖² up to which descent begins with a stochastic pass, where rows share few columns
GENTLE_SIGNS = 2.0  # the same for signs and a bounded β, where it helps longer, whatever they share
THIN = 0.02  # the part of the columns that a row has where they share few
ENOUGH = 1e-9  # a gap at which a stalled fit is left alone
WILD = 1e4  # ratio of column scales that is worth a word


@dataclass(frozen=True)
class Forecast:
    """What each horse would cost, and what that was made of."""

    epoch: float  # the work of one epoch of descent
    newton: float  # all of Newton's
    expected: float  # epochs that descent is likely to need
    hardness: float  # C · mean ‖x‖²
    density: float  # the part of the columns that a row has
    tall: bool  # rows are enough for the columns: fewer can be told apart, and descent is done sooner than expected
    wide: bool  # Newton makes no matrix over the columns
    smallest: float  # root mean square of a column's entries
    largest: float

    @property
    def wild(self) -> bool:
        """Do columns differ in scale so much that it is worth a word?"""
        return self.largest > WILD * self.smallest

    @property
    def patience(self) -> float:
        """Epochs of descent that cost as much as Newton."""
        return self.newton / self.epoch if self.epoch else 0.0  # a table without entries: only the intercept is sought

    @property
    def newton_first(self) -> bool:
        crawls = self.wild and self.hardness > HARD and not self.wide
        return self.patience <= self.expected and (crawls or (self.tall and self.patience <= FEW_EPOCHS))


def forecast(problem: Any, tol: float) -> Forecast:
    """From the shape of the data and some of its rows."""
    mean_square, entries, pairs, smallest, largest = problem._matrix.profile()
    costs = problem.C * (1.0 if problem.sample_weight is None else float(problem.sample_weight.mean()))
    hardness = costs * mean_square
    n, d = problem.n_rows, problem.n_cols + (problem.intercept != "none")
    logarithms = problem.loss == "logistic"
    row = ROW + LOGARITHMS * logarithms + FAR * (n * entries >= 2 * LARGE)
    epoch = n * (row + (SCATTERED if _scattered(problem) else ENTRY) * entries)
    digits = max(1.0, -math.log10(max(tol, 1e-12)))
    wide: bool = _core.newton_is_wide(problem._core, NEWTON.options["memory"])
    return Forecast(
        epoch=epoch,
        newton=_wide(problem, epoch, hardness, digits) if wide else _newton(problem, entries, pairs, hardness, digits),
        expected=_expected(problem, hardness, digits),
        hardness=hardness,
        density=entries / max(problem.n_cols, 1),
        tall=n >= 2 * d,
        wide=wide,
        smallest=smallest,
        largest=largest,
    )


def _scattered(problem: Any) -> bool:
    return bool(problem.storage.startswith("csr"))


def _exact(problem: Any) -> bool:
    """Squared losses and the logistic: Newton's own problem, without a smoothing."""
    loss = loss_named(problem.loss)
    return loss.name == "logistic" or (loss.smooth and not loss.bounded)


def _expected(problem: Any, hardness: float, digits: float) -> float:
    """Epochs that descent may need. Of signs of which nearly all are alike most rows soon come to rest."""
    spread = math.sqrt(1 - float(problem.y.mean()) ** 2) if loss_named(problem.loss).targets == "sign" else 1.0
    if problem.loss == "logistic":
        digit, hard = 0.65, 0.6
    else:
        digit, hard = (1.7, 2.0) if _exact(problem) else (1.4, 0.45)
    return min(1 + digits * (digit + hard * spread * float(hardness**0.8)), 9999.0)


def _newton(problem: Any, entries: float, pairs: float, hardness: float, digits: float) -> float:
    """The work of passes, Grams and factors of a matrix over the columns."""
    n, d = problem.n_rows, problem.n_cols + (problem.intercept != "none")
    cold = not _core.newton_samples(problem._core)  # it does not begin on a sample of the rows
    size = min(math.log10(1 + hardness), 4.0)  # it hardly cares beyond
    digits = min(digits, 6.0)  # the last ones come by themselves
    if problem.loss == "logistic":
        passes, grams = 3 + 0.5 * digits, 2 + 1.5 * size * cold
    elif _exact(problem):
        passes, grams = 3 + 0.3 * digits + (2 + 0.8 * size) * cold, 2.0
    else:
        passes, grams = 3 + (1 + 0.4 * size) * digits + 2 * cold, 2.0 + cold
    a_pass = n * (PASS_ROW + (PASS_SCATTERED if _scattered(problem) else PASS_ENTRY) * entries)
    # with packed rows wide instructions multiply many at a time
    gram = n * (PRODUCT * min(d, n) * d if _core.packs_rows(problem._core) else PAIR * pairs)
    work = passes * a_pass + grams * gram + 0.5 * passes * CUBE * min(d, n) ** 3
    if n < 2 * d and not loss_named(problem.loss).smooth:  # every row is in the zone for long
        work *= 2
    return float(work * (SHARED if n * entries >= SMALL else 1.0))


def _wide(problem: Any, epoch: float, hardness: float, digits: float) -> float:
    """The work of steps that factor rows of the zone, or none; no more than what descent could win."""
    smooth = loss_named(problem.loss).smooth
    steps = 4 + digits if smooth else 6 * digits
    work = steps * (epoch + SHARED * CUBE * min(problem.n_rows, MANY_ROWS) ** 3)
    if problem.loss == "logistic" and hardness <= TOO_HARD:  # no rows are factored
        work = min(work, steps * PRODUCTS * epoch)
    return float(min(work, (MOST_EPOCHS_SMOOTH if smooth else MOST_EPOCHS) * epoch))


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    constant = _constant(problem)
    if constant is not None:
        return constant
    plan = forecast(problem, control.tol)
    seed = {"seed": options["seed"]}
    loss = loss_named(problem.loss)
    why = f"newton's work is that of {plan.patience:.0f} epochs of descent{_without_matrix(plan)}, which may "
    why += f"need {plan.expected:.0f} (C · mean ‖x‖² is {plan.hardness:.1g}{', columns of wild scale' * plan.wild})"
    if plan.newton_first:
        answer = _newton_or_descent(problem, control, start, seed)
        why = f"newton: {why}"
    else:
        if loss.targets == "sign" and loss.bounded:
            gentle = plan.hardness <= GENTLE_SIGNS
        else:
            gentle = plan.hardness <= GENTLE and plan.density <= THIN
        gentle = gentle and start.dual is None
        descent = {"init": "sgd" if gentle else "zero", **_patient(max(plan.patience, 10.0), plan.wide)}
        answer = DCD.run(problem, control, start, {**DCD.options, **seed, **descent})
        why = f"dcd{', its first epoch stochastic' if gentle else ''}: {why}"
        still = control.stopped and _stuck(control)
        if still:
            control.reopen()
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
            reason = "no row moved any more" if still else "more than Newton costs were still to go"
            why += f"; after {first.epochs:.0f} epochs {reason}: newton from its point"
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
    return {"patience": epochs, "least_epochs": max(0.15 * epochs, DOZEN if wide or epochs > 100 else 0.0)}


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
