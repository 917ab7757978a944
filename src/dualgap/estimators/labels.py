"""Labels and weights by scikit-learn's rules; the arithmetic is dualgap.labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from dualgap.data import Array
from dualgap.errors import InvalidData
from dualgap.labels import Codes as Codes
from dualgap.labels import balanced, places, quick_places
from dualgap.labels import row_weights as row_weights
from dualgap.labels import signs as signs


def encode(y: Any) -> tuple[npt.NDArray[Any], Codes]:
    """The classes in order, and for each row the place of its class."""
    found = quick_places(y)
    if found is None:
        check_classification_targets(y)
        found = places(y)
    if len(found[0]) < 2:
        raise InvalidData(
            "This solver needs samples of at least 2 classes in the data, but the data contains only one class: "
            f"{found[0][0]!r}"
        )
    return found


def class_factors(class_weight: Any, classes: Any, codes: Codes, y: Any, sample_weight: Array | None) -> Array | None:
    """The factor of each class, or None where all are one; "balanced" counts weights as repetitions."""
    if class_weight is None:
        return None
    if isinstance(class_weight, str):
        return balanced(codes, len(classes), sample_weight)
    return np.asarray(compute_class_weight(class_weight, classes=classes, y=y), dtype=np.float64)
