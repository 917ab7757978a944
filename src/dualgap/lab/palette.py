"""One palette: a colour, a dash and a marker for each solver, the same in every figure, for light and dark pages.

The hues are those of Okabe and Ito and of Tol's muted set, which people with any of the common colour deficiencies tell
apart; a figure shows few of them at once, labels them directly, and varies the marker as well.
"""

from __future__ import annotations

# solver: (on light, on dark)
SOLVERS: dict[str, tuple[str, str]] = {
    "dcd": ("#0072b2", "#4db5ee"),
    "auto": ("#22222a", "#f2f2f5"),
    "newton": ("#332288", "#a99cf5"),
    "pair-dcd": ("#3a9bdc", "#8fd0ff"),
    "sdca": ("#009e73", "#2fd3a5"),
    "pegasos": ("#d68a00", "#f5b942"),
    "tron": ("#d55e00", "#ff8a3d"),
    "pcd": ("#c4609a", "#f09bc9"),
    "cutting-plane": ("#8f8200", "#d8cb3f"),
    "smo": ("#882255", "#e888b5"),
    "decomposition": ("#aa4499", "#e495d8"),
    "projected-gradient": ("#8a8a2f", "#c9c96b"),
    "active-set": ("#117733", "#63cf88"),
    "ellipsoid": ("#7a2a10", "#e0957c"),
    "oneclass-dcd": ("#0b72b3", "#4eb5ed"),
    "svdd-dcd": ("#0c72b4", "#4fb5ec"),
    "sklearn": ("#777780", "#a0a0aa"),
}
OTHER = ("#55555f", "#bbbbc4")

# the page's own tones: name, on light, on dark
TONES: dict[str, tuple[str, str]] = {
    "ink": ("#1b1b20", "#ececf1"),
    "muted": ("#65656e", "#a3a3ad"),
    "grid": ("#e4e4ea", "#35353d"),
    "paper": ("#fefefe", "#16161a"),
    "card": ("#f6f6f9", "#1f1f25"),
    "good": ("#00795a", "#3fd0a4"),
    "partly": ("#a86400", "#f3b546"),
    "bad": ("#b3400a", "#ff8a5c"),
    "link": ("#005c99", "#79c3ff"),
}

MARKERS = {"dcd": "o", "smo": "s", "sklearn": "D", "pegasos": "^", "tron": "v", "pcd": "P", "sdca": "h", "auto": "o"}
DASHES: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-", (0, (4, 1.6)), (0, (1.2, 1.4)), (0, (5, 1.4, 1.2, 1.4)))


def family(solver: str) -> str:
    """The palette's entry of a solver: "sklearn:LinearSVC" is scikit-learn, an unknown name is "other"."""
    base = solver.split(":")[0]
    return base if base in SOLVERS else "other"


def colour(solver: str) -> str:
    """The colour on light ground; figures turn it into the page's variable."""
    return SOLVERS.get(family(solver), OTHER)[0]


def marker(solver: str) -> str:
    return MARKERS.get(family(solver), "o")


def variables(theme: int) -> str:
    """The CSS variables of a theme: 0 light, 1 dark."""
    named = {**TONES, **{f"s-{name}": pair for name, pair in SOLVERS.items()}, "s-other": OTHER}
    return "".join(f"--{name}:{pair[theme]};" for name, pair in named.items())


def by_variable(svg: str) -> str:
    """An SVG whose light colours became CSS variables, so that it follows the page."""
    for name, pair in {**TONES, **{f"s-{name}": pair for name, pair in SOLVERS.items()}, "s-other": OTHER}.items():
        svg = svg.replace(pair[0], f"var(--{name})")
    return svg
