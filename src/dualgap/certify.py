"""How good is a model? The judge's answer for ours, scikit-learn's, and anybody's coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from dualgap import _core
from dualgap.config import threads_for
from dualgap.data import Array, as_vector
from dualgap.errors import InvalidData
from dualgap.kernel_problem import KernelProblem
from dualgap.problem import Problem
from dualgap.registry import loss_named, solver_named
from dualgap.result import Certificate


def certify(
    problem: Any, coef: Any = None, intercept: Any = 0.0, dual: Any = None, *, sample_weight: Any = None
) -> Any:
    """The certificate of a point, ``certify(problem, coef, intercept, dual)``, or of a model, ``certify(model, X, y)``.

    A model is scikit-learn's, ours or another library's linear SVM, logistic or support-vector regression, also inside
    a pipeline or a search; its parameters say which problem it meant to solve. Several classes give a list, one a
    class against the rest. ``sample_weight`` is what the model was fitted with.

    Without a dual point one is made: −cℓ′(z) for a smooth loss; with a kink, where the multiplier of a row on the kink
    is free, some passes of descent choose it.

    Examples
    --------
    >>> import dualgap as dg
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> theirs = LinearSVC(C=0.1).fit(X, y == 0)
    >>> dg.certify(theirs, X, y == 0).relative_gap < 0.01
    True
    """
    if not isinstance(problem, Problem):
        from dualgap.estimators.foreign import certify_estimator

        return certify_estimator(problem, coef, intercept, sample_weight)
    if isinstance(problem, KernelProblem):
        return _certify_kernel(problem, intercept, dual)
    w = as_vector(np.ravel(coef), "coef", problem.n_cols)
    b = float(np.ravel(intercept)[0])
    threads = threads_for(problem._matrix.entries)
    if dual is not None:
        return _judged(problem, w, b, as_vector(dual, "dual", problem.n_rows).copy(), threads)
    beta = _core.implied_dual(problem._core, w, b, threads)
    certificate = _judged(problem, w, b, beta, threads)
    if problem.intercept != "free" and loss_named(problem.loss).smooth:
        return certificate  # Fenchel–Young is tight: nothing better is known at w
    better = _judged(problem, w, b, _descended(problem, beta, b), threads)
    return max(certificate, better, key=lambda c: c.dual)


def _judged(problem: Problem, w: Array, b: float, beta: Array, threads: int) -> Certificate:
    certificate = Certificate.from_core(_core.judge(problem._core, w, b, beta, threads))
    above = problem._above(w, b)
    if above == 0:
        return certificate
    primal, gap = certificate.primal + above, certificate.gap + above
    return replace(certificate, primal=primal, gap=gap, relative_gap=gap / max(abs(primal), abs(certificate.dual)))


def _certify_kernel(problem: KernelProblem, intercept: Any, dual: Any) -> Certificate:
    if dual is None:
        raise InvalidData("A kernel problem is certified by its dual point: certify(problem, intercept=b, dual=β).")
    threads = threads_for(problem.work)
    b = None if intercept is None else float(np.ravel(intercept)[0])
    return Certificate.from_core(problem.judged(dual, b, threads)[0])


def _descended(problem: Problem, beta: Any, b: float) -> Any:
    """β after some passes of descent from the implied one: rows on the kink find their multipliers."""
    from dualgap.solvers import Start

    name = problem.default_solver
    solver = solver_named("dcd" if name == "auto" else name)
    control = _core.Control(tol=1e-4, max_time=np.inf, max_epochs=30, threads=1, trace=False, callback=None)
    return solver.run(problem, control, Start(beta, b), {**solver.options, "seed": 0}).dual
