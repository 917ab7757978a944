"""Scikit-learn's classes as methods of an experiment: how to make, fit and certify one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.lab.declare import Case


@dataclass(frozen=True)
class Peer:
    """``make`` takes its tolerance and its limit of iterations; ``tolerances`` run from loose to tight; ``certify``
    gives coefficients (or None), intercept and certificate."""

    make: Callable[[Case, float, int], Any]
    fit: Callable[[Any, Case], Any]
    certify: Callable[[Any, Case, Any], tuple[Any, float, Any]]
    tolerances: tuple[float, ...] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8)


def _linear_svc(case: Case, tol: float, max_iter: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(
        C=case.problem.get("C", 1.0),
        loss=case.problem.get("loss", "squared_hinge"),
        fit_intercept=case.problem.get("intercept", "none") != "none",
        tol=tol,
        max_iter=max_iter,
        random_state=case.seed,
        **case.method.options,
    )


def _certify_linear(model: Any, case: Case, problem: Any) -> tuple[Any, float, Any]:
    coef, intercept = np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])
    return coef, intercept, dg.certify(problem, coef, intercept)


def _one_class(case: Case, tol: float, max_iter: int) -> Any:
    from sklearn.svm import OneClassSVM

    return OneClassSVM(kernel="linear", nu=case.problem["nu"], tol=tol, max_iter=max_iter)


def _certify_one_class(model: Any, case: Case, problem: Any) -> tuple[Any, float, Any]:
    """Theirs has Σα = νn; ours has Σα = 1."""
    scale = 1 / (case.problem["nu"] * case.X.shape[0])
    dual = np.zeros(case.X.shape[0])
    weights = model.dual_coef_.toarray() if hasattr(model.dual_coef_, "toarray") else model.dual_coef_
    dual[model.support_] = scale * np.ravel(weights)
    coef = np.ravel(case.X.T @ dual)
    return None, 0.0, dg.certify(problem, coef, scale * -float(np.ravel(model.intercept_)[0]), dual)


PEERS = {
    "sklearn:LinearSVC": Peer(_linear_svc, lambda model, case: model.fit(case.X, case.y), _certify_linear),
    "sklearn:OneClassSVM": Peer(_one_class, lambda model, case: model.fit(case.X), _certify_one_class),
}
