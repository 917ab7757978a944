"""One adapter a contestant: fit(X, y, loss, C, setting) → (seconds, coef), and the settings from loose to tight.

No intercept, so that everyone solves the same problem. Seconds run from arrays in memory to a model; LIBLINEAR gets
its rows converted to its own format before the clock starts.
"""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

Fit = Callable[[Any, np.ndarray, str, float, float], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class Contestant:
    name: str
    fit: Fit
    settings: tuple[float, ...]
    losses: tuple[str, ...]
    package: str
    max_entries: float = np.inf
    max_cols: float = np.inf
    kind: str = "peer"

    def enters(self, X: Any, loss: str) -> bool:
        if importlib.util.find_spec(self.package) is None:
            return False
        cells = X.shape[0] * X.shape[1]
        return loss in self.losses and cells <= self.max_entries and X.shape[1] <= self.max_cols


def _timed(model: Any, X: Any, y: np.ndarray) -> tuple[float, np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - start
    return seconds, np.asarray(model.coef_, dtype=np.float64).ravel()


LIBLINEAR = {
    "dual": {
        "hinge": 3,
        "squared_hinge": 1,
        "logistic": 7,
        "epsilon_insensitive": 13,
        "squared_epsilon_insensitive": 12,
    },
    "primal": {"squared_hinge": 2, "logistic": 0, "squared_epsilon_insensitive": 11},
}
_converted: list[tuple[Any, np.ndarray, Any]] = []


def _liblinear_rows(X: Any, y: np.ndarray) -> Any:
    from liblinear.liblinear import problem

    for A, b, rows in _converted:
        if A is X and b is y:
            return rows
    del _converted[:]  # one set at a time
    _converted.append((X, y, problem(y, sp.csr_matrix(X), -1)))
    return _converted[0][2]


def prepare(X: Any, y: np.ndarray) -> None:
    """What forks of this process should find done: the libraries imported, the rows in LIBLINEAR's format."""
    for package in ("sklearn.linear_model", "sklearn.svm", "rehline"):
        if importlib.util.find_spec(package.partition(".")[0]):
            importlib.import_module(package)
    if importlib.util.find_spec("snapml"):
        snapml_package()
    if importlib.util.find_spec("liblinear"):
        _liblinear_rows(X, y)


def liblinear(form: str, X: Any, y: np.ndarray, loss: str, C: float, eps: float, p: float = 0.0) -> Any:
    from liblinear.liblinear import parameter
    from liblinear.liblinearutil import train

    rows, number = _liblinear_rows(X, y), LIBLINEAR[form][loss]
    start = time.perf_counter()
    model = train(rows, parameter(f"-s {number} -c {C} -e {eps} -p {p} -q"))
    seconds = time.perf_counter() - start
    w = np.array(model.w[: X.shape[1]])
    return seconds, -w if number < 8 and model.label[0] == -1 else w


def sklearn_liblinear(X: Any, y: np.ndarray, loss: str, C: float, tol: float) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    common = {"dual": True, "C": C, "tol": tol, "fit_intercept": False, "max_iter": 5000}
    if loss == "logistic":
        return _timed(LogisticRegression(solver="liblinear", **common), X, y)
    return _timed(LinearSVC(loss=loss, **common), X, y)


def sklearn_logistic(solver: str, X: Any, y: np.ndarray, loss: str, C: float, tol: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _timed(LogisticRegression(solver=solver, C=C, tol=tol, fit_intercept=False, max_iter=5000), X, y)


def snapml_package() -> Any:
    """Importing it makes the process take numbers next to zero for zero, and LIBLINEAR's logistic dual then ends in NaN
    at a large C: glibc puts the default back. (Its own fits take as long either way.)"""
    import snapml

    if sys.platform == "linux":
        ctypes.CDLL(None).fesetenv(ctypes.c_void_p(-1))
    return snapml


def snapml(threads: int, X: Any, y: np.ndarray, loss: str, C: float, tol: float) -> Any:
    s = snapml_package()

    common = {"regularizer": 1 / C, "tol": tol, "n_jobs": threads, "max_iter": 5000, "fit_intercept": False}
    if loss == "logistic":
        return _timed(s.LogisticRegression(dual=True, **common), X, y)
    return _timed(s.SupportVectorMachine(loss=loss, **common), X, y)


def rehline(X: Any, y: np.ndarray, loss: str, C: float, tol: float) -> Any:
    from rehline import plq_Ridge_Classifier

    model = plq_Ridge_Classifier(loss={"name": "svm"}, C=C, tol=tol, max_iter=100_000, fit_intercept=False)
    return _timed(model, X, y)


def ours(solver: str, threads: int | None, X: Any, y: np.ndarray, loss: str, C: float, tol: float) -> Any:
    import dualgap as dg

    start = time.perf_counter()
    result = dg.solve(dg.Problem(X, y, loss=loss, C=C), solver=solver, tol=tol, n_threads=threads, max_time=60)
    return time.perf_counter() - start, result.coef


SVM = ("hinge", "squared_hinge", "logistic")
TRON = (0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5)
LOGISTIC = (1, 0.1, 1e-2, 1e-3, 1e-4)
SNAP = (0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)
DUAL = (1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 3e-3, 1e-3)
PEERS = (
    Contestant("LIBLINEAR dual", partial(liblinear, "dual"), DUAL, SVM, "liblinear"),
    Contestant("LIBLINEAR primal", partial(liblinear, "primal"), TRON, SVM[1:], "liblinear"),
    Contestant("scikit-learn liblinear", sklearn_liblinear, (1, 0.3, 0.1, 0.03, 0.01, 1e-3), SVM, "sklearn"),
    Contestant("scikit-learn lbfgs", partial(sklearn_logistic, "lbfgs"), LOGISTIC, SVM[2:], "sklearn"),
    Contestant(
        "scikit-learn newton-cholesky",
        partial(sklearn_logistic, "newton-cholesky"),
        LOGISTIC,
        SVM[2:],
        "sklearn",
        max_cols=2000,
    ),
    Contestant("snapml", partial(snapml, 1), SNAP, SVM, "snapml"),
    Contestant("snapml, 2 threads", partial(snapml, 2), SNAP, SVM, "snapml"),
    Contestant("rehline", rehline, (1e-2, 1e-3, 1e-4, 1e-5), SVM[:1], "rehline", max_entries=5e7),
)


def dualgap(solver: str, threads: int | None, name: str = "") -> Contestant:
    """Ourselves; the certified tolerances that are worth trying, loose to tight."""
    tolerances = (2e-2, 1e-2, 6e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5)
    return Contestant(
        name or f"dualgap {solver}", partial(ours, solver, threads), tolerances, SVM, "dualgap", kind="ours"
    )
