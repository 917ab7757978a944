"""A progress bar whose length is the gap still to close, on a log scale."""

from __future__ import annotations

import math
import sys
from typing import Any


class GapBar:
    """Draws on stderr; called with every judged moment."""

    def __init__(self, tol: float, solver: str) -> None:
        from tqdm import tqdm

        self.tol = max(tol, 1e-16)
        self.first: float | None = None
        self.bar = tqdm(
            total=100,
            desc=solver,
            file=sys.stderr,
            bar_format="{desc} {percentage:3.0f}%|{bar}| {elapsed} {postfix}",
            leave=True,
        )

    def __call__(self, moment: Any, coef: Any, intercept: float) -> bool:
        gap = moment.gap / max(abs(moment.primal), abs(moment.dual), 1e-300)
        if math.isfinite(gap) and gap > 0:
            self.first = self.first or max(gap, self.tol * 1.0001)
            done = math.log(self.first / max(gap, self.tol)) / math.log(self.first / self.tol)
            self.bar.n = max(self.bar.n, min(100, int(100 * done)))
        elif gap <= 0:
            self.bar.n = 100
        self.bar.set_description_str(moment.solver)
        self.bar.set_postfix_str(f"gap {gap:.1e} → {self.tol:g}, epoch {moment.epoch:.3g}")
        return False

    def close(self) -> None:
        self.bar.close()


def progress_callback(verbose: int, tol: float, solver: str) -> GapBar | None:
    """A bar where the user asked for one."""
    return GapBar(tol, solver) if verbose else None
