"""SciPy's BLAS on one thread while we call it: threads are ours, and one thread gives the same bits everywhere."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from typing import Any

_lock = threading.Lock()
_loading = threading.Lock()  # one thread at a time makes a module
_users = 0
_limit: Any = None


def published(name: str) -> dict[str, Any]:
    """The functions that ``scipy.linalg.<name>`` publishes for compiled code, as capsules.

    Importing ``scipy.linalg`` as a whole takes longer than many a fit, so the one file is loaded by itself where the
    package is not there yet; whoever imports the package later gets it as ever.

    >>> from dualgap.blas import published
    >>> "dgemm" in published("cython_blas")
    True
    """
    with _loading:
        return _published(f"scipy.linalg.{name}")


@cache
def _published(full: str) -> dict[str, Any]:
    module = _loaded_alone(full) if "scipy.linalg" not in sys.modules else None
    functions: dict[str, Any] = (module or importlib.import_module(full)).__pyx_capi__
    return functions


def _loaded_alone(full: str) -> Any:
    """The extension module without its package, or None where that does not work."""
    package = importlib.util.find_spec("scipy")
    if package is None or not package.submodule_search_locations:
        return None
    stem = os.path.join(package.submodule_search_locations[0], "linalg", full.rpartition(".")[2])
    path = next((stem + end for end in EXTENSION_SUFFIXES if os.path.isfile(stem + end)), None)
    spec = path and importlib.util.spec_from_file_location(full, path)
    if not spec or not spec.loader:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module if hasattr(module, "__pyx_capi__") else None
    except ImportError:
        return None
    finally:
        sys.modules.pop(full, None)  # a later import of the package puts it there with all that belongs to it


@cache
def _controller() -> Any:
    published("cython_blas")  # its library must be loaded to be found
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
