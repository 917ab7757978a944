"""Memory that a method needs beside the data is asked for in words before it is allocated."""

from __future__ import annotations

from pathlib import Path

from dualgap.errors import NotEnoughMemory


def available_memory() -> float:
    """Bytes this process may still take: the machine's, or the control group's where that is less."""
    return min(_machine(), _group(Path("/sys/fs/cgroup")))


def need_memory(size: float, what: str, free: float | None = None) -> None:
    """Raise one sentence where ``size`` bytes are not there; ``what`` begins it. ``free``: where that was read already.

    >>> need_memory(1e3, "solver='pcd' copies the data by columns")
    """
    free = available_memory() if free is None else free
    if size > free:
        raise NotEnoughMemory(f"{what}: {size / 1e9:.3g} GB are needed and {free / 1e9:.3g} GB are free.")


def _machine() -> float:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * float(next(line.split()[1] for line in lines if line.startswith("MemAvailable")))
    except (OSError, StopIteration, ValueError):
        return float("inf")  # not told: let the allocation itself say


def _group(folder: Path) -> float:
    try:
        limit, used = (float((folder / name).read_text()) for name in ("memory.max", "memory.current"))
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        return limit - used + float(stat.get("inactive_file", 0))  # cached files make room
    except (OSError, ValueError):  # no control groups, or "max"
        return float("inf")
