"""Reading svmlight text against scikit-learn, and text to saved model against LIBLINEAR's own program."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import dualgap as dg
from benchmarks import data

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


def writing(X: Any, y: Any, path: Path, what: str) -> dict[str, Any]:
    theirs = best(lambda: dump_svmlight_file(X, y, str(path), zero_based=False), 1)
    seconds = best(lambda: dg.dump_svmlight(X, y, path, zero_based=False), 2)
    size = path.stat().st_size / 1e6
    return {
        "what": f"write {what}",
        "MB": round(size, 1),
        "threads": "all",
        "seconds": round(seconds, 4),
        "MB/s": round(size / seconds),
        "peer": "scikit-learn",
        "peer seconds": round(theirs, 3),
        "ratio": round(theirs / seconds, 1),
    }


def training(path: Path, what: str, times: int) -> list[dict[str, Any]]:
    """Text to saved model, both programs in turn; how far each model's objective is above the best known bound."""
    theirs = shutil.which("liblinear-train")
    if not theirs:
        return []
    letters = ["-s", "3", "-c", "1", "-q", str(path)]
    models = {"ours": path.parent / "ours", "theirs": path.parent / "theirs"}
    commands = {
        "ours": [sys.executable, "-m", "dualgap", "train", *letters, str(models["ours"])],
        "theirs": [theirs, *letters, str(models["theirs"])],
    }
    seconds = dict.fromkeys(commands, math.inf)
    for _ in range(times):
        for who, command in commands.items():
            seconds[who] = min(
                seconds[who], best(lambda c=command: subprocess.run(c, check=True, capture_output=True), 1)
            )
    X, y = dg.load_svmlight(path)
    problem = dg.Problem(X, np.where(y == y.max(), 1.0, -1.0), "hinge", 1.0)
    reached = {who: min(problem.objective(w), problem.objective(-w)) for who, w in weights(models).items()}
    bound = dg.load(models["ours"]).certificate_.dual
    return [
        {
            "what": f"text to model, hinge, C = 1, {what}",
            "MB": round(path.stat().st_size / 1e6, 1),
            "threads": "all",
            "seconds": round(seconds["ours"], 3),
            "peer": "liblinear-train",
            "peer seconds": round(seconds["theirs"], 3),
            "ratio": round(seconds["theirs"] / seconds["ours"], 2),
            "above the bound": float(f"{reached['ours'] / bound - 1:.2g}"),
            "peer above the bound": float(f"{reached['theirs'] / bound - 1:.2g}"),
        }
    ]


def weights(models: dict[str, Path]) -> dict[str, Any]:
    return {who: np.ravel(dg.load(path).coef_) for who, path in models.items()}


def starting() -> dict[str, Any]:
    command = [sys.executable, "-m", "dualgap", "--help"]
    seconds = best(lambda: subprocess.run(command, check=True, capture_output=True), 5)
    return {"what": "dualgap --help", "seconds": round(seconds, 3)}


def run(full: bool) -> list[dict[str, Any]]:
    """Ratios above 1: we are quicker."""
    scale = 4 if full else 1
    rows: list[dict[str, Any]] = [starting()]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.svm"
        for what, shape in {
            "short numbers": (40_000 * scale, 5000, 0.004, 4),
            "full doubles": (20_000 * scale, 2000, 0.01, 17),
        }.items():
            X, y = table(*shape)
            rows.append(writing(X, y, path, what))
            rows += reading(path, what, 3)
        for name in ("20news", "mnist", "covtype.binary.scale"):
            X, y = data.load(name)
            dg.dump_svmlight(sp.csr_matrix(X), y, path, zero_based=False)
            rows += training(path, name if data.is_real(name) else f"{name} (generated)", 2)
    ratios = [row["ratio"] for row in rows if row.get("peer") == "liblinear-train"]
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        rows.append({"what": "text to model, geometric mean", "peer": "liblinear-train", "ratio": round(mean, 2)})
    return rows
