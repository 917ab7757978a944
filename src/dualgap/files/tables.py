"""CSV and Parquet through pyarrow, and ``.npz``: numbers as they are, categories one-hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from dualgap.errors import FormatError, InvalidData


def read_table(path: str, label: str | None, names: list[str] | None = None) -> tuple[Any, Any, list[str]]:
    """X, y (None where ``label`` is None or missing while ``names`` are given) and the names of X's columns.

    A column of text or categories becomes one column ``name=value`` for each value it takes. With ``names``, those of
    an earlier table, X has exactly these columns; values not seen then are left out.
    """
    table = _open(path)
    columns = list(table.column_names)
    if label is None and names is None:
        raise InvalidData(f"{path} needs --label COLUMN; it has {_list(columns)}.")
    y = None
    if label is not None and label in columns:
        y = _values(table, label, path)
    elif label is not None and names is None:
        raise InvalidData(f"{path} has no column {label!r}; it has {_list(columns)}.")
    wanted = [name for name in columns if name != label]
    blocks = _one_hot(table, wanted, path) if names is None else _as_before(table, names, path)
    X, found = _assembled(blocks, table.num_rows)
    return X, y, found


def _assembled(blocks: list[tuple[str, Any]], rows: int) -> tuple[Any, list[str]]:
    """A dense table of numbers, or a sparse one where there are categories; the names beside it."""
    names = [name for name, _ in blocks]
    if not blocks:
        raise InvalidData("There is no column besides the label.")
    if all(values.dtype != np.bool_ for _, values in blocks):
        return np.column_stack([values for _, values in blocks]), names
    from scipy.sparse import csc_matrix

    filled = [np.flatnonzero(values) for _, values in blocks]
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in filled])])
    data = np.concatenate([values[at].astype(np.float64) for (_, values), at in zip(blocks, filled, strict=True)])
    X = csc_matrix((data, np.concatenate(filled), starts), shape=(rows, len(blocks))).tocsr()
    return X, names


def _open(path: str) -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Reading tables needs pyarrow: pip install 'dualgap[tables]'.") from None
    try:
        if path.endswith((".parquet", ".pq")):
            return pyarrow.parquet.read_table(path)
        return pyarrow.csv.read_csv(path)
    except pyarrow.ArrowInvalid as error:
        raise FormatError(f"{path}: {str(error).splitlines()[0]}.", path) from None


def _is_text(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_dictionary(kind))


def _values(table: Any, name: str, path: str) -> Any:
    """One column as numbers, or as text."""
    import pyarrow.types as t

    column = table.column(name)
    if column.null_count:
        raise InvalidData(f"{path}: column {name!r} has {column.null_count} missing values; fill or drop them first.")
    if _is_text(column.type):
        return np.array([str(value) for value in column.to_pylist()], dtype=object)
    if not (t.is_integer(column.type) or t.is_floating(column.type) or t.is_boolean(column.type)):
        raise InvalidData(f"{path}: column {name!r} holds {column.type}; numbers, text and categories can be used.")
    return column.to_numpy().astype(np.float64)


def _one_hot(table: Any, wanted: list[str], path: str) -> list[tuple[str, Any]]:
    blocks: list[tuple[str, Any]] = []
    for name in wanted:
        values = _values(table, name, path)
        if values.dtype == object:
            blocks += [(f"{name}={value}", values == value) for value in sorted(set(values.tolist()))]
        else:
            blocks.append((name, values))
    return blocks


def _as_before(table: Any, names: list[str], path: str) -> list[tuple[str, Any]]:
    blocks = []
    cache: dict[str, Any] = {}
    for name in names:
        column, _, value = (name, "", "") if name in table.column_names else name.partition("=")
        if column not in table.column_names:
            raise InvalidData(f"{path} has no column {column!r}, which the model was trained with.")
        if column not in cache:
            cache[column] = _values(table, column, path)
        values = cache[column]
        blocks.append((name, values == value if values.dtype == object else values))
    return blocks


def read_npz(path: str) -> tuple[Any, Any]:
    """``X`` and ``y``, or a CSR matrix as SciPy saves it (data, indices, indptr, shape) with ``y`` beside it."""
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: file[name] for name in file.files}
    except (ValueError, EOFError, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FormatError(f"{path} is not an .npz file of plain arrays.", path) from None
    except Exception as error:  # zipfile's and zlib's own
        raise FormatError(f"{path} is damaged ({error}).", path) from None
    y = found.get("y")
    if "X" in found:
        return found["X"], y
    if {"data", "indices", "indptr", "shape"} <= found.keys():
        from scipy.sparse import csr_matrix

        shape = tuple(int(size) for size in found["shape"])
        try:
            return csr_matrix((found["data"], found["indices"], found["indptr"]), shape=shape), y
        except ValueError as error:
            raise FormatError(f"{path} holds no CSR matrix: {error}.", path) from None
    raise FormatError(f"{path} needs X and y, or data, indices, indptr, shape and y; it has {_list(found)}.", path)


def _list(names: Any) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "")
