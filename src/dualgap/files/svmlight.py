"""svmlight text in and out: the reader's and writer's Python side."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.config import available_threads
from dualgap.errors import InvalidData
from dualgap.files.text import read_tables

_ROWS_AT_ONCE = 1 << 14  # rows formatted together by the writer


def load_svmlight(
    source: Any,
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool | str = "auto",
    multilabel: bool = False,
    query_id: bool = False,
    n_threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> tuple[Any, ...]:
    """Read svmlight / LIBSVM text into a CSR matrix and labels.

    Parameters
    ----------
    source : path, int, file object or bytes
        Archives (.gz, .bz2, .xz, .zst) are recognised by their first bytes and unpacked while they are parsed.
    n_features : int, optional
        The width of X; by default the largest column found.
    dtype : data type
        Of X's values, which are rounded once from the text to float64; y is always float64.
    zero_based : bool or "auto"
        Whether columns count from 0. "auto": they do if there is a column 0 somewhere.
    multilabel : bool
        Labels are lists ("1,5"); y is then a list of sorted tuples.
    query_id : bool
        Return the ``qid:`` of every row as a third array.
    n_threads : int, optional
        By default what the process may use.
    progress : callable, optional
        Called every now and then with the bytes of text read so far.

    Returns
    -------
    X : scipy.sparse.csr_matrix
    y : array of shape (n,), or a list of tuples
    qid : array of shape (n,), with ``query_id=True``

    Raises
    ------
    FormatError
        For the first malformed line: file, line, column, what stood there and what was expected.

    Examples
    --------
    >>> import dualgap as dg
    >>> X, y = dg.load_svmlight(b"+1 1:0.5 3:2  # a comment\\n-1 2:1e-3\\n")
    >>> X.shape, X.nnz, y.tolist()
    ((2, 3), 3, [1.0, -1.0])
    >>> dg.load_svmlight(b"+1 1:0.5\\n-1 2:abc\\n")
    Traceback (most recent call last):
        ...
    dualgap.errors.FormatError: <bytes>, line 2, column 6: found 'abc', expected a number as the value.
    """
    return tuple(
        load_svmlight_files(
            [source],
            n_features=n_features,
            dtype=dtype,
            zero_based=zero_based,
            multilabel=multilabel,
            query_id=query_id,
            n_threads=n_threads,
            progress=progress,
        )
    )


def load_svmlight_files(
    sources: Iterable[Any],
    *,
    n_features: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool | str = "auto",
    multilabel: bool = False,
    query_id: bool = False,
    n_threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> list[Any]:
    """Read several files that agree on their width and on what column 0 is: ``[X1, y1, X2, y2, ...]``.

    Parameters are those of :func:`load_svmlight`.

    >>> import dualgap as dg
    >>> X, y, Xt, yt = dg.load_svmlight_files([b"1 1:1\\n", b"-1 3:1\\n"])
    >>> X.shape, Xt.shape
    ((1, 3), (1, 3))
    """
    values = "single" if np.dtype(dtype) == np.float32 else "full"
    tables, width = read_tables(sources, n_features, values, zero_based, multilabel, query_id, n_threads, progress)
    return [part for t in tables for part in _parts(t, width, np.dtype(dtype), multilabel, query_id)]


def _parts(table: dict[str, Any], width: int, dtype: Any, multilabel: bool, query_id: bool) -> Iterator[Any]:
    from scipy.sparse import csr_matrix

    data = table["data"].astype(dtype, copy=False)
    yield csr_matrix((data, table["indices"], table["indptr"]), shape=(table["rows"], width), copy=False)
    if multilabel:
        labels = table["labels"].tolist()
        ends = np.cumsum(table["label_counts"]).tolist()
        yield [tuple(sorted(labels[a:b])) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    else:
        yield table["labels"]
    if query_id:
        yield table["queries"]


def dump_svmlight(
    X: Any,
    y: Any,
    target: Any,
    *,
    zero_based: bool = True,
    comment: str | None = None,
    query_id: Any = None,
    multilabel: bool = False,
    n_threads: int | None = None,
) -> None:
    """Write rows as svmlight text, with the fewest digits that read back as the same numbers.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, p)
        Zeros of an array are left out; stored zeros of a sparse matrix are kept.
    y : array of shape (n,), or a list of n lists of labels with ``multilabel=True``
    target : path, or a file object opened in binary mode
    zero_based : bool
        Whether the first column is called 0 or 1.
    comment : str, optional
        Written at the top, each line behind a '#'.
    query_id : array of shape (n,), optional
        Written as ``qid:``.
    multilabel : bool
        y holds lists of labels.
    n_threads : int, optional
        By default what the process may use.

    Examples
    --------
    >>> import io
    >>> import dualgap as dg
    >>> text = io.BytesIO()
    >>> dg.dump_svmlight([[0.1, 0.0], [0.0, 1 / 3]], [1, -1], text, zero_based=False)
    >>> text.getvalue()
    b'1 1:0.1\\n-1 2:0.3333333333333333\\n'
    """
    rows = _Rows(X)
    labels, label_starts = _labels(y, rows.count, multilabel)
    queries = None
    if query_id is not None:
        queries = np.ascontiguousarray(query_id, dtype=np.int64)
        if queries.shape != (rows.count,):
            raise InvalidData(f"query_id has shape {queries.shape}, expected ({rows.count},), one number a row.")
    threads = n_threads or available_threads()
    with _writable(target) as write:
        for line in (comment or "").splitlines():
            write(b"# " + line.encode() + b"\n")
        for first in range(0, rows.count, _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, rows.count)
            values, columns, starts = rows.block(first, last)
            for text in _core.write_svmlight(
                values=values,
                columns=columns,
                starts=starts,
                labels=labels if label_starts is not None else labels[first:last],
                label_starts=None if label_starts is None else label_starts[first : last + 1],
                queries=None if queries is None else queries[first:last],
                first_column=0 if zero_based else 1,
                threads=threads if len(values) > 10_000 else 1,
            ):
                write(text)


class _Rows:
    """Rows of a sparse or dense matrix, a block at a time as CSR arrays."""

    def __init__(self, X: Any) -> None:
        self.sparse = X.tocsr() if hasattr(X, "tocsr") else None
        values = self.sparse.data if self.sparse is not None else np.asarray(X)
        if values.dtype.kind not in "biuf":
            raise InvalidData(f"X must hold numbers, not {values.dtype}.")
        kind = np.dtype(np.float32) if values.dtype.kind == "f" and values.dtype.itemsize <= 4 else np.dtype(np.float64)
        self.values = np.ascontiguousarray(values, dtype=kind) if self.sparse is not None else values
        self.kind = kind
        shape = self.sparse.shape if self.sparse is not None else values.shape
        if len(shape) != 2:
            raise InvalidData(f"Expected 2D array, got {len(shape)}D array instead: reshape it to rows × columns.")
        self.count = int(shape[0])
        if self.sparse is not None:
            self.columns = _whole(self.sparse.indices)
            self.starts = _whole(self.sparse.indptr)

    def block(self, first: int, last: int) -> tuple[Any, Any, Any]:
        if self.sparse is not None:
            starts = self.starts[first : last + 1]
            low, high = int(starts[0]), int(starts[-1])
            return self.values[low:high], self.columns[low:high], np.ascontiguousarray(starts - starts[0])
        part = np.ascontiguousarray(self.values[first:last], dtype=self.kind)
        row, column = np.nonzero(part)
        starts = np.zeros(last - first + 1, dtype=np.int64)
        np.cumsum(np.bincount(row, minlength=last - first), out=starts[1:])
        return part[row, column], column.astype(np.int64), starts


def _whole(a: Any) -> Any:
    return np.ascontiguousarray(a if a.dtype in (np.int32, np.int64) else a.astype(np.int64))


def _labels(y: Any, rows: int, multilabel: bool) -> tuple[Any, Any]:
    starts = None
    if multilabel:
        lists = [list(labels) for labels in y]
        starts = np.zeros(len(lists) + 1, dtype=np.int64)
        np.cumsum([len(labels) for labels in lists], out=starts[1:])
        y = [label for labels in lists for label in labels]
    labels = np.ascontiguousarray(y, dtype=np.float64)
    count = labels.size if starts is None else len(starts) - 1
    if labels.ndim != 1 or count != rows:
        raise InvalidData(f"y has {count} labels for {rows} rows.")
    return labels, starts


@contextlib.contextmanager
def _writable(target: Any) -> Iterator[Callable[[bytes], Any]]:
    if hasattr(target, "write"):
        yield target.write
        return
    with open(os.fspath(target), "wb", buffering=0) as file:

        def write(data: bytes) -> None:
            view = memoryview(data)
            while view:
                view = view[file.write(view) :]

        yield write
