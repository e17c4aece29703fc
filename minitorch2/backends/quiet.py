"""Floating-point warnings off around one numpy call, cheaply.

In: nothing. Out: `token = silence()`, and `restore(token)` when done. numpy.errstate does the same
for five times the price, which a small addition would pay; numpy.seterr is the fallback where numpy
has no such context variable.

    token = silence()
    try:
        numpy.divide(1.0, 0.0)
    finally:
        restore(token)

Source: numpy's errstate, which sets the same context variable.
"""

from collections.abc import Callable
from typing import Any

import numpy
from numpy._core import umath


def _switches() -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    variable, make = (getattr(umath, n, None) for n in ("_extobj_contextvar", "_make_extobj"))
    if variable is None or make is None:
        return lambda: numpy.seterr(all="ignore"), lambda token: numpy.seterr(**token)
    quiet = make(all="ignore")
    return lambda: variable.set(quiet), variable.reset


silence, restore = _switches()
