"""torch.__config__: what this installation computes with.

In: nothing. Out: a few lines of text.

    >>> show().splitlines()[0]
    'minitorch2:'

Source: torch.__config__.
"""

import sys

import numpy

from minitorch2.backends.blas import threads
from minitorch2.version import __version__


def show() -> str:
    """The versions of what computes."""
    python = ".".join(map(str, sys.version_info[:3]))
    lines = ["minitorch2:", f"  version {__version__}", f"  Python {python}"]
    return "\n".join([*lines, f"  numpy {numpy.__version__}, its BLAS for products"]) + "\n"


def parallel_info() -> str:
    """How many threads a large product uses."""
    return f"minitorch2 parallel backend:\n  threads of products: {threads()}\n"
