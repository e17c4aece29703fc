"""Walking and rebuilding loop IR: the index expressions and loads of statements.

In: statements or expressions. Out: the loads in them, or the same with every index mapped.

Source: the usual catamorphisms of a small syntax tree.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from minitorch2.kernels.index import Index
from minitorch2.kernels.loop_ir import (
    Call,
    Cast,
    Check,
    Expression,
    IndexValue,
    Let,
    LetIndex,
    Load,
    Loop,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)

MapIndex = Callable[[Index], Index]


def loads_of(part: "Statement | Expression") -> Iterator[Load]:
    """The loads in an expression or in a statement's own expressions (not in its body)."""
    match part:
        case Load():
            yield part
        case Cast(value) | Let(_, value) | Check(_, value) | Store(_, _, value):
            yield from loads_of(value)
        case Require(condition):
            yield from loads_of(condition)
        case Call(_, args):
            for argument in args:
                yield from loads_of(argument)


def map_expression_index(expression: Expression, function: MapIndex) -> Expression:
    """The expression with each index mapped."""
    match expression:
        case Load(buffer, index, element):
            return Load(buffer, function(index), element)
        case IndexValue(index, element):
            return IndexValue(function(index), element)
        case Cast(value, element):
            return Cast(map_expression_index(value, function), element)
        case Call(name, args, element):
            new = tuple(map_expression_index(argument, function) for argument in args)
            return Call(name, new, element)
    return expression


def map_indices(statement: Statement, function: MapIndex) -> Statement:
    """The statement, its body included, with each index mapped (loop variables stay)."""
    match statement:
        case Let():
            return replace(statement, value=map_expression_index(statement.value, function))
        case LetIndex():
            return replace(statement, index=function(statement.index))
        case Window():
            index, size = function(statement.index), function(statement.size)
            return replace(statement, index=index, size=size)
        case Check():
            value = map_expression_index(statement.value, function)
            return replace(statement, value=value, size=function(statement.size))
        case Require():
            return replace(statement, condition=map_expression_index(statement.condition, function))
        case Store():
            value = map_expression_index(statement.value, function)
            return replace(statement, index=function(statement.index), value=value)
        case Loop():
            body = tuple(map_indices(inner, function) for inner in statement.body)
            return replace(statement, extent=function(statement.extent), body=body)
        case Reduce():
            body = tuple(map_indices(inner, function) for inner in statement.body)
            domain = tuple((name, function(extent)) for name, extent in statement.domain)
            accumulators = tuple(
                replace(each, value=map_expression_index(each.value, function))
                for each in statement.accumulators
            )
            return replace(statement, domain=domain, body=body, accumulators=accumulators)


def every_index(body: tuple[Statement, ...]) -> list[Index]:
    """Every index expression in statements and their bodies."""
    found: list[Index] = []

    def note(index: Index) -> Index:
        found.append(index)
        return index

    for statement in body:
        map_indices(statement, note)
    return found


def expressions_of(body: tuple[Statement, ...]) -> Iterator[Expression]:
    """Every whole expression in statements and their bodies."""
    for statement in body:
        match statement:
            case Let(_, value) | Check(_, value) | Store(_, _, value):
                yield value
            case Require(condition):
                yield condition
            case Loop():
                yield from expressions_of(statement.body)
            case Reduce():
                yield from expressions_of(statement.body)
                yield from (each.value for each in statement.accumulators)
