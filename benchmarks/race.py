"""One thread each, C = 1, no intercept: seconds to a relative distance of 1e-2, 1e-3 and 1e-4 from the optimum."""

from __future__ import annotations

import math
from typing import Any

from . import data
from .contest import geometric_mean, race
from .peers import PEERS, SVM, dualgap

SECTION = "One thread, C = 1: seconds to a distance from the optimum"
QUICK = ("a9a", "w8a", "20news", "ijcnn1", "reuters")
FULL = (*QUICK, "rcv1sub.binary", "covtype.binary.scale", "mnist.scale")
GOALS = (1e-2, 1e-3, 1e-4)
DUAL = ("LIBLINEAR dual", "scikit-learn liblinear")


def run(full: bool) -> list[dict[str, Any]]:
    runners = [dualgap("auto", 1, "dualgap"), dualgap("dcd", 1)]
    runners += [peer for peer in PEERS if "threads" not in peer.name]
    rows = []
    for name in FULL if full else QUICK:
        if name not in data.GENERATED and not data.is_real(name):
            continue
        X, y = data.load(name)
        for loss in SVM:
            seconds = race(X, y, loss, 1.0, runners, GOALS, cap=60.0 if full else 6.0)
            rows += [line(name, X, loss, 1.0, goal, seconds) for goal in GOALS]
            print_row(rows[-2])
    return rows


def line(
    name: str, X: Any, loss: str, C: float, goal: float, seconds: dict[tuple[str, float], float]
) -> dict[str, Any]:
    """A row of the table: everyone's seconds, the best peer, and how many times as fast we are."""
    times = {who: t for (who, g), t in seconds.items() if g == goal}
    peers = {who: t for who, t in times.items() if not who.startswith("dualgap")}
    best = min(peers, key=lambda who: peers[who], default="")
    dual = min((t for who, t in peers.items() if who in DUAL), default=math.inf)
    mine = times["dualgap"]
    return {
        "set": name if data.is_real(name) else f"{name} (generated)",
        "loss": loss,
        "C": C,
        "distance": goal,
        **times,
        "best peer": best,
        "× best peer": peers.get(best, math.inf) / mine,
        "× best dual peer": dual / mine,
    }


def print_row(row: dict[str, Any]) -> None:
    print(
        f"  {row['set']:<24} {row['loss']:<14} C={row['C']:<6g} {row['distance']:g}: dualgap {row['dualgap']:.4f} s, "
        f"best peer {row[row['best peer']]:.4f} s ({row['best peer']}), × {row['× best peer']:.2f}",
        flush=True,
    )


def summary(rows: list[dict[str, Any]]) -> list[str]:
    lines = []
    for goal in GOALS:
        part = [r for r in rows if r["distance"] == goal]
        for column in ("× best dual peer", "× best peer"):
            slower = [f"{r['set']} {r['loss']} ({r[column]:.2f})" for r in part if r[column] < 1]
            lines.append(
                f"distance {goal:g}, {column}: geometric mean {geometric_mean(r[column] for r in part):.2f} "
                f"over {len(part)} cells, slower in {len(slower)}{': ' + ', '.join(slower) if slower else ''}"
            )
    return lines
