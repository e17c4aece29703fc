"""torch.futures: a value that another thread will set.

In: `set_result` in one thread. Out: `wait` and `value` in another, and functions called then.

    >>> future = Future()
    >>> future.set_result(3)
    >>> future.then(lambda done: done.value() + 1).wait()
    4

Source: torch.futures.
"""

import concurrent.futures
from collections.abc import Callable
from typing import Any

from minitorch2.errors import OperationError


class Future:
    """A value to come."""

    def __init__(self, *, devices: Any = None):
        self._future: concurrent.futures.Future = concurrent.futures.Future()

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def done(self) -> bool:
        """Whether the value, or an error, is there."""
        return self._future.done()

    def wait(self) -> Any:
        """The value, once it is there; raises the error that was set instead."""
        return self._future.result()

    def value(self) -> Any:
        """The value, which must be there."""
        if not self.done():
            raise OperationError(
                "Future.value()",
                "Future expected to be completed before value() was called",
                "use wait()",
            )
        return self._future.result()

    def set_result(self, result: Any) -> None:
        """Set the value, once, and call what waits for it."""
        if self.done():
            raise OperationError("Future.set_result()", "Future can only be marked completed once")
        self._future.set_result(result)

    def set_exception(self, result: BaseException) -> None:
        """Set an error instead of a value."""
        self._future.set_exception(result)

    def then(self, callback: Callable) -> "Future":
        """A future of what `callback(this future)` will return."""
        following = Future()

        def call(_: Any) -> None:
            try:
                following.set_result(callback(self))
            except Exception as error:
                following.set_exception(error)

        self._future.add_done_callback(call)
        return following

    def add_done_callback(self, callback: Callable) -> None:
        """Call `callback(this future)` when it is done."""
        self._future.add_done_callback(lambda _: callback(self))


def collect_all(futures: Any) -> Future:
    """A future of the list of futures, done when all of them are."""
    waiting, gathered = list(futures), Future()
    left = [len(waiting)]

    def one_done(_: Any) -> None:
        left[0] -= 1
        if not left[0]:
            gathered.set_result(waiting)

    if not waiting:
        gathered.set_result([])
    for future in waiting:
        future.add_done_callback(one_done)
    return gathered


def wait_all(futures: Any) -> list:
    """The values of all futures, once they are there."""
    return [future.wait() for future in collect_all(futures).wait()]
