"""Saved models: what was saved is what is loaded, whatever happened on the way; nothing else opens."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.preprocessing import StandardScaler

import dualgap as dg
from dualgap.files.model_file import MAGIC, read_model, write_model

IRIS = load_iris(return_X_y=True)
CANCER = StandardScaler().fit_transform(load_breast_cancer().data), load_breast_cancer().target


def models():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])
    yield "three classes", dg.LinearSVC(C=0.5).fit(X, y), X
    yield "text labels", dg.LinearSVC(loss="hinge", class_weight={"setosa": 2.0}).fit(X, names[y]), X
    yield "two classes", dg.LogisticRegression(random_state=np.random.RandomState(3)).fit(*CANCER), CANCER[0]
    yield "no intercept", dg.LinearSVC(fit_intercept=False).fit(*CANCER), CANCER[0]
    Xd, yd = load_diabetes(return_X_y=True)
    yield "regression", dg.LinearSVR(C=10.0, epsilon=1.0).fit(Xd, yd), Xd


@pytest.fixture(scope="module", params=list(models()), ids=lambda case: case[0])
def fitted(request):
    return request.param[1:]


def answers(model, X):
    return model.predict(X) if not hasattr(model, "decision_function") else model.decision_function(X)


def test_round_trip(fitted, tmp_path):
    model, X = fitted
    path = tmp_path / "m.model"
    model.save(path)
    again = dg.load(path)
    assert type(again) is type(model)
    np.testing.assert_array_equal(answers(again, X), answers(model, X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    ours, theirs = model.get_params(), again.get_params()
    ours.pop("random_state"), theirs.pop("random_state")
    assert ours == theirs
    assert again.certificate_ == model.certificate_
    assert os.listdir(tmp_path) == ["m.model"]


def test_feature_names_survive(tmp_path):
    import pandas

    X = pandas.DataFrame(IRIS[0], columns=["a", "b", "ç", "d"])
    dg.LinearSVC().fit(X, IRIS[1]).save(tmp_path / "m")
    again = dg.load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == ["a", "b", "ç", "d"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.predict(X)


def test_sparse_weights_stay_small(tmp_path):
    model = dg.LinearSVC().fit(*CANCER)
    model.coef_ = np.zeros((1, 1_000_000))
    model.coef_[0, [3, 999_999]] = 1.5, -2.0
    model.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 5000
    np.testing.assert_array_equal(dg.load(tmp_path / "m").coef_, model.coef_)


def test_every_broken_byte_is_refused(tmp_path):
    path = tmp_path / "m"
    dg.LinearSVC().fit(*IRIS).save(path)
    blob = path.read_bytes()
    for at in range(0, len(blob), 7):
        for broken in (blob[:at], blob[:at] + bytes([blob[at] ^ 0x55]) + blob[at + 1 :]):
            path.write_bytes(broken)
            with pytest.raises(dg.ModelFileError) as caught:
                dg.load(path)
            assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    path.write_bytes(blob + b"x")
    with pytest.raises(dg.ModelFileError, match="damaged"):
        dg.load(path)


def forged(path, header, body=b""):
    text = json.dumps(header).encode()
    blob = MAGIC + len(text).to_bytes(8, "little") + text
    blob += b"\0" * (-len(blob) % 64) + body
    path.write_bytes(blob + hashlib.sha256(blob).digest())


@pytest.mark.parametrize(
    "header",
    [
        [],
        {},
        {"content": 3, "arrays": []},
        {"content": {"class": "LinearSVC"}, "arrays": []},
        {"content": {"class": "os.system", "params": {"command": "true"}, "fitted": {}}, "arrays": []},
        {"content": {"class": "load", "params": {"path": "x"}, "fitted": {}}, "arrays": []},
        {"content": {"class": "LinearSVC", "params": {"nonsense": 1}, "fitted": {}}, "arrays": []},
        {"content": {"x": {"$array": 0, "shape": [9]}}, "arrays": [{"kind": "<f8", "count": 9}]},
        {"content": {"x": {"$array": 0, "shape": [2]}}, "arrays": [{"kind": "|O", "count": 1}]},
        {"content": {"x": {"$sparse": [0, 0], "shape": [10**18]}}, "arrays": [{"kind": "<u4", "count": 1}]},
        {"content": {"x": {"$array": 5, "shape": [2]}}, "arrays": []},
    ],
)
def test_a_well_signed_forgery_is_refused(tmp_path, header):
    forged(tmp_path / "m", header, b"\1\0\0\0")
    with pytest.raises(dg.ModelFileError):
        dg.load(tmp_path / "m")


def test_other_files_and_later_versions(tmp_path):
    path = tmp_path / "m"
    path.write_bytes(b"dualgap model 7\n" + b"\0" * 100)
    with pytest.raises(dg.ModelFileError, match="newer version"):
        dg.load(path)
    path.write_bytes(b"1 1:1\n")
    with pytest.raises(dg.ModelFileError, match="not a model file"):
        dg.load(path)
    with pytest.raises(FileNotFoundError):
        dg.load(tmp_path / "none")


def test_what_cannot_be_saved(tmp_path):
    model = dg.LinearSVC().fit(*IRIS)
    model.extra_ = object()
    with pytest.raises(dg.InvalidData, match=r"fitted\.extra_=.*cannot be saved"):
        model.save(tmp_path / "m")
    assert not list(tmp_path.iterdir())
    with pytest.raises(dg.InvalidData, match="format='pickle'"):
        dg.LinearSVC().fit(*IRIS).save(tmp_path / "m", format="pickle")


leaves = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
    | hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.int8, np.bool_]), hnp.array_shapes(max_dims=2))
)  # fmt: skip
trees = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner, max_size=3)
    ),
    max_leaves=8,
)


def equal(a, b):
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(equal(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.text(), trees, max_size=4))
def test_any_plain_content_comes_back(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.model"
    write_model(path, content)
    assert equal(read_model(path), content)


def test_csr_and_scalars(tmp_path):
    content = {"m": sp.random(30, 20, 0.1, "csr", random_state=0), "s": np.float32(0.1), "nan": float("nan")}
    write_model(tmp_path / "m", content)
    again = read_model(tmp_path / "m")
    assert (again["m"] != content["m"]).nnz == 0
    assert again["s"] == np.float32(0.1) and again["s"].dtype == np.float32
    assert np.isnan(again["nan"])


SAVE_FOREVER = """
import sys, numpy as np
from dualgap.files.model_file import write_model
k = 0
print("on", flush=True)
while True:
    k += 1
    write_model(sys.argv[1], {"k": k, "a": np.full(300_000, float(k))})
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "m"
    write_model(path, {"k": 0, "a": np.zeros(300_000)})
    for attempt in range(4):
        child = subprocess.Popen([sys.executable, "-c", SAVE_FOREVER, str(path)], stdout=subprocess.PIPE)
        assert child.stdout.readline() == b"on\n"
        time.sleep(0.05 + 0.037 * attempt)
        child.send_signal(signal.SIGKILL)
        child.wait(timeout=20)
        child.stdout.close()
        content = read_model(path)
        assert (content["a"] == content["k"]).all()


def test_a_full_disk_leaves_the_old_file(tmp_path):
    path = tmp_path / "m"
    write_model(path, {"k": 1})
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from dualgap.files.model_file import write_model\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try:\n    write_model(sys.argv[1], {'a': np.ones(100_000)})\nexcept OSError:\n    print('refused')"
    )
    out = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert out.startswith("refused")
    assert read_model(path) == {"k": 1}
    assert os.listdir(tmp_path) == ["m"]
    assert resource.RLIMIT_FSIZE is not None


def liblinear_predictions(model_path, X, y):
    from liblinear.liblinearutil import load_model, predict

    theirs = load_model(str(model_path))
    labels, _, scores = predict(np.asarray(y, dtype=np.float64), sp.csr_matrix(X), theirs, "-q")
    return np.array(labels), np.array(scores)


def test_liblinear_predicts_the_same(fitted, tmp_path):
    model, X = fitted
    path = tmp_path / "m.txt"
    if getattr(model, "classes_", np.arange(0)).dtype.kind == "U":
        with pytest.raises(dg.InvalidData, match="whole numbers"):
            model.save(path, format="liblinear")
        return
    model.save(path, format="liblinear")
    labels, scores = liblinear_predictions(path, X, np.zeros(len(X)))
    again = dg.load(path)
    np.testing.assert_array_equal(labels, model.predict(X)) if hasattr(model, "classes_") else None
    np.testing.assert_allclose(answers(again, X), answers(model, X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(scores.squeeze(), answers(model, X), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [0, 1, 2, 3, 4, 5, 6, 7, 11, 12, 13])
@pytest.mark.parametrize("bias", [-1, 1, 2.5])
@pytest.mark.parametrize("data", ["two", "three"])
def test_liblinear_models_are_read(kind, bias, data, tmp_path):
    from liblinear.liblinearutil import predict, save_model, train

    X, y = (CANCER[0], np.where(CANCER[1] > 0, 4, -7)) if data == "two" else IRIS
    theirs = train(y.astype(float), sp.csr_matrix(X), f"-s {kind} -B {bias} -e 0.1 -q")
    path = tmp_path / "m.txt"
    save_model(str(path), theirs)
    labels, _, _ = predict(y.astype(float), sp.csr_matrix(X), theirs, "-q")
    np.testing.assert_allclose(dg.load(path).predict(X), labels, rtol=1e-9)
    blob = path.read_bytes()
    path.write_bytes(blob[: int(0.8 * len(blob))])
    with pytest.raises(dg.ModelFileError, match="not a whole LIBLINEAR model"):
        dg.load(path)


def test_onnx_gives_the_same_answers(fitted, tmp_path):
    import onnxruntime

    model, X = fitted
    path = tmp_path / "m.onnx"
    model.save(path, format="onnx")
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    small = X.astype(np.float32)
    names = [output.name for output in session.get_outputs()]
    outputs = dict(zip(names, session.run(None, {"X": small}), strict=True))
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(outputs["prediction"], model.predict(small.astype(float)), rtol=1e-12)
        return
    np.testing.assert_array_equal(outputs["label"], model.predict(small.astype(float)))
    np.testing.assert_allclose(outputs["scores"], model.decision_function(small.astype(float)), atol=1e-12)
    assert ("probabilities" in names) == hasattr(model, "predict_proba")
    if "probabilities" in names:
        np.testing.assert_allclose(outputs["probabilities"], model.predict_proba(small.astype(float)), atol=1e-12)


def test_onnx_probabilities_of_three_classes(tmp_path):
    import onnxruntime

    X, y = IRIS
    model = dg.LogisticRegression().fit(X, y)
    model.save(tmp_path / "m.onnx", format="onnx")
    session = onnxruntime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    table = session.run(["probabilities"], {"X": X.astype(np.float32)})[0]
    np.testing.assert_allclose(table, model.predict_proba(X.astype(np.float32).astype(float)), atol=1e-12)
