"""Kernel machines against scikit-learn's SVC: seconds to fit and to predict, RBF, two classes, all cores.

Ours is fitted at falling tolerances until its primal objective is at most 1e-4 above scikit-learn's: that one counts.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
from sklearn.svm import SVC

import dualgap as dg
from dualgap.kernels import gamma_value

from .data import load

SECTION = "Kernels: SVC against scikit-learn's, RBF, at an objective no worse than its"
SETS = ("svmguide1", "ijcnn1", "a9a")
MORE = ("usps", "letter", "covtype.binary.scale", "mnist.scale")


def timed(work: Any) -> tuple[float, Any]:
    begin = time.perf_counter()
    out = work()
    return time.perf_counter() - begin, out


def primal(model: Any, problem: Any) -> float:
    """P of a fitted two-class model, by the judge."""
    beta = np.zeros(problem.n_rows)
    coef = model.dual_coef_
    beta[model.support_] = np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)
    return float(dg.certify(problem, intercept=float(model.intercept_[0]), dual=beta).primal)


def cell(name: str, C: float, rows: int) -> dict[str, Any]:
    X, y = load(name)
    chosen = np.random.default_rng(0).permutation(X.shape[0])[: rows + 2000]
    train, test = chosen[:rows], chosen[-2000:]
    gamma = gamma_value("scale", X[train])
    theirs = SVC(C=C, gamma=gamma, cache_size=500)
    their_fit, _ = timed(lambda: theirs.fit(X[train], y[train]))
    problem = dg.Problem(X[train], y[train], C=C, kernel="rbf", gamma=gamma)
    goal = primal(theirs, problem) * (1 + 1e-4)
    for tol in (1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 1e-4, 1e-5):
        ours = dg.SVC(C=C, gamma=gamma, cache_size=500, tol=tol, n_jobs=-1)
        our_fit, _ = timed(lambda model=ours: model.fit(X[train], y[train]))
        if primal(ours, problem) <= goal:
            break
    for _ in range(2):  # the best of three, alternating
        their_fit = min(their_fit, timed(lambda: theirs.fit(X[train], y[train]))[0])
        our_fit = min(our_fit, timed(lambda: ours.fit(X[train], y[train]))[0])
    their_predict, a = timed(lambda: theirs.predict(X[test]))
    our_predict, b = timed(lambda: ours.predict(X[test]))
    return {
        "set": name,
        "C": C,
        "rows": len(train),
        "fit seconds": round(our_fit, 3),
        "SVC fit seconds": round(their_fit, 3),
        "fit ratio": round(their_fit / our_fit, 2),
        "predict ratio": round(their_predict / our_predict, 2),
        "agree": round(float((a == b).mean()), 4),
        "relative gap": f"{ours.certificate_.relative_gap:.1e}",
    }


def run(full: bool) -> list[dict[str, Any]]:
    sets, rows = ((*SETS, *MORE), 10_000) if full else (SETS, 4_000)
    return [cell(name, C, rows) for name in sets for C in (1.0, 100.0)]


def summary(rows: list[dict[str, Any]]) -> list[str]:
    def mean(key: str) -> float:
        return math.exp(sum(math.log(row[key]) for row in rows) / len(rows))

    return [
        f"fit {mean('fit ratio'):.2f} times as fast as scikit-learn's SVC (least {min(r['fit ratio'] for r in rows)}), "
        f"predict {mean('predict ratio'):.2f} times, in geometric mean"
    ]
