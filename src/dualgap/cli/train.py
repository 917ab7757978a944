"""``dualgap train``: fit, print the certificate, save."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Any

import dualgap as dg
from dualgap.cli.load import describe, load
from dualgap.cli.show import coloured, print_json, solving, warn

if TYPE_CHECKING:
    from dualgap.cli.fit import Fitter
    from dualgap.files.datasets import Data

# what a fit needs, imported while the data is read
MEANWHILE = ("dualgap.cli.fit", "dualgap.problem", "dualgap.solve", "dualgap.solvers.auto", "dualgap.files.model_file")


def run(args: Any) -> int:
    if args.folds:
        from dualgap.cli.cv import cross_validate_once

        return cross_validate_once(args)
    path = model_path(args)
    data, seconds = load(args, values="full" if args.loss == "one_class" else "exact", meanwhile=MEANWHILE)
    if not (args.quiet or args.json):
        print(describe(args.data, data, seconds))
    if args.loss == "one_class":
        return _one_class(data, path, args)
    from dualgap.cli.fit import Fitter

    fitter = Fitter(data, args.data, args)
    results = fit(fitter, args, args.C)
    save(fitter.content(results, args.C), path, args.format)
    return report(fitter, results, path, args)


def model_path(args: Any) -> str:
    """Where the model goes; said at once if that cannot be."""
    if args.model is None and args.data == "-":
        raise dg.InvalidData("Data from the standard input has no name: say MODEL as well.")
    path = str(args.model or args.data.rstrip("/") + ".model")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder for the model", folder)
    if os.path.isdir(path):
        raise IsADirectoryError(errno.EISDIR, "the model would be a folder", path)
    return path


def fit(fitter: Fitter, args: Any, C: float) -> list[Any]:
    with solving(args.tol, args.quiet) as draw:
        return fitter.fit(C, draw)


def save(content: dict[str, Any], path: str, format: str = "dualgap") -> None:
    if format == "dualgap":
        from dualgap.files.model_file import write_model

        write_model(path, content)
    else:
        from dualgap.estimators.saving import from_state

        from_state(content, path).save(path, format=format)


def report(fitter: Fitter, results: list[Any], path: str, args: Any) -> int:
    """What the fit came to; the exit status."""
    from dualgap.cli.fit import fit_facts

    late = [result for result in results if str(result.status) != "optimal"]
    worst = max(results, key=lambda result: result.certificate.relative_gap)
    if args.json:
        print_json(
            {
                "data": args.data,
                "rows": fitter.data.X.shape[0],
                "columns": fitter.data.X.shape[1],
                "model": path,
                "loss": args.loss,
                "C": getattr(args, "best_C", args.C),
                "classes": fitter.found.classes,
                "fits": [{**fit_facts(r), "certificate": vars(r.certificate)} for r in results],
            }
        )
    elif not args.quiet:
        print(_sentence(fitter, results, worst, getattr(args, "best_C", args.C), args))
        print(f"saved as {path} ({os.path.getsize(path):,} bytes)")
    if late:
        gap = worst.certificate.relative_gap
        which = f" for {len(late)} of {len(results)} classes" if len(results) > 1 else ""
        warn(f"stopped ({worst.status}){which} at a relative gap of {gap:.2g}; asked for was {args.tol:g}")
    warn_of_scales(fitter, results)
    return 1 if late and args.strict else 0


def warn_of_scales(fitter: Fitter, results: list[Any]) -> None:
    from dualgap.scales import words_on_scales

    if words := words_on_scales(results, fitter.data.names or None):
        warn(words)


def _sentence(fitter: Fitter, results: list[Any], worst: Any, C: float, args: Any) -> str:
    seconds = sum(result.seconds for result in results)
    solvers = ", ".join(dict.fromkeys(result.solver for result in results))
    certificate = worst.certificate
    status = coloured(str(worst.status), "good" if str(worst.status) == "optimal" else "bad")
    many = f" ({len(results)} problems, the worst shown)" if len(results) > 1 else ""
    return (
        f"{args.loss}, C = {C:g}, intercept {args.intercept}: {status} in {seconds:.2f} s by {solvers}{many}\n"
        f"objective {certificate.primal:.8g}, proven within {max(certificate.gap, 0):.3g} of the best possible "
        f"(relative gap {certificate.relative_gap:.2g}, asked for {args.tol:g})"
    )


def _one_class(data: Data, path: str, args: Any) -> int:
    import warnings

    X = data.X.to_scipy() if hasattr(data.X, "to_scipy") else data.X
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        limits = {} if args.max_iter is None else {"max_iter": max(1, round(args.max_iter))}
        model = dg.LinearOneClassSVM(
            nu=args.nu, tol=args.tol, max_time=args.max_time, random_state=args.seed, n_jobs=args.threads, **limits
        ).fit(X)
    model.save(path, format=args.format)
    if args.json:
        facts = {"data": args.data, "rows": X.shape[0], "columns": X.shape[1], "model": path, "loss": args.loss}
        print_json({**facts, "nu": args.nu, "fits": [{"certificate": vars(model.certificate_)}]})
    elif not args.quiet:
        print(f"one-class, nu = {args.nu:g}: {model.certificate_}\nsaved as {path}")
    for warning in caught:
        warn(str(warning.message))
    return 1 if caught and args.strict else 0
