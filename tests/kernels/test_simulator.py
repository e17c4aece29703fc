"""A GPU's schedules in the simulator: random graphs, real models, and mistakes it must notice."""

import numpy
import pytest

import minitorch2
import minitorch2.nn.functional as F
from minitorch2.artifacts import subscribe
from minitorch2.config import config
from minitorch2.errors import IndexOutOfRange
from minitorch2.jit.ir.graph import GraphBuilder
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.printer import print_kernel
from minitorch2.kernels.runtime.signature import KernelFailure
from minitorch2.kernels.schedule.gpu import schedule_gpu
from minitorch2.kernels.simulator import SimulatorError, simulate_kernel
from minitorch2.tensors import wrap
from tests.kernels.graphs import assert_close, check_graph, random_graph, random_inputs

SIM = KernelOptions(executor="sim")


@pytest.mark.parametrize("number", range(80))
def test_random_graphs(number):
    graph = random_graph(number)
    check_graph(graph, random_inputs(graph, number), SIM)


@pytest.mark.parametrize("number", range(40))
def test_random_graphs_of_unknown_size(number):
    graph = random_graph(number, symbolic=True)
    check_graph(graph, random_inputs(graph, number), SIM)


@pytest.mark.parametrize("number", range(40))
def test_schedules_round_trip(number):
    kernels = []
    with subscribe(lambda event: kernels.extend(steps(event))):
        compile_graph(random_graph(number), SIM)
    for kernel in map(schedule_gpu, kernels):
        assert parse_kernel(print_kernel(kernel)) == kernel


def steps(event):
    """The kernels of an event "loops.fused"."""
    if event.stage != "loops.fused":
        return []
    return [step for step in event.payload.steps if not isinstance(step, str)]


WIDTHS = (1, 3, 31, 64, 100, 257, 1024, 1028, 3000)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [1, 5])
def test_softmax_of_any_width(rows, width):
    graph = parse_graph(f"""graph softmax(%x: f32[{rows},{width}]) {{
      %0: f32[{rows},1] = amax(%x, (1,), True)
      %1: f32[{rows},{width}] = sub(%x, %0)
      %2: f32[{rows},{width}] = exp(%1)
      %3: f32[{rows},1] = sum(%2, (1,), True)
      %4: f32[{rows},{width}] = true_divide(%2, %3)
      %5: i64[{rows}] = argmax(%x, 1)
      return %4, %5
    }}""")
    x = numpy.random.RandomState(0).randn(rows, width).astype("f4")
    check_graph(graph, [wrap(x)], SIM)


def train(body, *inputs):
    """A compiled function's result and gradients."""
    found = [minitorch2.tensor(x, requires_grad=x.dtype == numpy.float32) for x in inputs]
    result = minitorch2.compile(body)(*found)
    result.backward()
    return [result.detach(), *(x.grad for x in found if x.requires_grad)]


def softmax(x, y):
    return (F.softmax(x, -1) * y).sum()


def layer_norm(x, w, b):
    return (F.layer_norm(x, (x.shape[-1],), w, b) ** 2).mean()


def cross_entropy(x, target):
    return F.cross_entropy(x, target)


def gelu(x):
    return F.gelu(x).sum()


RANDOM = numpy.random.RandomState(1)
X, Y = RANDOM.randn(2, 8, 96).astype("f4")
TARGET = RANDOM.randint(0, 96, 8)


@pytest.mark.parametrize(
    "body, inputs",
    [(softmax, (X, Y)), (layer_norm, (X, Y[0], Y[1])), (cross_entropy, (X, TARGET)), (gelu, (X,))],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_forward_and_backward_equal_the_graph_interpreter(body, inputs, monkeypatch):
    monkeypatch.setattr(config, "cuda", "sim")
    found = train(body, *inputs)
    monkeypatch.setattr(config, "cuda", "")
    assert_close(found, train_interpreted(body, *inputs))


def train_interpreted(body, *inputs):
    """As `train`, by jit.ir.interpreter."""
    found = [minitorch2.tensor(x, requires_grad=x.dtype == numpy.float32) for x in inputs]
    result = minitorch2.compile(body, backend="interpreter")(*found)
    result.backward()
    return [result.detach(), *(x.grad for x in found if x.requires_grad)]


def test_a_failed_check_names_the_index(monkeypatch):
    monkeypatch.setattr(config, "cuda", "sim")
    with pytest.raises(IndexOutOfRange, match="index 96 is out of bounds"):
        train(cross_entropy, X, numpy.full(8, 96))


SCATTERS = [
    ("scatter_add", (8, 5), (8, 9), 1, 5),
    ("scatter_add", (8, 5), (20, 5), 0, 8),
    ("scatter_add", (4, 5, 6), (4, 5, 6), 1, 5),
    ("scatter", (8, 5), (20, 5), 0, 8),
]


@pytest.mark.parametrize("op, shape, places, dim, size", SCATTERS)
def test_scatters_with_the_same_target_twice(op, shape, places, dim, size):
    random = numpy.random.RandomState(0)
    x, index, source = random.randn(*shape), random.randint(0, size, places), random.randn(*places)
    inputs = [wrap(x.astype("f4")), wrap(index), wrap(source.astype("f4"))]
    builder = GraphBuilder("scatter")
    values = [
        builder.input(name, TensorType(each.dtype, tuple(each.shape)))
        for name, each in zip("xis", inputs, strict=True)
    ]
    builder.output(builder.add(op, (values[0], dim, values[1], values[2]))[0])
    check_graph(builder.build(), inputs, SIM)


def kernel_of(head: str, *lines: str):
    """A kernel over a (64 elements in) and y (64 out)."""
    body = "\n".join(lines)
    return parse_kernel(f"kernel k(a: f32[64] in, y: f32[64] out) threads {head} {{\n{body}\n}}")


def simulate(kernel, blocks=1):
    """The result of a kernel for a = 0, 1, 2, ..."""
    result = numpy.zeros(64, "f4")
    simulate_kernel(kernel, [numpy.arange(64, dtype="f4"), result], blocks=blocks)
    return result


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_loops_stride_over_the_grid(blocks):
    kernel = kernel_of("32", "for i in 64 threads {", "y[i] = a[i]", "}")
    assert (simulate(kernel, blocks) == numpy.arange(64)).all()


def test_the_first_thread_stores_what_stands_in_no_threads_loop():
    fold = "reduce j in 16 threads {", "v: f32 = a[16*i + j]", "} into r: f32 = sum(v)"
    kernel = kernel_of("64", "for i in 4 warps {", *fold, "y[i] = r", "}")
    wanted = numpy.arange(64).reshape(4, 16).sum(1)
    assert (simulate(kernel)[:4] == wanted).all()


def test_a_load_outside_a_buffer_is_noticed():
    kernel = kernel_of("32", "for i in 64 threads {", "y[i] = a[i + 1]", "}")
    with pytest.raises(SimulatorError, match="1 to 64 of 64 elements"):
        simulate(kernel, 2)


def test_two_threads_that_store_to_one_element_are_noticed():
    kernel = kernel_of("32", "for i in 64 threads {", "y[0] = a[i]", "}")
    with pytest.raises(SimulatorError, match="two threads store to it"):
        simulate(kernel)


def test_the_first_failing_thread_is_reported():
    kernel = kernel_of("32", "for i in 64 threads {",
                       "check g = index(i + 60) in 64 else \"IndexOutOfRange: g\"",
                       "y[i] = a[g]", "}")  # fmt: skip
    with pytest.raises(KernelFailure) as failure:
        simulate(kernel)
    assert failure.value.index == 64
