"""The lab: the experiments of the source documents, asked again and shown as one page.

An experiment is declared, not programmed: data × problem × methods × settings, a measure, and what to make of the
numbers. ``dualgap lab`` runs the declared ones; a file that says ``EXPERIMENT = Experiment(...)`` runs the same way.
"""

from __future__ import annotations

from dualgap.lab.declare import Case, Check, Experiment, Method, Missing, Note, Sample
from dualgap.lab.measure import fit
from dualgap.lab.panels import Curve, Panel, curves, dots, points
from dualgap.lab.results import Record, Records

__all__ = [
    "Case",
    "Check",
    "Curve",
    "Experiment",
    "Method",
    "Missing",
    "Note",
    "Panel",
    "Record",
    "Records",
    "Sample",
    "curves",
    "dots",
    "fit",
    "points",
]
