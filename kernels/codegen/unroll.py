"""The statements of a vector loop written out: one access for neighbours, else by element.

In: the body of a loop over the elements of a vector. Out: Unrolled: plain statements with names of
their own for each element, and vector loads and stores.

    for ie in 2 vector {                 v_0, v_1 = the 2 elements of x from 2*i on
      v: f64 = x[2*i + ie]        =>     w_0 = exp(v_0);  w_1 = exp(v_1)
      w: f64 = exp(v)                    the 2 elements of y from 2*i on = w_0, w_1
      y[2*i + ie] = w
    }

What does not depend on the element stands there once.

Source: superword-level parallelism, S. Larsen and S. Amarasinghe (PLDI 2000).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from minitorch2.artifacts import Origin
from minitorch2.kernels.index import Index, constant, substitute, symbol
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Call,
    Cast,
    Check,
    Expression,
    IndexValue,
    Let,
    LetIndex,
    Load,
    Name,
    Require,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.schedule.gpu import aligned


@dataclass(frozen=True, slots=True)
class VectorLoad:
    """names = neighbouring elements of a buffer from an index on."""

    names: tuple[str, ...]
    buffer: str
    first: Index
    origin: Origin


@dataclass(frozen=True, slots=True)
class VectorStore:
    """Neighbouring elements of a buffer from an index on = values."""

    buffer: str
    first: Index
    values: tuple[Expression, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Unrolled:
    """A body written out; `moving` are the names that differ from element to element."""

    statements: tuple[Statement | VectorLoad | VectorStore, ...]
    element: str
    moving: frozenset[str]

    def index(self, index: Index, lane: int) -> Index:
        """An index in one element."""
        values = {name: symbol(f"{name}_{lane}") for name in self.moving}
        return substitute(index, {**values, self.element: constant(lane)}, {})

    def accumulator(self, accumulator: Accumulator, lane: int) -> Accumulator:
        """An accumulator whose value is that of one element."""
        return replace(accumulator, value=self.expression(accumulator.value, lane))

    def expression(self, expression: Expression, lane: int) -> Expression:
        """An expression in one element."""
        match expression:
            case Name(name, element) if name in self.moving:
                return Name(f"{name}_{lane}", element)
            case Load(buffer, index, element):
                return Load(buffer, self.index(index, lane), element)
            case IndexValue(index, element):
                return IndexValue(self.index(index, lane), element)
            case Cast(value, element):
                return Cast(self.expression(value, lane), element)
            case Call(function, args, element):
                return Call(function, tuple(self.expression(a, lane) for a in args), element)
        return expression

    def statement(self, statement: Statement, lane: int) -> Statement:
        """A statement in one element."""
        match statement:
            case Let(name, value):
                value = self.expression(value, lane)
                return replace(statement, name=f"{name}_{lane}", value=value)
            case LetIndex(name, index):
                return replace(statement, name=f"{name}_{lane}", index=self.index(index, lane))
            case Window(name, inside, index, size):
                return Window(f"{name}_{lane}", f"{inside}_{lane}", self.index(index, lane),
                              self.index(size, lane), statement.origin)  # fmt: skip
            case Check(name, value, size):
                value, size = self.expression(value, lane), self.index(size, lane)
                return replace(statement, name=f"{name}_{lane}", value=value, size=size)
            case Require(condition):
                return replace(statement, condition=self.expression(condition, lane))
            case Store(_, index, value):
                value = self.expression(value, lane)
                return replace(statement, index=self.index(index, lane), value=value)
        return statement


def unrolled(body: Sequence[Statement], element: str, width: int) -> Unrolled:
    """The body of a vector loop, written out."""
    done: list[Statement | VectorLoad | VectorStore] = []
    moving: frozenset[str] = frozenset()
    for statement in body:
        if not _uses(statement) & {element, *moving}:
            done.append(statement)
            continue
        moving |= set(_defines(statement))
        lanes = Unrolled((), element, moving)
        match statement:
            case Let(name, Load(buffer, index)) if aligned(index, element, width):
                names = tuple(f"{name}_{lane}" for lane in range(width))
                done.append(VectorLoad(names, buffer, index - symbol(element), statement.origin))
            case Store(buffer, index, value, False) if aligned(index, element, width):
                values = tuple(lanes.expression(value, lane) for lane in range(width))
                first = index - symbol(element)
                done.append(VectorStore(buffer, first, values, statement.origin))
            case _:
                done += [lanes.statement(statement, lane) for lane in range(width)]
    return Unrolled(tuple(done), element, moving)


def _defines(statement: Statement) -> tuple[str, ...]:
    match statement:
        case Window(name, inside):
            return name, inside
        case Let(name) | LetIndex(name) | Check(name):
            return (name,)
    return ()


def _uses(statement: Statement) -> set[str]:
    """Names of values and indices that a statement reads."""
    match statement:
        case Let(_, value):
            return _names(value)
        case LetIndex(_, index):
            return set(index.symbols())
        case Window(_, _, index, size):
            return set(index.symbols() | size.symbols())
        case Check(_, value, size):
            return _names(value) | size.symbols()
        case Require(condition):
            return _names(condition)
        case Store(_, index, value):
            return _names(value) | index.symbols()
    return set()


def _names(expression: Expression) -> set[str]:
    match expression:
        case Name(name):
            return {name}
        case Load(_, index) | IndexValue(index):
            return set(index.symbols())
        case Cast(value):
            return _names(value)
        case Call(_, args):
            return {name for argument in args for name in _names(argument)}
    return set()
