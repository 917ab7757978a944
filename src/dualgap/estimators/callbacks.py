"""scikit-learn's callbacks (``sklearn.callback``, from 1.9 on): a fit is a task of tasks, its classes and epochs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dualgap.data import Array
from dualgap.result import State

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
except ImportError:  # scikit-learn before 1.9: there is nothing to support

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing: this scikit-learn has no callbacks."""


Reconstruct = Callable[[dict[int, tuple[Array, float]]], dict[str, Any]]


def watched(estimator: Any) -> bool:
    """Does anybody follow this fit?"""
    return hasattr(estimator, "_skl_callbacks") or hasattr(estimator, "_parent_callback_ctx")


class Watch:
    """Shows a fit to the callbacks; ``hook(k)`` goes to ``solve`` as the callback of the k-th problem.

    ``reconstruct`` makes the fitted attributes from the coefficients known so far. A stop asked for at an epoch ends
    that problem; asked for at a class, the classes after it end at their first judged epoch.
    """

    def __init__(
        self, estimator: Any, X: Any, y: Any, sample_weight: Any, problems: int, reconstruct: Reconstruct
    ) -> None:
        self.estimator = estimator
        self.data = {"X": X, "y": y, "metadata": None if sample_weight is None else {"sample_weight": sample_weight}}
        self.several = problems > 1
        self.reconstruct = reconstruct
        self.points: dict[int, tuple[Array, float]] = {}
        self.stop_all = False
        self.root = estimator._init_callback_context(max_subtasks=problems if self.several else None)
        self._begin(self.root)

    def hook(self, k: int) -> Callable[[State], bool]:
        """The callback of the k-th problem: every judged moment ends one epoch's task and begins the next."""
        self.task = self.root
        if self.several:
            self.task = self.root.subcontext(task_name="class", max_subtasks=None)
            self._begin(self.task)
        self.epoch = self.task.subcontext(task_name="epoch")
        self._begin(self.epoch)

        def moment(state: State) -> bool:
            self.points[k] = (state.coef, state.intercept)
            if self._end(self.epoch) or self.stop_all:
                self.epoch = None
                return True
            self.epoch = self.task.subcontext(task_name="epoch")
            self._begin(self.epoch)
            return False

        return moment

    def solved(self, k: int, coef: Array, intercept: float) -> None:
        """The k-th problem is done: close what is open."""
        if self.epoch is not None:
            self.epoch.call_on_fit_task_end(estimator=self.estimator)  # it never ran
        self.points[k] = (coef, intercept)
        if self.several:
            self.stop_all = self._end(self.task) or self.stop_all

    def close(self) -> None:
        self._end(self.root)

    def _begin(self, context: Any) -> None:
        context.call_on_fit_task_begin(estimator=self.estimator, **self.data)

    def _end(self, context: Any) -> bool:
        return bool(
            context.call_on_fit_task_end(
                estimator=self.estimator,
                **self.data,
                reconstruction_attributes=lambda: self.reconstruct(self.points),
            )
        )
