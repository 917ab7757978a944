"""svmlight text through the core's reader. Nothing here imports NumPy: the program reads while it is being imported."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from dualgap import _core
from dualgap.config import available_threads
from dualgap.errors import FormatError, InvalidData
from dualgap.files.sources import name_of, opened, waits, whole_archives

_BASES = {True: "zero", False: "one", "auto": "unknown"}


def read_text(
    text: Any,
    name: str,
    *,
    values: str = "full",
    zero_based: bool | str = "auto",
    multilabel: bool = False,
    query_id: bool = False,
    threads: int = 1,
    progress: Callable[[int], Any] | None = None,
    lines_before: int = 0,
) -> dict[str, Any]:
    """The arrays of a descriptor's, a read function's or bytes' text, or FormatError for the first malformed line.

    ``values``: "full" for float64, "single" for float32, "exact" for float32 where that changes no value.
    """
    table: Any = _core.read_svmlight(
        source=text,
        values=values,
        many_labels=multilabel,
        queries=query_id,
        base=_BASES[zero_based],
        threads=threads,
        progress=progress,
    )
    if isinstance(table, tuple):
        line, column, found, expected = table
        line = int(line) + lines_before
        place = f"{name}, line {line}, column {column}"
        raise FormatError(f"{place}: found {found}, expected {expected}.", name, line, int(column))
    return dict(table)


def read_tables(
    sources: Iterable[Any],
    n_features: int | None = None,
    values: str = "full",
    zero_based: bool | str = "auto",
    multilabel: bool = False,
    query_id: bool = False,
    n_threads: int | None = None,
    progress: Callable[[int], Any] | None = None,
) -> tuple[list[dict[str, Any]], int]:
    """What the core read of each source, columns from 0, and the width they share."""
    if zero_based not in (True, False, "auto"):
        raise InvalidData(f"zero_based={zero_based!r} is not True, False or 'auto'.")
    tables = []
    for source in sources:
        name = name_of(source)
        with whole_archives(name), opened(source) as text:
            threads = n_threads or available_threads()
            if callable(text) and waits(source):  # on the thread that sees Ctrl-C
                threads = 1
            tables.append(
                read_text(
                    text, name, values=values, zero_based=zero_based, multilabel=multilabel, query_id=query_id,
                    threads=threads, progress=progress,
                )
            )  # fmt: skip
    if not tables:
        raise InvalidData("Expected one source or more.")
    shifted = zero_based is not True
    if zero_based == "auto" and any(t["lowest"] < 1 for t in tables):  # as scikit-learn: also where a file has none
        for t in tables:
            t["indices"] += 1
        shifted = False
    for t in tables:
        t["zero_based"] = not shifted
    found = max(1, *(t["highest"] + (0 if shifted else 1) for t in tables))
    if n_features is not None and n_features < found:
        raise InvalidData(f"n_features={n_features} is too few: there is a column number {found}.")
    return tables, n_features or found
