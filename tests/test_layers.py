"""Who may know whom, as docs/architecture.md draws it: C++ by its includes, Python solvers by their imports.

The Python layers themselves are import-linter's contract in pyproject.toml.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE = ROOT / "src" / "core"

# room -> the rooms it may include from, besides itself
ROOMS = {
    "base": set(),
    "simd": {"base"},
    "rows": {"base", "simd"},
    "passes": {"base", "simd", "rows"},
    "mercer": {"base", "simd", "rows", "passes"},
    "losses": {"base"},
    "problem": {"base", "simd", "rows", "passes", "mercer", "losses"},
    "judge": {"base", "rows", "passes", "mercer", "losses", "problem"},
    "solvers": {"base", "simd", "rows", "passes", "mercer", "losses", "problem", "judge"},
    "text": {"base"},
}
# what all solvers share; any other header in solvers/ is one solver's own
SHARED = {"control.hpp", "answer.hpp", "asking.hpp", "descent.hpp", "pair_descent.hpp", "pairs.hpp"}
SOURCES = sorted(p for p in CORE.rglob("*") if p.suffix in {".hpp", ".cpp", ".inl"})


def includes(path):
    return re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE)


def family(name):
    """newton.hpp, newton_system.hpp and newton.cpp are one solver's."""
    return re.split(r"[_.]", name)[0]


def offences(room, name, included):
    """Why a file of this room and name must not include these, or nothing."""
    for header in included:
        other, _, file = header.rpartition("/")
        if other not in ROOMS:
            yield f"{header} is in no room"
        elif other != room and other not in ROOMS[room]:
            yield f"{room} must not know {other} ({header})"
        elif room == other == "solvers" and file not in SHARED and family(file) != family(name):
            yield f"a solver must not know another solver ({header})"


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CORE)))
def test_includes_go_one_way(path):
    assert not list(offences(path.parent.name, path.stem, includes(path)))


def test_the_check_of_includes_can_fail():
    assert list(offences("judge", "judge", ["solvers/control.hpp"]))
    assert list(offences("solvers", "dcd", ["solvers/newton.hpp"]))
    assert not list(offences("solvers", "dcd", ["solvers/dcd.hpp", "judge/judge.hpp"]))


def test_the_rooms_have_no_cycle():
    for room, known in ROOMS.items():
        assert all(room not in ROOMS[other] for other in known)


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CORE)))
def test_the_core_neither_prints_nor_knows_python(path):
    text = path.read_text()
    for word in ("iostream", r"\bf?printf\(", r"Python\.h", "nanobind", r"\brand\("):
        assert not re.search(word, text), word


@pytest.mark.parametrize("path", sorted((ROOT / "src/dualgap/solvers").glob("*.py")), ids=lambda p: p.stem)
def test_a_python_solver_knows_no_other(path):
    if path.stem in {"__init__", "auto"}:  # auto calls solvers in turn
        return
    for node in ast.walk(ast.parse(path.read_text())):
        module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
        if module and module.startswith("dualgap.solvers."):
            assert module.rsplit(".", 1)[1].startswith("_"), f"{path.name} imports {module}"


@pytest.mark.parametrize("path", [p for p in SOURCES if p.suffix != ".hpp"], ids=lambda p: str(p.relative_to(CORE)))
def test_files_are_short_enough_to_read(path):
    assert len(path.read_text().splitlines()) < 700
