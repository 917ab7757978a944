"""The easy grid: `auto` with every core against the best of all peers and of our own solvers, distance 1e-3.

Every fit runs in a fork of this process. Only the best peer counts, so that one who takes more than 1.5 times the time
of the best so far is stopped; so is everyone after 30 times ours. Where none arrives, by then or with its tightest
setting, the ratio is that bound; where we do not, a thousandth.
"""

from __future__ import annotations

import math
from typing import Any

from . import data, peers
from .contest import again, arrival, geometric_mean, lower_bound
from .peers import PEERS, SVM, Contestant, dualgap

SECTION = "Easy grid: seconds to a distance of 1e-3, every core, C from 0.01 to 100"
SETS = ("a9a", "w8a", "20news", "ijcnn1", "reuters", "news20", "covtype.binary.scale", "mnist.scale")
LONG = SETS[-3:]  # in the quick run at C = 1 only
LONGEST = SETS[-1]  # in the full run too
GOAL = 1e-3
FAR = 30.0  # times our seconds: then a peer is stopped
NEAR = 1.5  # times the best peer's seconds so far: who takes longer is not the best
SHORT, SHORT_ROUNDS = 0.05, 3  # seconds of a fit that a hiccup spoils, and how many rounds it has at least
FIRST = 0.02  # seconds that the first fit in a fork may take longer


def run(full: bool) -> list[dict[str, Any]]:
    rows = []
    for name in SETS:
        X, y = data.load(name)
        peers.prepare(X, y)
        for loss in SVM:
            for C in (0.01, 1.0, 100.0) if name not in LONG or (full and name != LONGEST) else (1.0,):
                rows.append(cell(name, X, y, loss, C, rounds=2 if full else 1))
                print_row(rows[-1])
    return rows


def cell(name: str, X: Any, y: Any, loss: str, C: float, rounds: int) -> dict[str, Any]:
    """Who arrives, then rounds of everyone near the front, to and fro."""
    best = lower_bound(X, y, loss, C)
    place = (X, y, loss, C)
    auto, own = dualgap("auto", None, "dualgap"), (dualgap("dcd", None), dualgap("newton", None))
    settings: dict[Contestant, float] = {}
    seconds: dict[Contestant, float] = {}

    def enter(runner: Contestant, limit: float) -> float:
        setting, taken = arrival(runner, *place, best, GOAL, limit)
        if math.isfinite(taken):
            settings[runner], seconds[runner] = setting, taken
        return taken

    mine = min(enter(auto, 60.0), 60.0)
    leader, rival = math.inf, 3 * mine
    for runner in own:
        rival = min(rival, NEAR * enter(runner, rival + FIRST))
    for runner in PEERS:
        leader = min(leader, enter(runner, min(FAR * mine, NEAR * leader + FIRST)))
    order = [r for r in settings if r.kind == "ours" or seconds[r] <= NEAR * leader + FIRST]
    for k in range(max(rounds, SHORT_ROUNDS)):
        order.reverse()
        for runner in order:
            # the first fit in a fork may have been far too slow
            if seconds[runner] < (6.0 if k < rounds else SHORT):
                seconds[runner] = min(seconds[runner], again(runner, *place, settings[runner]))
    mine = seconds.get(auto, math.inf)
    arrived = {r.name: seconds[r] for r in PEERS if r in seconds}
    first = min(arrived, key=lambda who: arrived[who], default="")
    return {
        "set": name if data.is_real(name) else f"{name} (generated)",
        "loss": loss,
        "C": C,
        "distance": GOAL,
        "dualgap": mine,
        "best peer": first or f"none in {FAR:.0f} times that",
        "its seconds": arrived.get(first, math.inf),
        "× best peer": min(arrived.get(first, math.inf) / mine, FAR) if math.isfinite(mine) else 1e-3,
        # where neither came within three times `auto`'s time, by which they are stopped, there is nothing to compare
        "auto / better own": min(mine, 60.0) / min((seconds[r] for r in own if r in seconds), default=math.nan),
    }


def print_row(row: dict[str, Any]) -> None:
    print(
        f"  {row['set']:<24} {row['loss']:<14} C={row['C']:<6g} dualgap {row['dualgap']:.4f} s, {row['best peer']} "
        f"{row['its seconds']:.4f} s, × {row['× best peer']:.2f}, of the better own {row['auto / better own']:.2f}",
        flush=True,
    )


def summary(rows: list[dict[str, Any]]) -> list[str]:
    slower = [f"{r['set']} {r['loss']} C={r['C']:g} ({r['× best peer']:.2f})" for r in rows if r["× best peer"] < 1]
    met = [r["× best peer"] for r in rows if math.isfinite(r["its seconds"])]
    against = [r for r in rows if r["auto / better own"] > 0]  # NaN is not
    worst = max(against, key=lambda r: r["auto / better own"])
    return [
        f"× best peer: geometric mean {geometric_mean(r['× best peer'] for r in rows):.2f} over {len(rows)} cells, "
        f"slower in {len(slower)}{': ' + ', '.join(slower) if slower else ''}; in {len(rows) - len(met)} no peer "
        f"arrived and the bound counts (without these {geometric_mean(met):.2f})",
        f"auto against the better of our own solvers: geometric mean "
        f"{geometric_mean(r['auto / better own'] for r in against):.2f}, at worst {worst['auto / better own']:.2f} "
        f"({worst['set']} {worst['loss']} C={worst['C']:g}); in {len(rows) - len(against)} cells neither arrived in "
        "three times its time",
    ]
