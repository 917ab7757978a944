"""From checks to a verdict: holds, holds partly, does not hold, with the number that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dualgap.lab.declare import Check
from dualgap.lab.results import Records

MARKS = {"holds": "✓", "holds partly": "◐", "does not hold": "✗", "not decided": "?"}
TONES = {"holds": "good", "holds partly": "partly", "does not hold": "bad", "not decided": "muted"}


@dataclass(frozen=True)
class Verdict:
    word: str
    sentence: str
    checks: Sequence[Check]

    @property
    def mark(self) -> str:
        return MARKS[self.word]

    @property
    def tone(self) -> str:
        return TONES[self.word]


def decide(records: Records) -> Verdict:
    """The verdict over an experiment's checks; one that cannot be computed is undecided and says why."""
    try:
        checks = list(records.experiment.checks(records))
    except Exception as problem:  # a user's check on missing cells must not cost the report
        checks = [Check("the numbers could be read", None, f"{type(problem).__name__}: {problem}")]
    decided = [check for check in checks if check.holds is not None]
    if not decided:
        return Verdict("not decided", "Not decided: the cells it needs are missing.", checks)
    kept = [check for check in decided if check.holds]
    broken = [check for check in decided if not check.holds]
    word = "holds partly" if kept and broken else "holds" if kept else "does not hold"
    first = broken[0] if broken else kept[0]
    sentence = f"{word.capitalize()}: {first.number}."
    if not broken and len(kept) > 1:
        sentence = f"Holds, all {len(kept)} parts: {first.number}."
    if kept and broken:
        sentence = f"Holds partly, {len(kept)} of {len(decided)} parts: {kept[0].number}; but {first.number}."
    if len(decided) < len(checks):
        sentence += f" {len(checks) - len(decided)} of {len(checks)} parts could not be decided."
    return Verdict(word, sentence, checks)
