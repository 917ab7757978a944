"""Data of any kind by its path: svmlight text, mapped folders, CSV, Parquet, ``.npz``.

NumPy is imported where it is used, not above: text is read while the program still imports it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from dualgap.errors import InvalidData

TABLES = (".csv", ".csv.gz", ".csv.bz2", ".csv.zst", ".parquet", ".pq")


class Csr:
    """Three arrays and a shape: as much of a sparse matrix as a Problem needs, without importing SciPy."""

    def __init__(self, data: Any, indices: Any, indptr: Any, shape: tuple[int, int]) -> None:
        self.data, self.indices, self.indptr, self.shape = data, indices, indptr, shape

    def tocsr(self) -> Csr:
        return self

    def to_scipy(self) -> Any:
        from scipy.sparse import csr_matrix

        return csr_matrix((self.data, self.indices, self.indptr), shape=self.shape, copy=False)

    def as_wide_as(self, width: int) -> Csr:
        """The same rows with another number of columns; those past it are dropped."""
        import numpy as np

        if width >= self.shape[1]:
            return Csr(self.data, self.indices, self.indptr, (self.shape[0], width))
        keep = self.indices < width
        ends = np.concatenate([[0], np.cumsum(keep)])[self.indptr]
        return Csr(self.data[keep], self.indices[keep], ends.astype(self.indptr.dtype), (self.shape[0], width))


class Data:
    """X is a Csr, a SciPy CSR matrix or an array; y an array or None; ``zero_based`` is what the file says, or None."""

    def __init__(
        self, X: Any, y: Any, kind: str, names: list[str] | None = None, zero_based: bool | None = None
    ) -> None:
        self.X, self.y, self.kind, self.names, self.zero_based = X, y, kind, names, zero_based

    @property
    def sparse(self) -> bool:
        return hasattr(self.X, "tocsr")


def is_table(path: str | os.PathLike[str]) -> bool:
    """Is it a CSV or Parquet file by its name?"""
    return os.fsdecode(path).lower().endswith(TABLES)


def read_data(
    path: str,
    *,
    label: str | None = None,
    names: list[str] | None = None,
    zero_based: bool | str = "auto",
    values: str = "full",
    n_threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> Data:
    """Read whatever is at the path; "-" is svmlight text from the standard input. ``values`` as for ``read_text``."""
    if os.path.isdir(path):
        from dualgap.files.mapped import mapped_arrays

        header, arrays = mapped_arrays(path)
        X: Any = arrays.get("X")
        if X is None:
            shape = (header["rows"], header["columns"])
            X = Csr(arrays["data"], arrays["indices"], arrays["indptr"], shape)
        return Data(X, arrays["y"], "mapped " + header["storage"], header.get("names"), header.get("zero_based"))
    if is_table(path):
        from dualgap.files.tables import read_table

        X, y, found = read_table(path, label, names)
        return Data(X, y, "table", found)
    if path.endswith(".npz"):
        from dualgap.files.tables import read_npz

        X, y = read_npz(path)
        return Data(X, y, "npz")
    from dualgap.files.text import read_tables

    source: Any = 0 if path == "-" else path
    (table,), width = read_tables([source], None, values, zero_based, n_threads=n_threads, progress=progress)
    if not table["rows"]:
        raise InvalidData(f"{path} has no rows.")
    X = Csr(table["data"], table["indices"], table["indptr"], (table["rows"], width))
    return Data(X, table["labels"], "svmlight", None, table["zero_based"])
