"""Several solves at once: threads over problems, one Ctrl-C for all of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import TypeVar

from dualgap.config import available_threads
from dualgap.errors import InvalidData, held, tell

T = TypeVar("T")
SMALL = 500_000  # entries, over all problems, below which starting threads costs more than it brings

#: set inside a worker: the solve running there ends soon after this says so
give_up: ContextVar[threading.Event | None] = ContextVar("give_up", default=None)


def workers_for(n_jobs: int | None, count: int, entries: int) -> int:
    """How many threads for `count` problems of so many entries; None chooses, negative counts from all cores down."""
    if n_jobs is None:
        return 1 if entries * count < SMALL else min(count, available_threads())
    if n_jobs == 0:
        raise InvalidData("n_jobs=0 is not a number of threads: use None, 1 or more, or -1 for all cores.")
    return min(count, n_jobs if n_jobs > 0 else max(1, available_threads() + 1 + n_jobs))


def time_left(max_time: float | None, started: float, k: int, count: int, workers: int) -> float | None:
    """Seconds for the k-th of ``count`` problems: what is left since ``started``, in equal parts to the rounds to come.

    >>> time_left(None, 0.0, 0, 3, 1) is None
    True
    """
    if max_time is None:
        return None
    rounds = -(-count // workers) - k // workers
    return max(max_time - (time.perf_counter() - started), 1e-9) / rounds


def together(task: Callable[[int], T], count: int, workers: int) -> list[T]:
    """[task(0), …, task(count−1)] over threads. The first exception, Ctrl-C included, ends the others and is raised;
    what they warn of is told here."""
    if workers <= 1:
        return [task(k) for k in range(count)]
    from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

    stop = threading.Event()
    warned: list[tuple[str, type[Warning]]] = []

    def worker(k: int) -> T | None:
        give_up.set(stop)
        held.set(warned)
        return None if stop.is_set() else task(k)

    with ThreadPoolExecutor(workers) as pool:
        futures: list[Future[T | None]] = [pool.submit(worker, k) for k in range(count)]
        try:
            while wait(futures, timeout=0.05, return_when=FIRST_EXCEPTION).not_done:
                if any(future.done() and future.exception() for future in futures):
                    break
        finally:
            if not all(future.done() for future in futures):
                stop.set()
    for message, category in warned:
        tell(message, category)
    failed = next((error for future in futures if (error := future.exception())), None)
    if failed:
        raise failed
    return [future.result() for future in futures]  # type: ignore[misc]
