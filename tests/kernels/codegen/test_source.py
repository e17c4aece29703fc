"""Generated source: the ABI's types, the fixed order of sums, vector loops."""

import re

import numpy
import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import compile_graph
from minitorch2.kernels.codegen.reductions import lane_count
from minitorch2.kernels.codegen.source import generate_source
from minitorch2.kernels.index import constant, symbol
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.runtime.compile import compile_kernel, plain_kernel
from minitorch2.tensors import wrap
from tests.kernels.graphs import random_graph

SUM = """\
kernel total(a: f32[{n}] in, y: f32[1] out) {{
  reduce i in {n} {{
    v: f32 = a[i]
  }} into r: f32 = sum(v)
  y[0] = r
}}"""


@pytest.mark.parametrize("number", range(20))
def test_every_index_is_unsigned(number):
    """No bare integer stands in an index or a range: it would be signed and stop vectorizing."""
    for source in compile_graph(random_graph(number)).sources.kernels:
        for line in source.text.split("\n"):
            for inside in re.findall(r"range\((.*)\):|\[(.*?)\]", line):
                bare = re.sub(r"u64\(\d+\)|[A-Za-z_]\w*", "", "".join(inside))
                assert not re.search(r"\d", bare), line


def test_the_table_covers_every_line():
    compiled = compile_graph(parse_graph("graph f(%x: f32[9]) { %0: f32[9] = exp(%x) return %0 }"))
    source = compiled.sources.kernels[0]
    assert len(source.lines) == source.text.count("\n")


def lane_sum(values: numpy.ndarray, lanes: int) -> numpy.float32:
    """The order that reductions.py writes down, in numpy."""
    if lanes == 1:
        total = numpy.float32(0)
        for value in values:
            total = total + value
        return total
    acc = numpy.zeros(lanes, "f4")
    for start in range(0, len(values), lanes):
        part = values[start : start + lanes]
        acc[: len(part)] += part
    while len(acc) > 8:
        acc = acc[: len(acc) // 2] + acc[len(acc) // 2 :]
    pairs = acc[0::2] + acc[1::2]
    return (pairs[0] + pairs[1]) + (pairs[2] + pairs[3])


@pytest.mark.numba
@pytest.mark.parametrize("n", [1, 7, 16, 63, 64, 100, 1000, 5000])
def test_sums_run_in_the_order_that_is_written_down(n):
    source = generate_source(parse_kernel(SUM.format(n=n)))
    values = numpy.random.RandomState(n).randn(n).astype("f4")
    wanted = lane_sum(values, lane_count(constant(n)))
    for run in (plain_kernel(source.text), compile_kernel(source.text, source.signature).launch):
        result = numpy.zeros(1, "f4")
        run(1, [values, result])
        assert result[0] == wanted


def test_the_number_of_lanes_depends_on_the_extent_alone():
    assert [lane_count(constant(n)) for n in (4, 16, 64, 4096)] == [1, 16, 64, 256]
    assert lane_count(symbol("s0")) == 64


@pytest.mark.numba
def test_many_arrays_still_vectorize():
    names = ", ".join(f"%x{at}: f32[4096]" for at in range(11))
    nodes = ["%0: f32[4096] = add(%x0, %x1)"]
    nodes += [f"%{at}: f32[4096] = mul(%{at - 1}, %x{at + 1})" for at in range(1, 10)]
    body = "\n".join(nodes)
    graph = parse_graph(f"graph f({names}) {{\n{body}\nreturn %9\n}}")
    source = compile_graph(graph).sources.kernels[0]
    assert len(source.signature.arrays) == 12
    assembly = compile_kernel(source.text, source.signature).assembly()
    assert len(re.findall(r"mulps|fmul\s+v\d+\.4s", assembly)) >= 9


@pytest.mark.numba
@pytest.mark.parametrize("shape", [(1, 3), (5, 7), (64, 64), (130, 9)])
def test_transposed_reads_go_in_tiles(shape):
    rows, columns = shape
    graph = parse_graph(
        f"graph f(%x: f32[{rows},{columns}]) {{\n"
        f"%0: f32[{columns},{rows}] = transpose(%x, 0, 1)\n"
        f"%1: f32[{columns},{rows}] = mul(%0, %0)\nreturn %1\n}}"
    )
    compiled = compile_graph(graph)
    assert ("width" in compiled.sources.kernels[0].text) == (rows > 1)
    x = numpy.random.RandomState(0).randn(rows, columns).astype("f4")
    numpy.testing.assert_array_equal(compiled([wrap(x)])[0].array, (x * x).T)


ROWS = {
    "softmax": "%0: f32[5,1] = amax(%x, (1,), True) %1: f32[5,512] = sub(%x, %0, 1) "
    "%2: f32[5,512] = exp(%1) %3: f32[5,1] = sum(%2, (1,), True) "
    "%4: f32[5,512] = true_divide(%2, %3) return %4",
    "maximum of a row": "%0: f32[5] = amax(%x, (1,), False) return %0",
    "rows and a vector": "%0: f32[5,512] = add(%x, %w, 1) return %0",
    "a transposed copy": "%0: f32[512,5] = permute(%x, (1, 0)) "
    "%1: f32[512,5] = add(%0, %0, 1) return %1",
    "elements": "%0: f32[5,512] = exp(%x) return %0",
}


@pytest.mark.numba
@pytest.mark.parametrize("body", ROWS.values(), ids=ROWS)
def test_few_rows_are_work_for_several_threads(body):
    """Each of two parts writes about a half of the results, and nothing of the other's."""
    graph = parse_graph(f"graph f(%x: f32[5,512], %w: f32[512]) {{ {body} }}")
    compiled = compile_graph(graph)
    [source], [step] = compiled.sources.kernels, compiled.plan.steps
    kernel = compile_kernel(source.text, source.signature)
    values = numpy.random.default_rng(0).normal(size=5 * 512).astype("f4")
    total, size = step.kernel.parallel_extent.as_int(), step.kernel.buffers[-1].size.as_int()
    out = numpy.full((2, size), numpy.nan, "f4")
    status = numpy.zeros(4, numpy.int64)
    for part in range(2):
        given = [values] * (len(source.signature.arrays) - 1) + [out[part]]
        addresses = [array.ctypes.data for array in given]
        block = source.signature.pack(total, status.ctypes.data, addresses)
        assert kernel.native(block, part, 2) == 0
    written = ~numpy.isnan(out)
    assert (written.sum(0) == 1).all()
    assert written.sum(1).max() <= 3 / 5 * size + 64
