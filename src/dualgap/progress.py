"""A progress bar whose length is the gap still to close, on a log scale."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

EVERY = 0.1  # seconds from one drawing to the next


class GapBar:
    """Draws on stderr; called with every judged moment, or with the state that a callback gets.

    ``after``: seconds before it is first drawn; a fit that ends sooner leaves no trace. ``stays``: when it is done.
    """

    def __init__(self, tol: float, *, after: float = 0.0, stays: bool = True) -> None:
        self.tol = max(tol, 1e-16)
        self.stays = stays
        self.first = 1.001 * self.tol
        self.next = time.monotonic() + after
        self.undrawn: Any = None
        self.bar: Any = None

    def __call__(self, moment: Any, *point: Any) -> bool:
        self.undrawn = moment
        if math.isfinite(gap := _relative(moment)):
            self.first = max(self.first, gap)
        if time.monotonic() >= self.next:
            self._draw()
        return False

    def _draw(self) -> None:
        if self.bar is None:
            from tqdm import tqdm

            form = "{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}"
            self.bar = tqdm(total=100, bar_format=form, leave=self.stays, file=sys.stderr)
        moment, gap = self.undrawn, _relative(self.undrawn)
        if math.isfinite(gap):
            done = math.log(self.first / max(gap, self.tol)) / math.log(self.first / self.tol)
            self.bar.n = max(self.bar.n, min(100, int(100 * done)))
        self.bar.set_description_str(f"solving by {moment.solver}", refresh=False)
        self.bar.set_postfix_str(f"gap {gap:.1e} → {self.tol:g}, epoch {moment.epoch:.3g}", refresh=True)
        self.undrawn, self.next = None, time.monotonic() + EVERY

    def close(self) -> None:
        if self.bar is None:
            return
        if self.undrawn is not None:
            self._draw()
        self.bar.close()


def _relative(moment: Any) -> float:
    return float(moment.gap / max(abs(moment.primal), abs(moment.dual), 1e-300))
