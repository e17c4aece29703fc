"""replace_pattern: every place where a graph looks like a pattern gets another graph.

In: a GraphModule, a pattern and a replacement, each a function or a module with the same number of
arguments. Out: the module changed, and a Match for each place.

    >>> import minitorch2 as torch
    >>> traced = torch.fx.symbolic_trace(lambda x, y: torch.relu(x + y) * 2)
    >>> found = replace_pattern(traced, lambda a, b: torch.relu(a + b), lambda a, b: a - b)
    >>> len(found), traced(torch.ones(1), torch.ones(1))
    (1, tensor([0.]))

A pattern matches when opcodes, targets and constants are equal, its placeholders stand for any
values (the same value wherever one occurs), and nothing inside the place is used outside it.

Source: torch.fx.subgraph_rewriter's documentation.
"""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

from minitorch2.fx.graph import Graph
from minitorch2.fx.graph_module import GraphModule
from minitorch2.fx.node import Node, map_arg
from minitorch2.fx.tracing import symbolic_trace


class Match(NamedTuple):
    """A place: its last node, and the graph's node for each node of the pattern."""

    anchor: Node
    nodes_map: dict[Node, Node]


class ReplacedPatterns(NamedTuple):
    """A Match and the nodes that were put in its place."""

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


def _graph_of(source: Any) -> Graph:
    if isinstance(source, GraphModule):
        return source.graph
    return source if isinstance(source, Graph) else symbolic_trace(source).graph


def replace_pattern(
    gm: GraphModule, pattern: Callable | GraphModule, replacement: Callable | GraphModule
) -> list[Match]:
    """Replace every match, none overlapping another; the module is recompiled."""
    done = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(each.anchor, each.nodes_map) for each in done]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Any,
    replacement: Any = None,
    match_filters: list[Callable] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable | None = None,
) -> list[ReplacedPatterns]:
    """`replace_pattern` of the matches that every filter accepts.

    A filter is called with (match, the whole graph, the pattern's graph). Literals of the pattern
    match any when `ignore_literals`. `replacement_callback(match, graph, pattern graph)` makes a
    replacement for each match.
    """
    graph, wanted = gm.graph, _graph_of(pattern)
    fixed = None if replacement is None else _graph_of(replacement)
    done = []
    for match in _matches(graph, wanted, ignore_literals):
        if not all(accept(match, graph, wanted) for accept in match_filters or ()):
            continue
        fresh = fixed
        if fresh is None and replacement_callback is not None:
            fresh = _graph_of(replacement_callback(match, graph, wanted))
        assert fresh is not None
        done.append(_replaced(graph, wanted, fresh, match))
        _take_attributes(gm, replacement, fresh)
    gm.recompile()
    return done


def _matches(graph: Graph, pattern: Graph, ignore_literals: bool) -> list[Match]:
    (result,) = pattern.output_node().args
    anchors = _nodes_in(result)
    found: list[Match] = []
    taken: set[Node] = set()
    for node in graph.nodes:
        matcher = _Matcher(pattern, ignore_literals)
        if not matcher.fits(anchors[0], node) or not matcher.others(anchors[1:], graph):
            continue
        inner = {matcher.found[n] for n in matcher.found if n.op != "placeholder"}
        if inner & taken or not matcher.contained(anchors):
            continue
        taken |= inner
        found.append(Match(node, matcher.found))
    return found


def _nodes_in(value: Any) -> list[Node]:
    """The nodes in an argument, in order."""
    found: list[Node] = []

    def note(node: Node) -> Node:
        found.append(node)
        return node

    map_arg(value, note)
    return found


class _Matcher:
    """One attempt: the pattern's nodes with the graph's nodes they stand for."""

    def __init__(self, pattern: Graph, ignore_literals: bool):
        self.pattern, self.ignore_literals = pattern, ignore_literals
        self.found: dict[Node, Any] = {}

    def fits(self, wanted: Node, node: Any) -> bool:
        """Whether a value of the graph looks like a node of the pattern."""
        if wanted in self.found:
            known = self.found[wanted]
            return known is node or (not isinstance(node, Node) and bool(known == node))
        if wanted.op == "placeholder":
            self.found[wanted] = node
            return True
        if not isinstance(node, Node) or node.op != wanted.op or not self._same(wanted, node):
            return False
        self.found[wanted] = node
        if self._arguments(wanted.args, node.args) and self._arguments(wanted.kwargs, node.kwargs):
            return True
        del self.found[wanted]
        return False

    def _same(self, wanted: Node, node: Node) -> bool:
        if wanted.op not in ("call_module", "get_attr"):
            return node.target == wanted.target
        if node.target == wanted.target:
            return True
        own, other = wanted.graph.owning_module, node.graph.owning_module
        if wanted.op == "get_attr" or own is None or other is None:
            return False
        return type(own.get_submodule(wanted.target)) is type(other.get_submodule(node.target))

    def _arguments(self, wanted: Any, given: Any) -> bool:
        if isinstance(wanted, Node):
            return self.fits(wanted, given)
        if isinstance(wanted, (tuple, list)):
            if not isinstance(given, (tuple, list)) or len(wanted) != len(given):
                return False
            return all(self._arguments(a, b) for a, b in zip(wanted, given, strict=True))
        if isinstance(wanted, dict):
            if not isinstance(given, dict) or set(wanted) != set(given):
                return False
            return all(self._arguments(wanted[key], given[key]) for key in wanted)
        if isinstance(given, Node):
            return False
        return self.ignore_literals or (type(wanted) is type(given) and wanted == given)

    def others(self, anchors: list[Node], graph: Graph) -> bool:
        """Whether the pattern's other results are somewhere, too."""
        for anchor in anchors:
            if anchor not in self.found and not any(
                self.fits(anchor, node) for node in graph.nodes
            ):
                return False
        return True

    def contained(self, anchors: list[Node]) -> bool:
        """Whether nothing but results is used outside the place."""
        inner = set(self.found.values()) if all(map(_is_node, self.found.values())) else None
        inside = inner or {value for value in self.found.values() if isinstance(value, Node)}
        for wanted, node in self.found.items():
            if wanted.op == "placeholder" or wanted in anchors:
                continue
            if any(user not in inside for user in node.users):
                return False
        return True


def _is_node(value: Any) -> bool:
    return isinstance(value, Node)


def _replaced(graph: Graph, pattern: Graph, fresh: Graph, match: Match) -> ReplacedPatterns:
    """Put a copy of `fresh` in the place of a match."""
    inputs = [node for node in pattern.nodes if node.op == "placeholder"]
    outputs = [node for node in fresh.nodes if node.op == "placeholder"]
    values: dict[Node, Any] = {
        new: match.nodes_map[old] for old, new in zip(inputs, outputs, strict=True)
    }
    inner = [match.nodes_map[n] for n in pattern.nodes if n in match.nodes_map]
    inner = [n for n in inner if isinstance(n, Node) and n not in values.values()]
    (result,) = fresh.output_node().args
    (old_result,) = pattern.output_node().args
    made: list[Node] = []
    with graph.inserting_before(_first_user(graph, inner) or match.anchor):
        for node in fresh.nodes:
            if node.op in ("placeholder", "output"):
                continue
            values[node] = graph.node_copy(node, lambda n: values[n])
            made.append(values[node])
    new_results = [values[node] for node in _nodes_in(result)]
    old_results = [match.nodes_map[node] for node in _nodes_in(old_result)]
    for old, new in zip(old_results, new_results, strict=True):
        if isinstance(new, Node):
            old.replace_all_uses_with(new)
    for node in reversed(inner):
        if not node.users and not node._erased:
            graph.erase_node(node)
    return ReplacedPatterns(match.anchor, match.nodes_map, made)


def _first_user(graph: Graph, inner: list[Node]) -> Node | None:
    """The last node of the place in the graph's order: all its inputs stand before it."""
    last = None
    for node in graph.nodes:
        if node in inner:
            last = node
    return last


def _take_attributes(gm: GraphModule, source: Any, fresh: Graph) -> None:
    """Give the module the submodules and attributes that the replacement names."""
    owner = fresh.owning_module if fresh.owning_module is not None else source
    for node in fresh.nodes:
        if node.op == "call_module" and not _has(gm, node.target):
            gm.add_submodule(node.target, copy.deepcopy(owner.get_submodule(node.target)))
        elif node.op == "get_attr" and not _has(gm, node.target):
            value: Any = owner
            for part in node.target.split("."):
                value = getattr(value, part)
            setattr(gm, node.target, copy.deepcopy(value))


def _has(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True
