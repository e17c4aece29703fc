"""Interpreter: runs a graph node by node. Transformer: traces a graph into a new one.

In: a GraphModule. Out: its result, or a new GraphModule. Override the method of an opcode to do
something else there.

    class Shapes(torch.fx.Interpreter):
        def run_node(self, node):
            result = super().run_node(node)
            print(node.name, result.shape)
            return result

Source: torch.fx.Interpreter's documentation.
"""

from collections.abc import Iterator
from typing import Any

from minitorch2.errors import OperationError
from minitorch2.fx.graph import Graph
from minitorch2.fx.graph_module import GraphModule
from minitorch2.fx.node import Node, map_aggregate, map_arg
from minitorch2.fx.proxy import Proxy
from minitorch2.fx.tracing import Tracer


class Interpreter:
    """Runs a module's graph. `env` holds the values of the nodes that are still needed."""

    def __init__(
        self, module: Any, garbage_collect_values: bool = True, graph: Graph | None = None
    ):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.extra_traceback = True
        self.garbage_collect_values = garbage_collect_values
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        seen: set[Node] = set()
        for node in reversed(self.graph.nodes):
            for used in node.all_input_nodes:
                if used not in seen:
                    seen.add(used)
                    self.user_to_last_uses.setdefault(node, []).append(used)

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: Any = True,
    ) -> Any:
        """Run the graph with its arguments; `initial_env` gives the values of some nodes."""
        self.env = dict(initial_env) if initial_env is not None else {}
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    error.add_note(f"While executing {node.format_node()}")
                raise
            if self.garbage_collect_values:
                for used in self.user_to_last_uses.get(node, ()):
                    self.env.pop(used, None)
            if node.op == "output":
                return self.env[node]
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """`run` of a list of arguments, which is emptied so that they can be freed."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args)

    def run_node(self, n: Node) -> Any:
        """The value of one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # ---- opcodes -------------------------------------------------------------------------------

    def placeholder(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The next argument of `run`, or the default."""
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise OperationError(
                f"running a graph without its argument {target!r}",
                f"Expected positional argument for parameter {target}, but one was not passed in!",
                "pass one value for each placeholder",
            ) from None

    def get_attr(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(target)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The function's result."""
        return target(*args, **kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The method's result."""
        receiver, *rest = args
        return getattr(receiver, target)(*rest, **kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The submodule's result."""
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The result of the graph."""
        return args[0]

    # ---- values --------------------------------------------------------------------------------

    def fetch_attr(self, target: str) -> Any:
        """What stands at a path of the module."""
        place = self.module
        for index, part in enumerate(target.split(".")):
            if not hasattr(place, part):
                way = ".".join(target.split(".")[: index + 1])
                raise OperationError(f"fetch_attr({target!r})", f"there is no attribute {way}")
            place = getattr(place, part)
        return place

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[tuple, dict[str, Any]]:
        """A node's arguments, as values."""
        return self.map_nodes_to_values(n.args, n), dict(self.map_nodes_to_values(n.kwargs, n))

    def map_nodes_to_values(self, args: Any, n: Node) -> Any:
        """Arguments with values in the place of nodes."""

        def value(node: Node) -> Any:
            if node not in self.env:
                raise OperationError(
                    f"running {n.format_node()}",
                    f"Node {n} referenced nonexistent value {node}! Run Graph.lint()",
                )
            return self.env[node]

        return map_arg(args, value)


class _Appending(Tracer):
    """Traces into a graph that is there."""

    def __init__(self, graph: Graph, root: Any):
        super().__init__()
        self.graph, self.root = graph, root

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        return True


class Transformer(Interpreter):
    """Interprets a graph with proxies, and so makes a new one: `transform()`."""

    def __init__(self, module: Any):
        super().__init__(module)
        self.new_graph = Graph()
        self.tracer = _Appending(self.new_graph, module)

    def placeholder(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Proxy:
        """A placeholder in the new graph."""
        made = self.new_graph.placeholder(target, default_value=args[0] if args else ...)
        return Proxy(made, self.tracer)

    def get_attr(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The submodule's call in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The function's call in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def call_method(self, target: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
        """The method's call in the new graph."""
        return self.tracer.create_proxy("call_method", target, args, kwargs)

    def transform(self) -> GraphModule:
        """The new GraphModule."""
        result = super().run()
        if result is not None:

            def node(value: Any) -> Any:
                return value.node if isinstance(value, Proxy) else value

            self.new_graph.output(map_aggregate(result, node))
        return GraphModule(self.module, self.new_graph)
