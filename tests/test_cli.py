"""The real program in a subprocess: what it prints, what it leaves behind, and how it ends."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler

import dualgap as dg

PROGRAM = [sys.executable, "-m", "dualgap.cli"]


def program(*words, cwd=None, status=0, text=None):
    run = subprocess.run([*PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=cwd, timeout=120, input=text)
    assert run.returncode == status, run.stderr
    assert "Traceback" not in run.stderr
    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cli")
    X = StandardScaler().fit_transform(load_breast_cancer().data)
    dg.dump_svmlight(X, np.where(load_breast_cancer().target, 1, -1), place / "cancer.svm", zero_based=False)
    X, y = load_iris(return_X_y=True)
    dg.dump_svmlight(X, y, place / "iris.svm", zero_based=False)
    X, y = load_diabetes(return_X_y=True)
    dg.dump_svmlight(X, y, place / "diabetes.svm", zero_based=False)
    return place


def test_help_is_quick_and_fits_a_screen():
    import resource

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = program("--help").stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.3
    assert len(text.splitlines()) <= 24 and max(map(len, text.splitlines())) <= 80
    assert text.count("\n  dualgap ") == 3
    code = (
        "import sys, dualgap.cli.parser as p; p.build(); print([m for m in ('numpy', 'sklearn') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("data", "words", "estimator"),
    [
        ("cancer.svm", ["--loss", "hinge", "--C", "0.5"], dg.LinearSVC(loss="hinge", C=0.5, random_state=0)),
        ("cancer.svm", ["-s", "3", "-c", "2"], dg.LinearSVC(loss="hinge", C=2.0, fit_intercept=False)),
        ("cancer.svm", ["-s", "1", "-B", "2"], dg.LinearSVC(intercept_scaling=2.0)),
        ("cancer.svm", ["-w1", "3", "-w-1", "0.5"], dg.LinearSVC(class_weight={1: 3.0, -1: 0.5})),
        ("cancer.svm", ["-s", "2", "-B", "1", "-R"], dg.LinearSVC(intercept="free")),
        ("iris.svm", ["--weight", "2=4"], dg.LinearSVC(class_weight={2: 4.0})),
        ("iris.svm", ["--loss", "logistic", "--intercept", "free", "--balanced"],
         dg.LogisticRegression(class_weight="balanced")),
        ("diabetes.svm", ["-s", "13", "-p", "5", "-c", "10"],
         dg.LinearSVR(C=10.0, epsilon=5.0, fit_intercept=False)),
    ],
)  # fmt: skip
def test_train_is_the_estimator(folder, tmp_path, data, words, estimator):
    program("train", folder / data, tmp_path / "m", *words)
    X, y = dg.load_svmlight(folder / data)
    estimator.fit(X, y)
    model = dg.load(tmp_path / "m")
    assert type(model) is type(estimator)
    np.testing.assert_array_equal(model.coef_, estimator.coef_)
    np.testing.assert_array_equal(np.ravel(model.intercept_) + 0 * model.coef_.ravel()[:1],
                                  np.ravel(estimator.intercept_) + 0 * model.coef_.ravel()[:1])  # fmt: skip
    np.testing.assert_array_equal(model.predict(X), estimator.predict(X))


def test_train_prints_the_certificate_and_names_the_model(folder, tmp_path):
    (tmp_path / "d.svm").write_bytes((folder / "cancer.svm").read_bytes())
    out = program("train", "d.svm", cwd=tmp_path).stdout
    assert "569 rows, 30 columns" in out and "proven within" in out and "saved as d.svm.model" in out
    assert program("train", "-q", "d.svm", cwd=tmp_path).stdout == ""
    facts = json.loads(program("train", "d.svm", "--json", cwd=tmp_path).stdout)
    assert facts["fits"][0]["status"] == "optimal"
    assert facts["fits"][0]["certificate"]["relative_gap"] <= 1e-3
    assert sorted(os.listdir(tmp_path)) == ["d.svm", "d.svm.model"]


def test_predict(folder, tmp_path):
    program("train", folder / "iris.svm", tmp_path / "m", "--loss", "logistic")
    model = dg.load(tmp_path / "m")
    X, y = dg.load_svmlight(folder / "iris.svm")
    run = program("predict", tmp_path / "m", folder / "iris.svm")
    assert [int(line) for line in run.stdout.split()] == model.predict(X).tolist()
    assert f"accuracy {model.score(X, y):.4%}" in run.stderr
    out = tmp_path / "out.txt"
    run = program("predict", tmp_path / "m", folder / "iris.svm", "--probabilities", "-o", out)
    np.testing.assert_allclose(np.loadtxt(out), model.predict_proba(X), atol=1e-12)
    assert "precision" in run.stdout
    program("predict", tmp_path / "m", folder / "iris.svm", "--scores", "-o", out)
    np.testing.assert_allclose(np.loadtxt(out), model.decision_function(X), atol=1e-12)
    facts = json.loads(program("predict", tmp_path / "m", folder / "iris.svm", "--json").stdout)
    assert facts["accuracy"] == model.score(X, y)
    program("train", folder / "cancer.svm", tmp_path / "h")
    run = program("predict", tmp_path / "h", folder / "cancer.svm", "-b", status=1)
    assert "gives no probabilities" in run.stderr


def test_columns_keep_their_meaning(folder, tmp_path):
    """A test file without column 1 is not taken for a zero-based one, and one that is zero-based is refused."""
    (tmp_path / "train.svm").write_bytes(b"1 1:1 2:-1\n-1 1:-1 2:1\n")
    program("train", "train.svm", "m", cwd=tmp_path)
    (tmp_path / "test.svm").write_bytes(b"0 2:1\n0 3:9\n")
    run = program("predict", "m", "test.svm", "--scores", cwd=tmp_path)
    assert float(run.stdout.split()[0]) < 0
    assert float(run.stdout.split()[1]) == dg.load(tmp_path / "m").decision_function([[0.0, 0.0]])
    assert "those past it are left out" in run.stderr
    (tmp_path / "zero.svm").write_bytes(b"0 0:1\n")
    assert "columns from 1" in program("predict", "m", "zero.svm", cwd=tmp_path, status=1).stderr


def test_liblinear_models_go_both_ways(folder, tmp_path):
    from liblinear.liblinearutil import load_model, predict

    program("train", folder / "cancer.svm", tmp_path / "m", "-s", "2", "-B", "1", "--format", "liblinear")
    X, y = dg.load_svmlight(folder / "cancer.svm")
    labels, _, _ = predict(y, sp.csr_matrix(X), load_model(str(tmp_path / "m")), "-q")
    run = program("predict", tmp_path / "m", folder / "cancer.svm")
    assert [float(line) for line in run.stdout.split()] == labels
    assert "LIBLINEAR L2R_L2LOSS_SVC" in program("info", tmp_path / "m").stdout


def test_cv(folder, tmp_path):
    words = ["cv", folder / "cancer.svm", "--C", "0.001,0.1,10", "--folds", "4"]
    facts = json.loads(program(*words, "--json").stdout)
    assert facts["C"] == [0.001, 0.1, 10] and len(facts["fold_scores"]) == 4
    assert facts["best_C"] == facts["C"][int(np.argmax(facts["mean"]))] and max(facts["mean"]) > 0.95
    assert facts["late"] == 0
    run = program(*words, "--train", tmp_path / "best")
    assert run.stdout.count("  best\n") == 1
    assert facts["best_C"] == dg.load(tmp_path / "best").C
    assert json.loads(program(*words, "--json", "--threads", "1").stdout)["mean"] == facts["mean"]


def test_cv_folds_hold_rows_out(folder):
    """The score of a fold is that of a model fitted without its rows."""
    from dualgap.cli.cv import _fold, split
    from dualgap.cli.fit import Fitter
    from dualgap.cli.parser import parse
    from dualgap.files.datasets import read_data

    path = str(folder / "cancer.svm")
    args = parse(["cv", path, "--tol", "1e-6"])
    data = read_data(path)
    fitter = Fitter(data, path, args)
    out = split(fitter, 5, 0) == 2
    X, y = data.X.to_scipy(), data.y
    scores, late, _ = _fold(fitter, X, out, [0.1, 1.0], args, lambda: None)
    assert late == 0
    for C, score in zip([0.1, 1.0], scores, strict=True):
        model = dg.LinearSVC(C=C, tol=1e-6).fit(X[~out], y[~out])
        assert score == model.score(X[out], y[out])


def test_cross_validation_by_letter(folder):
    out = program("train", "-v", "5", "-s", "3", folder / "cancer.svm").stdout
    assert float(out.split("Cross Validation Accuracy = ")[1].rstrip("%\n")) > 95


def test_tables(tmp_path):
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    colour = rng.choice(["blue", "green", "red"], 300)
    size = rng.standard_normal(300)
    answer = np.where((colour == "red") ^ (size > 1.5), "yes", "no")
    table = pa.table({"size": size, "colour": colour, "answer": answer})
    pa.parquet.write_table(table, tmp_path / "t.parquet")
    pa.csv.write_csv(table, tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        program("train", name, "m", "--label", "answer", cwd=tmp_path)
        model = dg.load(tmp_path / "m")
        assert model.feature_names_in_.tolist() == ["size", "colour=blue", "colour=green", "colour=red"]
        assert model.classes_.tolist() == ["no", "yes"]
        run = program("predict", "m", name, cwd=tmp_path)
        assert np.mean(np.array(run.stdout.split()) == answer) > 0.9
        assert "accuracy" in run.stderr
    unlabelled = pa.table({"colour": ["red", "violet"], "size": [0.0, 0.0], "extra": [1, 2]})
    pa.csv.write_csv(unlabelled, tmp_path / "new.csv")
    assert program("predict", "m", "new.csv", cwd=tmp_path).stdout.split()[0] == "yes"
    assert "--label COLUMN" in program("train", "t.csv", cwd=tmp_path, status=1).stderr
    assert "no column 'x'" in program("train", "t.csv", "--label", "x", cwd=tmp_path, status=1).stderr
    (tmp_path / "gap.csv").write_text("a,b\n1,2\n,3\n")
    run = program("train", "gap.csv", "--label", "b", cwd=tmp_path, status=1)
    assert "column 'a' has 1 missing values" in run.stderr


def test_npz(folder, tmp_path):
    X, y = dg.load_svmlight(folder / "cancer.svm")
    np.savez(tmp_path / "d.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=y)
    program("train", "d.npz", "a", cwd=tmp_path)
    np.savez(tmp_path / "dense.npz", X=X.toarray(), y=y)
    program("train", "dense.npz", "b", cwd=tmp_path)
    np.testing.assert_allclose(dg.load(tmp_path / "a").coef_, dg.load(tmp_path / "b").coef_, atol=1e-2)
    np.savez(tmp_path / "odd.npz", z=y)
    assert "needs X and y" in program("train", "odd.npz", cwd=tmp_path, status=1).stderr


@pytest.mark.parametrize("first", [0, 1])
def test_convert(folder, tmp_path, first):
    X, y = dg.load_svmlight(folder / "cancer.svm")
    dg.dump_svmlight(X, y, tmp_path / "d.svm", zero_based=first == 0)
    out = program("convert", "d.svm", "d.dg", cwd=tmp_path).stdout
    assert "569 rows, 30 columns" in out
    A, b = dg.open_mapped(tmp_path / "d.dg")
    assert isinstance(A.data, np.memmap) and A.indices.dtype == np.int32
    assert (A != X).nnz == 0 and np.array_equal(b, y)
    program("train", "d.dg", cwd=tmp_path)
    program("train", "d.svm", cwd=tmp_path)
    np.testing.assert_array_equal(dg.load(tmp_path / "d.dg.model").coef_, dg.load(tmp_path / "d.svm.model").coef_)
    assert "already" in program("convert", "d.svm", "d.dg", cwd=tmp_path, status=1).stderr
    os.unlink(tmp_path / "d.dg" / "indices.npy")
    with pytest.raises(dg.FormatError, match="damaged"):
        dg.open_mapped(tmp_path / "d.dg")


def test_convert_in_blocks_is_the_reader(tmp_path, monkeypatch):
    from dualgap.files import mapped

    monkeypatch.setattr(mapped, "_BLOCK", 500)
    text = b"".join(b"%d %d:%d.5 %d:1\n" % (k % 2, 1 + k % 9, k, 20 + k % 3) for k in range(400))
    text += b"1 3:1 5000000000:2\n"
    mapped.convert_svmlight(text, tmp_path / "d")
    A, b = dg.open_mapped(tmp_path / "d")
    X, y = dg.load_svmlight(text)
    assert A.shape == X.shape and A.indices.dtype == np.int64
    for u, v in ((A.indptr, X.indptr), (A.indices, X.indices), (A.data, X.data), (b, y)):
        np.testing.assert_array_equal(u, v)
    with pytest.raises(dg.FormatError, match="line 402, column 3"):
        mapped.convert_svmlight(text + b"1 x\n", tmp_path / "e")
    assert os.listdir(tmp_path) == ["d"]


def test_a_killed_convert_leaves_nothing_that_opens(tmp_path):
    child = subprocess.Popen([*PROGRAM, "convert", "-", str(tmp_path / "d")], stdin=subprocess.PIPE)
    child.stdin.write(b"1 1:1 2:2\n" * 3_000_000)
    child.stdin.flush()
    time.sleep(0.3)
    child.send_signal(signal.SIGKILL)
    child.wait(timeout=20)
    child.stdin.close()
    assert not (tmp_path / "d").exists()
    for name in os.listdir(tmp_path):
        with pytest.raises(dg.FormatError):
            dg.open_mapped(tmp_path / name)


def test_info(folder, tmp_path):
    out = program("info", folder / "cancer.svm").stdout
    assert "569" in out and "-1 212, 1 357" in out
    program("train", folder / "cancer.svm", tmp_path / "m")
    out = program("info", tmp_path / "m").stdout
    assert "LinearSVC" in out and "certificate" in out and "saved" in out
    (tmp_path / "wild.svm").write_bytes(b"1 1:1000000 2:0.001\n-1 1:3 2:0.002\n")
    run = program("info", tmp_path / "wild.svm")
    assert "warning" in run.stderr and "scale" in run.stderr
    facts = json.loads(program("info", tmp_path / "wild.svm", "--json").stdout)
    assert facts["scale ratio"] == 5e8


def test_standard_input_and_archives(folder, tmp_path):
    text = (folder / "cancer.svm").read_text()
    program("train", "-", tmp_path / "m", text=text)
    assert "say MODEL" in program("train", "-", text=text, status=1).stderr
    import gzip

    (tmp_path / "d.svm.gz").write_bytes(gzip.compress(text.encode()))
    program("train", tmp_path / "d.svm.gz")
    np.testing.assert_array_equal(dg.load(tmp_path / "m").coef_, dg.load(tmp_path / "d.svm.gz.model").coef_)


def test_a_fit_that_comes_late(folder, tmp_path):
    words = ["train", folder / "cancer.svm", tmp_path / "m", "--solver", "dcd", "--loss", "hinge"]
    words += ["--max-iter", "1", "--tol", "1e-9"]
    assert "stopped (max_iter)" in program(*words).stderr
    assert "stopped (max_iter)" in program(*words, "--strict", status=1).stderr


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["trian"], 2, "invalid choice"),
        (["predict"], 2, "MODEL"),
        ([], 2, "COMMAND"),
        (["train", "x", "--C", "-1"], 2, "--C"),
        (["cv", "x", "--C", ","], 2, "',' has no number in it"),
        (["train", "x", "-w1", "zero"], 2, "positive"),
        (["train", "x", "-s", "4"], 2, "Crammer"),
        (["train", "x", "-s", "99"], 2, "-s 99"),
        (["train", "x", "-s", "3", "--loss", "logistic"], 2, "hinge"),
        (["train", "x", "--balanced", "-w1", "2"], 2, "exclude"),
        (["train", "x", "-s", "three"], 2, "whole number"),
        (["train", "x", "-s", "21", "-n", "1.5"], 2, "at most 1"),
        (["train", "x", "-c", "abc"], 2, "'abc' is not a number"),
        (["train", "x", "-C"], 2, "dualgap cv"),
        (["train", "x", "-R", "--intercept", "none"], 2, "free"),
        (["train", "x", "--lss", "hinge"], 2, "did you mean --loss?"),
        (["train", "x", "--seed", "-1"], 2, "negative"),
        (["predict", "x", "y", "z"], 2, "too many"),
        (["train", "nothing.svm"], 1, "nothing.svm"),
        (["train", "bad.svm"], 1, "line 1, column 5"),
        (["train", "one.svm"], 1, "one class"),
        (["train", "empty.svm"], 1, "no rows"),
        (["train", "nan.svm"], 1, "NaN"),
        (["train", "good.svm", "no/where/m"], 1, "no such folder"),
        (["train", "good.svm", "--solver", "magic"], 1, "magic"),
        (["train", "good.svm", "-w7", "2"], 1, "class 7"),
        (["predict", "bad.svm", "bad.svm"], 1, "not a model file"),
        (["info", "nowhere"], 1, "nowhere"),
        (["cv", "good.svm", "--folds", "50"], 1, "50 folds"),
        (["convert", "bad.svm", "d"], 1, "line 1"),
    ],
)
def test_one_sentence_on_a_mistake(tmp_path, words, status, said):
    for name, text in {
        "bad.svm": b"1 1:\n",
        "one.svm": b"1 1:1\n1 2:1\n",
        "empty.svm": b"# nothing\n",
        "nan.svm": b"1 1:nan\n-1 1:1\n",
        "good.svm": b"1 1:1\n-1 1:-1\n",
    }.items():
        (tmp_path / name).write_bytes(text)
    run = program(*words, cwd=tmp_path, status=status)
    assert said in run.stderr
    assert len(run.stderr.strip().splitlines()) <= 2
    assert run.stdout == "" or "read in" in run.stdout


def in_terminal(words, cwd, seconds=60, **environment):
    """Runs the program in a pseudo-terminal; what it wrote there and its status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(sys.executable, [*PROGRAM, *map(str, words)], {**os.environ, "TERM": "xterm", **environment})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    seen, end = b"", time.monotonic() + seconds
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                part = os.read(terminal, 65536)
            except OSError:
                break
            if not part:
                break
            seen += part
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return seen.decode(), os.waitstatus_to_exitcode(status)


def test_progress_and_colour_on_a_terminal(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 60)) * 10.0 ** rng.integers(-3, 3, 60)
    dg.dump_svmlight(X, np.where(X[:, 0] + rng.standard_normal(4000) > 0, 1, -1), tmp_path / "d.svm", zero_based=False)
    words = ["train", "d.svm", "m", "--solver", "dcd", "--loss", "hinge", "--C", "100", "--tol", "1e-12"]
    words += ["--max-time", "3"]
    seen, status = in_terminal(words, tmp_path)
    assert status == 0
    assert "solving" in seen and "gap" in seen and "\x1b[31m" in seen
    seen, _ = in_terminal([*words[:-1], "0.2"], tmp_path, NO_COLOR="1")
    assert "\x1b[3" not in seen and "solving" not in seen  # over before the first second: no bar
    run = program(*words, cwd=tmp_path)
    assert "solving" not in run.stderr and "\x1b" not in run.stdout + run.stderr


def test_interrupt(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 60)) * 10.0 ** rng.integers(-3, 3, 60)
    dg.dump_svmlight(X, np.where(X[:, 0] > 0, 1, -1), tmp_path / "d.svm", zero_based=False)
    (tmp_path / "m").write_bytes(b"old")
    words = [*PROGRAM, "train", "d.svm", "m", "--solver", "dcd", "--loss", "hinge", "--C", "1e6", "--tol", "1e-15"]
    child = subprocess.Popen([*words, "--max-time", "60"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(2.5)
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=20)
    assert child.returncode == 130 and b"Traceback" not in error
    assert (tmp_path / "m").read_bytes() == b"old"


def test_one_class_by_letter(folder, tmp_path):
    facts = json.loads(
        program("train", "-s", "21", "-n", "0.2", "--json", folder / "cancer.svm", tmp_path / "m").stdout
    )
    assert facts["nu"] == 0.2 and facts["fits"][0]["certificate"]["relative_gap"] <= 1e-3
    X, _ = dg.load_svmlight(folder / "cancer.svm")
    model = dg.LinearOneClassSVM(nu=0.2).fit(X)
    run = program("predict", tmp_path / "m", folder / "cancer.svm")
    np.testing.assert_array_equal(np.array(run.stdout.split(), dtype=float), model.predict(X))
    assert run.stderr == ""  # labels there are no targets: nothing to report
    short = program(
        "train", "-s", "21", "--max-iter", "1", "-e", "1e-9", "--json", folder / "cancer.svm", tmp_path / "m"
    )
    assert json.loads(short.stdout)["fits"][0]["certificate"]["relative_gap"] > 1e-9  # one epoch is all it got


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    text = program("--completion", shell).stdout
    assert "train" in text and "max-time" in text
    if shell == "bash":
        ask = f'{text}\nCOMP_WORDS=(dualgap train --max-t); COMP_CWORD=2; _dualgap; echo "${{COMPREPLY[@]}}"'
        assert subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout.strip() == "--max-time"


def test_lab_is_reached():
    assert len(program("lab", "--list").stdout.splitlines()) > 5
    assert "EXPERIMENT" in program("lab", "--help").stdout


def test_numbers_that_are_not_finite_are_null_in_json(capsys):
    from dualgap.cli.show import print_json

    print_json({"gap": np.inf, "fits": [{"primal": np.float64("nan"), "rows": np.int64(3)}], "status": None, "C": 0.5})
    text = capsys.readouterr().out
    assert json.loads(text) == {"gap": None, "fits": [{"primal": None, "rows": 3}], "status": None, "C": 0.5}


def test_wild_columns_are_told_once_by_their_names(tmp_path):
    rng = np.random.default_rng(0)
    table = rng.standard_normal((90, 3)) * [1.0, 1.0, 1e6]
    lines = ["label,age,income,debt"] + [f"{k % 3},{a},{c},{b}" for k, (a, b, c) in enumerate(table)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    for words in (("train", "people.csv", "people.model"), ("cv", "people.csv", "--C", "0.1,1")):
        run = program(*words, "--label", "label", cwd=tmp_path)
        assert run.stderr.count("Columns differ in scale") == 1
        assert "warning: Columns differ" in run.stderr and "the largest in column 'income' (about " in run.stderr
