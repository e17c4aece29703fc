"""The native pool: no part is lost, BLAS shares its threads, forks and exits leave nothing behind.

The long versions are marked slow; each takes the seconds of MT2_STRESS_SECONDS (default 10).
"""

import os
import subprocess
import threading
import time

import numpy as np
import pytest

from minitorch2.backends import blas
from minitorch2.config import config
from minitorch2.kernels.runtime import launcher, pool
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from tests.kernels.runtime.processes import command, environment, run

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(not pool.supported(), reason="no native pool here"),
]
SECONDS = float(os.environ.get("MT2_STRESS_SECONDS", "10"))
TWICE = """
def twice(lo, hi, x, y, status):
    for i in range(lo, hi):
        y[i] = x[i] + x[i]
"""
SIGNATURE = KernelSignature(("f32", "f32"))
slow = [pytest.param(SECONDS, marks=pytest.mark.slow)]


def integers(*shape: int) -> np.ndarray:
    """Small whole numbers: their products and sums are exact in any order."""
    return np.random.default_rng(0).integers(-4, 5, shape).astype(np.float32)


class Stress:
    """Threads that repeat work for a while; counts what they did and what was wrong."""

    def __init__(self, seconds: float) -> None:
        kernel = compile_kernel(TWICE, SIGNATURE)
        self.launches = (kernel.launch, kernel.direct())
        self.end = time.monotonic() + seconds
        self.done = 0
        self.wrong: list[str] = []

    def kernels(self) -> None:
        x = integers(4000)
        y, expected = np.zeros_like(x), x + x
        while time.monotonic() < self.end:
            for launch in self.launches * 10:
                y[:] = 0
                launch(x.size, (x, y), (), (), 150.0)
                if not (y == expected).all():
                    self.wrong.append("kernel")
                self.done += 1

    def products(self, size: int) -> None:
        a, b = integers(size, size - 40), integers(size - 40, size + 20)
        expected = a.astype(np.float64) @ b
        while time.monotonic() < self.end:
            for multiply in (blas.product, np.matmul):
                if not (multiply(a, b) == expected).all():
                    self.wrong.append(f"product of {size}")
                self.done += 1

    def run(self) -> None:
        work = [self.kernels] * 4 + [lambda: self.products(300)] * 2
        work += [lambda: self.products(60)] * 2
        threads = [threading.Thread(target=each) for each in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("seconds", [2.0, *slow])
@pytest.mark.parametrize("count", [2, 4])
def test_launches_and_products_from_eight_threads(monkeypatch, seconds, count):
    monkeypatch.setattr(config, "threads", count)
    stress = Stress(seconds)
    stress.run()
    assert stress.wrong == [] and stress.done > 100
    assert launcher.pool.size >= count


def test_more_blas_jobs_than_threads(monkeypatch):
    """Each job gets a thread of its own, or they would wait for each other for ever."""
    monkeypatch.setattr(config, "threads", 2)
    launcher.pool.grow(2)
    before = blas.threads()
    a = integers(600, 600)
    expected = a.astype(np.float64) @ a
    try:
        blas.set_threads(launcher.pool.size + 3)
        for _ in range(5):
            assert (np.matmul(a, a) == expected).all()
    finally:
        blas.set_threads(before)


def test_blas_waits_for_a_pool_that_is_held(monkeypatch):
    """A call that meets a stopped pool runs on threads of its own; here it waits, then runs."""
    monkeypatch.setattr(config, "threads", 2)
    launcher.pool.grow(2)
    a = integers(600, 600)
    found: list[np.ndarray] = []
    pool.code().hold()
    try:
        thread = threading.Thread(target=lambda: found.append(np.matmul(a, a)))
        thread.start()
        time.sleep(0.05)
    finally:
        pool.code().release()
    thread.join()
    assert (found[0] == a.astype(np.float64) @ a).all()


def test_threads_sleep_when_there_is_nothing_to_do(monkeypatch):
    monkeypatch.setattr(config, "threads", 2)
    kernel = compile_kernel(TWICE, SIGNATURE)
    x = integers(4000)
    kernel.launch(x.size, (x, x.copy()), cost=100.0)
    time.sleep(0.05)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.2


FORKS = """
import os, sys, threading, time, warnings
from minitorch2.backends import blas
a = np.ones((300, 300), np.float32)
def both():
    check(100_000)
    assert (blas.product(a, a) == 300).all()
both()
busy = {busy}
def work():
    while busy:
        both()
if busy:
    warnings.simplefilter("ignore", DeprecationWarning)  # that very thread
    worker = threading.Thread(target=work)
    worker.start()
end, forks = time.monotonic() + {seconds}, 0
while time.monotonic() < end or not forks:
    child = os.fork()
    if child == 0:
        both()
        os._exit(0)
    both()
    assert os.waitpid(child, 0)[1] == 0
    forks += 1
busy = False
print("done")
"""


@pytest.mark.parametrize("seconds", [2.0, *slow])
@pytest.mark.parametrize("busy", [False, True])
def test_forks_with_and_without_launches_elsewhere(tmp_path, seconds, busy):
    script = FORKS.format(seconds=seconds, busy=busy)
    assert run(script, tmp_path, timeout=seconds + 60) == "done\n"


@pytest.mark.parametrize("seconds", [3.0, *slow])
def test_starts_and_exits(tmp_path, seconds):
    run("check(300_000)", tmp_path)
    script = "check(300_000); a = np.ones((300, 300), np.float32); print((a @ a)[0, 0])"
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done = subprocess.run(
            command(script), env=environment(tmp_path), capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, "300.0\n", "")
