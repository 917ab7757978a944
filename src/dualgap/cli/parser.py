"""The program's words: commands, options, and LIBLINEAR's letters."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import dualgap

HELP = """\
usage: dualgap COMMAND ...

Linear models where every fit comes with proof of how good it is.

  train   DATA [MODEL]    fit, print the certificate, save (as DATA.model)
  predict MODEL DATA      labels, scores or probabilities; a report
  cv      DATA            cross-validate a grid of C, warm-started
  convert DATA FOLDER     to memory-mapped arrays
  info    DATA|MODEL      what is in it
  lab     [EXPERIMENT]    redo the documents' experiments as a report

examples:
  dualgap train news.svm.gz --loss hinge --C 0.5
  dualgap cv people.csv --label income --train people.model
  dualgap predict people.model new.csv --output answers.txt

DATA is svmlight text (also .gz .bz2 .xz .zst, - for standard input), CSV,
Parquet, .npz or a converted folder. dualgap COMMAND --help says more;
--version, --completion bash|zsh|fish. Exit status: 0 done, 1 failed, 2 usage.
"""

COMMANDS = ("train", "predict", "cv", "convert", "info", "lab")

# LIBLINEAR's -s: loss, and the -e it uses when none is given
LETTERS_S = {
    0: ("logistic", 0.01),
    1: ("squared_hinge", 0.1),
    2: ("squared_hinge", 0.01),
    3: ("hinge", 0.1),
    7: ("logistic", 0.1),
    11: ("squared_epsilon_insensitive", 0.0001),
    12: ("squared_epsilon_insensitive", 0.1),
    13: ("epsilon_insensitive", 0.1),
    21: ("one_class", 0.01),
}
NOT_HERE = {4: "Crammer and Singer's multi-class SVM", 5: "L1-regularised SVC", 6: "L1-regularised logistic regression"}
LOSSES = (
    "hinge",
    "squared_hinge",
    "logistic",
    "epsilon_insensitive",
    "squared_epsilon_insensitive",
)
TOL = 1e-3


class _Command(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"{self.prog}: {message}\nTry: {self.prog} --help", file=sys.stderr)
        raise SystemExit(2)


class _Top(_Command):
    def format_help(self) -> str:
        return HELP


def build(command: str = "") -> argparse.ArgumentParser:
    """The parser, with the options of one command or of all; the laboratory's own come in only when it is called."""
    top = _Top(prog="dualgap")
    top.add_argument("--version", action="version", version=f"dualgap {dualgap.__version__}")
    top.add_argument("--completion", choices=("bash", "zsh", "fish"), action=_Completion)
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Command)
    for name, add in (("train", _train), ("predict", _predict), ("cv", _cv), ("convert", _convert), ("info", _info)):
        part = commands.add_parser(name, formatter_class=argparse.RawDescriptionHelpFormatter, description=add.__doc__)
        part.set_defaults(run=_later(f"dualgap.cli.{name}"))
        if command in ("", name):
            add(part)
    lab = commands.add_parser("lab", add_help=False)
    lab.set_defaults(run=_later("dualgap.lab.cli"))
    return top


def parse(words: list[str]) -> argparse.Namespace:
    """The arguments; ends the program with status 2 where they make no sense."""
    command = next((word for word in words if not word.startswith("-")), "")
    top = build(command if command in COMMANDS and words[0] == command else "")
    if command == "lab":
        lab = _Command(prog="dualgap lab", description="Redo the documents' experiments as a report.")
        importlib.import_module("dualgap.lab.cli").add_arguments(lab)
        args = lab.parse_args(words[words.index("lab") + 1 :])
        args.run = _later("dualgap.lab.cli")
        return args
    words, weights = _class_weights(words) if command in ("train", "cv") else (words, {})
    args, unknown = top.parse_known_args(words)
    if unknown:
        _misspelt(unknown[0], commands_parser(top, command))
    if command in ("train", "cv"):
        args.weight = {**weights, **dict(args.weight or ())}
        _apply_letters(args, commands_parser(top, command))
    return args


def _misspelt(word: str, parser: _Command) -> NoReturn:
    """Names what was not understood, and what may have been meant."""
    if not word.startswith("-"):
        parser.error(f"{word!r} is one argument too many")
    if word == "-C":
        parser.error("-C looks for the best C: that is dualgap cv")
    from difflib import get_close_matches

    close = get_close_matches(word.partition("=")[0], list(parser._option_string_actions), 1)
    parser.error(f"there is no option {word}" + (f"; did you mean {close[0]}?" if close else ""))


def commands_parser(top: argparse.ArgumentParser, name: str) -> Any:
    """The parser of one command."""
    actions = [a for a in top._actions if isinstance(a, argparse._SubParsersAction)]
    return actions[0].choices[name]


def _later(module: str) -> Callable[[Any], int]:
    def run(args: Any) -> int:
        if not module.startswith("dualgap.lab"):  # threads are ours, and BLAS starts its own as it is loaded
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return int(importlib.import_module(module).run(args))

    return run


def _class_weights(words: list[str]) -> tuple[list[str], dict[float | str, float]]:
    """LIBLINEAR's -wLABEL WEIGHT, taken out of the words."""
    left: list[str] = []
    weights: dict[float | str, float] = {}
    k = 0
    while k < len(words):
        match = re.fullmatch(r"-w([-+]?\d+(?:\.\d+)?)", words[k])
        if match and k + 1 < len(words):
            weights[float(match[1])] = _positive(words[k + 1], f"-w{match[1]}")
            k += 2
        else:
            left.append(words[k])
            k += 1
    return left, weights


def _positive(text: str, name: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 < value < float("inf"):
        _Top(prog="dualgap").error(f"{name} takes a positive number, not {text!r}")
    return value


def _number(text: str) -> float:
    value = _float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _not_negative(text: str) -> float:
    value = _float(text)
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is negative or not finite")
    return value


def _share(text: str) -> float:
    value = _float(text)
    if not 0 < value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not above 0 and at most 1")
    return value


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def _count(text: str) -> int:
    value = _whole(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not 1 or more")
    return value


def _seed(text: str) -> int:
    value = _whole(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is negative")
    return value


def _label_weight(text: str) -> tuple[float | str, float]:
    label, mark, value = text.rpartition("=")
    if not mark:
        raise argparse.ArgumentTypeError(f"{text!r} is not LABEL=WEIGHT")
    try:
        return float(label), _number(value)
    except ValueError:
        return label, _number(value)


def _grid(text: str) -> list[float]:
    grid = sorted({_number(word) for word in text.replace(",", " ").split()})
    if not grid:
        raise argparse.ArgumentTypeError(f"{text!r} has no number in it")
    return grid


class _Completion(argparse.Action):
    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        from dualgap.cli.completion import script

        print(script(values, parser))
        parser.exit(0)


def _data_options(p: argparse.ArgumentParser) -> None:
    p.add_argument("--label", metavar="COLUMN", help="the label's column in a CSV or Parquet file")
    p.add_argument(
        "--zero-based", choices=("auto", "yes", "no"), default="auto", help="do svmlight columns begin at 0?"
    )
    p.add_argument("--threads", type=_count, metavar="N", help="threads (default: the cores)")
    p.add_argument("--json", action="store_true", help="print one JSON object instead of text")


def _fit_options(p: argparse.ArgumentParser) -> None:
    p.add_argument("--loss", choices=LOSSES, help="default: squared_hinge")
    p.add_argument("--tol", type=_number, metavar="T", help=f"relative duality gap (default: {TOL:g})")
    p.add_argument("--max-time", type=_number, metavar="SECONDS")
    p.add_argument("--max-iter", type=_number, metavar="EPOCHS")
    p.add_argument("--intercept", choices=("none", "regularized", "free"), help="default: regularized, with -s none")
    p.add_argument("--intercept-scaling", type=_number, metavar="S", help="s of a regularized intercept (default: 1)")
    p.add_argument("--epsilon", "-p", type=_not_negative, default=0.1, metavar="E", help="tube of regression losses")
    p.add_argument("--weight", type=_label_weight, action="append", metavar="LABEL=W", help="cost factor of a class")
    p.add_argument("--balanced", action="store_true", help="weight classes by their rarity")
    p.add_argument("--solver", default="auto", metavar="NAME", help="one of dualgap.solvers() (default: auto)")
    p.add_argument("--seed", type=_seed, default=0, metavar="N")
    p.add_argument("--strict", action="store_true", help="status 1 when a fit stops before its tolerance")
    p.add_argument("--quiet", "-q", action="store_true", help="print warnings and errors only")
    p.add_argument(
        "-s", type=_whole, dest="letter_s", metavar="TYPE", help="LIBLINEAR's solver type, without intercept"
    )
    p.add_argument(
        "-e", type=_number, dest="letter_e", metavar="E", help="LIBLINEAR's tolerance: tol = 0.001 E / its default"
    )
    p.add_argument(
        "-B", type=_float, dest="letter_b", metavar="B", help="LIBLINEAR's bias: regularized, s = B; none if < 0"
    )
    p.add_argument("-R", action="store_true", dest="letter_r", help="LIBLINEAR's bias without a penalty: free")
    p.add_argument("-n", type=_share, dest="nu", default=0.5, metavar="NU", help="nu of -s 21")


def _train(p: argparse.ArgumentParser) -> None:
    """Fit a linear model to a proven relative gap and save it.

    dualgap train a9a.svm                       two lines, and a9a.svm.model
    dualgap train a9a.svm m --loss logistic     another loss, another name
    dualgap train -s 3 -c 1 -w1 3 a9a.svm m     LIBLINEAR's letters
    """
    p.add_argument("data", metavar="DATA")
    p.add_argument("model", metavar="MODEL", nargs="?")
    p.add_argument(
        "--C", "-c", type=_number, dest="C", default=1.0, metavar="C", help="cost of a unit of loss (default: 1)"
    )
    _fit_options(p)
    _data_options(p)
    p.add_argument("-v", type=_count, dest="folds", metavar="K", help="cross-validate in K folds instead of saving")
    p.add_argument("--format", choices=("dualgap", "liblinear", "onnx"), default="dualgap", help="of the model file")


def _cv(p: argparse.ArgumentParser) -> None:
    """Cross-validate a grid of C; folds in parallel, each warm-started along the grid.

    dualgap cv a9a.svm
    dualgap cv a9a.svm --C 0.01,0.1,1,10 --folds 10 --train best.model
    """
    p.add_argument("data", metavar="DATA")
    p.add_argument(
        "--C", "-c", type=_grid, dest="grid", default=[0.001, 0.01, 0.1, 1.0, 10.0, 100.0], metavar="C,...",
        help="default: 0.001 to 100, a factor of 10 apart",
    )  # fmt: skip
    p.add_argument("--folds", "-v", type=_count, default=5, metavar="K", help="default: 5")
    p.add_argument("--train", metavar="MODEL", dest="model", help="fit all rows with the best C and save")
    _fit_options(p)
    _data_options(p)
    p.set_defaults(format="dualgap", C=1.0)


def _predict(p: argparse.ArgumentParser) -> None:
    """Predict with a saved model, ours or LIBLINEAR's; a report where DATA has labels.

    dualgap predict a9a.model a9a.t --output labels.txt
    dualgap predict people.model new.csv --probabilities
    """
    p.add_argument("model", metavar="MODEL")
    p.add_argument("data", metavar="DATA")
    p.add_argument("--output", "-o", metavar="FILE", help="default: the standard output, and the report on stderr")
    what = p.add_mutually_exclusive_group()
    what.add_argument("--scores", action="store_true", help="x'w + b of every class instead of labels")
    what.add_argument("--probabilities", "-b", action="store_true", help="of every class (logistic models)")
    p.add_argument("--quiet", "-q", action="store_true", help="no report")
    _data_options(p)


def _convert(p: argparse.ArgumentParser) -> None:
    """Convert data to a folder of plain arrays that opens at once and is used from the disk.

    dualgap convert big.svm.zst big.dg
    dualgap train big.dg
    """
    p.add_argument("data", metavar="DATA")
    p.add_argument("folder", metavar="FOLDER")
    p.add_argument("--single", action="store_true", help="store values as float32")
    p.add_argument("--quiet", "-q", action="store_true")
    _data_options(p)


def _info(p: argparse.ArgumentParser) -> None:
    """What is in a data or model file.

    dualgap info a9a.svm
    dualgap info a9a.model
    """
    p.add_argument("path", metavar="DATA|MODEL")
    _data_options(p)


def _apply_letters(args: argparse.Namespace, parser: Any) -> None:
    """Turns LIBLINEAR's letters into our words; where both are given they must not contradict."""
    usual_e = 0.1
    if args.letter_s is not None:
        if args.letter_s in NOT_HERE:
            parser.error(f"-s {args.letter_s} is {NOT_HERE[args.letter_s]}, which is not here")
        if args.letter_s not in LETTERS_S:
            parser.error(f"-s {args.letter_s} is not one of {', '.join(map(str, LETTERS_S))}")
        loss, usual_e = LETTERS_S[args.letter_s]
        if args.loss not in (None, loss):
            parser.error(f"-s {args.letter_s} means --loss {loss}, but --loss {args.loss} is given as well")
        args.loss = loss
    elif args.loss is None:
        args.loss = "squared_hinge"
    if args.tol is None:
        args.tol = TOL if args.letter_e is None else TOL * args.letter_e / usual_e
    if args.letter_r:
        if args.intercept not in (None, "free"):
            parser.error(f"-R means --intercept free, but --intercept {args.intercept} is given as well")
        args.intercept = "free"
    if args.intercept is None:
        theirs = args.letter_s is not None or args.letter_b is not None
        args.intercept = "none" if theirs and (args.letter_b is None or args.letter_b < 0) else "regularized"
    if args.intercept_scaling is None:
        args.intercept_scaling = args.letter_b if args.letter_b is not None and args.letter_b > 0 else 1.0
    if args.balanced and args.weight:
        parser.error("--balanced and class weights exclude each other")
