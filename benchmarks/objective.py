"""The objective and its dual in plain NumPy: what every contestant is measured by, and nothing of the package's."""

from __future__ import annotations

from typing import Any

import numpy as np

MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "logistic")


def value(loss: str, y: np.ndarray, z: np.ndarray, p: float) -> np.ndarray:
    """ℓ(y, z) of every row; p is the loss's parameter."""
    short, away = 1 - y * z, np.abs(y - z)
    table = {
        "hinge": lambda: np.maximum(short, 0),
        "squared_hinge": lambda: np.maximum(short, 0) ** 2,
        "smoothed_hinge": lambda: np.where(short >= p, short - p / 2, np.maximum(short, 0) ** 2 / (2 * p)),
        "logistic": lambda: np.logaddexp(0, -y * z),
        "squared": lambda: away**2 / 2,
        "epsilon_insensitive": lambda: np.maximum(away - p, 0),
        "squared_epsilon_insensitive": lambda: np.maximum(away - p, 0) ** 2,
        "huber": lambda: np.where(away <= p, away**2 / 2, p * away - p * p / 2),
        "pinball": lambda: np.maximum(p * (y - z), (p - 1) * (y - z)),
    }
    return table[loss]()


def _box(loss: str, y: np.ndarray, c: float, p: float) -> tuple[np.ndarray, np.ndarray]:
    top = {"squared_hinge": np.inf, "squared": np.inf, "squared_epsilon_insensitive": np.inf, "huber": p * c}.get(
        loss, c
    )
    if loss in MARGIN:
        return np.where(y > 0, 0.0, -top), np.where(y > 0, top, 0.0)
    if loss == "pinball":
        return np.full(len(y), -(1 - p) * c), np.full(len(y), p * c)
    return np.full(len(y), -top), np.full(len(y), top)


def _dual_terms(loss: str, y: np.ndarray, c: float, beta: np.ndarray, p: float) -> np.ndarray:
    a = y * beta
    if loss == "logistic":
        part = np.clip(a / c, 0, 1)
        entropy = [np.where(t > 0, t * np.log(np.where(t > 0, t, 1)), 0) for t in (part, 1 - part)]
        return -c * (entropy[0] + entropy[1])
    quadratic = {"squared_hinge": 1 / 4, "smoothed_hinge": p / 2, "squared": 1 / 2, "huber": 1 / 2}
    quadratic["squared_epsilon_insensitive"] = 1 / 4
    linear = p * np.abs(beta) if "insensitive" in loss else 0.0
    return a - linear - quadratic.get(loss, 0.0) * beta**2 / c


def _zero_sum(beta: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """β − t clipped, with the t that makes Σβ = 0 (bisection)."""
    reach = np.abs(beta).max() + 1e-300
    below, above = -reach, reach
    for _ in range(200):
        t = 0.5 * (below + above)
        below, above = (t, above) if np.clip(beta - t, low, high).sum() > 0 else (below, t)
    return np.clip(beta - 0.5 * (below + above), low, high)


def primal(X: Any, y: np.ndarray, loss: str, C: float, coef: np.ndarray, b: float = 0.0, **how: Any) -> float:
    """P(w, b); `how`: intercept="none" | "regularized" | "free", p=the loss's parameter."""
    z = np.asarray(X @ coef).ravel() + b
    regularized = b * b / 2 if how.get("intercept") == "regularized" else 0.0
    return float(coef @ coef / 2 + regularized + C * value(loss, y, z, how.get("p", 0.0)).sum())


def dual(X: Any, y: np.ndarray, loss: str, C: float, beta: np.ndarray, **how: Any) -> float:
    """D(β), after β was pushed into its bounds and, for a free intercept, onto Σβ = 0: a lower bound on every P."""
    p, intercept = how.get("p", 0.0), how.get("intercept", "none")
    low, high = _box(loss, y, C, p)
    beta = np.clip(beta, low, high)
    if intercept == "free":
        beta = _zero_sum(beta, low, high)
    v, total = np.asarray(X.T @ beta).ravel(), float(beta.sum()) if intercept == "regularized" else 0.0
    return float(_dual_terms(loss, y, C, beta, p).sum() - v @ v / 2 - total * total / 2)
