"""The numbers of an experiment: records of cells, picked and summed up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.lab.declare import Cell, Experiment, Method

SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Record:
    """A cell with what became of it: "done", "failed", "timeout", "missing" or "not run"."""

    cell: Cell
    status: str = "not run"
    values: Mapping[str, Any] = field(default_factory=dict)
    error: str = ""

    def get(self, name: str) -> Any:
        return self.values.get(name)


@dataclass(frozen=True)
class Spread:
    """The middle and the quartiles of repeats."""

    middle: float
    low: float
    high: float
    count: int

    def __str__(self) -> str:
        if self.low == self.high:
            return number(self.middle)
        return f"{number(self.middle)} [{number(self.low)}, {number(self.high)}]"


class Records:
    """The records of one experiment; ``where`` picks some, ``spread`` sums up a number over repeats."""

    def __init__(self, experiment: Experiment, rows: Sequence[Record]) -> None:
        self.experiment = experiment
        self.rows = list(rows)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def done(self) -> Records:
        return Records(self.experiment, [row for row in self.rows if row.status == "done"])

    @property
    def lost(self) -> list[Record]:
        return [row for row in self.rows if row.status != "done"]

    def where(self, test: Callable[[Cell], bool] = lambda cell: True, **wanted: Any) -> Records:
        """Done records whose cell passes the test and has these: titles, problem or setting values."""
        return Records(self.experiment, [row for row in self.done if test(row.cell) and _has(row.cell, wanted)])

    def numbers(self, name: str) -> list[float]:
        """The values that are numbers, in the order of the cells."""
        found = (row.get(name) for row in self.rows)
        return [float(value) for value in found if isinstance(value, (int, float)) and np.isfinite(value)]

    def spread(self, name: str) -> Spread | None:
        return spread(self.numbers(name))

    def mean(self, name: str) -> float:
        values = self.numbers(name)
        return float(np.mean(values)) if values else float("nan")

    @property
    def methods(self) -> list[Method]:
        return list({row.cell.method.title: row.cell.method for row in self.rows}.values())

    @property
    def samples(self) -> list[str]:
        return list(dict.fromkeys(row.cell.sample.title for row in self.rows))


def spread(numbers: Sequence[float]) -> Spread | None:
    if not len(numbers):
        return None
    low, middle, high = (float(value) for value in np.quantile(numbers, [0.25, 0.5, 0.75]))
    return Spread(middle, low, high, len(numbers))


def _has(cell: Cell, wanted: Mapping[str, Any]) -> bool:
    known: dict[str, Any] = {**cell.problem, **cell.setting, "rows": cell.sample.rows, "columns": cell.sample.columns}
    known |= {"sample": cell.sample.title, "method": cell.method.title, "data": cell.sample.name}
    known |= {"solver": cell.method.solver, "repeat": cell.repeat}
    return all(known.get(name) == value for name, value in wanted.items())


def number(value: float | None, digits: int = 2) -> str:
    """A number as a person writes it."""
    if value is None or not np.isfinite(value):
        return "–"
    size = abs(value)
    if size and (size >= 1e5 or size < 1e-3):
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        raised = str(int(exponent)).translate(SUPERSCRIPT)
        return f"{mantissa}·10{raised}" if float(mantissa) != 1 else f"10{raised}"
    return f"{float(f'{value:.{max(digits, 2)}g}'):,.10f}".rstrip("0").rstrip(".")


def power(value: float) -> str:
    """A tolerance as a power of ten, where it is one."""
    exponent = round(np.log10(value))
    if abs(value / 10.0**exponent - 1) > 1e-9:
        return number(value)
    return f"10{str(exponent).translate(SUPERSCRIPT)}"


def seconds(value: float | None) -> str:
    """A duration with its unit."""
    if value is None or not np.isfinite(value):
        return "–"
    for limit, scale, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms")):
        if value < limit:
            return f"{number(value * scale)} {unit}"
    return f"{number(value, 3)} s"


def geometric_mean(values: Sequence[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if len(values) else float("nan")


@dataclass(frozen=True)
class Slope:
    """A straight line through logarithms: y ~ x^slope, with a 95 % interval."""

    slope: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.slope:.2f} (95 %: {self.low:.2f} to {self.high:.2f})".replace("-", "−")


def power_law(x: Sequence[float], y: Sequence[float]) -> Slope | None:
    """The exponent of y against x by least squares on logarithms; None with fewer than three points."""
    return line(np.log(x), np.log(y)) if len(x) >= 3 and len(set(x)) >= 2 else None


def line(x: Any, y: Any) -> Slope | None:
    from scipy import stats

    if len(x) < 3:
        return None
    found = stats.linregress(x, y)
    half = float(stats.t.ppf(0.975, len(x) - 2) * found.stderr)
    return Slope(float(found.slope), float(found.slope) - half, float(found.slope) + half)


def ratios(records: Records, slow: str, fast: str, name: str = "seconds", **wanted: Any) -> list[float]:
    """slow / fast of a number, over cells that differ only in the method.

    A fit that did not get there counts with the time it worked; a pair where neither did is left out.
    """
    found: dict[str, dict[str, Record]] = {}
    for row in records.where(**wanted):
        cell = row.cell
        if cell.method.title in (slow, fast):
            where = (cell.sample.title, sorted(cell.setting.items(), key=str), cell.repeat, cell.problem.get("loss"))
            found.setdefault(str(where), {})[cell.method.title] = row
    pairs = [(pair[slow], pair[fast]) for pair in found.values() if len(pair) == 2]
    return [_worked(a, name) / _worked(b, name) for a, b in pairs if a.get(name) or b.get(name)]


def _worked(row: Record, name: str) -> float:
    return max(float(row.get(name) or row.get("solver_seconds") or row.get("whole_seconds") or 0.0), 1e-7)
