"""Launches: the same results for any number of threads, safe with forks, threads and exits."""

import os
import threading
import time

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.kernels.runtime import launcher, pool
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from tests.kernels.runtime.processes import run

pytestmark = pytest.mark.numba
SOURCE = """
def tangent(lo, hi, x, y, status):
    for i in range(lo, hi):
        y[i] = tanh(x[i])
"""
SIGNATURE = KernelSignature(("f32", "f32"))


@pytest.fixture
def threads(monkeypatch):
    """Set the number of threads for one test."""
    return lambda count: monkeypatch.setattr(config, "threads", count)


def test_any_number_of_threads_gives_the_same_bits(threads):
    kernel = compile_kernel(SOURCE, SIGNATURE)
    for size in (1, 63, 64, 65, 1000, 100_003):
        x = np.random.default_rng(size).normal(size=size).astype(np.float32)
        results = []
        for count in (1, 2, 3, 5):
            threads(count)
            y = np.zeros(size + 1, np.float32)
            kernel.launch(size, (x, y), cost=1e6)
            assert y[size] == 0, "wrote past the end"
            results.append(y)
        assert all((result == results[0]).all() for result in results)


def test_chunks_begin_at_multiples_of_the_grain(threads):
    source = "def marks(lo, hi, y, status):\n    y[lo] = i64(1)\n"
    kernel = compile_kernel(source, KernelSignature(("i64",), grain=64))
    threads(3)
    y = np.zeros(1000, np.int64)
    kernel.launch(1000, (y,), cost=1e6)
    starts = np.flatnonzero(y)
    assert len(starts) >= 3 and starts[0] == 0 and not (starts % 64).any()


def test_small_work_starts_no_threads(threads, monkeypatch):
    threads(4)
    monkeypatch.setattr(launcher, "pool", None)
    kernel = compile_kernel(SOURCE, SIGNATURE)
    x = np.ones(100, np.float32)
    kernel.launch(100, (x, x.copy()))


@pytest.mark.skipif(not pool.supported(), reason="no native pool here")
def test_a_busy_pool_leaves_the_work_to_the_caller(threads):
    threads(2)
    kernel = compile_kernel(SOURCE, SIGNATURE)
    x, y = np.ones(100_000, np.float32), np.zeros(100_000, np.float32)
    pool.code().hold()
    try:
        kernel.launch(x.size, (x, y), cost=100)
    finally:
        pool.code().release()
    assert (y == y[0]).all() and y[0] > 0


def test_launches_from_many_python_threads(threads):
    threads(2)
    kernel = compile_kernel(SOURCE, SIGNATURE)
    x = np.random.default_rng(0).normal(size=50_000).astype(np.float32)
    expected = np.zeros_like(x)
    kernel.launch(x.size, (x, expected))
    wrong: list[int] = []

    def work() -> None:
        for _ in range(50):
            y = np.zeros_like(x)
            kernel.launch(x.size, (x, y), cost=10)
            if not (y == expected).all():
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_kernels_run_without_the_interpreter_lock(threads):
    threads(1)
    source = "def spin(lo, hi, y, n, status):\n    for i in range(lo, hi):\n"
    source += "        for k in range(n):\n            y[i] = sin(y[i]) + f64(k)\n"
    kernel = compile_kernel(source, KernelSignature(("f64",), sizes=1))
    y = np.zeros(1)
    ticks: list[float] = []
    worker = threading.Thread(target=lambda: kernel.launch(1, (y,), (20_000_000,)))
    worker.start()
    while worker.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    worker.join()
    assert len(ticks) > 10


def test_the_pool_starts_again_after_a_stop(threads):
    threads(2)
    launcher.pool.stop()
    launcher.pool.resume()
    assert launcher.pool.size == 1
    kernel = compile_kernel(SOURCE, SIGNATURE)
    x, y = np.ones(100_000, np.float32), np.zeros(100_000, np.float32)
    kernel.launch(x.size, (x, y), cost=100)
    assert launcher.pool.size >= 2 and y.all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_before_and_after(tmp_path):
    """Parent and child both launch after a fork, with warnings as errors."""
    script = """
    import os
    check(2_000_000)
    for _ in range(3):
        child = os.fork()
        if child == 0:
            check(2_000_000)
            os._exit(0)
        check(2_000_000)
        assert os.waitpid(child, 0)[1] == 0
    print("done")
    """
    assert run(script, tmp_path) == "done\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_fork_while_other_threads_launch(tmp_path):
    script = """
    import os, threading, warnings
    check(2_000_000)
    stop = False
    def work():
        while not stop:
            check(500_000)
    worker = threading.Thread(target=work)
    worker.start()
    warnings.simplefilter("ignore", DeprecationWarning)  # this very thread
    for _ in range(5):
        child = os.fork()
        if child == 0:
            check(500_000)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop = True
    worker.join()
    print("done")
    """
    assert run(script, tmp_path) == "done\n"


def test_exit_is_clean_and_quick(tmp_path):
    run("check(2_000_000)", tmp_path)
    started = time.perf_counter()
    run("check(2_000_000)", tmp_path)
    assert time.perf_counter() - started < 20


def test_exit_from_a_thread_that_launches(tmp_path):
    script = """
    import threading, time
    check()
    def work():
        for _ in range(20):
            check(300_000)
    threading.Thread(target=work).start()
    time.sleep(0.01)
    """
    run(script, tmp_path)
