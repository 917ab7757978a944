"""What every estimator shares: budgets, threads over problems, callbacks, and the attributes that tell how it went."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _check_sample_weight, validate_data

from dualgap.data import Array, largest
from dualgap.errors import InvalidData, UnsupportedProblem, tell
from dualgap.estimators.callbacks import CallbackSupportMixin, Watch
from dualgap.estimators.saving import SavedEstimator
from dualgap.result import Certificate, Result, Status, Trace
from dualgap.scales import tell_of_scales
from dualgap.solve import seed_of, solve
from dualgap.together import time_left, together, workers_for

#: scikit-learn's solvers: each is one way to the same optimum, so ours may choose
THEIR_SOLVERS = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")


class CertifiedEstimator(SavedEstimator, CallbackSupportMixin, BaseEstimator):  # type: ignore[misc]
    """From validated data to results: subclasses make problems and turn results into scikit-learn's attributes.

    ``max_iter`` has scikit-learn's default number, ``_unbound``, so that signatures agree; that number does not stop a
    fit, any other does.
    """

    _unbound: ClassVar[int | None] = 1000
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "tol": [Interval(Real, 0, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
        "max_iter": [Interval(Integral, 0, None, closed="left"), None],
        "dual": ["boolean", StrOptions({"auto"})],
        "solver": [str],
        "intercept": [StrOptions({"auto", "none", "regularized", "free"})],
        "max_time": [Interval(Real, 0, None, closed="neither"), None],
        "n_jobs": [Integral, None],
        "warm_start": ["boolean"],
        "trace": ["boolean"],
    }
    _usual_intercept: ClassVar[str] = "regularized"

    def _set(self, parameters: dict[str, Any]) -> None:
        """Every parameter to the attribute of its name: all that scikit-learn lets a constructor do."""
        self.__dict__.update((name, value) for name, value in parameters.items() if name != "self")

    def _validated(self, X: Any, y: Any, sample_weight: Any, numeric: bool) -> tuple[Any, Any, Array | None]:
        """Data by scikit-learn's rules, in place; whether X is finite is left to Problem, which looks anyway."""
        X, y = validate_data(
            self,
            X,
            y,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            y_numeric=numeric,
        )
        if sample_weight is not None:
            sample_weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
        return X, y, sample_weight

    def _intercept_mode(self) -> str:
        if not self.fit_intercept:
            return "none"
        return self._usual_intercept if self.intercept == "auto" else str(self.intercept)

    def _solver_options(self) -> dict[str, Any]:
        """The solver's own options, where an estimator stands on one solver."""
        return {}

    def _solver_name(self) -> str:
        return "auto" if self.solver in THEIR_SOLVERS else str(self.solver)

    def _solved(
        self,
        problems: Sequence[Callable[[], Any]],
        X: Any,
        entries: int,
        started: float,
        watch: Watch | None = None,
        at_once: int | None = None,
        **options: Any,
    ) -> list[Result]:
        """The results of all problems on X, each made when its turn comes; the same bits for every n_jobs.

        ``at_once``: how many may be solved at the same time, where memory is a limit; ``options``: the solver's own.
        """
        count = len(problems)
        earlier = getattr(self, "_results", ()) if self.warm_start else ()
        common = {
            "tol": self.tol,
            "max_iter": None if self.max_iter == self._unbound else self.max_iter,
            "random_state": seed_of(self.random_state),
            "trace": self.trace,
            "verbose": int(self.verbose),
            **self._solver_options(),
            **options,
        }
        jobs = workers_for(self.n_jobs, count, entries) if count > 1 and watch is None else 1
        workers = jobs if at_once is None else min(jobs, at_once)
        threads = self.n_jobs if count == 1 or watch is not None else max(1, jobs // workers)

        def one(k: int) -> Result:
            problem = problems[k]()
            problem._tells_of_scales = False  # they share their columns
            start = earlier[k] if len(earlier) == count and earlier[k].dual.size == problem.n_rows else None
            hook = watch.hook(k) if watch else None
            result = solve(
                problem,
                self._solver_name(),
                max_time=time_left(self.max_time, started, k, count, workers),
                n_threads=threads,
                start=start,
                callback=hook,
                **common,
            )
            if watch:
                watch.solved(k, result.coef, result.intercept)
            return result

        results = together(one, count, workers)
        if watch:
            watch.close()
        self._report(results, X)
        return results

    def _report(self, results: Sequence[Result], X: Any) -> None:
        """One warning for columns of wild scale, and one for a fit that ended before its tolerance: gap reached, gap
        asked for, what to try."""
        tell_of_scales(results, getattr(self, "feature_names_in_", None))
        late = [r for r in results if r.status not in (Status.optimal, Status.interrupted)]
        if not late:
            return
        worst = max(late, key=lambda r: r.certificate.relative_gap)
        if worst.status == Status.stalled and (top := largest(X)) > 1e30:
            raise InvalidData(
                f"X contains values up to {top:.2g}, too large for float64 to reach or prove an optimum "
                f"(relative duality gap {worst.certificate.relative_gap:.2g}): scale its columns."
            )
        which = f" for {len(late)} of {len(results)} classes" if len(results) > 1 else ""
        advice = {
            Status.max_iter: f"Raise max_iter={self.max_iter} or leave it at {self._unbound}, which sets no limit",
            Status.max_time: f"Raise max_time={self.max_time} or leave it at None",
            Status.stalled: self._after_stall(worst),
        }[worst.status]
        tell(
            f"{type(self).__name__} stopped ({worst.status}){which} at a relative duality gap of "
            f"{worst.certificate.relative_gap:.2g}; asked for was tol={self.tol:g}. {advice}, or ask for a larger tol.",
            ConvergenceWarning,
        )

    def _after_stall(self, worst: Result) -> str:
        return "Floating point allows no further progress: scale the columns or lower C"

    def _keep(self, results: list[Result]) -> None:
        """``result_`` or ``results_`` and ``certificate_``."""
        for name in ("result_", "results_"):
            self.__dict__.pop(name, None)
        certificates = [result.certificate for result in results]
        self.certificate_: Certificate | list[Certificate]
        if len(results) == 1:
            self.result_, self.certificate_ = results[0], certificates[0]
        else:
            self.results_, self.certificate_ = results, certificates

    @property
    def _results(self) -> list[Result]:
        """The results as a list; empty before the first fit."""
        single = self.__dict__.get("result_")
        return [single] if single is not None else self.__dict__.get("results_", [])

    @property
    def trace_(self) -> Trace | list[Trace]:
        """How the fit went, where ``trace=True`` asked for it: a Trace, or a list of one a class."""
        traces = [result.trace for result in self._results if result.trace is not None]
        if not traces:
            raise AttributeError(f"{type(self).__name__} keeps a trace_ when it is fitted with trace=True.")
        return traces[0] if len(traces) == 1 else traces

    def _unsupported(self, given: str, instead: str) -> UnsupportedProblem:
        return UnsupportedProblem(f"{type(self).__name__} does not do {given}; use {instead}.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
