"""Runs a script in a Python of its own, with a kernel cache of its own choosing.

In: the script's text and the cache folder. Out: its standard output; a failure or anything on
standard error fails the test. Warnings are errors there too.
"""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

PRELUDE = """
import numpy as np
from minitorch2.config import config
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature

config.threads = 2
SOURCE = '''
def twice(lo, hi, x, y, status):
    for i in range(lo, hi):
        y[i] = x[i] + x[i]
'''


def check(size=200_000):
    kernel = compile_kernel(SOURCE, KernelSignature(("f32", "f32")))
    x = np.arange(size, dtype=np.float32)
    y = np.zeros_like(x)
    kernel.launch(size, (x, y))
    assert (y == 2 * x).all()
"""


def command(script: str) -> list[str]:
    """The command line that runs a script after the prelude."""
    return [sys.executable, "-W", "error", "-c", PRELUDE + textwrap.dedent(script)]


def environment(cache: Path) -> dict[str, str]:
    """The environment with this cache folder."""
    return os.environ | {"MT2_CACHE_DIR": str(cache)}


def run(script: str, cache: Path, timeout: float = 60) -> str:
    """Run the script to its end and return what it printed."""
    done = subprocess.run(
        command(script), env=environment(cache), capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout
