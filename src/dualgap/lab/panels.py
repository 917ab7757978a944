"""What a figure shows, as data: curves with spreads, dots with bars; and the ways records become them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dualgap.lab.results import Record, Records, number, spread

Numbers = Sequence[float]


@dataclass(frozen=True)
class Curve:
    """A line or a row of points with a spread; ``solver`` gives the colour, ``style`` the dash."""

    label: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None
    solver: str = ""
    style: int = 0
    mark: bool = False  # a marker at each point and bars, instead of a band
    theory: bool = False  # a rate drawn beside: thin, grey, dashed


@dataclass(frozen=True)
class Dot:
    """One row of a dot plot: a value with its quartiles."""

    label: str
    middle: float
    low: float
    high: float
    solver: str = ""
    style: int = 0
    note: str = ""  # instead of a value: why there is none


@dataclass(frozen=True)
class Panel:
    """One picture: curves over two axes, or dots over one."""

    title: str
    xlabel: str
    ylabel: str = ""
    curves: Sequence[Curve] = ()
    dots: Sequence[Dot] = ()
    xscale: str = "log"
    yscale: str = "log"
    xunit: str = ""  # "s": ticks say ms and s
    yunit: str = ""  # "%": ticks say per cent
    flip: bool = False  # small x to the right, as with tolerances
    ylim: tuple[float | None, float | None] = (None, None)
    group: str = ""  # panels of one group are also a figure of their own, NAME-GROUP

    @property
    def empty(self) -> bool:
        return not self.dots and not any(len(curve.x) for curve in self.curves)


def dots(records: Records, name: str, title: str, xlabel: str, **axes: Any) -> Panel:
    """A dot for each method: the middle and quartiles of a number over its records."""
    rows = []
    for method in records.methods:
        some = records.where(method=method.title)
        found = some.spread(name)
        if found is None and len(some):
            gap = some.spread("relative_gap")
            note = f"ended at a gap of {number(gap.middle, 1)}" if gap else "did not get there"
            rows.append(Dot(method.title, np.nan, np.nan, np.nan, method.solver, method.style, note))
        elif found is not None:
            rows.append(Dot(method.title, found.middle, found.low, found.high, method.solver, method.style))
    return Panel(title, xlabel, dots=rows, **axes)


def points(
    records: Records, x: Callable[[Record], float], y: str | Callable[[Record], Any], **style: Any
) -> list[Curve]:
    """A curve of points for each method: at each x the middle and quartiles of a number over the repeats."""
    found = []
    for method in records.methods:
        groups: dict[float, list[float]] = {}
        for row in records.where(method=method.title):
            value = row.get(y) if isinstance(y, str) else y(row)
            if isinstance(value, (int, float)) and np.isfinite(value):
                groups.setdefault(float(x(row)), []).append(float(value))
        spreads = [(at, spread(values)) for at, values in sorted(groups.items())]
        kept = [(at, s) for at, s in spreads if s is not None]
        if kept:
            found.append(
                Curve(
                    method.title,
                    [at for at, _ in kept],
                    [s.middle for _, s in kept],
                    [s.low for _, s in kept],
                    [s.high for _, s in kept],
                    solver=method.solver,
                    style=method.style,
                    mark=True,
                )
            )
    return [replace(curve, **style) for curve in found]


def curves(
    records: Records,
    y: str | Callable[[Record], Numbers],
    x: str = "seconds",
    *,
    floor: float = 1e-9,
    lowest: bool = True,
) -> list[Curve]:
    """A curve with its band for each method: the middle and quartiles over the repeats of what the trace shows."""
    found = []
    for method in records.methods:
        lines = []
        for row in records.where(method=method.title):
            line = row.get("curve")
            if line and len(line[x]):
                values = line[y] if isinstance(y, str) else y(row)
                lines.append((np.array(line[x], float), np.array(values, float)))
        if lines:
            middle = band(lines, floor=floor, lowest=lowest)
            found.append(replace(middle, label=method.title, solver=method.solver, style=method.style))
    return found


def band(lines: Sequence[tuple[Any, Any]], *, floor: float, lowest: bool, count: int = 120) -> Curve:
    """Quartiles of several lines over a common logarithmic grid, up to where half of them have ended.

    Between two judged moments a line is drawn straight in the logarithms; one that has ended stays where it ended.
    """
    clean = [_positive_part(x, np.minimum.accumulate(y) if lowest else y, floor, lowest) for x, y in lines]
    end = float(np.median([x[-1] for x, _ in clean]))
    start = min(max(x[0] for x, _ in clean), end)  # where all of them have been judged once
    grid = np.geomspace(start, max(end, start * 1.01), count)
    table = np.array([np.interp(np.log(grid), np.log(x), y, left=np.nan) for x, y in clean])
    enough = np.isfinite(table).sum(axis=0) * 2 >= len(lines)
    grid, table = grid[enough], table[:, enough]
    if not len(grid):
        return Curve("", [], [])
    low, middle, high = np.nanquantile(table, [0.25, 0.5, 0.75], axis=0)
    if lowest:
        low, middle, high = np.exp(low), np.exp(middle), np.exp(high)
    return Curve("", grid.tolist(), middle.tolist(), low.tolist(), high.tolist())


def _positive_part(x: Any, y: Any, floor: float, logarithm: bool) -> tuple[Any, Any]:
    """The line from its first moment after 0 to its end or the floor; y as a logarithm where asked."""
    keep = x > 0
    x, y = (x[keep], y[keep]) if keep.any() else (np.array([1e-6]), y[-1:])
    if logarithm:
        y = np.maximum(y, floor)
        last = int(np.argmax(y <= floor)) if (y <= floor).any() else len(y) - 1
        x, y = x[: last + 1], np.log(y[: last + 1])
    return x, y


def distance(best: Mapping[Any, float], key: Callable[[Record], Any]) -> Callable[[Record], Numbers]:
    """(P − P*) / |P*| along a record's curve, P* the best value known of its problem."""

    def along(row: Record) -> Numbers:
        optimum = best[key(row)]
        return [(p - optimum) / max(abs(optimum), 1e-300) for p in row.values["curve"]["primal"]]

    return along


def optima(records: Records, key: Callable[[Record], Any]) -> dict[Any, float]:
    """The lowest certified primal value of each problem, by any method."""
    found: dict[Any, float] = {}
    for row in records.done:
        values = [row.get("primal"), *(row.get("curve") or {}).get("primal", [])]
        lowest = min(value for value in values if value is not None)
        found[key(row)] = min(found.get(key(row), np.inf), lowest)
    return found
