"""``dualgap predict``: labels, scores or probabilities, and a report where the data has labels."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import dualgap as dg
from dualgap.cli.load import load
from dualgap.cli.show import print_json, rows, warn
from dualgap.files.atomic import new_file
from dualgap.files.datasets import Csr, Data
from dualgap.files.liblinear_model import is_liblinear_model
from dualgap.files.model_file import read_model


def run(args: Any) -> int:
    content = _content(args.model)
    fitted = content["fitted"]
    names = fitted.get("feature_names_in_")
    facts = content.get("data") or {}
    args.label = args.label or facts.get("label")
    if args.zero_based == "auto" and facts.get("zero_based") is not None:
        args.zero_based = "yes" if facts["zero_based"] else "no"  # columns mean what they meant in training
    data, _ = load(args, None if names is None else names.tolist())
    X = _fitting(data, int(fitted["n_features_in_"]), args.data)
    if "coef_" in fitted:
        answers, table = _linear(content, X, args)
    else:
        answers, table = _any_model(content, X, args)
    facts = _report(content, data, answers)
    if args.output:
        with new_file(args.output) as file:
            file.write(_lines(table))
    elif not args.json:
        sys.stdout.flush()
        sys.stdout.buffer.write(_lines(table))
        sys.stdout.buffer.flush()
    if args.json:
        print_json({"model": args.model, "data": args.data, "rows": X.shape[0], "output": args.output, **facts})
    elif facts and not args.quiet:
        print(_text(facts), file=sys.stdout if args.output else sys.stderr)
    return 0


def _content(path: str) -> dict[str, Any]:
    if not is_liblinear_model(path):
        return read_model(path)
    from dualgap.estimators.saving import state_of

    return {**state_of(dg.load(path)), "data": {"zero_based": False}}


def _fitting(data: Data, width: int, path: str) -> Any:
    """X with as many columns as the model has weights."""
    X = data.X
    values = X.data if data.sparse else X
    if not np.isfinite(values).all():
        raise dg.InvalidData(f"{path} contains NaN or infinity; replace or drop those rows first.")
    if isinstance(X, Csr):
        if X.shape[1] > width:
            warn(f"{path} has {X.shape[1]} columns, the model {width}: those past it are left out")
        return X.as_wide_as(width).to_scipy()
    if X.shape[1] != width:
        raise dg.InvalidData(f"{path} has {X.shape[1]} columns, but the model was trained with {width}.")
    return X


def _linear(content: dict[str, Any], X: Any, args: Any) -> tuple[Any, Any]:
    """Labels (or numbers), and the table that was asked for; without scikit-learn."""
    fitted = content["fitted"]
    coef, intercept = np.atleast_2d(fitted["coef_"]), np.atleast_1d(fitted["intercept_"])
    scores = np.asarray(X @ coef.T) + intercept
    classes = fitted.get("classes_")
    if args.probabilities and content["class"] != "LogisticRegression":
        raise dg.InvalidData(
            f"A {content['class']} gives no probabilities: train with --loss logistic, or use --scores."
        )
    if "offset_" in fitted:
        return _any_model(content, X, args)
    if classes is None:
        return scores[:, 0], scores[:, 0]
    labels = classes[(scores[:, 0] > 0).astype(int) if len(classes) == 2 else scores.argmax(axis=1)]
    if args.scores:
        return labels, scores
    if args.probabilities:
        chances = 0.5 * (1 + np.tanh(0.5 * scores))
        if len(classes) == 2:
            return labels, np.column_stack([1 - chances, chances])
        return labels, chances / chances.sum(axis=1, keepdims=True)
    return labels, labels


def _any_model(content: dict[str, Any], X: Any, args: Any) -> tuple[Any, Any]:
    from dualgap.estimators.saving import from_state

    model = from_state(content, args.model)
    labels = model.predict(X)
    wanted = "decision_function" if args.scores else "predict_proba" if args.probabilities else ""
    if wanted and not hasattr(model, wanted):
        raise dg.InvalidData(f"A {content['class']} has no {wanted}.")
    return labels, getattr(model, wanted)(X) if wanted else labels


def _lines(table: Any) -> bytes:
    if table.ndim == 1:
        if table.dtype.kind == "f":
            return b"".join(b"%.17g\n" % value for value in table.tolist())
        return "".join(f"{value}\n" for value in table.tolist()).encode()
    return "".join(" ".join(f"{value:.17g}" for value in row) + "\n" for row in table.tolist()).encode()


def _report(content: dict[str, Any], data: Data, answers: Any) -> dict[str, Any]:
    """How well the answers fit the labels, where there are labels that the model knows."""
    y = data.y
    if y is None:
        return {}
    classes = content["fitted"].get("classes_")
    if classes is None:
        if not content["class"].endswith("SVR"):  # outlier detectors: what stands for a label there is no target
            return {}
        return _regression(np.asarray(y, dtype=np.float64), answers) if y.dtype.kind in "fiub" else {}
    if (y.dtype.kind in "OU") != (classes.dtype.kind in "OU"):
        return {}
    truth = y.astype(classes.dtype) if classes.dtype.kind in "OU" else y
    if not np.isin(truth, classes).any():
        return {}
    per_class = []
    for name in classes.tolist():
        said, true = answers == name, truth == name
        hit = int((said & true).sum())
        precision, recall = hit / max(1, int(said.sum())), hit / max(1, int(true.sum()))
        f1 = 2 * precision * recall / (precision + recall) if hit else 0.0
        per_class.append({"class": name, "rows": int(true.sum()), "precision": precision, "recall": recall, "f1": f1})
    right = int((answers == truth).sum())
    return {"right": right, "of": len(truth), "accuracy": right / len(truth), "classes": per_class}


def _regression(y: Any, answers: Any) -> dict[str, Any]:
    error = answers - y
    spread = float(((y - y.mean()) ** 2).sum())
    r2 = 1 - float((error**2).sum()) / spread if spread else float("nan")
    return {"of": len(y), "mean_absolute_error": float(np.abs(error).mean()), "r2": r2}


def _text(facts: dict[str, Any]) -> str:
    if "r2" in facts:
        return rows([("R2", f"{facts['r2']:.6g}"), ("mean absolute error", f"{facts['mean_absolute_error']:.6g}")])
    lines = [f"accuracy {facts['accuracy']:.4%} ({facts['right']} of {facts['of']})"]
    if len(facts["classes"]) <= 30:
        width = max(5, *(len(str(c["class"])) for c in facts["classes"]))
        lines.append(f"{'class':>{width}}  {'rows':>8}  precision  recall     f1")
        for c in facts["classes"]:
            scores = f"{c['precision']:>9.4f}  {c['recall']:.4f}  {c['f1']:.4f}"
            lines.append(f"{c['class']!s:>{width}}  {c['rows']:>8}  {scores}")
    return "\n".join(lines)
