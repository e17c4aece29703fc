"""Which units may fail while they run, so that writes into inputs have to wait for them.

In: a Program. Out: the numbers of its fragile units. A unit with checks is not fragile if another
one, before it in the program, checks the same elements of the same tensor against the same size:
the gradient of an embedding meets no index that the embedding itself has not met. Tensors that are
computed twice in the same way (positions, say, that a memory budget computes again) are the same.

Source: elimination of redundant bounds checks (Gupta, 1993).
"""

from collections.abc import Hashable

from minitorch2.jit.ir.graph import Graph, Value, literal_key, renamed_args
from minitorch2.jit.passes.effects import may_merge
from minitorch2.kernels.index import Index, Symbol, product
from minitorch2.kernels.loop_ir import Check, Constant, IndexValue, Require
from minitorch2.kernels.lower.nests import (
    HostStep,
    Nest,
    NestExpression,
    Read,
    Scatter,
    map_expression,
    shape_of,
)
from minitorch2.kernels.schedule.program import Program
from minitorch2.ops.table import PRODUCT, lookup


def fragile_units(program: Program) -> set[int]:
    """The units that may fail, without those that fail only where an earlier one does."""
    found: set[int] = set()
    checked: set[Hashable] = set()
    same: dict[Value, Value] | None = None
    for number, unit in enumerate(program.units):
        if isinstance(unit, HostStep):
            if lookup(unit.node.op).kind != PRODUCT:
                found.add(number)
        elif isinstance(unit, Scatter) and unit.result in program.targets:
            continue  # reinplace.py has put a nest before it that checks the same
        elif isinstance(unit, Nest | Scatter) and unit.may_fail():
            same = _first_of_equals(program.graph) if same is None else same
            keys = [_key(program, unit, step, same) for step in unit.steps
                    if isinstance(step, Check | Require)]  # fmt: skip
            if None in keys or not checked.issuperset(keys):
                found.add(number)
            checked.update(keys)
    return found


def _first_of_equals(graph: Graph) -> dict[Value, Value]:
    """For each value that another call has made before, that call's result."""
    same: dict[Value, Value] = {}
    seen: dict[Hashable, tuple[Value, ...]] = {}
    for node in graph.nodes:
        args = renamed_args(node.args, dict(same))
        if node.op == "after" and isinstance(args[0], Value):
            same[node.results[0]] = args[0]
        elif may_merge(node):
            first = seen.setdefault((node.op, literal_key(args)), node.results)
            if first is not node.results:
                same.update(zip(node.results, first, strict=True))
    return same


def _key(
    program: Program, unit: Nest | Scatter, step: Check | Require, same: dict[Value, Value]
) -> Hashable | None:
    """What a check looks at, if that is every element of one tensor; None if it is not."""
    if isinstance(step, Require):
        return None
    extents = dict(unit.axes)
    whole = True

    def leaf(part: NestExpression) -> NestExpression:
        nonlocal whole
        if isinstance(part, Read):
            axes = [_axis(index) for index in part.index]
            sizes = shape_of(part.value)
            root = program.root(part.value)
            whole &= len(set(axes)) == len(axes) and [extents.get(axis) for axis in axes] == list(
                sizes
            )
            whole &= product(sizes) == product(shape_of(root))
            return Read(same.get(root, root), (), part.dtype)
        whole &= isinstance(part, Constant | IndexValue)
        return part

    value = map_expression(step.value, leaf)
    return (value, step.size) if whole else None


def _axis(index: Index) -> str:
    """The axis that an index is; empty for any other expression."""
    terms = index.terms
    if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1:
        [atom] = terms[0][0]
        return atom.name if isinstance(atom, Symbol) else ""
    return ""
