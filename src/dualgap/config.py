"""The machine: how many threads this process may use, and what a bug report needs."""

from __future__ import annotations

import os
from functools import cache

SMALL = 200_000  # entries below which starting threads costs more than it brings
LARGE = 2_000_000  # entries from which waiting for a core is made up for


@cache
def available_threads() -> int:
    """The cores this process may use: affinity, cgroup, and the usual environment limits."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cgroup_cores()
    if quota:
        count = min(count, quota)
    for name in ("DUALGAP_NUM_THREADS", "OMP_NUM_THREADS"):
        value = os.environ.get(name, "")
        if value.isdigit() and int(value) > 0:
            return min(count, int(value))
    return max(1, count)


def threads_for(entries: int) -> int:
    """The threads worth starting for work of that many entries. A short fit takes only cores that are idle: a thread
    that waits for its core costs more than it brings, and other libraries' threads spin for a while after work."""
    if entries < SMALL:
        return 1
    return available_threads() if entries >= LARGE else min(available_threads(), _idle_cores())


def _idle_cores() -> int:
    """Cores that nobody else uses at this moment, the caller's own among them; 1 where the system does not tell."""
    try:
        file = os.open("/proc/loadavg", os.O_RDONLY)  # without Python's text layer: short fits feel it
        try:
            running = int(os.read(file, 100).split()[3].partition(b"/")[0])
        finally:
            os.close(file)
    except (OSError, ValueError, IndexError):
        return 1
    cores = os.cpu_count() or 1
    if available_threads() != cores:  # of the cores that are not ours it says nothing
        return 1
    return max(1, cores - running + 1)


def _cgroup_cores() -> int:
    try:
        with open("/sys/fs/cgroup/cpu.max") as file:
            quota, period = file.read().split()
        return max(1, int(quota) // int(period)) if quota != "max" else 0
    except (OSError, ValueError):
        return 0


def show_config() -> None:
    """Print version, compiler, instruction set, threads and libraries.

    >>> import dualgap as dg
    >>> dg.show_config()  # doctest: +ELLIPSIS
    dualgap       ...
    """
    import platform

    import numpy
    import scipy
    import sklearn

    import dualgap
    from dualgap import _core

    for name, value in (
        ("dualgap", dualgap.__version__),
        ("compiler", _core.compiler),
        ("instructions", _core.simd_level()),
        ("threads", str(available_threads())),
        ("python", f"{platform.python_version()} on {platform.machine()} {platform.system()}"),
        ("numpy", numpy.__version__),
        ("scipy", f"{scipy.__version__} (BLAS: {_blas()})"),
        ("scikit-learn", sklearn.__version__),
    ):
        print(f"{name:<13} {value}")


def _blas() -> str:
    import scipy.linalg  # noqa: F401  (loads its BLAS)
    from threadpoolctl import threadpool_info

    found = [f"{lib['internal_api']} {lib['version']}" for lib in threadpool_info() if lib["user_api"] == "blas"]
    return ", ".join(dict.fromkeys(found)) or "unknown"
