"""000 §VI: what a bias term costs."""

from __future__ import annotations

from dualgap.lab import Check, Experiment, Method, Panel, Records, Sample, curves, dots, fit
from dualgap.lab.checks import faster, no_worse

METHODS = (
    Method("dcd", "none", {}, {"intercept": "none"}),
    Method("dcd", "regularised", {}, {"intercept": "regularized"}, style=1),
    Method("pair-dcd", "free, pairs", {}, {"intercept": "free"}),
    Method("dcd", "free, proximal", {}, {"intercept": "free"}, style=2),
)


def panels(records: Records) -> list[Panel]:
    gaps, accuracy = [], []
    for sample in records.samples:
        some = records.where(sample=sample)
        lines = curves(some, "relative_gap", floor=1e-6)
        gaps.append(Panel(sample, "time (judging not counted)", "relative gap", lines, xunit="s", ylim=(5e-5, 2.0)))
        title = f"{sample}: test accuracy"
        accuracy.append(dots(some, "test_accuracy", title, "accuracy", xscale="linear", xunit="%"))
    return [*gaps, *accuracy]


def checks(records: Records) -> list[Check]:
    titles = [method.title for method in METHODS]
    return [
        faster(records, "none", "free, pairs", "Without the linear constraint descent is faster than pairs with it."),
        faster(records, "none", "regularised", "No bias is at least as fast as a regularised one.", least=0.8),
        *(
            no_worse(
                records, "none", titles[1:], f"Leaving the bias out costs no accuracy on {name}.", by=0.005, sample=name
            )
            for name in records.samples
        ),
    ]


EXPERIMENT = Experiment(
    name="bias",
    title="The bias term: none, regularised, or free",
    question="What do the three ways of treating the bias cost in time, and what do they bring in accuracy?",
    claim="With a bias the dual has a linear constraint that makes most steps empty; without it DCD converges "
    "faster, so it should be left out (000); doing so does not make the model worse (002 §5).",
    source="000 §VI, 002 §5",
    data=(
        Sample("a9a", test="given"),
        Sample("w8a", test="given"),
        Sample("german.numer", test=0.25, prepare="standard"),
        Sample("covtype.binary.scale", rows=50_000, test=20_000, label="covtype, 50,000 rows"),
    ),
    methods=METHODS,
    settings=({"tol": 1e-4, "max_time": 12.0},),
    measure=fit,
    panels=panels,
    checks=checks,
    repeats=4,
    timeout=150,
    quick={
        "data": (
            Sample("a9a", rows=8000, test="given", label="a9a, 8,000 rows"),
            Sample("german.numer", test=0.25, prepare="standard"),
            Sample("covtype.binary.scale", rows=5_000, test=5_000, label="covtype, 5,000 rows"),
        ),
        "settings": ({"tol": 1e-3, "max_time": 3.0},),
        "repeats": 2,
        "timeout": 30,
    },
)
