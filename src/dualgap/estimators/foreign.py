"""Other people's models: from a fitted estimator's parameters to the problem it meant to solve, and its certificate.

Nothing is imported from the libraries in question: a model is known by its parameters and fitted attributes, so one
that looks like scikit-learn's is read like scikit-learn's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dualgap.certify import certify
from dualgap.data import Array, as_matrix
from dualgap.errors import InvalidData, UnsupportedProblem
from dualgap.estimators.base import CertifiedEstimator
from dualgap.estimators.foreign_kernel import certify_kernel_model
from dualgap.estimators.labels import Codes, class_factors, row_weights, signs
from dualgap.problem import Problem
from dualgap.registry import loss_named

_LOSSES = {
    "log_loss": "logistic",
    "log": "logistic",
    "svm": "hinge",
    "squared_error": "squared",
    "modified_huber": "",  # not one of ours
}


@dataclass(frozen=True)
class Reading:
    """What a model minimised: the arguments of its Problem, and how it weighs classes."""

    problem: dict[str, Any]
    class_weight: Any = None
    weighs: str = "rows"  # "rows": every row by its class; "class": in one-versus-rest only the rows of the class
    several: str = "ovr"
    name: str = field(default="", compare=False)


def certify_estimator(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """The certificate of a fitted model on the data it was fitted on; a list of one a class for several.

    Takes scikit-learn's LinearSVC, LinearSVR, LogisticRegression, SGD models, linear SVC and SVR, the estimators here,
    snapml's, whatever else has the same attributes, and pipelines, searches and OneVsRestClassifier around them.

    Examples
    --------
    >>> import dualgap as dg
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> theirs = make_pipeline(StandardScaler(), LogisticRegression(tol=1e-6)).fit(X, y)
    >>> dg.certify(theirs, X, y).relative_gap < 1e-6
    True
    """
    model, X = _unwrapped(model, X)
    if hasattr(model, "label_binarizer_") and hasattr(model, "estimators_"):
        return _one_versus_rest(model, X, np.asarray(y), sample_weight)
    weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if hasattr(model, "support_") and getattr(model, "kernel", "linear") != "linear":
        return certify_kernel_model(model, X, np.asarray(y), weight)
    matrix = as_matrix(X)
    reading = read(model, matrix.rows)
    coef, intercept = _coefficients(model, matrix.cols)
    if loss_named(reading.problem["loss"]).targets == "real":
        problem = Problem(matrix, y, sample_weight=weight, **reading.problem)
        return _best(problem, model, 0, coef[0], intercept[0])
    classes, codes = _codes(model, np.asarray(y))
    if len(classes) > 2 and reading.several != "ovr":
        raise UnsupportedProblem(
            f"{reading.name} with {len(classes)} classes is a {reading.several} model: one problem over all scores, "
            "not one-versus-rest, so there is no certificate for it here; OneVsRestClassifier around it has one each."
        )
    factors = class_factors(reading.class_weight, classes, codes, np.asarray(y), weight)
    positives = [1] if len(coef) == 1 else list(range(len(coef)))
    found = []
    for row, k in enumerate(positives):
        t = signs(codes, k)
        weights = row_weights(_of_row(factors, codes, t, reading), weight)
        problem = Problem(matrix, t, sample_weight=weights, **reading.problem)
        found.append(_best(problem, model, row, coef[row], intercept[row]))
    return found[0] if len(found) == 1 else found


def read(model: Any, n_rows: int) -> Reading:
    """The problem that a model's parameters describe."""
    name = type(model).__name__
    loss, parameters = _loss(model)
    C = _cost(model, n_rows)
    if not np.isfinite(C) or _penalty(model) != "l2":
        raise UnsupportedProblem(
            f"{name} has no L2 penalty (penalty={_penalty(model)!r}, C={C:g}): no certificate for it."
        )
    if getattr(model, "normalize", False):
        raise UnsupportedProblem(f"{name}(normalize=True) changes the rows before it fits them: normalise them first.")
    by_class = name == "LinearSVC" or getattr(model, "solver", None) == "liblinear"
    mode = _intercept(model)
    arguments = {"loss": loss, "C": C, "intercept": mode, **parameters}
    if mode == "regularized":
        arguments["intercept_scaling"] = float(getattr(model, "intercept_scaling", 1.0))
    return Reading(
        arguments, getattr(model, "class_weight", None), "class" if by_class else "rows", _several(model, loss), name
    )


def _loss(model: Any) -> tuple[str, dict[str, float]]:
    name, loss = type(model).__name__, getattr(model, "loss", None)
    kernel = getattr(model, "kernel", "linear")
    if kernel != "linear":
        raise UnsupportedProblem(f"{name}(kernel={kernel!r}) is a kernel model: it has no coef_ to certify.")
    if isinstance(loss, dict):
        loss = str(loss.get("name", "")).lower()
    if loss is None and "Logistic" in name:
        loss = "logistic"
    if loss is None and hasattr(model, "support_vectors_"):
        loss = "epsilon_insensitive" if "SVR" in name else "hinge"
    loss = _LOSSES.get(str(loss), str(loss))
    if loss not in _PARAMETERS:
        raise UnsupportedProblem(
            f"{name} is no linear model that certify knows: its loss is {getattr(model, 'loss', None)!r}, "
            f"and these are known: {', '.join(_PARAMETERS)}."
        )
    ours, theirs = _PARAMETERS[loss]
    return loss, {ours: float(getattr(model, theirs))} if ours and hasattr(model, theirs) else {}


#: loss → its parameter here, and the attribute where others keep it
_PARAMETERS = {
    "hinge": ("", ""),
    "squared_hinge": ("", ""),
    "logistic": ("", ""),
    "squared": ("", ""),
    "epsilon_insensitive": ("epsilon", "epsilon"),
    "squared_epsilon_insensitive": ("epsilon", "epsilon"),
    "huber": ("delta", "epsilon"),
}


def _cost(model: Any, n_rows: int) -> float:
    """C, or what stands for it: 1/λ of a regularizer, 1/(αn) of an average loss."""
    if hasattr(model, "regularizer"):
        return 1.0 / float(model.regularizer)
    if hasattr(model, "C_"):
        return float(np.ravel(model.C_)[0])
    if hasattr(model, "C"):
        return float(model.C)
    if hasattr(model, "alpha"):
        return 1.0 / (float(model.alpha) * n_rows)
    raise UnsupportedProblem(f"{type(model).__name__} has neither C nor alpha nor regularizer: certify cannot read it.")


def _penalty(model: Any) -> str:
    penalty = getattr(model, "penalty", "l2")
    if penalty is None and hasattr(model, "regularizer"):
        return "l2"  # snapml's SVM has no other
    if penalty == "deprecated":
        return "l2" if not getattr(model, "l1_ratio", 0) else f"l1_ratio={model.l1_ratio}"
    return str(penalty)


def _intercept(model: Any) -> str:
    if isinstance(model, CertifiedEstimator):
        return model._intercept_mode()
    if not getattr(model, "fit_intercept", True):
        return "none"
    if not hasattr(model, "intercept_scaling"):
        return "free"
    solver = getattr(model, "solver", "liblinear")
    return "regularized" if solver == "liblinear" or hasattr(model, "regularizer") else "free"


def _several(model: Any, loss: str) -> str:
    """What the model does with more than two classes."""
    multi = getattr(model, "multi_class", None)
    if multi == "crammer_singer":
        return "Crammer–Singer"
    if hasattr(model, "support_vectors_"):
        return "one-versus-one"
    theirs = loss == "logistic" and hasattr(model, "solver") and not isinstance(model, CertifiedEstimator)
    return "multinomial" if theirs and model.solver != "liblinear" and multi != "ovr" else "ovr"


def _unwrapped(model: Any, X: Any) -> tuple[Any, Any]:
    """The linear model inside searches and pipelines, and the rows as it saw them."""
    while hasattr(model, "best_estimator_") or hasattr(model, "steps"):
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            X = model[:-1].transform(X) if len(model.steps) > 1 else X
            model = model.steps[-1][1]
    return model, X


def _one_versus_rest(model: Any, X: Any, y: Any, sample_weight: Any) -> list[Any]:
    classes = model.classes_
    if len(model.estimators_) == 1:
        return [certify_estimator(model.estimators_[0], X, (y == classes[1]).astype(int), sample_weight)]
    pairs = zip(model.estimators_, classes, strict=True)
    return [certify_estimator(one, X, (y == label).astype(int), sample_weight) for one, label in pairs]


def _coefficients(model: Any, n_cols: int) -> tuple[Array, Array]:
    """One row of coefficients a problem, and their intercepts."""
    if not hasattr(model, "coef_"):
        raise InvalidData(f"{type(model).__name__} has no coef_: fit it first.")
    coef = model.coef_.toarray() if hasattr(model.coef_, "toarray") else np.asarray(model.coef_, dtype=np.float64)
    coef = np.atleast_2d(coef)
    if coef.shape[1] != n_cols and coef.shape[0] == n_cols:
        coef = coef.T  # snapml keeps a column a class
    if coef.shape[1] != n_cols:
        raise InvalidData(f"X has {n_cols} features, but {type(model).__name__} was fitted on {coef.shape[1]}.")
    intercept = np.ravel(np.asarray(getattr(model, "intercept_", 0.0), dtype=np.float64))
    return np.ascontiguousarray(coef), np.broadcast_to(intercept, (len(coef),))


def _codes(model: Any, y: Any) -> tuple[Any, Codes]:
    """Each row's place in the model's classes."""
    classes = np.asarray(getattr(model, "classes_", np.unique(y)))
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if not (classes[codes] == y).all():
        odd = y[classes[codes] != y][0]
        raise InvalidData(f"y contains {odd!r}, which is not one of the model's classes.")
    return classes, codes


def _of_row(factors: Array | None, codes: Codes, t: Array, reading: Reading) -> Array | None:
    if factors is None:
        return None
    rows = factors[codes]
    return np.where(t > 0, rows, 1.0) if reading.weighs == "class" and len(factors) > 2 else rows


def _best(problem: Problem, model: Any, row: int, coef: Array, intercept: float) -> Any:
    """The certificate with a dual point made here or, for an estimator of ours, the one it was fitted with."""
    found = [certify(problem, coef, intercept)]
    results = model._results if isinstance(model, CertifiedEstimator) else []
    if row < len(results) and results[row].dual.size == problem.n_rows:
        found.append(certify(problem, coef, intercept, results[row].dual))
    return max(found, key=lambda certificate: certificate.dual)
