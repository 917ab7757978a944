"""The easy grid: `auto` with every core against the best of all peers and of our own solvers, distance 1e-3."""

from __future__ import annotations

from typing import Any

from . import data
from .contest import geometric_mean, race
from .peers import PEERS, SVM, dualgap
from .race import line, print_row

SECTION = "Easy grid: seconds to a distance of 1e-3, every core, C from 0.01 to 100"
QUICK = ("a9a", "w8a", "20news", "ijcnn1", "reuters")
FULL = (*QUICK, "news20", "covtype.binary.scale")
GOAL = 1e-3


def run(full: bool) -> list[dict[str, Any]]:
    runners = [dualgap("auto", None, "dualgap"), dualgap("dcd", None), dualgap("newton", None), *PEERS]
    rows = []
    for name in FULL if full else QUICK:
        X, y = data.load(name)
        for loss in SVM:
            for C in (0.01, 1.0, 100.0):
                seconds = race(X, y, loss, C, runners, (GOAL,), cap=60.0 if full else 4.0)
                row = line(name, X, loss, C, GOAL, seconds)
                own = min(t for (who, _), t in seconds.items() if who.startswith("dualgap "))
                row["auto / better own"] = row["dualgap"] / own
                rows.append(row)
                print_row(row)
    return rows


def summary(rows: list[dict[str, Any]]) -> list[str]:
    slower = [f"{r['set']} {r['loss']} C={r['C']:g} ({r['× best peer']:.2f})" for r in rows if r["× best peer"] < 1]
    worst = max(rows, key=lambda r: r["auto / better own"])
    return [
        f"× best peer: geometric mean {geometric_mean(r['× best peer'] for r in rows):.2f} over {len(rows)} cells, "
        f"slower in {len(slower)}{': ' + ', '.join(slower) if slower else ''}",
        f"auto against the better of our own solvers: geometric mean "
        f"{geometric_mean(r['auto / better own'] for r in rows):.2f}, at worst {worst['auto / better own']:.2f} "
        f"({worst['set']} {worst['loss']} C={worst['C']:g})",
    ]
