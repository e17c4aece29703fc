"""Helpers of this room's tests: one-op graphs from samples, random graphs, comparison of results.

In: an op row's sample, or a random number generator. Out: a functional Graph with inputs for it.
"""

import random
from collections.abc import Sequence
from typing import Any

import numpy

import minitorch2
from minitorch2 import dtypes
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import Graph, GraphBuilder, Value
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import Size, evaluate_size, symbol
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.layouts import contiguous_strides, element_count
from minitorch2.ops.table import Op
from minitorch2.tensors import Tensor, wrap
from tests.op_samples import Sample, TensorSpec, build


def one_op_graph(op: Op, sample: Sample) -> tuple[Graph, list[Tensor]]:
    """A graph of one call, and the tensors it is called with."""
    builder = GraphBuilder(op.name)
    inputs: list[Tensor] = []

    def place(argument: Any) -> Any:
        if isinstance(argument, TensorSpec):
            tensor = build(argument, minitorch2)
            inputs.append(tensor)
            type = TensorType(tensor.dtype, tuple(tensor.shape))
            return builder.input(f"x{len(inputs)}", type, tensor.layout.strides)
        if isinstance(argument, list | tuple):
            return tuple(place(item) for item in argument)
        return argument

    bound = op.bind(*map(place, sample.args), **{k: place(v) for k, v in sample.kwargs.items()})
    for result in builder.add(op.name, bound):
        if isinstance(result.type, TensorType):
            builder.output(result, contiguous_strides(result.type.shape))  # type: ignore[arg-type]
        else:
            builder.output(result)
    return builder.build(), inputs


UNARY = ("exp", "tanh", "neg", "abs", "relu", "sqrt", "sigmoid", "sign", "floor", "isnan", "sin",
         "logical_not", "log1p", "erf", "clone")  # fmt: skip
BINARY = ("add", "sub", "mul", "true_divide", "maximum", "minimum", "lt", "eq", "atan2",
          "logical_and")  # fmt: skip
FOLDS = ("sum", "amax", "amin", "any_true", "all_true", "prod", "sum")
DTYPES = (dtypes.float32,) * 3 + (
    dtypes.float64, dtypes.int64, dtypes.bfloat16, dtypes.float16, dtypes.bool, dtypes.int32,
    dtypes.uint8,
)  # fmt: skip
SHAPES = ((4, 6), (4, 6), (6,), (4, 1), (2, 3, 4), (40,))
N = symbol("s0")  # 5 in every input
SYMBOLIC_SHAPES: tuple[tuple[Size, ...], ...] = (
    (N, 6), (N, 6), (6,), (N, 1), (2, 3, N), (N * 10,), (N, N),
)  # fmt: skip


def random_graph(number: int, steps: int = 10, symbolic: bool = False) -> Graph:
    """A random functional graph; the same for the same number."""
    shapes = SYMBOLIC_SHAPES if symbolic else SHAPES
    chance = random.Random(number)
    builder = GraphBuilder(f"random{number}")
    values = [
        builder.input(f"x{at}", TensorType(chance.choice(DTYPES), chance.choice(shapes)))
        for at in range(chance.randint(2, 4))
    ]
    for _ in range(steps):
        op, args = _random_call(chance, values)
        try:
            values += builder.add(op, args)
        except (Mt2Error, TypeError):
            continue  # operands that do not fit each other
    inputs = [given.value for given in builder.inputs]
    for value in [*chance.sample(values, min(3, len(values))), values[-1]]:
        assert isinstance(value.type, TensorType)
        shape: Any = value.type.shape
        builder.output(value, None if symbolic else contiguous_strides(shape))
    if not symbolic and chance.random() < 0.3:
        same = [value for value in values[1:] if value.type == inputs[0].type]
        if same:
            builder.write(0, chance.choice(same))
    return builder.build()


def _random_call(chance: random.Random, values: list[Value]) -> tuple[str, tuple]:
    value = chance.choice(values[-5:])
    assert isinstance(value.type, TensorType)
    shape = value.type.shape
    ndim, dim = len(shape), chance.randrange(max(len(shape), 1))
    match chance.randint(0, 14 if ndim else 5):
        case 0 | 1 | 2:
            return chance.choice(UNARY), (value,)
        case 3 | 4 | 5:
            return chance.choice(BINARY), (value, chance.choice([*values, 2.0, 3, 0.5, 1]))
        case 6 | 7:
            dims = tuple(chance.sample(range(ndim), chance.randint(min(1, ndim), ndim)))
            return chance.choice(FOLDS), (value, dims, chance.random() < 0.6)
        case 8:
            return chance.choice(("argmax", "argmin")), (value, chance.choice((None, dim)))
        case 9:
            return "transpose", (value, dim, chance.randrange(max(ndim, 1)))
        case 10:
            count = element_count(shape)  # type: ignore[arg-type]
            return "view", (value, chance.choice(((count,), (-1, 2), (-1, 1))))
        case 11:
            return "slice", (value, dim, chance.randint(0, 2), None, chance.choice((1, 2)))
        case 12:
            return "cat", ((value,) * chance.randint(2, 3), dim)
        case 13:
            return "where", (value, chance.choice(values), chance.choice([*values, 0.0]))
        case _:
            return chance.choice((("flip", (value, (dim,))), ("expand", (value, (3, *shape))),
                                  ("convert", (value, chance.choice(DTYPES)))))  # fmt: skip


def random_inputs(graph: Graph, number: int) -> list[Tensor]:
    """Inputs for a graph; the same for the same number."""
    chance, found = numpy.random.RandomState(number), []
    for given in graph.inputs:
        assert isinstance(given.value.type, TensorType)
        shape = [evaluate_size(size, {"s0": 5}) for size in given.value.type.shape]
        array = numpy.asarray(chance.randn(*shape)) * 2
        if given.value.type.dtype is dtypes.uint8:
            array = abs(array)
        found.append(wrap(array.astype(given.value.type.dtype.numpy)))
    return found


TOLERANCES = {2: 2e-2, 4: 3e-5, 8: 1e-6}


def assert_close(found: Sequence[Any], wanted: Sequence[Any]) -> None:
    """Equal shapes, dtypes and values; floats within the tolerance of reassociated sums."""
    for ours, theirs in zip(found, wanted, strict=True):
        if not isinstance(theirs, Tensor):
            assert ours == theirs
            continue
        a, b = ours.array, theirs.array
        assert a.shape == b.shape and a.dtype == b.dtype
        if a.dtype.kind in "iub":
            numpy.testing.assert_array_equal(a, b)
            continue
        tolerance = TOLERANCES[a.real.dtype.itemsize]
        wide = "c16" if a.dtype.kind == "c" else "f8"
        numpy.testing.assert_allclose(
            a.astype(wide), b.astype(wide), rtol=tolerance, atol=tolerance
        )


def check_graph(graph: Graph, inputs: Sequence[Tensor], options: KernelOptions) -> None:
    """The compiled graph returns and writes what the graph interpreter does."""
    with numpy.errstate(all="ignore"):
        mine = [wrap(each.array.copy(order="K")) for each in inputs]
        theirs = [wrap(each.array.copy(order="K")) for each in inputs]
        wanted = interpret(graph, theirs)
        found = compile_graph(graph, options)(mine)
    assert_close([*found, *mine], [*wanted, *theirs])
