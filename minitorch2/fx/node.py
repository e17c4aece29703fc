"""Node: one call in a graph, with the nodes it uses and those that use it.

In: an opcode, a target and arguments, in which other nodes may stand anywhere. Out: a value that
later nodes can use. The opcodes:

    placeholder    an argument of the graph; target is its name, args may hold a default
    get_attr       an attribute of the module; target is its path
    call_function  target(*args, **kwargs)
    call_method    args[0].target(*args[1:], **kwargs)
    call_module    the submodule at path target, called
    output         the result, in args[0]

Source: torch.fx's documentation.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from minitorch2 import overrides
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.fx.immutable import immutable_dict, immutable_list
from minitorch2.tensors import Size

if TYPE_CHECKING:
    from minitorch2.fx.graph import Graph

OPCODES = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output")
_SIDE_EFFECTS: set[Callable] = {setattr}


def has_side_effect(fn: Callable) -> Callable:
    """Keep calls of a function even if their result is not used; also a decorator."""
    _SIDE_EFFECTS.add(fn)
    return fn


def map_arg(a: Any, fn: Callable[["Node"], Any]) -> Any:
    """The argument with every node in it replaced by `fn(node)`."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """The argument with `fn` of every value in it, through tuples, lists, dicts and slices."""
    if isinstance(a, tuple):
        parts = [map_aggregate(item, fn) for item in a]
        if isinstance(a, Size):
            return tuple(parts)
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(part, fn) for part in (a.start, a.stop, a.step)))
    return fn(a)


class Node:
    """One call. Made by the methods of Graph, which keep the order and the users right."""

    def __init__(
        self,
        graph: "Graph",
        name: str,
        op: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        return_type: Any = None,
    ):
        if op not in OPCODES:
            raise OperationError(f"a node {op!r}", "there is no such opcode", str(OPCODES))
        if op == "call_function" and not callable(target):
            raise ArgumentValueError(
                f"call_function({target!r})",
                f"Node target has type {type(target).__name__} but a Callable is expected",
            )
        if op in ("call_method", "call_module", "get_attr") and not isinstance(target, str):
            raise ArgumentValueError(
                f"{op}({target!r})",
                f"Node target has type {type(target).__name__} but str is expected",
            )
        self.graph, self.name, self.op, self.target = graph, name, op, target
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self.type = return_type
        self.meta: dict[str, Any] = {}
        self._prev = self._next = self
        self._erased = False
        self._set(args, kwargs)

    # ---- arguments -----------------------------------------------------------------------------

    def _set(self, args: tuple, kwargs: dict[str, Any]) -> None:
        """Take new arguments, and be a user of the nodes in them."""
        for old in self._input_nodes:
            old.users.pop(self, None)
        self._input_nodes = {}

        def use(node: Node) -> Node:
            self._input_nodes[node] = None
            node.users[self] = None
            return node

        self._args = map_arg(tuple(args), use)
        self._kwargs = map_arg(dict(kwargs), use)

    @property
    def args(self) -> tuple:
        """The positional arguments; assign a whole tuple to change them."""
        return self._args

    @args.setter
    def args(self, value: tuple) -> None:
        self._set(value, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments; assign a whole dict to change them."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, value: dict[str, Any]) -> None:
        self._set(self._args, value)

    @property
    def all_input_nodes(self) -> list["Node"]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Change one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Change one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put another positional argument before the one at `idx`."""
        if not 0 <= idx <= len(self.args):
            raise ValueError(f"insert_arg index must be between 0 and {len(self.args)}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    # ---- place in the graph --------------------------------------------------------------------

    @property
    def next(self) -> "Node":
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> "Node":
        """The node before this one."""
        return self._prev

    def prepend(self, x: "Node") -> None:
        """Move `x` to the place before this node."""
        if x.graph is not self.graph:
            raise OperationError("prepend", "the two nodes belong to different graphs")
        if self is x:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: "Node") -> None:
        """Move `x` to the place after this node."""
        if self._next is not x:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    # ---- other nodes ---------------------------------------------------------------------------

    def replace_all_uses_with(
        self,
        replace_with: "Node",
        delete_user_cb: Callable[["Node"], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list["Node"]:
        """Put another node in this one's place in its users; returns those that changed.

        Users for which `delete_user_cb(user)` is false keep this one.
        """
        if propagate_meta:
            replace_with.meta.update(self.meta)
        changed = [user for user in list(self.users) if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def replace_input_with(self, old_input: "Node", new_input: "Node") -> None:
        """Put another node in the place of one of the arguments."""

        def swap(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set(map_arg(self.args, swap), map_arg(self.kwargs, swap))

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether the node does something besides giving its value, so that it must stay."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            return self.target in _SIDE_EFFECTS or _writes(getattr(self.target, "__name__", ""))
        if self.op == "call_method":
            return _writes(self.target)
        if self.op == "call_module":
            module = self.graph.owning_module
            if module is None:
                return False
            return bool(getattr(module.get_submodule(self.target), "_is_impure", False))
        return False

    # ---- text ----------------------------------------------------------------------------------

    @property
    def stack_trace(self) -> str | None:
        """Where in the traced program the call stands, when the tracer recorded it."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, value: str | None) -> None:
        self.meta["stack_trace"] = value

    def __repr__(self) -> str:
        return self.name

    def format_node(self) -> str:
        """One line: name, users, opcode, target, arguments."""
        kind = "" if self.type is None else f"{type_text(self.type)} "
        if self.op == "placeholder":
            default = f"(default={self.args[0]})" if self.args else ""
            head = f"placeholder[target={self.target}]{default}"
        elif self.op == "get_attr":
            head = f"get_attr[target={self.target}]"
        elif self.op == "output":
            return f"return {self.args[0]}"
        else:
            arguments = f"(args = {shown(self.args)}, kwargs = {shown(self.kwargs)})"
            head = f"{self.op}[target={target_text(self.target)}]{arguments}"
        return f"%{self.name} : {kind}[num_users={len(self.users)}] = {head}"

    def __deepcopy__(self, memo: dict) -> "Node":
        raise OperationError(
            "deepcopy of a Node", "a node belongs to its graph", "copy the graph: copy.deepcopy"
        )

    def __iter__(self) -> Iterator:
        raise TypeError("'Node' object is not iterable")

    def normalized_arguments(self, *args: Any, **kwargs: Any) -> None:
        """Always None: which parameter an argument belongs to is not worked out."""
        return None


def _writes(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def shown(value: Any) -> str:
    """Arguments as a node's line shows them: %names for nodes, texts without quotes."""
    if isinstance(value, tuple):
        inside = ", ".join(shown(item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, list):
        return f"[{', '.join(shown(item) for item in value)}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {shown(item)}" for key, item in value.items()) + "}"
    return f"%{value}" if isinstance(value, Node) else str(value)


def type_text(kind: Any) -> str:
    """A type annotation as source."""
    if isinstance(kind, str):
        return kind
    if getattr(kind, "__module__", "").split(".")[0] == "minitorch2":
        return f"torch.{kind.__name__}"
    return kind.__name__ if isinstance(kind, type) else str(kind)


def target_text(target: Any) -> str:
    """A function as source names it: 'torch.relu', 'operator.add'."""
    if isinstance(target, str):
        return target
    name = overrides.resolve_name(target)
    if name is not None:
        return name
    module = getattr(target, "__module__", None) or "builtins"
    name = getattr(target, "__name__", None)
    if name is None:
        raise ArgumentTypeError(
            f"the name of {target!r}",
            "it has no __name__",
            "give call_function a function",
        )
    if module == "_operator":
        return f"operator.{name}"
    if module == "builtins":
        return f"builtins.{name}"
    return f"{module.replace('minitorch2', 'torch', 1)}.{getattr(target, '__qualname__', name)}"
