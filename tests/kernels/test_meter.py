"""Launches are counted and timed for those who ask, and only for them."""

import pytest

from minitorch2.artifacts import subscribe
from minitorch2.errors import IndexOutOfRange
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.meter import Tallies
from minitorch2.tensors import wrap
from tests.kernels.test_backend import LAYER, floats

LOOPS = KernelOptions(executor="loops")


def metered(text):
    with subscribe(lambda event: None, also=["runtime.launches"]):
        return compile_graph(parse_graph(text), LOOPS)


def test_nobody_asks_nothing_is_counted():
    with subscribe(lambda event: None):
        assert compile_graph(parse_graph(LAYER), LOOPS).meter is None


def test_launches_of_every_size():
    compiled = metered(LAYER)
    for rows in (2, 5):
        compiled([floats(rows, 8), floats(16, 8), floats(16)])
    names = [tally.name for tally in compiled.meter.tallies]
    assert names == ["matmul_0", "kernel_0", "kernel_1"]
    product, kernel, _ = compiled.meter.tallies
    assert product.launches == kernel.launches == 2
    assert product.flops == 7 * 16 * 8 * 2
    assert product.read == 4 * (7 * 8 + 2 * 16 * 8) and product.written == 4 * 7 * 16
    assert kernel.read == 4 * (7 * 16 + 2 * 16)
    assert kernel.nanoseconds > 0


def test_the_text_has_no_times():
    compiled = metered(LAYER)
    compiled([floats(2, 8), floats(16, 8), floats(16)])
    tallies = Tallies(tuple(("forward", tally) for tally in compiled.meter.tallies))
    first = str(tallies).split("\n")[0]
    assert first == (
        "forward matmul_0: launches 1, bytes read 576, written 128, flops 512  # <text>:3"
    )
    assert tallies.facts()[0]["part"] == "forward" and tallies.facts()[0]["ms"] > 0


def test_a_launch_that_fails_is_not_counted():
    compiled = metered(
        "graph f(%x: i64[4], %i: i64[1]) { %0: i64[1] = index_select(%x, 0, %i) return %0 }"
    )
    with pytest.raises(IndexOutOfRange):
        compiled([wrap(floats(4).array.astype("i8")), wrap(floats(1).array.astype("i8") + 90)])
    assert compiled.meter.tallies[0].launches == 0
