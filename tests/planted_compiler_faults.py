"""Faults planted into the graph compiler, one at a time: found by random graphs, located by bisect?

    python -m tests.planted_compiler_faults [--graphs 400] [TEXT ...]

In: nothing, or parts of the names of faults. Out: a line for each: the first random graph that is
wrong, and the stage and node that `mt2 bisect` names for it; the exit status is 1 when one was
missed, or a stage or node was named in which it was not planted. A wrong derivative is wrong in
eager too: there the judge is bisect itself, which compares with differences, and the calls of the
row's own samples come before the random graphs.
"""

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from minitorch2.cli import bisection
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff import functionalize, partition, pipeline, tracer
from minitorch2.jit.ir.graph import Graph, Value
from minitorch2.jit.passes import pipeline as passes
from minitorch2.jit.passes import rules
from minitorch2.jit.passes.rewrite import parse_rule
from minitorch2.kernels.codegen import host
from minitorch2.kernels.schedule import fusion, in_place, program
from minitorch2.ops.table import lookup
from tests.graphs.judging import Refused, differences
from tests.graphs.making import Case, called, make, tensors
from tests.op_samples import samples

Plant = Callable[[pytest.MonkeyPatch], None]
KERNELS = tuple(title for _, title in bisection.EXECUTORS)
BACKENDS = ("interpreter", "python")


@dataclass(frozen=True)
class Fault:
    """How it is planted, the stages of which bisect may name any, and the row whose derivative is
    wrong, if one is."""

    plant: Plant
    stages: tuple[str, ...]
    row: str = ""


def vjp(op: str, change: Callable[[Any, Any], Any]) -> Fault:
    """The derivative of a row, changed."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = lookup(op).vjp
        assert right is not None
        patch.setattr(lookup(op), "vjp", lambda s, *g: change(s, right(s, *g)))

    return Fault(plant, ("derivatives",), op)


def rule(text: str) -> Fault:
    """A rewrite rule, written wrong."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        wrong = parse_rule(text)
        assert wrong.name in {each.name for each in rules.RULES}
        changed = tuple(wrong if each.name == wrong.name else each for each in rules.RULES)
        patch.setattr(rules, "RULES", changed)

    return Fault(plant, ("pass apply_rules",))


def in_pass(name: str, op: str, change: Callable[[tuple], tuple]) -> Fault:
    """A pass that changes the arguments of an op beside what it does."""

    def wrapped(right: Any) -> Any:
        def faulty(graph: Graph, options: Any) -> Graph:
            made = right(graph, options)
            nodes = (replace(n, args=change(n.args)) if n.op == op else n for n in made.nodes)
            return replace(made, nodes=tuple(nodes))

        faulty.__name__ = name
        return faulty

    def plant(patch: pytest.MonkeyPatch) -> None:
        changed = tuple(wrapped(f) if f.__name__ == name else f for f in passes.PIPELINE)
        for module in (passes, bisection):
            patch.setattr(module, "PIPELINE", changed)

    return Fault(plant, (f"pass {name}",))


def _alike(args: tuple, first: int = 0) -> bool:
    """Whether an argument and the next are values of one type, so that they may change places."""
    one, two = (*args, None, None)[first : first + 2]
    return isinstance(one, Value) and isinstance(two, Value) and one.type == two.type


def swapped(args: tuple, first: int = 0) -> tuple:
    """An argument and the next the wrong way round, where that can be."""
    if not _alike(args, first):
        return args
    return (*args[:first], args[first + 1], args[first], *args[first + 2 :])


def other_branch(args: tuple) -> tuple:
    """What `where` chooses from, the wrong way round."""
    return swapped(args, 1)


def in_partition(change: Callable[[Any], Any]) -> Fault:
    """The two halves, changed."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = partition.partition
        for module in (pipeline, bisection):
            patch.setattr(module, "partition", lambda *a, **named: change(right(*a, **named)))

    return Fault(plant, ("forward and backward",))


def _last_node_negated(halves: Any) -> Any:
    """The last node of the backward that adds, subtracts."""
    nodes = list(halves.backward.nodes)
    for place in reversed(range(len(nodes))):
        if nodes[place].op in ("add", "mul") and _alike(nodes[place].args):
            other = "true_divide" if nodes[place].op == "mul" else "maximum"
            args = nodes[place].args[:2]
            nodes[place] = replace(nodes[place], op=other, args=args)
            break
    return replace(halves, backward=replace(halves.backward, nodes=tuple(nodes)))


def _saved_of_another(halves: Any) -> Any:
    """Two saved values of one type come in the wrong order."""
    given = list(halves.backward.inputs)
    count = len(halves.saved)
    for one in range(count - 1):
        if given[one].value.type == given[one + 1].value.type:
            given[one], given[one + 1] = given[one + 1], given[one]
            break
    return replace(halves, backward=replace(halves.backward, inputs=tuple(given)))


def replacing(owner: Any, name: str, change: Callable[..., Any], *stages: str) -> Fault:
    """A function called through `change(original, *args)`."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *args: change(right, *args))

    return Fault(plant, stages)


def _first_write_lost(right: Any, self: Any, target: Any, source: Any) -> Any:
    """A write through a view is not seen by its base."""
    return target if self.steps_of(target) else right(self, target, source)


def _early(right: Any, self: Any, root: Any, index: Any, ranges: Any) -> Any:
    """What lies behind two views is read through one of them."""
    found, place = right(self, root, index, ranges)
    return found, tuple(reversed(place)) if len(place) == 2 and _square(found) else place


def _first_uses(right: Any, plan: Any) -> dict[Value, int]:
    """The step after the one that makes a value, for values that have later readers too."""
    used: dict[Value, list[int]] = {}
    for number, step in enumerate(plan.steps):
        for value in step.uses():
            used.setdefault(value, []).append(number)
    return {value: sorted(set(used[value]))[:2][-1] for value in right(plan)}


def _no_hindrance(right: Any, kernel: Any, operand: Any, result: Any) -> str:
    """A kernel that may write a result over any operand that it does not write besides."""
    return "it is written" if (operand.mode, result.mode) != ("in", "out") else ""


def _square(value: Value) -> bool:
    shape = value.type.shape  # type: ignore[union-attr]
    return len(shape) == 2 and shape[0] == shape[1]


FAULTS: dict[str, Fault] = {
    "the derivative of sin is that of cos": vjp("sin", lambda s, g: g.neg()),
    "tanh's derivative by a quarter": vjp("tanh", lambda s, g: g * 0.75),
    "sum's gradient is counted twice": vjp("sum", lambda s, g: g * 2),
    "writes into inputs are forgotten": replacing(
        functionalize, "_plan_writes", lambda right, *args: (), "functional graph"
    ),
    "a write through a view is lost": replacing(
        tracer.Tracer, "_write", _first_write_lost, "functional graph"
    ),
    "canonicalize orders differences": in_pass("canonicalize", "sub", swapped),
    "apply_rules orders divisions": in_pass("apply_rules", "true_divide", swapped),
    "simplify_views orders comparisons": in_pass("simplify_views", "le", swapped),
    "dead code takes the other branch": in_pass("eliminate_dead_code", "where", other_branch),
    "the rule of x / 4 multiplies by 4": rule(
        "divide_power_of_two: true_divide(x, c) => mul(x, c) for floats where power_of_two(c)"
    ),
    "the rule of x + -y takes x from y": rule("add_neg: add(x, neg(y)) => sub(y, x)"),
    "the rule of the square doubles": rule("pow_two: pow(x, 2) => mul(x, 2)"),
    "the backward ends wrong": in_partition(_last_node_negated),
    "saved values change places": in_partition(_saved_of_another),
    "views are read the wrong way round": replacing(
        program.Program, "resolve", _early, *KERNELS
    ),
    "what a kernel stores for others is left out": replacing(
        fusion.Fusion, "stored", lambda right, self, units: right(self, units)[-1:], *KERNELS
    ),
    "memory is written over before its last reader": replacing(
        in_place, "last_uses", _first_uses, *KERNELS
    ),
    "memory is written over at places that are read later": replacing(
        in_place, "hindrance", _no_hindrance, *KERNELS
    ),
    "memory goes back before its last reader": replacing(
        host, "last_uses", _first_uses, *KERNELS
    ),
}  # fmt: skip


def tried(fault: Fault, graphs: int) -> tuple[str, bool]:
    """What came of a fault, and whether it was found and located."""
    with pytest.MonkeyPatch.context() as patch:
        fault.plant(patch)
        for title, case in itertools.chain(_samples(fault), _drawn(graphs)):
            found = _wrong(case, fault)
            if found is None:
                continue
            stage, node = found
            good = stage in fault.stages and (not fault.row or f" = {fault.row}(" in node)
            place = f"{stage}, {node}" if node else stage
            return f"{title}: {'' if good else 'NOT WHERE IT IS: '}{place}", good
    return f"MISSED by {graphs} graphs", False


def _samples(fault: Fault) -> Iterator[tuple[str, Case]]:
    """The calls of the row whose derivative is wrong, with gradients."""
    row = lookup(fault.row) if fault.row else None
    for number, sample in enumerate(samples(row) if row is not None else ()):
        case = None if row is None or sample.fails else called(row, sample, False)
        if case is not None:
            flags = tuple(array.dtype.kind == "f" for array in case.arrays)
            yield f"sample {number}", replace(case, flags=flags)


def _drawn(graphs: int) -> Iterator[tuple[str, Case]]:
    return ((f"graph {seed}", make(seed)) for seed in range(graphs))


def _wrong(case: Case, fault: Fault) -> tuple[str, str] | None:
    """The stage and node of a wrong case."""
    try:
        slopes = fault.stages == ("derivatives",)
        if not slopes and not differences(case, BACKENDS):
            return None
        if slopes:
            with_rows = {node.op for node in case.graph.nodes}
            if not any(case.flags) or not with_rows:
                return None
        finding = (bisection.first_wrong if slopes else bisection.bisect)(
            case.graph, tensors(case), case.flags, *(("derivatives",) if slopes else ())
        )
        if slopes and finding.graph is None:
            return None
        last = finding.verdicts[-1]
        return (last.stage if last.is_bug else "no stage"), finding.node
    except (Refused, Mt2Error):
        return None


def main() -> int:
    """Try the faults; 1 when one was missed or not located."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--graphs", type=int, default=400)
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    good = True
    for name, fault in FAULTS.items():
        if given.names and not any(text in name for text in given.names):
            continue
        text, right = tried(fault, given.graphs)
        print(f"{name}: {text}", flush=True)
        good &= right
    return not good


if __name__ == "__main__":
    sys.exit(main())
