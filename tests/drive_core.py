"""Every solver, loss, storage and intercept once, small, with one and two threads; several fits at a time.

What `make sanitize` runs against an instrumented core; it is quick enough to run by hand too.
"""

import sys
import threading
import time

import numpy as np
import scipy.sparse as sp

import dualgap as dg

INTERCEPTS = ("none", "regularized", "free")


def tables(rng):
    """The storages, on the same numbers: lengths that are no multiple of a register, empty rows, one-valued CSR."""
    X = rng.standard_normal((61, 13)) * (rng.random((61, 13)) < 0.5)
    X[7] = 0
    csr = sp.csr_matrix(X)
    wide = csr.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield from (X, np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=1)[::-1, ::2])
    yield from (csr, csr.astype(np.float32), wide, (csr != 0).astype(float))


def fits(solver, threads):
    rng = np.random.default_rng(3)
    for X in tables(rng):
        dense = X.toarray() if sp.issparse(X) else np.asarray(X, dtype=float)
        z = dense[:, 0] + 0.5 * rng.standard_normal(len(dense))
        for loss in solver.losses:
            y = np.where(z > 0, 1.0, -1.0) if {s.name: s for s in dg.losses()}[loss].targets == "sign" else z
            for intercept in solver.intercepts:
                problem = dg.Problem(X, y, loss=loss, intercept=intercept)
                if not solver.takes(problem):
                    yield dg.solve(problem, solver=solver.name, tol=1e-3, max_iter=30, n_threads=threads, trace=True)


def drive(solver):
    count = 0
    for threads in (1, 2):
        for result in fits(solver, threads):
            assert np.isfinite(result.coef).all() and result.certificate.gap >= -1e-9
            count += 1
    return count


def main() -> None:
    failures = []

    def guarded(solver):
        try:
            drive(solver)
        except BaseException as error:
            failures.append((solver.name, error))

    linear = [s for s in dg.solvers() if "linear" in s.problems]
    for solver in linear:
        start = time.perf_counter()
        print(f"{solver.name:<20} {drive(solver)} fits", f"{time.perf_counter() - start:.1f} s", flush=True)
    together = [threading.Thread(target=guarded, args=(s,)) for s in linear if s.name in ("auto", "dcd", "newton")]
    for thread in together:
        thread.start()
    for thread in together:
        thread.join()
    if failures:
        sys.exit(f"failed in threads: {failures}")
    print("several fits at once: ok")


if __name__ == "__main__":
    main()
