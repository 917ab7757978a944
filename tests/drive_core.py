"""Every solver, loss, storage and intercept once, small, with one and two threads; several fits at a time; and files.

What `make sanitize` runs against an instrumented core; it is quick enough to run by hand too (`files`, `others`
or names of solvers as arguments: only those).
"""

import gzip
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import dualgap as dg

INTERCEPTS = ("none", "regularized", "free")


def tables(rng):
    """The storages, on the same numbers: lengths that are no multiple of a register, empty rows, one-valued CSR; thin
    rows, and crowded ones, which Newton packs like dense ones."""
    X = rng.standard_normal((61, 13)) * (rng.random((61, 13)) < 0.5)
    X[7] = 0
    yield from (X, np.asfortranarray(X), X.astype(np.float32), np.repeat(X, 2, axis=1)[::-1, ::2])
    for csr in (sp.csr_matrix(X), sp.csr_matrix(X * (rng.random(X.shape) < 0.5))):
        wide = csr.copy()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
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
                if solver.takes(problem):
                    continue
                budget = {"tol": 1e-3, "max_iter": 30, "n_threads": threads, "trace": True}
                yield dg.solve(problem, solver=solver.name, **budget)
                if solver.name == "newton":  # without room for a matrix over the columns
                    yield dg.solve(problem, solver=solver.name, **budget, memory=24.0 * 9**2)


def drive(solver):
    count = 0
    for threads in (1, 2):
        for result in fits(solver, threads):
            assert np.isfinite(result.coef).all() and result.certificate.gap >= -1e-9
            count += 1
    return count


def drive_others() -> int:
    """Problems that are not rows × targets, and kernels."""
    count = 0
    for X in tables(np.random.default_rng(4)):
        signs = np.where(np.arange(X.shape[0]) % 3 > 0, 1.0, -1.0)
        problems = [dg.OneClassProblem(X, nu=0.3), dg.SVDDProblem(X, nu=0.3)]
        if not sp.issparse(X) or X.indices.dtype == np.int32:
            problems += [dg.Problem(X, signs, intercept="free", kernel=name, gamma=0.1) for name in ("rbf", "poly")]
            problems.append(dg.OneClassProblem(X, nu=0.3, kernel="rbf", gamma=0.1))
        for problem in problems:
            for threads in (1, 2):
                result = dg.solve(problem, tol=1e-4, max_iter=200, n_threads=threads, trace=True)
                assert np.isfinite(result.dual).all() and result.certificate.gap >= -1e-9
                count += 1
    return count


def texts():
    """Sound and malformed, short and of several pieces of text; the first bad line late."""
    for path in sorted((Path(__file__).parent / "malformed").iterdir()):
        yield path.read_bytes()
    lines = [b"%d 1:%d 7:%.17g # %d\n" % (k % 3, k, k / 7, k) for k in range(60_000)]
    yield b"".join(lines)
    yield b"".join([*lines[:40_000], b"1 3:x\n", *lines[40_000:]])
    yield b"1 " + b" ".join(b"%d:%d" % (k, k % 9) for k in range(1, 90_000)) + b"\n" + lines[5]
    yield b"1 99999999999:1e-300\n" + b"".join(lines)
    yield b"1 1:2\n" * 100_000 + b"1 1:0.1\n"


def sources(text, folder):
    path = folder / "text"
    path.write_bytes(text)
    yield text
    yield path
    path.with_suffix(".gz").write_bytes(gzip.compress(text, 1))
    yield path.with_suffix(".gz")
    with open(path, "rb") as file:
        yield file
    read, write = os.pipe()
    feeder = threading.Thread(target=lambda: os.fdopen(write, "wb").write(text))
    feeder.start()
    yield read
    while os.read(read, 1 << 20):
        pass
    feeder.join()
    os.close(read)


def drive_files() -> int:
    """Every way of reading, then writing and reading again, mapped folders, models."""
    from dualgap.files.mapped import convert_svmlight
    from dualgap.files.text import read_tables

    count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for k, text in enumerate(texts()):
            outcomes = []
            for threads in (1, 3):
                for values in ("full", "exact", "single"):
                    for source in sources(text, folder):
                        count += 1
                        try:
                            (table,), _ = read_tables([source], values=values, n_threads=threads)
                            outcomes.append((table["rows"], table["lines"], int(table["indices"].sum())))
                        except dg.FormatError as error:
                            outcomes.append((error.line, error.column))
            assert len(set(outcomes)) == 1, (k, outcomes)
            if len(outcomes[0]) == 3 and outcomes[0][0]:
                X, y = dg.load_svmlight(text)
                dg.dump_svmlight(X, y, folder / "again", zero_based=False, n_threads=3)
                A, b = dg.load_svmlight(folder / "again", zero_based=False, n_features=X.shape[1])
                assert (A != X).nnz == 0 and np.array_equal(b, y)
                convert_svmlight(text, folder / f"{k}.dg")
                assert dg.open_mapped(folder / f"{k}.dg")[0].shape == X.shape
        X = np.random.default_rng(0).standard_normal((50, 3))
        dg.LinearSVC().fit(X, X[:, 0] > 0).save(folder / "model")
        blob = (folder / "model").read_bytes()
        for cut in range(0, len(blob), 37):
            (folder / "model").write_bytes(blob[:cut])
            try:
                dg.load(folder / "model")
                raise AssertionError(cut)
            except ValueError:
                count += 1
    return count


def main() -> None:
    failures = []
    wanted = sys.argv[1:]
    if not wanted or "files" in wanted:
        start = time.perf_counter()
        print(f"{'files':<20} {drive_files()} readings", f"{time.perf_counter() - start:.1f} s", flush=True)

    if not wanted or "others" in wanted:
        start = time.perf_counter()
        print(f"{'others':<20} {drive_others()} fits", f"{time.perf_counter() - start:.1f} s", flush=True)

    def guarded(solver):
        try:
            drive(solver)
        except BaseException as error:
            failures.append((solver.name, error))

    linear = [s for s in dg.solvers() if "linear" in s.problems and (not wanted or s.name in wanted)]
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
