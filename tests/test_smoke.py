import numpy as np

import dualgap as dg


def test_a_fit_is_certified():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 5))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(200) > 0, 1.0, -1.0)
    for loss in dg.losses():
        for intercept in ("none", "regularized", "free"):
            result = dg.solve(dg.Problem(X, y, loss=loss.name, intercept=intercept), tol=1e-4, max_time=10)
            assert result.status == "optimal", (loss.name, intercept, result)
