"""Kernel functions by name: their parameters, checked, and the core's object for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import as_matrix
from dualgap.errors import InvalidData

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed")
ASYMMETRY = 1e-6  # of the largest value: what rounding may do to a precomputed kernel


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters: ``function`` where the user's own function makes the values."""

    name: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    function: Callable[[Any, Any], Any] | None = None

    @cached_property
    def core(self) -> Any:
        return _core.Kernel("precomputed" if self.function else self.name, self.gamma, self.coef0, self.degree)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "core"}

    @property
    def by_table(self) -> bool:
        """Are the values looked up instead of made from rows?"""
        return self.function is not None or self.name == "precomputed"

    def table(self, rows: Any, others: Any) -> Any:
        """The user's function on two sets of rows, as a table that can be used."""
        assert self.function is not None
        values = np.asarray(self.function(rows, others), dtype=np.float64)
        shape = (rows.shape[0], others.shape[0])
        if values.shape != shape:
            raise InvalidData(f"The kernel function returned an array of shape {values.shape}, expected {shape}.")
        return values

    def __str__(self) -> str:
        if self.function is not None:
            return f"kernel={getattr(self.function, '__name__', 'function')}"
        shown = {
            "gamma": self.name not in ("linear", "precomputed"),
            "degree": self.name == "poly",
            "coef0": self.name in ("poly", "sigmoid"),
        }
        return f"kernel={self.name!r}" + "".join(f", {k}={getattr(self, k):g}" for k, show in shown.items() if show)


def make_kernel(
    kernel: Any, X: Any, gamma: Any = "scale", coef0: float = 0.0, degree: int = 3, weight: Any = None
) -> Kernel:
    """The kernel of that name (or function) for these rows."""
    if callable(kernel):
        return Kernel("callable", function=kernel)
    if kernel not in KERNELS:
        raise InvalidData(f"kernel={kernel!r} is not one of {', '.join(map(repr, KERNELS))}, or a function.")
    if kernel == "chi2" and _smallest(X) < 0:
        raise InvalidData("kernel='chi2' takes rows without negative values.")
    if degree < 0 or degree != int(degree):
        raise InvalidData(f"degree={degree!r} is not a whole number of at least 0.")
    needs_gamma = kernel not in ("linear", "precomputed")
    return Kernel(kernel, gamma_value(gamma, X, weight) if needs_gamma else 1.0, float(coef0), int(degree))


def gamma_value(gamma: Any, X: Any, weight: Any = None) -> float:
    """γ: a number; "scale" is 1 / (p · variance of all values), "auto" 1 / p. A row of weight 2 counts as two rows.

    >>> import numpy as np
    >>> from dualgap.kernels import gamma_value
    >>> gamma_value("scale", np.array([[0.0, 1.0], [1.0, 0.0]]))
    2.0
    """
    if gamma == "auto":
        return float(1.0 / X.shape[1])
    if gamma == "scale":
        variance = _variance(X) if weight is None else _weighted_variance(X, weight)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    try:
        value = float(gamma)
    except (TypeError, ValueError):
        raise InvalidData(f"gamma={gamma!r} is not a number, 'scale' or 'auto'.") from None
    if not 0 <= value < np.inf:
        raise InvalidData(f"gamma={gamma!r} must be a finite number of at least 0.")
    return value


def _variance(X: Any) -> float:
    if hasattr(X, "tocsr"):
        square = float((X.multiply(X)).mean())
        return square - float(X.mean()) ** 2
    return float(np.asarray(X).var(dtype=np.float64))


def _weighted_variance(X: Any, weight: Any) -> float:
    squares = X.multiply(X) if hasattr(X, "tocsr") else np.square(np.asarray(X, dtype=np.float64))
    cells = float(weight.sum()) * X.shape[1]
    mean = float(np.sum(weight @ X)) / cells
    return float(float(np.sum(weight @ squares)) / cells - mean**2)


def _smallest(X: Any) -> float:
    if hasattr(X, "tocsr"):
        return float(X.data.min(initial=0.0))
    return float(np.asarray(X).min())


def kernel_rows(kernel: Kernel, X: Any) -> Any:
    """The core's rows for a fit: X itself, or the table of kernel values, checked to be square and symmetric."""
    if not kernel.by_table:
        return as_matrix(X)
    table = kernel.table(X, X) if kernel.function else X
    matrix = as_matrix(table)
    if matrix.rows != matrix.cols:
        raise InvalidData(
            f"Precomputed matrix must be a square matrix. Input is a {matrix.rows}x{matrix.cols} matrix: "
            "rows of kernel='precomputed' are rows of K."
        )
    off = _asymmetry(table)
    if off > ASYMMETRY:
        raise InvalidData(
            f"The kernel matrix is not symmetric: entries K[i, j] and K[j, i] differ by {off:.2g} of the largest value."
        )
    return matrix


def _asymmetry(table: Any) -> float:
    """The largest |K[i, j] − K[j, i]| over the largest |K|, in bounded memory."""
    if hasattr(table, "tocsr"):
        difference = abs(table - table.T)
        return float(difference.max() / max(abs(table).max(), 1e-300))
    table = np.asarray(table)
    worst = largest = 0.0
    for k in range(0, len(table), 512):
        block = table[k : k + 512]
        largest = max(largest, float(np.abs(block).max()))
        worst = max(worst, float(np.abs(block - table[:, k : k + 512].T).max()))
    return worst / max(largest, 1e-300)
