"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path  # the program starts without it


def _beside(path: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{os.urandom(6).hex()}.part")


@contextlib.contextmanager
def _speaking_of(path: str | os.PathLike[str]) -> Iterator[None]:
    """Errors name the file that was asked for, not the one beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write that takes its name when all is written and on the disk; until then the old one stands. A link
    stays a link, to the new file; a device or a pipe is written to, since nothing may take its place."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            yield file
        return
    final = os.path.realpath(path)
    part = _beside(final)
    with _speaking_of(path):
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            synced(file)
        os.replace(part, final)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    _sync_folder(os.path.dirname(final))


@contextlib.contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a folder. One that is there already is only replaced if it is empty."""
    from pathlib import Path

    final = os.path.abspath(path)
    part = Path(_beside(final))
    with _speaking_of(path):
        part.mkdir()
    try:
        yield part
        os.replace(part, final)
    except BaseException:
        import shutil

        shutil.rmtree(part, ignore_errors=True)
        raise
    _sync_folder(os.path.dirname(final))


def synced(file: Any) -> None:
    """What was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())
