"""Proxies: values that record what is done to them.

In: a node and the tracer whose graph it stands in. Out: a stand-in for the value, on which every
operation adds a node and returns the stand-in of its result.

    x + 1           call_function operator.add
    torch.relu(x)   call_function torch.relu, through __torch_function__
    x.view(2, -1)   call_method view
    x.shape         call_function getattr

What a value would have to be known for (`if`, `for`, `len`) cannot be recorded: TraceError.

Source: torch.fx.Proxy's documentation.
"""

import collections
import dis
import inspect
import operator
import sys
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from minitorch2 import dtypes, overrides
from minitorch2.devices import device
from minitorch2.errors import OperationError, TraceError
from minitorch2.fx.graph import Graph
from minitorch2.fx.immutable import immutable_dict, immutable_list
from minitorch2.fx.node import Node, map_aggregate
from minitorch2.tensors import Size, Tensor

BASE_TYPES = (str, int, float, bool, complex, dtypes.dtype, device, Size, type(None), type(...))


class TracerBase:
    """What makes nodes and proxies. Subclasses say what becomes a node (see Tracer)."""

    graph: Graph
    record_stack_traces = False
    trace_asserts = False
    proxy_buffer_attributes = False
    _open = False

    def open_doors(self) -> None:
        """Let public functions take this tracer's proxies, for as long as it lives."""
        if not self._open:
            self._open = True
            overrides.activate()
            weakref.finalize(self, overrides.deactivate)

    def create_node(
        self,
        kind: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph."""
        return self.graph.create_node(kind, target, args, kwargs, name, type_expr)

    def proxy(self, node: Node) -> "Proxy":
        """The stand-in of a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Any,
        args: tuple,
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], "Proxy"] | None = None,
    ) -> "Proxy":
        """Add a node for arguments that may hold proxies, and return its stand-in."""
        made_args = self.create_arg(args)
        made_kwargs = self.create_arg(kwargs)
        node = self.create_node(kind, target, made_args, made_kwargs, name, type_expr)
        if self.record_stack_traces:
            node.stack_trace = _user_stack()
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """A value as it stands in a node's arguments; OperationError when it cannot."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*[self.create_arg(item) for item in a])
        if isinstance(a, (tuple, list)) and not isinstance(a, Size):
            parts = [self.create_arg(item) for item in a]
            return tuple(parts) if isinstance(a, tuple) else immutable_list(parts)
        if isinstance(a, dict):
            return immutable_dict({self._key(k): self.create_arg(v) for k, v in a.items()})
        if isinstance(a, slice):
            return slice(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if isinstance(a, (*BASE_TYPES, Node)) or callable(a):
            return a
        raise OperationError(
            f"a {type(a).__name__} among a node's arguments",
            f"argument of type: {type(a)} is not supported",
            "make it an attribute of the module, or override Tracer.create_arg",
        )

    def _key(self, key: Any) -> Any:
        if isinstance(self.create_arg(key), Node):
            raise OperationError(
                "a dict among a node's arguments",
                "Keys for dictionaries used as an argument cannot contain a Node",
            )
        return key

    def to_bool(self, obj: "Proxy") -> bool:
        """What `if proxy:` does: it cannot be known."""
        raise TraceError(
            f"the truth of {obj.node.name} ({obj.node.format_node()})",
            "symbolically traced variables cannot be used as inputs to control flow",
            "use torch.where, or make the condition depend on what is known while tracing",
        )

    def iter(self, obj: "Proxy") -> Iterator:
        """What `for item in proxy:` does: the number of items cannot be known."""
        raise TraceError(
            f"iterating over {obj.node.name} ({obj.node.format_node()})",
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument",
            "unpack it into a fixed number of names (a, b = x), or index it",
        )

    def keys(self, obj: "Proxy") -> Any:
        """What `**proxy` asks for."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Proxies made with this tracer add their nodes to an existing graph."""

    def __init__(self, graph: Graph):
        self.graph = graph


def _user_stack() -> str:
    frames = inspect.stack()[1:]
    lines = [
        f'  File "{frame.filename}", line {frame.lineno}, in {frame.function}'
        for frame in reversed(frames)
        if "minitorch2" not in frame.filename
    ]
    return "\n".join(lines)


class Proxy:
    """The stand-in of a node's value."""

    def __init__(self, node: Node, tracer: TracerBase | None = None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.tracer.open_doors()
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, name: str) -> "Attribute":
        if name in ("node", "tracer", "__torch_dispatch__") or name.startswith("__array"):
            raise AttributeError(name)
        return Attribute(self, name)

    def __deepcopy__(self, memo: dict) -> "Proxy":
        return Proxy(self.node, self.tracer)

    def __call__(self, *args: Any, **kwargs: Any) -> "Proxy":
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator:
        count = _unpacked_by(sys._getframe(1))
        if count is not None:
            return iter([operator.getitem(self, index) for index in range(count)])
        return self.tracer.iter(self)

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What `**x` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise OperationError(
            f"len({self.node.name})",
            "'len' is not supported in symbolic tracing by default",
            "to have the call recorded, call torch.fx.wrap('len') at module scope",
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Callable, types: Any, args: tuple = (), kwargs: Any = None
    ) -> "Proxy":
        kwargs = kwargs or {}
        found: list[Proxy] = []
        map_aggregate((args, kwargs), lambda v: found.append(v) if isinstance(v, Proxy) else v)
        tracer = found[0].tracer
        if overrides.is_tensor_method_or_property(orig_method):
            name = orig_method.__name__
            plain = name.strip("_")
            name = plain if name.startswith("__") and hasattr(Tensor, plain) else name
            return tracer.create_proxy("call_method", name, args, kwargs)
        return tracer.create_proxy("call_function", orig_method, args, kwargs)


def _unpacked_by(frame: Any) -> int | None:
    """Into how many names the caller unpacks the value that it iterates over."""
    code, at = frame.f_code, frame.f_lasti
    for instruction in dis.get_instructions(code):
        if instruction.offset == at:
            return instruction.arg if instruction.opname == "UNPACK_SEQUENCE" else None
    return None


class Attribute(Proxy):
    """`x.name`: a call of it is a method call; anything else needs its value first."""

    def __init__(self, root: Proxy, attr: str):
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The getattr node, made when the value is first needed."""
        if self._node is None:
            self._node = self.tracer.create_proxy(
                "call_function", getattr, (self.root, self.attr), {}
            ).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


_MAGIC = (
    "add sub mul truediv floordiv mod pow lshift rshift and_ or_ xor matmul eq ne lt gt le ge "
    "getitem pos neg invert abs"
).split()
_REFLECTED = _MAGIC[:13]


def _magic(name: str) -> Callable:
    target = getattr(operator, name)

    def method(self: Proxy, *args: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (self, *args), {})

    return method


def _reflected(name: str) -> Callable:
    target = getattr(operator, name)

    def method(self: Proxy, other: Any) -> Proxy:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    return method


for _name in _MAGIC:
    setattr(Proxy, f"__{_name.strip('_')}__", _magic(_name))
for _name in _REFLECTED:
    setattr(Proxy, f"__r{_name.strip('_')}__", _reflected(_name))
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
collections.abc.Iterable.register(Proxy)
