"""The passes in the order they run, and the loop that runs them.

In: a functional graph. Out: the optimized graph, of primitives only. Each pass is a pure function
of a graph and the options; any of them can be left out by name. When somebody listens, a pass that
changed the text emits `passes.<name>` with the text before and after, and the result goes out as
`passes.optimized`. Under MT2_CHECK=1 the graph is verified before the first pass and after each.

    >>> from minitorch2.jit.ir.parser import parse_graph
    >>> graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = mul(%x, 1) return %0 }")
    >>> print(optimize(graph))
    graph f(%x: f32[4]) {
      return %x
    }

Source: LLVM's pass manager; onnx_ir's pass infrastructure.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from minitorch2.artifacts import emit, listening
from minitorch2.config import config
from minitorch2.errors import VerificationError
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.verify import has_only_primitives, is_functional, verify
from minitorch2.jit.passes.canonicalize import canonicalize
from minitorch2.jit.passes.decompose import decompose
from minitorch2.jit.passes.eliminate_casts import eliminate_casts
from minitorch2.jit.passes.eliminate_common_subexpressions import eliminate_common_subexpressions
from minitorch2.jit.passes.eliminate_dead_code import eliminate_dead_code
from minitorch2.jit.passes.fold_batch_norm import fold_batch_norm
from minitorch2.jit.passes.fold_constants import fold_constants
from minitorch2.jit.passes.join_slices import join_slices
from minitorch2.jit.passes.notes import Note, collected, repeat
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.order_products import order_products
from minitorch2.jit.passes.pull_permutes import pull_permutes
from minitorch2.jit.passes.rules import apply_rules
from minitorch2.jit.passes.simplify_reductions import simplify_reductions
from minitorch2.jit.passes.simplify_views import simplify_views
from minitorch2.phases import phase

Pass: TypeAlias = Callable[[Graph, PassOptions], Graph]

PIPELINE: tuple[Pass, ...] = (
    decompose,
    canonicalize,
    eliminate_casts,
    pull_permutes,
    simplify_views,
    join_slices,
    simplify_reductions,
    fold_constants,
    fold_batch_norm,
    order_products,
    apply_rules,
    eliminate_common_subexpressions,
    eliminate_dead_code,
)
REQUIRES: tuple[Callable[[Graph], bool], ...] = (is_functional, has_only_primitives)


def optimize(graph: Graph, options: PassOptions = DEFAULT, unit: str = "") -> Graph:
    """Run the pipeline. Raises VerificationError when a checked graph breaks the rules."""
    if config.check:
        _check(graph, "before the passes")
    ledger: list[Note] = []
    for function in PIPELINE:
        if options.allows(function.__name__):
            with collected() as notes:
                graph = run_pass(function, graph, options, unit)
            ledger += [each for each in notes if each.changes_bits]
    if ledger:
        emit("passes.ledger", unit, Ledger(tuple(ledger)), changes=list(map(str, ledger)))
    emit("passes.optimized", unit, graph)
    return graph


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every change that can show in the bits of a result."""

    notes: tuple[Note, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.notes))


def run_pass(function: Pass, graph: Graph, options: PassOptions, unit: str = "") -> Graph:
    """Run one pass, with its check and its event."""
    with collected() as notes, phase(f"passes.{function.__name__}"):
        result = function(graph, options)
    for each in notes:
        repeat(each)
    if config.check:
        _check(result, f"after the pass {function.__name__}")
    if listening():
        before, after = str(graph), str(result)
        if before != after:
            emit(f"passes.{function.__name__}", unit, result, before=before, after=after,
                 notes=list(map(str, notes)))  # fmt: skip
    return result


def _check(graph: Graph, when: str) -> None:
    """Verify the graph and what every pass requires and ensures."""
    for predicate in REQUIRES:
        if not predicate(graph):
            raise VerificationError(
                f"graph {graph.name} {when}",
                f"{predicate.__name__} does not hold",
                "passes take and give functional graphs of primitives",
            )
    verify(graph)
