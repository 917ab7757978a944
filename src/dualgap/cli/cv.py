"""``dualgap cv``: folds in parallel, each warm-started along the grid of C.

A fold's problem has all rows, those held out with weight zero: nothing is copied, and the dual point of one C is the
start of the next as it stands.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.cli.fit import Fitter
from dualgap.cli.load import describe, load
from dualgap.cli.show import coloured, counting, print_json, warn
from dualgap.cli.train import fit, model_path, report, save, warn_of_scales
from dualgap.config import available_threads
from dualgap.together import together


def run(args: Any) -> int:
    path = model_path(args) if args.model else None
    fitter, scores, late, wild = _cross_validated(args, args.grid, args.folds)
    means, errors = _summary(scores)
    best = int(np.argmax(means))  # the smallest C among equals
    args.best_C = args.grid[best]
    if args.json:
        print_json(
            {
                "data": args.data, "loss": args.loss, "folds": args.folds, "score": _score_name(fitter),
                "C": args.grid, "mean": means, "standard_error": errors, "fold_scores": scores,
                "best_C": args.best_C, "late": late, "model": path,
            }
        )  # fmt: skip
    else:
        print(_table(args.grid, means, errors, best, _score_name(fitter), args.folds))
    if late:
        warn(f"{late} fits stopped before a relative gap of {args.tol:g}")
    status = 1 if late and args.strict else 0
    if path:
        results = fit(fitter, args, args.best_C)
        save(fitter.content(results, args.best_C), path)
        args.quiet, args.json = args.quiet or args.json, False  # one JSON object, already printed
        status = max(status, report(fitter, results, path, args))
    else:
        warn_of_scales(fitter, wild)
    return status


def cross_validate_once(args: Any) -> int:
    """``train -v K``: LIBLINEAR's cross-validation of one C."""
    fitter, scores, late, wild = _cross_validated(args, [args.C], args.folds)
    mean = float(np.mean(scores))
    if args.json:
        print_json({"data": args.data, "C": args.C, "score": _score_name(fitter), "mean": mean, "folds": scores[:, 0]})
    elif fitter.found.classes is None:
        print(f"Cross Validation R2 = {mean:.6g}")
    else:
        print(f"Cross Validation Accuracy = {100 * mean:.6g}%")
    if late:
        warn(f"{late} fits stopped before a relative gap of {args.tol:g}")
    warn_of_scales(fitter, wild)
    return 1 if late and args.strict else 0


def _cross_validated(args: Any, grid: list[float], folds: int) -> tuple[Fitter, Any, int, list[Any]]:
    if args.loss == "one_class":
        raise dg.UnsupportedProblem("Cross-validation needs labels; -s 21 has none.")
    data, seconds = load(args)
    if not (args.quiet or args.json):
        print(describe(args.data, data, seconds))
    fitter = Fitter(data, args.data, args)
    rows = data.X.shape[0]
    if not 2 <= folds <= rows:
        raise dg.InvalidData(f"{folds} folds of {rows} rows cannot be: say 2 or more, and not more than rows.")
    fold_of = split(fitter, folds, args.seed)
    X = data.X.to_scipy() if hasattr(data.X, "to_scipy") else data.X
    workers = min(folds, args.threads or available_threads())
    with counting("folds × C", folds * len(grid), args.quiet) as tick:
        parts = together(lambda k: _fold(fitter, X, fold_of == k, grid, args, tick), folds, workers)
    wild = [result for *_, results in parts for result in results]
    return fitter, np.array([scores for scores, *_ in parts]), sum(late for _, late, _ in parts), wild


def split(fitter: Fitter, folds: int, seed: int) -> Any:
    """The fold of each row: shuffled, and every class spread evenly."""
    rows = len(fitter.found.codes)
    order = np.random.default_rng(seed).permutation(rows)
    if fitter.found.classes is not None:
        order = order[np.argsort(fitter.found.codes[order], kind="stable")]
    fold_of = np.empty(rows, dtype=np.intp)
    fold_of[order] = np.arange(rows) % folds
    return fold_of


def _fold(
    fitter: Fitter, X: Any, out: Any, grid: list[float], args: Any, tick: Any
) -> tuple[list[float], int, list[Any]]:
    """The score on the rows held out for each C, how many fits came late, and those on columns of wild scale."""
    starts: dict[int, Any] = {}
    scores, late, wild = [], 0, []
    mask = np.where(out, 0.0, 1.0)
    held = np.flatnonzero(out)
    test = X[held]
    for C in grid:
        decisions = []
        for k in fitter.found.problems:
            result = fitter.solve(
                fitter.problem(k, C, mask), start=starts.get(k), n_threads=1, max_time=args.max_time,
                max_iter=args.max_iter,
            )  # fmt: skip
            starts[k] = result
            late += str(result.status) != "optimal"
            wild += [result] if result.scales is not None else []
            decisions.append(test @ result.coef + result.intercept)
        scores.append(_score(fitter, held, np.array(decisions)))
        tick()
    return scores, late, wild


def _score(fitter: Fitter, held: Any, decisions: Any) -> float:
    """Accuracy, or R² for regression."""
    truth = fitter.found.codes[held]
    if fitter.found.classes is None:
        spread = float(((truth - truth.mean()) ** 2).sum())
        return 1 - float(((truth - decisions[0]) ** 2).sum()) / spread if spread > 0 else math.nan
    guess = (decisions[0] > 0).astype(int) if len(decisions) == 1 else decisions.argmax(axis=0)
    return float((guess == truth).mean())


def _score_name(fitter: Fitter) -> str:
    return "R2" if fitter.found.classes is None else "accuracy"


def _summary(scores: Any) -> tuple[Any, Any]:
    spread = scores.std(axis=0, ddof=1) if len(scores) > 1 else np.zeros(scores.shape[1])
    return scores.mean(axis=0), spread / math.sqrt(len(scores))


def _table(grid: list[float], means: Any, errors: Any, best: int, name: str, folds: int) -> str:
    lines = [f"{'C':>10}  {name:>9}  standard error of {folds} folds"]
    for k, C in enumerate(grid):
        line = f"{C:>10g}  {means[k]:>9.5f}  {errors[k]:.5f}"
        lines.append(coloured(line + "  best", "strong") if k == best else line)
    return "\n".join(lines)
