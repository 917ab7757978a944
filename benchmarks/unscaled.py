"""Covtype as it comes (581,012 × 54, class 2 against the rest, hinge, C = 1): seconds, accuracy and distance.

The estimators with their defaults, scikit-learn's by iterations, ours by tolerance; every point is a whole fit.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from . import data, objective

SECTION = "Unscaled covtype: accuracy and distance from the optimum against seconds"
ITERATIONS = (1, 3, 10, 30, 100)
TOLERANCES = (0.3, 0.1, 1e-2, 1e-3, 1e-4, 1e-6)


def run(full: bool) -> list[dict[str, Any]]:
    from sklearn.svm import LinearSVC

    import dualgap as dg

    X, y = data.load("covtype.binary")
    name = "covtype.binary" if data.is_real("covtype.binary") else "covtype.binary (generated)"
    rows, best = [], None
    for tol in reversed(TOLERANCES):
        model = dg.LinearSVC(loss="hinge", tol=tol)
        rows.append({"set": name, "who": "dualgap LinearSVC", "setting": f"tol={tol:g}", **measured(model, X, y)})
        best = best or model.certificate_.dual
    for k in (*ITERATIONS, 300, 1000) if full else ITERATIONS:
        model = LinearSVC(loss="hinge", max_iter=k, random_state=0)
        rows.append({"set": name, "who": "scikit-learn LinearSVC", "setting": f"max_iter={k}", **measured(model, X, y)})
    for row in rows:
        row["above the optimum"] = row["objective"] / best - 1
        print(
            "  "
            + ", ".join(f"{key} {value:.4g}" if isinstance(value, float) else str(value) for key, value in row.items())
        )
    return rows


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
    ours = next(r for r in rows if r["who"].startswith("dualgap") and r["setting"] == "tol=0.001")
    last = max((r for r in rows if r["who"].startswith("scikit")), key=lambda r: r["seconds"])
    return [
        f"{r['who']} ({r['setting']}): {r['seconds']:.1f} s, accuracy {r['accuracy']:.3f}, "
        f"{100 * r['above the optimum']:.2g} % above the optimum"
        for r in (ours, last)
    ]


def plot(rows: list[dict[str, Any]], path: Any) -> None:
    """Accuracy and distance from the optimum against seconds, both estimators."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for who, colour in (("scikit-learn LinearSVC", "#d1603d"), ("dualgap LinearSVC", "#1b6ca8")):
        mine = sorted((r for r in rows if r["who"] == who), key=lambda r: r["seconds"])
        seconds = [r["seconds"] for r in mine]
        for ax, column in zip(axes, ("accuracy", "above the optimum"), strict=True):
            ax.plot(seconds, [max(r[column], 1e-8) for r in mine], marker="o", ms=4, color=colour, label=who)
    axes[0].set(ylabel="training accuracy", xlabel="seconds of a whole fit")
    axes[1].set(ylabel="objective above the optimum, relative", xlabel="seconds of a whole fit", yscale="log")
    for ax in axes:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25)
    axes[0].legend(frameon=False, loc="center right")
    figure.suptitle(f"{rows[0]['set']} as it comes, hinge, C = 1", x=0.01, ha="left", fontsize=11)
    figure.savefig(path, dpi=150)
    plt.close(figure)
