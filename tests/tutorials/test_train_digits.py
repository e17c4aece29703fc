"""The digits tutorial: it runs from a shell, draws its picture, and learns."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import minitorch2 as torch

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib")
SCRIPT = Path(__file__).parents[2] / "tutorials" / "train_digits.py"


@pytest.fixture(scope="module")
def script():
    """The tutorial as a module."""
    found = importlib.util.spec_from_file_location("train_digits", SCRIPT)
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def losses(script, loss_of, steps):
    torch.manual_seed(0)
    data, _ = script.load_data(0)
    return script.train(script.DigitNet(), loss_of, data, steps, report_every=steps)


def test_it_runs_from_a_shell(tmp_path):
    picture = tmp_path / "digits.png"
    done = subprocess.run(
        [sys.executable, SCRIPT, "--no-compile", "--steps", "150", "--output", picture],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    accuracy = re.search(r"accuracy on 449 digits not trained on: ([\d.]+)%", done.stdout)
    assert accuracy is not None and float(accuracy[1]) > 94
    assert "step  100  loss" in done.stdout
    assert picture.stat().st_size > 10_000


def test_a_seed_gives_the_same_losses_again(script):
    assert losses(script, script.loss_fn, 5) == losses(script, script.loss_fn, 5)


@pytest.mark.numba
def test_compiled_losses_are_those_of_eager(script):
    """Fifty steps with dropout: the same random numbers, so the same losses."""
    eager = losses(script, script.loss_fn, 50)
    compiled = losses(script, torch.compile(script.loss_fn, fullgraph=True), 50)
    assert compiled == pytest.approx(eager, rel=1e-4)
