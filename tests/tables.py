"""Tables of words, as several tests need them."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

import dualgap as dg


def words(loss, rows, columns, seed=5):
    """Counts of words, some of them frequent, as nobody scaled them; and labels or targets that a few words tell."""
    random = np.random.default_rng(seed)
    X = sp.csr_matrix(random.poisson(np.minimum(3.0, 60.0 / np.arange(1, columns + 1)), (rows, columns)).astype(float))
    X.data *= random.choice([1.0, 1.0, 20.0], X.nnz)
    z = X @ (random.standard_normal(columns) * (random.random(columns) < 0.1))
    targets = next(entry.targets for entry in dg.losses() if entry.name == loss)
    noisy = z + np.std(z) * 0.1 * random.standard_normal(rows)
    return X, np.where(noisy > np.median(noisy), 1.0, -1.0) if targets == "sign" else noisy


def text(n=3000, p=5000, seed=0):
    """Rows of 30 words, frequent ones among them, of length 1, and signs that a plane explains but for some."""
    rng = np.random.default_rng(seed)
    words = (p * rng.random(30 * n) ** 4).astype(int)
    X = sp.csr_array((np.ones(30 * n), (np.repeat(np.arange(n), 30), words)), shape=(n, p))
    X = sp.csr_array(sp.diags_array(1 / np.sqrt(X.multiply(X).sum(axis=1))) @ X)
    score = X @ rng.standard_normal(p)
    return X, np.where(score + 0.1 * np.std(score) * rng.standard_normal(n) > 0, 1.0, -1.0)
