"""Stand-ins for sets that are not at hand: what scikit-learn ships, or generated data of the same shape and habits.

They keep what matters to a solver (rows × columns, density, spread of the column scales, share of label noise), not the
meaning; the report says in an experiment's heading when one was used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

SEED = 20080705
Pair = tuple[Any, Any]


def describe(name: str) -> str:
    if name in SHIPPED:
        return f"stand-in: {SHIPPED[name][0]}, which scikit-learn ships"
    return "stand-in: a generated look-alike"


def make(name: str, *, small: bool = False) -> Pair:
    """(X, y) for a set's name; every name gets something, an unknown one a dense set of 2,000 × 20."""
    if name in SHIPPED:
        return SHIPPED[name][1]()
    random = np.random.default_rng([SEED, sum(name.encode())])
    if name == "heart":
        return _heart(random)
    if name == "covtype":
        return _covtype(random, 60_000 if small else 581_012)
    if name in TEXT:
        rows, columns, length = TEXT[name]
        return _text(random, rows, columns, length)
    if name in ONE_HOT:
        rows, columns, ones = ONE_HOT[name]
        return _one_hot(random, rows, columns, ones)
    X = random.normal(size=DENSE.get(name, (2_000, 20)))
    return X, _labels(random, X, noise=0.1)


def _breast_cancer() -> Pair:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    return 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1, np.where(y == 0, 1.0, -1.0)


def _digits() -> Pair:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, y.astype(float)


SHIPPED = {
    "breast-cancer_scale": ("the Wisconsin diagnostic breast cancer set, scaled", _breast_cancer),
    "bloodcells": ("the 8 × 8 digits", _digits),
    "mnist": ("the 8 × 8 digits", _digits),
    "usps": ("the 8 × 8 digits", _digits),
}
TEXT = {"20news": (11_314, 30_000, 120), "reuters": (7_770, 8_315, 44), "rcv1sub": (1_000, 20_000, 78)}
ONE_HOT = {"a9a": (32_561, 123, 14), "w8a": (49_749, 300, 12)}
DENSE = {"ijcnn1": (49_990, 22), "german.numer": (1_000, 24), "svmguide1": (3_089, 4)}


def _labels(random: np.random.Generator, X: Any, noise: float) -> Any:
    score = X @ random.normal(size=X.shape[1])
    y = np.where(score > np.median(score), 1.0, -1.0)
    return np.where(random.random(len(y)) < noise, -y, y)


def _heart(random: np.random.Generator) -> Pair:
    """303 patients × 13 columns whose scales differ as age, cholesterol and yes/no answers do."""
    X = random.normal(size=(303, 13))
    y = _labels(random, X, noise=0.15)
    scale = np.array([9, 0.5, 1, 18, 52, 0.4, 1, 23, 0.5, 1.2, 0.6, 0.9, 1.9])
    centre = np.array([54, 0.7, 3.2, 132, 247, 0.15, 1, 150, 0.33, 1, 1.6, 0.7, 4.7])
    return np.round(X * scale + centre, 1), y


def _covtype(random: np.random.Generator, rows: int) -> Pair:
    """10 columns of metres and degrees, 4 + 40 indicators, 7 classes of which the first two are most rows."""
    scale = np.array([280, 112, 7.5, 213, 58, 1559, 27, 20, 38, 1324])
    latent = random.normal(size=(rows, 10)).astype(np.float32)
    area, soil = random.integers(4, size=rows), (40 * random.random(rows) ** 2).astype(int)
    score = latent[:, 0] - 0.4 * latent[:, 5] + 0.5 * np.cos(area) + 0.4 * np.sin(soil) + random.normal(size=rows)
    X = np.zeros((rows, 54), np.int16)
    X[:, :10] = np.clip(latent * scale + 4 * scale, 0, 7500)
    X[np.arange(rows), 10 + area] = 1
    X[np.arange(rows), 14 + soil] = 1
    return X, np.where(score > 0, 2.0, np.where(random.random(rows) < 0.75, 1.0, 3.0))


def _one_hot(random: np.random.Generator, rows: int, columns: int, ones: int) -> Pair:
    """As many answers a row as the real set has, each one indicator of its group."""
    edges = np.linspace(0, columns, ones + 1).astype(int)
    width = np.diff(edges)
    picks = (width * random.random((rows, ones)) ** 1.7).astype(int) + edges[:-1]
    X = sp.csr_matrix((np.ones(rows * ones), picks.ravel(), ones * np.arange(rows + 1)), shape=(rows, columns))
    score = X @ random.normal(size=columns) + 0.7 * random.normal(size=rows)
    return X, np.where(score > np.quantile(score, 0.75), 1.0, -1.0)


def _text(random: np.random.Generator, rows: int, columns: int, length: int) -> Pair:
    """Words by a power law, rows of unit norm, a topic that moves some of the words."""
    y = np.where(random.random(rows) < 0.3, 1.0, -1.0)
    words = (columns * random.random((rows, length)) ** 3).astype(int)
    moved = (random.random((rows, length)) < 0.15) & (y[:, None] > 0)
    words = np.where(moved, (words * 7 + 11) % columns, words)
    X = sp.csr_matrix((np.ones(words.size), (np.repeat(np.arange(rows), length), words.ravel())), (rows, columns))
    X.data = 1 + np.log(X.data)
    norms = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    return sp.csr_matrix(sp.diags(1 / norms) @ X), y
