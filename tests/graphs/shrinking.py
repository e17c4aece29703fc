"""A failing case made small, and as a script that stands alone.

In: a Case and a backend that is wrong about it. Out: the smallest case found that is still wrong:
fewer outputs, then fewer calls, then fewer inputs that require gradients.
"""

from collections.abc import Iterator
from dataclasses import replace

from minitorch2.jit.ir.graph import (
    Graph,
    Output,
    renamed_args,
    renumbered,
    values_in,
    with_nodes,
)
from tests.graphs.judging import Refused, differences
from tests.graphs.making import Case

SCRIPT = '''"""{wrong}"""
import numpy
from numpy import inf, nan
from minitorch2.jit.ir.parser import parse_graph
from tests.graphs.making import Case
from tests.graphs.judging import differences

graph = parse_graph("""
{graph}
""")
arrays = (
{arrays}
)
case = Case({seed}, graph, arrays, {flags})
print(differences(case, [{backend!r}]))
'''


def smallest(case: Case, backend: str) -> Case:
    """The smallest case that is still wrong."""
    changed = True
    while changed:
        changed = False
        for candidate in _smaller(case):
            if _size(candidate) < _size(case) and _is_wrong(candidate, backend):
                case, changed = candidate, True
                break
    return case


def _size(case: Case) -> tuple[int, ...]:
    graph = case.graph
    return len(graph.nodes), len(graph.outputs), len(graph.inputs), sum(case.flags)


def _is_wrong(case: Case, backend: str) -> bool:
    try:
        return bool(differences(case, [backend]))
    except Refused:
        return False


def _smaller(case: Case) -> Iterator[Case]:
    graph = case.graph
    if len(graph.outputs) > 1:
        for output in graph.outputs:
            yield _pruned(case, replace(graph, outputs=(output,)))
    for node in reversed(graph.nodes[:-1]):  # end earlier
        yield _pruned(case, replace(graph, outputs=(Output(node.results[0]),)))
    for place in range(len(graph.nodes) - 1, -1, -1):  # leave one call out
        shorter = _without(graph, place)
        if shorter is not None:
            yield _pruned(case, shorter)
    for place, flag in enumerate(case.flags):
        if flag:
            flags = tuple(f and n != place for n, f in enumerate(case.flags))
            yield replace(case, flags=flags)


def _without(graph: Graph, place: int) -> Graph | None:
    """The graph without one call; its readers read an earlier value of the same type."""
    node = graph.nodes[place]
    before = [i.value for i in graph.inputs] + [
        r for n in graph.nodes[:place] for r in n.results
    ]  # fmt: skip
    names = {}
    for result in node.results:
        same = [value for value in before if value.type == result.type]
        used = any(result in values_in(n.args) for n in graph.nodes) or any(
            result in values_in(o.argument) for o in graph.outputs
        )
        if used and not same:
            return None
        if same:
            names[result] = same[-1]
    nodes = tuple(
        replace(n, args=renamed_args(n.args, names))
        for n in graph.nodes[:place] + graph.nodes[place + 1 :]
    )  # fmt: skip
    return with_nodes(graph, nodes, names)


def _pruned(case: Case, graph: Graph) -> Case:
    """Without calls that nothing needs (writes stay), and without inputs that nothing reads."""
    live = {v for o in graph.outputs for v in values_in(o.argument)}
    kept = []
    for node in reversed(graph.nodes):
        if node.op.endswith("_") or live.intersection(node.results):
            live.update(values_in(node.args))
            kept.append(node)
    places = [n for n, i in enumerate(graph.inputs) if i.value in live]
    smaller = replace(
        graph, nodes=tuple(reversed(kept)), inputs=tuple(graph.inputs[n] for n in places)
    )
    return replace(
        case,
        graph=renumbered(smaller),
        arrays=tuple(case.arrays[n] for n in places),
        flags=tuple(case.flags[n] for n in places),
    )


def script(case: Case, backend: str, wrong: str) -> str:
    """The case as a script."""
    arrays = "\n".join(
        f"    numpy.array({a.tolist()!r}, dtype={str(a.dtype)!r})," for a in case.arrays
    )
    return SCRIPT.format(wrong=wrong.splitlines()[0], graph=case.graph, arrays=arrays,
                         seed=case.seed, flags=case.flags, backend=backend)  # fmt: skip
