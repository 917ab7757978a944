"""Maximum-margin and generalised linear models where every answer carries proof of how good it is.

>>> import dualgap as dg
>>> from sklearn.datasets import load_breast_cancer
>>> X, y = load_breast_cancer(return_X_y=True)
>>> result = dg.solve(dg.Problem(X, 2.0 * y - 1, loss="hinge", C=1.0))
>>> str(result.status), bool(result.certificate.relative_gap <= 1e-3)
('optimal', True)
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# name -> module that has it; imported when first used, so that `dualgap --help` answers at once
_HOMES = {
    "Problem": "problem",
    "OneClassProblem": "one_class",
    "SVDDProblem": "one_class",
    "solve": "solve",
    "certify": "certify",
    "Certificate": "result",
    "Result": "result",
    "Status": "result",
    "Trace": "result",
    "losses": "registry",
    "solvers": "registry",
    "show_config": "config",
    "DualgapError": "errors",
    "InvalidData": "errors",
    "UnsupportedProblem": "errors",
    "FormatError": "errors",
    "ModelFileError": "errors",
    "ScaleWarning": "errors",
    "load_svmlight": "files.svmlight",
    "load_svmlight_files": "files.svmlight",
    "dump_svmlight": "files.svmlight",
    "open_mapped": "files.mapped",
    "load": "estimators.saving",
    "LinearSVC": "estimators",
    "LinearSVR": "estimators",
    "LogisticRegression": "estimators",
    "LinearOneClassSVM": "estimators",
    "LinearSVDD": "estimators",
    "PegasosClassifier": "estimators",
    "SVC": "estimators",
    "SVR": "estimators",
    "NuSVC": "estimators",
    "NuSVR": "estimators",
    "OneClassSVM": "estimators",
    "SVDD": "estimators",
    "kernel_classifier": "estimators",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dualgap' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"dualgap.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(types.ModuleType):
    """Some functions live in a module of their own name; importing that module must not hide the function."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


if TYPE_CHECKING:
    from dualgap.certify import certify as certify
    from dualgap.config import show_config as show_config
    from dualgap.errors import (
        DualgapError as DualgapError,
    )
    from dualgap.errors import (
        FormatError as FormatError,
    )
    from dualgap.errors import (
        InvalidData as InvalidData,
    )
    from dualgap.errors import (
        ModelFileError as ModelFileError,
    )
    from dualgap.errors import (
        ScaleWarning as ScaleWarning,
    )
    from dualgap.errors import (
        UnsupportedProblem as UnsupportedProblem,
    )
    from dualgap.estimators import SVC as SVC
    from dualgap.estimators import SVDD as SVDD
    from dualgap.estimators import SVR as SVR
    from dualgap.estimators import LinearOneClassSVM as LinearOneClassSVM
    from dualgap.estimators import LinearSVC as LinearSVC
    from dualgap.estimators import LinearSVDD as LinearSVDD
    from dualgap.estimators import LinearSVR as LinearSVR
    from dualgap.estimators import LogisticRegression as LogisticRegression
    from dualgap.estimators import NuSVC as NuSVC
    from dualgap.estimators import NuSVR as NuSVR
    from dualgap.estimators import OneClassSVM as OneClassSVM
    from dualgap.estimators import PegasosClassifier as PegasosClassifier
    from dualgap.estimators import kernel_classifier as kernel_classifier
    from dualgap.estimators.saving import load as load
    from dualgap.files.mapped import open_mapped as open_mapped
    from dualgap.files.svmlight import dump_svmlight as dump_svmlight
    from dualgap.files.svmlight import load_svmlight as load_svmlight
    from dualgap.files.svmlight import load_svmlight_files as load_svmlight_files
    from dualgap.one_class import OneClassProblem as OneClassProblem
    from dualgap.one_class import SVDDProblem as SVDDProblem
    from dualgap.problem import Problem as Problem
    from dualgap.registry import losses as losses
    from dualgap.registry import solvers as solvers
    from dualgap.result import Certificate as Certificate
    from dualgap.result import Result as Result
    from dualgap.result import Status as Status
    from dualgap.result import Trace as Trace
    from dualgap.solve import solve as solve
