"""The data: real sets from a folder of NAME.npz.xz files, else what scikit-learn ships or a generated look-alike.

A file is an uncompressed .npz inside xz. Dense sets hold X and y; sparse ones data (length 1: all values equal),
indices, rownnz (entries a row), shape and y. Three names are made from stored ones: ``covtype.binary`` (class 2 against
the rest), ``NAME`` from ``NAME.counts`` (tf-idf), and ``NAME.scale`` (columns of a dense set to [0, 1]).
"""

from __future__ import annotations

import io
import lzma
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dualgap.lab import lookalikes
from dualgap.lab.declare import Sample

KEPT = 2  # sets a worker keeps in memory
Pair = tuple[Any, Any]


class Shelf:
    """The sets of one folder, the last few kept; without a file for a name, its stand-in."""

    def __init__(self, folder: str | None, *, small: bool = False) -> None:
        self.folder = Path(folder) if folder else None
        self.small = small
        self._kept: OrderedDict[str, tuple[Pair, Pair | None]] = OrderedDict()

    def path(self, name: str) -> Path | None:
        """The file of a stored set, in the folder or a direct sub-folder."""
        if self.folder is None:
            return None
        found = [path for pattern in ("", "*/") for path in sorted(self.folder.glob(f"{pattern}{name}.npz.xz"))]
        return found[0] if found else None

    def is_real(self, name: str) -> bool:
        return self.path(stored(name)) is not None or self.path(f"{name}.counts") is not None

    def describe(self, name: str) -> str:
        """One phrase for the report: real data, or what stands in for it."""
        return "real data" if self.is_real(name) else lookalikes.describe(stored(name))

    def sample(self, wanted: Sample, seed: int) -> tuple[Any, Any, Any, Any]:
        """X, y, X_test, y_test as the sample asks, drawn with the seed."""
        (X, y), given = self._set(wanted.name)
        random = np.random.default_rng(seed)
        if wanted.test == "given" and given is not None:
            train, (X_test, y_test) = random.permutation(len(y)), given
        else:
            share = 0.2 if isinstance(wanted.test, str) else wanted.test
            aside = int(share * len(y)) if share < 1 else min(int(share), len(y) // 2)
            order = random.permutation(len(y))
            X_test, y_test = X[order[:aside]], y[order[:aside]]
            train = order[aside:]
        rows = np.sort(train[: wanted.rows] if wanted.rows else train)
        X, y = X[rows], y[rows]
        if wanted.columns and wanted.columns < X.shape[1]:
            chosen = np.sort(random.permutation(X.shape[1])[: wanted.columns])
            X, X_test = X[:, chosen], X_test[:, chosen]
        X, X_test = _prepared(X, X_test, wanted.prepare)
        return X, signs(y, wanted.positive), X_test, signs(y_test, wanted.positive)

    def _set(self, name: str) -> tuple[Pair, Pair | None]:
        if name not in self._kept:
            while len(self._kept) >= KEPT:
                self._kept.popitem(last=False)
            self._kept[name] = self._read(name) if self.is_real(name) else self._stand_in(name)
        self._kept.move_to_end(name)
        return self._kept[name]

    def _stand_in(self, name: str) -> tuple[Pair, Pair | None]:
        X, y = lookalikes.make(stored(name), small=self.small)
        if name.endswith(".scale"):
            X = _spread(X, X)
        if name.startswith("covtype.binary"):
            y = np.where(y == 2, 1.0, -1.0)
        return (X, y), None

    def _read(self, name: str) -> tuple[Pair, Pair | None]:
        """A set and its test part, with what its name asks for done to both."""
        source = stored(name)
        if self.path(source) is None:
            source = f"{name}.counts"
        test_path = self.path(f"{source}.t")
        train = read(_there(self.path(source)))
        test = read(test_path) if test_path else None
        if source.endswith(".counts"):
            weights = _idf(train[0])
            return (_tfidf(train[0], weights), train[1]), (_tfidf(test[0], weights), test[1]) if test else None
        if name.endswith(".scale"):
            raw = train[0]
            test = (_spread(test[0], raw), test[1]) if test else None
            train = (_spread(raw, raw), train[1])
        if name.startswith("covtype.binary"):
            train = (train[0], np.where(train[1] == 2, 1.0, -1.0))
        return train, test


def stored(name: str) -> str:
    """The stored set that a derived name is made from."""
    base = name.removesuffix(".scale")
    return "covtype" if base == "covtype.binary" else base


def read(path: Path) -> Pair:
    """(X, y) of one file; X keeps its small type when dense and is float64 CSR when sparse."""
    with lzma.open(path) as file, np.load(io.BytesIO(file.read())) as parts:
        y = parts["y"].astype(np.float64)
        if "X" in parts:
            return parts["X"], y
        ends = np.concatenate(([0], np.cumsum(parts["rownnz"], dtype=np.int64))).astype(np.int32)
        values = np.broadcast_to(parts["data"], (int(ends[-1]),)).astype(np.float64)
        shape = tuple(int(size) for size in parts["shape"])
        return sp.csr_matrix((values, parts["indices"].astype(np.int32), ends), shape=shape), y


def signs(y: Any, positive: float | None) -> Any:
    """±1: the class named against the rest; where it is not named or not there, the largest label."""
    if len(y) and (positive is None or not (y == positive).any()):
        positive = y.max()
    return np.where(y == positive, 1.0, -1.0)


def _there(path: Path | None) -> Path:
    if path is None:
        raise FileNotFoundError("the data file has gone since the run began")
    return path


def _spread(X: Any, train: Any) -> Any:
    """Columns moved to [0, 1] by the training part's ranges; sparse sets are in range already."""
    if sp.issparse(X):
        return X
    low, high = train.min(axis=0).astype(float), train.max(axis=0).astype(float)
    span = np.where(high > low, high - low, 1.0)
    return np.ascontiguousarray((X - low) / span)


def _idf(counts: Any) -> Any:
    seen = np.bincount(counts.indices, minlength=counts.shape[1])
    return np.log((1 + counts.shape[0]) / (1 + seen)) + 1


def _tfidf(counts: Any, weights: Any) -> Any:
    X = counts @ sp.diags(weights)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / np.where(norms > 0, norms, 1)) @ X)


def _prepared(X: Any, X_test: Any, how: str) -> Pair:
    if not sp.issparse(X):
        X, X_test = np.ascontiguousarray(X, dtype=float), np.ascontiguousarray(X_test, dtype=float)
    if how == "standard":
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=not sp.issparse(X)).fit(X)
        return scaler.transform(X), scaler.transform(X_test) if X_test.shape[0] else X_test
    if how == "unit":
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X * X).sum(axis=1)
        longest = float(np.sqrt(np.max(squares))) or 1.0
        return X / longest, X_test / longest
    return X, X_test
