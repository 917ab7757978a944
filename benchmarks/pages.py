"""`python -m benchmarks pages`: the figures of the last run into README.md and docs/, between their markers."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .contest import geometric_mean
from .easy import FAR, figures, place
from .hard import in_judges_passes, in_passes
from .report import cell, table

Result = dict[str, Any]
ROOT = Path(__file__).resolve().parent.parent


def fill(page: Path, marker: str, text: str) -> None:
    """Replaces what stands between <!-- marker --> and <!-- /marker -->."""
    old = page.read_text()
    new, count = re.subn(
        rf"(<!-- {marker} -->\n).*?(<!-- /{marker} -->)", lambda m: f"{m[1]}\n{text}\n\n{m[2]}", old, flags=re.DOTALL
    )
    assert count == 1, f"{page.name} has no place for {marker}"
    page.write_text(new)


def where(result: Result) -> str:
    return f"{result['machine']}; {result['date']}, {'full' if result['full'] else 'quick'} run"


def race(result: Result) -> str:
    """Seconds to 1e-3 on one thread: ours, the best of LIBLINEAR and scikit-learn by form, and the ratios."""
    rows = []
    for r in (r for r in result["rows"] if r["distance"] == 1e-3):
        best = lambda *names, r=r: min((float(r[n]) for n in names if n in r), default=math.inf)  # noqa: E731
        learn = [n for n in r if n.startswith("scikit-learn")]
        rows.append(
            {
                "set": r["set"],
                "loss": r["loss"],
                "dualgap": r["dualgap"],
                "LIBLINEAR dual": best("LIBLINEAR dual"),
                "LIBLINEAR primal": best("LIBLINEAR primal"),
                "scikit-learn": best(*learn),
                "snapml": best("snapml"),
                "× best dual": float(r["× best dual peer"]),
                "× best of all": float(r["× best peer"]),
            }
        )
    lines = [table(rows), ""]
    for column, words in (
        ("× best dual", "the best dual solver of LIBLINEAR and scikit-learn"),
        ("× best of all", "the best of all"),
    ):
        mean = geometric_mean(r[column] for r in rows)
        slower = sum(r[column] < 1 for r in rows)
        lines.append(
            f"- {mean:.1f} times as fast as {words} in geometric mean; slower in {slower} of {len(rows)} cells."
        )
    return "\n".join(
        [
            *lines,
            "",
            f"*{where(result)}; ratios count, not seconds. Ratios in bold are races we lose.*",
        ]
    )


def easy(result: Result) -> str:
    rows = [
        {
            "set": r["set"],
            "loss": r["loss"],
            "C": r["C"],
            "dualgap": r["dualgap"],
            "best peer": r["best peer"],
            "its seconds": float(r["its seconds"]),
            "× best peer": float(r["× best peer"]),
            "auto / better own": float(r["auto / better own"]),
        }
        for r in result["rows"]
    ]
    told = figures(rows)
    words = (
        f"**{told['mean']:.2f} times as fast as the best peer** in geometric mean, slower in {len(told['slower'])} of "
        f"{len(rows)} cells (bold); the closest is {cell(told['closest'] and told['closest']['× best peer'])} "
        f"({place(told['closest'])}). In {told['alone']} cells no peer arrived, stopped at {FAR:.0f} times our time or "
        f"at its tightest setting: {FAR:.0f} counts there, and without them it is {told['mean where met']:.2f}. `auto` "
        f"takes at most {cell(told['worst'] and told['worst']['auto / better own'])} times the better of `dcd` and "
        f"`newton` ({place(told['worst'])}); a dash: neither came within three times its time."
    )
    return f"{words}\n\n{table(rows)}\n\n*{where(result)}.*"


def hard(result: Result) -> str:
    """One line a table: how many cells are certified, at what cost, and where the best peer is, if any was asked."""
    rows = []
    asked = any("best peer's distance" in r for r in result["rows"])
    for name in dict.fromkeys(r["set"] for r in result["rows"]):
        mine = [r for r in result["rows"] if r["set"] == name]
        told = [float(r["best peer's distance"]) for r in mine if "best peer's distance" in r]
        peers = {
            "cells peers can do": len(told),
            "… best peer > 1e-3 off": sum(d > 1e-3 for d in told),
            "… > 10 % off": sum(d > 0.1 for d in told),
            "worst of them": max(told, default=math.nan),
        }
        rows.append(
            {
                "table": name,
                "cells": len(mine),
                "certified to 1e-6": sum(r["certified"] for r in mine),
                "most steps": max(r["steps"] for r in mine),
                "most passes": max((r["passes"] for r in mine if "newton" in r["solver"]), default=0),
                "most time, in the judge's passes": max(map(in_judges_passes, mine)),
                "in the solver's": max(map(in_passes, mine)),
                "slowest, s": max(r["seconds"] for r in mine),
                **(peers if asked else {}),
            }
        )
    done, all_ = sum(r["certified to 1e-6"] for r in rows), sum(r["cells"] for r in rows)
    failed = [r for r in result["rows"] if not r["certified"]]
    words = [f"**{done} of {all_} cells certified to 10⁻⁶**.", "", table(rows), "", f"*{where(result)}.*"]
    words += [
        f"- not certified: {r['set']}, {r['loss']}, C = {r['C']:g}, intercept {r['intercept']}: {r['status']} at a gap "
        f"of {cell(float(r['gap']))}"
        for r in failed
    ]
    return "\n".join(words)


def threads(result: Result) -> str:
    return f"{table(result['rows'])}\n\n*{where(result)}.*"


def stalls(result: Result) -> str:
    rows = result["rows"]
    said = [r for r in rows if r["status"] == "optimal"]
    wrong = sum(not r["confirmed"] for r in said)
    return (
        f"Of {len(rows)} awkward tables with kinked losses and C up to 10¹², {len(said)} are certified to 10⁻⁶, "
        f"{wrong} of them wrongly by the benchmark's own arithmetic."
    )


PLACES: dict[str, list[tuple[str, Callable[[Result], str]]]] = {
    "race": [("README.md", race)],
    "easy": [("docs/convergence.md", easy)],
    "hard": [("docs/convergence.md", hard)],
    "large": [("docs/convergence.md", hard)],
    "threads": [("docs/convergence.md", threads)],
    "stalls": [("docs/convergence.md", stalls)],
}


def write(results: dict[str, Result], out: Path) -> None:
    for name, places in PLACES.items():
        for page, words in places if name in results else []:
            fill(ROOT / page, name, words(results[name]))
    if (out / "unscaled.png").exists():
        shutil.copy(out / "unscaled.png", ROOT / "docs" / "covtype.png")
