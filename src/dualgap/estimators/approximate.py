"""Past what exact kernels can do: an explicit map in front of a linear machine, chosen when there are too many rows."""

from __future__ import annotations

from typing import Any

from dualgap.errors import tell
from dualgap.estimators.linear_svc import LinearSVC
from dualgap.estimators.svc import SVC
from dualgap.kernels import gamma_value


def kernel_classifier(
    X: Any,
    *,
    C: float = 1.0,
    gamma: Any = "scale",
    exact_up_to: int = 50_000,
    n_components: int = 1000,
    random_state: Any = 0,
    **options: Any,
) -> Any:
    """An unfitted classifier with an RBF kernel for X: SVC, or with more than ``exact_up_to`` rows a pipeline.

    The pipeline is ``sklearn.kernel_approximation.Nystroem`` in front of ``LinearSVC(loss="hinge")`` with a free
    intercept: SVC's problem with the kernel replaced by its projection on ``n_components`` rows. A warning says that it
    was chosen. Its certificate proves the linear problem, not the approximation; more components bring that closer.

    Parameters
    ----------
    X : array or sparse matrix of shape (n_samples, n_features)
        Only its size and, for ``gamma="scale"``, its variance count.
    C, gamma : float
        As in ``SVC``.
    exact_up_to : int
    n_components : int
    random_state : int
        Which rows the map is made of.
    **options
        Parameters that SVC and LinearSVC share, such as ``tol``, ``class_weight`` and ``n_jobs``.

    Examples
    --------
    >>> import dualgap as dg
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> dg.kernel_classifier(X, C=10).fit(X, y).score(X, y) > 0.95
    True
    """
    value = gamma_value(gamma, X)
    if X.shape[0] <= exact_up_to:
        return SVC(C=C, gamma=value, **options)
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline

    tell(
        f"{X.shape[0]} rows are more than exact_up_to={exact_up_to}: an approximate map of {n_components} components "
        "in front of LinearSVC stands for SVC; the certificate is that of the linear problem.",
        UserWarning,
    )
    approximation = Nystroem(kernel="rbf", gamma=value, n_components=n_components, random_state=random_state)
    return make_pipeline(approximation, LinearSVC(loss="hinge", C=C, intercept="free", **options))
