"""The way out: a fitted scikit-learn estimator with the same coefficients, for every tool made for those."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dualgap.errors import UnsupportedProblem

_FITTED = ("coef_", "intercept_", "classes_", "n_iter_", "n_features_in_", "feature_names_in_")

_SUPPORT = ("support_", "support_vectors_", "dual_coef_", "shape_fit_", "fit_status_", "class_weight_", "offset_")


def _translated(model: Any, kind: Any, **changes: Any) -> Any:
    """An unfitted `kind` with those of the model's parameters that it has."""
    check_is_fitted(model)
    known = inspect.signature(kind).parameters
    given = {**model.get_params(deep=False), **changes}
    return kind(**{name: value for name, value in given.items() if name in known})


def _filled(theirs: Any, model: Any) -> Any:
    for name in _FITTED:
        if hasattr(model, name):
            value = getattr(model, name)
            setattr(theirs, name, value.copy() if hasattr(value, "copy") else value)
    return theirs


def _their_max_iter(model: Any) -> int:
    return int(model._unbound if model.max_iter is None else model.max_iter)


def to_linear_svc(model: Any) -> Any:
    from sklearn.svm import LinearSVC

    return _filled(_translated(model, LinearSVC, max_iter=_their_max_iter(model)), model)


def to_linear_svr(model: Any) -> Any:
    from sklearn.svm import LinearSVR

    return _filled(_translated(model, LinearSVR, max_iter=_their_max_iter(model)), model)


def to_logistic_regression(model: Any) -> Any:
    """Two classes: LogisticRegression. More: a OneVsRestClassifier of them, since theirs would be multinomial."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.preprocessing import LabelBinarizer

    solver = "liblinear" if model._intercept_mode() == "regularized" else "lbfgs"
    changes = {"solver": solver, "dual": False, "max_iter": _their_max_iter(model), "n_jobs": None}
    if len(model.classes_) == 2:
        return _filled(_translated(model, LogisticRegression, **changes), model)
    many = OneVsRestClassifier(_translated(model, LogisticRegression, **changes))
    many.estimators_ = []
    for k in range(len(model.classes_)):
        one = _filled(_translated(model, LogisticRegression, **changes), model)
        one.classes_ = np.array([0, 1])
        one.coef_, one.intercept_ = model.coef_[k : k + 1], model.intercept_[k : k + 1]
        many.estimators_.append(one)
    many.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(model.classes_)
    if not hasattr(many, "classes_"):  # a property before scikit-learn 1.9
        many.classes_ = model.classes_
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(model, name):
            setattr(many, name, getattr(model, name))
    return many


def to_svm(model: Any) -> Any:
    """SVC, NuSVC, SVR, NuSVR or OneClassSVM of scikit-learn, as if LIBSVM had fitted it."""
    from sklearn import svm

    name = type(model).__name__
    if model.kernel in ("laplacian", "chi2"):
        raise UnsupportedProblem(f"scikit-learn's {name} has no kernel {model.kernel!r}; give it as a function.")
    theirs = _translated(model, getattr(svm, name), max_iter=-1 if model.max_iter is None else model.max_iter)
    for attribute in (*_SUPPORT, *_FITTED[1:]):
        if hasattr(model, attribute):
            value = getattr(model, attribute)
            setattr(theirs, attribute, value.copy() if hasattr(value, "copy") else value)
    two = name in ("SVC", "NuSVC") and len(model.classes_) == 2
    sign = -1 if two else 1
    theirs._dual_coef_ = sign * model.dual_coef_
    theirs._intercept_ = sign * model.intercept_
    theirs._n_support = np.asarray(model._n_support if "SVC" in name else [len(model.support_), 0], dtype=np.int32)
    theirs._gamma, theirs._sparse = model._gamma, model._sparse
    theirs._probA = theirs._probB = np.empty(0)
    theirs._BaseLibSVM__Xfit = model._fit_X
    theirs._num_iter = np.atleast_1d(model.n_iter_)
    if not model._sparse:
        theirs.support_vectors_ = np.ascontiguousarray(theirs.support_vectors_, dtype=np.float64)
    return theirs
