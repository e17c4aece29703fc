"""How a pass is tested: input IR, expected IR, and both compute the same bits.

`check(function, before, after)` compares the text, verifies both graphs, runs both on inputs full
of special values, and runs the pass a second time, which must change nothing.
"""

import itertools

import numpy

import minitorch2 as torch
from minitorch2.dtypes import dtype
from minitorch2.jit.ir.compare import numeric_difference
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.shapes.size_expression import evaluate_size

SIZES = {"s0": 6, "s1": 4, "s2": 3}


def check(function, before: str, after: str, options: PassOptions = DEFAULT) -> Graph:
    """Run a pass on the graph `before` and expect the graph `after`."""
    graph, expected = parse_graph(before), parse_graph(after)
    verify(graph)
    verify(expected)
    result = function(graph, options)
    assert str(result) == str(expected)
    verify(result)
    same_numbers(graph, result)
    assert str(function(result, options)) == str(result), "the pass is not idempotent"
    return result


def same_numbers(first: Graph, second: Graph) -> None:
    """Both graphs give the same bits on special values."""
    assert numeric_difference(first, second, inputs_of(first)) is None


def inputs_of(graph: Graph) -> list:
    """A tensor or number for each input, filled with special values in turn."""
    found = []
    for index, declared in enumerate(graph.inputs):
        type = declared.value.type
        if isinstance(type, TensorType):
            shape = tuple(evaluate_size(size, SIZES) for size in type.shape)
            tensor = filled(type.dtype, shape, start=index * 5)
            if declared.strides is not None:
                strides = tuple(evaluate_size(size, SIZES) for size in declared.strides)
                tensor = torch.empty_strided(shape, strides, dtype=type.dtype).copy_(tensor)
            found.append(tensor)
        elif type.size is not None:
            found.append(evaluate_size(type.size, SIZES))
        else:
            found.append({"int": 3, "float": 1.5, "bool": True}[type.kind])
    return found


def filled(element: dtype, shape: tuple[int, ...], start: int = 0):
    """A tensor of special values, repeated as needed."""
    count = int(numpy.prod(shape))
    values = itertools.islice(itertools.cycle(special_values(element)), start, start + count)
    return torch.tensor(list(values), dtype=element).reshape(shape)


def special_values(element: dtype) -> list:
    """Values at which identities break: zeros of both signs, infinities, nan, extremes."""
    if element.category == 0:
        return [True, False]
    if element.is_floating_point:
        return _floats(element)
    limits = numpy.iinfo(element.numpy)
    values = [0, 1, 2, 3, 7, limits.max, limits.max - 1, limits.min, limits.min + 1]
    return values + ([-1, -2, -3] if element.is_signed else [])


def _floats(element: dtype) -> list[float]:
    bits = {"f64": 1074, "f32": 149, "bf16": 133, "f16": 24}[element.short]
    normal = {"f64": 1022, "f32": 126, "bf16": 126, "f16": 14}[element.short]
    largest = {"f64": 1.797e308, "f32": 3.4e38, "bf16": 3.38e38, "f16": 65504.0}[element.short]
    half = [0.0, 1.0, 2.0, 0.5, 1.5, 2.5, 3.0, 1e-3, 2.0**-bits, 2.0**-normal, 3 * 2.0**-bits]
    half += [largest, float("inf"), 1 / 3, 1000.0]
    return [*half, *(-value for value in half), float("nan")]
