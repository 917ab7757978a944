"""Tables to race on: the real sets in the folder that DUALGAP_DATA names, or generated ones of the same character."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

# what stands in where the real set is not there: rows, columns, entries a row, one-hot, column scales as powers of ten
GENERATED = {
    "a9a": (32561, 123, 14, True, 0.0),
    "rcv1sub": (1000, 47236, 78, False, 0.0),
    "w8a": (49749, 300, 12, True, 0.0),
    "ijcnn1": (49990, 22, 13, False, 0.0),
    "20news": (11314, 60000, 120, False, 0.0),
    "news20": (15935, 62061, 80, False, 0.0),
    "reuters": (7770, 8315, 44, False, 0.0),
    "covtype.binary.scale": (100_000, 54, 54, False, 0.0),
    "covtype.binary": (100_000, 54, 54, False, 3.0),
    "mnist": (10_000, 784, 784, False, 2.0),
    "mnist.scale": (10_000, 784, 784, False, 0.0),
    "bloodcells": (2_000, 3_600, 3_600, False, 2.0),
    "heart": (303, 13, 13, False, 2.0),
    "german.numer": (1_000, 24, 24, False, 2.0),
    "svmguide1": (3_089, 4, 4, False, 2.0),
    "cadata": (20_640, 8, 8, False, 3.0),
    "cpusmall": (8_192, 12, 12, False, 4.0),
    "abalone_scale": (4_177, 8, 8, False, 0.0),
}
REGRESSION = {"cadata", "cpusmall", "abalone_scale"}


@cache
def load(name: str) -> tuple[Any, np.ndarray]:
    """X (CSR or C-ordered) and y: ±1 (the largest class against the rest), or numbers for regression."""
    found = _real(name)
    X, y = found if found else _generated(name)
    if name in REGRESSION or name.startswith("made regression"):
        return X, y
    values, counts = np.unique(y, return_counts=True)
    return X, np.where(y == values[np.argmax(counts)], 1.0, -1.0)


def is_real(name: str) -> bool:
    return _real(name) is not None


@cache
def _real(name: str) -> Any:
    for folder in os.environ.get("DUALGAP_DATA", "").split(os.pathsep):
        path = Path(folder) / "load.py"
        if folder and path.exists():
            spec = importlib.util.spec_from_file_location("dualgap_data_load", path)
            assert spec and spec.loader
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            try:
                return module.load(name)
            except KeyError:
                continue
    return None


def _generated(name: str) -> tuple[Any, np.ndarray]:
    rows, cols, entries, ones, spread = GENERATED[name]
    rng = np.random.default_rng(sum(name.encode()))
    if entries == cols:
        X: Any = rng.standard_normal((rows, cols)) * 10 ** rng.uniform(0, spread, cols)
    else:
        popular = rng.zipf(1.3, (rows, entries)) % cols  # a few columns are in most rows, as words are
        indptr = np.arange(0, rows * entries + 1, entries)
        values = np.ones(rows * entries) if ones else rng.random(rows * entries)
        X = sp.csr_matrix((values, popular.ravel().astype(np.int32), indptr), shape=(rows, cols))
        X.sum_duplicates()
        if ones:
            X.data[:] = 1.0
        elif cols > 1000:
            X = sp.csr_matrix(X.multiply(1 / np.sqrt(X.multiply(X).sum(axis=1))))
    size = np.sqrt(np.asarray(abs(X).power(2).mean(axis=0) if sp.issparse(X) else (X**2).mean(axis=0))).ravel() + 1e-9
    score = np.asarray(X @ (rng.standard_normal(cols) / size)).ravel()
    score += 0.5 * np.std(score) * rng.standard_normal(rows)
    return X, score if name in REGRESSION else np.where(score > np.median(score), 1.0, -1.0)


def hard_tables() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Generated tables that stop first-order methods: X, labels, targets."""
    rng = np.random.default_rng(7)
    tables = {}

    def add(name: str, X: np.ndarray) -> None:
        size = np.abs(X).max(axis=0) + 1e-300
        score = X @ (rng.standard_normal(X.shape[1]) / size)
        score = score / (np.median(np.abs(score)) + 1e-300) + 0.5 * rng.standard_normal(len(X))
        tables[name] = (X, np.where(score > 0, 1.0, -1.0), np.clip(score, -20, 20))

    add("columns 1e-6 … 1e6", rng.standard_normal((2_000, 13)) * 10.0 ** np.arange(-6, 7))
    base = rng.standard_normal((1_500, 4))
    add("near-collinear", np.c_[base, base + 1e-5 * rng.standard_normal((1_500, 4)), base[:, :2] * 1e3])
    add("more columns than rows", rng.standard_normal((120, 600)) * 10 ** rng.uniform(-2, 2, 600))
    add("many rows", rng.standard_normal((60_000, 6)) * 10 ** rng.uniform(-2, 2, 6))
    add("Cauchy values", rng.standard_cauchy((2_000, 8)))
    return tables
