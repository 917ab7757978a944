"""The experiments there are: the thirteen declared here, and any file that says ``EXPERIMENT = Experiment(...)``."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path

from dualgap.lab.declare import Experiment

NAMES = (
    "heart",
    "rivals",
    "bias",
    "one-class",
    "working-set",
    "correctness",
    "size",
    "tolerance",
    "budget",
    "full",
    "features",
    "ablation",
    "sdca-pegasos",
)


class UnknownExperiment(ValueError):
    """A name that is neither declared nor a file."""


@cache
def find(reference: str) -> Experiment:
    """The experiment of a name, or of the path of a Python file."""
    if reference in NAMES:
        module = importlib.import_module(f"dualgap.lab.experiments.{reference.replace('-', '_')}")
    elif reference.endswith(".py") and Path(reference).is_file():
        spec = importlib.util.spec_from_file_location(f"lab_{Path(reference).stem}", reference)
        if spec is None or spec.loader is None:
            raise UnknownExperiment(f"{reference} cannot be read as Python.")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses and inspect look the module up
        spec.loader.exec_module(module)
    else:
        raise UnknownExperiment(
            f"no experiment {reference!r}; there are {', '.join(NAMES)}, or the path of a .py file."
        )
    experiment = getattr(module, "EXPERIMENT", None)
    if not isinstance(experiment, Experiment):
        raise UnknownExperiment(f"{reference} has no EXPERIMENT = dualgap.lab.Experiment(...).")
    return experiment
