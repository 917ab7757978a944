"""Arrays of the user's, looked at once and then used in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from dualgap import _core
from dualgap.config import LARGE, available_threads
from dualgap.errors import InvalidData

Array = npt.NDArray[np.float64]


def as_matrix(X: Any, name: str = "X") -> _core.Matrix:
    """The core's view of X. Copies only what cannot be used in place: other dtypes, byte orders and sparse formats."""
    if isinstance(X, _core.Matrix):
        return X
    try:
        matrix = _sparse(X) if hasattr(X, "tocsr") else _dense(X)
    except _core.InvalidData as error:
        raise InvalidData(str(error)) from None
    if matrix.rows == 0:
        raise InvalidData("Found array with 0 sample(s) while a minimum of 1 is required.")
    if matrix.cols == 0:
        raise InvalidData("Found array with 0 feature(s) while a minimum of 1 is required.")
    if matrix.rows >= 2**32:
        raise InvalidData(f"{matrix.rows} rows are more than the 2**32 that one fit takes.")
    if not matrix.all_fit(looking_threads(matrix)):
        raise InvalidData(_what_does_not_fit(X, name))
    return matrix


def looking_threads(matrix: _core.Matrix) -> int:
    """A look is one short pass: only large data is worth more than one thread."""
    return available_threads() if matrix.entries >= LARGE else 1


def _what_does_not_fit(X: Any, name: str) -> str:
    """NaN, infinity, or a number whose square times many others has no room."""
    values = np.asarray(X.data if hasattr(X, "tocsr") else X, dtype=np.float64)
    if np.isfinite(values).all():
        most = float(np.abs(values).max())
        return f"{name} contains values up to {most:.2g}, whose squares float64 cannot hold: scale its columns."
    what = "NaN" if np.isnan(values).any() else "infinity"
    return f"Input {name} contains {what}; replace or drop those rows first."


def _usable(a: Any) -> Any:
    """Float32 or float64 in the machine's byte order; anything else becomes float64."""
    if np.iscomplexobj(a):
        raise InvalidData("Complex data not supported: expected real numbers.")
    if a.dtype in (np.float32, np.float64) and a.dtype.isnative:
        return a
    try:
        return a.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"X must hold numbers: {error}.") from None


def _dense(X: Any) -> _core.Matrix:
    a = _usable(np.asarray(X))
    if a.ndim != 2:
        raise InvalidData(f"Expected 2D array, got {a.ndim}D array instead: reshape it to rows × columns.")
    if any(step % a.itemsize for step in a.strides):  # a field of a packed record
        a = a.copy()
    return _core.dense(a)


def _sparse(X: Any) -> _core.Matrix:
    csr = X.tocsr()
    data = _usable(csr.data)
    indices, indptr = (
        a if a.dtype in (np.int32, np.int64) and a.dtype.isnative else a.astype(np.int64)
        for a in (csr.indices, csr.indptr)
    )
    data, indices, indptr = (np.ascontiguousarray(a) for a in (data, indices, indptr))
    rows, cols = csr.shape
    matrix = _core.csr(data, indices, indptr, rows, cols)
    if not matrix.increasing:  # duplicates would be counted wrongly in norms: add them up in a copy
        import scipy.sparse

        tidy = scipy.sparse.csr_matrix((data.copy(), indices.copy(), indptr.copy()), shape=csr.shape)
        tidy.sum_duplicates()
        matrix = _core.csr(tidy.data, tidy.indices, tidy.indptr, rows, cols)
    return matrix


def as_vector(values: Any, name: str, size: int) -> Array:
    """A contiguous float64 vector of the given size with finite values."""
    try:
        a = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"{name} must hold numbers: {error}.") from None
    if a.shape != (size,):
        raise InvalidData(f"{name} has shape {a.shape}, expected ({size},), one value a row.")
    with np.errstate(over="ignore", invalid="ignore"):  # a sum that overflows only means a closer look
        suspect = not np.isfinite(a.sum())
    if suspect and not np.isfinite(a).all():
        raise InvalidData(f"Input {name} contains NaN or infinity.")
    return a


def as_number(value: Any, name: str) -> float:
    """A parameter as a float.

    >>> as_number("0.5", "C")
    0.5
    """
    try:
        return float(value)
    except (TypeError, ValueError):
        raise InvalidData(f"{name}={value!r} is not a number.") from None


def largest(X: Any) -> float:
    """The largest magnitude in X."""
    values = X.data if hasattr(X, "tocsr") else np.asarray(X)
    return float(max(values.max(initial=0.0), -values.min(initial=0.0)))


def column_names(X: Any, cols: int) -> list[str] | None:
    """The names of a table's columns, where it has them: words, no two alike.

    >>> column_names(np.zeros((2, 3)), 3) is None
    True
    """
    names = getattr(X, "column_names", None)  # Arrow: there `columns` are the data
    if names is None:
        names = getattr(X, "columns", None)
    try:
        found = list(names)  # type: ignore[arg-type]
    except TypeError:
        return None
    words = len(found) == cols and all(isinstance(name, str) for name in found)
    return found if words and len(set(found)) == cols else None
