"""One build for every machine: no symbol compiled for a wider one leaks, and every level gives the same answers."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import dualgap as dg
from dualgap import _core

CORE = Path(__file__).resolve().parent.parent / "src" / "core"
LEVELS = ("baseline", "avx2", "avx512")
FLAGS = {"avx2": ["-mavx2", "-mfma"], "avx512": ["-mavx512f", "-mavx512dq", "-mavx512vl", "-mavx512bw", "-mfma"]}
X86 = platform.machine() in {"x86_64", "AMD64"}


def compiled(source: Path, flags: list[str], folder: Path) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    assert compiler, "this test compiles a file"
    made = folder / f"{source.stem}.o"
    subprocess.run([compiler, "-std=c++20", "-O2", "-fPIC", *flags, "-I", CORE, "-c", source, "-o", made], check=True)
    return made


def weak_symbols(source: Path, flags: list[str], folder: Path) -> list[str]:
    assert shutil.which("nm"), "this test looks at a file's symbols"
    made = compiled(source, flags, folder)
    lines = subprocess.run(["nm", "-C", made], check=True, capture_output=True, text=True).stdout.splitlines()
    return [line for line in lines if line[17:18] in {"W", "V", "w", "v", "u"}]


@pytest.mark.parametrize("level", sorted(FLAGS) if X86 else [])
def test_no_wide_code_leaks_out_of_its_level(level, tmp_path):
    """A weak symbol could be picked by the linker for everyone, and crash a machine without these instructions."""
    assert weak_symbols(CORE / "simd" / f"level_{level}.cpp", FLAGS[level], tmp_path) == []


def test_the_look_for_weak_symbols_can_fail(tmp_path):
    source = tmp_path / "leaky.cpp"
    source.write_text("inline __attribute__((noinline)) int g(int x) { return x; } int f(int x) { return g(x); }\n")
    assert weak_symbols(source, [], tmp_path)


def test_logarithms_are_right_to_the_last_digits_at_every_level(tmp_path):
    x86 = ["-DDUALGAP_X86"] if X86 else []
    objects = [
        compiled(CORE / "simd" / f"level_{level}.cpp", FLAGS.get(level, []), tmp_path)
        for level in (LEVELS if X86 else LEVELS[:1])
    ]
    objects.append(compiled(CORE / "simd" / "table.cpp", x86, tmp_path))
    objects.append(compiled(Path(__file__).parent / "simd_logistic.cpp", [], tmp_path))
    program = tmp_path / "program"
    subprocess.run([os.environ.get("CXX", "c++"), *objects, "-o", program], check=True)
    lines = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
    assert [line.split()[0] for line in lines] == [level for level in LEVELS if _core.simd_has(level)]
    for line in lines:
        entropy, loss, share = map(float, line.split()[1:])
        assert max(entropy, loss, share) <= 4, line


FIT = """
import numpy as np, scipy.sparse as sp, dualgap as dg
from dualgap import _core
rng = np.random.default_rng(5)
X = rng.standard_normal((300, 37)) * (rng.random((300, 37)) < 0.6)
y = np.where(X[:, 0] + X[:, 1] > 0, 1.0, -1.0)
ones = sp.csr_matrix(X != 0).astype(float)
print(_core.simd_level())
for A in (X, np.asfortranarray(X), X.astype("f4"), sp.csr_matrix(X), sp.csr_matrix(X, dtype="f4"), ones):
    for loss in ("hinge", "logistic", "epsilon_insensitive"):
        r = dg.solve(dg.Problem(A, y, loss=loss, intercept="regularized"), solver="dcd", tol=1e-9)
        print(r.certificate.primal, r.certificate.dual, *r.coef)
thin = sp.csr_matrix(X, dtype="f4")
wide = thin.copy()
wide.indices, wide.indptr = wide.indices.astype("i8"), wide.indptr.astype("i8")
for A in (thin, wide, ones):
    r = dg.solve(dg.Problem(A, y, "squared"), solver="sdca", tol=0, max_iter=2)
    print("bits", r.coef.tobytes().hex())
"""


def at_level(level: str) -> tuple[str, np.ndarray, list[str]]:
    run = subprocess.run(
        [sys.executable, "-c", FIT], env={**os.environ, "DUALGAP_SIMD": level}, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    name, *rows = run.stdout.splitlines()
    bits = [row for row in rows if row.startswith("bits")]
    return name, np.array([[float(x) for x in row.split()] for row in rows if row not in bits]), bits


def test_every_level_gives_the_same_answers():
    plainest = at_level("baseline")
    assert plainest[0] == "baseline"
    for level in LEVELS[1:]:
        if not _core.simd_has(level):
            continue
        name, answers, bits = at_level(level)
        assert name == level
        assert bits == plainest[2], "sparse rows are read by the same instructions at every level"
        np.testing.assert_allclose(answers[:, :2], plainest[1][:, :2], rtol=1e-8)
        np.testing.assert_allclose(answers[:, 2:], plainest[1][:, 2:], atol=2e-4)


def test_an_unknown_level_is_not_used():
    name, *_ = at_level("avx9000")
    assert name in LEVELS


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", ["f8", "f4", "one value"])
def test_rows_of_every_length(kind, index):
    """One cyclic epoch by hand: dots, norms and additions of rows of 0 to 40 entries."""
    rng = np.random.default_rng(6)
    dense = np.zeros((82, 60))
    for i in range(82):
        places = rng.choice(60, i // 2, replace=False)
        dense[i, places] = 0.7 if kind == "one value" else rng.standard_normal(places.size).astype("f4")
    X = sp.csr_matrix(dense, dtype="f4" if kind == "f4" else "f8")
    X.indices, X.indptr = X.indices.astype(index), X.indptr.astype(index)
    y = rng.standard_normal(82)
    result = dg.solve(dg.Problem(X, y, loss="squared", C=0.5), solver="dcd", order="cyclic", tol=1e-15, max_iter=1)
    w, beta = np.zeros(60), np.zeros(82)
    for i, x in enumerate(X.toarray().astype("f8")):
        beta[i] = (y[i] - x @ w) / (x @ x + 2.0)
        w += beta[i] * x
    np.testing.assert_allclose(result.dual, beta, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(result.coef, w, rtol=1e-12, atol=1e-14)
