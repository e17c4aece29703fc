"""Reductions in a fixed, written-out order that LLVM vectorizes without any fast-math flag.

In: a Reduce statement. Out: source lines. A float sum of n elements is kept in L lanes: lane l adds
elements l, l + L, l + 2L, ... in this order; then the upper half of the lanes is added to the lower
one, and again, until eight are left; those as a balanced tree.
L depends on nothing but the extent, so neither threads nor chunks change a bit of the result.

    acc = local_f32(64)                       # lanes, on the stack
    for l in range(u64(64)): acc[l] = f32(0.0)
    for block in range(n // u64(64)):         # whole blocks, then the rest
        for l in range(u64(64)):
            j = block*u64(64) + l
            acc[l] = acc[l] + x[j]

argmax and argmin of floats keep in each lane the best element and its position; of equal ones the
first wins in the end, and the first nan over all.

Source: measured in the design; the lane scheme is that of Intel's reproducible summation (2013).
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from minitorch2.artifacts import Origin
from minitorch2.dtypes import dtype
from minitorch2.kernels.codegen.expressions import (
    SIXTEEN,
    cast_text,
    constant_text,
    expression_text,
    index_text,
)
from minitorch2.kernels.codegen.writer import Writer
from minitorch2.kernels.index import Index
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Reduce,
    Statement,
)

FOLDED = 8  # lanes that are added as one expression at the end


WriteStatement = Callable[[Statement], None]


def lane_count(extent: Index) -> int:
    """How many lanes a float reduction of this extent uses; 1 means one after the other."""
    known = extent.as_int()
    if known is None:
        return 64
    if known < 16:
        return 1
    return 16 if known < 64 else 64 if known < 4096 else 256


def start_value(reducer: str, element: dtype) -> str:
    """The value a reduction begins with, as text."""
    if reducer in ("sum", "any"):
        return constant_text(0, element)
    if reducer in ("prod", "all"):
        return constant_text(1, element)
    if element.is_floating_point:
        return constant_text(float("-inf" if reducer == "max" else "inf"), element)
    if element.short == "bool":
        return constant_text(reducer == "min", element)
    bits, signed = 8 * element.itemsize, element.short != "u8"
    low = -(2 ** (bits - 1)) if signed else 0
    high = 2 ** (bits - 1) - 1 if signed else 2**bits - 1
    return constant_text(low if reducer == "max" else high, element)


def step_text(reducer: str, element: dtype, old: str, new: str) -> str:
    """old combined with new."""
    if reducer in ("max", "min"):
        return f"{'maximum' if reducer == 'max' else 'minimum'}({old}, {new})"
    sign = {"sum": "+", "prod": "*", "any": "|", "all": "&"}[reducer]
    text = f"{old} {sign} {new}"
    narrow = not element.is_floating_point and element.short not in ("bool", "i64")
    return f"{element.short}({text})" if narrow else text


def _value_text(accumulator: Accumulator) -> str:
    text = expression_text(accumulator.value)
    if accumulator.reducer in ("any", "all"):
        return cast_text(text, accumulator.value.dtype, accumulator.dtype)
    return text


def finds_place(accumulator: Accumulator) -> bool:
    """Whether the result is a position: argmax, argmin."""
    return accumulator.reducer.startswith("arg")


def _uses_lanes(accumulator: Accumulator, reduce: Reduce) -> bool:
    """Integers associate, so LLVM makes their lanes itself; their argmax goes in order."""
    if finds_place(accumulator):
        return accumulator.value.dtype.is_floating_point and len(reduce.domain) == 1
    return accumulator.dtype.is_floating_point


def write_reduction(write: Writer, reduce: Reduce, statement: WriteStatement) -> None:
    """The lines of a reduction; its results are plain names afterwards."""
    lanes = lane_count(reduce.domain[-1][1])
    if lanes == 1 or not all(_uses_lanes(each, reduce) for each in reduce.accumulators):
        _write_sequential(write, reduce, statement)
        return
    origin, names = reduce.origin, {}
    for each in reduce.accumulators:
        names[each.name] = f"{each.name}_lanes"
        wide = "f64" if each.value.dtype.short == "f64" else "f32"
        write.line(f"{each.name}_lanes = local_{wide}({lanes})", origin)
        if finds_place(each):
            write.line(f"{each.name}_places = local_i64({lanes})", origin)
    lane = write.fresh("lane")
    write.line(f"for {lane} in range(u64({lanes})):", origin)
    with write.indented():
        for each in reduce.accumulators:
            start = start_value(each.reducer.removeprefix("arg"), each.value.dtype)
            write.line(f"{names[each.name]}[{lane}] = {start}", origin)
            if finds_place(each):
                write.line(f"{each.name}_places[{lane}] = i64({lane})", origin)
    with domain_loops(write, reduce.domain[:-1], origin):
        variable, extent = reduce.domain[-1]
        known = extent.as_int()
        blocks, block = write.fresh("blocks"), write.fresh("block")
        write.line(f"{blocks} = ({index_text(extent)}) // u64({lanes})", origin)
        write.line(f"for {block} in range({blocks}):", origin)
        with write.indented():
            write.line(f"for {lane} in range(u64({lanes})):", origin)
            with write.indented():
                write.line(f"{variable} = {block}*u64({lanes}) + {lane}", origin)
                write_lane_step(write, reduce, lane, statement)
        if known is None or known % lanes:
            rest = f"{index_text(extent)} - {blocks}*u64({lanes})"
            write.line(f"for {lane} in range({rest}):", origin)
            with write.indented():
                write.line(f"{variable} = {blocks}*u64({lanes}) + {lane}", origin)
                write_lane_step(write, reduce, lane, statement)
    _write_fold(write, reduce, lane, lanes)
    for each in reduce.accumulators:
        if finds_place(each):
            _write_last_place(write, each, lane, origin)
            continue
        folded = _balanced(each, [f"{names[each.name]}[u64({at})]" for at in range(FOLDED)])
        write.line(f"{each.name} = {rounded(folded, each.dtype)}", origin)


def _write_fold(write: Writer, reduce: Reduce, lane: str, lanes: int) -> None:
    """Add the upper half of the lanes onto the lower one, until eight are left."""
    width = lanes // 2
    while width >= FOLDED:
        write.line(f"for {lane} in range(u64({width})):", reduce.origin)
        with write.indented():
            for each in reduce.accumulators:
                if finds_place(each):
                    _write_place_fold(write, each, lane, f"u64({width}) + {lane}", reduce.origin)
                    continue
                array = f"{each.name}_lanes"
                other = f"{array}[u64({width}) + {lane}]"
                step = step_text(each.reducer, each.dtype, f"{array}[{lane}]", other)
                write.line(f"{array}[{lane}] = {step}", reduce.origin)
        width //= 2


def _write_place_fold(
    write: Writer, each: Accumulator, lane: str, other: str, origin: Origin
) -> None:
    """Keep the better one of two lanes: nan over numbers, then the value, then the position."""
    best, places = f"{each.name}_lanes", f"{each.name}_places"
    sign = ">" if each.reducer == "argmax" else "<"
    mine, new = f"{best}[{lane}]", f"{best}[{other}]"
    earlier = f"({places}[{other}] < {places}[{lane}])"
    nan, old = f"({new} != {new})", f"({mine} != {mine})"
    same = f"(({new} == {mine}) | ({nan} & {old}))"
    wins = f"{each.name}_wins"
    write.line(f"{wins} = (({new} {sign} {mine}) | ({nan} & logical_not({old}))) | "
               f"({same} & {earlier})", origin)  # fmt: skip
    write.line(f"{places}[{lane}] = select({wins}, {places}[{other}], {places}[{lane}])", origin)
    write.line(f"{best}[{lane}] = select({wins}, {new}, {mine})", origin)


def _write_last_place(write: Writer, each: Accumulator, lane: str, origin: Origin) -> None:
    """Fold the lanes that are left onto the first one."""
    width = FOLDED // 2
    while width:
        write.line(f"for {lane} in range(u64({width})):", origin)
        with write.indented():
            _write_place_fold(write, each, lane, f"u64({width}) + {lane}", origin)
        width //= 2
    write.line(f"{each.name} = {each.name}_places[u64(0)]", origin)


def _write_lane_place(write: Writer, reduce: Reduce, each: Accumulator, lane: str) -> None:
    """One element of an argmax or argmin: better if larger (smaller), or the lane's first nan."""
    best, new = f"{each.name}_lanes[{lane}]", f"{each.name}_new"
    places, position = f"{each.name}_places[{lane}]", f"i64({reduce.domain[-1][0]})"
    sign = ">" if each.reducer == "argmax" else "<"
    wins = f"{each.name}_wins"
    write.line(f"{new} = {_value_text(each)}", reduce.origin)
    better = f"(({new} {sign} {best}) | ({new} != {new})) & ({best} == {best})"
    write.line(f"{wins} = {better}", reduce.origin)
    write.line(f"{places} = select({wins}, {position}, {places})", reduce.origin)
    write.line(f"{best} = select({wins}, {new}, {best})", reduce.origin)


def _balanced(each: Accumulator, parts: list[str]) -> str:
    """The fold of some texts as a balanced tree."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    left, right = _balanced(each, parts[:half]), _balanced(each, parts[half:])
    if each.reducer in ("sum", "prod") and half > 1:
        left, right = f"({left})", f"({right})"
    return step_text(each.reducer, each.dtype, left, right)


def rounded(text: str, element: dtype) -> str:
    """A text whose value is rounded to what a 16-bit type can hold."""
    if element.short in SIXTEEN:
        return f"widen_{element.short}(narrow_{element.short}({text}))"
    return text


def write_lane_step(write: Writer, reduce: Reduce, lane: str, statement: WriteStatement) -> None:
    """The body of a reduction, folded into its lanes."""
    for each_statement in reduce.body:
        statement(each_statement)
    for each in reduce.accumulators:
        if finds_place(each):
            _write_lane_place(write, reduce, each, lane)
            continue
        slot = f"{each.name}_lanes[{lane}]"
        step = step_text(each.reducer, each.dtype, slot, _value_text(each))
        write.line(f"{slot} = {step}", reduce.origin)


def _write_sequential(write: Writer, reduce: Reduce, statement: WriteStatement) -> None:
    origin = reduce.origin
    counted = any(each.reducer.startswith("arg") for each in reduce.accumulators)
    position = write.fresh("position")
    if counted:
        write.line(f"{position} = i64(0)", origin)
    for each in reduce.accumulators:
        if each.reducer.startswith("arg"):
            best = start_value(each.reducer[3:], each.value.dtype)
            write.line(f"{each.name} = i64(0)", origin)
            write.line(f"{each.name}_best = {best}", origin)
        else:
            write.line(f"{each.name} = {start_value(each.reducer, each.dtype)}", origin)
    with domain_loops(write, reduce.domain, origin):
        for each_statement in reduce.body:
            statement(each_statement)
        for each in reduce.accumulators:
            if each.reducer.startswith("arg"):
                _write_position_step(write, each, position, origin)
            else:
                step = step_text(each.reducer, each.dtype, each.name, _value_text(each))
                write.line(f"{each.name} = {step}", origin)
        if counted:
            write.line(f"{position} = {position} + i64(1)", origin)
    for each in reduce.accumulators:
        if each.dtype.short in SIXTEEN:
            write.line(f"{each.name} = {rounded(each.name, each.dtype)}", origin)


def _write_position_step(write: Writer, each: Accumulator, position: str, origin: Origin) -> None:
    """argmax, argmin: the first best position; the first NaN is better than any number."""
    name, best, new = each.name, f"{each.name}_best", f"{each.name}_new"
    write.line(f"{new} = {_value_text(each)}", origin)
    sign = ">" if each.reducer == "argmax" else "<"
    left, right = (new, best) if each.value.dtype.short != "bool" else (f"u8({new})", f"u8({best})")
    better = f"({left} {sign} {right}) | ({position} == i64(0))"
    if each.value.dtype.is_floating_point:
        better = f"(({left} {sign} {right}) | ({new} != {new}) | ({position} == i64(0)))"
        better += f" & (({best} == {best}) | ({position} == i64(0)))"
    write.line(f"{new}_wins = {better}", origin)
    write.line(f"{name} = select({new}_wins, {position}, {name})", origin)
    write.line(f"{best} = select({new}_wins, {new}, {best})", origin)


@contextmanager
def domain_loops(
    write: Writer, domain: Sequence[tuple[str, Index]], origin: Origin
) -> Iterator[None]:
    """Open loops over a domain; lines inside stand in the innermost."""
    before = write.depth
    for variable, extent in domain:
        write.line(f"for {variable} in range({index_text(extent)}):", origin)
        write.depth += 1
    yield
    write.depth = before
