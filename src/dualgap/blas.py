"""SciPy's BLAS on one thread while we call it: threads are ours, and one thread gives the same bits everywhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_users = 0
_limit: Any = None


@cache
def _controller() -> Any:
    import scipy.linalg.cython_blas  # noqa: F401  (its library must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    controller = ThreadpoolController().select(user_api="blas")
    ours = [lib.filepath for lib in controller.lib_controllers if "scipy" in lib.filepath.split("/")[-2]]
    return controller.select(filepath=ours) if ours else controller


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limits SciPy's BLAS to one thread until the last of those who asked for it has left.

    >>> from dualgap.blas import one_blas_thread
    >>> with one_blas_thread():
    ...     pass
    """
    global _users, _limit
    with _lock:
        _users += 1
        if _users == 1:
            _limit = _controller().limit(limits=1)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _limit.restore_original_limits()
                _limit = None
