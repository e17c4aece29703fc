"""Python's search for cycles, put off while much is made that stays.

Capture, compilation and imports make hundreds of thousands of objects, nearly all of which stay. By
default the collector walks through them after every 700 new ones, and through all that the process
has now and then: a tenth of the time of a first call, for nothing. In a block it waits for MANY,
and what the block has made joins the oldest objects, which are looked at last.

    with rarely_collected():
        import_or_compile_something()

Source: the `gc` module's documentation of thresholds.
"""

import gc
from contextlib import ContextDecorator
from typing import Any

MANY = 500_000


class rarely_collected(ContextDecorator):
    """A block, or a function, in which the collector runs rarely. What the user has set stays."""

    def __enter__(self) -> None:
        self.before = gc.get_threshold()
        if 0 < self.before[0] < MANY:
            gc.set_threshold(MANY, *self.before[1:])

    def __exit__(self, *error: Any) -> None:
        if gc.get_threshold()[0] != MANY or self.before[0] == MANY:
            return
        if gc.get_freeze_count() == 0:  # else the user's frozen objects would thaw
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*self.before)

    def _recreate_cm(self) -> "rarely_collected":
        return rarely_collected()
