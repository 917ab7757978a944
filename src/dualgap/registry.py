"""The two lists: losses (from the core's list.hpp) and solvers (one file each in dualgap.solvers)."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from dualgap import _core
from dualgap.data import as_number
from dualgap.errors import InvalidData, UnsupportedProblem

if TYPE_CHECKING:
    from dualgap.solvers import Answer


@dataclass(frozen=True)
class Loss:
    """A loss: what ``Problem(loss=name)`` minimises over the scores z."""

    name: str
    formula: str
    targets: str
    smooth: bool
    kinked: bool
    bounded: bool
    parameter: str
    default: float
    low: float
    high: float

    def parameter_value(self, given: Mapping[str, Any]) -> float:
        unknown = [name for name in given if name != self.parameter]
        if unknown:
            takes = f"takes {self.parameter!r}" if self.parameter else "takes no parameter"
            raise InvalidData(f"loss={self.name!r} {takes}, not {unknown[0]!r}.")
        value = as_number(given.get(self.parameter, self.default), self.parameter)
        if self.parameter and not self.low < value < self.high:
            least = "0 or more" if -1 < self.low < 0 else f"above {self.low:g}"
            most = f" and below {self.high:g}" if self.high < 1e300 else ""
            raise InvalidData(f"{self.parameter}={value:g} must be {least}{most}.")
        return value


@cache
def _losses() -> tuple[Loss, ...]:
    return tuple(Loss(**entry) for entry in _core.losses())


def losses() -> list[Loss]:
    """Every loss, with its formula and parameter.

    >>> import dualgap as dg
    >>> [loss.name for loss in dg.losses()][:3]
    ['hinge', 'squared_hinge', 'smoothed_hinge']
    """
    return list(_losses())


def loss_names(*, kinked: bool = True, but: str = "") -> tuple[str, ...]:
    """What a solver takes: every loss, without the kinked ones or without one that it cannot do.

    >>> loss_names(kinked=False)[:3]
    ('squared_hinge', 'smoothed_hinge', 'logistic')
    """
    return tuple(loss.name for loss in _losses() if loss.name != but and (kinked or not loss.kinked))


def loss_named(name: str) -> Loss:
    for loss in _losses():
        if loss.name == name:
            return loss
    raise InvalidData(f"loss={name!r} is not one of {', '.join(loss.name for loss in _losses())}.")


class Run(Protocol):
    """A solver's entry: from a problem, a control and a start to an answer (see dualgap.solvers.Answer)."""

    def __call__(self, problem: Any, control: Any, start: Any, options: Mapping[str, Any]) -> Answer: ...


@dataclass(frozen=True)
class Solver:
    """A solver: what it takes and where it comes from. ``options`` are its own keywords with their defaults.

    ``run`` gets a value for each of them, and besides them always ``seed``, from ``random_state``.
    """

    name: str
    summary: str
    source: str
    losses: tuple[str, ...]
    intercepts: tuple[str, ...]
    run: Run = field(repr=False)
    storages: tuple[str, ...] = ("dense", "csr")
    options: Mapping[str, Any] = field(default_factory=dict)
    exact: bool = True
    warm_start: bool = True
    threaded: bool = False
    problems: tuple[str, ...] = ("linear",)
    memory: str = "O(n + p)"
    max_rows: int | None = None

    def takes(self, problem: Any) -> str:
        """What stands in the way of this problem, or nothing."""
        kind = getattr(problem, "kind", "linear")
        if kind not in self.problems:
            return f"{kind} problems"
        if kind == "kernel":
            return ""
        if problem.loss not in self.losses:
            return f"loss={problem.loss!r}"
        if problem.intercept not in self.intercepts:
            return f"intercept={problem.intercept!r}"
        if problem.storage.split()[0] not in self.storages:
            return f"{problem.storage} data"
        if self.max_rows is not None and problem.n_rows > self.max_rows:
            return f"{problem.n_rows} rows (at most {self.max_rows})"
        return ""

    def check(self, problem: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options with defaults filled in, or a sentence that names what can."""
        obstacle = self.takes(problem)
        if obstacle:
            able = [solver.name for solver in _solvers() if not solver.takes(problem)]
            raise UnsupportedProblem(f"solver={self.name!r} cannot do {obstacle}; these can: {', '.join(able)}.")
        unknown = [name for name in options if name not in self.options]
        if unknown:
            known = ", ".join(self.options) or "none"
            raise InvalidData(f"solver={self.name!r} has no option {unknown[0]!r}; its options: {known}.")
        return {**self.options, **options}


# One line a solver: its file in dualgap.solvers, in the order they are listed.
_FILES = (
    "auto",
    "dcd",
    "pair_dcd",
    "newton",
    "sdca",
    "smo",
    "decomposition",
    "tron",
    "pcd",
    "pegasos",
    "oneclass_dcd",
    "svdd_dcd",
    "cutting_plane",
    "projected_gradient",
    "active_set",
    "ellipsoid",
)


@cache
def _solver(file: str) -> Solver:
    solver: Solver = importlib.import_module(f"dualgap.solvers.{file}").SOLVER
    return solver


def _solvers() -> tuple[Solver, ...]:
    return tuple(_solver(file) for file in _FILES)


def solvers() -> list[Solver]:
    """Every solver: name, one sentence, source, what it takes.

    >>> import dualgap as dg
    >>> "dcd" in [solver.name for solver in dg.solvers()]
    True
    """
    return list(_solvers())


def solver_named(name: str) -> Solver:
    """The solver of that name; only its own file is imported."""
    file = str(name).replace("-", "_")
    if file in _FILES and _solver(file).name == name:
        return _solver(file)
    raise UnsupportedProblem(f"solver={name!r} is not one of {', '.join(solver.name for solver in _solvers())}.")
