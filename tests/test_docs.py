"""What is written runs: docstrings, and Python on the pages; links lead somewhere; house rules hold."""

import doctest
import importlib
import inspect
import pkgutil
import re
import runpy
from pathlib import Path

import pytest

import dualgap as dg

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
FOLDERS = ("src", "tests", "benchmarks", "docs", "examples", ".ci")
FILES = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".cpp", ".hpp", ".inl", ".md", ".svg", ".html", ".js", ".css"}
    and "__pycache__" not in path.parts
)
MODULES = sorted(m.name for m in pkgutil.walk_packages(dg.__path__, "dualgap.") if not m.name.endswith("__main__"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def relative(path):
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("name", ["dualgap", *MODULES])
def test_examples_in_docstrings_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name != "dualgap._core":
        assert doctest.testmod(importlib.import_module(name), optionflags=OPTIONS).failed == 0


@pytest.mark.parametrize("name", sorted(set(dg.__all__) - {"__version__"}))
def test_what_people_call_has_an_example(name):
    thing = getattr(dg, name)
    returned = {"Result", "Status", "Trace"}  # nobody makes these
    if inspect.isclass(thing) and (issubclass(thing, Exception) or name in returned):
        assert thing.__doc__
    else:
        assert ">>>" in thing.__doc__


def python_blocks(path):
    return re.findall(r"^```python\n(.*?)^```", path.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_python_on_the_pages_runs(path, tmp_path, monkeypatch):
    """Blocks of a page share their names, as a reader who types them would have it."""
    monkeypatch.chdir(tmp_path)
    import matplotlib

    matplotlib.use("Agg")
    names: dict = {"__name__": "__page__"}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    for block in python_blocks(path):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, names, relative(path), str(path), 0)
            runner.run(test, clear_globs=False)
            names = test.globs
        else:
            exec(compile(block, relative(path), "exec"), names)
    assert runner.summarize().failed == 0


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'(?:src|href)="([^"#]+)"', text):
        if not re.match(r"[a-z]+:", target):
            assert (path.parent / target).exists(), target


@pytest.mark.parametrize("path", PAGES, ids=relative)
def test_commands_on_the_pages_exist(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z-]+)`", path.read_text())) <= targets


def test_the_page_of_solvers_is_what_the_registries_say():
    made = runpy.run_path(str(ROOT / "docs" / "make_tables.py"))["text"]()
    assert (ROOT / "docs" / "solvers.md").read_text() == made, "run `python docs/make_tables.py`"


UNFINISHED = ["TO" + "DO", "FIX" + "ME", "mark.x" + "fail", "mark.sk" + "ip", "NotImplemented" + "Error"]
PLACES = ["/ro" + "ot/", "/wo" + "rk/", "/ho" + "me/"]


@pytest.mark.parametrize("path", [*FILES, *ROOT.glob("*.md")], ids=relative)
def test_house_rules(path):
    text = path.read_text()
    for word in UNFINISHED + PLACES:
        assert word not in text, word
    if path.suffix != ".svg":
        assert len(text.splitlines()) < 700
