"""One against one: pairs of classes take kernel values over from each other, within the cache, whatever the threads."""

from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import _core
from dualgap.estimators import svc


def clouds(rows=900, cols=120, classes=5, seed=0, spread=1.6):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, rows)
    centres = rng.standard_normal((classes, cols)) / np.sqrt(cols)
    return spread * centres[y] + rng.standard_normal((rows, cols)) / np.sqrt(cols), y


@pytest.fixture
def stores(monkeypatch):
    """Every store that fits make from now on."""
    made = []

    class Core:
        def __getattr__(self, name):
            return getattr(_core, name)

        def SharedRows(self, *arguments):
            made.append(_core.SharedRows(*arguments))
            return made[-1]

    monkeypatch.setattr(svc, "_core", Core())
    return made


def wide(X):
    """Rows too sparse for dense products."""
    mixed = X @ np.random.default_rng(1).standard_normal((X.shape[1], 2500))
    return sp.csr_matrix(np.where(np.random.default_rng(2).random(mixed.shape) < 0.05, mixed, 0.0))


@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32), wide])
def test_a_part_is_made_once_and_taken_by_every_other_pair(stores, storage):
    X, y = clouds(spread=0.0)  # classes that nothing tells apart: nearly every row is asked for by every pair
    dg.SVC(C=10, n_jobs=1, shrinking=False).fit(storage(X), y)
    (store,) = stores
    assert store.made == len(y) and 2.9 * len(y) < store.taken <= 3 * len(y)  # of four pairs one makes, three take over
    assert store.most_bytes == 4 * (np.bincount(y) ** 2).sum()


def test_values_of_few_columns_are_cheaper_to_make_than_to_copy(stores):
    X, y = clouds(cols=8)
    dg.SVC(C=10).fit(X, y)
    assert stores[0].made == stores[0].taken == 0


def test_two_classes_have_nothing_in_common(stores):
    X, y = clouds(classes=2)
    dg.SVC().fit(X, y)
    assert not stores


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("storage", [np.asarray, sp.csr_matrix, wide])
@pytest.mark.parametrize("cache_size", [200, 1])
def test_sharing_and_threads_change_no_bit(monkeypatch, kernel, storage, cache_size):
    X, y = clouds(rows=700)
    data = storage(X)

    def fitted(n_jobs):
        model = dg.SVC(kernel=kernel, C=10, cache_size=cache_size, n_jobs=n_jobs).fit(data, y)
        return model._coef, model.intercept_

    alone = fitted(1)
    together = [fitted(n_jobs) for n_jobs in (2, 4, 4)]
    monkeypatch.setattr(svc, "partial", lambda f, *a, shared=None, **k: partial(f, *a, **k))
    for coef, intercept in (*together, fitted(2)):  # the last without anything shared
        np.testing.assert_array_equal(alone[0], coef)
        np.testing.assert_array_equal(alone[1], intercept)


@pytest.mark.parametrize("megabytes", [0.05, 0.3, 1.0])
def test_a_small_store_drives_out_what_was_not_used_for_longest(stores, megabytes):
    X, y = clouds()
    model = dg.SVC(C=10, cache_size=megabytes, n_jobs=4).fit(X, y)
    (store,) = stores
    assert 0 < store.most_bytes <= megabytes * 2**20 / 4
    whole = dg.SVC(C=10).fit(X, y)
    for small, large in zip(model.certificate_, whole.certificate_, strict=True):
        assert small.relative_gap <= 1e-3 and small.primal == pytest.approx(large.primal, rel=2e-3)


@pytest.mark.parametrize("megabytes", [0.01, 1.0, 200.0, 1e5])
@pytest.mark.parametrize("sizes", [[1, 1, 1], [10, 500, 3000], [5000] * 10])
def test_all_that_runs_at_once_stays_within_the_cache(megabytes, sizes):
    common, each, at_once = svc.cache_shares(megabytes, sizes)
    assert common + at_once * each <= megabytes * (1 + 1e-12)
    assert at_once >= 2 and min(common, each) > 0
