"""LIBLINEAR's text model: plain dictionaries to and from the file its ``predict`` reads.

A dictionary has ``solver_type``, ``labels`` (None for regression and one-class), ``coef`` of shape (weight vectors,
features), ``intercept`` (one a weight vector, zeros where ``bias`` < 0), ``bias`` and, for one-class, ``rho``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dualgap.errors import InvalidData, ModelFileError
from dualgap.files.atomic import new_file

SOLVER_TYPES = {
    0: "L2R_LR",
    1: "L2R_L2LOSS_SVC_DUAL",
    2: "L2R_L2LOSS_SVC",
    3: "L2R_L1LOSS_SVC_DUAL",
    4: "MCSVM_CS",
    5: "L1R_L2LOSS_SVC",
    6: "L1R_LR",
    7: "L2R_LR_DUAL",
    11: "L2R_L2LOSS_SVR",
    12: "L2R_L2LOSS_SVR_DUAL",
    13: "L2R_L1LOSS_SVR_DUAL",
    21: "ONECLASS_SVM",
}
_START = b"solver_type "


def is_liblinear_model(path: str | os.PathLike[str]) -> bool:
    """Does the file begin like one of LIBLINEAR's models?"""
    with open(path, "rb") as file:
        return file.read(len(_START)) == _START


def write_liblinear_model(path: str | os.PathLike[str], model: dict[str, Any]) -> None:
    """Write the model so that LIBLINEAR's ``predict`` gives the same answers."""
    coef = np.atleast_2d(np.asarray(model["coef"], dtype=np.float64))
    intercept = np.atleast_1d(np.asarray(model["intercept"], dtype=np.float64))
    bias = float(model["bias"])
    labels = model["labels"]
    lines = [f"solver_type {model['solver_type']}", f"nr_class {2 if labels is None else len(labels)}"]
    if labels is not None:
        whole = [int(label) for label in labels]
        if any(number != label for number, label in zip(whole, labels, strict=True)):
            raise InvalidData("LIBLINEAR's labels are whole numbers; this model has others.")
        lines.append("label " + " ".join(map(str, whole)))
    lines += [f"nr_feature {coef.shape[1]}", f"bias {bias:.17g}"]
    if "rho" in model:
        lines.append(f"rho {model['rho']:.17g}")
    rows = np.vstack([coef.T, intercept[None, :] / bias]) if bias >= 0 else coef.T
    pattern = "%.17g " * rows.shape[1]
    with new_file(path) as file:
        file.write("\n".join([*lines, "w", ""]).encode())
        file.writelines((pattern % tuple(row)).encode() + b"\n" for row in rows.tolist())


def read_liblinear_model(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The model as a dictionary, or ModelFileError."""
    name = os.fsdecode(path)
    with open(path, "rb") as file:
        head, mark, body = file.read().partition(b"\nw\n")
    try:
        fields = dict(line.split(" ", 1) for line in head.decode("ascii").splitlines())
        kind, features, bias = fields["solver_type"], int(fields["nr_feature"]), float(fields["bias"])
        labels = [int(label) for label in fields["label"].split()] if "label" in fields else None
        if not mark or kind not in SOLVER_TYPES.values() or features < 0:
            raise ValueError(kind)
        columns = 1 if labels is None or (len(labels) == 2 and kind != "MCSVM_CS") else len(labels)
        weights = np.array(body.split(), dtype=np.float64)
        rows = weights.reshape(features + (bias >= 0), columns)
    except (KeyError, ValueError, UnicodeDecodeError):
        raise ModelFileError(f"{name} is not a whole LIBLINEAR model: its header and weights do not fit.") from None
    coef = np.ascontiguousarray(rows[:features].T)
    intercept = rows[features] * bias if bias >= 0 else np.zeros(columns)
    model = {"solver_type": kind, "labels": labels, "coef": coef, "intercept": intercept, "bias": bias}
    return {**model, "rho": float(fields["rho"])} if "rho" in fields else model
