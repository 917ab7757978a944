"""``dualgap lab``: run experiments, keep their numbers, draw the figures, write the page."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from dualgap.lab.catalogue import NAMES, UnknownExperiment, find

INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "experiments", nargs="*", metavar="EXPERIMENT", help="names (see --list) or .py files; all if none"
    )
    parser.add_argument("--list", action="store_true", help="list the experiments and stop")
    parser.add_argument("--out", default="lab-out", metavar="DIR", help="where everything goes (default: lab-out)")
    parser.add_argument("--quick", action="store_true", help="smaller: all within 5 minutes on two cores")
    parser.add_argument("--data", metavar="DIR", help="folder of NAME.npz.xz sets (default: $DUALGAP_DATA)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="first seed; repeats count on from it")
    parser.add_argument("--jobs", type=int, metavar="N", help="cells at once (default: the cores)")
    parser.add_argument("--fresh", action="store_true", help="run finished cells again")
    parser.add_argument("--report", action="store_true", help="run nothing: make the page from what is stored")


def run(args: argparse.Namespace) -> int:
    """Exit status: 0 the report is there, 1 it cannot be, 2 wrong usage, 130 interrupted (the report is there)."""
    if args.list:
        for name in NAMES:
            print(f"{name:<13} {find(name).source:<16} {find(name).title}")
        return 0
    references = args.experiments or list(NAMES)
    try:
        for reference in references:
            find(reference)
    except UnknownExperiment as wrong:
        print(f"dualgap lab: {wrong}", file=sys.stderr)
        return 2
    folder = args.data or os.environ.get("DUALGAP_DATA", "").split(os.pathsep)[0] or None
    if folder and not Path(folder).is_dir():
        print(f"dualgap lab: no folder {folder}; stand-ins are used for every set.", file=sys.stderr)
    try:
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401
    except ImportError as missing:
        print(f"dualgap lab: {missing.name} is not installed; pip install 'dualgap[lab]'.", file=sys.stderr)
        return 1
    return _run(args, references, folder)


def _run(args: argparse.Namespace, references: list[str], folder: str | None) -> int:
    from dualgap.lab.report import write
    from dualgap.lab.runner import Plan
    from dualgap.lab.runner import run as run_cells

    jobs = args.jobs or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    plan = Plan(list(dict.fromkeys(references)), Path(args.out), args.quick, folder, args.seed, jobs, args.fresh)
    try:
        plan.out.mkdir(parents=True, exist_ok=True)
        whole = True if args.report else run_cells(plan)
        if not whole:
            print("dualgap lab: interrupted; writing the report of what is there.", file=sys.stderr)
        written = write(plan)
    except OSError as problem:
        print(f"dualgap lab: {problem}", file=sys.stderr)
        return 1
    print(written.summary)
    return 0 if whole else INTERRUPTED


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="dualgap lab", description="Redo the documents' experiments as a report.")
    add_arguments(parser)
    return run(parser.parse_args(arguments))
