"""What can go wrong, each also the built-in type a caller would catch; and how a warning is told."""

from __future__ import annotations

import sys
import warnings
from contextvars import ContextVar


class DualgapError(Exception):
    """The root of every error that dualgap raises on purpose."""


class InvalidData(DualgapError, ValueError):
    """The data or a parameter cannot be used; the sentence names the value."""


class UnsupportedProblem(DualgapError, ValueError):
    """This solver cannot do this combination; the sentence names what can."""


class FormatError(DualgapError, ValueError):
    """A text file has a malformed line; the sentence names file, line and column, and so do the attributes."""

    def __init__(self, message: str, file: str = "", line: int | None = None, column: int | None = None) -> None:
        super().__init__(message, file, line, column)  # in args: it survives a trip between processes
        self.file, self.line, self.column = file, line, column

    def __str__(self) -> str:
        return str(self.args[0])


class ModelFileError(DualgapError, ValueError):
    """A model file is truncated, tampered with, or from a version this one cannot read."""


class NotEnoughMemory(DualgapError, MemoryError):
    """A method needs more memory beside the data than there is; the sentence names both."""


class ScaleWarning(UserWarning):
    """Columns differ so much in scale that standardising them is worth a thought; it says how far the fit came."""


#: set inside a worker: what is to be told in the thread that waits for it, where the caller's line is
held: ContextVar[list[tuple[str, type[Warning]]] | None] = ContextVar("held", default=None)


def tell(message: str, category: type[Warning]) -> None:
    """A warning that points at the caller's own line: the first that is neither ours nor scikit-learn's (or joblib's).

    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     tell("columns differ", ScaleWarning)
    >>> told[0].category.__name__
    'ScaleWarning'
    """
    kept = held.get()
    if kept is not None:
        kept.append((message, category))
        return
    level, frame = 1, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in ("dualgap", "sklearn", "joblib"):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
