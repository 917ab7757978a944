"""A first look: fit, read the certificate, compare with scikit-learn, and draw how the gap fell. `make demo` runs it.

The data ship with scikit-learn: breast cancer (569 × 30) as it comes, columns from 0.001 to 4,000, and the digits.
"""

import time
import warnings
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.svm import LinearSVC

import dualgap as dg

OUT = Path("demo-out")


def certificate():
    """One fit, and its proof."""
    X, y = load_breast_cancer(return_X_y=True)
    problem = dg.Problem(X, 2.0 * y - 1, loss="hinge", C=1.0, intercept="free")
    result = dg.solve(problem, tol=1e-6)
    print("One fit of a support-vector machine with a free intercept, and its certificate:\n")
    print(problem)
    print(result)
    c = result.certificate
    print(f"\nNo model, whoever makes it, is below {c.dual:.6f}; this one is at {c.primal:.6f}.\n")


def comparison():
    """The same class, the same data, only the import changes."""
    X, y = load_breast_cancer(return_X_y=True)
    print("The same estimator from both libraries, the same objective, data as it comes:\n")
    print(f"{'':<36}{'seconds':>9}{'accuracy':>10}{'objective':>11}{'above the best':>16}")
    bound = dg.LinearSVC(loss="hinge", C=1.0, tol=1e-6).fit(X, y).certificate_.dual
    for name, model in {
        "scikit-learn LinearSVC": LinearSVC(loss="hinge", C=1.0, random_state=0),
        "scikit-learn, 100 times the max_iter": LinearSVC(loss="hinge", C=1.0, max_iter=100_000, random_state=0),
        "dualgap LinearSVC": dg.LinearSVC(loss="hinge", C=1.0),
    }.items():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            start = time.perf_counter()
            model.fit(X, y)
            seconds = time.perf_counter() - start
        objective = dg.certify(model, X, y).primal
        above = f"{100 * (objective / bound - 1):.2f} %"
        print(f"{name:<36}{seconds:>9.3f}{model.score(X, y):>10.3f}{objective:>11.2f}{above:>16}")
        for warning in caught:
            print(f"    warned: {str(warning.message).splitlines()[0]}")
    print()


def picture():
    """How the gap falls, for descent and for Newton, on the digit 8 against the rest."""
    X, digit = load_digits(return_X_y=True)
    problem = dg.Problem(X, np.where(digit == 8, 1.0, -1.0), loss="hinge", C=1.0)
    figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
    for solver in ("dcd", "newton"):
        dg.solve(problem, solver=solver, tol=1e-6, max_time=4, trace=True).trace.plot(ax=ax)
    ax.set_xscale("log")
    ax.set_title("digits, 8 against the rest, hinge, C = 1", loc="left")
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "convergence.png", dpi=150)
    print(f"How the certified gap fell: {OUT / 'convergence.png'}")


if __name__ == "__main__":
    certificate()
    comparison()
    picture()
