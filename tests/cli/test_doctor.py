"""`mt2 doctor`: healthy here, and a remedy for every problem."""

import sys

import pytest
from click.testing import CliRunner

from minitorch2.cli import doctor as module
from minitorch2.cli.doctor import OK, PROBLEM, Check
from minitorch2.cli.main import main
from tests.cli.commands import mt2


def test_this_machine_is_fit_and_numba_is_not_imported(tmp_path):
    code = (
        "import sys, runpy; sys.argv[1:] = ['doctor']\ntry: runpy.run_module('minitorch2.cli.main'"
    )
    code += ", run_name='__main__')\nfinally: assert 'numba' not in sys.modules"
    path = tmp_path / "look.py"
    path.write_text(code)
    done = mt2("run", path, MT2_CACHE_DIR=str(tmp_path / "cache"))
    assert done.returncode == 0, done.stderr
    rows = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines() if "  " in line}
    for name in ("Python", "numpy", "numba", "llvmlite", "ml_dtypes", "CPU", "threads", "cache"):
        assert rows[name] in ("ok", "note"), name
    assert rows["CUDA"] == "note"
    assert done.stdout.endswith("no problems\n")


def test_problems_have_remedies_and_exit_code_1(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path / "file"))
    done = CliRunner().invoke(main, ["doctor"])
    assert done.exit_code == 1
    assert "PROBLEM cache" in done.output and "Set MT2_CACHE_DIR" in done.output
    assert done.output.endswith("1 problem\n")


def packages(monkeypatch, requirement: str) -> Check:
    monkeypatch.setattr(module.importlib.metadata, "requires", lambda name: [requirement])
    [check] = module._packages()
    return check


def test_packages_missing_and_old(monkeypatch):
    assert packages(monkeypatch, "numpy>=1.0").state == OK
    missing = packages(monkeypatch, "no_such_package>=1.0")
    assert missing.state == PROBLEM and "pip install 'no_such_package>=1.0'" in missing.remedy
    old = packages(monkeypatch, "numpy>=99.0")
    assert old.state == PROBLEM and "99.0 or newer" in old.found


@pytest.mark.parametrize(("version", "state"), [((3, 10), PROBLEM), ((3, 99), PROBLEM)])
def test_pythons_that_are_not_known(monkeypatch, version, state):
    monkeypatch.setattr(sys, "version_info", (*version, 0, "final", 0))
    assert next(module._python()).state == state


def test_a_cpu_that_cannot_be_asked(monkeypatch):
    def fail(name):
        raise ImportError("libllvmlite.so is missing")

    monkeypatch.setattr(module.importlib, "import_module", fail)
    [check] = module._cpu()
    assert check.state == PROBLEM and "libllvmlite.so" in check.found


@pytest.mark.numba
def test_try_compiles_a_kernel():
    done = CliRunner().invoke(main, ["doctor", "--try"])
    assert done.exit_code == 0
    assert "compiles, runs, gives the right numbers" in done.output
