"""The program as a process: what it imports, pipes and archives on its input, signals, full disks, endless lines."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest
import zstandard

import dualgap as dg
from dualgap.files.text import read_tables

PROGRAM = [sys.executable, "-m", "dualgap"]
TEXT = b"".join(b"%d 1:%d 3:%.3f\n" % (1 if k % 3 else -1, k % 3, 0.001 * k) for k in range(300))
PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard.compress}


def python(code, *words, timeout=60):
    run = subprocess.run(
        [sys.executable, "-c", code, *map(str, words)], capture_output=True, text=True, timeout=timeout
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@pytest.fixture
def data(tmp_path):
    (tmp_path / "d.svm").write_bytes(TEXT)
    return tmp_path


def test_the_installed_program(data):
    """As pip writes it from pyproject.toml, and the one that is installed, where one is."""
    declared = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]["scripts"]
    module, function = declared["dualgap"].split(":")
    script = data / "dualgap"
    script.write_text(f"#!{sys.executable}\nimport sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    script.chmod(0o755)
    installed = shutil.which("dualgap", path=str(Path(sys.executable).parent))
    for path in {str(script), installed or str(script)}:
        for words, status in ((["--version"], 0), (["train", "d.svm", "m"], 0), (["trian"], 2), (["info", "x"], 1)):
            run = subprocess.run([path, *words], capture_output=True, text=True, cwd=data, timeout=60)
            assert (run.returncode, "Traceback" in run.stderr) == (status, False), run.stderr
        assert dg.load(data / "m").certificate_.relative_gap <= 1e-3


def test_training_imports_little(data):
    code = (
        "import sys; from dualgap.cli import main; assert main(['train', '-s', '3', '-q', sys.argv[1]]) == 0\n"
        "heavy = 'sklearn scipy.sparse scipy.linalg pandas pyarrow concurrent.futures tqdm'.split()\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert python(code, data / "d.svm") == "[]\n"


def test_blas_is_there_without_its_package_and_with_it():
    code = (
        "import sys\nfrom dualgap.blas import published\n"
        "print('dgemm' in published('cython_blas'), 'dpotrf' in published('cython_lapack'))\n"
        "print('scipy.linalg' in sys.modules)\n"
        "import scipy.linalg, scipy.linalg.cython_blas\n"
        "print(scipy.linalg.cython_blas is sys.modules['scipy.linalg.cython_blas'], scipy.linalg.det([[2.0]]) == 2)"
    )
    assert python(code).split() == ["True", "True", "False", "True", "True"]


def test_threads_that_need_blas_for_the_first_time_at_once():
    code = (
        "import threading, numpy as np, dualgap as dg\n"
        "X = np.random.default_rng(0).standard_normal((60, 4)); y = np.sign(X[:, 0]); out = []\n"
        "go = lambda: out.append(dg.solve(dg.Problem(X, y), 'newton').certificate.primal)\n"
        "threads = [threading.Thread(target=go) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(len(out), len(set(out)))"
    )
    for _ in range(3):
        assert python(code) == "8 1\n"


@pytest.mark.parametrize("kind", sorted(PACKERS))
def test_archives_through_pipes_and_file_objects(data, kind):
    packed = PACKERS[kind](TEXT)
    (data / "packed").write_bytes(packed)
    X, y = dg.load_svmlight(TEXT)
    with open(data / "packed", "rb") as file:
        A, b = dg.load_svmlight(file)
    assert (A != X).nnz == 0 and (b == y).all()
    for words in (["-"], ["/dev/stdin"]):
        run = subprocess.run([*PROGRAM, "train", *words, "m"], input=packed, capture_output=True, cwd=data, timeout=60)
        assert run.returncode == 0, run.stderr
        assert b"300 rows, 3 columns" in run.stdout
        cut = subprocess.run([*PROGRAM, "train", *words, "n"], input=packed[:-9], capture_output=True, cwd=data)
        assert cut.returncode == 1 and b"damaged or cut short" in cut.stderr and not (data / "n").exists()
    run = subprocess.run([*PROGRAM, "convert", "-", "c.dg"], input=packed, capture_output=True, cwd=data, timeout=60)
    assert run.returncode == 0 and dg.open_mapped(data / "c.dg")[0].shape == (300, 3)


@pytest.mark.parametrize("words", [["train", "-", "m"], ["train", "--threads", "1", "-", "m"], ["info", "/dev/stdin"]])
@pytest.mark.parametrize("begun", [b"", b"1 1:1\n", gzip.compress(TEXT)[:-20]])
def test_interrupt_while_the_input_is_silent(tmp_path, words, begun):
    child = subprocess.Popen(
        [*PROGRAM, *words], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        child.stdin.write(begun)
        child.stdin.flush()
        time.sleep(0.8)
        child.send_signal(signal.SIGINT)
        assert child.wait(timeout=5) == 130  # the pipe stays open: nothing but the signal can end it
        assert child.stderr.read() == b"dualgap: interrupted\n"
    finally:
        child.kill()
        child.communicate()


@pytest.mark.parametrize("delay", [0.15, 0.6])
def test_interrupt_while_a_file_is_read(tmp_path, delay):
    """Reading goes on beside the imports: Ctrl-C ends both, whichever is going on."""
    (tmp_path / "d.svm").write_bytes(b"#")
    os.truncate(tmp_path / "d.svm", 100 << 30)  # one comment of 100 GB: a minute's reading
    child = subprocess.Popen([*PROGRAM, "train", "d.svm", "m"], cwd=tmp_path, stderr=subprocess.PIPE)
    time.sleep(delay)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=10)
    assert child.returncode == 130 and error == b"dualgap: interrupted\n"
    assert os.listdir(tmp_path) == ["d.svm"]


def test_values_are_single_only_where_nothing_is_lost():
    rows = 200_000  # several pieces of text
    line = b"1 1:0.5 2:255 3:-0.125\n"
    exact = {"values": "exact", "n_threads": 2}
    (table,), _ = read_tables([line * rows], **exact)
    assert table["data"].dtype == np.float32
    np.testing.assert_array_equal(table["data"][:3], [0.5, 255, -0.125])
    for odd in (b"0.1", b"16777217", b"1e-50", b"1e300"):  # the last value of all
        (table,), _ = read_tables([line * rows + b"1 1:" + odd + b"\n"], **exact)
        assert table["data"].dtype == np.float64 and table["data"][-1] == float(odd)
        np.testing.assert_array_equal(table["data"][:-1], np.tile([0.5, 255, -0.125], rows))
    (table,), _ = read_tables([b"1 1:0.1\n" + line * rows], **exact)
    assert (
        table["data"].dtype == np.float64
        and table["data"][0] == 0.1
        and (table["data"][1:4] == [0.5, 255, -0.125]).all()
    )


def test_the_model_does_not_depend_on_how_values_are_kept(data):
    subprocess.run([*PROGRAM, "train", "-s", "3", "-q", "d.svm", "m"], cwd=data, check=True)
    X, y = dg.load_svmlight(data / "d.svm")
    X.data = np.round(X.data * 8) / 8  # float32 holds these exactly
    dg.dump_svmlight(X, y, data / "e.svm", zero_based=False)
    subprocess.run([*PROGRAM, "train", "-s", "3", "-q", "e.svm", "n"], cwd=data, check=True)
    for path, A in (("m", dg.load_svmlight(data / "d.svm")[0]), ("n", X)):
        result = dg.solve(dg.Problem(A, np.where(y > 0, 1.0, -1.0), "hinge", 1.0), random_state=0)
        np.testing.assert_array_equal(dg.load(data / path).coef_[0], result.coef)


def limited(data, words, **limits):
    def limit():
        for name, value in limits.items():
            resource.setrlimit(getattr(resource, name), (value, value))
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    return subprocess.run([*PROGRAM, *words], cwd=data, capture_output=True, text=True, preexec_fn=limit, timeout=60)


@pytest.mark.parametrize(
    "words", [["train", "d.svm", "out"], ["convert", "d.svm", "out"], ["predict", "good", "d.svm", "--output", "out"]]
)
def test_a_full_disk_is_one_sentence_and_leaves_nothing(data, words):
    subprocess.run([*PROGRAM, "train", "d.svm", "good", "-q"], cwd=data, check=True)
    before = set(os.listdir(data))
    run = limited(data, words, RLIMIT_FSIZE=300)
    assert run.returncode == 1 and "Traceback" not in run.stderr and len(run.stderr.splitlines()) == 1, run.stderr
    assert set(os.listdir(data)) == before


def test_an_output_that_takes_nothing(data):
    with open("/dev/full", "w") as full:
        run = subprocess.run([*PROGRAM, "info", "d.svm"], cwd=data, stdout=full, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1 and run.stderr == "dualgap: No space left on device.\n"
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as gone:
        run = subprocess.run([*PROGRAM, "info", "d.svm"], cwd=data, stdout=gone, stderr=subprocess.PIPE, text=True)
    assert run.returncode == 1 and run.stderr == ""
    code = (  # a reader who leaves between the first bytes and the last flush
        "import io, sys\n"
        "class Gone(io.StringIO):\n"
        "    def flush(self): raise BrokenPipeError(32, 'Broken pipe')\n"
        "sys.stdout, sys.argv = Gone(), ['dualgap', '--version']\n"
        "from dualgap.cli import program\n"
        "program()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr == ""


def test_ten_gigabytes_without_a_line_end(tmp_path):
    """Refused at once and with little memory, whatever the bytes are."""
    (tmp_path / "nul.svm").write_bytes(b"")
    os.truncate(tmp_path / "nul.svm", 10 << 30)
    code = (
        "import sys, time, dualgap as dg\n"
        "class Endless:\n"
        "    def read(self, size): return b'7' * size\n"
        "for source in (sys.argv[1], Endless()):\n"
        "    start = time.perf_counter()\n"
        "    try: dg.load_svmlight(source)\n"
        "    except dg.FormatError as error: print('line 1, column 1' in str(error), time.perf_counter() - start < 2)\n"
        "print(int(open('/proc/self/status').read().split('VmHWM:')[1].split()[0]) < 300_000)"
    )
    assert python(code, tmp_path / "nul.svm").split() == ["True"] * 5
    run = limited(tmp_path, ["train", "nul.svm"], RLIMIT_AS=4 << 30)
    assert run.returncode == 1 and "line 1, column 1" in run.stderr


def test_a_file_cut_short_while_it_is_read(tmp_path):
    """An error or fewer rows, never a crash: that is why files are read, not mapped."""
    path = tmp_path / "f.svm"
    line = b"1 1:0.123456789 2:0.123456789\n"
    path.write_bytes(line * 2_000_000)
    code = (
        "import os, sys, dualgap as dg\n"
        "cut = lambda done: os.path.getsize(sys.argv[1]) > 9 and os.truncate(sys.argv[1], 8 << 20)\n"
        "try: print(dg.load_svmlight(sys.argv[1], progress=cut)[0].shape[0])\n"
        "except dg.FormatError: print(1)"
    )
    assert 1 <= int(python(code, path)) < 2_000_000


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_were_closed_before_the_start(data, closed):
    """The fit is done and saved; the model does not end up in the place of a stream."""
    run = subprocess.run(f"{' '.join(PROGRAM)} train d.svm m {closed}", shell=True, cwd=data, capture_output=True)
    assert run.returncode == 0 and run.stderr == b""
    assert dg.load(data / "m").coef_.shape == (1, 3)


def test_nothing_takes_the_place_of_a_pipe_or_a_link(data):
    os.mkfifo(data / "pipe")
    reader = subprocess.Popen(["cat", "pipe"], cwd=data, stdout=subprocess.PIPE)
    subprocess.run([*PROGRAM, "train", "d.svm", "pipe", "-q"], cwd=data, check=True, timeout=60)
    text = reader.communicate(timeout=60)[0]
    assert (data / "pipe").is_fifo() and text.startswith(b"dualgap model")
    (data / "link").symlink_to("real")
    for _ in range(2):
        subprocess.run([*PROGRAM, "train", "d.svm", "link", "-q"], cwd=data, check=True)
        assert (data / "link").is_symlink() and dg.load(data / "real").coef_.shape == (1, 3)


def test_values_that_are_no_numbers(data):
    """Nobody gets a label for a row that is not a number; `info` counts them without a word of NumPy's."""
    subprocess.run([*PROGRAM, "train", "d.svm", "m", "-q"], cwd=data, check=True)
    (data / "nan.svm").write_bytes(b"1 1:nan 2:inf\n-1 1:2\n")
    run = subprocess.run([*PROGRAM, "predict", "m", "nan.svm"], cwd=data, capture_output=True, text=True)
    assert run.returncode == 1 and run.stdout == ""
    assert run.stderr == "dualgap: nan.svm contains NaN or infinity; replace or drop those rows first.\n"
    run = subprocess.run([*PROGRAM, "info", "nan.svm"], cwd=data, capture_output=True, text=True)
    assert run.returncode == 0 and run.stderr == "" and "NaN or infinite            2" in run.stdout


def test_more_columns_than_memory_has_room_for(data):
    (data / "wide.svm").write_bytes(b"1 1:1 9000000000000:1\n-1 1:2\n")
    run = subprocess.run([*PROGRAM, "train", "wide.svm", "m"], cwd=data, capture_output=True, text=True, timeout=60)
    assert run.returncode == 1 and "9,000,000,000,000 columns" in run.stderr and len(run.stderr.splitlines()) == 1
    run = subprocess.run([*PROGRAM, "info", "wide.svm"], cwd=data, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stderr == ""


@pytest.mark.parametrize("words", [["predict", "m", "d.svm", "-o"], ["convert", "d.svm"]])
def test_a_folder_that_is_not_there_is_named_as_it_was_given(data, words):
    subprocess.run([*PROGRAM, "train", "d.svm", "m", "-q"], cwd=data, check=True)
    run = subprocess.run([*PROGRAM, *words, "no/where"], cwd=data, capture_output=True, text=True)
    assert run.returncode == 1 and run.stderr == "dualgap: no/where: No such file or directory.\n"
