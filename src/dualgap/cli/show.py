"""What people see: text with a little colour, JSON for machines, progress on a terminal after the first second."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

_CODES = {"good": "32", "bad": "31", "warn": "33", "strong": "1"}


def coloured(text: str, kind: str, stream: Any = None) -> str:
    """The text in colour where the stream is a terminal and NO_COLOR is not set."""
    stream = stream or sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" or not stream.isatty():
        return text
    return f"\x1b[{_CODES[kind]}m{text}\x1b[0m"


def warn(text: str) -> None:
    print(f"dualgap: {coloured('warning', 'warn', sys.stderr)}: {text}", file=sys.stderr)


def print_json(value: dict[str, Any]) -> None:
    print(json.dumps(_plain(value), ensure_ascii=False, allow_nan=False))


def _plain(value: Any) -> Any:
    """What JSON has a word for; a number that is not finite is null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int)) else str(value)


def rows(pairs: list[tuple[str, str]]) -> str:
    """Names and values in two columns."""
    width = max(len(name) for name, _ in pairs)
    return "\n".join(f"{name:<{width}}  {value}" for name, value in pairs)


@contextlib.contextmanager
def reading(path: str, quiet: bool = False) -> Iterator[Callable[[int], Any] | None]:
    """A progress callback for reading a file, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from tqdm import tqdm

    packed = path.endswith((".gz", ".bz2", ".xz", ".zst"))
    size = os.path.getsize(path) if os.path.isfile(path) and not packed else None
    with tqdm(total=size, desc="reading", unit="B", unit_scale=True, leave=False, delay=1, file=sys.stderr) as bar:
        yield lambda done: bar.update(done - bar.n)


@contextlib.contextmanager
def counting(what: str, total: int, quiet: bool = False) -> Iterator[Callable[[], Any]]:
    """A bar over tasks; call to count one."""
    if quiet or not sys.stderr.isatty():
        yield lambda: None
        return
    from tqdm import tqdm

    with tqdm(total=total, desc=what, leave=False, delay=1, file=sys.stderr) as bar:
        yield lambda: bar.update(1)


@contextlib.contextmanager
def solving(tol: float, quiet: bool = False) -> Iterator[Callable[[Any], Any] | None]:
    """A callback that draws the gap falling towards tol, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from dualgap.progress import GapBar

    bar = GapBar(tol, after=1.0, stays=False)
    try:
        yield bar
    finally:
        bar.close()
