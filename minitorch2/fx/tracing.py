"""Symbolic tracing: a module or function is called with proxies, and the graph of it remains.

In: a module or a function. Out: a Graph, or with `symbolic_trace` a GraphModule.

    >>> import minitorch2 as torch
    >>> print(symbolic_trace(lambda x: torch.relu(x) + 1).graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        %add : [num_users=1] = call_function[target=operator.add](args = (%relu, 1), kwargs = {})
        return add

While a trace runs, three things are different: public functions hand proxies to themselves
(minitorch2/overrides.py), a call of a submodule asks the tracer whether it is a leaf, and functions
named with `wrap` are recorded instead of called.

Source: torch.fx.Tracer's documentation.
"""

import builtins
import functools
import inspect
import math
import sys
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from minitorch2 import overrides
from minitorch2.errors import ArgumentTypeError, OperationError
from minitorch2.fx.graph import Graph
from minitorch2.fx.graph_module import GraphModule
from minitorch2.fx.node import map_aggregate
from minitorch2.fx.proxy import Proxy, TracerBase
from minitorch2.nn.containers import Sequential
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.tensors import Tensor

# (globals, name) of the functions that are recorded: fx.wrap fills it.
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}


class _PlaceHolder:
    """Stands in concrete_args for an argument that stays a proxy."""

    def __repr__(self) -> str:
        return "PH"


PH = _PlaceHolder()


def wrap(fn_or_name: Any) -> Any:
    """Record calls of a function instead of following them: at module level, by name or decorator.

    In other modules, what their globals call by this name is not meant.
    """
    frame = sys._getframe(1)
    if not isinstance(fn_or_name, str) and not callable(fn_or_name):
        raise OperationError(
            f"fx.wrap({fn_or_name!r})", "Unsupported type: give a function or its name"
        )
    if frame.f_code.co_name != "<module>":
        raise OperationError(
            f"fx.wrap({fn_or_name!r})",
            "wrap must be called at the top level of a module",
            "move the call out of the function",
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    _wrapped[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


class Tracer(TracerBase):
    """Traces modules; override `is_leaf_module` to say which are recorded as one call.

    `autowrap_modules`: modules whose functions are recorded (math). `autowrap_functions`: functions
    that are, wherever a global of the traced program names them.
    """

    def __init__(
        self,
        autowrap_modules: tuple = (math,),
        autowrap_functions: tuple = (),
        param_shapes_constant: bool = False,
    ):
        self._autowrap_modules = autowrap_modules
        self._autowrap_functions = autowrap_functions
        self.root: Any = None
        self.tensor_attrs: dict[int, str] = {}

    # ---- what to override ----------------------------------------------------------------------

    def is_leaf_module(self, m: Module, module_qualified_name: str) -> bool:
        """Whether a call of a submodule is one node: those of torch.nn are, but for Sequential."""
        return m.__module__.startswith("minitorch2.nn") and not isinstance(m, Sequential)

    def path_of_module(self, mod: Module) -> str:
        """The path of a submodule; NameError when it is none of the root's."""
        for name, module in self.root.named_modules(remove_duplicate=False):
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(self, m: Module, forward: Callable, args: tuple, kwargs: dict) -> Any:
        """A call of a submodule: a node for a leaf, else its forward is followed."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What a module's tensor is while tracing: a parameter is a get_attr node, others stay."""
        if not isinstance(attr_val, Parameter):
            return attr_val
        for name, parameter in self.root.named_parameters(remove_duplicate=False):
            if parameter is attr_val:
                if name not in parameter_proxy_cache:
                    made = self.create_proxy("get_attr", name, (), {})
                    parameter_proxy_cache[name] = made
                return parameter_proxy_cache[name]
        return attr_val

    def create_arg(self, a: Any) -> Any:
        """Parameters and tensors become get_attr nodes; new tensors become attributes first."""
        if isinstance(a, Tensor):
            return self._tensor_node(a)
        if isinstance(a, Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _tensor_node(self, tensor: Tensor) -> Any:
        if isinstance(tensor, Parameter):
            for name, parameter in self.root.named_parameters(remove_duplicate=False):
                if parameter is tensor:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        name = self.tensor_attrs.get(id(tensor))
        if name is None:
            number = 0
            while hasattr(self.root, f"_tensor_constant{number}"):
                number += 1
            name = f"_tensor_constant{number}"
            self.tensor_attrs[id(tensor)] = name
            setattr(self.root, name, tensor)
        return self.create_node("get_attr", name, (), {})

    # ---- tracing -------------------------------------------------------------------------------

    def trace(self, root: Any, concrete_args: dict[str, Any] | None = None) -> Graph:
        """The graph of a module's forward, or of a function.

        `concrete_args`: values for arguments that are not to be traced (PH inside them for what
        is); such an argument stays in the signature, with its value as the default.
        """
        if isinstance(root, Module):
            self.root, function = root, type(root).forward
        else:
            self.root, function = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        self.tensor_attrs = {id(value): path for path, value in _plain_tensors(self.root)}
        bound, parameters = self.create_args_for_root(
            function, isinstance(root, Module), concrete_args or {}
        )
        with self._patched(function.__globals__):
            result = bound(*parameters)
            self.create_node(
                "output",
                "output",
                (self.create_arg(result),),
                {},
                type_expr=bound_annotations(function).get("return"),
            )
        return self.graph

    def create_args_for_root(
        self, root_fn: Callable, is_module: bool, concrete_args: dict[str, Any]
    ) -> tuple[Callable, list[Any]]:
        """The function to call and its arguments, a placeholder node for each parameter."""
        if not hasattr(root_fn, "__code__"):
            raise ArgumentTypeError(
                f"symbolic_trace({root_fn!r})", "it has no Python code to follow"
            )
        signature = inspect.signature(root_fn)
        annotations = bound_annotations(root_fn)
        args: list[Any] = [self.root] if is_module else []
        named: dict[str, Any] = {}
        starred: list[Any] = []
        parameters = list(signature.parameters.values())[1 if is_module else 0 :]
        order = sorted(parameters, key=lambda p: p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD))
        for parameter in order:
            value = self._placeholder(parameter, annotations, concrete_args)
            if parameter.kind is parameter.VAR_POSITIONAL:
                starred.append(value)
            elif parameter.kind is parameter.VAR_KEYWORD:
                named["**"] = value
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                args.append(value)
        if not starred and "**" not in named:
            return (lambda *given: root_fn(*given, **named)), args
        return _with_code(root_fn, named, starred), args

    def _placeholder(self, parameter: Any, annotations: dict, concrete: dict[str, Any]) -> Any:
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        name = stars.get(parameter.kind, "") + parameter.name
        default = () if parameter.default is parameter.empty else (parameter.default,)
        kind = annotations.get(parameter.name)
        if parameter.name not in concrete:
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        value = concrete[parameter.name]
        if value is PH:
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)
        count = 0

        def replaced(inner: Any) -> Any:
            nonlocal count
            if inner is not PH:
                return inner
            count += 1
            return self.create_proxy("placeholder", f"{parameter.name}_{count}", (), {})

        found = map_aggregate(value, replaced)
        if count == 0:
            constant = (
                (value,) if value is None or isinstance(value, (int, float, str)) else (None,)
            )
            self.create_proxy("placeholder", name, constant, {}, type_expr=kind)
        return found

    @contextmanager
    def _patched(self, own_globals: dict[str, Any]) -> Iterator[None]:
        """Inside, modules and wrapped functions are recorded; everything is put back after."""
        patches: list[tuple[Any, str, Any]] = []

        def patch(place: Any, name: str, value: Any) -> None:
            table = place if isinstance(place, dict) else vars(place)
            patches.append((place, name, table.get(name, _MISSING)))
            _put(place, name, value)

        followed = Module.__call__

        def call(module: Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return followed(module, *args, **kwargs)

            self._autowrap(patch, getattr(type(module).forward, "__globals__", {}))
            return self.call_module(module, forward, args, kwargs)

        looked_up = Module.__getattr__
        cache: dict[str, Any] = {}

        def attribute(module: Module, name: str) -> Any:
            value = looked_up(module, name)
            return self.getattr(name, value, cache) if isinstance(value, Tensor) else value

        self._recorded: dict[int, Callable] = {}  # id of a function -> what stands in for it
        overrides.activate()
        opened, self._open = self._open, True
        try:
            patch(Module, "__call__", call)
            patch(Module, "__getattr__", attribute)
            for library in self._autowrap_modules:
                for name, value in list(vars(library).items()):
                    if name[0] != "_" and callable(value) and not isinstance(value, type):
                        self._recorded[id(value)] = recorded = _recording(value)
                        patch(library, name, recorded)
            for (_, name), space in list(_wrapped.items()):
                original = space.get(name, getattr(builtins, name, None))
                if callable(original):
                    self._recorded[id(original)] = recorded = _recording(original)
                    patch(space, name, recorded)
            self._seen_globals: set[int] = set()
            self._autowrap(patch, own_globals)
            yield
        finally:
            for place, name, value in reversed(patches):
                _put(place, name, value)
            self._open = opened
            overrides.deactivate()

    def _autowrap(self, patch: Callable, space: dict[str, Any]) -> None:
        """Record the functions to be recorded that a module's globals name, by any name."""
        if id(space) in self._seen_globals:
            return
        self._seen_globals.add(id(space))
        for name, value in list(space.items()):
            if id(value) in self._recorded:
                patch(space, name, self._recorded[id(value)])
            elif any(value is function for function in self._autowrap_functions):
                patch(space, name, _recording(value))


_MISSING = object()


def _put(place: Any, name: str, value: Any) -> None:
    if isinstance(place, dict):
        if value is _MISSING:
            place.pop(name, None)
        else:
            place[name] = value
    elif value is _MISSING:
        delattr(place, name)
    else:
        setattr(place, name, value)


def _recording(original: Callable) -> Callable:
    """A function that makes a node when a proxy is among its arguments."""

    @functools.wraps(original)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs), lambda v: found.append(v) if isinstance(v, Proxy) else v)
        if not found:
            return original(*args, **kwargs)
        return found[0].tracer.create_proxy("call_function", original, args, kwargs)

    return recorded


def _with_code(root_fn: Any, named: dict[str, Any], starred: list[Any]) -> Callable:
    """The function with *args and **kwargs as ordinary parameters, which take one proxy each."""
    code = root_fn.__code__
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount
    names = code.co_varnames[code.co_argcount : count]
    extra = bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    plain = types.FunctionType(
        code.replace(co_flags=flags, co_argcount=count + extra, co_kwonlyargcount=0),
        root_fn.__globals__,
        root_fn.__name__,
        None,
        root_fn.__closure__,
    )
    rest = [named[name] for name in names] + starred + ([named["**"]] if "**" in named else [])
    return lambda *given: plain(*given, *rest)


def bound_annotations(function: Any) -> dict[str, Any]:
    """The types a function's parameters are annotated with, where they are no text."""
    found = getattr(function, "__annotations__", {})
    return {name: kind for name, kind in found.items() if not isinstance(kind, str)}


def _plain_tensors(root: Any) -> Iterator[tuple[str, Tensor]]:
    """Buffers and plain tensor attributes of a module and its submodules, by their paths."""
    for prefix, module in root.named_modules():
        start = f"{prefix}." if prefix else ""
        for name, value in {**vars(module), **module._buffers}.items():
            if isinstance(value, Tensor):
                yield start + name, value


class ProxyableClassMeta(type):
    """A metaclass: making an object with proxies as arguments is recorded as one call."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        map_aggregate((args, kwargs), lambda v: found.append(v) if isinstance(v, Proxy) else v)
        if not found:
            return super().__call__(*args, **kwargs)
        return found[0].tracer.create_proxy("call_function", cls, args, kwargs)


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A GraphModule of a module's forward or of a function.

    Raises TraceError where control flow depends on what is traced.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
