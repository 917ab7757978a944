"""Reading svmlight text against scikit-learn, and text to saved model against LIBLINEAR's own program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_svmlight_file

import dualgap as dg

SECTION = "Files: svmlight text in, and from text to a saved model"


def table(rows: int, columns: int, density: float, digits: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = sp.random(rows, columns, density, "csr", random_state=0)
    X.data = np.round(rng.standard_normal(X.nnz), digits)
    score = X @ rng.standard_normal(columns) + 0.1 * rng.standard_normal(rows)
    return X, np.where(score > 0, 1, -1)


def best(work: Any, times: int) -> float:
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - begin)
    return min(seconds)


def bytes_alone(path: Path) -> None:
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 20):
            pass


def reading(path: Path, what: str, times: int) -> list[dict[str, Any]]:
    size = path.stat().st_size / 1e6
    theirs = best(lambda: load_svmlight_file(str(path)), max(1, times // 2))
    rows = []
    for threads in (1, None):
        ours = best(lambda n=threads: dg.load_svmlight(path, n_threads=n), times)
        rows.append(
            {
                "what": f"read {what}",
                "MB": round(size, 1),
                "threads": threads or "all",
                "seconds": round(ours, 4),
                "MB/s": round(size / ours),
                "peer": "scikit-learn",
                "peer seconds": round(theirs, 3),
                "ratio": round(theirs / ours, 1),
                "bytes alone, seconds": round(best(lambda: bytes_alone(path), times), 4),
            }
        )
    return rows


def training(path: Path, what: str, times: int) -> list[dict[str, Any]]:
    theirs = shutil.which("liblinear-train")
    if not theirs:
        return []
    letters = ["-s", "3", "-c", "1", "-q", str(path), os.devnull]
    model = str(path.parent / "m")
    ours = [sys.executable, "-m", "dualgap.cli", "train", *letters[:-1], model]
    quick = best(lambda: subprocess.run(ours, check=True, capture_output=True), times)
    slow = best(lambda: subprocess.run([theirs, *letters[:-1], model], check=True, capture_output=True), times)
    return [
        {
            "what": f"text to model, hinge, C = 1, {what}",
            "MB": round(path.stat().st_size / 1e6, 1),
            "threads": "all",
            "seconds": round(quick, 3),
            "peer": "liblinear-train",
            "peer seconds": round(slow, 3),
            "ratio": round(slow / quick, 2),
        }
    ]


def run(full: bool) -> list[dict[str, Any]]:
    """Ratios above 1: we are quicker."""
    scale = 4 if full else 1
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.svm"
        for what, shape in {
            "short numbers": (40_000 * scale, 5000, 0.004, 4),
            "full doubles": (20_000 * scale, 2000, 0.01, 17),
        }.items():
            X, y = table(*shape)
            seconds = best(lambda X=X, y=y: dg.dump_svmlight(X, y, path, zero_based=False), 2)
            size = path.stat().st_size / 1e6
            rows.append(
                {"what": f"write {what}", "MB": round(size, 1), "threads": "all", "MB/s": round(size / seconds)}
            )
            rows += reading(path, what, 3)
            rows += training(path, what, 2)
    return rows
