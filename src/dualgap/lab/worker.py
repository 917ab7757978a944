"""A worker: a process that runs cells one after another, so that a crash or a hang costs one cell."""

from __future__ import annotations

import contextlib
import signal
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from dualgap.lab.catalogue import find
from dualgap.lab.data import Shelf
from dualgap.lab.declare import Case, Cell, Experiment, Missing


@dataclass(frozen=True)
class Task:
    """Which cell of which experiment; small enough to send, since the worker expands the same grid."""

    reference: str
    quick: bool
    seed: int
    index: int


def main(pipe: Connection, folder: str | None, small: bool) -> None:
    """Answers tasks until the pipe closes."""
    from threadpoolctl import threadpool_limits

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's business
    threadpool_limits(1)
    shelf = Shelf(folder, small=small)
    grids: dict[tuple[str, bool, int], tuple[Experiment, list[Cell]]] = {}
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            task: Task = pipe.recv()
            key = (task.reference, task.quick, task.seed)
            if key not in grids:
                experiment = find(task.reference).at(task.quick)
                grids[key] = (experiment, experiment.cells(task.seed))
            experiment, cells = grids[key]
            pipe.send(run_cell(experiment, cells[task.index], shelf))


def run_cell(experiment: Experiment, cell: Cell, shelf: Shelf) -> dict[str, Any]:
    """The cell's outcome as plain data: never an exception."""
    begin = time.perf_counter()
    outcome: dict[str, Any]
    try:
        X, y, X_test, y_test = shelf.sample(cell.sample, cell.seed)
        case = Case(X, y, X_test, y_test, cell.problem, cell.method, cell.setting, cell.seed)
        values = {**experiment.measure(case), "rows": int(X.shape[0]), "columns": int(X.shape[1])}
        outcome = {"status": "done", "values": values, "error": ""}
    except Missing as missing:
        outcome = {"status": "missing", "values": {}, "error": str(missing)}
    except Exception as problem:  # whatever a solver does wrong is a result of the experiment
        place = traceback.extract_tb(problem.__traceback__)[-1]
        error = f"{type(problem).__name__}: {problem} ({place.name}, line {place.lineno})"
        outcome = {"status": "failed", "values": {}, "error": error}
    return {**outcome, "took": time.perf_counter() - begin}
