"""What lowering makes of a node: a loop nest, a view, a library call, a scatter or a host step.

In: nodes of a functional graph. Out: one of these records per result. A nest is symbolic: it says
how one element of the result is computed from elements of other values, which it reads by their
logical index. Which values get memory, and in which layout, is decided later by schedule/.

Source: the split of algorithm and schedule is Halide's (Ragan-Kelley et al., PLDI 2013).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.dtypes import dtype
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import Apply, Size, Symbol
from minitorch2.kernels.index import (
    Divide,
    Index,
    Modulo,
    constant,
    symbol,
)
from minitorch2.kernels.loop_ir import (
    NOWHERE,
    Call,
    Cast,
    Check,
    Constant,
    IndexValue,
    Let,
    Load,
    Name,
    Require,
    Window,
)
from minitorch2.kernels.positions import delinearize


class NotLowered(Exception):
    """A node that no kernel computes; the text says why, and the node becomes a host step."""


@dataclass(frozen=True, slots=True)
class Read:
    """One element of a value, by its logical index."""

    value: Value
    index: tuple[Index, ...]
    dtype: dtype


Step = Let | Window | Check | Require
NestExpression = Name | Constant | Load | IndexValue | Cast | Call | Read


@dataclass(frozen=True, slots=True)
class Nest:
    """result[output] = value (or its reduction) for each point of the axes.

    `axes` are all loop variables with their extents, in the order of the data that is read;
    `reduced` names those a reduction folds. `steps` run first, at each point.
    """

    node: Node
    result: Value
    axes: tuple[tuple[str, Index], ...]
    value: NestExpression
    output: tuple[Index, ...]
    steps: tuple[Step, ...] = ()
    reducer: str = ""
    reduced: frozenset[str] = frozenset()

    @property
    def origin(self) -> Origin:
        """The user lines it comes from."""
        return self.node.origin or NOWHERE

    def extents(self) -> tuple[Index, ...]:
        """The extents of all axes."""
        return tuple(extent for _, extent in self.axes)

    def rows(self) -> tuple[tuple[str, Index], ...]:
        """The axes that are not reduced."""
        return tuple(axis for axis in self.axes if axis[0] not in self.reduced)

    def reads(self) -> Iterator[Read]:
        """Every read in it."""
        return reads_of(self.steps, self.value)

    def may_fail(self) -> bool:
        """Whether it checks something at run time."""
        return any(isinstance(step, Check | Require) for step in self.steps)


@dataclass(frozen=True, slots=True)
class View:
    """result[i, j, ...] is element offset + i*strides[0] + j*strides[1] + ... of the base.

    What reads it runs once `after` is there.
    """

    node: Node
    result: Value
    base: Value
    strides: tuple[Index, ...]
    offset: Index
    after: Value | None = None

    def read(self, index: tuple[Index, ...], ranges: "dict[str, Index]") -> tuple[Index, ...]:
        """The index into the base for an index into the view."""
        position = self.offset
        for at, stride in zip(index, self.strides, strict=True):
            position = position + at * stride
        return delinearize(position, shape_of(self.base), ranges)


@dataclass(frozen=True, slots=True)
class Scatter:
    """A copy of `base` into which the elements of a source are written or added, in order.

    For each point of the axes, serially: result[target] = value, or += where `accumulate`.
    """

    node: Node
    result: Value
    base: Value
    axes: tuple[tuple[str, Index], ...]
    value: NestExpression
    target: tuple[Index, ...]
    steps: tuple[Step, ...] = ()
    accumulate: bool = False

    @property
    def origin(self) -> Origin:
        """The user lines it comes from."""
        return self.node.origin or NOWHERE

    def reads(self) -> Iterator[Read]:
        """Every read in it."""
        return reads_of(self.steps, self.value)

    def may_fail(self) -> bool:
        """Whether it checks something at run time."""
        return any(isinstance(step, Check | Require) for step in self.steps)


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix product, computed by the BLAS that numpy carries."""

    node: Node
    result: Value


@dataclass(frozen=True, slots=True)
class HostStep:
    """A node that runs eagerly between kernels, and why."""

    node: Node
    reason: str


Lowered = Nest | View | Scatter | Product | HostStep


def reads_of(steps: "tuple[Step, ...]", value: "NestExpression") -> "Iterator[Read]":
    """Every read in the steps and the value of a nest."""
    for step in steps:
        if isinstance(step, Let | Check):
            yield from reads_in(step.value)
        elif isinstance(step, Require):
            yield from reads_in(step.condition)
    yield from reads_in(value)


def reads_in(expression: NestExpression) -> Iterator[Read]:
    """Every read in an expression."""
    match expression:
        case Read():
            yield expression
        case Cast(value):
            yield from reads_in(value)
        case Call(_, args):
            for argument in args:
                yield from reads_in(argument)


def map_expression(
    expression: NestExpression, function: Callable[[NestExpression], NestExpression]
) -> NestExpression:
    """The expression with each leaf (read, name, constant, index) replaced."""
    match expression:
        case Cast(value, element):
            return Cast(map_expression(value, function), element)  # type: ignore[arg-type]
        case Call(_, args):
            new = tuple(map_expression(argument, function) for argument in args)
            return replace(expression, args=new)  # type: ignore[arg-type]
    return function(expression)


def functions_in(expression: NestExpression) -> Iterator[str]:
    """Every scalar function an expression calls."""
    match expression:
        case Cast(value):
            yield from functions_in(value)
        case Call(function, args):
            yield function
            for argument in args:
                yield from functions_in(argument)


def arguments(node: Node) -> tuple[Any, ...]:
    """A node's arguments, whose types its op's signature tells."""
    return node.args


def size_index(size: Size) -> Index:
    """A size of the graph IR as an index expression."""
    if not hasattr(size, "terms"):
        return constant(int(size))
    result = constant(0)
    for factor, atoms in size.terms:
        piece = constant(factor)
        for atom in atoms:
            piece = piece * _atom_index(atom)
        result = result + piece
    return result


def _atom_index(atom: Symbol | Apply) -> Index:
    if isinstance(atom, Symbol):
        return symbol(atom.name)
    if atom.function not in ("//", "%"):
        raise NotLowered(f"the size {atom} is no polynomial")
    top, bottom = (size_index(argument) for argument in atom.arguments)
    made = Divide(top, bottom) if atom.function == "//" else Modulo(top, bottom)
    return Index((((made,), 1),))


def tensor_type(value: Value) -> TensorType:
    """The type of a value that is a tensor."""
    assert isinstance(value.type, TensorType), value
    return value.type


def shape_of(value: Value) -> tuple[Index, ...]:
    """The sizes of a tensor value."""
    return tuple(size_index(size) for size in tensor_type(value).shape)


def axis_names(count: int, stem: str = "a") -> tuple[str, ...]:
    """Names of a nest's own axes; every nest is renamed when it is put into a kernel."""
    return tuple(f"{stem}{at}" for at in range(count))


def broadcast_read(value: Value, index: tuple[Index, ...]) -> Read:
    """A read of a value whose shape broadcasts to that of the index."""
    sizes = shape_of(value)
    own = index[len(index) - len(sizes) :]
    zero = constant(0)
    at = tuple(zero if size == constant(1) else part for size, part in zip(sizes, own, strict=True))
    return Read(value, at, tensor_type(value).dtype)
