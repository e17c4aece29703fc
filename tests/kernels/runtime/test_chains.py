"""One launch for several members: units, memory of parts, members that cannot be cut alike."""

import numpy
import pytest

from minitorch2.kernels import host
from minitorch2.kernels.runtime import chains, launcher
from minitorch2.kernels.runtime.buffers import pool
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature

SOURCE = (
    "def twice(lo, hi, x, y, n, factor, status):\n"
    "    for row in range(lo, hi):\n"
    "        for column in range(n):\n"
    "            y[row*n + column] = x[row*n + column] * factor\n"
)
SIGNATURE = KernelSignature(("f32", "f32"), sizes=1, scalars=("f32",), grain=1)
F32 = numpy.dtype(numpy.float32)

pytestmark = pytest.mark.skipif(chains.driver() is None, reason="no native products here")


@pytest.fixture
def kernel():
    return compile_kernel(SOURCE, SIGNATURE)


@pytest.fixture
def natively(monkeypatch):
    """Whatever does not run as one launch fails."""
    monkeypatch.setattr(launcher, "thread_count", lambda: 2)
    monkeypatch.setattr(chains, "thread_count", lambda: 2)
    monkeypatch.setattr(chains._Chain, "_one_by_one", None)


def members(kernel):
    """scores = a @ b; weights = factor * scores; result = weights @ c"""
    launch = chains.Launch(kernel.direct(), kernel, (0, 1))
    first, last = (
        host.product_member("f32", places, False) for places in ((-1, -1, 0), (1, -1, -1))
    )
    return [first, launch, last]


def operands(batch, rows, columns, width, seed=0):
    make = numpy.random.default_rng(seed)
    shapes = [(batch, rows, width), (batch, width, columns), (batch, columns, width)]
    return [make.standard_normal(shape).astype(F32) for shape in shapes]


def run(function, a, b, c, factor=0.5):
    batch, rows, columns = a.shape[0], a.shape[1], b.shape[-1]
    inside = chains.room((batch, rows, columns), F32)
    other = chains.room((batch, rows, columns), F32)
    result = numpy.empty((batch, rows, c.shape[-1]), F32)
    launch = (batch * rows, (inside, other), (columns,), (factor,), 10.0)
    function((a, b, inside), launch, (other, c, result))
    return result


def wanted(a, b, c, factor=0.5):
    return (a @ b * numpy.float32(factor)) @ c


SHAPES = [(8, 16, 24, 8), (1, 512, 640, 16), (3, 256, 48, 32), (16, 33, 7, 5), (2, 1024, 1500, 64)]
# Whole matrices are cut where there are enough of them.
CUT = [(shape, whole) for shape in SHAPES for whole in (False, True)
       if not whole or shape[0] >= chains.LEAST_UNITS]  # fmt: skip


@pytest.mark.parametrize("shape, whole", CUT)
def test_a_chain_is_its_members_in_turn(kernel, natively, shape, whole):
    given = operands(*shape)
    function = chains.chain(members(kernel), whole, pool().take)
    found = run(function, *given)
    numpy.testing.assert_allclose(found, wanted(*given), rtol=1e-3, atol=1e-3)
    again = run(function, *operands(*shape, seed=1), factor=0.25)
    assert not numpy.array_equal(found, again)
    assert numpy.array_equal(run(function, *given), found)


def test_more_threads_meanwhile_write_into_no_other_memory(kernel, natively, monkeypatch):
    """Another thread may call set_num_threads between the taking of memory and the launch."""
    kept = []

    def take(shape, dtype, nbytes):
        monkeypatch.setattr(launcher, "thread_count", lambda: 64)
        whole = numpy.full(nbytes + (1 << 20), 7, numpy.uint8)
        kept.append((whole, nbytes))
        return whole[:nbytes]

    given = operands(64, 256, 64, 32)
    function = chains.chain(members(kernel), False, take)
    found = run(function, *given)
    assert len(kept) == 2 and all((whole[nbytes:] == 7).all() for whole, nbytes in kept)
    numpy.testing.assert_allclose(found, wanted(*given), rtol=1e-3, atol=1e-3)


def test_parts_of_rows_are_as_exact_as_all(kernel, natively, monkeypatch):
    """Less room, more units, the same bits."""
    given = operands(2, 512, 512, 64)
    results = []
    for size in (1 << 30, 1 << 18, 1 << 12):
        monkeypatch.setattr(chains, "ROOM", size)
        function = chains.chain(members(kernel), False, pool().take)
        results.append(run(function, *given))
        (cut,) = function.__self__.cuts.values()
        results.append(cut.total)
    assert results[1::2] == [8, 16, 32]
    assert numpy.array_equal(results[0], results[2]) and numpy.array_equal(results[0], results[4])


@pytest.mark.parametrize("shape", [(8, 64, 24, 8), (8, 512, 640, 32), (9, 96, 33, 17)])
@pytest.mark.parametrize("size", [1 << 30, 1 << 12])
def test_sums_over_the_rows_of_all_units(kernel, natively, monkeypatch, shape, size):
    """result = (a @ b * factor).T @ c, where a unit has some rows: it adds its terms."""
    monkeypatch.setattr(chains, "ROOM", size)
    a, b, _ = operands(*shape)
    batch, rows, columns, width = shape
    c = operands(batch, rows, rows, width, seed=4)[2]
    first = host.product_member("f32", (-1, -1, 0), False)
    launch = chains.Launch(kernel.direct(), kernel, (0, 1))
    last = host.product_member("f32", (1, -1, -1), True)
    function = chains.chain([first, launch, last], False, pool().take)
    inside, other = (chains.room((batch, rows, columns), F32, at) for at in (1, 2))
    turned = host.strided(other, (batch, columns, rows), (rows * columns, 1, columns), 0)
    found = numpy.full((batch, columns, width), numpy.nan, F32)
    given = (batch * rows, (inside, other), (columns,), (0.5,), 10.0)
    results = []
    for _ in range(2):  # what was there before does not count
        function((a, b, inside), given, (turned, c, found))
        results.append(found.copy())
    wanted = (a @ b * numpy.float32(0.5)).swapaxes(1, 2) @ c
    numpy.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
    assert numpy.array_equal(*results)
    (cut,) = function.__self__.cuts.values()
    assert cut.total == batch and cut.same == (size > 1 << 20 and not cut.by_blas)


@pytest.mark.parametrize("shape", [(8, 1, 24, 8), (3, 5, 7, 9), (1, 127, 64, 8), (0, 4, 4, 4),
                                   (8, 4, 0, 4)])  # fmt: skip
def test_what_cannot_be_cut_alike_runs_one_by_one(kernel, shape):
    given = operands(*shape)
    function = chains.chain(members(kernel), False, pool().take)
    found = run(function, *given)
    numpy.testing.assert_allclose(found, wanted(*given), rtol=1e-3, atol=1e-3)
    assert list(function.__self__.cuts.values()) == [None]


def test_a_member_that_is_no_machine_code_runs_in_turn(kernel):
    first, launch, last = members(kernel)
    plain = chains.Launch(launch.run, None, launch.places)
    function = chains.chain([first, plain, last], False, pool().take)
    given = operands(8, 16, 24, 8)
    numpy.testing.assert_allclose(run(function, *given), wanted(*given), rtol=1e-4, atol=1e-4)


def test_more_threads_than_units_take_the_members_apart(kernel, monkeypatch):
    """Where that gives the same bits: our own products do."""
    given = operands(8, 128, 128, 64)
    function = chains.chain(members(kernel), True, pool().take)
    together = run(function, *given)
    monkeypatch.setattr(chains, "thread_count", lambda: 64)
    monkeypatch.setattr(function.__self__, "launch", None)
    assert numpy.array_equal(run(function, *given), together)


def test_a_stand_in_has_shape_and_strides_and_no_memory():
    found = chains.room((1 << 20, 1 << 20), F32)
    assert found.shape == (1 << 20, 1 << 20) and found.flags.c_contiguous
    assert chains.room((1 << 20, 1 << 20), F32) is found
