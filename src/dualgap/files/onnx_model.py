"""Linear models as ONNX graphs of basic operators: float32 rows in, arithmetic in float64 as in ours."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dualgap.errors import InvalidData
from dualgap.files.atomic import new_file

_OPSET = 17


def write_onnx_model(path: str | os.PathLike[str], model: dict[str, Any]) -> None:
    """Write ``coef`` (k, p), ``intercept`` (k,), ``classes`` (None for regression) and ``probabilities`` (bool).

    Input ``X`` is float32 (rows, p). Outputs: ``prediction`` for regression; ``label``, ``scores`` and, where asked
    for, ``probabilities`` for classification.
    """
    try:
        import onnx
    except ImportError:
        raise ImportError("Saving as ONNX needs onnx: pip install 'dualgap[onnx]'.") from None
    graph = _Graph(onnx)
    coef = np.atleast_2d(model["coef"]).astype(np.float64)
    intercept = np.asarray(model["intercept"], dtype=np.float64).reshape(-1)
    wide = graph.node("Cast", ["X"], to=onnx.TensorProto.DOUBLE)
    product = graph.node("MatMul", [wide, graph.constant(np.ascontiguousarray(coef.T))])
    scores = graph.node("Add", [product, graph.constant(intercept)])
    if model["classes"] is None:
        graph.output("prediction", graph.node("Squeeze", [scores, graph.constant(np.array([1]))]), "DOUBLE", 1)
    else:
        _classify(graph, scores, np.asarray(model["classes"]), model["probabilities"])
    inputs = [onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, [None, coef.shape[1]])]
    made = onnx.helper.make_graph(graph.nodes, "dualgap", inputs, graph.outputs, graph.constants)
    opset = [onnx.helper.make_opsetid("", _OPSET)]
    proto = onnx.helper.make_model(made, opset_imports=opset, producer_name="dualgap", ir_version=8)
    onnx.checker.check_model(proto)
    with new_file(path) as file:
        file.write(proto.SerializeToString())


def _classify(graph: _Graph, scores: str, classes: np.ndarray[Any, Any], probabilities: bool) -> None:
    onnx = graph.onnx
    two = len(classes) == 2
    if two:
        flat = graph.node("Squeeze", [scores, graph.constant(np.array([1]))])
        positive = graph.node("Greater", [flat, graph.constant(np.array(0.0))])
        best = graph.node("Cast", [positive], to=onnx.TensorProto.INT64)
    else:
        best = graph.node("ArgMax", [scores], axis=1, keepdims=0)
    if classes.dtype.kind in "iub":
        names, kind = classes.astype(np.int64), "INT64"
    elif classes.dtype.kind == "f":
        names, kind = classes.astype(np.float64), "DOUBLE"
    elif all(isinstance(name, str) for name in classes.tolist()):
        names, kind = classes.astype(object), "STRING"
    else:
        raise InvalidData("ONNX takes class labels that are numbers or text; this model has others.")
    graph.output("label", graph.node("Gather", [graph.constant(names), best], axis=0), kind, 1)
    graph.output("scores", flat if two else scores, "DOUBLE", 1 if two else 2)
    if not probabilities:
        return
    chance = graph.node("Sigmoid", [scores])
    if two:
        other = graph.node("Sub", [graph.constant(np.array(1.0)), chance])
        table = graph.node("Concat", [other, chance], axis=1)
    else:
        total = graph.node("ReduceSum", [chance, graph.constant(np.array([1]))], keepdims=1)
        table = graph.node("Div", [chance, total])
    graph.output("probabilities", table, "DOUBLE", 2)


class _Graph:
    """Nodes, constants and outputs, named as they come."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def constant(self, value: np.ndarray[Any, Any]) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(value, name))
        return name

    def node(self, operator: str, inputs: list[str], **attributes: Any) -> str:
        name = f"value_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [name], **attributes))
        return name

    def output(self, name: str, value: str, kind: str, dimensions: int) -> None:
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        element = getattr(self.onnx.TensorProto, kind)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, element, [None] * dimensions))
