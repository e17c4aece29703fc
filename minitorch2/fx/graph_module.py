"""GraphModule: a module whose forward is the code of a graph.

In: a module (or a dict of attributes) and a graph. Out: a module that holds what the graph names
and runs its code; after the graph was changed, `recompile()`.

    >>> import minitorch2 as torch
    >>> traced = torch.fx.symbolic_trace(lambda x: x + 1)
    >>> traced(torch.ones(2))
    tensor([2., 2.])

Source: torch.fx.GraphModule's documentation.
"""

import copy
import itertools
import linecache
from collections.abc import Mapping
from typing import Any

from minitorch2.errors import OperationError
from minitorch2.fx.codegen import PythonCode
from minitorch2.fx.graph import Graph
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.tensors import Tensor

_numbers = itertools.count()


class GraphModule(Module):
    """A module made of a graph. `code` is its source, `graph` what it is made of."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # Each has a class of its own, because its forward is its own.
        base = next(each for each in cls.__mro__ if "_own_class" not in vars(each))
        own = type(base.__name__, (base,), {"_own_class": True, "__module__": base.__module__})
        return super().__new__(own)

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule"):
        super().__init__()
        type(self).__name__ = class_name
        if isinstance(root, Module):
            self.training = root.training
            for path in _paths(graph):
                _copy_attribute(root, self, path)
        elif isinstance(root, Mapping):
            for path in _paths(graph):
                if path not in root:
                    raise OperationError(
                        f"GraphModule(dict, graph) with {path!r} in the graph",
                        f"but no such attribute in the dict: {sorted(root)}",
                        "give every target of the graph's modules and attributes",
                    )
            for path in sorted(_paths(graph), key=lambda name: name.count(".")):
                _set_attribute(self, path, root[path])
        else:
            raise OperationError(f"GraphModule({type(root).__name__})", "Unsupported type of root")
        self._graph: Graph = graph
        self.meta: dict[str, Any] = {}
        graph.owning_module = self
        self._code = ""
        self.recompile()

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one compiles it."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AttributeError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The source of `forward`."""
        return self._code

    def recompile(self) -> PythonCode:
        """Make `forward` from the graph again; after every change of the graph."""
        made = self._graph.python_code("self")
        self._code = made.src
        names = dict(made.globals)
        file = f"<minitorch2 fx {next(_numbers)}>"
        exec(compile(made.src, file, "exec"), names)
        lines = made.src.splitlines(True)
        linecache.cache[file] = (len(made.src), None, lines, file)
        type(self).forward = names["forward"]  # type: ignore[method-assign]
        return made

    # ---- submodules ----------------------------------------------------------------------------

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a path, making the modules on the way; False where something stands."""
        *way, name = target.split(".")
        place: Any = self
        for part in way:
            inner = getattr(place, part, None)
            if inner is None:
                inner = Module()
                setattr(place, part, inner)
            if not isinstance(inner, Module):
                return False
            place = inner
        place.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a path; False when there is none."""
        *way, name = target.split(".")
        place: Any = self
        for part in way:
            place = getattr(place, part, None)
            if not isinstance(place, Module):
                return False
        if not isinstance(getattr(place, name, None), Module):
            return False
        delattr(place, name)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove the modules that no node names."""
        used: set[str] = set()
        for path in _paths(self._graph):
            parts = path.split(".")
            used.update(".".join(parts[:n]) for n in range(1, len(parts) + 1))
            called = self._graph.find_nodes(op="call_module", target=path)
            if called:
                used.update(f"{path}.{n}" for n, _ in self.get_submodule(path).named_modules() if n)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # ---- copies and text -----------------------------------------------------------------------

    def __deepcopy__(self, memo: dict) -> "GraphModule":
        memo[id(self)] = fresh = GraphModule.__new__(GraphModule)
        Module.__init__(fresh)
        type(fresh).__name__ = type(self).__name__
        for name, value in vars(self).items():
            if name not in ("_graph", "_code"):
                fresh.__dict__[name] = copy.deepcopy(value, memo)
        fresh.__dict__["_graph"] = copy.deepcopy(self._graph, memo)
        fresh._graph.owning_module = fresh
        fresh.recompile()
        return fresh

    def __copy__(self) -> "GraphModule":
        return GraphModule(self, copy.deepcopy(self._graph), type(self).__name__)

    def __reduce__(self) -> tuple:
        state = {key: value for key, value in vars(self).items() if key not in ("_graph", "_code")}
        return _rebuilt, (state, _as_rows(self._graph), type(self).__name__)

    def __str__(self) -> str:
        return f"{super().__repr__()}\n{self._code}"

    def print_readable(self, print_output: bool = True, **ignored: Any) -> str:
        """The source as a class; printed, and returned."""
        body = self._code.strip("\n").replace("\n", "\n    ")
        text = f"class {type(self).__name__}(torch.nn.Module):\n    {body}"
        if print_output:
            print(text)
        return text


def _paths(graph: Graph) -> list[str]:
    """The paths that a graph's nodes name."""
    found = [node.target for node in graph.nodes if node.op in ("get_attr", "call_module")]
    return list(dict.fromkeys(found))


def _copy_attribute(source: Any, target: Any, path: str) -> None:
    """Give the target what stands at a path of the source, with modules on the way."""
    *way, name = path.split(".")
    for part in way:
        inner = getattr(source, part)
        held = getattr(target, part, None)
        if held is inner:
            return
        if held is None:
            held = Module()
            setattr(target, part, held)
        source, target = inner, held
    _put(target, name, getattr(source, name))


def _set_attribute(target: Any, path: str, value: Any) -> None:
    *way, name = path.split(".")
    for part in way:
        held = getattr(target, part, None)
        if held is None:
            held = Module()
            setattr(target, part, held)
        target = held
    _put(target, name, value)


_copy_attr = _copy_attribute  # torch's name
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"


class _CodeOnlyModule(Module):
    """The attributes of a GraphModule without its graph."""

    def __init__(self, body: dict[str, Any]):
        super().__init__()
        self.__dict__ = body


def _put(target: Any, name: str, value: Any) -> None:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        target.register_buffer(name, value)
    else:
        setattr(target, name, value)


def _as_rows(graph: Graph) -> list[tuple]:
    """A graph as plain data: nodes by number."""
    numbers = {node: index for index, node in enumerate(graph.nodes)}
    return [
        (
            node.op,
            node.target,
            _numbered(node.args, numbers),
            _numbered(dict(node.kwargs), numbers),
            node.name,
            node.type,
        )
        for node in graph.nodes
    ]


class _Reference(tuple):
    """The number of a node, in the place of the node."""

    __slots__ = ()


def _numbered(value: Any, numbers: dict) -> Any:
    if value in numbers if _hashable(value) else False:
        return _Reference((numbers[value],))
    if isinstance(value, tuple):
        return tuple(_numbered(item, numbers) for item in value)
    if isinstance(value, list):
        return [_numbered(item, numbers) for item in value]
    if isinstance(value, dict):
        return {key: _numbered(item, numbers) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(_numbered(part, numbers) for part in (value.start, value.stop, value.step)))
    return value


def _hashable(value: Any) -> bool:
    return not isinstance(value, (tuple, list, dict, slice))


def _with_nodes(value: Any, nodes: list) -> Any:
    if isinstance(value, _Reference):
        return nodes[value[0]]
    if isinstance(value, tuple):
        return tuple(_with_nodes(item, nodes) for item in value)
    if isinstance(value, list):
        return [_with_nodes(item, nodes) for item in value]
    if isinstance(value, dict):
        return {key: _with_nodes(item, nodes) for key, item in value.items()}
    if isinstance(value, slice):
        return slice(*(_with_nodes(part, nodes) for part in (value.start, value.stop, value.step)))
    return value


def _rebuilt(state: dict[str, Any], rows: list[tuple], name: str) -> GraphModule:
    """A GraphModule from what `__reduce__` kept."""
    fresh = GraphModule.__new__(GraphModule)
    Module.__init__(fresh)
    type(fresh).__name__ = name
    fresh.__dict__.update(state)
    graph = Graph(owning_module=fresh)
    nodes: list[Any] = []
    for op, target, args, kwargs, node_name, kind in rows:
        made = graph.create_node(
            op, target, _with_nodes(args, nodes), _with_nodes(kwargs, nodes), node_name, kind
        )
        nodes.append(made)
    fresh.__dict__["_graph"] = graph
    fresh.recompile()
    return fresh
