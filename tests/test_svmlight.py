"""The svmlight reader and writer: scikit-learn's arrays on every valid file, one sentence on every other."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_svmlight_file, load_svmlight_files

import dualgap as dg

MALFORMED = Path(__file__).parent / "malformed"


def same(ours, theirs):
    X, A = ours[0], theirs[0]
    assert X.shape == A.shape
    assert X.dtype == A.dtype
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(X, name), getattr(A, name))
    for u, v in zip(ours[1:], theirs[1:], strict=True):
        if isinstance(v, list):
            assert u == v
        else:
            np.testing.assert_array_equal(u, v)


VALID = {
    "plain": b"+1 1:0.5 3:1e-3\n-1 2:2 7:-4.25\n",
    "comments and blanks": b"# head\n\n+1 1:.5 3:1. # tail 9:9\n   \n-1 2:2#glued\n#\n\t-1\t4:1\x0b5:2\n",
    "windows": b"1 1:1\r\n2 2:2\r\n\r\n",
    "no newline at the end": b"1 1:1\n-1 2:1",
    "zero based": b"1 0:1 5:2\n1 2:1\n",
    "no features": b"1\n2\n",
    "empty": b"",
    "only comments": b"# a\n# b\n\n",
    "query ignored": b"1 qid:7 1:1\n2 qid:-8 2:1\n",
    "signs and exponents": b"+1.5e3 1:+2 2:-3E-2 3:1e+5 +4:7 005:1\n",
    "special values": b"nan 1:nan 2:inf 3:-Infinity 4:-0 5:1e400 6:-1e-400 7:NaN\n",
    "subnormal": b"1 1:4.9e-324 2:2.2250738585072011e-308 3:1e-310 4:0.0000000000000000000000000000000000001\n",
    "long digits": b"1 1:" + b"3" * 400 + b" 2:0." + b"0" * 400 + b"1 3:1" + b"0" * 300 + b"e-300\n",
}


@pytest.mark.parametrize("name", VALID)
@pytest.mark.parametrize("zero_based", ["auto", True])
def test_same_arrays_as_scikit_learn(name, zero_based):
    text = VALID[name]
    expected = load_svmlight_file(io.BytesIO(text), zero_based=zero_based)
    same(dg.load_svmlight(text, zero_based=zero_based), expected)
    same(dg.load_svmlight(io.BytesIO(text), zero_based=zero_based), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_asked_dtype(dtype):
    text = b"1 1:16777217 2:3\n"
    same(dg.load_svmlight(text, dtype=dtype), load_svmlight_file(io.BytesIO(text), dtype=dtype))


def test_one_based_when_told():
    text = b"1 1:1 3:2\n"
    same(dg.load_svmlight(text, zero_based=False), load_svmlight_file(io.BytesIO(text), zero_based=False))
    with pytest.raises(dg.FormatError, match=r"line 2, column 3: found '0:1', expected columns from 1"):
        dg.load_svmlight(b"1 1:1\n1 0:1\n", zero_based=False)


def test_label_lists():
    text = b"3,1,2 1:1\n1:5 2:1\n7\n0.5,-1 qid:3 1:2\n"
    same(dg.load_svmlight(text, multilabel=True), load_svmlight_file(io.BytesIO(text), multilabel=True))
    with pytest.raises(dg.FormatError, match=r"line 1, column 3: found ',1', expected a number as the label"):
        dg.load_svmlight(b"1,,1 1:1\n", multilabel=True)


def test_query_ids():
    text = b"1 qid:7 1:1\n2 qid:-8 2:1\n0 qid:9\n"
    same(dg.load_svmlight(text, query_id=True), load_svmlight_file(io.BytesIO(text), query_id=True))
    assert dg.load_svmlight(b"1 1:1\n", query_id=True)[2].size == 0
    with pytest.raises(dg.FormatError, match=r"line 2, .*found no qid"):
        dg.load_svmlight(b"1 qid:1 1:1\n2 1:1\n", query_id=True)
    with pytest.raises(dg.FormatError, match=r"line 2, .*found no qid"):  # before the bad line behind it
        dg.load_svmlight(b"1 qid:1 1:1\n2 1:1\n1 qid:1 x\n", query_id=True)
    with pytest.raises(dg.FormatError, match=r"line 30001, .*found no qid"):  # in another piece than the first row
        dg.load_svmlight(b"1 qid:1 1:1\n" * 30_000 + b"1 1:1\n1 qid:1 1:1\n", query_id=True)
    with pytest.raises(dg.FormatError, match=r"line 3, .*found a qid"):
        dg.load_svmlight(b"1 1:1\n1\n2 qid:3 1:1\n", query_id=True)


def test_several_files_agree():
    texts = [b"1 1:1 2:1\n", b"2 5:1\n"]
    for files in (texts, [*texts, b"1 0:1\n"], [*texts, b""]):
        theirs = load_svmlight_files([io.BytesIO(t) for t in files])
        ours = dg.load_svmlight_files(files)
        assert len(ours) == len(theirs)
        for k in range(0, len(ours), 2):
            same(ours[k : k + 2], theirs[k : k + 2])
    assert dg.load_svmlight(texts[0], n_features=9)[0].shape == (1, 9)
    with pytest.raises(dg.InvalidData, match="n_features=1 is too few: there is a column number 2"):
        dg.load_svmlight(texts[0], n_features=1)


def number_texts(rng, count):
    digits = rng.integers(1, 22, count)
    for k in range(count):
        whole = "".join(map(str, rng.integers(0, 10, digits[k])))
        point = rng.integers(0, digits[k] + 1)
        text = whole[:point] + "." + whole[point:] if rng.random() < 0.8 else whole
        if rng.random() < 0.4:
            text += f"e{rng.integers(-330, 330)}" if rng.random() < 0.3 else f"e{rng.integers(-30, 30)}"
        yield ("-" if rng.random() < 0.5 else "") + text


def test_numbers_are_rounded_as_python_rounds_them():
    rng = np.random.default_rng(7)
    texts = list(number_texts(rng, 60_000))
    # halfway cases: a double, plus half of the distance to the next, written out in full
    from decimal import Decimal, getcontext

    getcontext().prec = 60
    for x in rng.standard_normal(500) * 10.0 ** rng.integers(-3, 12, 500):
        middle = (Decimal(float(x)) + Decimal(float(np.nextafter(x, np.inf)))) / 2
        texts += [str(middle), format(middle, ".18e"), format(Decimal(float(x)), ".16e")]
    X, _ = dg.load_svmlight("".join(f"0 1:{t}\n" for t in texts).encode(), zero_based=True)
    expected = np.array([float(t) for t in texts])
    np.testing.assert_array_equal(X.data, expected)
    assert np.array_equal(np.signbit(X.data), np.signbit(expected))


def test_threads_do_not_matter(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random(10_000, 1000, 0.015, "csr", random_state=0)
    X.data = np.round(rng.standard_normal(X.nnz), rng.integers(1, 17))
    y = rng.integers(0, 5, 10_000)
    path = tmp_path / "f.svm"
    dg.dump_svmlight(X, y, path, zero_based=False)
    assert path.stat().st_size > 4 * (256 << 10)
    expected = load_svmlight_file(str(path))
    for threads in (1, 2, 5):
        same(dg.load_svmlight(path, n_threads=threads), expected)
    with path.open("rb") as file:
        same(dg.load_svmlight(file.fileno(), n_threads=3), expected)


def test_a_line_longer_than_any_buffer():
    columns = np.arange(1, 200_001)
    body = " ".join(f"{c}:{c % 97}" for c in columns).encode()
    text = b"1 1:1\n-1 " + body + b"  # " + b"x" * 700_000 + b"\n1 2:5\n#" + b"y z" * 300_000
    for threads in (1, 3):
        X, y = dg.load_svmlight(text, n_threads=threads)
        assert y.tolist() == [1, -1, 1]
        assert X.indptr.tolist() == [0, 1, 200_001, 200_002]
        np.testing.assert_array_equal(X.data[1:-1], columns % 97)
    bad = text.replace(b" 150000:", b" 15000:")
    at = bad.index(b" 15000:", 1_000_000) - bad.index(b"\n")
    with pytest.raises(dg.FormatError) as caught:
        dg.load_svmlight(bad, n_threads=3)
    assert (caught.value.line, caught.value.column) == (2, at + 1)
    with pytest.raises(dg.FormatError, match="expected a shorter word"):
        dg.load_svmlight(b"1" * 1_000_000)


def test_wide_columns():
    big = 2**40
    X, _ = dg.load_svmlight(b"1 1:1\n" * 100_000 + f"1 5:2 {big}:3\n".encode(), n_threads=2)
    assert X.indices.dtype == np.int64
    assert X.shape == (100_001, big)
    assert X.indices[:2].tolist() == [0, 0] and X.indices[-2:].tolist() == [4, big - 1]
    assert X.indptr[-1] == 100_002
    assert dg.load_svmlight(b"1 5:1\n")[0].indices.dtype == np.int32


@pytest.mark.parametrize("path", sorted(MALFORMED.glob("*.svm")), ids=lambda p: p.stem)
def test_malformed_files(path):
    """Each file's name is the line and column of its first fault."""
    line, column = (int(part) for part in path.stem.split("-")[:2])
    for threads in (1, 2):
        with pytest.raises(dg.FormatError) as caught:
            dg.load_svmlight(path, n_threads=threads)
        assert (caught.value.line, caught.value.column, caught.value.file) == (line, column, str(path))
        assert str(caught.value).startswith(f"{path}, line {line}, column {column}: found ")
        assert "\n" not in str(caught.value)


def test_the_corpus_is_there():
    assert len(list(MALFORMED.glob("*.svm"))) >= 20


def test_first_bad_line_wins():
    good = b"1 1:0.25 2:1\n"
    text = bytearray(good * 200_000)
    for line in (150_000, 77_777, 199_999):
        text[(line - 1) * len(good)] = ord("x")
    for _ in range(3):
        with pytest.raises(dg.FormatError, match="line 77777, column 1: found 'x', expected a number as the label"):
            dg.load_svmlight(bytes(text), n_threads=4)


def test_errors_travel():
    with pytest.raises(dg.FormatError) as caught:
        dg.load_svmlight(b"1 1:\n")
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.line == 1 and again.column == 5


def zstd(data):
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}


@pytest.mark.parametrize("suffix", PACK)
def test_archives(tmp_path, suffix):
    rng = np.random.default_rng(1)
    text = b"".join(b"%d %d:%.6f\n" % (k % 3, 1 + k % 7, rng.standard_normal()) for k in range(60_000))
    expected = load_svmlight_file(io.BytesIO(text))
    packed = PACK[suffix](text)
    path = tmp_path / f"f.svm.{suffix}"
    path.write_bytes(packed)
    same(dg.load_svmlight(path, n_threads=2), expected)
    path.write_bytes(PACK[suffix](text[:1000]) + PACK[suffix](text[1000:]))  # two archives in a row are one text
    same(dg.load_svmlight(path), expected)
    for cut in (len(packed) - 5, len(packed) // 2, 12):
        path.write_bytes(packed[:cut])
        with pytest.raises(dg.FormatError, match="damaged or cut short"):
            dg.load_svmlight(path)
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0xFF
    path.write_bytes(bytes(broken))
    with pytest.raises(dg.FormatError):
        dg.load_svmlight(path)


def test_zstd_that_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(ImportError, match=r"dualgap\[zstd\]"):
        dg.load_svmlight(zstd_frame := b"\x28\xb5\x2f\xfd" + b"\0" * 10)
    assert zstd_frame


def test_what_is_no_source(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.svm"):
        dg.load_svmlight(tmp_path / "nothing.svm")
    with pytest.raises(IsADirectoryError):
        dg.load_svmlight(tmp_path)
    with pytest.raises(TypeError, match="binary mode"):
        dg.load_svmlight(io.StringIO("1 1:1\n"))
    with pytest.raises(TypeError, match="Expected a path"):
        dg.load_svmlight(3.5)
    with pytest.raises(dg.InvalidData, match="zero_based='maybe'"):
        dg.load_svmlight(b"", zero_based="maybe")

    class Breaks:
        def read(self, size):
            raise RuntimeError("the cable fell out")

    with pytest.raises(RuntimeError, match="the cable fell out"):
        dg.load_svmlight(Breaks(), n_threads=2)


def test_a_pipe():
    read, write = os.pipe()
    text = b"1 1:1 2:0.5\n" * 100_000

    def feed():
        with os.fdopen(write, "wb") as file:
            file.write(text)

    thread = threading.Thread(target=feed)
    thread.start()
    X, _ = dg.load_svmlight(read, n_threads=2)
    thread.join()
    os.close(read)
    assert X.shape == (100_000, 2)


@pytest.mark.parametrize("threads", [1, 2])
def test_interrupt_while_a_pipe_is_silent(threads):
    code = f"import dualgap as dg; print('on', flush=True); dg.load_svmlight(0, n_threads={threads})"
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert child.stdout.readline() == b"on\n"
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        child.wait(timeout=5)  # the pipe stays open: nothing but the signal can end it
        assert b"KeyboardInterrupt" in child.stderr.read()
    finally:
        child.kill()
        child.communicate()


def test_progress_counts_bytes():
    seen = []
    text = b"1 1:0.123456789 2:0.123456789\n" * 1_000_000
    dg.load_svmlight(text, n_threads=1, progress=seen.append)
    assert seen and seen == sorted(seen) and seen[-1] <= len(text)


def test_peak_memory_is_the_result(tmp_path):
    """In its own process: the highest resident size grows by little more than the arrays."""
    path = tmp_path / "f.svm"
    path.write_bytes(b"1 " + b" ".join(b"%d:0.5" % k for k in range(1, 101)) + b"\n")
    with path.open("ab") as file:
        line = path.read_bytes()
        for _ in range(60):
            file.write(line * 1000)
    code = (
        "import sys, dualgap as dg, scipy.sparse\n"
        "dg.load_svmlight(b'1 1:1\\n')\n"
        "peak = lambda: int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) / 1024\n"
        "before = peak(); X, y = dg.load_svmlight(sys.argv[1], n_threads=2)\n"
        "size = sum(a.nbytes for a in (X.data, X.indices, X.indptr, y)) / 2**20\n"
        "print(size, peak() - before)"
    )
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    size, grown = map(float, out.split())
    assert size > 60
    assert grown < size + 64


# by their bits: Hypothesis refuses to draw subnormals where some library of the process has set the processor to flush
# them, and reading and writing digits must not care
numbers = (
    st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack("d", struct.pack("Q", bits))[0]).filter(lambda x: x == x)
)


@st.composite
def tables(draw):
    n, p = draw(st.integers(1, 6)), draw(st.integers(1, 9))
    mask = draw(st.lists(st.lists(st.booleans(), min_size=p, max_size=p), min_size=n, max_size=n))
    rows, columns = np.nonzero(np.array(mask))
    values = draw(st.lists(numbers, min_size=len(rows), max_size=len(rows)))
    X = sp.csr_matrix((np.array(values, dtype=np.float64), (rows, columns)), shape=(n, p))
    y = draw(st.lists(numbers, min_size=n, max_size=n))
    return X, np.array(y, dtype=np.float64)


@settings(max_examples=200, deadline=None)
@given(tables(), st.booleans(), st.booleans())
def test_round_trip(table, zero_based, single):
    X, y = table
    if single:
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
    text = io.BytesIO()
    dg.dump_svmlight(X, y, text, zero_based=zero_based, query_id=np.arange(len(y)), n_threads=1)
    got = dg.load_svmlight(text.getvalue(), n_features=X.shape[1], zero_based=zero_based, query_id=True, dtype=X.dtype)
    same(got, (X, y, np.arange(len(y))))
    if not single:
        text.seek(0)
        theirs = load_svmlight_file(text, n_features=X.shape[1], zero_based=zero_based, query_id=True)
        same(got, theirs)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                b"1",
                b" ",
                b":",
                b"\n",
                b"2:3",
                b"-",
                b"#",
                b"e",
                b".",
                b"qid:",
                b"\0",
                b"\r",
                b",",
                b"nan",
                b"99999999999999999999",
                b"+",
                b"\xff",
            ]
        ),
        max_size=30,
    )
)
def test_whatever_scikit_learn_refuses_or_reads(pieces):  # fmt: skip
    """On any text: the same arrays as scikit-learn's, or a FormatError; and an error wherever scikit-learn has one."""
    text = b"".join(pieces)
    try:
        ours = dg.load_svmlight(text)
    except dg.FormatError as error:
        assert error.line >= 1 and error.column >= 1
        return
    same(ours, load_svmlight_file(io.BytesIO(text)))


def test_writer_on_dense_and_wide_and_lists(tmp_path):
    rng = np.random.default_rng(3)
    X = np.where(rng.random((50_000, 8)) < 0.5, rng.standard_normal((50_000, 8)), 0)
    y = rng.integers(0, 3, 50_000)
    path = tmp_path / "f.svm"
    dg.dump_svmlight(X, y, path, zero_based=False, comment="one\ntwo")
    assert path.read_bytes().startswith(b"# one\n# two\n")
    A, b = dg.load_svmlight(path, n_features=8, zero_based=False)
    np.testing.assert_array_equal(A.toarray(), X)
    np.testing.assert_array_equal(b, y)
    text = io.BytesIO()
    dg.dump_svmlight(sp.csr_matrix(np.eye(2)), [[1, 2.5], []], text, multilabel=True)
    assert text.getvalue() == b"1,2.5 0:1\n 1:1\n"
    assert dg.load_svmlight(text.getvalue(), multilabel=True)[1] == [(1.0, 2.5), ()]
    for bad in ([1], [1, 2, 3]):
        with pytest.raises(dg.InvalidData, match="labels for 2 rows"):
            dg.dump_svmlight(np.eye(2), bad, io.BytesIO())
