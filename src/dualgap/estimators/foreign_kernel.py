"""Kernel models, ours or scikit-learn's: from support vectors and coefficients to β and its certificate."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from dualgap.config import available_threads
from dualgap.data import Array
from dualgap.errors import InvalidData, UnsupportedProblem
from dualgap.estimators.labels import class_factors, row_weights
from dualgap.kernel_problem import KernelProblem
from dualgap.kernels import kernel_rows, make_kernel
from dualgap.result import Certificate


def certify_kernel_model(model: Any, X: Any, y: Any, weight: Array | None) -> Any:
    """The certificate of a fitted SVC or SVR on the data it was fitted on; a list, one a pair of classes."""
    name = type(model).__name__
    if name not in ("SVC", "SVR") or not hasattr(model, "dual_coef_"):
        raise UnsupportedProblem(f"certify reads fitted SVC and SVR with a kernel, not {name}.")
    X = X if hasattr(X, "shape") else np.asarray(X, dtype=np.float64)
    if model.shape_fit_[0] != X.shape[0]:
        raise InvalidData(f"X has {X.shape[0]} rows, but {name} was fitted on {model.shape_fit_[0]}.")
    gamma = getattr(model, "_gamma", model.gamma)
    kernel = make_kernel(model.kernel, X, gamma, model.coef0, model.degree, weight)
    rows = kernel_rows(kernel, X)
    stored = model.dual_coef_
    coef = np.zeros((stored.shape[0], X.shape[0]))
    coef[:, model.support_] = stored.toarray() if hasattr(stored, "toarray") else stored
    if name == "SVR":
        target = np.asarray(y, dtype=np.float64)
        return _judged(rows, kernel, np.arange(len(target)), target, model, weight, coef[0], 0, "epsilon_insensitive")
    classes = list(model.classes_)
    codes = np.searchsorted(model.classes_, y)
    factors = class_factors(model.class_weight, model.classes_, codes, y, weight)
    weights = row_weights(None if factors is None else factors[codes], weight)
    pairs = [(1, 0)] if len(classes) == 2 else list(combinations(range(len(classes)), 2))
    found = []
    for k, (i, j) in enumerate(pairs):
        ids = np.flatnonzero((codes == i) | (codes == j))
        first = codes[ids] == i
        beta = np.where(first, coef[j - 1 if j > i else j, ids], coef[i - 1 if i > j else i, ids])
        signs = np.where(first, 1.0, -1.0)
        found.append(
            _judged(rows, kernel, ids, signs, model, None if weights is None else weights[ids], beta, k, "hinge")
        )
    return found[0] if len(found) == 1 else found


def _judged(
    rows: Any, kernel: Any, ids: Any, y: Array, model: Any, weight: Array | None, beta: Array, k: int, loss: str
) -> Certificate:
    epsilon = float(getattr(model, "epsilon", 0.0)) if loss == "epsilon_insensitive" else 0.0
    problem = KernelProblem.over(rows, kernel, ids, y, loss=loss, parameter=epsilon, C=model.C, sample_weight=weight)
    threads = 1 if problem.work < 2_000_000 else available_threads()
    return Certificate.from_core(problem.judged(beta, float(np.ravel(model.intercept_)[k]), threads)[0])
