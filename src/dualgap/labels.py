"""Labels and weights at the border: any labels → codes 0…K−1, class and sample weights → one cost factor a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dualgap.data import Array

Codes = npt.NDArray[np.integer[Any]]
_FEW = 4096  # a table of so many whole numbers is cheaper than sorting the labels


def places(y: Any) -> tuple[npt.NDArray[Any], Codes]:
    """The different labels in order, and for each row the place of its own. Sorts only where nothing quicker will do.

    >>> places(np.array([7, 3, 7]))
    (array([3, 7]), array([1, 0, 1], dtype=int8))
    """
    found = quick_places(y)
    if found is None:
        classes, codes = np.unique(y, return_inverse=True)
        found = classes, codes
    return found


def quick_places(y: Any) -> tuple[npt.NDArray[Any], Codes] | None:
    """The same where it needs no sorting: two whole numbers, or whole numbers that are near each other."""
    return _two_numbers(y) or _small_integers(y)


def _two_numbers(y: Any) -> tuple[npt.NDArray[Any], Codes] | None:
    if y.dtype.kind not in "iufb":
        return None
    low, high = y.min(), y.max()
    upper = y == high
    if low == high or low != int(low) or high != int(high) or not (upper | (y == low)).all():
        return None
    return np.array([low, high], dtype=y.dtype), upper.view(np.int8)


def _small_integers(y: Any) -> tuple[npt.NDArray[Any], Codes] | None:
    if y.dtype.kind not in "iu":
        return None
    low, high = int(y.min()), int(y.max())
    if high - low >= _FEW:
        return None
    shifted = (y.astype(np.int64) - low if y.dtype.kind == "i" else y - y.dtype.type(low)).astype(np.intp, copy=False)
    present = np.flatnonzero(np.bincount(shifted))
    place = np.zeros(high - low + 1, dtype=np.intp)
    place[present] = np.arange(present.size)
    return present.astype(y.dtype) + y.dtype.type(low), place[shifted]  # in their own type: 2**63 is no int64


def balanced(codes: Codes, classes: int, sample_weight: Array | None = None) -> Array:
    """The factor of each class that makes all count the same; weights are repetitions.

    >>> balanced(np.array([0, 0, 0, 1]), 2).round(3).tolist()
    [0.667, 2.0]
    """
    counts = np.bincount(codes, weights=sample_weight, minlength=classes)
    factors = np.zeros(classes)
    np.divide(counts.sum() / classes, counts, out=factors, where=counts > 0)
    return factors


def row_weights(factor_of_row: Array | None, sample_weight: Array | None) -> Array | None:
    """Both kinds of weights as one; None stands for all ones."""
    if factor_of_row is None or sample_weight is None:
        return sample_weight if factor_of_row is None else factor_of_row
    return factor_of_row * sample_weight


def signs(codes: Codes, k: int) -> Array:
    """+1 for the rows of class k, −1 for the others."""
    y = np.full(codes.size, -1.0)
    y[codes == k] = 1.0
    return y
