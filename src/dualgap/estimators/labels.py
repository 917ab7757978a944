"""Labels and weights at the border: any labels → codes 0…K−1, class and sample weights → one cost factor a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from dualgap.data import Array
from dualgap.errors import InvalidData

Codes = npt.NDArray[np.integer[Any]]
_FEW = 4096  # a table of so many whole numbers is cheaper than sorting the labels


def encode(y: Any) -> tuple[npt.NDArray[Any], Codes]:
    """The classes in order, and for each row the place of its class. Sorts only where nothing quicker will do."""
    found = _two_numbers(y) or _small_integers(y)
    if found is None:
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        found = classes, codes
    if len(found[0]) < 2:
        raise InvalidData(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{found[0][0]!r}"
        )
    return found


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
    return (present + low).astype(y.dtype), place[shifted]


def class_factors(class_weight: Any, classes: Any, codes: Codes, y: Any, sample_weight: Array | None) -> Array | None:
    """The factor of each class, or None where all are one; "balanced" counts weights as repetitions."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        counts = np.bincount(codes, weights=sample_weight, minlength=len(classes))
        factors = np.zeros(len(classes))
        np.divide(counts.sum() / len(classes), counts, out=factors, where=counts > 0)
        return factors
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)


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
