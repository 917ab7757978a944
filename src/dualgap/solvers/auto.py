"""The choice of solver: the rule is this file, the measurements behind its constants are docs/adr/0007-auto.md.

Two horses. Descent (dcd) pays by the epoch and needs about as many epochs as the problem is hard: few where the cost
times the squared length of a row is small, hundreds or thousands where columns differ in scale or C is large. Newton
pays for a matrix over the columns (or, where they are too many, over rows of the zone), and then hardly cares.

1. Work is predicted from the shape of the data, never timed, so the same problem always takes the same way.
2. Both are forecast before the start: the epochs that descent is likely to need, and those that cost as much as all of
   Newton's work. Newton runs first where its work is less. But where it is much, or rows are few, descent is worth a
   try, as a start for Newton if not more, unless C is large and columns are wildly different in scale; or unless C is
   so small that a free intercept is nearly all there is to seek.
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
from dualgap.config import SMALL
from dualgap.errors import NotEnoughMemory
from dualgap.registry import Solver, loss_named
from dualgap.solvers import Answer, Start
from dualgap.solvers._finish import finish, judge
from dualgap.solvers.dcd import SOLVER as DCD
from dualgap.solvers.newton import SOLVER as NEWTON

# Work is predicted with these prices, once measured in nanoseconds of one core; a choice rests on their ratios only.
ROW, LOGARITHMS, FAR = 20.0, 40.0, 50.0  # descent, a row: its step; logarithms besides; out of the caches
IN_CACHES = 4e6  # entries of a table that stays in them
ENTRY, SCATTERED = 0.28, 1.2  # an entry of it, side by side with the others or not
PASS_ROW, PASS_ENTRY, PASS_SCATTERED = 30.0, 0.2, 1.0  # Newton, a pass
PRODUCT, PAIR, CUBE = 0.016, 0.45, 0.012  # a product of a Gram, rows packed or not; a factor, for the cube of its side
SHARED = 0.6  # Newton's part of all this where tables are large enough for threads

ADRIFT = 0.5  # n · C · mean ‖x‖² up to which w hardly leaves 0: descent seeks a free intercept pair by pair, and long
ADRIFT_LOGISTIC, ADRIFT_WIDE = 2.0, 0.05  # the same for the logistic loss; for kinked ones on wide data
FEW_EPOCHS = 40.0  # Newton within this many epochs of descent may go first
HARD = 20.0  # C · mean ‖x‖² above which, columns of wild scale given, descent is not even a start for it
FEW_EPOCHS_WILD = 100.0  # the same there
PART = 0.15  # of the epochs that cost as much as Newton descent has before it gives up
MANY_ROWS = 1600  # that a step is taken to factor at most where columns are too many for a matrix
MOST_EPOCHS = 350.0  # that Newton is taken to cost there at all
MOST_EPOCHS_SMOOTH = 150.0  # the same for smooth losses: conjugate gradients take most of the steps
DOZEN = 12.0  # epochs of descent that are worth their while as a start where Newton is dear or wide
PRODUCTS = 8.0  # epochs' worth of conjugate gradients a step, where they are all there is
TOO_HARD = 2e3  # C · mean ‖x‖² above which they are not
GENTLE = 0.05  # C · mean ‖x‖² up to which descent begins with a stochastic pass, where rows share few columns
GENTLE_SIGNS = 2.0  # the same for signs and a bounded β, where it helps longer, whatever they share
THIN = 0.02  # the part of the columns that a row has where they share few
MOST_EXPECTED = 9999.0  # epochs: more are as good as never
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
    adrift: bool  # a free intercept is nearly all there is to seek
    smallest: float  # scale of a column: root mean square of its entries
    largest: float

    @property
    def wild(self) -> bool:
        """Do columns differ in scale so much that it is worth a word?"""
        return self.largest > WILD * self.smallest

    @property
    def patience(self) -> float:
        """Epochs of descent that cost as much as Newton."""
        return self.newton / self.epoch

    @property
    def newton_first(self) -> bool:
        if self.adrift or (self.wild and self.hardness > HARD and not self.wide and self.patience <= FEW_EPOCHS_WILD):
            return True
        return self.tall and self.patience <= min(self.expected, FEW_EPOCHS)

    def __str__(self) -> str:
        need = f"{self.expected:.0f}" if self.expected < MOST_EXPECTED else "thousands"
        wide = " (columns are too many for a matrix)" if self.wide else ""
        wild = ", columns of wild scale" if self.wild else ""
        adrift = ", and there is an intercept to find" if self.adrift else ""
        start = not self.newton_first and self.patience <= self.expected
        few = ", rows fewer than twice the columns" if start and not self.tall else ""
        return (
            f"newton's work is that of {self.patience:.0f} epochs of descent{wide}, which may need {need} "
            f"(C · mean ‖x‖² is {self.hardness:.2g}{adrift}{wild}{few}){' and is a start for it' if start else ''}"
        )


def forecast(problem: Any, tol: float) -> Forecast:
    """From the shape of the data and some of its rows."""
    mean_square, entries, pairs, smallest, largest = problem._matrix.profile()
    weight = problem.sample_weight
    hardness = min(problem.C * (1.0 if weight is None else float(weight.mean())) * mean_square, 1e300)
    n, logarithms = problem.n_rows, problem.loss == "logistic"
    row = ROW + LOGARITHMS * logarithms + FAR * (n * entries >= IN_CACHES)
    epoch = n * (row + (SCATTERED if _scattered(problem) else ENTRY) * entries)
    digits = max(1.0, -math.log10(max(tol, 1e-12)))
    wide: bool = _core.newton_is_wide(problem._core, NEWTON.options["memory"])
    return Forecast(
        epoch=epoch,
        newton=_wide(problem, epoch, hardness, digits) if wide else _newton(problem, entries, pairs, hardness, digits),
        expected=_expected(problem, hardness, digits),
        hardness=hardness,
        density=entries / max(problem.n_cols, 1),
        tall=_tall(problem),
        wide=wide,
        adrift=_adrift(problem, n * hardness, wide),
        smallest=smallest,
        largest=largest,
    )


def _scattered(problem: Any) -> bool:
    return bool(problem.storage.startswith("csr"))


def _side(problem: Any) -> int:
    """Of a matrix over the columns."""
    return int(problem.n_cols + (problem.intercept != "none"))


def _tall(problem: Any) -> bool:
    return bool(problem.n_rows >= 2 * _side(problem))


def _adrift(problem: Any, pull: float, wide: bool) -> bool:
    if problem.intercept != "free":
        return False
    if problem.loss == "logistic":
        return pull <= ADRIFT_LOGISTIC
    return pull <= (ADRIFT_WIDE if wide and not loss_named(problem.loss).smooth else ADRIFT)


def _squared(problem: Any) -> bool:
    loss = loss_named(problem.loss)
    return loss.smooth and not loss.bounded


def _expected(problem: Any, hardness: float, digits: float) -> float:
    """Epochs that descent may need. Of signs of which nearly all are alike most rows soon come to rest."""
    spread = 1.0
    if loss_named(problem.loss).targets == "sign":
        weight = problem.sample_weight
        mean = float(problem.y.mean() if weight is None else problem.y @ weight / weight.sum())
        spread = math.sqrt(max(0.0, 1 - mean * mean))
    if problem.loss == "logistic":
        digit, hard = 0.65, 0.6
    else:
        digit, hard = (1.7, 2.0) if _squared(problem) else (1.4, 0.45)
    return min(1 + digits * (digit + hard * spread * float(hardness**0.8)), MOST_EXPECTED)


def _newton(problem: Any, entries: float, pairs: float, hardness: float, digits: float) -> float:
    """The work of passes, Grams and factors of a matrix over the columns."""
    n, d = problem.n_rows, _side(problem)
    cold = not _core.newton_samples(problem._core)  # it does not begin on a sample of the rows
    size = min(math.log10(1 + hardness), 4.0)  # it hardly cares beyond
    digits = min(digits, 6.0)  # the last ones come by themselves
    if problem.loss == "logistic":
        passes, grams = 3 + 0.5 * digits, 2 + 1.5 * size * cold
    elif _squared(problem):
        passes, grams = 3 + 0.3 * digits + (2 + 0.8 * size) * cold, 2.0
    else:
        passes, grams = 3 + (1 + 0.4 * size) * digits + 2 * cold, 2.0 + cold
    a_pass = n * (PASS_ROW + (PASS_SCATTERED if _scattered(problem) else PASS_ENTRY) * entries)
    # with packed rows wide instructions multiply many at a time
    gram = n * (PRODUCT * min(d, n) * d if _core.packs_rows(problem._core) else PAIR * pairs)
    work = passes * a_pass + grams * gram + 0.5 * passes * CUBE * min(d, n) ** 3
    if not _tall(problem) and not loss_named(problem.loss).smooth:  # every row is in the zone for long
        work *= 2
    return float(work * (SHARED if n * entries >= SMALL else 1.0))


def _wide(problem: Any, epoch: float, hardness: float, digits: float) -> float:
    """The work of steps that factor rows of the zone, or none; no more than what descent could win."""
    smooth = loss_named(problem.loss).smooth
    steps = 4 + digits if smooth else 6 * digits
    work = steps * (epoch + SHARED * CUBE * float(min(problem.n_rows, MANY_ROWS)) ** 3)
    if problem.loss == "logistic" and hardness <= TOO_HARD:  # no rows are factored
        work = min(work, steps * PRODUCTS * epoch)
    return float(min(work, (MOST_EPOCHS_SMOOTH if smooth else MOST_EPOCHS) * epoch))


def run(problem: Any, control: Any, start: Start, options: Mapping[str, Any]) -> Answer:
    constant = _constant(problem)
    if constant is not None:
        return constant
    plan = forecast(problem, control.tol)
    seed = {"seed": options["seed"]}
    first = None  # where descent came to rest, if it did
    if plan.newton_first:
        answer = _newton_or_descent(problem, control, start, seed)
        why = f"newton: {plan}"
    else:
        gentle = start.dual is None and _gentle(problem, plan)
        epochs = max(plan.patience, 10.0)
        least = max(PART * epochs, DOZEN if plan.wide or epochs > 100 else 0.0)
        descent = {"init": "sgd" if gentle else "zero", "patience": epochs, "least_epochs": least}
        answer = DCD.run(problem, control, start, {**DCD.options, **seed, **descent})
        why = f"dcd{', its first epoch stochastic' if gentle else ''}: {plan}"
        reason = "more than Newton costs were still to go"
        if control.status == "stalled" and _stuck(control):
            reason = "no row moved any more"
            first = replace(answer, certificate=control.certificate)
            control.reopen()
            control.over(answer.epochs)
        if not control.stopped:
            why += f"; after {answer.epochs:.0f} epochs {reason}: newton from its point"
            answer = _go_on(problem, control, answer, seed)
    if not control.stopped and not answer.judged:
        judge(problem, control, answer)
    if answer.why:  # memory was short
        why += f"; {answer.why}"
    if _stuck(control) and answer.solver != "dcd":
        answer = finish(problem, control, replace(answer, why=why), max(control.tol, ENOUGH))
        why = answer.why
        if _stuck(control):
            if first is None:
                answer = _descent_instead(problem, control, answer, options)
                why += "; newton stalled: dcd from the start"
            else:
                _better_halves(problem, control, answer, first)
                control.stop("stalled")
    return replace(answer, why=why, wild=plan.wild)


def _gentle(problem: Any, plan: Forecast) -> bool:
    """Is a stochastic epoch a better beginning?"""
    loss = loss_named(problem.loss)
    if loss.targets == "sign" and loss.bounded:
        return plan.hardness <= GENTLE_SIGNS
    return plan.hardness <= GENTLE and plan.density <= THIN


def _go_on(problem: Any, control: Any, first: Answer, seed: Mapping[str, Any]) -> Answer:
    """Newton from where descent came."""
    control.end_solver(first.epochs)
    answer = _newton_or_descent(problem, control, Start(first.dual, first.intercept, first.coef), seed)
    return replace(
        answer,
        solver="dcd, newton" if answer.solver == "newton" else "dcd",
        n_iter=first.n_iter + answer.n_iter,
        epochs=first.epochs + answer.epochs,
    )


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
    Newton stalls; descent keeps β itself and may still get there (less is tried where all that is left is rounding).
    The better primal and the better dual point count."""
    hidden = control.certificate.gap <= control.certificate.rounding
    stalled = replace(stalled, certificate=control.certificate)
    control.end_solver(stalled.epochs - control.epochs)
    control.reopen()
    epochs = min(3e4, max(20.0, (1e7 if hidden else 1e9) / max(problem._matrix.entries, 1)))
    patience = {"patience": epochs, "least_epochs": 0.05 * epochs}
    answer: Answer = DCD.run(problem, control, Start(), {**DCD.options, "seed": options["seed"], **patience})
    answer.epochs += stalled.epochs
    if not answer.judged:
        judge(problem, control, answer)
    _better_halves(problem, control, answer, stalled)
    control.stop("stalled")
    return replace(answer, solver=f"{stalled.solver}, dcd", judged=True, n_iter=stalled.n_iter + answer.n_iter)


def _better_halves(problem: Any, control: Any, answer: Answer, other: Answer) -> None:
    """The better primal and the better dual point of both, in `answer`, judged."""
    now, then = control.certificate, other.certificate
    if now.relative_gap <= control.tol or (now.primal <= then.primal and now.dual >= then.dual):
        return
    if then.primal < now.primal:
        answer.coef, answer.intercept = other.coef, other.intercept
    if then.dual > now.dual:
        answer.dual = other.dual
    judge(problem, control, answer)


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
