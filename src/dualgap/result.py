"""What comes back: status, certificate, trace, and the result that holds them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from dualgap.data import Array


class Status(StrEnum):
    """Why a fit ended. It is also a str.

    >>> import dualgap as dg
    >>> dg.solve(dg.Problem([[1.0], [-1.0]], [1, -1])).status == "optimal"
    True
    """

    optimal = "optimal"  # the judge's relative gap is within tol
    max_iter = "max_iter"
    max_time = "max_time"
    interrupted = "interrupted"
    stalled = "stalled"  # floating point ends the progress; the gap says where


@dataclass(frozen=True)
class Certificate:
    """Proof of how good a point is, recomputed from the data by a judge that trusts no solver.

    For every (w, b) and every feasible β, ``primal`` = P(w, b) ≥ P* ≥ D(β) = ``dual``: so the objective of this model
    is at most ``gap`` above the best possible one, whoever made it and however.

    Attributes
    ----------
    primal, dual : float
        P(w, b) and D(β) of the stated problem, float64, compensated sums.
    gap : float
        primal − dual.
    relative_gap : float
        gap / max(|primal|, |dual|); 0 where the gap is within ``rounding``, so that an optimum of 0 is optimal too. But
        where ``rounding`` is above a millionth of an optimum that is not 0, it takes the gap's place.
    rounding : float
        A first-order bound on the judge's own floating-point error in ``gap``.
    moved : float
        The largest change made to a βᵢ to put it inside its bounds and, for a free intercept, onto Σβ = 0.

    Examples
    --------
    >>> import dualgap as dg
    >>> problem = dg.Problem([[1.0], [-1.0]], [1, -1])
    >>> dg.certify(problem, [1.0], dual=[0.5, -0.5])
    Certificate(primal=0.5, dual=0.5, gap=0, relative_gap=0)
    """

    primal: float
    dual: float
    gap: float
    relative_gap: float
    rounding: float = 0.0
    moved: float = 0.0

    @classmethod
    def from_core(cls, raw: Any) -> Certificate:
        return cls(raw.primal, raw.dual, raw.gap, raw.relative_gap, raw.rounding, raw.moved)

    def optimal(self, tol: float = 1e-3) -> bool:
        """Is the relative gap within tol?"""
        return self.relative_gap <= tol

    def __repr__(self) -> str:
        return (
            f"Certificate(primal={self.primal:.9g}, dual={self.dual:.9g}, "
            f"gap={self.gap:.3g}, relative_gap={self.relative_gap:.3g})"
        )


class Trace:
    """How a fit went: one row for each time the judge looked. Seconds exclude judging.

    Columns ``epoch``, ``seconds``, ``primal``, ``dual``, ``gap``, ``active`` and ``solver`` are arrays.

    >>> import dualgap as dg
    >>> trace = dg.solve(dg.Problem([[1.0], [-1.0]], [1, -1]), trace=True).trace
    >>> bool(trace.gap[-1] <= 1e-3 * trace.primal[-1]), list(trace.to_dict()) == list(trace.columns)
    (True, True)
    """

    columns = ("epoch", "seconds", "primal", "dual", "gap", "active", "solver")

    def __init__(self, rows: list[Any], why: str = "") -> None:
        self.why = why  # just these solvers ran
        for name in self.columns:
            setattr(self, name, np.array([getattr(row, name) for row in rows]))

    epoch: Array
    seconds: Array
    primal: Array
    dual: Array
    gap: Array
    active: npt.NDArray[np.int64]
    solver: npt.NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.epoch)

    def to_dict(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name."""
        return {name: getattr(self, name) for name in self.columns}

    def to_frame(self) -> Any:
        """A pandas data frame, or a polars one where only that is installed."""
        try:
            import pandas
        except ImportError:
            import polars

            return polars.DataFrame(self.to_dict())
        return pandas.DataFrame(self.to_dict())

    def plot(self, ax: Any = None) -> Any:
        """Draws the relative gap against seconds, a colour for each solver that ran; returns the axes."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.subplots(figsize=(6, 4), layout="constrained")[1]
        size = np.maximum(np.maximum(np.abs(self.primal), np.abs(self.dual)), 1e-300)
        relative = np.maximum(self.gap / size, 1e-16)
        for name in dict.fromkeys(self.solver):
            rows = self.solver == name
            ax.plot(self.seconds[rows], relative[rows], marker=".", label=name)
        ax.set(yscale="log", xlabel="seconds (judging not counted)", ylabel="relative duality gap")
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
        if len(self):
            ax.legend(frameon=False)
        return ax

    def __repr__(self) -> str:
        if not len(self):
            return "Trace(empty)"
        ends = np.flatnonzero(np.append(self.solver[1:] != self.solver[:-1], True))
        when = [f"{self.solver[k]} to epoch {self.epoch[k]:.3g} ({self.seconds[k]:.3g} s)" for k in ends]
        about = f"Trace({len(self)} rows: {', '.join(when)}; gap {self.gap[-1]:.3g})"
        return f"{about}\n{self.why}" if self.why else about


@dataclass
class Result:
    """The answer to ``solve``: a point, its certificate, and how it was reached.

    A kernel problem has no ``coef`` (it is empty): its scores are Σ βᵢ k(x, xᵢ) + intercept over the ``support``.
    ``scales`` are those of the columns where "auto" found them wildly different: the root mean square of their entries
    among some rows, 0 of fewer than four.
    ``threshold`` is what ν-problems choose besides: ρ in classification, ε in regression; with a kernel also ρ of one
    class and R² of a ball.

    >>> import dualgap as dg
    >>> result = dg.solve(dg.Problem([[1.0], [-1.0]], [1, -1]), tol=1e-6)
    >>> result.coef.round(6).tolist(), result.intercept, str(result.status)
    ([1.0], 0.0, 'optimal')
    """

    coef: Array
    intercept: float
    dual: Array
    certificate: Certificate
    status: Status
    solver: str
    n_iter: int
    epochs: float
    seconds: float
    trace: Trace | None = None
    tol: float = 1e-3
    why: str = field(default="", repr=False)
    scales: Array | None = field(default=None, repr=False)
    threshold: float = 0.0

    @property
    def support(self) -> npt.NDArray[np.intp]:
        """The rows whose β is not zero."""
        return np.flatnonzero(self.dual)

    def _rows(self) -> list[tuple[str, str]]:
        c = self.certificate
        nonzero = int(np.count_nonzero(self.dual))
        rows = [
            ("status", f"{self.status} (tol {self.tol:g})"),
            ("relative gap", f"{c.relative_gap:.3g}"),
            ("primal", f"{c.primal:.9g}"),
            ("dual", f"{c.dual:.9g}"),
            ("solver", self.solver),
            ("epochs", f"{self.epochs:.3g}"),
            ("seconds", f"{self.seconds:.3g}"),
            ("coef", f"{self.coef.size or 'no'} values, intercept {self.intercept:.6g}"),
            ("dual point", f"{nonzero} of {self.dual.size} rows not zero"),
        ]
        return [*rows, ("why", self.why)] if self.why else rows

    def __repr__(self) -> str:
        return "Result\n" + "\n".join(f"  {name:<13} {value}" for name, value in self._rows())

    def _repr_html_(self) -> str:
        import html

        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>"
            for name, value in self._rows()
        )
        return f"<table>{cells}</table>"


@dataclass(frozen=True)
class State:
    """What a callback sees, once an epoch.

    >>> import dualgap as dg
    >>> gaps = []
    >>> result = dg.solve(dg.Problem([[1.0], [-1.0]], [1, -1]), callback=lambda state: gaps.append(state.gap))
    >>> bool(gaps[-1] <= 1e-3 * result.certificate.primal)
    True
    """

    epoch: float
    seconds: float
    primal: float
    dual: float
    gap: float
    coef: Array
    intercept: float
    solver: str


def state_callback(callback: Callable[[State], Any]) -> Callable[[Any, Array, float], bool]:
    """The core's moment as the state a user's callback gets."""

    def call(moment: Any, coef: Array, intercept: float) -> bool:
        state = State(
            moment.epoch, moment.seconds, moment.primal, moment.dual, moment.gap, coef, intercept, moment.solver
        )
        return callback(state) is True

    return call
