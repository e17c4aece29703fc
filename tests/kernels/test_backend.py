"""The whole back end: random graphs under every executor, layouts, writes, errors, events."""

import numpy
import pytest

import minitorch2
from minitorch2.artifacts import subscribe
from minitorch2.errors import DivisionByZero, IndexOutOfRange
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import EXECUTORS, KernelOptions, compile_graph
from minitorch2.tensors import wrap
from tests.kernels.graphs import assert_close, check_graph, random_graph, random_inputs


@pytest.mark.parametrize("number", range(60))
@pytest.mark.parametrize(
    "options",
    [
        KernelOptions(True, "loops"),
        KernelOptions(True, "python"),
        KernelOptions(False, "python"),
    ],
    ids=lambda o: f"{o.executor}-{'fused' if o.fuse else 'single'}",
)
def test_random_graphs(number, options):
    graph = random_graph(number)
    check_graph(graph, random_inputs(graph, number), options)


@pytest.mark.parametrize("number", range(60))
def test_random_graphs_of_unknown_size(number):
    graph = random_graph(number, symbolic=True)
    check_graph(graph, random_inputs(graph, number), KernelOptions(executor="python"))


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("number", range(60, 90))
def test_random_graphs_compiled(number):
    graph = random_graph(number)
    check_graph(graph, random_inputs(graph, number), KernelOptions())


LAYER = """graph layer(%x: f32[s0,8], %w: f32[16,8], %b: f32[16]) {
  %0: f32[8,16] = transpose(%w, 0, 1)
  %1: f32[s0,16] = matmul(%x, %0)
  %2: f32[s0,16] = add(%1, %b)
  %3: f32[s0,1] = amax(%2, (1,), True)
  %4: f32[s0,16] = sub(%2, %3)
  %5: f32[s0,16] = exp(%4)
  %6: f32[s0,1] = sum(%5, (1,), True)
  %7: f32[s0,16] = true_divide(%5, %6)
  %8: f32[] = sum(%7)
  return %7, %8
}"""


def floats(*shape: int) -> minitorch2.Tensor:
    """A tensor of normal numbers, the same on every run."""
    return wrap(numpy.random.RandomState(0).randn(*shape).astype("f4"))


@pytest.mark.numba
def test_a_layer_is_one_product_and_two_kernels_for_every_size():
    compiled = compile_graph(parse_graph(LAYER))
    assert [type(step).__name__ for step in compiled.plan.steps] == [
        "ProductStep", "KernelStep", "KernelStep",
    ]  # fmt: skip
    for rows in (2, 5, 300):
        inputs = [floats(rows, 8), floats(16, 8), floats(16)]
        assert_close(compiled(inputs), interpret(parse_graph(LAYER), inputs))


@pytest.mark.numba
def test_results_do_not_depend_on_threads(monkeypatch):
    graph = parse_graph("graph f(%x: f32[1000,257]) { %0: f32[] = sum(%x) return %0 }")
    compiled, x = compile_graph(graph), floats(1000, 257)
    found = set()
    for threads in (1, 2, 3):
        monkeypatch.setattr("minitorch2.config.config.threads", threads)
        found.add(compiled([x])[0].array.tobytes())
    assert len(found) == 1


@pytest.mark.parametrize("executor", EXECUTORS)
def test_output_layouts(executor):
    graph = parse_graph(
        "graph f(%x: f32[3,4] strides(1,3)) {\n"
        "  %0: f32[3,4] = exp(%x)\n"
        "  %1: f32[4,3] = transpose(%0, 0, 1)\n"
        "  return %0: strides(1,3), %1: strides(3,1), %x: alias(%x, 0)\n"
        "}"
    )
    x = floats(4, 3).transpose(0, 1)
    first, second, third = compile_graph(graph, KernelOptions(executor=executor))([x])
    assert first.layout.strides == (1, 3) and second.layout.strides == (3, 1)
    assert third is x
    assert first.storage is not second.storage
    assert_close([first, second.transpose(0, 1)], [x.exp(), x.exp()])


@pytest.mark.parametrize("executor", EXECUTORS)
def test_writes_see_the_old_values(executor):
    graph = parse_graph(
        "graph f(%x: f32[4], %y: f32[4]) {\n"
        "  %0: f32[4] = add(%x, %y)\n"
        "  %1: f32[4] = flip(%x, (0,))\n"
        "  return %0: strides(1)\n"
        "  writes (%x <- %0, %y <- %1)\n"
        "}"
    )
    x, y = wrap(numpy.arange(4, dtype="f4")), wrap(numpy.ones(4, "f4"))
    version = x._version
    [total] = compile_graph(graph, KernelOptions(executor=executor))([x, y])
    assert x.tolist() == total.tolist() == [1, 2, 3, 4] and y.tolist() == [3, 2, 1, 0]
    assert x._version == version + 1


@pytest.mark.parametrize("executor", EXECUTORS)
def test_failures_name_the_users_line(executor):
    graph = parse_graph(
        "graph f(%x: i64[4], %i: i64[2]) {\n"
        "  %0: i64[2] = index_select(%x, 0, %i)\n"
        "  %1: i64[2] = floor_divide(7, %0)\n"
        "  return %1\n"
        "}"
    )
    compiled = compile_graph(graph, KernelOptions(executor=executor))
    x, good, bad = (wrap(numpy.array(v)) for v in ([1, 2, 0, 4], [0, 1], [1, 9]))
    assert compiled([x, good])[0].tolist() == [7, 3]
    with pytest.raises(IndexOutOfRange, match=r"index 9 is out of bounds[^$]*<text>:2"):
        compiled([x, bad])
    with pytest.raises(DivisionByZero, match=r"<text>:3"):
        compiled([x, wrap(numpy.array([0, 2]))])


def test_events_say_what_happened():
    events = []
    with subscribe(events.append):
        compile_graph(parse_graph(LAYER), KernelOptions(executor="loops"), "layer.py:f#0")
    assert [event.stage for event in events] == [
        "loops.lowered", "loops.fused", "kernel.source", "kernel.cost", "memory.planned",
    ]  # fmt: skip
    lowered, fused, source = events[:3]
    assert lowered.facts["kernels"] > fused.facts["kernels"] == 2
    assert any("matmul is a step of its own" in text for text in fused.facts["refusals"])
    assert fused.unit == "layer.py:f#0"
    lines = source.facts["lines"]["kernel_0"]
    text = source.payload.kernels[0].text.split("\n")
    number = next(n for n, line in enumerate(text, 1) if "exp(" in line)
    assert lines[number] == ["<text>:7"]


def test_the_golden_layer(golden):
    events = []
    with subscribe(events.append):
        compile_graph(parse_graph(LAYER), KernelOptions(executor="loops"))
    golden(events[1].text, part="fused")
    golden(events[2].text, ext="py", part="source")


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
def test_a_product_of_infinities_is_silent_as_eager_is(dtype):
    graph = parse_graph(
        f"graph g(%x: {dtype}[3,3], %y: {dtype}[3,3]) {{\n"
        f"  %0: {dtype}[3,3] = matmul(%x, %y)\n  return %0\n}}"
    )
    x = minitorch2.full((3, 3), float("inf"), dtype=minitorch2.dtypes.from_short(dtype))
    run = compile_graph(graph, KernelOptions(executor="python"))
    (found,) = run([x, minitorch2.zeros_like(x)])
    assert found.isnan().all()


PARTS = [
    (6, 1, "slice(%0, 1, 0, 1)"),
    (6, 2, "slice(%0, 1, 0, 2)"),
    (1, 4, "slice(%0, 0, 0, 1)"),
    (3, 4, "slice(%0, 0, 0, 3)"),
    (4, 1, "slice(%1, 1, 0, 1)"),
    (2, 6, "slice(%1, 0, 0, 2)"),
    (4, 6, "transpose(%0, 0, 1)"),
]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("row_major", [True, False])
@pytest.mark.parametrize(("rows", "columns", "part"), PARTS)
def test_a_returned_part_of_a_product_leaves_the_product_whole(
    rows, columns, part, row_major, executor
):
    strides = f"{columns},1" if row_major else f"1,{rows}"
    graph = parse_graph(
        "graph f(%x: f32[6,3], %y: f32[3,4]) {\n"
        "  %0: f32[6,4] = matmul(%x, %y)\n"
        "  %1: f32[4,6] = transpose(%0, 0, 1)\n"
        f"  %2: f32[{rows},{columns}] = {part}\n"
        "  %3: f32[6,4] = mul(%0, 2)\n"
        f"  return %2: strides({strides}), %3\n"
        "}"
    )
    inputs = [floats(6, 3), floats(3, 4)]
    found = compile_graph(graph, KernelOptions(executor=executor))(inputs)
    assert_close(found, interpret(graph, inputs))
    assert f"({strides})" == str(found[0].layout.strides).replace(" ", "")
