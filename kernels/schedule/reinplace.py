"""Elements that replace some of an input are written into the input, not into a copy of it.

In: a Program. Out: the same program, where possible without the copies around a scatter whose
result is written back into the very input that it changed; what was done and what was not, in
words. A cache of keys and values then costs the new rows, whatever its length:

    %0 = index_put(%cache, (%i,), %row)        copy of %cache, its row written, copied back
    writes (%cache <- %0)                      ->  the row written into %cache

An index may be wrong, and a call that fails must not have written: the indices are checked by a
nest of their own, which every write waits for. What reads %cache as it was runs before.

Source: the copy-insertion problem of functional languages (Hudak, Bloss, POPL 1985); Inductor's
reinplacing pass.
"""

from collections.abc import Callable
from dataclasses import dataclass

from minitorch2.dtypes import bool as bool_dtype
from minitorch2.jit.ir.graph import Node, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.kernels.index import Index, constant, product, symbol
from minitorch2.kernels.loop_ir import Check, Constant, IndexValue, Let, Require
from minitorch2.kernels.lower.expressions import cast
from minitorch2.kernels.lower.nests import (
    Nest,
    NestExpression,
    Read,
    Scatter,
    Step,
    arguments,
    axis_names,
    map_expression,
    shape_of,
    tensor_type,
)
from minitorch2.kernels.schedule.dependencies import dependencies_of
from minitorch2.kernels.schedule.program import Program, results
from minitorch2.layouts import normalize_dim
from minitorch2.ops.views import slice_bounds

VARIES = "its size varies, so that it may be a large part"
SPREAD = "what is written has another shape than the place"
SMALL_PART = 4  # a slice of at most a fourth is written by itself, not in the pass over the whole


@dataclass(frozen=True, slots=True)
class Reinplaced:
    """A value that is written in place, or why it is not (then `reason` says it)."""

    value: Value
    node: Node
    reason: str = ""

    def __str__(self) -> str:
        done = f"%{self.value.id} ({self.node.op}) "
        return done + (f"is not written in place: {self.reason}" if self.reason else
                       "is written in place")  # fmt: skip


def reinplace(program: Program) -> list[Reinplaced]:
    """Write what can be written into inputs there; the program is changed."""
    changes, found = [], []
    for place, value in program.graph.writes:
        made = program.made.get(value)
        if isinstance(made, Nest) and made.node.op in PARTS:
            part = PARTS[made.node.op](made)
            if isinstance(part, str):
                found.append(Reinplaced(value, made.node, part))
                continue
            made = part
        if not isinstance(made, Scatter):
            continue
        reason = _hindrance(program, made, program.graph.inputs[place].value)
        if reason:
            found.append(Reinplaced(value, made.node, reason))
        else:
            changes.append((made, place))
    if not changes:
        return found
    found += _applied(program, changes)
    return found


def _applied(program: Program, changes: list[tuple[Scatter, int]]) -> list[Reinplaced]:
    """All changes, or those of them that leave an order in which the units can run."""
    before = _state(program)
    for made, place in changes:
        _write_in_place(program, made, place)
    if dependencies_of(program).have_an_order():
        return [Reinplaced(made.result, made.node) for made, _ in changes]
    _restore(program, before)
    found = []
    for made, place in changes:
        before = _state(program)
        _write_in_place(program, made, place)
        fits = dependencies_of(program).have_an_order()
        reason = "" if fits else "what it replaces is read, or something may fail, only afterwards"
        if not fits:
            _restore(program, before)
        found.append(Reinplaced(made.result, made.node, reason))
    return found


def _state(program: Program) -> tuple:
    return list(program.units), dict(program.made), dict(program.targets)


def _restore(program: Program, state: tuple) -> None:
    program.units, program.made, program.targets = list(state[0]), dict(state[1]), dict(state[2])


def _hindrance(program: Program, made: Scatter, target: Value) -> str:
    """Why a scatter cannot write into an input; empty if nothing is in the way."""
    if made.base != target:
        return f"it changes %{made.base.id}, and %{target.id} gets the result"
    if target in {program.root(read.value) for read in made.reads()}:
        return f"it reads %{target.id} at other places"
    if sum(value == made.result for _, value in program.graph.writes) > 1:
        return "two inputs get the result"
    returned = {program.root(each.value) for each in program.returned if each.value is not None}
    if made.result in returned | program.kept:
        return "the result is returned in memory of its own"
    return ""


def _write_in_place(program: Program, made: Scatter, place: int) -> None:
    """Without the copy back; with a check of the indices before."""
    target = program.graph.inputs[place].value
    back = next(value for value, input in program.targets.items() if input == target)
    units = [unit for unit in program.units if back not in results(unit)]
    at = next(n for n, unit in enumerate(units) if made.result in results(unit))
    units[at] = made
    program.targets = {v: t for v, t in program.targets.items() if v != back}
    program.targets[made.result] = target
    program.made[made.result] = made
    if made.may_fail():
        check = _checking(made)
        units.insert(at, check)
        program.made[check.result] = check
    program.units = units


def _checking(made: Scatter) -> Nest:
    """A nest that does nothing but a scatter's checks."""
    result = Value(f"checked{made.result.id}", TensorType(bool_dtype, ()))
    used = {name for index in _indices(made.steps) for name in index.symbols()}
    axes = tuple(axis for axis in made.axes if axis[0] in used)
    names = frozenset(name for name, _ in axes)
    reducer = "all" if names else ""
    return Nest(made.node, result, axes, Constant(True, bool_dtype), (), made.steps,
                reducer, names)  # fmt: skip


def _indices(steps: tuple[Step, ...]) -> list[Index]:
    """Every index expression in the steps of a scatter."""
    found: list[Index] = []

    def leaf(part: NestExpression) -> NestExpression:
        found.extend(part.index if isinstance(part, Read) else ())
        found.extend([part.index] if isinstance(part, IndexValue) else ())
        return part

    for step in steps:
        if isinstance(step, Let | Check):
            map_expression(step.value, leaf)
        elif isinstance(step, Require):
            map_expression(step.condition, leaf)
        else:
            found.append(step.index)
    return found


def _slice_part(nest: Nest) -> Scatter | str:
    """slice_scatter(self, src, dim, start, end, step) as writes of `src` alone, or why not."""
    base, source, dim, start, end, step = arguments(nest.node)
    where = normalize_dim(dim, len(shape_of(base)))
    size = shape_of(base)[where].as_int()
    hindrance = _too_large(source, base)
    if hindrance or size is None:
        return hindrance or VARIES
    first, count = slice_bounds(size, start, end, step)
    if len(shape_of(source)) != len(shape_of(base)) or shape_of(source)[where].as_int() != count:
        return SPREAD
    names = axis_names(len(shape_of(source)))
    at = tuple(symbol(name) for name in names)
    target = (*at[:where], at[where] * step + first, *at[where + 1 :])
    return _writes(nest, base, source, at, target)


def _select_part(nest: Nest) -> Scatter | str:
    """select_scatter(self, src, dim, index) as writes of `src` alone, or why not."""
    base, source, dim, number = arguments(nest.node)
    where = normalize_dim(dim, len(shape_of(base)))
    hindrance = _too_large(source, base)
    if hindrance or len(shape_of(source)) != len(shape_of(base)) - 1:
        return hindrance or SPREAD
    at = tuple(symbol(name) for name in axis_names(len(shape_of(source))))
    place = shape_of(base)[where] + number if number < 0 else constant(number)
    return _writes(nest, base, source, at, (*at[:where], place, *at[where:]))


PARTS: dict[str, Callable[[Nest], Scatter | str]] = {
    "slice_scatter": _slice_part, "select_scatter": _select_part,
}  # fmt: skip


def _writes(nest: Nest, base: Value, source: Value, at: tuple, target: tuple) -> Scatter:
    names = axis_names(len(at))
    axes = tuple(zip(names, shape_of(source), strict=True))
    element = tensor_type(source).dtype
    value = cast(Read(source, at, element), tensor_type(base).dtype)
    return Scatter(nest.node, nest.result, base, axes, value, target)


def _too_large(source: Value, base: Value) -> str:
    """Why a part is not known to be small; empty if it is."""
    part, whole = product(shape_of(source)).as_int(), product(shape_of(base)).as_int()
    if part is None or whole is None:
        return VARIES
    few = part * SMALL_PART <= whole
    return "" if few else f"{part} of {whole} elements are too many to write by themselves"
