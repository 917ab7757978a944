"""Every solver of the registry on the same rows: relative gap against seconds, in well under a minute.

The rows are scikit-learn's digits, odd against even (1,797 × 64). No two families of methods solve quite the same
problem, so there is a panel for each problem, and each solver is in every panel that it can do.

    python examples/compare_solvers.py [folder for the pictures]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import dualgap as dg

plt.rcParams["svg.fonttype"] = "none"
TOL, SECONDS = 1e-6, 2.0  # of each run
FEW = 40  # rows for the method that is for teaching only


def panels():
    """Title and problem of each panel, all on the same rows."""
    X, digit = load_digits(return_X_y=True)
    X, y = X / 16.0, np.where(digit % 2, 1.0, -1.0)
    return {
        "hinge, no intercept": dg.Problem(X, y, loss="hinge", C=1.0),
        "hinge, free intercept": dg.Problem(X, y, loss="hinge", C=1.0, intercept="free"),
        "squared hinge, no intercept": dg.Problem(X, y, loss="squared_hinge", C=1.0),
        "logistic, no intercept": dg.Problem(X, y, loss="logistic", C=1.0),
        f"hinge, free intercept, {FEW} of the rows": dg.Problem(X[:FEW], y[:FEW], loss="hinge", intercept="free"),
        "one class (ν = 0.1) and smallest ball": [dg.OneClassProblem(X, nu=0.1), dg.SVDDProblem(X, nu=0.1)],
    }


def run(problem, solver):
    """One run, or where it is short the fastest of three: a busy machine shows in milliseconds."""
    options = {"tol": TOL, "max_time": SECONDS, "trace": True, "n_threads": 1}
    runs = [dg.solve(problem, solver, **options)]
    while runs[0].seconds < 0.2 and len(runs) < 3:
        runs.append(dg.solve(problem, solver, **options))
    return min(runs, key=lambda result: result.trace.seconds[-1])


def race(problems):
    """Solver → its trace, for each solver that takes one of the problems."""
    problems = problems if isinstance(problems, list) else [problems]
    traces = {}
    for solver in dg.solvers():
        for problem in problems:
            if not solver.takes(problem):
                result = run(problem, solver.name)
                traces[solver.name] = result.trace
                print(f"  {solver.name:<20} {result.status!s:<10} {result.certificate.relative_gap:9.1e}", flush=True)
    return traces


def best_so_far(trace):
    """Seconds and relative gaps, only where the gap fell by a tenth or the run ended."""
    size = np.maximum(np.abs(trace.primal), np.abs(trace.dual))
    known = np.isfinite(size) & (size > 0)
    gap = np.divide(trace.gap, size, out=np.full(len(size), 10.0), where=known)
    gap = np.minimum.accumulate(np.clip(gap, 1e-8, 10.0))
    keep = [0]
    for k in range(1, len(gap)):
        if gap[k] < 0.9 * gap[keep[-1]] or k == len(gap) - 1:
            keep.append(k)
    return np.maximum(trace.seconds[keep], 1e-4), gap[keep]


def draw(ax, title, traces, colours):
    """The best gap so far against the solver's own seconds, with the name where the line ends."""
    for name, trace in traces.items():
        seconds, gap = best_so_far(trace)
        style = {"color": colours[name], "lw": 2.4 if name == "auto" else 1.5, "zorder": 3 if name == "auto" else 2}
        ax.plot(seconds, gap, label=name, **style)
        ax.plot(seconds[-1:], gap[-1:], "o", ms=4, clip_on=False, **style)
    ax.axhline(TOL, color="0.6", lw=0.8, ls=":")
    ax.set(xscale="log", yscale="log", xlim=(1e-4, 2 * SECONDS), ylim=(1e-8, 20))
    ax.set_title(title, fontsize=11, loc="left")
    ax.grid(alpha=0.2)
    ax.spines[["top", "right"]].set_visible(False)


def main(folder):
    names = [solver.name for solver in dg.solvers()]
    palette = [*plt.colormaps["tab20"].colors[::2], *plt.colormaps["tab20"].colors[1::2]]
    colours = {name: palette[k % len(palette)] for k, name in enumerate(n for n in names if n != "auto")}
    colours["auto"] = "black"
    figure, axes = plt.subplots(2, 3, figsize=(13, 7.6), layout="constrained", sharex=True, sharey=True)
    for ax, (title, problems) in zip(axes.flat, panels().items(), strict=True):
        print(title)
        draw(ax, title, race(problems), colours)
    for ax in axes[-1]:
        ax.set_xlabel("seconds of the solver, one thread (judging not counted)", fontsize=9)
    for ax in axes[:, 0]:
        ax.set_ylabel("best relative gap so far", fontsize=9)
    shown = {label: line for ax in axes.flat for line, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    order = [name for name in names if name in shown]
    figure.legend([shown[n] for n in order], order, loc="outside lower center", ncols=8, frameon=False, fontsize=10)
    folder.mkdir(parents=True, exist_ok=True)
    for path, options in ((folder / "solvers.svg", {}), (folder / "solvers.png", {"dpi": 90})):
        figure.savefig(path, metadata={"Date": None, "Creator": None} if path.suffix == ".svg" else None, **options)
        print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "compare-out"))
