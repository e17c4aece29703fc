"""The pool without native code: all parts run once, alone when it is busy, and it starts again."""

import threading

import pytest

from minitorch2.kernels.runtime.queue_pool import QueuePool

pytestmark = pytest.mark.pure


@pytest.fixture
def pool():
    """A pool of two threads that ends with the test."""
    made = QueuePool()
    made.grow(2)
    yield made
    made.close()


def recorder() -> tuple[list[tuple[int, int]], object]:
    seen: list[tuple[int, int]] = []

    def native(block: bytes, i: int, parts: int) -> int:
        seen.append((i, threading.get_ident()))
        return 0

    return seen, native


@pytest.mark.parametrize("parts", [1, 2, 5])
def test_all_parts_run_once(pool, parts):
    seen, native = recorder()
    pool.run(native, b"", parts)
    assert sorted(i for i, _ in seen) == list(range(parts))


def test_a_busy_pool_leaves_the_work_to_the_caller(pool):
    seen, native = recorder()
    with pool.lock:
        pool.run(native, b"", 2)
    assert {thread for _, thread in seen} == {threading.get_ident()}


def test_it_starts_again_after_a_stop(pool):
    pool.stop()
    pool.resume()
    assert pool.size == 1
    pool.grow(2)
    assert pool.size == 2
