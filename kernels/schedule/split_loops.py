"""Innermost loops cut where their indices change, so that what is left moves evenly.

In: a kernel of collapsed loops. Out: an equal one, in two steps.

`cut_windows`: a loop over a window's index becomes one loop for each stretch that lies inside or
outside of it; choices between the parts of a cat cost nothing then:

    for j in 384 { window w, in = j - 256 in 128          for j in 256 { y[j] = b[j] }
                   y[j] = select(in, a[w], b[j]) }   =>   for k in 128 { y[k + 256] = a[k] }

`strip`: a loop whose indices divide its variable becomes two:

    for j in 128 { y[j] = x[(j // 32)*4096 + j % 32] }
        =>  for k in 4 { for l in 32 { y[32*k + l] = x[4096*k + l] } }

Source: index set splitting and strip mining, as in Allen and Kennedy, "Optimizing Compilers for
Modern Architectures" (2001).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.kernels.index import (
    Divide,
    Index,
    Modulo,
    coefficient,
    constant,
    substitute,
    symbol,
)
from minitorch2.kernels.loop_ir import (
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.schedule.rewrite import every_index, map_indices

MOST_PARTS = 8  # loops that one loop becomes
LEAST_TURNS = 8  # of a loop that is worth its own code
Ranges = dict[str, Index]


def split_loops(kernel: Kernel) -> Kernel:
    """Cut and strip every innermost loop for which it helps."""
    body = tuple(
        part for each in kernel.body for part in _split(each, {}, len(kernel.body) == 1, True)
    )
    return replace(kernel, body=body)


def _split(statement: Statement, ranges: Ranges, alone: bool, outer: bool) -> list[Statement]:
    """The statement, split; only loops that are not the outermost may become several."""
    if not isinstance(statement, Loop):
        return [statement]
    inside = ranges | {statement.variable: statement.extent}
    inside |= {each.name: each.size for each in statement.body if isinstance(each, Window | Check)}
    if any(isinstance(each, Loop | Reduce) for each in statement.body):
        body = tuple(
            part for each in statement.body
            for part in _split(each, inside, len(statement.body) == 1, False)
        )  # fmt: skip
        return [replace(statement, body=body)]
    if not all(isinstance(each, Let | LetIndex | Window | Store) for each in statement.body):
        return [statement]
    parts = [statement] if outer else cut_windows(statement, ranges)
    return [strip(part, ranges) for part in parts]


def cut_windows(loop: Loop, ranges: Ranges) -> list[Loop]:
    """One loop for each stretch in which every window is either inside or outside."""
    extent = loop.extent.as_int()
    windows = {each.name: found for each in loop.body if isinstance(each, Window)
               for found in [_stretch(each, loop.variable)] if found is not None}  # fmt: skip
    if extent is None or not windows:
        return [loop]
    edges = {0, extent} | {edge for pair in windows.values() for edge in pair if 0 < edge < extent}
    bounds = sorted(edges)
    if len(bounds) - 1 > MOST_PARTS or any(
        b - a < LEAST_TURNS for a, b in zip(bounds, bounds[1:], strict=False)
    ):
        return [loop]
    return [
        _part(loop, windows, (first, last), f"_{number}", ranges)
        for number, (first, last) in enumerate(zip(bounds, bounds[1:], strict=False))
    ]


def _stretch(window: Window, variable: str) -> tuple[int, int] | None:
    """From where to where a variable lies inside a window, if only the variable decides that."""
    size = window.size.as_int()
    offset = (window.index - symbol(variable)).as_int()
    return None if size is None or offset is None else (-offset, size - offset)


def _part(
    loop: Loop, windows: dict[str, tuple[int, int]], bounds: tuple[int, int], ending: str,
    ranges: Ranges,
) -> Loop:  # fmt: skip
    """The loop from one bound to the next, its windows decided and its names made its own."""
    (first, last), name = bounds, loop.variable + ending
    values: dict[str, Index] = {loop.variable: symbol(name) + first}
    known: dict[str, Expression] = {}
    inner = ranges | {name: constant(last - first)}
    body: list[Statement] = []
    for each in loop.body:
        if isinstance(each, Window) and each.name in windows:
            start, end = windows[each.name]
            inside = start <= first and last <= end
            known[each.inside] = Constant(inside, bool_dtype)
            values[each.name] = symbol(name) + (first - start) if inside else constant(0)
            continue
        moved = _decided(map_indices(each, _Substitution(values, inner)), known)
        if isinstance(moved, Let):
            known[moved.name] = Name(moved.name + ending, moved.value.dtype)
        elif isinstance(moved, LetIndex | Window):
            values[moved.name] = symbol(moved.name + ending)
        if isinstance(moved, Window):
            inner[moved.name + ending] = moved.size
            known[moved.inside] = Name(moved.inside + ending, bool_dtype)
            moved = replace(moved, inside=moved.inside + ending)
        if isinstance(moved, Let | LetIndex | Window):
            moved = replace(moved, name=moved.name + ending)
        body.append(moved)
    return replace(loop, variable=name, extent=constant(last - first), body=used(body))


class _Substitution:
    """Puts index expressions in place of names; what the ranges prove is simplified away."""

    def __init__(self, values: dict[str, Index], ranges: Ranges):
        self.values, self.ranges = values, ranges

    def __call__(self, index: Index) -> Index:
        return substitute(index, self.values, self.ranges)


def _decided(statement: Statement, known: Mapping[str, Expression]) -> Statement:
    """The statement with what is known put in, and choices between constants made."""

    def simplified(expression: Expression) -> Expression:
        """An expression with the known names put in, and choices between constants made."""
        match expression:
            case Name(name):
                return known.get(name, expression)
            case Cast(value, element):
                return Cast(simplified(value), element)
            case Call("select", (condition, yes, no)):
                decided = simplified(condition)
                if isinstance(decided, Constant):
                    return simplified(yes if decided.value else no)
                return replace(expression, args=(decided, simplified(yes), simplified(no)))
            case Call(_, args):
                return replace(expression, args=tuple(map(simplified, args)))
        return expression

    if isinstance(statement, Let | Store):
        return replace(statement, value=simplified(statement.value))
    return statement


def used(body: list[Statement]) -> tuple[Statement, ...]:
    """The statements whose names something after them uses."""
    kept: list[Statement] = []
    wanted: set[str] = set()
    for each in reversed(body):
        defined = {each.name, each.inside} if isinstance(each, Window) else (
            {each.name} if isinstance(each, Let | LetIndex) else set())  # fmt: skip
        if isinstance(each, Store) or defined & wanted:
            kept.append(each)
            wanted |= {name for index in every_index((each,)) for name in index.symbols()}
            if isinstance(each, Let | Store):
                wanted |= set(_names(each.value))
    return tuple(reversed(kept))


def _names(expression: Expression) -> Iterator[str]:
    match expression:
        case Name(name):
            yield name
        case Cast(value):
            yield from _names(value)
        case Call(_, args):
            for argument in args:
                yield from _names(argument)
        case Load() | IndexValue() | Constant():
            pass


def strip(loop: Loop, ranges: Ranges) -> Loop:
    """Two loops instead of one, if the inner one's variable is then divided by nothing."""
    extent = loop.extent.as_int()
    sizes = {size for index in every_index(loop.body) for size in _divisors(index, loop.variable)}
    if extent is None or None in sizes:
        return loop
    for size in sorted(size for size in sizes if size is not None):
        if size < LEAST_TURNS or size >= extent or extent % size:
            continue
        made = _stripped(loop, extent, size, ranges)
        if made is not None:
            return made
    return loop


def _stripped(loop: Loop, extent: int, size: int, ranges: Ranges) -> Loop | None:
    outer, inner = f"{loop.variable}_o", f"{loop.variable}_i"
    around = ranges | {outer: constant(extent // size), inner: constant(size)}
    place = {loop.variable: symbol(outer) * size + symbol(inner)}
    body = tuple(map_indices(each, _Substitution(place, around)) for each in loop.body)
    if any(True for index in every_index(body) for _ in _divisors(index, inner)):
        return None
    made = Loop(inner, constant(size), body, False, loop.origin)
    return replace(loop, variable=outer, extent=constant(extent // size), body=(made,))


def _divisors(index: Index, variable: str) -> Iterator[int | None]:
    """What a variable is divided by in an index; None for what is no number."""
    for monomial, _ in index.terms:
        for atom in monomial:
            if isinstance(atom, Divide | Modulo):
                yield from _divisors(atom.top, variable)
                if coefficient(atom.top, variable) != constant(0):
                    yield atom.bottom.as_int()
