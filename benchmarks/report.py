"""Tables in Markdown and plots from the rows of a run."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

Rows = list[dict[str, Any]]
COLOURS = {"hinge": "#1b6ca8", "squared_hinge": "#d1603d", "logistic": "#3c8d5a"}


def cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "–"
        if value == 0 or 1e-3 <= abs(value) < 1e5:
            return f"{value:.3g}" if abs(value) < 100 else f"{value:.0f}"
        return f"{value:.0e}"
    return "" if value is None else str(value)


def table(rows: Rows) -> str:
    """All columns that any row has, in the order they first appear; cells of a race we lost are marked."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    for row in rows:
        cells = [cell(row.get(c)) if c in row else "" for c in columns]
        marked = [
            f"**{text}**" if c.startswith("×") and isinstance(row.get(c), float) and row[c] < 1 else text
            for c, text in zip(columns, cells, strict=True)
        ]
        lines.append("| " + " | ".join(marked) + " |")
    return "\n".join(lines)


def tables(results: dict[str, Any], summaries: dict[str, list[str]]) -> str:
    parts = []
    for name, result in results.items():
        kind = "full" if result["full"] else "quick"
        parts.append(
            f"## {result['section']}\n\n{result['machine']}; {result['date']}, {kind}, {result['minutes']} minutes\n"
        )
        parts.append("".join(f"- {line}\n" for line in summaries[name]))
        parts.append(table(result["rows"]) + "\n")
    return "\n".join(parts)


def plots(results: dict[str, Any], folder: Path) -> list[str]:
    import matplotlib

    matplotlib.use("Agg")
    made = []
    for name in ("race", "easy"):
        if name in results:
            made.append(_ratios(results[name], folder / f"{name}.png"))
    if "hard" in results:
        made.append(_hard(results["hard"], folder / "hard.png"))
    return made


def _axes(width: float, height: float) -> Any:
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(width, height), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return figure, ax


def _ratios(result: dict[str, Any], path: Path) -> str:
    """How many times as fast as the best peer, one dot a cell; left of 1 we lose."""
    rows = [r for r in result["rows"] if r["distance"] == 1e-3 and math.isfinite(float(r["× best peer"]))]
    sets = list(dict.fromkeys(r["set"] for r in rows))
    figure, ax = _axes(7, 0.55 * len(sets) + 1.4)
    for loss, colour in COLOURS.items():
        mine = [r for r in rows if r["loss"] == loss]
        height = [len(sets) - 1 - sets.index(r["set"]) + 0.18 * (1 - list(COLOURS).index(loss)) for r in mine]
        ax.scatter(
            [r["× best peer"] for r in mine], height, color=colour, label=loss, s=34, alpha=0.85, edgecolor="none"
        )
    ax.axvline(1, color="#444", lw=1)
    ax.set(xscale="log", yticks=range(len(sets)), yticklabels=sets[::-1])
    ax.set_xlabel("times as fast as the best peer of the cell\n(distance 1e-3; left of the line: slower)")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    ax.grid(axis="x", which="both", alpha=0.15)
    ax.legend(frameon=False, ncols=3, loc="lower right", bbox_to_anchor=(1, 1))
    figure.savefig(path, dpi=150)
    return str(path)


def _hard(result: dict[str, Any], path: Path) -> str:
    """Every cell that peers can do: our certified gap and the best peer's distance after ten times our time."""
    rows = [r for r in result["rows"] if "best peer's distance" in r]
    rows.sort(key=lambda r: r["best peer's distance"])
    figure, ax = _axes(7, 3.6)
    clip = lambda x: min(max(float(x), 1e-12), 1e3)  # noqa: E731
    ax.scatter(
        range(len(rows)), [clip(r["best peer's distance"]) for r in rows], s=12, color="#d1603d", label="best peer"
    )
    ax.scatter(range(len(rows)), [clip(r["gap"]) for r in rows], s=12, color="#1b6ca8", label="dualgap, certified")
    ax.axhline(1e-6, color="#444", lw=1)
    ax.set(yscale="log", xlabel="cells of the hard grid, sorted by the best peer", ylabel="above the optimum, relative")
    ax.legend(frameon=False)
    figure.savefig(path, dpi=150)
    return str(path)
