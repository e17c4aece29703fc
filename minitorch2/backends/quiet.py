"""Floating-point warnings off around one numpy call, cheaply.

In: nothing. Out: `token = silence()`, and `restore(token)` when done. numpy.errstate does the same
for five times the price, which a small addition would pay; it is the fallback where numpy has no
such context variable.

    token = silence()
    try:
        numpy.divide(1.0, 0.0)
    finally:
        restore(token)

Source: numpy's errstate, which sets the same context variable.
"""

from typing import Any

import numpy

try:
    from numpy._core.umath import (  # type: ignore[attr-defined]
        _extobj_contextvar as _state,
    )
    from numpy._core.umath import _make_extobj  # type: ignore[attr-defined]

    _QUIET = _make_extobj(all="ignore")

    def silence() -> Any:
        """Ignore floating-point warnings from now on; returns what `restore` needs."""
        return _state.set(_QUIET)

    restore = _state.reset
except (ImportError, TypeError, AttributeError):

    def silence() -> Any:
        """Ignore floating-point warnings from now on; returns what `restore` needs."""
        return numpy.seterr(all="ignore")

    def restore(token: Any) -> None:
        """Put the settings back that `silence` found."""
        numpy.seterr(**token)
