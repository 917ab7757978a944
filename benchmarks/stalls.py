"""Losses with kinks at any cost: random tables of every awkward kind, C from 1 to 1e12. What floating point can still
prove is certified to 1e-6, which the benchmark's own arithmetic confirms in long double; where it cannot, the fit must
say so."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from . import objective

SECTION = "Kinked losses on awkward tables, C from 1 to 1e12, to a gap of 1e-6"
KINDS = ("plain", "offset", "scales", "cauchy", "twice", "collinear")
LOSSES = ("hinge", "epsilon_insensitive", "pinball")


def table(seed: int) -> tuple[str, np.ndarray, np.ndarray, str, float, str]:
    """(kind, X, y, loss, C, intercept)"""
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(20, 400)), int(rng.integers(2, 300))
    X = rng.standard_normal((n, p))
    kind, loss = str(rng.choice(KINDS)), str(rng.choice(LOSSES))
    if kind == "offset":
        X += 10 ** rng.uniform(1, 4)
    elif kind == "scales":
        X *= 10 ** rng.uniform(-5, 5, p)
    elif kind == "cauchy":
        X = rng.standard_cauchy((n, p))
    elif kind == "twice":
        X[n // 2 :] = X[: n - n // 2]
    elif kind == "collinear":
        X[:, 1:] = X[:, :1] + 1e-5 * X[:, 1:]
    y = X @ (rng.standard_normal(p) / np.sqrt((X**2).mean(0).sum())) + 0.1 * rng.standard_normal(n)
    if loss == "hinge":
        y = np.where(y >= np.median(y), 1.0, -1.0)
    return kind, X, y, loss, 10 ** rng.uniform(0, 12), str(rng.choice(("none", "regularized", "free")))


def run(full: bool, seeds: Iterable[int] | None = None) -> list[dict[str, Any]]:
    import dualgap as dg

    rows = []
    for seed in range(1000 if full else 300) if seeds is None else seeds:
        kind, X, y, loss, C, intercept = table(seed)
        words = {"epsilon": 0.1} if loss == "epsilon_insensitive" else {}
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of wild scales
            result = dg.solve(dg.Problem(X, y, loss, C, intercept=intercept, **words), tol=1e-6, max_time=60)
        seconds = time.perf_counter() - start
        how = {"intercept": intercept, "p": {"epsilon_insensitive": 0.1, "pinball": 0.5}.get(loss, 0.0)}
        wide = [a.astype(np.longdouble) for a in (X, y, result.coef, result.dual)]
        P = objective.primal(*wide[:2], loss, C, wide[2], result.intercept, **how)
        D = objective.dual(*wide[:2], loss, C, wide[3], **how)
        what = {"seed": seed, "kind": kind, "rows": len(y), "columns": X.shape[1], "loss": loss, "C": C}
        allowed = 1.1e-6 * max(abs(P), abs(D)) + result.certificate.rounding
        confirmed = bool(allowed >= P - D)
        said = {"status": str(result.status), "gap": result.certificate.relative_gap, "confirmed": confirmed}
        rows.append({**what, "intercept": intercept, **said, "seconds": seconds})
    return rows


def summary(rows: list[dict[str, Any]]) -> list[str]:
    parts = []
    for loss in LOSSES:
        mine = [r for r in rows if r["loss"] == loss]
        parts.append(f"{loss} {sum(r['status'] == 'optimal' for r in mine)} of {len(mine)}")
    others = {r["status"] for r in rows} - {"optimal"}
    wrong = sum(r["status"] == "optimal" and not r["confirmed"] for r in rows)
    slow = max(rows, key=lambda r: r["seconds"])
    return [
        f"certified to 1e-6: {', '.join(parts)}, {wrong} of them wrongly; the others say "
        f"{' or '.join(sorted(others)) or 'nothing'}; longest {slow['seconds']:.1f} s (seed {slow['seed']})"
    ]
