"""The lab: its declarations, its runner under failure, its data, and the page in a browser."""

from __future__ import annotations

import ast
import dataclasses
import io
import json
import lzma
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")

from dualgap.lab import Check, Experiment, Method, Sample, fit
from dualgap.lab.catalogue import NAMES, find
from dualgap.lab.cli import main
from dualgap.lab.data import Shelf
from dualgap.lab.figures import apart, draw_all, log_ticks, tick
from dualgap.lab.palette import SOLVERS
from dualgap.lab.report import glued
from dualgap.lab.results import Record, Records, number, power, power_law, seconds
from dualgap.lab.verdict import decide
from dualgap.lab.worker import run_cell

ROOT = Path(__file__).parent.parent
TROUBLE = """
import os, time
from dualgap.lab import Check, Experiment, Method, Sample, dots

def measure(case):
    does = case.method.solver
    if does == "raises": raise ValueError("the solver fell over")
    if does == "dies": os.kill(os.getpid(), 11)
    if does == "hangs": time.sleep(60)
    time.sleep(case.setting["wait"])
    return {"seconds": 0.5 + case.seed}

EXPERIMENT = Experiment(
    name="trouble", title="Trouble", question="q", claim="c", source="here", data=[Sample("german.numer", rows=50)],
    methods=[Method(name) for name in METHODS], settings=[{"wait": WAIT}], measure=measure, repeats=REPEATS,
    timeout=LIMIT,
    panels=lambda records: [dots(records, "seconds", "times", "time", xunit="s")],
    checks=lambda records: [Check("it works", len(records.done) > 0, f"{len(records.done)} done")],
)
"""


def trouble(folder: Path, methods: list[str], *, wait: float = 0.0, repeats: int = 1, limit: float = 20) -> str:
    path = folder / "trouble.py"
    head = f"METHODS, WAIT, REPEATS, LIMIT = {methods!r}, {wait}, {repeats}, {limit}\n"
    path.write_text(head + TROUBLE)
    return str(path)


def environment(**more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "DUALGAP_DATA"}
    return {**kept, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path), **more}


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "dualgap.lab", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment(), start_new_session=True
    )


class Page(HTMLParser):
    """What a reader of the page can reach: ids, links, figures."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.outside: list[str] = []
        self.figures: dict[str, int] = {}
        self.section = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.ids.append(str(found["id"]))
        if tag == "section":
            self.section = str(found.get("id"))
            self.figures[self.section] = 0
        if tag == "svg" and self.section:
            self.figures[self.section] += 1
        if tag == "a":
            self.links.append(str(found.get("href")))
        if tag in ("script", "img", "link", "iframe", "source") and re.match(
            r"(https?:)?//", str(found.get("src") or found.get("href") or "")
        ):
            self.outside.append(str(found))


# ---- declarations


@pytest.mark.parametrize("name", NAMES)
def test_every_experiment_runs_small_and_without_cells(name: str, tmp_path: Path) -> None:
    """On stand-ins cut to a few rows every cell is done, the figure is drawn, a verdict is reached;
    and with no cell at all the verdict is that there is none."""
    declared = find(name).at(True)
    short = {"max_time": 0.15, "snapshots": 3, "best_of": 1, "peer_max_iter": 100}
    experiment = dataclasses.replace(
        declared,
        data=[dataclasses.replace(sample, rows=min(sample.rows or 150, 150), test=60) for sample in declared.data[:2]],
        settings=[
            {**each, **{k: v for k, v in short.items() if k in each or k == "best_of"}}
            for each in declared.settings[-2:]
        ],
        repeats=1,
    )
    shelf = Shelf(None, small=True)
    rows = []
    for cell in experiment.cells(3):
        outcome = run_cell(experiment, cell, shelf)
        assert outcome["status"] == "done", outcome["error"]
        rows.append(
            Record(
                cell,
                outcome["status"],
                json.loads(json.dumps(outcome["values"], default=np.ndarray.tolist)),
                outcome["error"],
            )
        )
    records = Records(experiment, rows)
    drawn = draw_all(list(experiment.panels(records)), name, tmp_path)
    assert drawn and all((tmp_path / f"{name}.{kind}").stat().st_size > 2000 for kind in ("svg", "png"))
    assert not re.search(r"#[0-9a-f]{6}[;\"]", drawn[0]), "a colour that does not follow the page"
    verdict = decide(records)
    assert not any("Error" in check.number for check in verdict.checks), verdict.checks
    for note in experiment.notes(records):
        assert all(len(row) == len(note.header) for row in note.rows)
    nothing = decide(Records(experiment, [Record(cell) for cell in experiment.cells(3)]))
    assert nothing.word == "not decided" and not any("Error" in check.number for check in nothing.checks), nothing


def test_the_lab_uses_the_public_surface_only() -> None:
    import dualgap

    for path in (ROOT / "src/dualgap/lab").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dualgap"):
                assert (node.module or "").startswith("dualgap.lab"), f"{path.name} imports {node.module}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "dg":
                assert node.attr in dualgap.__all__, f"{path.name} uses dg.{node.attr}"


def test_colours_are_distinct_and_every_solver_has_one() -> None:
    import dualgap as dg

    assert {solver.name for solver in dg.solvers()} <= set(SOLVERS)
    for theme in (0, 1):
        assert len({pair[theme] for pair in SOLVERS.values()}) == len(SOLVERS)


def test_a_cell_changes_its_name_with_anything_that_changes_its_numbers() -> None:
    cell = find("heart").cells(0)[0]
    other = [
        dataclasses.replace(cell, seed=1),
        dataclasses.replace(cell, setting={"tol": 1e-4}),
        dataclasses.replace(cell, sample=dataclasses.replace(cell.sample, rows=31)),
        dataclasses.replace(cell, method=dataclasses.replace(cell.method, options={"order": "random"})),
    ]
    assert len({each.key("a") for each in [cell, *other]} | {cell.key("b")}) == 6


# ---- numbers


def test_verdicts() -> None:
    def word(*holds: bool | None) -> str:
        checks = [Check("c", each, "7 of 9") for each in holds]
        experiment = dataclasses.replace(find("heart"), checks=lambda records: checks)
        return decide(Records(experiment, [])).word

    assert word(True, True) == "holds" and word(True, None) == "holds"
    assert word(True, False) == "holds partly"
    assert word(False) == "does not hold" and word(False, None) == "does not hold"
    assert word(None) == word() == "not decided"
    broken = dataclasses.replace(find("heart"), checks=lambda records: 1 / 0)
    assert decide(Records(broken, [])).word == "not decided"


def test_numbers_as_people_write_them() -> None:
    assert [number(v) for v in (0.25, 1234.0, 2e-5, 1e-7, 0.0)] == ["0.25", "1,200", "2.0·10⁻⁵", "10⁻⁷", "0"]
    assert [seconds(v) for v in (2e-5, 0.012, 3.25, None)] == ["20 µs", "12 ms", "3.25 s", "–"]
    assert [power(v) for v in (1e-3, 0.1, 0.03)] == ["10⁻³", "10⁻¹", "0.03"]
    assert [tick(v, "log", u) for v, u in ((1e-3, "s"), (0.5, "%"), (1e-4, ""), (5000, ""))] == [
        "1 ms",
        "50 %",
        "10⁻⁴",
        "5,000",
    ]
    x = np.array([1.0, 2, 4, 8, 16])
    found = power_law(x, 3 * x**1.5 * np.array([1.01, 0.99, 1, 1.01, 0.99]))
    assert found and found.low < 1.5 < found.high and abs(found.slope - 1.5) < 0.02


@pytest.mark.parametrize("high", [2e-3, 7e-3, 0.05, 3.0, 1e5])
def test_ticks_of_a_logarithmic_axis_keep_apart(high: float) -> None:
    found = np.array(log_ticks(1.1e-3, high, 0.2))
    assert 2 <= len(found) <= 6 and found[0] >= 1.1e-3 and found[-1] <= high
    assert np.diff(np.log(found)).min() >= 0.2 * np.log(high / 1.1e-3)


def test_a_number_stays_with_its_unit() -> None:
    assert glued("76.2 % after 930 ms, q = 40") == "76.2\u00a0% after 930\u00a0ms, q\u00a0=\u00a040"
    assert glued("2 samples") == "2 samples"


def test_a_peer_is_drawn_by_whole_fits() -> None:
    """With `watch` a peer's curve is fits from the start with more and more iterations, each judged."""
    experiment = Experiment(
        name="x", title="", question="", claim="", source="", data=[Sample("heart", test=0.3, prepare="standard")],
        methods=[Method("sklearn:LinearSVC", options={"dual": True}, problem={"intercept": "regularized"})],
        settings=[{"tol": 1e-3, "watch": True, "peer_iterations": (1, 10, 1000)}], repeats=1, measure=fit,
        panels=lambda records: [], checks=lambda records: [],
    )  # fmt: skip
    values = run_cell(experiment, experiment.cells(0)[0], Shelf(None))["values"]
    assert values["curve"]["epoch"] == [1.0, 10.0, 1000.0] and len(values["watched"]["accuracy"]) == 3
    primal = values["curve"]["primal"]
    assert primal[2] < primal[0] and values["primal"] == primal[2] and values["test_accuracy"] > 0.6


def test_labels_do_not_touch() -> None:
    placed = apart([0.5, 0.5, 0.51, 0.99, 1.0], 0.1, 0.0, 1.0)
    assert np.diff(placed).min() > 0.0999 and placed[-1] <= 1.0


# ---- data


def put(folder: Path, name: str, **arrays: object) -> None:
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # type: ignore[arg-type]
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.npz.xz").write_bytes(lzma.compress(stream.getvalue()))


def test_stored_sets_are_read(tmp_path: Path) -> None:
    X = np.array([[1, 20], [3, 40], [5, 90], [2, 30]], np.int16)
    put(tmp_path / "sub", "covtype", X=X, y=np.array([2, 1, 2, 7], np.int8))
    put(tmp_path, "words.counts", data=[2], indices=[0, 1, 1], rownnz=[2, 1], shape=[2, 3], y=[0, 1])
    shelf = Shelf(str(tmp_path))
    got, y, _, _ = shelf.sample(Sample("covtype.binary.scale"), 0)
    assert np.allclose(got, (X - X.min(0)) / np.ptp(X, axis=0)) and list(y) == [1, -1, 1, -1]
    words, _, _, _ = shelf.sample(Sample("words"), 0)
    weights = np.log(3 / np.array([2, 3, 1])) + 1
    first = np.array([2 * weights[0], 2 * weights[1], 0])
    assert sp.issparse(words) and np.allclose(words.toarray()[0], first / np.linalg.norm(first))
    assert shelf.describe("words") == shelf.describe("covtype.binary") == "real data"
    assert "stand-in" in shelf.describe("heart") and "scikit-learn ships" in shelf.describe("bloodcells")


def test_samples_are_disjoint_seeded_and_prepared() -> None:
    shelf = Shelf(None, small=True)
    wanted = Sample("heart", rows=100, test=50, columns=5, prepare="standard")
    X, y, X_test, y_test = shelf.sample(wanted, 1)
    assert X.shape == (100, 5) and X_test.shape == (50, 5) and set(y) | set(y_test) <= {-1.0, 1.0}
    assert np.allclose(X.mean(0), 0) and np.allclose(X.std(0), 1)
    assert np.array_equal(X, shelf.sample(wanted, 1)[0]) and not np.array_equal(X, shelf.sample(wanted, 2)[0])
    raw, _, raw_test, _ = shelf.sample(dataclasses.replace(wanted, prepare="as is", columns=None), 1)
    assert not {tuple(row) for row in raw} & {tuple(row) for row in raw_test}


def test_a_data_file_that_is_broken_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "german.numer.npz.xz").write_bytes(b"not xz")
    source = trouble(tmp_path, ["fine"])
    assert main([source, "--out", str(tmp_path / "out"), "--data", str(tmp_path), "--jobs", "1"]) == 0
    page = (tmp_path / "out/index.html").read_text(encoding="utf-8")
    assert "LZMAError" in page and "Missing here" in page
    assert "LZMAError" in capsys.readouterr().err


# ---- trouble


def test_a_cell_may_fail_die_or_hang(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, out = trouble(tmp_path, ["raises", "dies", "hangs", "fine"], limit=4), tmp_path / "out"
    assert main([source, "--out", str(out), "--jobs", "2", "--data", str(tmp_path / "no such folder")]) == 0
    said = capsys.readouterr()
    assert "3 cells are missing" in said.out and "stand-ins are used" in said.err
    found = {row["method"]: row for row in json.loads((out / "results.json").read_text())["experiments"][0]["cells"]}
    assert {name: row["status"] for name, row in found.items()} == {
        "raises": "failed", "dies": "failed", "hangs": "timeout", "fine": "done",
    }  # fmt: skip
    page = (out / "index.html").read_text(encoding="utf-8")
    for words in (
        "the solver fell over",
        "signal 11",
        "no answer within 4 s",
        "stand-in data: german.numer is a generated",
    ):
        assert words in page, words
    assert (out / "results.csv").read_text().count("\n") == 5


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    source, out = trouble(tmp_path, ["a", "b"], wait=0.4, repeats=6), tmp_path / "out"
    arguments = (source, "--out", str(out), "--jobs", "2")
    first, deadline = start(*arguments), time.monotonic() + 60
    while len(list(out.glob("cells/trouble/*.json"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(first.pid, how) if how == signal.SIGKILL else os.kill(first.pid, how)
    said = first.communicate(timeout=60)[1]
    before = {path: path.stat().st_mtime_ns for path in out.glob("cells/trouble/*.json")}
    assert 2 <= len(before) < 12
    if how == signal.SIGINT:
        assert first.returncode == 130 and "interrupted" in said and "Traceback" not in said
        assert "not run" in (out / "index.html").read_text(encoding="utf-8")
    second = start(*arguments)
    assert "12 done" in second.communicate(timeout=120)[0] and second.returncode == 0
    assert {path: path.stat().st_mtime_ns for path in before} == before
    assert len(list(out.glob("cells/trouble/*.json"))) == 12 and not list(out.glob("cells/trouble/*.part"))


def test_wrong_usage_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["no-such", "--out", str(tmp_path)]) == 2
    assert "no experiment 'no-such'" in capsys.readouterr().err
    empty = tmp_path / "empty.py"
    empty.write_text("x = 1\n")
    assert main([str(empty), "--out", str(tmp_path)]) == 2
    assert main(["--list"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in NAMES)
    (tmp_path / "file").write_text("")
    assert main(["correctness", "--report", "--out", str(tmp_path / "file")]) == 1


# ---- the example of the docs, and the page


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of three: the example of docs/lab.md and two small ones of our own."""
    folder = tmp_path_factory.mktemp("lab")
    text = (ROOT / "docs/lab.md").read_text(encoding="utf-8")
    example = next(block for block in re.findall(r"```python\n(.*?)```", text, re.S) if "EXPERIMENT" in block)
    assert len([line for line in example.splitlines() if line.strip()]) <= 20
    (folder / "large_c.py").write_text(example, encoding="utf-8")
    sources = [str(folder / "large_c.py"), trouble(folder, ["fine", "raises"]), "correctness"]
    run = subprocess.run(
        [sys.executable, "-m", "dualgap.lab", *sources, "--quick", "--out", str(folder / "out"), "--jobs", "2"],
        capture_output=True, text=True, env=environment(), timeout=120, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert "large-c" in run.stdout
    return folder / "out"


def test_the_page_stands_alone_and_its_links_lead_somewhere(report: Path) -> None:
    text = (report / "index.html").read_text(encoding="utf-8")
    page = Page(text)
    assert not page.outside and "@import" not in text and "url(http" not in text
    assert len(set(page.ids)) == len(page.ids), "an id twice"
    assert {"large-c", "trouble", "correctness"} <= set(page.ids)
    assert all(count >= 1 for count in page.figures.values()), page.figures
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids, link
        else:
            assert (report / link).is_file(), link
    for path in (report / "figures").glob("*.svg"):
        root = ElementTree.parse(path).getroot()
        assert root.tag.endswith("svg") and "prefers-color-scheme" in path.read_text(encoding="utf-8")
    for path in (report / "figures").glob("*.png"):
        assert path.read_bytes().startswith(b"\x89PNG")
    results = json.loads((report / "results.json").read_text(encoding="utf-8"))
    example = results["experiments"][0]
    assert example["verdict"] in ("holds", "does not hold") and "Newton" in example["sentence"]
    optimal = [cell for cell in example["cells"] if cell["status"] == "optimal"]
    assert "newton" in {cell["solver"] for cell in optimal}
    assert all(cell["relative_gap"] <= 1e-4 for cell in optimal)


PROBE = """
<script>
addEventListener("load", function () {
  var wrong = [], root = document.documentElement, width = root.clientWidth;
  document.querySelectorAll("a[href^='#']").forEach(function (link) {
    root.style.scrollBehavior = "auto";
    link.click();
    var place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!place || location.hash !== link.getAttribute("href")) wrong.push("link " + link.href);
  });
  document.querySelectorAll("section.experiment").forEach(function (section) {
    var drawn = section.querySelectorAll("figure svg");
    if (!drawn.length) wrong.push("no figure in " + section.id);
    drawn.forEach(function (svg) {
      var box = svg.getBoundingClientRect();
      var bad = box.width < 100 || box.height < 80 || box.right > width + 1;
      if (bad) wrong.push("figure of " + section.id + " " + box.width);
    });
  });
  var before = getComputedStyle(document.body).backgroundColor;
  document.getElementById("theme").click();
  if (getComputedStyle(document.body).backgroundColor === before) wrong.push("the theme does not change");
  if (root.scrollWidth > width + 1) wrong.push("wider than the window: " + root.scrollWidth + " > " + width);
  parent.postMessage(wrong.length ? wrong.join("; ") : "fine at " + width, "*");
});
</script>
"""
FRAME = """<!doctype html><iframe style="width:{width}px;height:900px;border:0" src="{page}"></iframe>
<script>addEventListener("message", function (e) {{ document.body.dataset.probe = e.data; }});</script>
"""  # a frame, since a browser window has a least width


@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_in_a_browser(report: Path, tmp_path: Path, width: int) -> None:
    """Every link clicked, every figure measured, the theme changed, no word on the console; where no browser is
    installed the parser has looked at the same page in the test above, and here its script must at least be closed."""
    page = (report / "index.html").read_text(encoding="utf-8")
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if browser is None:
        assert page.count("<script>") == page.count("</script>") == 1
        return
    probed = report / f"probe-{width}.html"
    probed.write_text(page.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    frame = report / f"frame-{width}.html"
    frame.write_text(FRAME.format(width=width, page=probed.name), encoding="utf-8")
    run = subprocess.run(
        [
            browser, "--headless", "--hide-scrollbars", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
            "--virtual-time-budget=3000", f"--user-data-dir={tmp_path}", "--window-size=1400,1000", "--dump-dom",
            frame.as_uri(),
        ],
        capture_output=True, text=True, timeout=90, check=False,
    )  # fmt: skip
    probed.unlink()
    frame.unlink()
    assert not re.findall(r"CONSOLE.*", run.stderr), run.stderr
    said = re.search(r'data-probe="([^"]*)"', run.stdout)
    assert said is not None, run.stderr[-2000:]
    assert said.group(1) == f"fine at {width}"


def test_fit_measures_what_the_judge_certifies() -> None:
    experiment = Experiment(
        name="x", title="", question="", claim="", source="", data=[Sample("heart", test=0.3, prepare="standard")],
        methods=[Method("dcd"), Method("sklearn:LinearSVC", options={"dual": True}), Method("no-such")],
        problems=[{"loss": "squared_hinge", "C": 1.0, "intercept": "regularized"}], settings=[{"tol": 1e-3}], repeats=1,
        measure=fit, panels=lambda records: [], checks=lambda records: [],
    )  # fmt: skip
    ours, theirs, missing = (run_cell(experiment, cell, Shelf(None)) for cell in experiment.cells(0))
    assert missing["status"] == "missing" and "no-such" in missing["error"]
    for outcome in (ours, theirs):
        values = outcome["values"]
        assert values["relative_gap"] <= 1e-3 and 0 < values["seconds"] < 10 and values["test_accuracy"] > 0.6
    assert abs(ours["values"]["primal"] / theirs["values"]["primal"] - 1) < 2e-3
    curve = ours["values"]["curve"]
    at = curve["seconds"].index(ours["values"]["seconds"])
    assert curve["relative_gap"][at] <= 1e-3 and all(gap > 1e-3 for gap in curve["relative_gap"][:at])
    assert all(p >= d - 1e-12 for p, d in zip(curve["primal"], curve["dual"], strict=True))
