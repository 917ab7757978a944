"""Files that are there whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.urandom(6).hex()}.part")


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems cannot
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def new_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write that takes its name when all is written and on the disk; until then the old one stands."""
    final = Path(path)
    part = _beside(final)
    try:
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, final)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
    _sync_folder(final.absolute().parent)


@contextlib.contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The same for a folder. One that is there already is only replaced if it is empty."""
    final = Path(path)
    part = _beside(final)
    part.mkdir()
    try:
        yield part
        os.replace(part, final)
    except BaseException:
        import shutil

        shutil.rmtree(part, ignore_errors=True)
        raise
    _sync_folder(final.absolute().parent)


def synced(file: Any) -> None:
    """What was written is on the disk."""
    file.flush()
    os.fsync(file.fileno())
