"""The stages after the run: results.json and CSV, the figures, and one page that needs nothing from outside."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import platform
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dualgap as dg
from dualgap.lab import palette
from dualgap.lab.data import Shelf
from dualgap.lab.declare import Note
from dualgap.lab.figures import draw_all
from dualgap.lab.results import Record, Records, number
from dualgap.lab.runner import Plan, collect
from dualgap.lab.verdict import Verdict, decide

SHOWN_LOST = 12  # lines of missing cells an experiment shows


@dataclass(frozen=True)
class Written:
    """Where the page is and what it says, in a few lines for the terminal."""

    page: Path
    summary: str


@dataclass(frozen=True)
class Section:
    """An experiment as the page shows it."""

    records: Records
    verdict: Verdict
    figures: Sequence[str]
    data: Sequence[tuple[str, str]]
    notes: Sequence[Note]
    broken: str = ""

    @property
    def experiment(self) -> Any:
        return self.records.experiment

    @property
    def stands_in(self) -> bool:
        return any(kind != "real data" for _, kind in self.data)

    @property
    def lost(self) -> list[tuple[str, int]]:
        """What is missing, the same reason of the same method once with its count."""
        groups: dict[str, list[Record]] = {}
        for row in self.records.lost:
            groups.setdefault(f"{row.cell.method.title}: {row.error or row.status}", []).append(row)
        rows = [(f"{reason} ({_where(some)})", len(some)) for reason, some in groups.items()]
        rest = sum(count for _, count in rows[SHOWN_LOST:])
        return [*rows[:SHOWN_LOST], *([("others", rest)] if rest else [])]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """What was run, in words."""
        cells = [row.cell for row in self.records]
        sizes = {(row.get("rows"), row.get("columns")) for row in self.records.done}
        shapes = sorted(f"{rows:,} × {columns:,}" for rows, columns in sizes if rows)
        facts = [("data", "; ".join(f"{name} ({kind})" for name, kind in self.data))]
        facts.append(("training rows × columns", ", ".join(shapes[:8]) + (", …" if len(shapes) > 8 else "") or "–"))
        facts.append(("problem", "; ".join(_words(problem) for problem in self.experiment.problems)))
        facts.append(("settings", "; ".join(_words(setting) for setting in self.experiment.settings)))
        facts.append(("methods", ", ".join(method.title for method in self.experiment.methods)))
        seeds = sorted({cell.seed for cell in cells})
        facts.append(("repeats", f"{self.experiment.repeats}, seeds {seeds[0]} to {seeds[-1]}" if seeds else "none"))
        facts.append(("cells", f"{len(self.records.done)} of {len(cells)} done"))
        return [*facts, ("how", self.experiment.how)] if self.experiment.how else facts


def _words(values: Any) -> str:
    return ", ".join(f"{name} = {number(v) if isinstance(v, float) else v}" for name, v in values.items()) or "as it is"


def _where(rows: Sequence[Record]) -> str:
    return "; ".join(dict.fromkeys(row.cell.sample.title for row in rows))


def write(plan: Plan) -> Written:
    """Every stage, from the stored cells to the page."""
    shelf, figures = plan.shelf(), plan.out / "figures"
    sections = [_section(records, shelf, figures) for records in collect(plan)]
    about = _about(plan)
    (plan.out / "results.json").write_text(_json(sections, about), encoding="utf-8")
    _csv(plan.out / "results.csv", sections)
    _curves_csv(plan.out / "curves.csv", sections)
    page = plan.out / "index.html"
    page.write_text(_page(sections, about), encoding="utf-8")
    return Written(page, _terminal(sections, page))


def _section(records: Records, shelf: Shelf, folder: Path) -> Section:
    data = [(name, shelf.describe(name)) for name in dict.fromkeys(row.cell.sample.name for row in records)]
    figures: list[str] = []
    notes: list[Note] = []
    broken = ""
    try:
        figures = draw_all(list(records.experiment.panels(records)), records.experiment.name, folder)
    except Exception as problem:  # a figure that cannot be drawn is said, and the rest comes out
        broken = f"The figure could not be drawn: {type(problem).__name__}: {problem}"
    with contextlib.suppress(Exception):  # a table over missing cells
        notes = list(records.experiment.notes(records))
    return Section(records, decide(records), figures, data, notes, broken)


def _about(plan: Plan) -> dict[str, str]:
    """The run and the machine."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        dg.show_config()
    config = [line.split(None, 1) for line in stream.getvalue().splitlines() if " " in line.strip()]
    about = {
        "run": f"{'quick' if plan.quick else 'full'}, {plan.jobs} cells at once, one thread each",
        "seed": str(plan.seed),
        "data": "a folder of real sets" if plan.folder and Path(plan.folder).is_dir() else "no folder: stand-ins",
        "written": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "processor": f"{_processor()}, {os.cpu_count()} cores",
    }
    return {**about, **{name: value.strip() for name, value in config}}


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def _json(sections: Sequence[Section], about: dict[str, str]) -> str:
    experiments = [
        {
            "name": s.experiment.name,
            "title": s.experiment.title,
            "source": s.experiment.source,
            "verdict": s.verdict.word,
            "sentence": s.verdict.sentence,
            "checks": [vars(check) for check in s.verdict.checks],
            "data": dict(s.data),
            "cells": [{**_flat(row), "status": row.status, "error": row.error, **row.values} for row in s.records],
        }
        for s in sections
    ]
    return json.dumps({"about": about, "experiments": experiments}, indent=1, default=str, ensure_ascii=False)


def _flat(row: Record) -> dict[str, Any]:
    """A cell's coordinates as one flat row."""
    cell = row.cell
    flat: dict[str, Any] = {"experiment": cell.experiment, "data": cell.sample.name, "sample": cell.sample.title}
    flat |= {"method": cell.method.title, "solver": cell.method.solver, "repeat": cell.repeat, "seed": cell.seed}
    return (
        flat | {f"problem.{k}": v for k, v in cell.problem.items()} | {f"set.{k}": v for k, v in cell.setting.items()}
    )


def _csv(path: Path, sections: Sequence[Section]) -> None:
    """One line a cell, every number that is one."""
    rows = []
    for section in sections:
        for row in section.records:
            scalars = {k: v for k, v in row.values.items() if isinstance(v, (int, float, str)) or v is None}
            rows.append({**_flat(row), "status": row.status, "error": row.error, **scalars})
    header = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        writer.writerows(rows)


def _curves_csv(path: Path, sections: Sequence[Section]) -> None:
    """Every traced point, in long form."""
    columns = ("epoch", "seconds", "primal", "dual", "relative_gap")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("experiment", "sample", "method", "loss", "repeat", *columns))
        for section in sections:
            for row in section.records.done:
                line = row.get("curve") or {}
                about = (
                    row.cell.experiment,
                    row.cell.sample.title,
                    row.cell.method.title,
                    row.cell.problem.get("loss"),
                )
                for values in zip(*(line.get(name, []) for name in columns), strict=False):
                    writer.writerow((*about, row.cell.repeat, *values))


def _page(sections: Sequence[Section], about: dict[str, str]) -> str:
    import jinja2

    loader = jinja2.FileSystemLoader(Path(__file__).parent)
    environment = jinja2.Environment(loader=loader, autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["glued"] = glued
    template = environment.get_template("page.html.jinja")
    words = Counter(section.verdict.word for section in sections)
    return template.render(
        sections=sections, about=about, words=words, light=palette.variables(0), dark=palette.variables(1)
    )


def glued(text: str) -> str:
    """Numbers stay on one line with their units and their signs."""
    text = re.sub(r"(?<=\d) (?=(?:%|s|ms|µs|times|points|rows|cells|parts|fits)\b|%)", "\u00a0", text)
    return re.sub(r"(?<=\w) ([=±≤]) (?=\S)", "\u00a0\\1\u00a0", text)


def _terminal(sections: Sequence[Section], page: Path) -> str:
    lines = [f"{s.verdict.mark} {s.experiment.name:<13} {s.verdict.sentence}" for s in sections]
    lost = sum(len(s.records.lost) for s in sections)
    if lost:
        lines.append(f"{lost} cells are missing; the page says which and why.")
    return "\n".join([*lines, f"report: {page}"])
