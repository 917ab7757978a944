"""The model format: a JSON header and raw arrays under one checksum. docs/model-format.md is its definition.

    "dualgap model 1\\n" | header length, 8 bytes | header, JSON | arrays, each at a multiple of 64 | SHA-256, 32 bytes

Nothing in a file is ever executed or imported: values are JSON, arrays are numbers.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from typing import Any

import numpy as np

from dualgap.errors import InvalidData, ModelFileError
from dualgap.files.atomic import new_file

MAGIC = b"dualgap model 1\n"
_DIGEST = 32
_ALIGN = 64
_KINDS = {"<f8", "<f4", "<f2", "<i8", "<i4", "<i2", "|i1", "<u8", "<u4", "<u2", "|u1", "|b1"}


def write_model(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a dictionary of plain values and arrays; a crash or a full disk leaves the old file as it was."""
    pieces: list[bytes] = []
    header: dict[str, Any] = {"content": None, "arrays": []}
    header["content"] = _Packer(header["arrays"], pieces).pack(content, "")
    text = json.dumps(header, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    blob = bytearray(MAGIC + len(text).to_bytes(8, "little") + text)
    for piece in pieces:
        blob += b"\0" * (-len(blob) % _ALIGN)
        blob += piece
    with new_file(path) as file:
        file.write(blob)
        file.write(hashlib.sha256(blob).digest())


def read_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The dictionary that was written, or ModelFileError."""
    name = os.fsdecode(path)
    with open(path, "rb") as file:
        blob = file.read()
    if not blob.startswith(MAGIC):
        if blob.startswith(MAGIC[:14]):
            raise ModelFileError(f"{name} was written by a newer version of dualgap; this one reads format 1.")
        raise ModelFileError(f"{name} is not a model file of dualgap.")
    if len(blob) < len(MAGIC) + 8 + _DIGEST or hashlib.sha256(blob[:-_DIGEST]).digest() != blob[-_DIGEST:]:
        raise ModelFileError(
            f"{name} is damaged: its checksum does not fit (cut short, or changed since it was saved)."
        )
    try:
        return _decode(memoryview(blob)[:-_DIGEST])
    except (ValueError, KeyError, TypeError, IndexError, OverflowError, MemoryError, RecursionError):
        raise ModelFileError(f"{name} is damaged: its header does not describe its contents.") from None


def is_model(path: str | os.PathLike[str]) -> bool:
    """Does the file begin like a model of any version?"""
    with open(path, "rb") as file:
        return file.read(14) == MAGIC[:14]


def _decode(blob: memoryview) -> dict[str, Any]:
    start = len(MAGIC) + 8
    size = int.from_bytes(blob[len(MAGIC) : start], "little")
    header = json.loads(bytes(blob[start : start + size]))
    at = start + size
    arrays = []
    for entry in header["arrays"]:
        at += -at % _ALIGN
        kind, count = entry["kind"], int(entry["count"])
        if kind not in _KINDS or count < 0:
            raise ValueError(kind)
        width = np.dtype(kind).itemsize
        if at + count * width > len(blob):
            raise ValueError("short")
        arrays.append(np.frombuffer(blob, dtype=kind, count=count, offset=at).astype(np.dtype(kind).newbyteorder("=")))
        at += count * width
    content = _unpack(header["content"], arrays)
    if not isinstance(content, dict):
        raise TypeError("content")
    return content


class _Packer:
    """Values to JSON; arrays aside. What JSON has no word for becomes a dictionary with one key that begins with $."""

    def __init__(self, entries: list[dict[str, Any]], pieces: list[bytes]) -> None:
        self.entries, self.pieces = entries, pieces

    def pack(self, value: Any, where: str) -> Any:
        if value is None or isinstance(value, (bool, str)):
            return value if not isinstance(value, str) else str(value)
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float) and not isinstance(value, np.generic):
            return value if math.isfinite(value) else {"$float": repr(value)}
        if isinstance(value, np.generic):
            value = np.asarray(value)
            return {"$scalar": self.array(value, where)} if value.dtype.kind in "fiub" else str(value)
        if isinstance(value, np.ndarray):
            return self.array(value, where)
        if isinstance(value, (list, tuple)):
            items = [self.pack(item, f"{where}[{k}]") for k, item in enumerate(value)]
            return items if isinstance(value, list) else {"$tuple": items}
        if isinstance(value, dict):
            if all(isinstance(key, str) and not key.startswith("$") for key in value):
                return {str(key): self.pack(item, f"{where}.{key}" if where else key) for key, item in value.items()}
            return {"$items": [[self.pack(k, where), self.pack(v, where)] for k, v in value.items()]}
        if hasattr(value, "tocsr"):
            return self.csr(value.tocsr(), where)
        raise InvalidData(f"{where or 'value'}={value!r} cannot be saved: only numbers, text, lists and arrays can.")

    def array(self, a: np.ndarray[Any, Any], where: str) -> dict[str, Any]:
        if a.dtype.kind in "OUS":
            items = a.ravel().tolist()
            if not all(isinstance(item, (str, int, float, bool)) or item is None for item in items):
                raise InvalidData(f"{where} holds objects that cannot be saved: only numbers and text can.")
            return {"$text": [self.pack(item, where) for item in items], "shape": list(a.shape), "kind": a.dtype.kind}
        flat = np.ascontiguousarray(a).ravel()
        filled = np.flatnonzero(flat) if a.dtype.kind == "f" else np.arange(0)
        if a.dtype.kind == "f" and 2 * filled.size < flat.size and not (np.signbit(flat) & (flat == 0)).any():
            places = filled.astype("<u4" if flat.size < 2**32 else "<u8")
            return {"$sparse": [self.store(places), self.store(flat[filled])], "shape": list(a.shape)}
        return {"$array": self.store(flat), "shape": list(a.shape)}

    def csr(self, m: Any, where: str) -> dict[str, Any]:
        parts = [self.array(a, where) for a in (m.data, m.indices, m.indptr)]
        return {"$csr": parts, "shape": list(m.shape)}

    def store(self, flat: np.ndarray[Any, Any]) -> int:
        kind = flat.dtype.newbyteorder("<").str
        if kind not in _KINDS:
            raise InvalidData(f"Arrays of {flat.dtype} cannot be saved.")
        self.entries.append({"kind": kind, "count": int(flat.size)})
        self.pieces.append(flat.astype(kind, copy=False).tobytes())
        return len(self.entries) - 1


def _unpack(value: Any, arrays: list[Any]) -> Any:
    if isinstance(value, list):
        return [_unpack(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$float" in value:
        return float(value["$float"])
    if "$tuple" in value:
        return tuple(_unpack(item, arrays) for item in value["$tuple"])
    if "$items" in value:
        return {_unpack(key, arrays): _unpack(item, arrays) for key, item in value["$items"]}
    if "$scalar" in value:
        return _unpack(value["$scalar"], arrays)[()]
    if "$text" in value:
        items = [_unpack(item, arrays) for item in value["$text"]]
        kind: Any = object if value["kind"] == "O" else str
        out = np.empty(len(items), dtype=object)
        out[:] = items
        return out.astype(kind).reshape(value["shape"])
    if "$array" in value:
        return arrays[value["$array"]].reshape(value["shape"])
    if "$sparse" in value:
        places, values = (arrays[k] for k in value["$sparse"])
        flat = np.zeros(math.prod(value["shape"]), dtype=values.dtype)
        flat[places] = values
        return flat.reshape(value["shape"])
    if "$csr" in value:
        from scipy.sparse import csr_matrix

        data, indices, indptr = (_unpack(part, arrays) for part in value["$csr"])
        matrix = csr_matrix((data, indices, indptr), shape=tuple(value["shape"]))
        matrix.check_format(full_check=True)
        return matrix
    return {key: _unpack(item, arrays) for key, item in value.items()}
