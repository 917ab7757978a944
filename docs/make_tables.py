"""Writes docs/solvers.md from the registries: `python docs/make_tables.py`. Due when a solver or a loss is added."""

from pathlib import Path

import dualgap as dg

PAGE = Path(__file__).parent / "solvers.md"
SHORT = {"none": "n", "regularized": "r", "free": "f"}


def table(head, rows):
    lines = ["| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]]
    return "\n".join(lines)


def text() -> str:
    losses, solvers = dg.losses(), dg.solvers()
    parameters = [f"`{x.parameter}` ({x.default:g})" if x.parameter else "" for x in losses]
    first = table(
        ["loss", "ℓ(y, z)", "y", "parameter (default)"],
        [
            [f"`{x.name}`", x.formula.replace("|", "\\|"), "±1" if x.targets == "sign" else "number", p]
            for x, p in zip(losses, parameters, strict=True)
        ],
    )
    second = table(
        ["solver", "what it is", "source", "memory"],
        [[f"`{s.name}`", s.summary, s.source.replace("|", "\\|"), s.memory] for s in solvers],
    )
    linear = [s for s in solvers if "linear" in s.problems]
    third = table(
        ["", *(f"`{s.name}`" for s in linear)],
        [
            [f"`{x.name}`", *("".join(SHORT[i] for i in s.intercepts) if x.name in s.losses else "" for s in linear)]
            for x in losses
        ],
    )
    other = ", ".join(f"`{s.name}` ({', '.join(s.problems)})" for s in solvers if s.problems != ("linear",))
    return f"""# Losses and solvers

```python
import dualgap as dg

X, y = [[0.0, 1.0], [2.0, 1.0], [3.0, 0.0]], [-1, 1, 1]
for loss in ("hinge", "logistic"):
    print(dg.solve(dg.Problem(X, y, loss=loss, intercept="regularized"), solver="dcd"))
```

`dg.losses()` and `dg.solvers()` are these lists; `solver="auto"`, the default, chooses. Sources 000 to 004 are
[the documents of the lab](lab.md#the-documents).

## Losses

{first}

## Solvers

{second}

## Which solver takes which loss and intercept

n: `intercept="none"`, r: `"regularized"`, f: `"free"`. What is not here raises `UnsupportedProblem`, naming who can.

{third}

Other kinds of problem: {other}.
"""


if __name__ == "__main__":
    PAGE.write_text(text())
