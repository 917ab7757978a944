"""tron against LIBLINEAR's primal solvers (-s 2, -s 0): one thread, seconds to a distance from the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from . import data
from .contest import geometric_mean, race
from .peers import PEERS, dualgap

SECTION = "tron against LIBLINEAR's trust-region Newton"
QUICK = ("a9a", "w8a", "ijcnn1", "20news")
FULL = (*QUICK, "reuters", "rcv1sub.binary", "covtype.binary.scale", "mnist.scale")
GOALS = (1e-3, 1e-4)
TOLERANCES = (1.0, 0.3, 0.1, 0.03, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
PEER = next(peer for peer in PEERS if peer.name == "LIBLINEAR primal")
NUMBER = {"squared_hinge": 2, "logistic": 0}


def run(full: bool) -> list[dict[str, Any]]:
    ours = replace(dualgap("tron", 1), settings=TOLERANCES)
    rows = []
    for name in FULL if full else QUICK:
        if name not in data.GENERATED and not data.is_real(name):
            continue
        X, y = data.load(name)
        for loss, number in NUMBER.items():
            for C in (1.0, 100.0) if full else (1.0,):
                seconds = race(X, y, loss, C, [ours, PEER], GOALS, cap=60.0 if full else 6.0)
                rows += [line(name, loss, number, C, goal, seconds) for goal in GOALS]
                print(f"  {rows[-2]}", flush=True)
    return rows


def line(
    name: str, loss: str, number: int, C: float, goal: float, seconds: dict[tuple[str, float], float]
) -> dict[str, Any]:
    mine, theirs = seconds["dualgap tron", goal], seconds["LIBLINEAR primal", goal]
    return {
        "set": name if data.is_real(name) else f"{name} (generated)",
        "loss": loss,
        "C": C,
        "distance": goal,
        "dualgap tron": mine,
        "LIBLINEAR": theirs,
        "option": f"-s {number}",
        "× LIBLINEAR": theirs / mine,
    }


def summary(rows: list[dict[str, Any]]) -> list[str]:
    slower = [f"{r['set']} {r['loss']} C={r['C']:g} ({r['× LIBLINEAR']:.2f})" for r in rows if r["× LIBLINEAR"] < 1]
    mean = geometric_mean(r["× LIBLINEAR"] for r in rows)
    return [f"geometric mean {mean:.2f} over {len(rows)} cells, slower in {len(slower)}: {', '.join(slower) or 'none'}"]
