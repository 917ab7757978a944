"""One file per solver: its entry in the registry, and its orchestration where Python is fast enough."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dualgap.data import Array, as_number
from dualgap.errors import InvalidData


@dataclass
class Start:
    """Where to begin: a dual point, and for a free intercept a b (zero where nothing is known)."""

    dual: Array | None = None
    intercept: float = 0.0
    coef: Array | None = None


@dataclass
class Answer:
    """Where a solver ended. ``judged``: the control's certificate speaks of this very point."""

    coef: Array
    intercept: float
    dual: Array
    epochs: float
    n_iter: int
    judged: bool = False
    solver: str = ""
    why: str = ""
    wild: bool = False  # columns differ so much in scale that it is worth a word
    threshold: float = 0.0
    certificate: Any = None  # the judge's word on this very point, where it is kept

    @classmethod
    def from_core(cls, raw: dict[str, Any], solver: str) -> Answer:
        return cls(**raw, solver=solver)


def one_of(options: Any, name: str, choices: tuple[str, ...]) -> str:
    """The value of an option that is a word."""
    value = options[name]
    if value not in choices:
        raise InvalidData(f"{name}={value!r} is not one of {', '.join(map(repr, choices))}.")
    return str(value)


def number_of(options: Any, name: str, low: float = 0.0, high: float = math.inf) -> float:
    """The value of an option that is a number from ``low`` to ``high``.

    >>> number_of({"forcing": 0.1}, "forcing", high=1.0)
    0.1
    """
    value = as_number(options[name], name)
    if not low <= value <= high:
        most = f" and at most {high:g}" if high < math.inf else ""
        raise InvalidData(f"{name}={options[name]!r} must be at least {low:g}{most}.")
    return value


def whole_of(options: Any, name: str, least: int = 1) -> int:
    """The value of an option that counts something.

    >>> whole_of({"batch_size": 4}, "batch_size")
    4
    """
    value = options[name]
    if not isinstance(value, (int, np.integer)) or value < least:
        raise InvalidData(f"{name}={value!r} is not a whole number of at least {least}.")
    return int(value)


def pair_options(options: Any) -> dict[str, Any]:
    """What smo and decomposition share: shrinking, the cache in bytes, and whether all of K is made first."""
    megabytes = as_number(options["cache_size"], "cache_size")
    if not megabytes > 0:
        raise InvalidData(f"cache_size={options['cache_size']!r} must be a positive number of megabytes.")
    return {
        "shrinking": bool(options["shrinking"]),
        "cache_bytes": megabytes * 2**20,
        "precomputed": bool(options["precomputed"]),
    }


def run_pairs(
    name: str, engine: Callable[..., Any], problem: Any, control: Any, start: Start, options: Mapping[str, Any]
) -> Answer:
    """One of the three solvers that stand on pair_descent.cpp."""
    raw = engine(
        problem._core,
        control,
        beta=start.dual,
        b=start.intercept,
        name=name,
        pairs=one_of(options, "pairs", ("cyclic", "random", "greedy")),
        shrinking=bool(options["shrinking"]),
        seed=options["seed"],
    )
    return Answer.from_core(raw, name)
