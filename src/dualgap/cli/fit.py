"""Fits for the program: data and words in, a model's content out; scikit-learn is not imported, since that alone would
take longer than many a fit. The content is what the estimator of that name saves (docs/model-format.md)."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.files.datasets import Data
from dualgap.labels import balanced, places, row_weights, signs
from dualgap.together import time_left, together, workers_for

REGRESSION = ("epsilon_insensitive", "squared_epsilon_insensitive")


@dataclass
class Targets:
    """Labels as the problems need them."""

    classes: Any  # None for regression
    codes: Any  # the class of each row, or the targets themselves

    @property
    def problems(self) -> list[int]:
        """Which classes are set against the rest."""
        if self.classes is None:
            return [0]
        return [1] if len(self.classes) == 2 else list(range(len(self.classes)))


def targets(data: Data, path: str, loss: str) -> Targets:
    """The labels of the data, checked."""
    y = data.y
    if y is None:
        raise dg.InvalidData(f"{path} has no labels; a table needs --label COLUMN, an .npz file an array y.")
    if loss in REGRESSION:
        if y.dtype.kind not in "fiub":
            raise dg.InvalidData(f"{path} has labels like {y[0]!r}; a regression needs numbers.")
        return Targets(None, np.asarray(y, dtype=np.float64))
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise dg.InvalidData(f"{path} has labels that are not finite.")
        if (y == np.floor(y)).all() and np.abs(y).max(initial=0) < 2**53:
            y = y.astype(np.int64)
    elif y.dtype.kind == "O":
        y = y.astype(str)
    classes, codes = places(y)
    if len(classes) < 2:
        raise dg.InvalidData(f"{path} has one class only ({classes[0]}); there is nothing to separate.")
    if len(classes) > 1000:
        raise dg.InvalidData(f"{path} has {len(classes)} classes; did you mean a regression loss?")
    return Targets(classes, codes)


def class_factors(found: Targets, args: Any) -> dict[Any, float] | None:
    """The factor of each class from the words given, or None."""
    if found.classes is None or not (args.weight or args.balanced):
        return None
    if args.balanced:
        factors_in_order = balanced(found.codes, len(found.classes))
        return dict(zip(found.classes.tolist(), factors_in_order.tolist(), strict=True))
    known = {str(name): name for name in found.classes.tolist()}
    factors = {}
    for label, weight in args.weight.items():
        name = str(int(label)) if isinstance(label, float) and label == int(label) else str(label)
        if name not in known:
            raise dg.InvalidData(f"There is a weight for class {name}, but no row of that class.")
        factors[known[name]] = weight
    return factors


class Fitter:
    """All problems of one data set under one set of words."""

    def __init__(self, data: Data, path: str, args: Any) -> None:
        self.args = args
        self.data = data
        self.found = targets(data, path, args.loss)
        self.factors = class_factors(self.found, args)
        first = self._make(data.X, self.found.problems[0], 1.0, None)
        self.matrix = first._matrix  # looked at once, shared by all problems

    def _signs(self, k: int) -> tuple[Any, Any]:
        """y of class k against the rest, and the factor of each row."""
        if self.found.classes is None:
            return self.found.codes, None
        y = signs(self.found.codes, k)
        if self.factors is None:
            return y, None
        table = np.array([self.factors.get(name, 1.0) for name in self.found.classes.tolist()])
        several = len(self.found.classes) > 2 and self.args.loss != "logistic"  # as LIBLINEAR: its own class only
        rows = table[self.found.codes]
        return y, np.where(y > 0, rows, 1.0) if several else rows

    def _make(self, X: Any, k: int, C: float, mask: Any) -> Any:
        y, factor = self._signs(k)
        weight = row_weights(factor, mask)
        extra = {"epsilon": self.args.epsilon} if self.args.loss in REGRESSION else {}
        scaling = self.args.intercept_scaling
        problem = dg.Problem(
            X, y, self.args.loss, C, sample_weight=weight, intercept=self.args.intercept,
            intercept_scaling=scaling, **extra,
        )  # fmt: skip
        problem._tells_of_scales = False  # all problems share their columns
        return problem

    def problem(self, k: int, C: float, mask: Any = None) -> Any:
        """Class k against the rest, on the rows where the mask is one."""
        return self._make(self.matrix, k, C, mask)

    def solve(self, problem: Any, **options: Any) -> Any:
        return dg.solve(problem, self.args.solver, tol=self.args.tol, random_state=self.args.seed, **options)

    def fit(self, C: float, callback: Callable[[Any], Any] | None = None) -> list[Any]:
        """The results of all problems, over threads where there are several."""
        args, count = self.args, len(self.found.problems)
        started = time.perf_counter()
        workers = workers_for(args.threads, count, self.matrix.entries) if count > 1 and callback is None else 1

        def one(k: int) -> Any:
            left = time_left(args.max_time, started, k, count, workers)
            threads = 1 if workers > 1 else args.threads
            problem = self.problem(self.found.problems[k], C)
            return self.solve(problem, max_time=left, max_iter=args.max_iter, n_threads=threads, callback=callback)

        return together(one, count, workers)

    def content(self, results: list[Any], C: float) -> dict[str, Any]:
        """What is saved: as the estimator of that name would."""
        args = self.args
        coef = np.array([result.coef for result in results])
        intercept = np.array([result.intercept for result in results])
        params: dict[str, Any] = {"C": C, "tol": args.tol, "solver": args.solver, "random_state": args.seed}
        params |= {"fit_intercept": args.intercept != "none", "intercept_scaling": args.intercept_scaling}
        if args.intercept != "none":
            params["intercept"] = args.intercept
        if self.found.classes is None:
            name, coef = "LinearSVR", coef[0]
            params |= {"loss": args.loss, "epsilon": args.epsilon}
        else:
            name = "LogisticRegression" if args.loss == "logistic" else "LinearSVC"
            params |= {} if args.loss == "logistic" else {"loss": args.loss}
            if self.factors:
                params["class_weight"] = self.factors
        fitted = {"coef_": coef, "intercept_": intercept, "n_features_in_": self.data.X.shape[1]}
        fitted["n_iter_"] = max(result.n_iter for result in results)
        if self.found.classes is not None:
            fitted["classes_"] = self.found.classes
        if self.data.names:
            fitted["feature_names_in_"] = np.array(self.data.names, dtype=object)
        certificates = [asdict(result.certificate) for result in results]
        return {
            "class": name,
            "dualgap": dg.__version__,
            "saved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            "params": params,
            "fitted": fitted,
            "certificate": certificates if len(certificates) > 1 else certificates[0],
            "fits": [fit_facts(result) for result in results],
            "data": {"zero_based": self.data.zero_based, "label": args.label},
        }


def fit_facts(result: Any) -> dict[str, Any]:
    """How a fit went, in plain values."""
    return {
        "status": str(result.status),
        "solver": result.solver,
        "tol": result.tol,
        "epochs": result.epochs,
        "seconds": result.seconds,
    }
