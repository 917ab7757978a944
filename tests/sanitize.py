"""Builds the core with sanitizers and drives it hard: `python tests/sanitize.py address,undefined` or `thread`, then
`files`, `others` or names of solvers where not all are wanted.

The build goes to build/sanitize-*, beside a copy of the Python files; the interpreter is not instrumented, so the
sanitizer's runtime is loaded first. Leaks are not looked for: the interpreter has its own. A finding ends the process
with an error.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUNTIME = {"address,undefined": "libasan.so", "thread": "libtsan.so"}
# OpenBLAS and OpenMP synchronise in ways the thread sanitizer does not see
LIBRARIES = ("libscipy_openblas-", "libscipy_openblas64_", "libgomp")  # NumPy and SciPy each bring an OpenBLAS
QUIET = "".join(f"called_from_lib:{name}\n" for name in LIBRARIES) + "race:openblas\nrace:blas_\n"


def build(sanitizers: str) -> Path:
    """The package with an instrumented core; returns the folder to import from."""
    folder = ROOT / "build" / f"sanitize-{sanitizers.replace(',', '-')}"
    tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options = [f"-DDUALGAP_SANITIZE={sanitizers}", f"-DPython_EXECUTABLE={sys.executable}"]
    environment = {**os.environ, "PATH": tools}
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", *options], check=True, env=environment)
    subprocess.run(["cmake", "--build", folder], check=True, env=environment)
    package = folder / "package" / "dualgap"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(ROOT / "src" / "dualgap", package, ignore=shutil.ignore_patterns("_core*", "__pycache__"))
    for made in folder.glob("_core*.so"):
        shutil.copy(made, package)
    return package.parent


def library(name: str) -> str:
    """Where the compiler has it. C++'s own goes in beside the sanitizer's, or exceptions pass that one by."""
    command = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def main(sanitizers: str, *wanted: str) -> int:
    package = build(sanitizers)
    quiet = package / "quiet.txt"
    quiet.write_text(QUIET)
    environment = {
        **os.environ,
        "LD_PRELOAD": f"{library(RUNTIME[sanitizers])} {library('libstdc++.so.6')}",
        "ASAN_OPTIONS": "detect_leaks=0:halt_on_error=1",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"halt_on_error=1:exitcode=66:ignore_noninstrumented_modules=1:suppressions={quiet}",
        "PYTHONPATH": str(package),
        "OPENBLAS_NUM_THREADS": "1",
    }
    driver = ROOT / "tests" / "drive_core.py"
    return subprocess.run([sys.executable, driver, *wanted], env=environment, cwd=package).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
