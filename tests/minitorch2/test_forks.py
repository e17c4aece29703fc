"""A forked child finds free locks and whole modules, whatever other threads were doing."""

import os
import subprocess
import sys
import threading
import time
import types

import pytest

import minitorch2 as torch
from minitorch2 import forks
from minitorch2.jit import syntax
from minitorch2.kernels import eager_composites
from minitorch2.kernels.runtime import compile as compiling

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # threads and forks: this very thing
]


def in_child(function) -> int:
    """The exit status of a child that calls the function: 0 where it returns True in time."""
    child = os.fork()
    if child == 0:
        os._exit(0 if function() is True else 1)
    for _ in range(1000):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.02)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return -9


class Held:
    """A lock held by another thread within the block."""

    def __init__(self, lock):
        self.lock, self.inside, self.over = lock, threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._hold)

    def _hold(self):
        with self.lock:
            self.inside.set()
            self.over.wait()

    def __enter__(self):
        self.thread.start()
        self.inside.wait()

    def __exit__(self, *error):
        self.over.set()
        self.thread.join()


def taken(lock) -> bool:
    return lock.acquire(timeout=5)


def test_a_lock_that_another_thread_holds_is_free_in_the_child():
    lock = forks.lock()
    with Held(lock):
        assert in_child(lambda: taken(lock)) == 0
        assert not lock.acquire(blocking=False)  # and held here as before
    assert lock.acquire(blocking=False)


def test_a_lock_that_the_forking_thread_holds_stays_its_own():
    lock = forks.lock()

    def others_may_not():
        found = []
        thread = threading.Thread(target=lambda: found.append(lock.acquire(blocking=False)))
        thread.start()
        thread.join()
        lock.release()
        return found == [False]

    with lock:
        assert in_child(others_may_not) == 0


def everyday_locks():
    doubled = torch.compile(lambda x: x * 2)
    doubled(torch.ones(3))
    return {
        "generator": torch.default_generator.lock, "compiled function": doubled.cache._lock,
        "syntax": syntax._lock, "composites": eager_composites._lock, "kernels": compiling._guard,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["generator", "compiled function", "syntax", "composites", "kernels"]
)
def test_the_locks_of_the_package(name):
    lock = everyday_locks()[name]
    with Held(lock):
        assert in_child(lambda: taken(lock)) == 0


def test_what_is_called_around_a_fork():
    calls = []
    before = list(forks._around)
    forks.around(lambda: calls.append("b1"), lambda: calls.append("p1"), lambda: calls.append("c1"))
    forks.around(lambda: calls.append("b2"), lambda: calls.append("p2"), lambda: calls.append("c2"))
    try:
        assert in_child(lambda: calls == ["b2", "b1", "c1", "c2"]) == 0
        assert calls == ["b2", "b1", "p1", "p2"]
    finally:
        forks._around[:] = before


SLOW = """
import importlib.abc, importlib.util, os, sys, threading, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)
import minitorch2 as torch

NAME = "minitorch2.slow_to_import"
started = threading.Event()

class Slow(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        return importlib.util.spec_from_loader(name, self) if name == NAME else None

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        started.set()
        time.sleep(0.5)
        FAILS
        module.value = 5

sys.meta_path.insert(0, Slow())

def quietly():
    try:
        importlib.import_module(NAME)
    except ValueError:
        pass

thread = threading.Thread(target=quietly)
thread.start()
started.wait()
child = os.fork()
if child == 0:
    try:
        os._exit(importlib.import_module(NAME).value)
    except ValueError:
        os._exit(7)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def printed(script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_fork_waits_for_a_module_that_another_thread_imports():
    assert printed(SLOW.replace("FAILS", "pass")) == "5\n"


def test_an_import_that_fails_meanwhile_is_told_to_who_asked_for_it():
    assert printed(SLOW.replace("FAILS", "raise ValueError")) == "7\n"


def test_a_module_may_fork_while_it_is_imported():
    """Nobody waits for the import that this thread is inside of."""
    module = types.ModuleType("minitorch2.forking")
    module.__spec__ = types.SimpleNamespace(name=module.__name__, _initializing=True)
    sys.modules[module.__name__] = module
    try:
        assert in_child(lambda: True) == 0
    finally:
        del sys.modules[module.__name__]
