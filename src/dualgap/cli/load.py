"""Data for a command. Importing NumPy takes as long as reading a file of some size: both go on at the same time."""

from __future__ import annotations

import importlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dualgap.cli.show import reading
from dualgap.files.datasets import Data, read_data
from dualgap.files.sources import waits

T = TypeVar("T")
ZERO_BASED: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}


def load(
    args: Any, names: list[str] | None = None, values: str = "full", meanwhile: Sequence[str] = ()
) -> tuple[Data, float]:
    """The data and the seconds it took; the modules named are imported while it is read."""
    started = time.perf_counter()
    with reading(args.data, getattr(args, "quiet", False)) as progress:

        def read(watch: Callable[[int], Any] | None) -> Data:
            return read_data(
                args.data,
                label=args.label,
                names=names,
                zero_based=ZERO_BASED[args.zero_based],
                values=values,
                n_threads=args.threads,
                progress=watch,
            )

        if meanwhile and not waits(0 if args.data == "-" else args.data):
            data = _aside(read, progress, meanwhile)
        else:  # a pipe may be silent, and Ctrl-C is seen on this thread
            data = read(progress)
    return data, time.perf_counter() - started


def _aside(task: Callable[[Any], T], progress: Callable[[int], Any] | None, modules: Sequence[str]) -> T:
    """The task on a thread of its own while this one imports. Ctrl-C ends both."""
    left, done = threading.Event(), threading.Event()
    answers: list[T] = []
    errors: list[BaseException] = []

    def watch(count: int) -> None:
        if left.is_set():
            raise KeyboardInterrupt
        if progress:
            progress(count)

    def work() -> None:
        try:
            answers.append(task(watch))
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    threading.Thread(target=work).start()
    try:
        for name in modules:
            importlib.import_module(name)
        done.wait()
    except BaseException:
        left.set()
        done.wait()
        raise
    if errors:
        raise errors[0]
    return answers[0]


def describe(path: str, data: Data, seconds: float) -> str:
    """What was read, in one line."""
    n, p = data.X.shape
    entries = f", {len(data.X.data):,} entries" if data.sparse else ""
    return f"{path}: {n:,} rows, {p:,} columns{entries} ({data.kind}), read in {seconds:.2f} s"
