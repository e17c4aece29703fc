"""What a fork finds and leaves: locks that are free in the child, imports that are over.

A child has the thread that forked and no other, but all of the memory. What another thread was in
the middle of stays so for ever. There are three kinds of it, see Note [Locks and forks]:

    _lock = forks.lock()                        # Python's data: free in the child
    forks.around(hold, release, release)        # foreign data: nobody is in the middle of it
    (imports of this package need nothing)      # a fork waits for them

Source: https://docs.python.org/3/library/os.html#os.register_at_fork
"""

import contextlib
import importlib
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

# Note [Locks and forks]
# A lock that another thread holds during a fork is held for ever in the child, where that thread
# does not exist. Three remedies, by what the lock guards.
# - Values of Python that are whole between any two bytecodes (a counter, a dict that is filled):
#   `lock()` makes a lock that is free in the child, unless the thread that forked holds it. It has
#   to be reentrant, for only such a lock knows whose it is.
# - Data of C code, such as LLVM's or the threads' of a pool: the thread that forks takes the lock
#   first, so that nobody else is inside, and both processes give it back: `around`.
# - Modules in the middle of their import, and the lock that Python keeps for each of them: the
#   fork waits until they are there. Only for those of PATIENT, whose imports end by themselves: the
#   import of a user's module may be the whole program.
# The waiting comes first, as long as the forking thread holds nothing that an import may need, and
# again at the end, since new imports may have begun meanwhile.
PATIENT = ("minitorch2", "numpy", "numba", "llvmlite", "ml_dtypes")
_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_around: list[tuple[Callable[[], Any], Callable[[], Any], Callable[[], Any]]] = []


def lock() -> Any:
    """A new lock, `threading.RLock()`, that other threads do not hold in a forked child."""
    made = threading.RLock()
    _locks.add(made)
    return made


def around(
    before: Callable[[], Any], in_parent: Callable[[], Any], in_child: Callable[[], Any]
) -> None:
    """Call a function before each fork, and one after it in either process.

    What was given last is called first before a fork, and last after it.
    """
    _around.append((before, in_parent, in_child))


def _unfinished() -> Iterator[str]:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] in PATIENT:
            spec = getattr(module, "__dict__", {}).get("__spec__")
            if getattr(spec, "_initializing", False):
                yield name


def _wait_for_imports(own: set[str]) -> None:
    """`own`: the modules whose import this thread is inside of, as far as is known: no waiting."""
    while waiting := _others_import(own):
        for name in waiting:
            with contextlib.suppress(Exception):  # told to the thread that imports it
                importlib.import_module(name)
        own.update(set(waiting).intersection(_unfinished()))


def _others_import(own: set[str]) -> list[str]:
    return [name for name in _unfinished() if name not in own]


def _before() -> None:
    own: set[str] = set()
    while True:
        _wait_for_imports(own)
        for before, _, _ in reversed(_around):
            before()
        if not _others_import(own):
            return
        _in_parent()


def _in_parent() -> None:
    for _, in_parent, _ in _around:
        in_parent()


def _in_child() -> None:
    for each in list(_locks):
        if not each._is_owned():
            each._at_fork_reinit()
    for _, _, in_child in _around:
        in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
