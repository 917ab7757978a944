"""What people see: text with a little colour, JSON for machines, progress on a terminal after the first second."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import time
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
    print(json.dumps(value, default=_plain, ensure_ascii=False))


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


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
def solving(tol: float, quiet: bool = False) -> Iterator[Callable[[Any], None] | None]:
    """A callback that draws the gap falling towards tol, or None where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    bar = _GapBar(tol)
    try:
        yield bar
    finally:
        bar.close()


class _GapBar:
    """Its length is the gap still to close, on a log scale. Drawn from the first second on, at most ten times a second:
    a gap that does not move is shown as well."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.first = 0.0
        self.bar: Any = None
        self.next = time.monotonic() + 1.0

    def __call__(self, state: Any) -> None:
        gap = state.gap / max(abs(state.primal), abs(state.dual), 1e-300)
        if not (math.isfinite(gap) and gap > 0):
            return
        self.first = max(self.first, gap, 1.001 * self.tol)
        if time.monotonic() < self.next:
            return
        self.next = time.monotonic() + 0.1
        if self.bar is None:
            from tqdm import tqdm

            form = "{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}"
            self.bar = tqdm(total=100, desc="solving", bar_format=form, leave=False, file=sys.stderr)
        done = math.log(self.first / max(gap, self.tol)) / math.log(self.first / self.tol)
        self.bar.n = max(self.bar.n, min(100, int(100 * done)))
        self.bar.set_postfix_str(f"gap {gap:.1e} → {self.tol:g}", refresh=True)

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()
