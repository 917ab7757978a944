"""The problem once more, in plain NumPy, and optima from Clarabel and SciPy: what the tests compare with.

Nothing here uses the package's arithmetic: values, conjugates and boxes are written down again from the definitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from hypothesis import strategies as st

# every loss with the parameters the tests use
LOSSES: dict[str, dict[str, float]] = {
    "hinge": {},
    "squared_hinge": {},
    "smoothed_hinge": {"smoothing": 0.7},
    "logistic": {},
    "squared": {},
    "epsilon_insensitive": {"epsilon": 0.2},
    "squared_epsilon_insensitive": {"epsilon": 0.2},
    "huber": {"delta": 0.5},
    "pinball": {"quantile": 0.3},
}
MARGIN = ("hinge", "squared_hinge", "smoothed_hinge", "logistic")


@dataclass
class Case:
    """One random problem: the dense table, what the solver gets (maybe sparse), and the words that describe it."""

    X: np.ndarray
    y: np.ndarray
    loss: str
    C: float
    intercept: str = "none"
    weight: np.ndarray | None = None
    scale: float = 1.0
    sparse: bool = False
    parameters: dict[str, float] = field(default_factory=dict)

    @property
    def data(self) -> Any:
        return sp.csr_matrix(self.X) if self.sparse else self.X

    @property
    def costs(self) -> np.ndarray:
        return self.C * (np.ones(len(self.y)) if self.weight is None else self.weight)

    def problem(self) -> Any:
        import dualgap as dg

        return dg.Problem(
            self.data,
            self.y,
            self.loss,
            self.C,
            sample_weight=self.weight,
            intercept=self.intercept,
            intercept_scaling=self.scale,
            **self.parameters,
        )


def value(loss: str, y: Any, z: Any, **parameters: float) -> np.ndarray:
    """ℓ(y, z)."""
    m, r = 1 - y * z, y - z
    if loss == "hinge":
        return np.maximum(m, 0)
    if loss == "squared_hinge":
        return np.maximum(m, 0) ** 2
    if loss == "smoothed_hinge":
        g = parameters["smoothing"]
        return np.where(m <= 0, 0, np.where(m >= g, m - g / 2, m**2 / (2 * g)))
    if loss == "logistic":
        return np.logaddexp(0, -y * z)
    if loss == "squared":
        return r**2 / 2
    if loss == "epsilon_insensitive":
        return np.maximum(np.abs(r) - parameters["epsilon"], 0)
    if loss == "squared_epsilon_insensitive":
        return np.maximum(np.abs(r) - parameters["epsilon"], 0) ** 2
    if loss == "huber":
        d = parameters["delta"]
        return np.where(np.abs(r) <= d, r**2 / 2, d * np.abs(r) - d**2 / 2)
    q = parameters["quantile"]
    return np.maximum(q * r, (q - 1) * r)


def dual_term(loss: str, y: Any, c: Any, beta: Any, **parameters: float) -> np.ndarray:
    """−cℓ*(y, −β/c) inside the box; rows of cost 0 have β = 0 and count 0."""
    c = np.where(c > 0, c, 1.0)
    if loss == "hinge":
        return y * beta
    if loss == "squared_hinge":
        return y * beta - beta**2 / (4 * c)
    if loss == "smoothed_hinge":
        return y * beta - parameters["smoothing"] * beta**2 / (2 * c)
    if loss == "logistic":
        a = np.clip(y * beta / c, 0, 1)
        return -c * (_xlogx(a) + _xlogx(1 - a))
    if loss in ("squared", "huber"):
        return y * beta - beta**2 / (2 * c)
    if loss == "epsilon_insensitive":
        return y * beta - parameters["epsilon"] * np.abs(beta)
    if loss == "squared_epsilon_insensitive":
        return y * beta - parameters["epsilon"] * np.abs(beta) - beta**2 / (4 * c)
    return y * beta


def _xlogx(a: Any) -> np.ndarray:
    return np.where(a > 0, a * np.log(np.maximum(a, 1e-300)), 0.0)


def box(loss: str, y: Any, c: Any, **parameters: float) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and largest feasible β of each row."""
    if loss in MARGIN:
        top = np.where(c > 0, np.inf, 0.0) if loss == "squared_hinge" else c
        return np.where(y > 0, 0.0, -top), np.where(y > 0, top, 0.0)
    if loss in ("squared", "squared_epsilon_insensitive"):
        wide = np.where(c > 0, np.inf, 0.0)
        return -wide, wide
    if loss == "pinball":
        return -(1 - parameters["quantile"]) * c, parameters["quantile"] * c
    limit = c * parameters["delta"] if loss == "huber" else c
    return -limit, limit


def primal(case: Case, w: np.ndarray, b: float = 0.0) -> float:
    """P(w, b)."""
    losses = case.costs @ value(case.loss, case.y, case.X @ w + b, **case.parameters)
    return float(w @ w / 2 + losses + (b**2 / (2 * case.scale**2) if case.intercept == "regularized" else 0.0))


def dual(case: Case, beta: np.ndarray) -> float:
    """D(β), which must be feasible."""
    v, total = case.X.T @ beta, beta.sum()
    penalty = v @ v / 2 + (case.scale**2 * total**2 / 2 if case.intercept == "regularized" else 0.0)
    return float(dual_term(case.loss, case.y, case.costs, beta, **case.parameters).sum() - penalty)


def infeasibility(case: Case, beta: np.ndarray) -> float:
    """How far β is outside its bounds and, for a free intercept, Σβ from 0, relative to the costs."""
    low, high = box(case.loss, case.y, case.costs, **case.parameters)
    outside = np.max(np.maximum(np.maximum(low - beta, beta - high), 0.0))
    size = max(1.0, float(np.abs(beta).sum()))
    return float(max(outside, abs(beta.sum()) if case.intercept == "free" else 0.0)) / size


def optimum(case: Case) -> float:
    """P* of the case: Clarabel for the quadratic programs, SciPy for the logistic loss."""
    return _logistic_optimum(case) if case.loss == "logistic" else _quadratic_optimum(case)


def _extended(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """Rows with the intercept's column, and the quadratic penalty of each coordinate."""
    n, p = case.X.shape
    if case.intercept == "none":
        return case.X, np.ones(p)
    column = np.full((n, 1), case.scale if case.intercept == "regularized" else 1.0)
    return np.hstack([case.X, column]), np.append(np.ones(p), float(case.intercept == "regularized"))


def _logistic_optimum(case: Case) -> float:
    A, penalty = _extended(case)
    keep = case.costs > 0
    A, y, c = A[keep], case.y[keep], case.costs[keep]

    def f(u: np.ndarray) -> tuple[float, np.ndarray]:
        m = y * (A @ u)
        slope = -c * y * scipy.special.expit(-m)
        return float(penalty @ u**2 / 2 + c @ np.logaddexp(0, -m)), penalty * u + A.T @ slope

    def hessian(u: np.ndarray) -> np.ndarray:
        s = scipy.special.expit(A @ u)
        return np.diag(penalty + 1e-13) + (A.T * (c * s * (1 - s))) @ A

    best = scipy.optimize.minimize(f, np.zeros(A.shape[1]), jac=True, hess=hessian, method="trust-exact", tol=1e-12)
    return float(best.fun)


def _quadratic_optimum(case: Case) -> float:
    """min over (u, slacks) of ½uᵀdiag(penalty)u + slack costs, with the loss written by inequalities."""
    A, penalty = _extended(case)
    keep = case.costs > 0
    A, y, c = A[keep], case.y[keep], case.costs[keep]
    parameter = next(iter(case.parameters.values()), 0.0)
    if case.loss in ("squared", "huber"):
        return _residual_optimum(A, y, c, penalty, parameter if case.loss == "huber" else np.inf)
    if case.loss == "squared_epsilon_insensitive":
        return _tube_optimum(A, y, c, penalty, parameter)
    n, one = len(y), sp.identity(len(y))
    zero, none = sp.csc_matrix((n, n)), sp.csc_matrix((n, A.shape[1]))
    margin, score = sp.csc_matrix(-y[:, None] * A), sp.csc_matrix(A)  # −yz, z
    # rows of G, h with G(u, slacks) ≤ h; the slacks' linear and quadratic costs. No variable and no sign that the loss
    # does not need: Clarabel stops early where multipliers are not unique
    if case.loss == "hinge":
        G, h = [[margin, -one], [none, -one]], [-np.ones(n), np.zeros(n)]
        linear, quadratic = [c], [0 * c]
    elif case.loss == "squared_hinge":
        G, h = [[margin, -one]], [-np.ones(n)]
        linear, quadratic = [0 * c], [2 * c]
    elif case.loss == "smoothed_hinge":
        G, h = [[margin, -one, -one], [none, -one, zero]], [-np.ones(n), np.zeros(n)]
        linear, quadratic = [c, 0 * c], [0 * c, c / parameter]
    elif case.loss == "pinball":
        G, h = [[-parameter * score, -one], [(1 - parameter) * score, -one]], [-parameter * y, (1 - parameter) * y]
        linear, quadratic = [c], [0 * c]
    else:
        G = [[-score, -one], [score, -one], [none, -one]]
        h = [parameter - y, parameter + y, np.zeros(n)]
        linear, quadratic = [c], [0 * c]
    P = sp.diags(np.concatenate([penalty, *quadratic]))
    q = np.concatenate([np.zeros(A.shape[1]), *linear])
    return clarabel_minimum(P, q, sp.bmat(G, format="csc"), np.concatenate(h))


def _residual_optimum(A: np.ndarray, y: np.ndarray, c: np.ndarray, penalty: np.ndarray, delta: float) -> float:
    """Squared or Huber: y − z = s + t with costs ½s² and δ|t|, the latter by t ≤ its slack ≥ −t."""
    n, p = A.shape
    one = sp.identity(n)
    if np.isinf(delta):  # least squares: the normal equations are the definition
        H = np.diag(penalty) + (A.T * c) @ A
        u = np.linalg.lstsq(H, A.T @ (c * y), rcond=None)[0]
        return float(penalty @ u**2 / 2 + c @ (y - A @ u) ** 2 / 2)
    P = sp.diags(np.concatenate([penalty, c, np.zeros(n)]))
    q = np.concatenate([np.zeros(p + n), delta * c])
    G = sp.bmat([[-sp.csc_matrix(A), -one, -one], [sp.csc_matrix(A), one, -one]], format="csc")
    return clarabel_minimum(P, q, G, np.concatenate([-y, y]))


def _tube_optimum(A: np.ndarray, y: np.ndarray, c: np.ndarray, penalty: np.ndarray, epsilon: float) -> float:
    """Squared ε-insensitive: y − z = s + t with cost s² and t in [−ε, ε]."""
    n, p = A.shape
    one, none = sp.identity(n), sp.csc_matrix((n, p + n))
    P = sp.diags(np.concatenate([penalty, 2 * c, np.zeros(n)]))
    equal = sp.bmat([[sp.csc_matrix(A), one, one]], format="csc")
    G = sp.bmat([[none, one], [none, -one]], format="csc")
    return clarabel_minimum(P, np.zeros(p + 2 * n), G, np.full(2 * n, epsilon), equal, y)


def clarabel_minimum(
    P: Any, q: np.ndarray, G: Any, h: np.ndarray, equal: Any = None, right: np.ndarray | None = None
) -> float:
    """min ½xᵀPx + qᵀx with Gx ≤ h and, if given, equal·x = right; the costs scaled to the first size that it solves."""
    import clarabel

    P = sp.csc_matrix(P)
    size = max(1e-12, float(np.abs(q).max(initial=0.0)), float(abs(P).max()))
    A, b, cones = sp.csc_matrix(G), h, [clarabel.NonnegativeConeT(len(h))]
    if equal is not None:
        A, b = sp.vstack([sp.csc_matrix(equal), A], format="csc"), np.concatenate([right, h])
        cones = [clarabel.ZeroConeT(len(right)), *cones]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    settings.max_iter = 400
    answers = []
    for scale in (size, np.sqrt(size), 1.0, size * 1e-3):
        answer = clarabel.DefaultSolver(sp.triu(P / scale, format="csc"), q / scale, A, b, cones, settings).solve()
        if str(answer.status) == "Solved":
            return float(answer.obj_val) * scale
        answers.append((max(answer.r_prim, answer.r_dual), float(answer.obj_val) * scale))
    return min(answers)[1]  # the one that came closest


@st.composite
def cases(
    draw: Any,
    losses: tuple[str, ...] = tuple(LOSSES),
    intercepts: tuple[str, ...] = ("none",),
    rows: int = 300,
    columns: int = 60,
    costs: tuple[float, float] = (-4.0, 4.0),
) -> Case:
    """Random problems: any shape, dense or sparse, separable or not, duplicates, zero rows, C from 1e-4 to 1e4."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    n, p = draw(st.integers(1, rows), label="rows"), draw(st.integers(1, columns), label="columns")
    X = rng.standard_normal((n, p))
    sparse = draw(st.booleans(), label="sparse")
    if sparse:
        X *= rng.random((n, p)) < draw(st.sampled_from([0.05, 0.3]), label="density")
    loss = draw(st.sampled_from(losses), label="loss")
    score = X @ rng.standard_normal(p)
    kind = draw(st.sampled_from(["noisy", "separable", "noise", "one sign"]), label="labels")
    score = score + {"noisy": 1.0, "separable": 0.0, "noise": 1e3, "one sign": 0.0}[kind] * rng.standard_normal(n)
    y = np.where(score > 0, 1.0, -1.0) if loss in MARGIN else score / max(1.0, float(np.abs(score).max()))
    if kind == "one sign":
        y = np.abs(y)
    odd = draw(st.sampled_from(["", "", "duplicates", "zero rows"]), label="odd rows")
    if odd == "duplicates" and n > 3:
        X[n // 2 :] = X[: n - n // 2]
    if odd == "zero rows":
        X[:: max(2, n // 5)] = 0
    weight = draw(st.sampled_from([None, None, "random"]), label="weights")
    weights = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.2, 3, n)) if weight else None
    if weights is not None and not weights.any():
        weights = None
    C = float(10.0 ** draw(st.floats(*costs), label="log10 C"))
    intercept = draw(st.sampled_from(intercepts), label="intercept")
    scale = draw(st.sampled_from([1.0, 0.5, 3.0]), label="scale") if intercept == "regularized" else 1.0
    return Case(X, y, loss, C, intercept, weights, scale, sparse, LOSSES[loss])


def one_class_primal(X: np.ndarray, nu: float, w: np.ndarray, rho: float) -> float:
    """½‖w‖² − ρ + (1/νn) Σ max(0, ρ − xᵀw)."""
    return float(w @ w / 2 - rho + np.maximum(rho - X @ w, 0).sum() / (nu * len(X)))


def one_class_optimum(X: np.ndarray, nu: float) -> float:
    n, p = X.shape
    P = sp.diags(np.concatenate([np.ones(p), np.zeros(n + 1)]))
    q = np.concatenate([np.zeros(p), [-1.0], np.full(n, 1 / (nu * n))])
    ones, one = sp.csc_matrix(np.ones((n, 1))), sp.identity(n)
    G = sp.bmat([[-sp.csc_matrix(X), ones, -one], [sp.csc_matrix((n, p)), 0 * ones, -one]], format="csc")
    return clarabel_minimum(P, q, G, np.zeros(2 * n))


def svdd_primal(X: np.ndarray, C: float, centre: np.ndarray, radius2: float) -> float:
    """R² + C Σ max(0, ‖x − a‖² − R²)."""
    return float(radius2 + C * np.maximum(((X - centre) ** 2).sum(axis=1) - radius2, 0).sum())


def svdd_optimum(X: np.ndarray, C: float) -> float:
    """−min ‖Xᵀα‖² − Σ α‖x‖² over the capped simplex; for C ≤ 1/n the ball is a point, the mean."""
    n, p = X.shape
    if n * C <= 1:
        return svdd_primal(X, C, X.mean(axis=0), 0.0)
    top = min(C, 1.0)
    P = sp.diags(np.concatenate([np.zeros(n), np.full(p, 2.0)]))
    q = np.concatenate([-(X**2).sum(axis=1), np.zeros(p)])
    equal = sp.bmat([[sp.csc_matrix(np.ones((1, n))), None], [sp.csc_matrix(X.T), -sp.identity(p)]], format="csc")
    G = sp.bmat([[sp.identity(n), sp.csc_matrix((n, p))], [-sp.identity(n), sp.csc_matrix((n, p))]], format="csc")
    h = np.concatenate([np.full(n, top), np.zeros(n)])
    return -clarabel_minimum(P, q, G, h, equal, np.concatenate([[1.0], np.zeros(p)]))
