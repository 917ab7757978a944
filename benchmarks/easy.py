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
LONG = SETS[-3:-1]  # in the quick run at C = 1 only
LONGEST = SETS[-1]  # in the full run only, and at C = 1
GOAL = 1e-3
FAR = 30.0  # times our seconds: then a peer is stopped
NEAR = 1.5  # times the best peer's seconds so far: who takes longer is not the best
SHORT, SHORT_ROUNDS = 0.05, 3  # seconds of a fit that a hiccup spoils, and how many rounds it has at least
FIRST = 0.02  # seconds that the first fit in a fork may take longer


def run(full: bool) -> list[dict[str, Any]]:
    rows = []
    for name in SETS if full else SETS[:-1]:
        X, y = data.load(name)
        costs = (1.0,) if name == LONGEST or (name in LONG and not full) else (0.01, 1.0, 100.0)
        peers.prepare(X, y)
        for loss in SVM:
            for C in costs:
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
    # our own take turns in one process: which pages a process got can make a fit a third slower
    order = [[r for r in settings if r.kind == "ours"]]
    order += [[r] for r in settings if r.kind != "ours" and seconds[r] <= NEAR * leader + FIRST]
    for k in range(max(rounds, SHORT_ROUNDS)):
        order.reverse()
        for runners in order:
            # the first fit in a fork may have been far too slow
            if runners and min(seconds[r] for r in runners) < (6.0 if k < rounds else SHORT):
                for runner, taken in zip(runners, again(runners, *place, settings), strict=True):
                    seconds[runner] = min(seconds[runner], taken)
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


def figures(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """What the rows come to; `closest` and `worst` are rows, or None."""
    met = [r for r in rows if math.isfinite(float(r["its seconds"]))]
    against = [r for r in rows if float(r["auto / better own"]) > 0]  # NaN is not
    return {
        "mean": geometric_mean(float(r["× best peer"]) for r in rows),
        "slower": [r for r in rows if float(r["× best peer"]) < 1],
        "alone": len(rows) - len(met),
        "mean where met": geometric_mean(float(r["× best peer"]) for r in met),
        "closest": min(met, key=lambda r: float(r["× best peer"]), default=None),
        "own": geometric_mean(float(r["auto / better own"]) for r in against),
        "worst": max(against, key=lambda r: float(r["auto / better own"]), default=None),
        "no own": len(rows) - len(against),
    }


def place(row: dict[str, Any] | None) -> str:
    return f"{row['set']}, {row['loss']}, C = {row['C']:g}" if row else "nowhere"


def summary(rows: list[dict[str, Any]]) -> list[str]:
    told = figures(rows)
    slower = "; ".join(f"{place(r)} ({r['× best peer']:.2f})" for r in told["slower"])
    worst = float(told["worst"]["auto / better own"]) if told["worst"] else math.nan
    return [
        f"× best peer: geometric mean {told['mean']:.2f} over {len(rows)} cells, slower in {len(told['slower'])}"
        f"{': ' + slower if slower else ''}; in {told['alone']} no peer arrived and the bound counts (without these "
        f"{told['mean where met']:.2f})",
        f"auto against the better of our own solvers: geometric mean {told['own']:.2f}, at worst {worst:.2f} "
        f"({place(told['worst'])}); in {told['no own']} cells neither arrived in three times its time",
    ]
