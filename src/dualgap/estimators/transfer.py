"""The way out: a fitted scikit-learn estimator with the same coefficients, for every tool made for those."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

_FITTED = ("coef_", "intercept_", "classes_", "n_iter_", "n_features_in_", "feature_names_in_")


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
