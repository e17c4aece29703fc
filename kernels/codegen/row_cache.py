"""Slow functions of a row, computed in a reduction and needed again: kept on the stack meanwhile.

In: the statements of one row: reductions, then loops over the same elements. Out: the same with
local arrays, into which a reduction puts the results of slow functions that a later loop would
compute anew. A softmax then computes each exp once:

    reduce j { e = exp(x[j] - m) } into s = sum(e)      reduce j { e = exp(x[j] - m); row[j] = e }
    for j { e = exp(x[j] - m); y[j] = e / s }      =>   for j { e = row[j]; y[j] = e / s }

Source: scalar expansion, as in Allen and Kennedy (2001), chapter 5.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from minitorch2.dtypes import dtype
from minitorch2.kernels.functions import EXPENSIVE
from minitorch2.kernels.index import Index, substitute, symbol
from minitorch2.kernels.loop_ir import (
    Call,
    Cast,
    Expression,
    IndexValue,
    Let,
    Load,
    Loop,
    Name,
    Reduce,
    Statement,
    Store,
)
from minitorch2.kernels.schedule.split_loops import used

MOST_BYTES = 1 << 14  # of a row: half of a core's fastest cache
ELEMENT = "element"  # stands for the variable of whatever loop


@dataclass(frozen=True, slots=True)
class Cached:
    """The statements, and the local arrays they use: name, type, length."""

    body: tuple[Statement, ...]
    arrays: tuple[tuple[str, dtype, int], ...]


def cached_rows(body: Sequence[Statement]) -> Cached:
    """The statements of a row with its slow functions computed once."""
    statements = list(body)
    arrays: list[tuple[str, dtype, int]] = []
    for place, reduce in enumerate(statements):
        if not isinstance(reduce, Reduce) or len(reduce.domain) != 1:
            continue
        [(variable, extent)] = reduce.domain
        length = extent.as_int()
        slow = {key: let for key, let in _keys(reduce.body, variable).items() if _is_slow(let)}
        if length is None or not slow:
            continue
        for later in range(place + 1, len(statements)):
            loop = statements[later]
            if not isinstance(loop, Loop) or loop.extent != extent:
                continue
            wanted = _keys(loop.body, loop.variable)
            for key in slow.keys() & wanted.keys():
                let = slow[key]
                element = let.value.dtype
                if length * element.itemsize > MOST_BYTES:
                    continue
                name = f"row{len(arrays)}"
                arrays.append((name, element, length))
                reduce = _kept(reduce, let, Store(name, symbol(variable), Name(let.name, element)))
                load = Load(name, symbol(loop.variable), element)
                loop = _reused(loop, replace(wanted[key], value=load))
            statements[later] = loop
        statements[place] = reduce
    return Cached(tuple(statements), tuple(arrays))


def _is_slow(let: Let) -> bool:
    return isinstance(let.value, Call) and let.value.function in EXPENSIVE and (
        let.value.dtype.short in ("f32", "f64"))  # fmt: skip


def _keys(body: Sequence[Statement], variable: str) -> dict[Hashable, Let]:
    """The named values of a loop body by what they compute, whatever its names are."""
    meaning: dict[str, Expression] = {}
    found: dict[Hashable, Let] = {}
    place = {variable: symbol(ELEMENT)}

    def moved(index: Index) -> Index:
        return substitute(index, place, {})

    def written_out(expression: Expression) -> Expression:
        match expression:
            case Name(name):
                return meaning.get(name, expression)
            case Load(buffer, index, element):
                return Load(buffer, moved(index), element)
            case IndexValue(index, element):
                return IndexValue(moved(index), element)
            case Cast(value, element):
                return Cast(written_out(value), element)
            case Call(_, args):
                return replace(expression, args=tuple(map(written_out, args)))
        return expression

    for each in body:
        if not isinstance(each, Let | Store):
            return {}
        if isinstance(each, Let):
            meaning[each.name] = written_out(each.value)
            found.setdefault(meaning[each.name], each)
    return found


def _kept(reduce: Reduce, let: Let, store: Store) -> Reduce:
    """The reduction with a store behind one of its statements."""
    at = reduce.body.index(let) + 1
    return replace(reduce, body=(*reduce.body[:at], store, *reduce.body[at:]))


def _reused(loop: Loop, let: Let) -> Loop:
    """The loop with a value loaded, and without what only computed it."""
    body = [let if isinstance(each, Let) and each.name == let.name else each for each in loop.body]
    return replace(loop, body=used(body))
