"""What an experiment is made of: samples of data, methods, settings, a measure, panels and checks."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import itertools
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dualgap.lab.panels import Panel
    from dualgap.lab.results import Records


class Missing(Exception):
    """Something a cell needs is not here: a solver, a problem class, a peer."""


@dataclass(frozen=True)
class Sample:
    """Rows drawn from a named set: which, how many, and how they are prepared.

    ``rows`` None is all of them (after ``test`` were set aside); ``test`` is a share below 1 or a number of rows, drawn
    at random, or "given" for the set's own test part. ``columns`` keeps a random choice of columns. ``prepare``:
    "as is", "standard" (mean 0, deviation 1), "unit" (the longest row has norm 1). ``positive`` is the class
    that counts as +1 in a set of several.
    """

    name: str
    rows: int | None = None
    test: float | int | str = 0
    columns: int | None = None
    prepare: str = "as is"
    positive: float | None = None
    label: str = ""

    @property
    def title(self) -> str:
        return self.label or (f"{self.name}, {self.rows:,} rows" if self.rows else self.name)


@dataclass(frozen=True)
class Method:
    """A solver with its options, or a peer ("sklearn:LinearSVC"); ``problem`` overrides the problem's keywords."""

    solver: str
    label: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    problem: Mapping[str, Any] = field(default_factory=dict)
    style: int = 0  # which dash and marker of the solver's colour

    @property
    def title(self) -> str:
        return self.label or self.solver


@dataclass(frozen=True)
class Cell:
    """One thing to run: a point of data × problem × method × setting × repeat."""

    experiment: str
    sample: Sample
    problem: Mapping[str, Any]
    method: Method
    setting: Mapping[str, Any]
    repeat: int
    seed: int

    def key(self, salt: str) -> str:
        """The name of the cell's file: it changes with anything that would change the numbers."""
        text = json.dumps([dataclasses.asdict(self), salt], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Case:
    """What a measure gets: the data in memory and the cell that asked for it."""

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    problem: Mapping[str, Any]
    method: Method
    setting: Mapping[str, Any]
    seed: int


@dataclass(frozen=True)
class Check:
    """One part of a claim with the number that decides it; ``holds`` None: the numbers do not decide."""

    claim: str
    holds: bool | None
    number: str


@dataclass(frozen=True)
class Note:
    """A table beside the panels: a heading row and rows of text."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Experiment:
    """A declared experiment; see ``docs/lab.md`` for one in 20 lines.

    ``quick`` names the fields that ``--quick`` replaces. ``only`` may leave out combinations that make no sense.
    """

    name: str
    title: str
    question: str
    claim: str
    source: str
    data: Sequence[Sample]
    methods: Sequence[Method]
    measure: Callable[[Case], dict[str, Any]]
    panels: Callable[[Records], Sequence[Panel]]
    checks: Callable[[Records], Sequence[Check]]
    problems: Sequence[Mapping[str, Any]] = ({"loss": "hinge", "C": 1.0},)
    settings: Sequence[Mapping[str, Any]] = ({"tol": 1e-3},)
    repeats: int = 3
    timeout: float = 120.0
    only: Callable[[Cell], bool] = lambda cell: True
    notes: Callable[[Records], Sequence[Note]] = lambda records: ()
    how: str = ""
    quick: Mapping[str, Any] = field(default_factory=dict)

    def at(self, quick: bool) -> Experiment:
        return dataclasses.replace(self, **self.quick) if quick else self

    def cells(self, seed: int) -> list[Cell]:
        """Every cell, the ones of one sample together so that a worker loads it once."""
        grid = itertools.product(self.data, range(self.repeats), self.problems, self.settings, self.methods)
        every = (
            Cell(self.name, sample, {**problem, **method.problem}, method, setting, repeat, seed + repeat)
            for sample, repeat, problem, setting, method in grid
        )
        return [cell for cell in every if self.only(cell)]

    def salt(self) -> str:
        """The measure's own source: cells measured by an older one are measured again."""
        try:
            return inspect.getsource(self.measure)
        except (OSError, TypeError):
            return self.measure.__qualname__
