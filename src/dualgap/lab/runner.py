"""The run: cells to workers, each outcome into a file of its own at once; a killed run goes on where it was."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import dualgap as dg
from dualgap.lab.catalogue import find
from dualgap.lab.data import Shelf
from dualgap.lab.declare import Cell, Experiment
from dualgap.lab.results import Record, Records
from dualgap.lab.worker import Task, main

FORMAT = 1  # of the cells' files


@dataclass(frozen=True)
class Plan:
    """What to run and where to keep it."""

    references: Sequence[str]
    out: Path
    quick: bool = False
    folder: str | None = None
    seed: int = 0
    jobs: int = 1
    fresh: bool = False

    def experiments(self) -> list[Experiment]:
        return [find(reference).at(self.quick) for reference in self.references]

    def shelf(self) -> Shelf:
        return Shelf(self.folder, small=self.quick)


@dataclass(frozen=True)
class Slot:
    """A cell, its file, and how to ask a worker for it."""

    cell: Cell
    path: Path
    task: Task
    timeout: float


def slots(plan: Plan) -> list[list[Slot]]:
    """Every cell of every experiment with its file."""
    shelf = plan.shelf()
    found = []
    for reference, experiment in zip(plan.references, plan.experiments(), strict=True):
        salt = f"{FORMAT} {dg.__version__} {experiment.salt()}"
        here = []
        for index, cell in enumerate(experiment.cells(plan.seed)):
            kind = f"{salt} {shelf.describe(cell.sample.name)} {plan.quick and not shelf.is_real(cell.sample.name)}"
            path = plan.out / "cells" / experiment.name / f"{cell.key(kind)}.json"
            here.append(Slot(cell, path, Task(reference, plan.quick, plan.seed, index), experiment.timeout))
        found.append(here)
    return found


def run(plan: Plan) -> bool:
    """Runs what is not done yet; False when it was interrupted. Whatever happens, finished cells are on disk."""
    from tqdm import tqdm

    every = [slot for group in slots(plan) for slot in group]
    todo = [slot for slot in every if plan.fresh or stored(slot.path).get("status") != "done"]
    with tqdm(total=len(every), initial=len(every) - len(todo), unit="cell", disable=None, dynamic_ncols=True) as bar:
        try:
            with contextlib.closing(outcomes(todo, plan)) as stream:
                for slot, outcome in stream:
                    keep(slot, outcome)
                    bar.set_postfix_str(f"{slot.cell.experiment} · {slot.cell.method.title}", refresh=False)
                    bar.update()
                    _say(slot, outcome, bar)
        except KeyboardInterrupt:
            return False
    return True


def _say(slot: Slot, outcome: dict[str, Any], bar: Any) -> None:
    if outcome["status"] in ("failed", "timeout"):
        line = f"lab: {slot.cell.experiment}, {slot.cell.method.title}: {outcome['status']}: {outcome['error']}"
        bar.write(line, file=sys.stderr)


def keep(slot: Slot, outcome: dict[str, Any]) -> None:
    """Writes an outcome so that a kill leaves the old file or the new one."""
    slot.path.parent.mkdir(parents=True, exist_ok=True)
    cell = slot.cell
    about: dict[str, Any] = {"experiment": cell.experiment, "sample": cell.sample.title, "method": cell.method.title}
    about |= {"problem": dict(cell.problem), "setting": dict(cell.setting), "seed": cell.seed}
    temporary = slot.path.with_suffix(f".{os.getpid()}.part")
    temporary.write_text(json.dumps({**about, **outcome}, default=_plain), encoding="utf-8")
    os.replace(temporary, slot.path)


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON knows them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def stored(path: Path) -> dict[str, Any]:
    """An outcome from its file; nothing where there is none or it is not readable."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def collect(plan: Plan) -> list[Records]:
    """What is on disk, as records; cells without a file are "not run"."""
    found = []
    for experiment, group in zip(plan.experiments(), slots(plan), strict=True):
        rows = []
        for slot in group:
            outcome = stored(slot.path)
            rows.append(
                Record(slot.cell, outcome.get("status", "not run"), outcome.get("values", {}), outcome.get("error", ""))
            )
        found.append(Records(experiment, rows))
    return found


@dataclass
class Worker:
    """A process, the pipe to it, and what it is busy with."""

    process: Any
    pipe: Connection
    slot: Slot | None = None
    deadline: float = field(default=float("inf"))

    @classmethod
    def start(cls, plan: Plan) -> Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=main, args=(theirs, plan.folder, plan.quick), daemon=True)
        process.start()
        theirs.close()
        return cls(process, ours)

    def give(self, slot: Slot) -> None:
        self.slot, self.deadline = slot, time.monotonic() + slot.timeout
        self.pipe.send(slot.task)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def outcomes(todo: Sequence[Slot], plan: Plan) -> Generator[tuple[Slot, dict[str, Any]]]:
    """Outcomes as they come, from `jobs` workers; one that dies or hangs is replaced."""
    queue = deque(todo)
    workers: list[Worker] = []
    try:
        while queue or any(worker.slot for worker in workers):
            while queue and len(workers) < max(1, plan.jobs):
                workers.append(Worker.start(plan))
                workers[-1].give(queue.popleft())
            soonest = min(worker.deadline for worker in workers) - time.monotonic()
            ready = wait([worker.pipe for worker in workers], timeout=max(0.0, min(soonest, 1.0)))
            for worker in list(workers):
                outcome = _outcome(worker, worker.pipe in ready)
                if outcome is None or worker.slot is None:
                    continue
                yield worker.slot, outcome
                worker.slot, worker.deadline = None, float("inf")
                alive = outcome["status"] != "timeout" and not outcome.get("died")
                if alive and queue:
                    worker.give(queue.popleft())
                else:
                    worker.end()
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.end()


def _outcome(worker: Worker, ready: bool) -> dict[str, Any] | None:
    """What a worker says, or what its silence means."""
    if ready:
        try:
            answer: dict[str, Any] = worker.pipe.recv()
            return answer
        except (EOFError, ConnectionResetError):
            worker.process.join(5)
            code = worker.process.exitcode
            how = f"signal {-code}" if code is not None and code < 0 else f"exit status {code}"
            return {"status": "failed", "values": {}, "error": f"the process died ({how})", "took": 0.0, "died": True}
    if worker.slot is not None and time.monotonic() > worker.deadline:
        limit = worker.slot.timeout
        return {"status": "timeout", "values": {}, "error": f"no answer within {limit:g} s", "took": limit}
    return None
