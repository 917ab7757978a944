"""Mapped data: a folder of plain ``.npy`` arrays and a small header, used in place by every solver.

    header.json   {"format": "dualgap data 1", "rows", "columns", "storage": "csr" or "dense", "names"}
    y.npy         and X.npy, or data.npy, indices.npy, indptr.npy

Text is converted in one pass, a block at a time. The folder takes its name when all of it is on the disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Any

import numpy as np

from dualgap.config import available_threads
from dualgap.errors import FormatError, InvalidData
from dualgap.files.atomic import new_folder, synced
from dualgap.files.sources import name_of, text_blocks
from dualgap.files.text import read_text

FORMAT = "dualgap data 1"
_BLOCK = 16 << 20  # bytes of text held at a time
_HEAD = 128  # bytes of a .npy header


def open_mapped(folder: str | os.PathLike[str]) -> tuple[Any, Any]:
    """X and y of a folder that ``dualgap convert`` or ``save_mapped`` wrote, mapped from the disk, read only.

    >>> import os, tempfile
    >>> import dualgap as dg
    >>> from dualgap.files.mapped import convert_svmlight
    >>> folder = os.path.join(tempfile.mkdtemp(), "data.dg")
    >>> _ = convert_svmlight(b"1 1:0.5 3:2\\n-1 2:1\\n", folder)
    >>> X, y = dg.open_mapped(folder)
    >>> X.shape, y.tolist()
    ((2, 3), [1.0, -1.0])
    """
    header, arrays = mapped_arrays(folder)
    if header["storage"] == "dense":
        return arrays["X"], arrays["y"]
    from scipy.sparse import csr_matrix

    matrix = csr_matrix((header["rows"], header["columns"]))
    matrix.data, matrix.indices, matrix.indptr = arrays["data"], arrays["indices"], arrays["indptr"]
    return matrix, arrays["y"]


def is_mapped(folder: str | os.PathLike[str]) -> bool:
    """Is this a folder of mapped data?"""
    return (Path(folder) / "header.json").is_file()


def mapped_arrays(folder: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the mapped arrays."""
    place = Path(folder)
    if not is_mapped(place):
        raise FormatError(f"{place} is not a folder of mapped data: it has no header.json.", str(place))
    try:
        header = json.loads((place / "header.json").read_text())
        if header["format"] != FORMAT:
            raise FormatError(f"{place} has format {header['format']!r}; this version reads {FORMAT!r}.", str(place))
        names = ["X"] if header["storage"] == "dense" else ["data", "indices", "indptr"]
        arrays = {name: np.load(place / f"{name}.npy", mmap_mode="r") for name in [*names, "y"]}
        rows, columns = int(header["rows"]), int(header["columns"])
        if header["storage"] == "dense":
            fits = arrays["X"].shape == (rows, columns)
        else:
            count = int(arrays["indptr"][-1])
            fits = arrays["indptr"].shape == (rows + 1,) and len(arrays["data"]) == len(arrays["indices"]) == count
        if not fits or arrays["y"].shape != (rows,):
            raise ValueError("shapes")
    except (ValueError, KeyError, TypeError, IndexError, FileNotFoundError, EOFError):
        raise FormatError(f"{place} is damaged: its arrays do not fit its header.", str(place)) from None
    return header, arrays


def save_mapped(folder: str | os.PathLike[str], X: Any, y: Any, names: list[str] | None = None) -> dict[str, Any]:
    """Write a matrix that is in memory; returns the header."""
    _refuse_existing(folder)
    sparse = hasattr(X, "tocsr")
    arrays = {"y": np.asarray(y)}
    arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr} if sparse else {"X": np.asarray(X)}
    if arrays["y"].dtype.kind == "O":
        arrays["y"] = arrays["y"].astype(str)
    header = _header(X.shape, "csr" if sparse else "dense", names)
    with new_folder(folder) as part:
        for name, array in arrays.items():
            with open(part / f"{name}.npy", "wb") as file:
                np.save(file, array, allow_pickle=False)
                synced(file)
        _write_header(part, header)
    return header


def convert_svmlight(
    source: Any,
    folder: str | os.PathLike[str],
    *,
    dtype: Any = np.float64,
    zero_based: bool | str = "auto",
    n_threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> dict[str, Any]:
    """Convert svmlight text in one pass with bounded memory; returns the header."""
    _refuse_existing(folder)
    with new_folder(folder) as part:
        writer = _Writer(part, np.dtype(dtype))
        try:
            for table in _tables(source, np.dtype(dtype), zero_based, n_threads or available_threads(), progress):
                writer.add(table)
            header = writer.finish(zero_based)
        finally:
            writer.close()
        _write_header(part, header)
    return header


def _tables(source: Any, dtype: Any, zero_based: bool | str, threads: int, progress: Any) -> Iterable[dict[str, Any]]:
    lines = done = 0
    values = "single" if dtype == np.float32 else "full"
    for text in text_blocks(source, _BLOCK):
        table = read_text(
            text, name_of(source), values=values, zero_based=zero_based, threads=threads, lines_before=lines
        )
        lines += table["lines"]
        done += len(text)
        if progress:
            progress(done)
        yield table


def _header(shape: Any, storage: str, names: list[str] | None) -> dict[str, Any]:
    header = {"format": FORMAT, "rows": int(shape[0]), "columns": int(shape[1]), "storage": storage}
    return {**header, "names": names} if names else header


def _write_header(part: Path, header: dict[str, Any]) -> None:
    with open(part / "header.json", "w") as file:
        json.dump(header, file)
        synced(file)


def _refuse_existing(folder: str | os.PathLike[str]) -> None:
    if os.path.lexists(folder):
        raise FileExistsError(17, "There is something of that name already", os.fsdecode(folder))


class _Column:
    """A ``.npy`` file that grows; its header is written when the length is known."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.path, self.dtype, self.count = path, np.dtype(dtype), 0
        self.file: IO[bytes] = open(path, "w+b")  # noqa: SIM115  (closed by its writer)
        self.file.write(b"\0" * _HEAD)

    def add(self, values: Any) -> None:
        np.ascontiguousarray(values, dtype=self.dtype).tofile(self.file)
        self.count += len(values)

    def finish(self) -> None:
        text = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.count},), }}"
        self.file.seek(0)
        self.file.write(b"\x93NUMPY\x01\x00" + (_HEAD - 10).to_bytes(2, "little"))
        self.file.write(text.ljust(_HEAD - 11).encode() + b"\n")
        synced(self.file)

    def rewrite(self, dtype: Any, shift: int) -> None:
        """The same numbers plus `shift` in another width, a block at a time."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype and not shift:
            return
        self.file.flush()
        old: Any = (
            np.memmap(self.path, dtype=self.dtype, mode="r", offset=_HEAD, shape=(self.count,)) if self.count else []
        )
        fresh = _Column(self.path.with_suffix(".new"), wanted)
        for first in range(0, self.count, 1 << 20):
            fresh.add(old[first : first + (1 << 20)] + self.dtype.type(shift))
        self.file.close()
        os.replace(fresh.path, self.path)
        self.file, self.dtype = fresh.file, wanted


class _Writer:
    def __init__(self, part: Path, dtype: Any) -> None:
        self.data = _Column(part / "data.npy", dtype)
        self.indices = _Column(part / "indices.npy", np.int32)
        self.indptr = _Column(part / "indptr.npy", np.int64)
        self.y = _Column(part / "y.npy", np.float64)
        self.indptr.add(np.zeros(1, dtype=np.int64))
        self.lowest, self.highest = 2**63 - 1, -1

    def add(self, table: dict[str, Any]) -> None:
        if table["indices"].dtype == np.int64 and self.indices.dtype == np.int32:
            self.indices.rewrite(np.int64, 0)
        self.indptr.add(table["indptr"][1:].astype(np.int64) + self.data.count)
        self.data.add(table["data"])
        self.indices.add(table["indices"])
        self.y.add(table["labels"])
        if len(table["data"]):
            self.lowest = min(self.lowest, table["lowest"])
            self.highest = max(self.highest, table["highest"])

    def finish(self, zero_based: bool | str) -> dict[str, Any]:
        if not self.y.count:
            raise InvalidData("There are no rows to convert.")
        from_zero = zero_based is True or (zero_based == "auto" and (self.lowest == 0 or not self.data.count))
        wide = self.indices.dtype == np.int64 or self.data.count > np.iinfo(np.int32).max
        kind = np.int64 if wide else np.int32
        self.indices.rewrite(kind, 1 if from_zero and zero_based == "auto" else 0)
        self.indptr.rewrite(kind, 0)
        for column in (self.data, self.indices, self.indptr, self.y):
            column.finish()
        columns = max(1, self.highest + (1 if from_zero else 0))
        return {**_header((self.y.count, columns), "csr", None), "zero_based": from_zero}

    def close(self) -> None:
        for column in (self.data, self.indices, self.indptr, self.y):
            column.file.close()
