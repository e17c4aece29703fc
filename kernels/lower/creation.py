"""Nodes that make elements from nothing but their position: full, range_, uniform, random_words.

In: a node without tensor operands. Out: a Nest that reads nothing; inside a kernel such a value
is computed where it is used and never stored. Random numbers are word (4 * counter + position) of
the seed's Philox sequence, which is what minitorch2/random.py gives eagerly.

Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from collections.abc import Callable

from minitorch2.dtypes import float32, float64, int64
from minitorch2.jit.ir.graph import Argument, Node
from minitorch2.kernels.index import Index, symbol
from minitorch2.kernels.loop_ir import Call, Constant, IndexValue
from minitorch2.kernels.lower.expressions import call, cast, typed
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    axis_names,
    shape_of,
    tensor_type,
)
from minitorch2.kernels.lower.pointwise import scalar_operand
from minitorch2.kernels.positions import linearize


def _nest(node: Node, value: Callable[[Index], NestExpression]) -> Nest:
    """A nest whose value is a function of the row-major position, cast to the result's type."""
    result = node.results[0]
    sizes = shape_of(result)
    names = axis_names(len(sizes))
    index = tuple(symbol(name) for name in names)
    element = tensor_type(result).dtype
    computed = cast(value(linearize(index, sizes)), element)
    return Nest(node, result, tuple(zip(names, sizes, strict=True)), computed, index)


def full(node: Node) -> Nest:
    """full(size, fill_value, dtype, device)"""
    element = tensor_type(node.results[0]).dtype
    return _nest(node, lambda position: typed(scalar_operand(node.args[1]), element))


def range_(node: Node) -> Nest:
    """range_(start, end, step, dtype, device): start + position * step"""
    start, _, step, *_ = node.args
    work = float64 if tensor_type(node.results[0]).dtype.is_floating_point else int64

    def value(position: Index) -> NestExpression:
        first, stride = (typed(scalar_operand(each), work) for each in (start, step))
        place = cast(IndexValue(position, int64), work)
        distance = Call("mul", (place, stride), work)  # type: ignore[arg-type]
        return Call("add", (first, distance), work)  # type: ignore[arg-type]

    return _nest(node, value)


def _word(seed: Argument, counter: Argument, position: Index) -> NestExpression:
    """Word `position` of the sequence that starts at block `counter`."""
    first = call("mul", typed(scalar_operand(counter), int64), 4)
    place = call("add", first, IndexValue(position, int64))
    return Call("random_word", (_seed(seed), place), int64)  # type: ignore[arg-type]


def _seed(seed: Argument) -> NestExpression:
    operand = scalar_operand(seed)
    if isinstance(operand, int):
        operand = (operand + 2**63) % 2**64 - 2**63  # the same 64 bits as a signed number
    return typed(operand, int64)


def uniform(node: Node) -> Nest:
    """uniform(seed, counter, size, dtype): the upper 24 bits of each word, as f32 in [0, 1)"""
    seed, counter, *_ = node.args

    def value(position: Index) -> NestExpression:
        bits = call("shift_right", _word(seed, counter, position), 8)
        number = cast(bits, float32)  # type: ignore[arg-type]
        return Call("mul", (number, Constant(2.0**-24, float32)), float32)  # type: ignore[arg-type]

    return _nest(node, value)


def random_words(node: Node) -> Nest:
    """random_words(seed, counter, size)"""
    seed, counter, *_ = node.args
    return _nest(node, lambda position: _word(seed, counter, position))


CREATION_RULES: dict[str, Callable[[Node], Nest]] = {"full": full, "range_": range_}
RANDOM_RULES: dict[str, Callable[[Node], Nest]] = {
    "uniform": uniform,
    "random_words": random_words,
}
