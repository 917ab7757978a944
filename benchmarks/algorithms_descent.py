"""Descent by pairs against descent without an intercept, and the one-class problem against LIBLINEAR −s 21.

One thread and its processor time, since some fits are shorter than a time slice of a busy machine; contestants in turn,
the best of several. LIBLINEAR's own tolerance says nothing about the objective, so it
is lowered until the point is within the goal, and the time of that run counts.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.sparse as sp

import dualgap as dg

from . import data

SECTION = "Descent: pairs against no intercept, and the one-class problem against LIBLINEAR -s 21, to 1e-3"
GOAL = 1e-3
PAIRS, PLANES = ("a9a", "rcv1sub"), ("a9a", "rcv1sub", "ijcnn1")
SHARES = (0.01, 0.1, 0.5)


def run(full: bool) -> list[dict[str, Any]]:
    repeats = 15 if full else 5
    rows = [pairs(name, loss, repeats) for name in PAIRS for loss in ("hinge", "squared_hinge")]
    return rows + [plane(name, nu, repeats) for name in PLANES for nu in SHARES]


def pairs(name: str, loss: str, repeats: int) -> dict[str, Any]:
    """Seconds to the goal with a free intercept, by pairs, and without one."""
    X, y = data.load(name)
    free, none = dg.Problem(X, y, loss, intercept="free"), dg.Problem(X, y, loss)
    best = [np.inf, np.inf]
    for _ in range(repeats):
        for k, (problem, solver) in enumerate(((free, "pair-dcd"), (none, "dcd"))):
            best[k] = min(best[k], _seconds(problem, solver))
    row = {"what": "free intercept", "set": name, "case": loss, "ours": best[0], "other": best[1]}
    return _said({**row, "who": "dcd without intercept", "ours / other": best[0] / best[1]})


def _seconds(problem: Any, solver: str) -> float:
    start = time.process_time()
    dg.solve(problem, solver, tol=GOAL, n_threads=1)
    return time.process_time() - start


def plane(name: str, nu: float, repeats: int) -> dict[str, Any]:
    """Seconds to the goal for the one-class problem, ours and LIBLINEAR's."""
    X = sp.csr_matrix(data.load(name)[0], dtype=np.float64)
    problem = dg.OneClassProblem(X, nu=nu)
    dual = dg.solve(problem, tol=1e-6, n_threads=1).certificate.dual
    ours = min(_seconds(problem, "oneclass-dcd") for _ in range(repeats))
    theirs = _liblinear(X, nu, dual, repeats)
    row = {"what": "one class", "set": name, "case": f"nu={nu:g}", "ours": ours, "other": theirs}
    return _said({**row, "who": "LIBLINEAR -s 21", "ours / other": ours / theirs})


def _liblinear(X: Any, nu: float, dual: float, repeats: int) -> float:
    """The loosest tolerance of its own that is within the goal: seconds of training alone."""
    from liblinear.liblinearutil import parameter, problem, train

    rows, scale = problem(np.ones(X.shape[0]), X), nu * X.shape[0]
    for setting in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6):
        best = np.inf
        for _ in range(repeats):
            start = time.process_time()
            model = train(rows, parameter(f"-s 21 -n {nu} -e {setting} -q"))
            best = min(best, time.process_time() - start)
        w = np.array(model.get_decfun()[0]) / scale
        if _primal(X, nu, w, model.rho / scale) - dual <= GOAL * abs(dual):
            return best
    return np.inf


def _primal(X: Any, nu: float, w: np.ndarray, rho: float) -> float:
    """½‖w‖² − ρ + (1/νn) Σ max(0, ρ − xᵀw) at its best ρ: theirs or the quantile of the scores."""
    z = np.sort(X @ w)
    candidates = (rho, z[min(len(z) - 1, int(nu * len(z)))])
    return min(w @ w / 2 - r + np.maximum(r - z, 0).sum() / (nu * len(z)) for r in candidates)


def _said(row: dict[str, Any]) -> dict[str, Any]:
    ours, other, ratio = row["ours"], row["other"], row["ours / other"]
    words = f"{row['what']:<15} {row['set']:<8} {row['case']:<14}"
    print(f"  {words} ours {ours:.4f} s, {row['who']} {other:.4f} s, ratio {ratio:.2f}", flush=True)
    return row


def summary(rows: list[dict[str, Any]]) -> list[str]:
    free = [r for r in rows if r["what"] == "free intercept"]
    one = [r for r in rows if r["what"] == "one class"]
    slower = [f"{r['set']} {r['case']} ({r['ours / other']:.2f})" for r in one if r["ours / other"] > 1]
    worst = max(free, key=lambda r: r["ours / other"])
    mean = np.exp(np.mean([np.log(r["ours / other"]) for r in one]))
    return [
        f"a free intercept costs at most {worst['ours / other']:.2f} times no intercept "
        f"({worst['set']}, {worst['case']}; the aim is 3)",
        f"one class: {mean:.2f} of LIBLINEAR's time in the geometric mean over {len(one)} cells, slower in "
        f"{len(slower)}{': ' + ', '.join(slower) if slower else ''}",
    ]
