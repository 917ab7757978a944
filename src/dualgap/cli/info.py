"""``dualgap info``: what is in a data or model file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dualgap.cli.load import load
from dualgap.cli.show import print_json, rows, warn
from dualgap.files.datasets import Data
from dualgap.files.liblinear_model import is_liblinear_model, read_liblinear_model
from dualgap.files.model_file import is_model, read_model

WILD = 1e4  # ratio of the largest to the smallest column above which scaling is worth a word
SHOWN = 10


def run(args: Any) -> int:
    path = args.path
    if os.path.isfile(path) and is_model(path):
        facts = _model(read_model(path))
    elif os.path.isfile(path) and is_liblinear_model(path):
        facts = _liblinear(read_liblinear_model(path))
    else:
        args.data = path
        data, seconds = load(args)
        facts = {**_data(data), "seconds to read": round(seconds, 3)}
    if args.json:
        print_json({"path": path, **facts})
    else:
        print(rows([(name, _text(value)) for name, value in facts.items() if value is not None]))
    if facts.get("scale ratio", 1) > WILD:
        warn(
            f"columns differ in scale by a factor of {facts['scale ratio']:.1e}: the answer is proven all the same, "
            "but the penalty then falls on the small ones; divide each column by its largest value"
        )
    return 0


def _data(data: Data) -> dict[str, Any]:
    n, p = data.X.shape
    entries = len(data.X.data) if data.sparse else int(np.count_nonzero(data.X))
    low, middle, high = _scales(data)
    values = data.X.data if data.sparse else data.X
    lost = int(values.size - np.count_nonzero(np.isfinite(values)))
    return {
        "kind": data.kind,
        "rows": n,
        "columns": p,
        "entries": entries,
        "density": entries / (n * p),
        **({"NaN or infinite": lost} if lost else {}),
        "labels": _labels(data.y),
        "largest value of a column": {"smallest": low, "median": middle, "largest": high},
        "scale ratio": high / low if low > 0 else 1.0,
        "columns counted from": None if data.zero_based is None else 0 if data.zero_based else 1,
    }


def _scales(data: Data) -> tuple[float, float, float]:
    """The smallest, median and largest of the columns' largest absolute values; empty columns left out."""
    if data.sparse:
        width, places = data.X.shape[1], data.X.indices
        if width > len(places):  # most columns are empty: only the others get a place
            columns, places = np.unique(places, return_inverse=True)
            width = len(columns)
        largest = np.zeros(width)
        np.fmax.at(largest, places, np.abs(data.X.data))
    else:
        largest = np.fmax(np.fmax.reduce(data.X, axis=0), -np.fmin.reduce(data.X, axis=0)).astype(np.float64)
    used = largest[(largest > 0) & np.isfinite(largest)]
    if not used.size:
        return 0.0, 0.0, 0.0
    return float(used.min()), float(np.median(used)), float(used.max())


def _labels(y: Any) -> Any:
    if y is None:
        return None
    names, counts = np.unique(y.astype(str) if y.dtype.kind == "O" else y, return_counts=True)
    if len(names) > 1000 or (len(names) > 100 and y.dtype.kind == "f" and (y != np.floor(y)).any()):
        return {"different": len(names), "smallest": names[0], "largest": names[-1]}
    return {
        f"{name:g}" if y.dtype.kind in "fiu" else str(name): int(count)
        for name, count in zip(names, counts, strict=True)
    }


def _model(content: dict[str, Any]) -> dict[str, Any]:
    fitted, certificate = content["fitted"], content.get("certificate")
    worst = max(certificate, key=lambda c: c["relative_gap"]) if isinstance(certificate, list) else certificate
    coef = fitted.get("coef_")
    return {
        "model": content["class"],
        "parameters": {k: v for k, v in content["params"].items() if v is not None},
        "classes": fitted["classes_"].tolist() if "classes_" in fitted else None,
        "features": fitted.get("n_features_in_"),
        "weights not zero": None if coef is None else int(np.count_nonzero(coef)),
        "certificate": worst,
        "fits": content.get("fits"),
        "saved": content.get("saved"),
        "dualgap": content.get("dualgap"),
    }


def _liblinear(model: dict[str, Any]) -> dict[str, Any]:
    return {
        "model": f"LIBLINEAR {model['solver_type']}",
        "classes": model["labels"],
        "features": model["coef"].shape[1],
        "weights not zero": int(np.count_nonzero(model["coef"])),
        "bias": model["bias"],
    }


def _text(value: Any) -> str:
    if isinstance(value, dict):
        shown = [f"{name} {_text(item)}" for name, item in list(value.items())[:SHOWN]]
        return ", ".join(shown) + (f", ... ({len(value)} in all)" if len(value) > SHOWN else "")
    if isinstance(value, list):
        shown = [_text(item) for item in value[:SHOWN]]
        return ", ".join(shown) + (f", ... ({len(value)} in all)" if len(value) > SHOWN else "")
    if isinstance(value, float):
        return f"{value:.6g}"
    return (
        f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10_000 else str(value)
    )
