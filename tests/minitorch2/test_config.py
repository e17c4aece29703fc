"""Settings of the environment: what is no value of a variable is refused at import, in words."""

import os
import subprocess
import sys

import pytest

from minitorch2.config import chosen
from minitorch2.errors import ArgumentValueError


@pytest.mark.parametrize(
    ("name", "value"),
    [("MT2_KERNEL_LEVEL", "7"), ("MT2_KERNEL_LEVEL", "x"), ("MT2_KERNEL_FRONTEND", "foo"),
     ("MT2_CUDA", "yes"), ("MT2_PRIMITIVES", "torch")],
)  # fmt: skip
def test_a_value_that_there_is_not(name: str, value: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import minitorch2"],
        env={**os.environ, name: value}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"{name}={value} in the environment: the values are" in done.stderr
    assert "unset it" in done.stderr


def test_unset_and_empty_are_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MT2_CUDA", raising=False)
    assert chosen("MT2_CUDA", "", "sim") == ""
    monkeypatch.setenv("MT2_CUDA", "")
    assert chosen("MT2_CUDA", "", "sim") == ""
    monkeypatch.setenv("MT2_CUDA", "gpu")
    with pytest.raises(ArgumentValueError, match="the values are 'sim'"):
        chosen("MT2_CUDA", "", "sim")
