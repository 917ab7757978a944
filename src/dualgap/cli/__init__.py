"""The ``dualgap`` program. Nothing heavy is imported here: ``dualgap --help`` answers at once."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130


def program() -> NoReturn:
    """Run the program and leave: what is still in memory goes with the process, nobody takes it down piece by piece."""
    gc.set_threshold(100_000)  # imports make many objects and no garbage
    if sys.argv[1:2] != ["lab"]:  # NumPy's BLAS would start threads that spin beside the reader's; fits have their own
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    for name in ("stdin", "stdout", "stderr"):  # closed by whoever started us: then the next file would take its place
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(os.open(os.devnull, os.O_RDWR), "r" if name == "stdin" else "w"))
    status = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read our output has left
        status = status or FAILED
    except OSError as error:
        status = status or _failure(error)
    sys.stderr.flush()
    os._exit(status)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        from dualgap.cli.parser import parse

        args = parse(words)
    except KeyboardInterrupt:
        print("dualgap: interrupted", file=sys.stderr)
        return INTERRUPTED
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else WRONG_USAGE
    try:
        return int(args.run(args))
    except KeyboardInterrupt:
        print("dualgap: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # they left before the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FAILED
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return _failure(error)


def _failure(error: Exception) -> int:
    """One sentence for what is the user's to mend; anything else is a bug and shows where."""
    from dualgap.errors import DualgapError

    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{os.fsdecode(error.filename)}: "
        sentence = f"{where}{error.strerror}."
    elif isinstance(error, MemoryError):
        sentence = f"not enough memory: {error or 'the data does not fit'}."
    elif isinstance(error, (DualgapError, OSError, ImportError)):
        sentence = str(error)
    else:
        raise error
    print(f"dualgap: {sentence}", file=sys.stderr)
    return FAILED
