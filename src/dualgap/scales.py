"""Columns of wildly different scale: which they are, and the one warning about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.data import Array
from dualgap.errors import ScaleWarning, tell
from dualgap.result import Result, Status

NAMED = 3  # columns at each end
NEAR = 10.0  # times the scale of the first


def tell_of_scales(results: Sequence[Result], names: Sequence[str] | None = None) -> None:
    """One warning for fits on the same columns, where these are wild: the fits are right, but the long ones rule them.

    >>> import dualgap as dg
    >>> tell_of_scales([dg.solve(dg.Problem([[1.0, 2.0], [3.0, 1.0]], [-1, 1]))])
    """
    if words := words_on_scales(results, names):
        tell(words, ScaleWarning)


def words_on_scales(results: Sequence[Result], names: Sequence[str] | None = None) -> str:
    """What there is to say, or nothing.

    >>> import dualgap as dg
    >>> words_on_scales([dg.solve(dg.Problem([[1.0, 2.0], [3.0, 1.0]], [-1, 1]))])
    ''
    """
    scales = next((result.scales for result in results if result.scales is not None), None)
    if scales is None:
        return ""
    order = np.argsort(scales, kind="stable")
    order = order[scales[order] > 0]
    worst = max(results, key=lambda result: (result.status != Status.optimal, result.certificate.relative_gap))
    gap = f"at a relative gap of {'at most ' if len(results) > 1 else ''}{worst.certificate.relative_gap:.1e}"
    solved = (
        f"By the certificate the stated problem was solved all the same, {gap}"
        if worst.status == Status.optimal
        else f"This fit ended ({worst.status}) {gap}"
    )
    return (
        f"Columns differ in scale by {scales[order[-1]] / scales[order[0]]:.0e}: the smallest entries are in "
        f"{_named(order, scales, names)}, the largest in {_named(order[::-1], scales, names)}. {solved}. Standardising "
        "the columns would change the model, often for the better."
    )


def _named(order: Any, scales: Array, names: Sequence[str] | None) -> str:
    """The first few columns whose scale is near the first one's, and how many more there are."""
    ratio = scales[order] / scales[order[0]]
    near = order[(ratio >= 1 / NEAR) & (ratio <= NEAR)]
    told = ", ".join(f"{j if names is None else repr(str(names[j]))} (about {scales[j]:.1e})" for j in near[:NAMED])
    more = f" and {near.size - NAMED} more near them" if near.size > NAMED else ""
    return f"column{'s' if near.size > 1 else ''} {told}{more}"
