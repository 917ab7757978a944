"""Panels drawn: each as an SVG that follows the page's colours, and a whole experiment as one SVG and one PNG file."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

from dualgap.lab import palette
from dualgap.lab.palette import TONES
from dualgap.lab.panels import Curve, Panel
from dualgap.lab.results import SUPERSCRIPT

WIDE, HIGH = 4.3, 3.0  # inches of one panel
INK, MUTED, GRID, PAPER = (TONES[name][0] for name in ("ink", "muted", "grid", "paper"))
FONT = 9.5
LABEL = 9.0
CHARACTER = 0.074  # inches of one, about
KEY = 0.24  # inches of a label's piece of line, where colour alone does not say which curve it means
STYLE: Any = {
    "svg.fonttype": "none",
    "font.size": FONT,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.7,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelsize": LABEL,
    "ytick.labelsize": LABEL,
    "text.color": INK,
    "figure.facecolor": PAPER,
    "axes.facecolor": "none",
    "savefig.facecolor": PAPER,
}


def draw_all(panels: Sequence[Panel], name: str, folder: Path) -> list[str]:
    """Writes NAME.svg and NAME.png with every panel, and returns each panel as SVG for the page."""
    shown = [panel for panel in panels if not panel.empty]
    folder.mkdir(parents=True, exist_ok=True)
    if not shown:
        return []
    files = {name: shown}
    files |= {f"{name}-{group}": [p for p in shown if p.group == group] for group in {p.group for p in shown} - {""}}
    for stem, some in files.items():
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": stem}):
            together = _figure(some, columns=2 if len(some) == 4 else min(len(some), 3))
            (folder / f"{stem}.svg").write_text(_alone(_svg(together)), encoding="utf-8")
            together.savefig(folder / f"{stem}.png", dpi=160)
    inline = []
    for place, panel in enumerate(shown):
        with matplotlib.rc_context({**STYLE, "svg.hashsalt": f"{name}-{place}"}):
            inline.append(_inline(_svg(_figure([panel], columns=1), transparent=True), panel, f"{name}-{place}"))
    return inline


def _figure(panels: Sequence[Panel], columns: int) -> Any:
    from matplotlib.figure import Figure

    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(WIDE * columns, HIGH * rows))
    for place, panel in enumerate(panels):
        row, column = divmod(place, columns)
        right = _right_margin(panel)
        left = _left_margin(panel)
        box = (column * WIDE + left, (rows - 1 - row) * HIGH + 0.52, WIDE - left - right, HIGH - 0.52 - 0.38)
        axes = figure.add_axes(
            (box[0] / (WIDE * columns), box[1] / (HIGH * rows), box[2] / (WIDE * columns), box[3] / (HIGH * rows))
        )
        figure.text(
            (column * WIDE + 0.12) / (WIDE * columns), ((rows - row) * HIGH - 0.12) / (HIGH * rows), panel.title,
            fontsize=FONT + 1, va="top", ha="left", color=INK,
        )  # fmt: skip
        _panel(axes, panel)
    return figure


def _right_margin(panel: Panel) -> float:
    shown = [curve for curve in panel.curves if len(curve.x)]
    longest = max((len(curve.label) for curve in shown), default=0)
    return 0.16 + CHARACTER * longest + (KEY + 0.06 if _needs_keys(shown) else 0) if shown else 0.25


def _needs_keys(shown: Sequence[Curve]) -> bool:
    """Two curves of one colour: their labels show the dash."""
    colours = [(curve.theory, curve.solver) for curve in shown]
    return len(set(colours)) < len(colours)


def _left_margin(panel: Panel) -> float:
    if not panel.dots:
        return 0.82 if panel.yunit == "s" else 0.7  # "100 ms" is wider than "10⁻³"
    return 0.2 + CHARACTER * max(len(dot.label) for dot in panel.dots)


def _panel(axes: Any, panel: Panel) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(color=GRID, linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(length=2.5, width=0.6)
    axes.set_xscale(panel.xscale)
    if panel.dots:
        _dots(axes, panel)
    else:
        axes.set_yscale(panel.yscale)
        _curves(axes, panel)
    axes.set_xlabel(panel.xlabel)
    axes.set_ylabel(panel.ylabel)
    _ticks(axes.xaxis, panel.xscale, panel.xunit)
    if not panel.dots:
        _ticks(axes.yaxis, panel.yscale, panel.yunit)
    elif all(dot.note for dot in panel.dots):
        axes.set_xticks([], minor=False)
        axes.set_xticks([], minor=True)


def _curves(axes: Any, panel: Panel) -> None:
    shown = [curve for curve in panel.curves if len(curve.x)]
    for curve in shown:
        line = _line(curve)
        colour = line["color"]
        axes.plot(curve.x, curve.y, solid_capstyle="round", **line)
        if curve.mark or _short(curve):
            _bars(axes, curve if curve.mark else _end(curve), colour)
        elif curve.low is not None and curve.high is not None:
            axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0)
    axes.set_ylim(*_limits(panel, shown))
    if panel.xscale == "log":
        axes.set_xlim(*_room([value for curve in shown for value in curve.x if value > 0]))
    if panel.flip:
        axes.invert_xaxis()
    _label_ends(axes, shown)


def _line(curve: Curve) -> dict[str, Any]:
    if curve.theory:
        return {"color": MUTED, "linewidth": 0.9, "linestyle": ((0, (2, 2)), (0, (6, 2)))[curve.style % 2]}
    dash = palette.DASHES[curve.style % len(palette.DASHES)]
    return {"color": palette.colour(curve.solver), "linewidth": 1.6, "linestyle": dash}


def _short(curve: Curve) -> bool:
    """A curve that would be a speck: a fit that was judged once."""
    return len(curve.x) < 2 or curve.x[-1] <= 1.05 * curve.x[0]


def _end(curve: Curve) -> Curve:
    return replace(curve, x=list(curve.x[-1:]), y=list(curve.y[-1:]), low=None, high=None)


def _bars(axes: Any, curve: Curve, colour: str, **where: Any) -> None:
    axes.plot(
        curve.x, curve.y, linestyle="none", color=colour, marker=palette.marker(curve.solver), markersize=3.6,
        markerfacecolor=PAPER if curve.style % 2 else colour, markeredgewidth=1, **where,
    )  # fmt: skip
    if curve.low is not None and curve.high is not None:
        axes.vlines(curve.x, curve.low, curve.high, color=colour, linewidth=1.1)


def _limits(panel: Panel, shown: Sequence[Curve]) -> tuple[float, float]:
    """The given limits, else those of the measured curves (a theory line may leave the picture)."""
    measured = [curve for curve in shown if not curve.theory] or list(shown)
    every = np.concatenate(
        [np.ravel([part for part in (curve.y, curve.low, curve.high) if part is not None]) for curve in measured]
    )
    every = every[np.isfinite(every)]
    low, high = panel.ylim
    if panel.yscale == "log":
        every = every[every > 0]
        room = _room(list(every))
    else:
        room = _wide_enough(every, panel.yunit)
    return (room[0] if low is None else low, room[1] if high is None else high)


def _room(values: Sequence[float]) -> tuple[float, float]:
    """Limits on a logarithmic axis with a little air, at least half a decade."""
    low, high = (float(min(values)), float(max(values))) if len(values) else (0.1, 1.0)
    pad = max((high / low) ** 0.05, (3 / (high / low)) ** 0.5 if high / low < 3 else 1.0)
    return low / pad, high * pad


def _label_ends(axes: Any, shown: Sequence[Curve]) -> None:
    """Each curve's name right of the axes at the height of its end, pushed apart where two would touch."""
    low, high = axes.get_ylim()
    to_axes = axes.transData + axes.transAxes.inverted()
    ends = []
    for curve in shown:
        inside = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if np.isfinite(y) and (y > 0 or low < 0)]
        x, y = inside[0 if axes.xaxis_inverted() else -1] if inside else (curve.x[-1], low)
        right, height = to_axes.transform((x, min(max(y, low), high)))
        ends.append((float(height), float(right), curve))
    ends.sort(key=lambda end: end[0])
    wide, tall = (size * 72 for size in _inches(axes))
    heights = apart([end[0] for end in ends], 1.3 * LABEL / tall, 0.0, 1.0)
    for (true, right, curve), height in zip(ends, heights, strict=True):
        if _needs_keys(shown):
            _keyed_label(axes, curve, height, 72 * KEY / wide)
        else:
            _led_label(axes, curve, height, (min(right, 1.0), true))


def _inches(axes: Any) -> tuple[float, float]:
    box = axes.get_position()
    return box.width * axes.figure.get_figwidth(), box.height * axes.figure.get_figheight()


def _keyed_label(axes: Any, curve: Curve, height: float, width: float) -> None:
    """A piece of the line as drawn, then its name."""
    key = [1.03, 1.03 + width]
    axes.plot(key, [height, height], transform=axes.transAxes, clip_on=False, **_line(curve))
    if curve.mark:
        middle = replace(curve, x=[sum(key) / 2], y=[height], low=None, high=None)
        _bars(axes, middle, _line(curve)["color"], transform=axes.transAxes, clip_on=False)
    axes.text(
        key[1] + 0.25 * width, height, curve.label, transform=axes.transAxes, color=_line(curve)["color"],
        fontsize=LABEL, va="center", ha="left",
    )  # fmt: skip


def _led_label(axes: Any, curve: Curve, height: float, end: tuple[float, float]) -> None:
    """Its name, with a thin line from where the curve ends."""
    colour = _line(curve)["color"]
    axes.annotate(
        curve.label, xy=end, xycoords="axes fraction", xytext=(1.035, height),
        textcoords="axes fraction", color=colour, fontsize=LABEL, va="center", ha="left", annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.5, "shrinkA": 1, "shrinkB": 2},
    )  # fmt: skip


def apart(heights: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Sorted heights moved as little as a sweep up and a sweep down can, so that neighbours are a step apart."""
    placed = list(heights)
    for i in range(1, len(placed)):
        placed[i] = max(placed[i], placed[i - 1] + step)
    if placed and placed[-1] > high:
        placed[-1] = high
        for i in range(len(placed) - 2, -1, -1):
            placed[i] = min(placed[i], placed[i + 1] - step)
    return placed if not placed or placed[0] >= low - 3 * step else [height + low - placed[0] for height in placed]


def _dots(axes: Any, panel: Panel) -> None:
    rows = list(panel.dots)[::-1]
    axes.set_xlim(*_dot_limits(panel, [v for dot in rows if not dot.note for v in (dot.low, dot.middle, dot.high)]))
    for height, dot in enumerate(rows):
        colour, mark = palette.colour(dot.solver), palette.marker(dot.solver)
        if dot.note:
            axes.text(
                0.99, height, dot.note, transform=axes.get_yaxis_transform(), va="center", ha="right", color=MUTED,
                fontsize=LABEL,
            )  # fmt: skip
            continue
        axes.hlines(height, dot.low, dot.high, color=colour, linewidth=2.4, alpha=0.5)
        face = PAPER if dot.style % 2 else colour
        axes.plot(dot.middle, height, marker=mark, color=colour, markersize=6, markerfacecolor=face)
    axes.set_ylim(-0.6, len(rows) - 0.4)
    axes.set_yticks(range(len(rows)), [dot.label for dot in rows])
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    for label, dot in zip(axes.get_yticklabels(), rows, strict=True):
        label.set_color(palette.colour(dot.solver))
    axes.grid(axis="y", visible=False)


def _dot_limits(panel: Panel, values: Sequence[float]) -> tuple[float, float]:
    if panel.xscale == "log":
        return _room([value for value in values if value > 0])
    return _wide_enough(values, panel.xunit)


def _wide_enough(values: Sequence[float] | Any, unit: str) -> tuple[float, float]:
    """Limits of a linear axis; shares span at least two points, so that noise does not look like a difference."""
    if not len(values):
        return 0.0, 1.0
    low, high = float(np.min(values)), float(np.max(values))
    share = unit == "%" or 0.5 <= low <= high <= 1
    span = max(high - low, 0.02 if share else 1e-3 * abs(high) or 1.0)
    middle = (low + high) / 2
    return middle - 0.58 * span, middle + 0.58 * span


def _ticks(axis: Any, scale: str, unit: str) -> None:
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    if scale == "log":
        apart = 0.12 if axis.axis_name == "y" else 0.24 if unit == "s" else 0.18
        axis.set_major_locator(FixedLocator(log_ticks(low, high, apart)))
        axis.set_minor_locator(LogLocator(subs="all", numticks=50))
        axis.set_minor_formatter(NullFormatter())
    else:
        axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: tick(value, scale, unit)))


def log_ticks(low: float, high: float, apart: float) -> list[float]:
    """The finest of the usual divisions of a logarithmic axis whose ticks keep a share of its length apart."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    divisions: list[tuple[int, Sequence[float]]] = [(1, np.arange(1, 10, 0.5).tolist()), (1, range(1, 10))]
    divisions += [(1, (1, 1.5, 2, 3, 5, 7)), (1, (1, 2, 3, 5)), (1, (1, 2, 5)), (1, (1, 3))]
    divisions += [*((step, (1,)) for step in range(1, last - first + 2)), (1, (2, 5)), (1, (5,))]
    room = apart * np.log(high / low)
    found: list[float] = []
    for step, heads in divisions:
        powers = range(first - first % step, last + 1, step)
        found = [head * 10.0**power for power in powers for head in heads if low <= head * 10.0**power <= high]
        if len(found) > 1 and np.diff(np.log(found)).min() >= room:
            break
    return found


def tick(value: float, scale: str, unit: str) -> str:
    """A tick's text: 1 ms, 20 %, 10⁻³, 5,000."""
    if unit == "s":
        for limit, factor, name in ((9.99e-4, 1e6, "µs"), (0.999, 1e3, "ms"), (np.inf, 1.0, "s")):
            if abs(value) < limit:
                return f"{value * factor:.3g} {name}" if value else "0"
    if unit == "%":
        return f"{100 * value:.3g} %"
    if scale == "log" and value > 0 and not 1e-2 < value < 1e5:
        power = int(np.floor(np.log10(value) + 1e-9))
        first = value / 10.0**power
        head = "" if abs(first - 1) < 1e-6 else f"{first:.2g}·"
        return f"{head}10{str(power).translate(SUPERSCRIPT)}"
    return f"{value:,.10g}"


def _svg(figure: Any, *, transparent: bool = False) -> str:
    """The figure as SVG text without what would clash with other SVGs on one page."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=transparent, metadata={"Date": None, "Creator": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.S)
    text = re.sub(r'\s*<style type="text/css">.*?</style>', "", text, flags=re.S)
    text = re.sub(
        r' id="[A-Za-z][\w.]*_\d+"',
        "",
        text,
    )
    text = re.sub(r"font: ([\d.]+px) [^;\"]*", r"font: \1 var(--font)", text)
    return palette.by_variable(text)


def _inline(svg: str, panel: Panel, name: str) -> str:
    """For the page: scales with its column, and says what it shows to who cannot see it."""
    label = f"{panel.title}: {panel.ylabel or ', '.join(dot.label for dot in panel.dots)} against {panel.xlabel}"
    label = label.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{label}" id="figure-{name}"', 1)


def _alone(svg: str) -> str:
    """For a file: brings its own colours, for light and dark."""
    style = (
        f"<style>:root{{--font:system-ui,sans-serif;{palette.variables(0)}}}"
        f"@media (prefers-color-scheme:dark){{:root{{{palette.variables(1)}}}}}</style>"
    )
    return re.sub(r"(<svg[^>]*>)", lambda found: found.group(1) + style, svg, count=1)
