"""`python -m benchmarks run [--full] [--section NAME ...]`, then `table`, `plot`, `pages`; results go to bench-out/.

A section is a module here with SECTION (its title) and run(full) → a list of rows (dictionaries); it may have
summary(rows) → lines and plot(rows, path). Real sets are used where DUALGAP_DATA names their folder, generated ones
otherwise.
"""

from __future__ import annotations

import argparse
import importlib
import json
import platform
import time
from pathlib import Path
from typing import Any

from . import pages, report

OUT = Path("bench-out")
SECTIONS = (
    "race",
    "easy",
    "hard",
    "large",
    "stalls",
    "unscaled",
    "threads",
    "algorithms_descent",
    "algorithms_newton",
    "kernel",
    "files",
)


def modules(names: list[str]) -> dict[str, Any]:
    return {name: importlib.import_module(f"benchmarks.{name}") for name in SECTIONS if not names or name in names}


def machine() -> str:
    import dualgap
    from dualgap import _core
    from dualgap.config import available_threads

    name = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        found = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        name = found[0].split(":")[1].strip() if found else name
    return f"{name}, {available_threads()} cores, {_core.simd_level()}, dualgap {dualgap.__version__}"


def run(full: bool, names: list[str]) -> None:
    OUT.mkdir(exist_ok=True)
    for name, module in modules(names).items():
        print(f"{module.SECTION}", flush=True)
        start = time.perf_counter()
        rows = module.run(full)
        about = {"section": module.SECTION, "machine": machine(), "date": time.strftime("%Y-%m-%d"), "full": full}
        about["minutes"] = round((time.perf_counter() - start) / 60, 1)
        text = json.dumps({**about, "rows": rows}, default=_plain, indent=1)
        (OUT / f"{name}.json").write_text(text)
        print(*summary(module, rows), f"({about['minutes']} minutes)", sep="\n", flush=True)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def summary(module: Any, rows: list[dict[str, Any]]) -> list[str]:
    return module.summary(rows) if hasattr(module, "summary") and rows else []


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("stages", nargs="+", choices=("run", "table", "plot", "pages"))
    parser.add_argument("--full", action="store_true", help="all sets and cells; hours, not minutes")
    parser.add_argument("--section", nargs="*", default=[], help="only these modules")
    options = parser.parse_args()
    if "run" in options.stages:
        run(options.full, options.section)
    found = {name: module for name, module in modules(options.section).items() if (OUT / f"{name}.json").exists()}
    results = {name: json.loads((OUT / f"{name}.json").read_text()) for name in found}
    if "table" in options.stages:
        text = report.tables(results, {name: summary(module, results[name]["rows"]) for name, module in found.items()})
        (OUT / "tables.md").write_text(text)
        print(text)
    if "plot" in options.stages:
        print(*report.plots(results, OUT), sep="\n")
        for name in [n for n in found if hasattr(found[n], "plot")]:
            found[name].plot(results[name]["rows"], OUT / f"{name}.png")
            print(OUT / f"{name}.png")
    if "pages" in options.stages:
        pages.write(results, OUT)


if __name__ == "__main__":
    main()
