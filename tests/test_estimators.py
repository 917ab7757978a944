"""The estimators as scikit-learn's users meet them: the same script, another import, and a certificate."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import dualgap as dg
from dualgap.estimators.labels import encode

warnings.filterwarnings("ignore", category=FutureWarning)
CLASSES = (dg.LinearSVC, dg.LinearSVR, dg.LogisticRegression)
THEIRS = {
    dg.LinearSVC: svm.LinearSVC,
    dg.LinearSVR: svm.LinearSVR,
    dg.LogisticRegression: linear_model.LogisticRegression,
}
OURS_ALONE = {"tol", "solver", "intercept", "max_time", "n_jobs", "warm_start", "trace", "multi_class", "penalty"}


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def test_scikit_learns_own_checks_pass_without_exception():
    ran = 0
    for kind in CLASSES:
        for report in check_estimator(kind(), on_fail=None, on_skip=None):
            assert report["status"] in ("passed", "skipped"), (kind, report["check_name"], report["exception"])
            ran += report["status"] == "passed"
    assert ran > 150


@pytest.mark.parametrize("kind", CLASSES)
def test_every_parameter_of_theirs_has_its_name_and_default(kind):
    ours, theirs = (inspect.signature(c).parameters for c in (kind, THEIRS[kind]))
    assert set(theirs) <= set(ours)
    for name, parameter in theirs.items():
        assert ours[name].kind == parameter.kind, name
        if name not in OURS_ALONE:
            assert ours[name].default == parameter.default, name
    assert kind().tol == 1e-3
    extra = [p for name, p in ours.items() if name not in theirs]
    assert all(p.kind == p.KEYWORD_ONLY for p in extra)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("parameters", [{}, {"fit_intercept": False}, {"intercept_scaling": 5.0, "C": 0.1}])
def test_linear_svc_is_theirs_at_the_optimum(cancer, loss, parameters):
    X, y = cancer
    ours = dg.LinearSVC(loss=loss, tol=1e-9, **parameters).fit(X, y)
    theirs = svm.LinearSVC(loss=loss, tol=1e-7, max_iter=10**6, **parameters).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=2e-3)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert (ours.coef_.shape, ours.coef_.dtype) == (theirs.coef_.shape, theirs.coef_.dtype)
    assert np.shape(ours.intercept_) == np.shape(theirs.intercept_)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.995


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 3.0, 2: 0.5}])
def test_several_classes_and_class_weights_are_liblinears(iris, class_weight):
    X, y = iris[0][:120], iris[1][:120]  # 50, 50, 20: "balanced" is not a factor of one
    ours = dg.LinearSVC(tol=1e-9, class_weight=class_weight).fit(X, y)
    theirs = svm.LinearSVC(tol=1e-9, max_iter=10**6, class_weight=class_weight).fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=1e-3)
    assert ours.coef_.shape == (3, 4) and ours.intercept_.shape == (3,)
    assert len(ours.certificate_) == len(ours.results_) == 3 and not hasattr(ours, "result_")


@pytest.mark.parametrize("parameters", [{}, {"solver": "liblinear"}, {"fit_intercept": False}, {"C": 10.0}])
@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_logistic_regression_is_theirs_at_the_optimum(cancer, parameters, class_weight):
    X, y = cancer
    ours = dg.LogisticRegression(tol=1e-10, class_weight=class_weight, **parameters).fit(X, y)
    theirs = linear_model.LogisticRegression(tol=1e-10, max_iter=10**5, class_weight=class_weight, **parameters)
    theirs.fit(X, y)
    assert np.allclose(ours.coef_, theirs.coef_, atol=2e-3, rtol=2e-3)
    assert np.allclose(ours.intercept_, theirs.intercept_, atol=2e-3, rtol=2e-3)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    assert ours.n_iter_.shape == theirs.n_iter_.shape and ours.n_iter_.dtype == theirs.n_iter_.dtype


def test_liblinear_regularises_the_intercept_and_the_others_do_not(cancer):
    X, y = cancer[0] + 3.0, cancer[1]
    liblinear, lbfgs = (dg.LogisticRegression(C=0.01, solver=s, tol=1e-8).fit(X, y) for s in ("liblinear", "lbfgs"))
    assert abs(liblinear.intercept_[0] - lbfgs.intercept_[0]) > 0.1
    for solver in ("newton-cg", "newton-cholesky", "sag", "saga", "auto"):
        other = dg.LogisticRegression(C=0.01, solver=solver, tol=1e-8).fit(X, y)
        assert other.intercept_[0] == lbfgs.intercept_[0]


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared_epsilon_insensitive"])
def test_linear_svr_is_theirs_at_the_optimum(diabetes, loss):
    X, y = diabetes
    ours = dg.LinearSVR(loss=loss, epsilon=5.0, C=10.0, tol=1e-9).fit(X, y)
    theirs = svm.LinearSVR(loss=loss, epsilon=5.0, C=10.0, tol=1e-8, max_iter=10**6).fit(X, y)
    assert np.allclose(ours.predict(X), theirs.predict(X), atol=0.05)
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-3)


def test_float32_gives_their_dtypes(cancer):
    X, y = cancer[0].astype(np.float32), cancer[1]
    for kind in (dg.LinearSVC, dg.LogisticRegression):
        assert kind().fit(X, y).coef_.dtype == THEIRS[kind]().fit(X, y).coef_.dtype


@pytest.mark.parametrize(
    ("model", "works"),
    [
        (dg.LinearSVC(penalty="l1", dual=False), "penalty='l2'"),
        (dg.LinearSVC(multi_class="crammer_singer"), "multi_class='ovr'"),
        (dg.LogisticRegression(penalty="l1", solver="saga"), "penalty='l2'"),
        (dg.LogisticRegression(l1_ratio=0.5), "l1_ratio=0"),
        (dg.LogisticRegression(C=np.inf), "large C"),
        (dg.LogisticRegression(penalty=None), "large C"),
        (dg.LogisticRegression(multi_class="multinomial"), "multi_class='ovr'"),
        (dg.LinearSVC(solver="gurobi"), "dcd"),
    ],
)
def test_what_is_not_there_names_what_works(cancer, model, works):
    with pytest.raises(dg.UnsupportedProblem, match=works.replace("(", r"\(")), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(*cancer)


@pytest.mark.parametrize(
    "parameters", [{"C": -1}, {"tol": "small"}, {"loss": "nonsense"}, {"max_time": 0}, {"intercept": "some"}]
)
def test_wrong_parameters_raise_what_scikit_learn_raises(cancer, parameters):
    with pytest.raises(ValueError, match=next(iter(parameters))):
        dg.LinearSVC(**parameters).fit(*cancer)


def test_scikit_learns_default_max_iter_does_not_bind_and_another_does():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 5)), rng.integers(0, 2, 60)
    hard = {"loss": "hinge", "solver": "dcd", "tol": 1e-4, "C": 1000.0}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        free = dg.LinearSVC(**hard).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"max_iter\).*duality gap of .*tol=0.0001.*Raise max_iter=30 or leave"):
        bound = dg.LinearSVC(max_iter=30, **hard).fit(X, y)
    assert free.certificate_.relative_gap <= 1e-4 and free.result_.epochs > 1000 == free.max_iter
    assert bound.certificate_.relative_gap > 1e-4
    assert bound.result_.status == "max_iter" and bound.result_.epochs <= 31


def test_labels_of_any_type(iris):
    X, y = iris
    reference = dg.LinearSVC().fit(X, y)
    names = np.array(["setosa", "versicolor", "virginica"])
    for labels in (names[y], names[y].astype(object), y.astype(float), y.astype(np.uint8), y * 100_000 - 7):
        model = dg.LinearSVC().fit(X, labels)
        assert np.array_equal(model.coef_, reference.coef_)
        assert model.classes_.dtype == np.unique(labels).dtype
        assert np.array_equal(model.classes_, np.unique(labels))
        assert np.array_equal(model.predict(X), np.unique(labels)[reference.predict(X)])
    two = dg.LogisticRegression().fit(X, y > 0)
    assert two.classes_.dtype == bool and two.predict(X).dtype == bool


@pytest.mark.parametrize("seed", range(5))
def test_quick_encodings_agree_with_sorting(seed):
    rng = np.random.default_rng(seed)
    for y in (
        rng.integers(-3, 4, 50),
        rng.choice([-1.0, 1.0], 50),
        rng.integers(0, 2, 50).astype(bool),
        rng.integers(0, 200, 50).astype(np.uint8),
        rng.integers(-128, 127, 50).astype(np.int8),
        rng.integers(0, 3, 50).astype(np.uint64) + np.uint64(2**63),
        rng.choice([5, 2**40], 50),
        rng.choice(["b", "a"], 50),
    ):
        classes, codes = encode(y)
        expected, inverse = np.unique(y, return_inverse=True)
        assert np.array_equal(classes, expected) and np.array_equal(codes, inverse) and classes.dtype == y.dtype


def test_probabilities(iris, cancer):
    X, y = iris
    model = dg.LogisticRegression().fit(X, y)
    P = model.predict_proba(X)
    one_by_one = 1 / (1 + np.exp(-model.decision_function(X)))
    assert np.allclose(P, one_by_one / one_by_one.sum(axis=1, keepdims=True)) and np.allclose(P.sum(axis=1), 1)
    assert np.allclose(model.predict_log_proba(X), np.log(P))
    two = dg.LogisticRegression().fit(*cancer)
    far = cancer[0] * 1e4
    logs = two.predict_log_proba(far)
    assert np.isfinite(logs).all() and logs.min() < -1000
    assert np.allclose(two.predict_log_proba(cancer[0]), np.log(two.predict_proba(cancer[0])))


@pytest.mark.parametrize("kind", CLASSES)
def test_warm_start_pickle_clone_set_params(cancer, kind):
    X, y = cancer
    model = kind(warm_start=True, solver="dcd", tol=1e-5).fit(X, y)
    first = model.n_iter_
    model.fit(X, y)
    assert np.max(model.n_iter_) < np.max(first) / 2
    model.set_params(C=1.1).fit(X, y)
    cold = kind(C=1.1, tol=1e-5).fit(X, y)
    assert model.certificate_.primal == pytest.approx(cold.certificate_.primal, rel=1e-4)
    model.fit(X[:300], y[:300])  # other rows: a cold start, not an error
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(X), model.predict(X)) and again.certificate_ == model.certificate_
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "coef_")


def test_pipelines_and_searches(cancer):
    X, y = load_breast_cancer(return_X_y=True)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), dg.LinearSVC()), {"linearsvc__C": [0.01, 1.0], "linearsvc__loss": ["hinge"]}
    ).fit(X, y)
    assert search.best_score_ > 0.95
    assert search.best_estimator_[-1].certificate_.relative_gap <= 1e-3
    assert cross_val_score(dg.LogisticRegression(n_jobs=2), *cancer).mean() > 0.95


def test_frames_keep_their_names(cancer):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X, y = cancer
    names = [f"c{j}" for j in range(X.shape[1])]
    reference = dg.LinearSVC().fit(X, y)
    for frame, target in (
        (pandas.DataFrame(X, columns=names), pandas.Series(y)),
        (polars.DataFrame(dict(zip(names, X.T, strict=True))), polars.Series(y)),
    ):
        model = dg.LinearSVC().fit(frame, target)
        assert list(model.feature_names_in_) == names and model.n_features_in_ == len(names)
        assert np.allclose(model.coef_, reference.coef_) and np.array_equal(model.predict(frame), reference.predict(X))


def test_sample_weight_is_routed(cancer):
    import sklearn

    X, y = cancer
    weight = np.random.default_rng(0).random(len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        model = dg.LogisticRegression().set_fit_request(sample_weight=True)
        routed = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), model).fit(
            X, y, sample_weight=weight
        )
    direct = dg.LogisticRegression().fit(StandardScaler().fit_transform(X), y, weight)
    assert np.allclose(routed[-1].coef_, direct.coef_)
    assert not np.allclose(direct.coef_, dg.LogisticRegression().fit(X, y).coef_)


def test_sparsify_and_densify(cancer):
    X, y = cancer
    model = dg.LinearSVC().fit(X, y)
    expected = model.predict(X)
    assert sp.issparse(model.sparsify().coef_) and np.array_equal(model.predict(X), expected)
    assert isinstance(model.densify().coef_, np.ndarray)


def test_data_is_used_in_place(cancer, tmp_path, monkeypatch):
    """What Problem sees is the user's memory, whatever the storage."""
    X, y = cancer
    seen = []
    import dualgap.estimators.classifier as module

    real = module.as_matrix
    monkeypatch.setattr(module, "as_matrix", lambda A: seen.append(A) or real(A))
    path = tmp_path / "x.npy"
    np.save(path, X)
    S = sp.csr_matrix(X)
    wide = S.copy()
    wide.indices, wide.indptr = S.indices.astype(np.int64), S.indptr.astype(np.int64)
    for A in (X, np.asfortranarray(X), X.astype(np.float32), np.load(path, mmap_mode="r"), X[::2], S, wide):
        dg.LinearSVC().fit(A, y[: A.shape[0]])
        if sp.issparse(A):
            assert np.shares_memory(seen[-1].data, A.data) and np.shares_memory(seen[-1].indices, A.indices)
            assert seen[-1].indices.dtype == A.indices.dtype
        else:
            assert np.shares_memory(seen[-1], A) and seen[-1].dtype == A.dtype


@pytest.mark.parametrize("kind", CLASSES)
def test_to_sklearn_predicts_the_same(cancer, iris, kind):
    for X, y in (cancer, iris):
        model = kind(C=0.5).fit(X, y)
        theirs = model.to_sklearn()
        assert type(theirs).__module__.startswith("sklearn.")
        assert np.allclose(theirs.predict(X), model.predict(X))
        if kind is dg.LogisticRegression:
            assert np.allclose(theirs.predict_proba(X), model.predict_proba(X))
        if len(np.unique(y)) == 2 or kind is not dg.LogisticRegression:
            assert theirs.C == 0.5 and isinstance(theirs, THEIRS[kind])


def test_trace_and_progress_bar(cancer, capsys):
    X, y = cancer
    model = dg.LinearSVC(loss="hinge", solver="dcd", tol=1e-6, trace=True, verbose=1).fit(X, y)
    assert len(model.trace_) > 3 and model.trace_.gap[-1] < model.trace_.gap[0]
    assert model.trace_.plot().get_yscale() == "log"
    assert "gap" in capsys.readouterr().err
    with pytest.raises(AttributeError, match="trace=True"):
        _ = dg.LinearSVC().fit(X, y).trace_
    assert len(dg.LinearSVC(trace=True).fit(*load_iris(return_X_y=True)).trace_) == 3


class Recorder:
    """A callback of scikit-learn's protocol that writes down what it is shown and may ask to stop."""

    def __init__(self, stop_after=None):
        self.stop_after, self.begun, self.ended, self.scores = stop_after, [], [], []

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.ended.append(context.task_name)
        if fitted_estimator is not None and X is not None:
            self.scores.append(fitted_estimator.score(X, y))
        return context.task_name == "epoch" and self.stop_after is not None and len(self.ended) >= self.stop_after


@pytest.mark.parametrize("kind", CLASSES)
def test_callbacks_see_every_epoch_and_can_stop(cancer, iris, kind):
    pytest.importorskip("sklearn.callback")
    X, y = cancer[0][:80], cancer[1][:80]
    recorder = Recorder()
    kind(solver="dcd", tol=1e-2).set_callbacks(recorder).fit(X, y)
    assert recorder.begun.count("epoch") == recorder.ended.count("epoch") > 3
    assert recorder.begun[:2] == ["setup", "fit"] and recorder.ended[-2:] == ["fit", "teardown"]
    assert recorder.scores[-1] > 0.5 or kind is dg.LinearSVR
    stopped = kind(solver="dcd", tol=1e-9).set_callbacks(Recorder(stop_after=2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stopped.fit(X, y)
    assert stopped.result_.status == "interrupted" and stopped.n_iter_ <= 3
    if kind is not dg.LinearSVR:
        recorder = Recorder()
        kind(n_jobs=2).set_callbacks(recorder).fit(*iris)
        assert recorder.begun.count("class") == recorder.ended.count("class") == 3


def test_scikit_learns_own_callbacks_work():
    callback = pytest.importorskip("sklearn.callback")
    X, y = load_iris(return_X_y=True)
    monitor = callback.ScoringMonitor(scoring="accuracy")
    dg.LogisticRegression(solver="dcd").set_callbacks(monitor).fit(X, y)
    assert len(monitor.get_logs().data) > 5
    bar = callback.ProgressBar()
    GridSearchCV(dg.LinearSVC(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(bar).fit(X, y)


def relative_gap(certificates):
    return max(c.relative_gap for c in (certificates if isinstance(certificates, list) else [certificates]))


def test_certify_reads_other_peoples_models(cancer, iris, diabetes):
    X, y = cancer
    weight = np.random.default_rng(0).random(len(y))
    for balanced in (None, "balanced"):
        for model in (
            svm.LinearSVC(tol=1e-8, max_iter=10**6, class_weight=balanced),
            svm.LinearSVC(loss="hinge", tol=1e-7, max_iter=10**6, intercept_scaling=3.0, class_weight=balanced),
            svm.SVC(kernel="linear", tol=1e-7, class_weight=balanced),
            linear_model.LogisticRegression(tol=1e-9, max_iter=10**4, class_weight=balanced),
            linear_model.LogisticRegression(tol=1e-9, solver="liblinear", class_weight=balanced),
            make_pipeline(StandardScaler(), GridSearchCV(svm.LinearSVC(tol=1e-8), {"C": [0.1, 1.0]})),
        ):
            assert dg.certify(model.fit(X, y), X, y).relative_gap < 2e-3, model
            if not hasattr(model, "steps"):
                model.fit(X, y, sample_weight=weight)
                assert dg.certify(model, X, y, sample_weight=weight).relative_gap < 2e-3, model
                assert dg.certify(model, X, y).relative_gap > 1e-2
    several = svm.LinearSVC(tol=1e-8, max_iter=10**6, class_weight={0: 2.0, 1: 0.3}).fit(*iris)
    found = dg.certify(several, *iris)
    assert len(found) == 3 and relative_gap(found) < 1e-6
    each = OneVsRestClassifier(linear_model.LogisticRegression(tol=1e-9)).fit(*iris)
    assert relative_gap(dg.certify(each, *iris)) < 1e-6
    for loss in ("epsilon_insensitive", "squared_epsilon_insensitive"):
        regression = svm.LinearSVR(loss=loss, epsilon=3.0, C=5.0, tol=1e-8, max_iter=10**6).fit(*diabetes)
        assert dg.certify(regression, *diabetes).relative_gap < 1e-4
    unfinished = svm.LinearSVC(loss="hinge", max_iter=3, C=100.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        unfinished.fit(X, y)
    assert dg.certify(unfinished, X, y).relative_gap > 0.05


def test_certify_agrees_with_our_own_certificates(cancer, iris, diabetes):
    for model, (X, y) in (
        (dg.LinearSVC(loss="hinge"), cancer),
        (dg.LogisticRegression(), cancer),
        (dg.LinearSVC(class_weight="balanced"), iris),
        (dg.LogisticRegression(class_weight={0: 2.0}), iris),
        (dg.LinearSVR(epsilon=1.0), diabetes),
    ):
        model.fit(X, y)
        assert relative_gap(dg.certify(model, X, y)) <= 1e-3
    assert dg.certify(model, X, y).primal == pytest.approx(model.certificate_.primal, rel=1e-12)


def test_certify_says_what_it_cannot_read(cancer, iris):
    with pytest.raises(dg.UnsupportedProblem, match="multinomial"):
        dg.certify(linear_model.LogisticRegression().fit(*iris), *iris)
    with pytest.raises(dg.UnsupportedProblem, match="Crammer"):
        dg.certify(svm.LinearSVC(multi_class="crammer_singer").fit(*iris), *iris)
    with pytest.raises(dg.UnsupportedProblem, match="L2 penalty"):
        dg.certify(svm.LinearSVC(penalty="l1", dual=False, max_iter=10**5).fit(*cancer), *cancer)
    with pytest.raises(dg.UnsupportedProblem, match="no linear model"):
        from sklearn.tree import DecisionTreeClassifier

        dg.certify(DecisionTreeClassifier().fit(*cancer), *cancer)
    with pytest.raises(dg.InvalidData, match="fit it first"):
        dg.certify(svm.LinearSVC(), *cancer)
    with pytest.raises(dg.InvalidData, match="not one of the model's classes"):
        dg.certify(svm.LinearSVC().fit(*cancer), cancer[0], cancer[1] + 5)


@pytest.mark.parametrize("intercept", ["none", "regularized", "free"])
@pytest.mark.parametrize("estimator", [dg.LinearSVC, dg.LinearSVR, dg.LogisticRegression])
def test_every_intercept_in_every_estimator(estimator, intercept, cancer):
    """The same problem as `solve` is given, and the certificate that comes with it."""
    X, y = cancer
    model = estimator(intercept=intercept, tol=1e-8).fit(X, y)
    assert model.result_.status == "optimal"
    signs = np.asarray(y) if estimator is dg.LinearSVR else np.where(y == model.classes_[1], 1.0, -1.0)
    loss = {dg.LinearSVC: "squared_hinge", dg.LinearSVR: "epsilon_insensitive", dg.LogisticRegression: "logistic"}
    words = {"epsilon": 0.0} if estimator is dg.LinearSVR else {}
    problem = dg.Problem(X, signs.astype(float), loss[estimator], C=1.0, intercept=intercept, **words)
    reached = problem.objective(np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))
    best = dg.solve(problem, tol=1e-8).certificate.dual
    assert best <= reached * (1 + 1e-12) and reached - best <= 1e-7 * abs(reached)
