"""Covtype as it comes (581,012 × 54, class 2 against the rest, hinge, C = 1): seconds, accuracy and distance.

The estimators with their defaults: scikit-learn's by iterations, ours by tolerance, each a whole fit; and the steps of
one fit of ours as its callback sees them, the judge's time not counted.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from . import data, objective

SECTION = "Unscaled covtype: accuracy and distance from the optimum against seconds"
ITERATIONS = (1, 3, 10, 30, 100)
THEIRS, OURS, STEPS = "scikit-learn LinearSVC", "dualgap LinearSVC", "dualgap, step by step"


def run(full: bool) -> list[dict[str, Any]]:
    from sklearn.svm import LinearSVC

    import dualgap as dg

    X, y = data.load("covtype.binary")
    name = "covtype.binary" if data.is_real("covtype.binary") else "covtype.binary (generated)"
    rows = []
    for tol in (1e-3, 1e-6):
        model = dg.LinearSVC(loss="hinge", tol=tol)
        row = {"set": name, "who": OURS, "setting": f"tol={tol:g}", **measured(model, X, y)}
        rows.append({**row, "certified gap": model.certificate_.relative_gap})
        best = model.certificate_.dual
    rows += [{"set": name, "who": STEPS, **row} for row in steps(dg, X, y)]
    for k in (*ITERATIONS, 300, 1000) if full else ITERATIONS:
        model = LinearSVC(loss="hinge", max_iter=k, random_state=0)
        rows.append({"set": name, "who": THEIRS, "setting": f"max_iter={k}", **measured(model, X, y)})
    for row in rows:
        row["above the optimum"] = row["objective"] / best - 1
        print("  " + ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else str(v) for k, v in row.items()))
    return rows


def steps(dg: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []

    def look(state: Any) -> None:
        right = float(np.mean((X @ state.coef + state.intercept > 0) == (y > 0)))
        about = {"setting": f"epoch {state.epoch:.0f} ({state.solver})", "seconds": state.seconds, "accuracy": right}
        gap = (state.primal - state.dual) / max(abs(state.primal), abs(state.dual))
        seen.append({**about, "objective": state.primal, "certified gap": gap})

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dg.solve(dg.Problem(X, y, intercept="regularized"), tol=1e-6, callback=look)
    return seen


def measured(model: Any, X: Any, y: Any) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    w, b = model.coef_.ravel(), float(model.intercept_[0])
    P = objective.primal(X, y, "hinge", 1.0, w, b, intercept="regularized")
    return {"seconds": seconds, "accuracy": float(model.score(X, y)), "objective": P}


def summary(rows: list[dict[str, Any]]) -> list[str]:
    last = max((r for r in rows if r["who"] == THEIRS), key=lambda r: r["seconds"])
    return [
        f"{r['who']} ({r['setting']}): {r['seconds']:.1f} s, accuracy {r['accuracy']:.3f}, "
        f"{100 * r['above the optimum']:.2g} % above the optimum"
        for r in [*(r for r in rows if r["who"] == OURS), last]
    ]


def plot(rows: list[dict[str, Any]], path: Any) -> None:
    """Accuracy and distance from the optimum against seconds, both estimators."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    styles = {THEIRS: ("#d1603d", "o-"), STEPS: ("#1b6ca8", ".-"), OURS: ("#1b6ca8", "*")}
    for who, (colour, style) in styles.items():
        mine = sorted((r for r in rows if r["who"] == who), key=lambda r: r["seconds"])
        seconds = [r["seconds"] for r in mine]
        name = f"{who}, whole fits" if who == OURS else who
        for ax, column in zip(axes, ("accuracy", "above the optimum"), strict=True):
            size = 11 if style == "*" else 5
            ax.plot(seconds, [max(r[column], 1e-8) for r in mine], style, ms=size, color=colour, label=name)
    certified = sorted((r for r in rows if r["who"] == STEPS), key=lambda r: r["seconds"])
    gaps = [max(r["certified gap"], 1e-8) for r in certified]
    axes[1].plot([r["seconds"] for r in certified], gaps, ":", color="#1b6ca8", label="its certified gap")
    axes[0].set(ylabel="training accuracy")
    axes[1].set(ylabel="objective above the optimum, relative", yscale="log")
    for ax in axes:
        ax.set(xscale="log", xlabel="seconds")
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.xaxis.set_minor_formatter(lambda x, _: "")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    axes[1].legend(frameon=False, loc="center right", bbox_to_anchor=(1.0, 0.68), fontsize=9)
    figure.suptitle(f"{rows[0]['set']} as it comes, hinge, C = 1", x=0.01, ha="left", fontsize=11)
    figure.savefig(path, dpi=150)
    plt.close(figure)
