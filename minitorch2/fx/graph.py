"""Graph: the list of nodes, and the operations on it.

In: calls of its methods, one for each kind of node, at the insertion point. Out: a graph in which
every node stands after those it uses.

    >>> import minitorch2 as torch
    >>> graph = Graph()
    >>> x = graph.placeholder("x")
    >>> _ = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu

Source: torch.fx.Graph's documentation.
"""

import builtins
import keyword
import re
from collections.abc import Callable, Iterator
from typing import Any

from minitorch2.errors import OperationError
from minitorch2.fx.codegen import CodeGen, PythonCode
from minitorch2.fx.node import Node, map_arg, shown, target_text

_SNAKE = (re.compile(r"(.)([A-Z][a-z]+)"), re.compile(r"([a-z0-9])([A-Z])"))
_TAKEN = set(keyword.kwlist) | set(dir(builtins)) | {"torch", "device", "inf", "nan"}


def snake_case(text: str) -> str:
    """FooBar as foo_bar."""
    for pattern in _SNAKE:
        text = pattern.sub(r"\1_\2", text)
    return text.lower()


class Names:
    """Names for nodes: made of what they call, each used once."""

    def __init__(self) -> None:
        self.used: set[str] = set()
        self.counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any = None) -> str:
        """A name like the candidate that is a Python identifier and not used yet."""
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.fullmatch(r"(.*)_(\d+)", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        name = candidate
        if number is None and (name in _TAKEN or name in self.used):
            number = self.counts.get(base, 0)
        while name in self.used or name in _TAKEN:
            number = (number or 0) + 1
            name = f"{base}_{number}"
        self.used.add(name)
        if number is not None:
            self.counts[base] = max(number, self.counts.get(base, 0))
        return name


class _InsertPoint:
    """Where new nodes go; as a context manager it restores the old place."""

    def __init__(self, graph: "Graph", insert: Callable[[Node], None]):
        self.graph, self.before = graph, graph._insert
        graph._insert = insert

    def __enter__(self) -> "_InsertPoint":
        return self

    def __exit__(self, *exc: object) -> None:
        self.graph._insert = self.before


class NodeList:
    """The nodes of a graph in order; may be walked while nodes are added or erased."""

    def __init__(self, graph: "Graph", backwards: bool = False):
        self.graph, self.backwards = graph, backwards

    def __len__(self) -> int:
        return self.graph._count

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = root._prev if self.backwards else root._next
        while node is not root:
            after = node._prev if self.backwards else node._next
            if not node._erased:
                yield node
                after = node._prev if self.backwards else node._next
            node = after

    def __reversed__(self) -> Iterator[Node]:
        return iter(NodeList(self.graph, not self.backwards))


class Graph:
    """Nodes in order. `owning_module` is the module whose attributes they name, if any."""

    def __init__(
        self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None
    ):
        self._root = Node(self, "", "output", "root", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._count = 0
        self._names = Names()
        self.owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    @property
    def nodes(self) -> NodeList:
        """The nodes in order."""
        return NodeList(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of an opcode, and of a target when one is given."""
        return [
            node
            for node in self.nodes
            if node.op == op and (target is None or node.target == target)
        ]

    def output_node(self) -> Node:
        """The output node."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    # ---- making nodes --------------------------------------------------------------------------

    def create_node(
        self,
        op: str,
        target: Any,
        args: tuple | None = None,
        kwargs: dict[str, Any] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node at the insertion point."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        made = self._names.create_name(name if name is not None else self._candidate(op, target))
        node = Node(self, made, op, target, args, kwargs, type_expr)
        self._insert(node)
        self._count += 1
        return node

    @staticmethod
    def _candidate(op: str, target: Any) -> str:
        if op == "call_function":
            target = getattr(target, "__name__", "function")
        elif op == "placeholder":
            return target.lstrip("*") if not target.startswith("*") else f"_{target.lstrip('*')}"
        candidate = str(target).replace(".", "_")
        if candidate.startswith("__") and candidate.endswith("__"):
            candidate = candidate[2:-2]
        return snake_case(candidate)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An argument of the graph."""
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """An attribute of the owning module, by its path."""
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable,
        args: tuple | None = None,
        kwargs: dict | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple | None = None,
        kwargs: dict | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple | None = None,
        kwargs: dict | None = None,
        type_expr: Any = None,
    ) -> Node:
        """A call of a submodule, by its path."""
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def output(self, result: Any, type_expr: Any = None) -> Node:
        """The result of the graph."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    # ---- moving and removing -------------------------------------------------------------------

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before `n` (None: at the start), within the block if it is one."""
        if n is None:
            return self.inserting_after(self._root)
        self._own(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go after `n` in order (None: at the end), within the block if it is one."""
        if n is None:
            return _InsertPoint(self, self._root.prepend)
        self._own(n)
        place = [n]

        def insert(node: Node) -> None:
            place[0].append(node)

        return _InsertPoint(self, insert)

    def _own(self, node: Node) -> None:
        if node.graph is not self:
            raise OperationError(f"inserting at {node}", "Node to insert at is not in graph")

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that nothing uses; OperationError while it has users."""
        if to_erase.users:
            raise OperationError(
                f"erase_node({to_erase})",
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {list(to_erase.users)}",
                "give its users another node first: node.replace_all_uses_with(other)",
            )
        self._own(to_erase)
        if to_erase._erased:
            return
        to_erase._set((), {})
        before = to_erase._prev
        to_erase._prev._next, to_erase._next._prev = to_erase._next, to_erase._prev
        to_erase._prev, to_erase._erased = before, True  # whoever walks the list goes on from here
        self._count -= 1

    def eliminate_dead_code(self, is_impure_node: Callable | None = None) -> bool:
        """Remove nodes that nothing uses and that do nothing else; whether there were any."""
        self.lint()
        impure = is_impure_node or Node.is_impure
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    # ---- copying -------------------------------------------------------------------------------

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Any] = lambda x: x) -> Node:
        """Copy a node of another graph to the insertion point, its arguments transformed."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node.target, args, dict(kwargs), node.name, node.type)
        made.meta = dict(node.meta)
        return made

    def graph_copy(
        self, g: "Graph", val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Copy another graph's nodes here; returns what its output is here, copied nodes mapped."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                found = map_arg(node.args[0], lambda n: val_map[n])
                return (found, node) if return_output_node else found
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict | None = None) -> "Graph":
        fresh = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        mapping: dict[Node, Node] = {}
        fresh._codegen = self._codegen
        found = fresh.graph_copy(self, mapping, return_output_node=True)
        if found is not None:
            made = fresh.output(found[0], found[1].type)
            made.meta = dict(found[1].meta)
        return fresh

    # ---- checks and text -----------------------------------------------------------------------

    def lint(self) -> None:
        """OperationError unless nodes stand after what they use, and targets exist."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            for used in node.all_input_nodes:
                if used.graph is not self or used._erased:
                    raise OperationError(
                        "lint", f"Argument '{used}' of Node '{node}' does not belong to this Graph"
                    )
                if used not in seen:
                    raise OperationError(
                        "lint",
                        f"Argument '{used}' of Node '{node}' was used before it has been defined! "
                        f"Please check that Nodes in the graph are topologically ordered\n{self}",
                    )
            if node.name in names:
                raise OperationError("lint", f"Node redefined name {node.name}!")
            seen.add(node)
            names.add(node.name)
            if self.owning_module is not None and node.op in ("get_attr", "call_module"):
                self._check_path(node)

    def _check_path(self, node: Node) -> None:
        place = self.owning_module
        for part in node.target.split("."):
            if not hasattr(place, part):
                raise OperationError(
                    "lint",
                    f"Node {node} target {node.target} references nonexistent attribute {part} "
                    f"of {type(place).__name__}",
                )
            place = getattr(place, part)
        if node.op == "call_module" and not callable(place):
            raise OperationError("lint", f"{node.target} of node {node} is no module")

    def python_code(self, root_module: str, *, verbose: bool = False) -> PythonCode:
        """The graph as the source of a `forward`, and the globals that it needs."""
        return self._codegen.generate(self.nodes, root_module)

    def set_codegen(self, codegen: CodeGen) -> None:
        """Write the source another way from now on."""
        self._codegen = codegen

    def __str__(self) -> str:
        lines = ["graph():"]
        lines += [f"    {node.format_node()}" for node in self.nodes]
        return "\n".join(lines)

    def print_tabular(self) -> None:
        """Print one row for each node."""
        rows = [("opcode", "name", "target", "args", "kwargs")]
        rows += [
            (n.op, n.name, target_text(n.target), shown(n.args), shown(n.kwargs))
            for n in self.nodes
        ]
        widths = [max(len(row[column]) for row in rows) for column in range(5)]
        rule = "  ".join("-" * width for width in widths)
        for index, row in enumerate(rows):
            if index == 1:
                print(rule)
            cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            print("  ".join(cells).rstrip())
