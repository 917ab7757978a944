"""Where bytes come from: files, descriptors, file objects, bytes; compressed ones are unpacked while they are read."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from dualgap.errors import FormatError

Read = Callable[[int], bytes]

# how each kind of archive begins
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd"}


def name_of(source: Any) -> str:
    """What an error message calls the source."""
    if isinstance(source, (str, os.PathLike)):
        return os.fsdecode(source)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return "<bytes>"
    if isinstance(source, int):
        return "<stdin>" if source == 0 else f"<descriptor {source}>"
    return str(getattr(source, "name", "<file object>"))


def waits(source: Any) -> bool:
    """May reading it take as long as somebody else likes? Pipes and devices may, files and bytes do not."""
    if isinstance(source, (str, os.PathLike)):
        return os.path.exists(source) and not os.path.isfile(source)
    return not isinstance(source, (bytes, bytearray, memoryview))


@contextlib.contextmanager
def opened(source: Any) -> Iterator[int | tuple[int, bytes] | bytes | Read]:
    """A descriptor (with what was read of it already), the bytes themselves, or a read function that unpacks."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb", buffering=0) as file:
            if file.seekable():
                kind = archive_kind(os.pread(file.fileno(), 6, 0))
                yield _unpacker(kind, file) if kind else file.fileno()
            else:
                yield _from_stream(file.fileno())
    elif isinstance(source, (bytes, bytearray, memoryview)):
        data = bytes(source)
        if kind := archive_kind(data):
            import io

            yield _unpacker(kind, io.BytesIO(data))
        else:
            yield data
    elif isinstance(source, int) and not isinstance(source, bool):
        yield _from_stream(source)
    elif hasattr(source, "read"):
        read = _reader_of(source)
        head = _head(read)
        whole = _Rejoined(head, read)
        yield _unpacker(kind, whole) if (kind := archive_kind(head)) else whole.read
    else:
        raise TypeError(f"Expected a path, a descriptor, a file opened in binary mode, or bytes, not {source!r}.")


def _from_stream(descriptor: int) -> tuple[int, bytes] | Read:
    """What a pipe brings: its first bytes say what it is, and cannot be put back."""

    def read(size: int) -> bytes:
        return os.read(descriptor, size)

    head = _head(read)
    kind = archive_kind(head)
    return _unpacker(kind, _Rejoined(head, read)) if kind else (descriptor, head)


def archive_kind(head: bytes) -> str:
    """The kind of archive that begins like this, or nothing."""
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


def _head(read: Read) -> bytes:
    """As many bytes as tell an archive from text."""
    head = b""
    while len(head) < 6 and (more := read(6 - len(head))):
        head += more
    return head


class _Rejoined:
    """A stream whose beginning was read already."""

    def __init__(self, head: bytes, read: Read) -> None:
        self.head, self.rest = head, read

    def read(self, size: int = -1) -> bytes:
        if not self.head:
            return self.rest(size)
        part = self.head if size < 0 else self.head[:size]
        self.head = self.head[len(part) :]
        return part


def _reader_of(file: Any) -> Read:
    def read(size: int) -> bytes:
        data = file.read(size)
        if isinstance(data, str):
            raise TypeError("Expected a file opened in binary mode; this one returns text.")
        return bytes(data) if data else b""

    return read


def _unpacker(kind: str, file: Any) -> Read:
    if kind == "gzip":
        import gzip

        return gzip.GzipFile(fileobj=file).read
    if kind == "bz2":
        import bz2

        return bz2.BZ2File(file).read
    if kind == "xz":
        import lzma

        return lzma.LZMAFile(file).read
    return _ZstdReader(file).read


class _ZstdReader:
    """zstandard's own stream reader takes a cut file for a whole one; this one does not."""

    def __init__(self, file: Any) -> None:
        try:
            import zstandard
        except ImportError:
            raise ImportError("Reading .zst files needs zstandard: pip install 'dualgap[zstd]'.") from None
        self.file = file
        self.make = zstandard.ZstdDecompressor().decompressobj
        self.frame: Any = None
        self.packed = b""
        self.ready = b""

    def read(self, size: int) -> bytes:
        while not self.ready:
            self.packed = self.packed or self.file.read(1 << 14)
            if not self.packed:
                if self.frame is not None:
                    raise EOFError("the last frame does not end")
                return b""
            self.frame = self.frame or self.make()
            self.ready = self.frame.decompress(self.packed)
            self.packed = b""
            if self.frame.eof:
                self.packed, self.frame = self.frame.unused_data, None
        head, self.ready = self.ready[:size], self.ready[size:]
        return head


@contextlib.contextmanager
def whole_archives(name: str) -> Iterator[None]:
    """Turns every library's way of saying that an archive is damaged into one sentence."""
    import lzma
    import zlib

    damaged: tuple[type[Exception], ...] = (EOFError, zlib.error, lzma.LZMAError)
    try:
        yield
    except damaged as error:
        raise FormatError(f"{name}: the archive is damaged or cut short ({error}).", name) from None
    except OSError as error:
        if error.errno is None:  # the archive modules' own
            raise FormatError(f"{name}: the archive is damaged or cut short ({error}).", name) from None
        raise OSError(error.errno, os.strerror(error.errno), name) from None
    except Exception as error:
        if type(error).__name__ == "ZstdError":
            raise FormatError(f"{name}: the archive is damaged or cut short ({error}).", name) from None
        raise


def text_blocks(source: Any, size: int) -> Iterator[bytes]:
    """The unpacked text in blocks of about `size` bytes that end with a line; only the last may lack its line end."""
    with whole_archives(name_of(source)), opened(source) as text:
        if isinstance(text, bytes):
            import io

            read: Read = io.BytesIO(text).read
        elif isinstance(text, (int, tuple)):
            descriptor, head = text if isinstance(text, tuple) else (text, b"")
            read = _Rejoined(head, lambda n: os.read(descriptor, n)).read
        else:
            read = text
        rest: list[bytes] = []
        held = 0
        while piece := read(min(size, 1 << 20)):
            rest.append(piece)
            held += len(piece)
            if held >= size and (cut := piece.rfind(b"\n") + 1):
                rest[-1] = piece[:cut]
                yield b"".join(rest)
                rest = [piece[cut:]]
                held = len(rest[0])
        yield b"".join(rest)
