"""The package as it is imported: names, order of imports, versions."""

import subprocess
import sys

import pytest

import dualgap as dg


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["solve", "solvers.dcd", "certify", "registry"])
def test_a_module_never_hides_the_function_of_its_name(module):
    code = (
        f"import dualgap.{module}, dualgap as dg; print(callable(dg.solve), callable(dg.solvers), callable(dg.certify))"
    )
    assert run(code).split() == ["True"] * 3


def test_importing_is_cheap():
    code = "import sys, dualgap; print('sklearn' in sys.modules, 'scipy' in sys.modules, 'matplotlib' in sys.modules)"
    assert run(code).split() == ["False"] * 3


def test_every_public_name_is_there_and_documented():
    for name in set(dg.__all__) - {"__version__"}:
        assert getattr(dg, name).__doc__, name


def test_show_config_says_what_a_bug_report_needs(capsys):
    dg.show_config()
    shown = capsys.readouterr().out
    for word in ("dualgap", "compiler", "instructions", "threads", "BLAS", "numpy", "scikit-learn"):
        assert word in shown


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        dg.nothing_of_the_kind  # noqa: B018
