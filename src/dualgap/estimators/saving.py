"""``estimator.save(path)`` and ``dualgap.load(path)``: fitted estimators as plain values and arrays, never pickled."""

from __future__ import annotations

import datetime
import os
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

import dualgap
from dualgap.errors import InvalidData, ModelFileError
from dualgap.files.liblinear_model import is_liblinear_model, read_liblinear_model, write_liblinear_model
from dualgap.files.model_file import read_model, write_model
from dualgap.files.onnx_model import write_onnx_model
from dualgap.result import Certificate

FORMATS = ("dualgap", "liblinear", "onnx")
# results hold the dual point and the trace, as long as the training data; callbacks are no part of a model
_LEFT_OUT = {"result_", "results_", "_skl_callbacks", "_parent_callback_ctx"}

# LIBLINEAR's solver type -> estimator and its parameters
_THEIRS: dict[str, tuple[str, dict[str, Any]]] = {
    "L2R_LR": ("LogisticRegression", {}),
    "L2R_LR_DUAL": ("LogisticRegression", {}),
    "L1R_LR": ("LogisticRegression", {}),
    "L2R_L2LOSS_SVC": ("LinearSVC", {"loss": "squared_hinge"}),
    "L2R_L2LOSS_SVC_DUAL": ("LinearSVC", {"loss": "squared_hinge"}),
    "L1R_L2LOSS_SVC": ("LinearSVC", {"loss": "squared_hinge"}),
    "L2R_L1LOSS_SVC_DUAL": ("LinearSVC", {"loss": "hinge"}),
    "MCSVM_CS": ("LinearSVC", {}),
    "L2R_L2LOSS_SVR": ("LinearSVR", {"loss": "squared_epsilon_insensitive"}),
    "L2R_L2LOSS_SVR_DUAL": ("LinearSVR", {"loss": "squared_epsilon_insensitive"}),
    "L2R_L1LOSS_SVR_DUAL": ("LinearSVR", {"loss": "epsilon_insensitive"}),
}
# the other way: (estimator, loss) -> solver type
_OURS = {
    ("LogisticRegression", None): "L2R_LR",
    ("LinearSVC", "hinge"): "L2R_L1LOSS_SVC_DUAL",
    ("LinearSVC", "squared_hinge"): "L2R_L2LOSS_SVC_DUAL",
    ("LinearSVR", "epsilon_insensitive"): "L2R_L1LOSS_SVR_DUAL",
    ("LinearSVR", "squared_epsilon_insensitive"): "L2R_L2LOSS_SVR_DUAL",
}


class SavedEstimator:
    """Gives an estimator ``save``."""

    def save(self, path: str | os.PathLike[str], *, format: str = "dualgap") -> None:
        """Save the fitted model.

        Parameters
        ----------
        path : path
            Written whole or not at all: a crash or a full disk leaves the old file as it was.
        format : {"dualgap", "liblinear", "onnx"}
            Ours, which ``dualgap.load`` reads (docs/model-format.md); LIBLINEAR's text model, which its ``predict``
            and ``dualgap.load`` read; or ONNX (needs ``pip install 'dualgap[onnx]'``).

        Examples
        --------
        >>> import os, tempfile
        >>> import dualgap as dg
        >>> path = os.path.join(tempfile.mkdtemp(), "m.model")
        >>> dg.LinearSVC().fit([[0.0], [1.0]], ["no", "yes"]).save(path)
        >>> dg.load(path).predict([[2.0]])
        array(['yes'], dtype='<U3')
        """
        check_is_fitted(self)
        if format == "dualgap":
            write_model(path, state_of(self))
        elif format == "liblinear":
            write_liblinear_model(path, to_liblinear(self))
        elif format == "onnx":
            write_onnx_model(path, to_onnx(self))
        else:
            raise InvalidData(f"format={format!r} is not one of {', '.join(map(repr, FORMATS))}.")


def state_of(model: Any) -> dict[str, Any]:
    """The model as plain values and arrays."""
    params = model.get_params(deep=False)
    if not isinstance(params.get("random_state"), (int, np.integer, type(None))):
        params["random_state"] = None  # a generator's state is no part of a fitted model
    fitted = {k: v for k, v in vars(model).items() if k not in params and k not in _LEFT_OUT}
    certificate = fitted.pop("certificate_", None)
    fits = [
        {"status": str(r.status), "solver": r.solver, "tol": r.tol, "epochs": r.epochs, "seconds": r.seconds}
        for r in getattr(model, "_results", ())
    ]
    return {
        "class": type(model).__name__,
        "dualgap": dualgap.__version__,
        "saved": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "params": params,
        "fitted": fitted,
        "certificate": [asdict(c) for c in certificate] if isinstance(certificate, list) else _plain(certificate),
        "fits": fits,
    }


def _plain(certificate: Any) -> Any:
    return asdict(certificate) if isinstance(certificate, Certificate) else None


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator that was saved: ours, or the one that a LIBLINEAR text model stands for.

    A file is only ever read as numbers and text, so one from a stranger is safe to open; a damaged one is refused.

    >>> import dualgap as dg
    >>> dg.load("no such file")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no such file'
    """
    if is_liblinear_model(path):
        return from_liblinear(read_liblinear_model(path), os.fsdecode(path))
    return from_state(read_model(path), os.fsdecode(path))


def from_state(state: dict[str, Any], name: str) -> Any:
    """A fitted estimator from what ``state_of`` gave."""
    kind = state.get("class")
    known = getattr(dualgap, kind) if kind in dualgap._HOMES else None
    if not (isinstance(known, type) and issubclass(known, SavedEstimator)):
        raise ModelFileError(f"{name} holds a {kind!r}, which this version of dualgap does not have.")
    try:
        model: Any = known(**state["params"])
        vars(model).update(state["fitted"])
        if "certificate_" not in vars(model) and state.get("certificate") is not None:
            raw = state["certificate"]
            model.certificate_ = [Certificate(**c) for c in raw] if isinstance(raw, list) else Certificate(**raw)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise ModelFileError(f"{name} does not fit this version's {kind}: {error}.") from None
    return model


def to_liblinear(model: Any) -> dict[str, Any]:
    """The dictionary that ``write_liblinear_model`` takes."""
    name = type(model).__name__
    kind = _OURS.get((name, getattr(model, "loss", None))) or _OURS.get((name, None))
    if kind is None:
        raise InvalidData(f"LIBLINEAR has no model for {name} with loss={getattr(model, 'loss', None)!r}.")
    coef = np.atleast_2d(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
    labels = None
    if hasattr(model, "classes_"):
        if model.classes_.dtype.kind not in "iuf":
            raise InvalidData(f"LIBLINEAR's labels are whole numbers; this model has {model.classes_[0]!r}.")
        # theirs: a positive score means the first label; ours: the second class
        labels = model.classes_.tolist() if len(model.classes_) != 2 else model.classes_[::-1].tolist()
    intercept = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64).ravel(), (coef.shape[0],))
    bias = float(model.intercept_scaling) if model.fit_intercept else -1.0
    return {"solver_type": kind, "labels": labels, "coef": coef, "intercept": intercept, "bias": bias}


def from_liblinear(theirs: dict[str, Any], name: str) -> Any:
    """A fitted estimator from what ``read_liblinear_model`` gave."""
    if theirs["solver_type"] not in _THEIRS:
        raise ModelFileError(f"{name} is a {theirs['solver_type']} model, which has no counterpart here.")
    kind, params = _THEIRS[theirs["solver_type"]]
    model = getattr(dualgap, kind)(**params)
    biased = theirs["bias"] > 0
    model.set_params(fit_intercept=biased, **({"intercept_scaling": theirs["bias"]} if biased else {}))
    coef, intercept, labels = theirs["coef"], theirs["intercept"], theirs["labels"]
    model.n_features_in_ = coef.shape[1]
    if labels is None:
        model.coef_, model.intercept_ = coef[0], intercept
        return model
    order = np.argsort(labels)
    model.classes_ = np.array(labels)[order]
    if len(labels) != 2:
        coef, intercept = coef[order], intercept[order]
    elif coef.shape[0] == 2:  # one weight vector a class, of which the difference decides
        coef, intercept = coef[order[1:]] - coef[order[:1]], intercept[order[1:]] - intercept[order[:1]]
    elif labels[0] < labels[1]:
        coef, intercept = -coef, -intercept
    model.coef_, model.intercept_ = coef, intercept
    return model


def to_onnx(model: Any) -> dict[str, Any]:
    """The dictionary that ``write_onnx_model`` takes."""
    if not hasattr(model, "coef_"):
        raise InvalidData(f"Only linear models can be saved as ONNX; this {type(model).__name__} has no coef_.")
    coef = np.atleast_2d(model.coef_.toarray() if hasattr(model.coef_, "toarray") else model.coef_)
    return {
        "coef": coef,
        "intercept": np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64).ravel(), (coef.shape[0],)),
        "classes": getattr(model, "classes_", None),
        "probabilities": hasattr(model, "predict_proba"),
    }
