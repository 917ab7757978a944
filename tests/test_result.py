"""What a result shows: tables for people, notebooks and data frames."""

import sys

import numpy as np
import pytest

import dualgap as dg


@pytest.fixture(scope="module")
def result():
    X = np.random.default_rng(0).standard_normal((60, 4))
    return dg.solve(dg.Problem(X, np.where(X[:, 0] > 0, 1.0, -1.0)), "dcd", tol=1e-6, trace=True)


def test_a_trace_becomes_a_frame_of_what_is_installed(result, monkeypatch):
    frame = result.trace.to_frame()
    assert type(frame).__module__.startswith("pandas") and list(frame.columns) == list(result.trace.columns)
    np.testing.assert_array_equal(frame["gap"], result.trace.gap)
    monkeypatch.setitem(sys.modules, "pandas", None)  # not installed
    other = result.trace.to_frame()
    assert type(other).__module__.startswith("polars")
    np.testing.assert_array_equal(other["gap"].to_numpy(), result.trace.gap)


def test_a_notebook_gets_every_row_of_the_table_and_nothing_that_is_markup(result):
    import dataclasses

    shown = dataclasses.replace(result, why="1 < 2 & so on")
    html = shown._repr_html_()
    assert html.startswith("<table>") and html.count("<tr>") == len(repr(shown).splitlines()) - 1
    assert "1 &lt; 2 &amp; so on" in html and f"{result.certificate.primal:.9g}" in html


def test_a_plot_has_a_line_for_each_solver_that_ran(result):
    axes = result.trace.plot()
    assert [line.get_label() for line in axes.lines] == ["dcd"] and axes.get_yscale() == "log"
    seconds, gaps = axes.lines[0].get_data()
    np.testing.assert_array_equal(seconds, result.trace.seconds)
    np.testing.assert_allclose(gaps[-1], result.certificate.relative_gap, rtol=1e-6)


def test_a_trace_says_which_solver_ran_when_and_why():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 40)) * np.geomspace(1e-2, 1e2, 40)
    y = np.where(X @ rng.standard_normal(40) > rng.standard_normal(300), 1.0, -1.0)
    for solver, parts in (("dcd", ["dcd to epoch"]), ("auto", ["to epoch", "newton to epoch"])):
        result = dg.solve(dg.Problem(X, y, C=100.0), solver, tol=1e-4, max_iter=500, trace=True)
        assert all(part in repr(result.trace) for part in parts) and repr(result.trace).endswith(result.why or ")")
        assert result.why == result.trace.why and bool(result.why) == (solver == "auto")


def test_a_status_is_a_word():
    assert dg.Status("stalled") is dg.Status.stalled and f"{dg.Status.max_time}" == "max_time"
