"""torch.library: operations that users add, with gradients.

In: a Python function on tensors. Out: an operation under a name `space::name`, found as
`torch.ops.space.name`, whose derivative `register_autograd` gives.

    >>> from minitorch2 import ones
    >>> @custom_op("mine::double", mutates_args=())
    ... def double(x: Tensor) -> Tensor:
    ...     return x * 2
    >>> double.register_autograd(lambda ctx, grad: grad * 2)
    >>> x = ones(2, requires_grad=True)
    >>> double(x).sum().backward()
    >>> x.grad
    tensor([2., 2.])

Source: torch.library.
"""

import inspect
import re
from collections.abc import Callable, Iterable
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.gradcheck import gradcheck
from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops import namespaces
from minitorch2.tensors import Tensor, fake_tensor, is_fake
from minitorch2.trees import tree_leaves

_defined: dict[str, "CustomOpDef"] = {}
_fakes_to_come: dict[str, Callable] = {}


class CustomOpDef:
    """An operation that a user added: callable, as is torch.ops.<space>.<name>."""

    def __init__(self, name: str, function: Callable | None, mutates_args: Any, schema: str | None):
        space, _, own = name.partition("::")
        if not space or not own:
            raise ArgumentValueError(
                f"custom_op({name!r})",
                "expected a name of the form 'namespace::name'",
                "put a namespace of yours before the name",
            )
        self._qualname, self._namespace, self._name = name, space, own
        self._function, self._mutates, self._schema = function, mutates_args, schema
        self._fake: Callable | None = _fakes_to_come.pop(name, None)
        self._backward: Callable | None = None
        self._setup: Callable | None = None
        self._node: type[Function] | None = None
        self.__name__ = own
        self.__doc__ = function.__doc__ if function is not None else schema
        _defined[name] = self
        self._opoverload = namespaces.register(space, own, self).default

    def _compute(self, *args: Any) -> Any:
        tensors = [each for each in args if isinstance(each, Tensor)]
        if self._fake is not None and tensors and all(is_fake(each) for each in tensors):
            return self._fake(*args)
        if self._function is None:
            raise OperationError(
                f"torch.ops.{self._namespace}.{self._name}()",
                "the operation is defined, but no implementation is registered",
                "add one with torch.library.impl or register_kernel",
            )
        with no_grad():
            found = self._function(*args)
        named = self._mutates if isinstance(self._mutates, (tuple, list)) else ()
        for name in named:
            self._bound(args)[name].storage.version += 1
        return found

    def _bound(self, args: tuple) -> dict[str, Any]:
        assert self._function is not None
        return inspect.signature(self._function).bind(*args).arguments

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs and self._function is not None:
            bound = inspect.signature(self._function).bind(*args, **kwargs)
            bound.apply_defaults()
            args = tuple(bound.arguments.values())
        if self._node is None:
            return self._compute(*args)
        return self._node.apply(*args)

    def register_kernel(self, device_types: Any, func: Callable | None = None) -> Any:
        """Another implementation for a device: 'cpu' replaces the function given first."""
        if func is None:
            return lambda function: self.register_kernel(device_types, function)
        kinds = [device_types] if isinstance(device_types, str) else device_types
        if kinds is None or "cpu" in kinds or "default" in kinds:
            self._function = func
        return func

    def register_fake(self, fn: Callable | None = None, /) -> Any:
        """How shapes and dtypes come out, for tensors without memory."""
        if fn is None:
            return self.register_fake
        self._fake = fn
        return fn

    def register_autograd(
        self, backward: Callable, /, *, setup_context: Callable | None = None
    ) -> None:
        """The derivative: backward(ctx, *grads); setup_context(ctx, inputs, output) saves."""
        self._backward, self._setup = backward, setup_context
        definition = self

        class Node(Function):
            """The operation with the user's derivative."""

            @staticmethod
            def forward(*args: Any) -> Any:
                return definition._compute(*args)

            @staticmethod
            def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
                if definition._setup is not None:
                    definition._setup(ctx=ctx, inputs=inputs, output=output)

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                return backward(ctx, *grads)

        Node.__name__ = self._name
        self._node = Node

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def custom_op(
    name: str,
    fn: Callable | None = None,
    /,
    *,
    mutates_args: str | Iterable[str] = (),
    device_types: Any = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operation of a function; a decorator without one."""
    if fn is None:
        return lambda function: CustomOpDef(name, function, mutates_args, schema)
    return CustomOpDef(name, fn, mutates_args, schema)


triton_op = custom_op


def _definition(op: Any) -> CustomOpDef:
    if isinstance(op, CustomOpDef):
        return op
    if isinstance(op, (namespaces.Overload, namespaces.Packet)):
        packet = op.overloadpacket if isinstance(op, namespaces.Overload) else op
        op = f"{packet.space}::{packet.__name__}"
    found = _defined.get(str(op).split(".")[0])
    if found is None:
        raise OperationError(
            f"torch.library: {op}",
            "no such operation is defined",
            "define it first, with custom_op or define",
        )
    return found


def define(qualname: str, schema: Any = None, *, lib: Any = None, tags: Any = None) -> Any:
    """Name an operation, `define("mine::f", "(Tensor x) -> Tensor")`, to be implemented later."""
    CustomOpDef(qualname, None, (), schema)
    return None


def impl(qualname: Any, types: Any, func: Callable | None = None, *, lib: Any = None) -> Any:
    """Implement an operation for a device: impl("mine::f", "cpu", function)."""
    if func is None:
        return lambda function: impl(qualname, types, function)
    keys = [types] if isinstance(types, str) else list(types)
    if any(str(key).lower() in ("cpu", "default", "compositeexplicitautograd") for key in keys):
        _definition(qualname)._function = func
    elif any("autograd" in str(key).lower() for key in keys):
        _definition(qualname)._compute = func  # type: ignore[method-assign]
    return func


def register_kernel(op: Any, device_types: Any, func: Callable | None = None, /) -> Any:
    """CustomOpDef.register_kernel of an operation or its name."""
    return _definition(op).register_kernel(device_types, func)


def register_fake(op: Any, func: Callable | None = None, /, **options: Any) -> Any:
    """CustomOpDef.register_fake of an operation or its name."""
    if func is None:
        return lambda function: register_fake(op, function)
    if isinstance(op, str) and op not in _defined:  # may come before the operation itself
        _fakes_to_come[op] = func
        return func
    return _definition(op).register_fake(func)


impl_abstract = register_fake


def register_autograd(
    op: Any, backward: Callable, /, *, setup_context: Callable | None = None, lib: Any = None
) -> None:
    """CustomOpDef.register_autograd of an operation or its name."""
    _definition(op).register_autograd(backward, setup_context=setup_context)


def get_ctx() -> Any:
    """OperationError: sizes that depend on values have no fake form here."""
    raise OperationError(
        "torch.library.get_ctx()",
        "sizes that depend on values cannot be described without values",
        "leave register_fake out: the operation then runs as a graph break",
    )


def wrap_triton(kernel: Any) -> Any:
    """OperationError: there is no Triton here."""
    raise OperationError(
        "torch.library.wrap_triton()", "Triton kernels need a GPU and Triton", "use custom_op"
    )


class Library:
    """A namespace that is filled: `Library("mine", "DEF").define("f(Tensor x) -> Tensor")`."""

    def __init__(self, ns: str, kind: str, dispatch_key: str = ""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ArgumentValueError(f"Library({ns!r}, {kind!r})", f"Unsupported kind: {kind}")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Name an operation by its schema; returns the name."""
        match = re.match(r"\s*([\w.]+)\s*(\(.*)", schema, re.DOTALL)
        if match is None:
            raise ArgumentValueError(
                f"Library.define({schema!r})",
                "the schema cannot be read",
                "write it as 'name(Tensor x, int n) -> Tensor'",
            )
        define(f"{self.ns}::{match[1]}", match[2])
        return match[1]

    def impl(self, op_name: Any, fn: Callable, dispatch_key: str = "", **options: Any) -> None:
        """Implement an operation of the namespace."""
        name = op_name if isinstance(op_name, str) else op_name.name().partition("::")[2]
        name = name if "::" in name else f"{self.ns}::{name}"
        impl(name.split(".")[0], dispatch_key or self.dispatch_key or "cpu", fn)


def fallthrough_kernel(*args: Any) -> None:
    """Stands for "the next implementation" in torch; there is only one here."""
    raise OperationError("torch.library.fallthrough_kernel()", "it is no function to call")


def opcheck(op: Any, args: tuple, kwargs: Any = None, **options: Any) -> dict[str, str]:
    """What can be checked of an operation: that its fake results look like the real ones, and its
    derivative beside finite differences, for double inputs that require gradients.

    The result names the checks that ran; a failure raises OperationError.
    """
    definition, named = _definition(op), kwargs or {}
    result, ran = definition(*args, **named), {}
    if definition._fake is not None and not named:
        fakes = [fake_tensor(tuple(a.shape), a.dtype) if isinstance(a, Tensor) else a for a in args]
        shapes = [
            [(tuple(each.shape), each.dtype) for each in tree_leaves(found)]
            for found in (result, definition._fake(*fakes))
        ]
        if shapes[0] != shapes[1]:
            raise OperationError(
                f"opcheck({definition._qualname})",
                f"the results are {shapes[0]}, the fake ones {shapes[1]}",
                "let register_fake's function give the same shapes and dtypes",
            )
        ran["test_faketensor"] = "SUCCESS"
    leaves = [a for a in args if isinstance(a, Tensor) and a.requires_grad]
    if definition._node is not None and leaves:
        gradcheck(lambda *given: definition(*given, **named), args)
        ran["test_autograd_registration"] = "SUCCESS"
    return ran
