"""Checks that several experiments make: who is faster, whether a number is the same, whether a power law is as said."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dualgap.lab.declare import Check
from dualgap.lab.results import Records, Slope, geometric_mean, number, ratios

CLEARLY = 1.05  # a ratio of times below this is called none
WORDS = {"train_accuracy": "training accuracy", "test_accuracy": "test accuracy", "f1 1": "F1 of class +1"}


def times(value: float) -> str:
    """A ratio in words: how many times."""
    return f"{number(value)} times"


def faster(records: Records, fast: str, slow: str, claim: str, *, least: float = CLEARLY, **wanted: Any) -> Check:
    """Is ``fast`` at least ``least`` times as fast as ``slow``, cell by cell, in geometric mean?"""
    return by_ratio(ratios(records, slow, fast, **wanted), fast, slow, claim, least=least)


def by_ratio(found: Sequence[float], fast: str, slow: str, claim: str, *, least: float = CLEARLY) -> Check:
    if not found:
        return Check(claim, None, f"no pair of cells where both {fast} and {slow} got there")
    mean = geometric_mean(found)
    won = sum(ratio > 1 for ratio in found)
    speed = f"is {times(mean)} as fast as" if mean >= 1 else f"takes {times(1 / mean)} as long as"
    if CLEARLY > mean > 1 / CLEARLY:
        speed = f"is no faster and no slower (ratio {mean:.2f}) than"
    return Check(claim, mean >= least, f"{fast} {speed} {slow}, ahead in {won} of {len(found)} cells")


def same(records: Records, name: str, methods: Sequence[str], claim: str, *, within: float, **wanted: Any) -> Check:
    """Do the methods' means of a number over the same cells differ by no more than ``within``?"""
    means = {}
    for method in methods:
        values = records.where(method=method, **wanted).numbers(name)
        if values:
            means[method] = float(np.mean(values))
    if len(means) < 2:
        return Check(claim, None, "fewer than two methods have cells")
    low, high = min(means.values()), max(means.values())
    words = WORDS.get(name, name)
    return Check(
        claim,
        high - low <= within,
        f"{words} {100 * low:.1f} to {100 * high:.1f} %, {100 * (high - low):.2f} points apart",
    )


def no_worse(
    records: Records,
    one: str,
    others: Sequence[str],
    claim: str,
    *,
    name: str = "test_accuracy",
    by: float,
    **wanted: Any,
) -> Check:
    """Is one method's mean at most ``by`` below the best of the others'?"""
    mine = records.where(method=one, **wanted).mean(name)
    theirs = {other: records.where(method=other, **wanted).mean(name) for other in others}
    known = {other: value for other, value in theirs.items() if np.isfinite(value)}
    if not known or not np.isfinite(mine):
        return Check(claim, None, "no cells to compare")
    best = max(known, key=lambda other: known[other])
    where = f"{wanted['sample']}: " if "sample" in wanted else ""
    text = f"{where}{one} {100 * mine:.1f} %, {best} {100 * known[best]:.1f} %"
    return Check(claim, bool(mine >= known[best] - by), text)


def exponent(found: Slope | None, who: str, claim: str, *, low: float, high: float) -> Check:
    """Does the fitted exponent lie in a range?"""
    if found is None:
        return Check(claim, None, f"too few points of {who} to fit an exponent")
    return Check(claim, low <= found.slope <= high, f"{who}: exponent {found}")
