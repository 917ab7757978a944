"""Kernel functions by name: their parameters, checked, and the core's object for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.data import as_matrix, largest
from dualgap.errors import InvalidData

KERNELS = ("linear", "poly", "rbf", "sigmoid", "laplacian", "chi2", "precomputed")
BLOCK = 1 << 18  # values looked at together
LARGEST = 1e140  # values whose squares, summed over a row, are finite
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
        values = self.function(rows, others)
        values = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
        shape = (rows.shape[0], others.shape[0])
        if values.shape != shape:
            raise InvalidData(f"The kernel function returned an array of shape {values.shape}, expected {shape}.")
        if values.dtype.kind not in "biuf":
            raise InvalidData(f"The kernel function returned values of type {values.dtype}, expected real numbers.")
        values = values.astype(np.float64, copy=False)
        if values.size and not (np.isfinite(values.min()) and np.isfinite(values.max())):
            raise InvalidData("The kernel function returned values that are NaN or infinite.")
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
    if kernel != "precomputed" and (top := largest(X)) > LARGEST:
        raise InvalidData(f"X contains values up to {top:.2g}, whose squares float64 cannot hold: scale its columns.")
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
        variance = _variance(X, weight)
        return float(1.0 / (X.shape[1] * variance)) if variance > 0 else 1.0
    try:
        value = float(gamma)
    except (TypeError, ValueError):
        raise InvalidData(f"gamma={gamma!r} is not a number, 'scale' or 'auto'.") from None
    if not 0 <= value < np.inf:
        raise InvalidData(f"gamma={gamma!r} must be a finite number of at least 0.")
    return value


def _variance(X: Any, weight: Any = None) -> float:
    """The variance of all values, zeros included; a row counts as often as its weight says. Nothing as large as X is
    made on the way, and Ctrl-C is seen between blocks."""
    shift, scale, values = 0.0, weight, X
    if hasattr(X, "tocsr"):
        if not X.has_canonical_format:  # the same entry twice is one entry
            X = X.copy()
            X.sum_duplicates()
        values, scale = X.data, None if weight is None else np.repeat(weight, np.diff(X.indptr))
    else:
        values = np.asarray(X)
        if weight is None and values.size <= BLOCK:
            return float(values.var(dtype=np.float64))
        if weight is None and values.flags.f_contiguous:
            values = values.T
        shift = float(values[: max(1, BLOCK // values.shape[1])].mean(dtype=np.float64))  # rounding stays small near it
    cells = float(X.shape[0] if weight is None else weight.sum()) * X.shape[1]
    total, squares = _sums(values, shift, scale)
    return float(squares / cells - (total / cells) ** 2)


def _sums(values: Any, shift: float, weight: Any) -> tuple[float, float]:
    """Σ w(x − shift) and Σ w(x − shift)² over blocks of rows."""
    rows = max(1, BLOCK // max(1, math.prod(values.shape[1:])))
    total = squares = 0.0
    for k in range(0, len(values), rows):
        block = np.subtract(values[k : k + rows], shift, dtype=np.float64)
        scale = None if weight is None else weight[k : k + rows]
        total += _scaled_sum(block, scale)
        squares += _scaled_sum(np.square(block, out=block), scale)
    return total, squares


def _scaled_sum(block: Any, scale: Any) -> float:
    return float(block.sum() if scale is None else np.dot(scale, block).sum())


def _smallest(X: Any) -> float:
    if hasattr(X, "tocsr"):
        return float(X.data.min(initial=0.0))
    return float(np.asarray(X).min())


def kernel_rows(kernel: Kernel, X: Any) -> Any:
    """The core's rows for a fit: X itself, or the table of kernel values, checked to be square and symmetric."""
    if not kernel.by_table:
        return as_matrix(X)
    table = kernel.table(X, X) if kernel.function else X
    matrix = as_matrix(table, "The kernel matrix")
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
    worst = top = 0.0
    for k in range(0, len(table), 512):
        block = table[k : k + 512]
        top = max(top, float(np.abs(block).max()))
        worst = max(worst, float(np.abs(block - table[:, k : k + 512].T).max()))
    return worst / max(top, 1e-300)
