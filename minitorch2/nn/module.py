# size: the whole protocol of one class; halves of it would have to be read together
"""Module: a tree of layers that knows its parameters, buffers and children.

In: a subclass that assigns Parameters and Modules to attributes and defines `forward`. Out: an
object that is called like a function, trained by its `parameters()`, and saved by `state_dict()`.

    class Scale(Module):
        def __init__(self):
            super().__init__()
            self.factor = Parameter(torch.ones(()))
        def forward(self, x):
            return x * self.factor

    >>> from minitorch2 import nn
    >>> [name for name, _ in nn.Linear(2, 1).named_parameters()]
    ['weight', 'bias']

How it works: `__setattr__` sorts what is assigned into three dicts by its class (Parameter, buffer,
Module); `__getattr__`, which Python asks only for names it finds nowhere else, looks there.

Source: torch.nn.Module.
"""

from collections.abc import Callable, Iterator
from typing import Any

from minitorch2 import dtypes
from minitorch2.__future__ import conversion
from minitorch2.autograd.leaves import zero_gradient
from minitorch2.autograd.modes import no_grad
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, ModuleError
from minitorch2.nn import module_state
from minitorch2.nn.hooks import (  # noqa: F401 - hooks on every module are asked for here
    EVERY,
    HookRegistry,
    call_with_hooks,
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
    registered,
)
from minitorch2.nn.parameter import Buffer, Parameter
from minitorch2.nn.placing import _parse_to
from minitorch2.swapping import swap_tensors
from minitorch2.tensors import Tensor

COMPILERS: dict[str, Callable[..., Any]] = {}  # "compile": the balcony's, which stands above
TABLES = ("_parameters", "_buffers", "_modules")
HOOKS = (
    "_forward_pre_hooks",
    "_forward_hooks",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def _converted(parameter: Any, value: Tensor) -> Any:
    """A parameter with another value: itself, unless torch.__future__ says otherwise."""
    if conversion.overwrite:
        fresh = Parameter(value, parameter.requires_grad)
        fresh.grad = parameter.grad
        return fresh
    if conversion.swap:
        fresh = Parameter(value, parameter.requires_grad)
        fresh.grad = parameter.grad
        swap_tensors(parameter, fresh)
    else:
        parameter.data = value
    return parameter


class Module(HookRegistry):
    """Base class of all layers and models."""

    training: bool
    _version = 1
    dump_patches = False
    call_super_init = False  # whether __init__ goes on to the next class of several
    _compiled_call_impl: Callable[..., Any] | None = None
    _is_full_backward_hook: bool | None = None  # False with the older backward hooks

    def __init__(self, *args: Any, **kwargs: Any):
        if (args or kwargs) and not self.call_super_init:
            many = f"takes 1 positional argument but {len(args) + 1} were given"
            wrong = many if args else f"got an unexpected keyword argument '{next(iter(kwargs))}'"
            raise ArgumentTypeError(
                f"{type(self).__name__}.__init__",
                f"{type(self).__name__}.__init__() {wrong}",
                "call super().__init__() without arguments",
            )
        set_plain = super().__setattr__
        set_plain("training", True)
        for table in TABLES + HOOKS:
            set_plain(table, {})
        set_plain("_non_persistent_buffers_set", set())
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Compute the output; to be overridden."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    # ---- calling -----------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._compiled_call_impl is not None:
            return self._compiled_call_impl(*args, **kwargs)
        if (
            self._forward_pre_hooks
            or self._forward_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or EVERY
        ):
            return call_with_hooks(self, args, kwargs)
        return self.forward(*args, **kwargs)

    def _call_impl(self, *args: Any, **kwargs: Any) -> Any:
        """A call as it is without `compile`."""
        return call_with_hooks(self, args, kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile what a call of this module does, hooks too; arguments as torch.compile's."""
        self._compiled_call_impl = COMPILERS["compile"](self._call_impl, *args, **kwargs)

    def __getstate__(self) -> Any:
        """The instance's dict; copies and what is loaded from a file are not compiled."""
        return {key: each for key, each in self.__dict__.items() if key != "_compiled_call_impl"}

    # ---- the registry ------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        for table in TABLES:
            parts = self.__dict__.get(table)
            if parts is not None and name in parts:
                return parts[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Parameter):
            self._forget(name, "_parameters")
            self.register_parameter(name, value)
        elif name in self.__dict__.get("_parameters", ()):
            self._set_other(name, value)
        elif isinstance(value, Module):
            self._forget(name, "_modules")
            self._table("_modules")[name] = registered("module", self, name, value)
        elif isinstance(value, Buffer) and name not in self.__dict__.get("_modules", ()):
            self._forget(name, "_buffers")
            self.register_buffer(name, value, value.persistent)
        else:
            self._set_other(name, value)

    def _set_other(self, name: str, value: Any) -> None:
        """Assign something that registers nothing, or replace an entry of the registry."""
        own = self.__dict__
        if name in own.get("_parameters", ()):
            if value is not None:
                raise ArgumentTypeError(
                    f"{type(self).__name__}.{name} = {type(value).__name__}",
                    f"cannot assign '{type(value).__name__}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)",
                    f"wrap it: nn.Parameter(value), or write into it: .{name}.data = value",
                )
            own["_parameters"][name] = None
        elif name in own.get("_modules", ()):
            if value is not None:
                raise ArgumentTypeError(
                    f"{type(self).__name__}.{name} = {type(value).__name__}",
                    f"cannot assign '{type(value).__name__}' as child module '{name}' "
                    "(torch.nn.Module or None expected)",
                    f"delete the child first: del module.{name}",
                )
            own["_modules"][name] = None
        elif name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                raise ArgumentTypeError(
                    f"{type(self).__name__}.{name} = {type(value).__name__}",
                    f"cannot assign '{type(value).__name__}' as buffer '{name}' "
                    "(torch.nn.Buffer, torch.Tensor or None expected)",
                    "make a tensor of it first: torch.tensor(value)",
                )
            own["_buffers"][name] = registered("buffer", self, name, value)
        else:
            super().__setattr__(name, value)

    def _forget(self, name: str, kept: str) -> None:
        """Take a name out of wherever else it is, so that its new place is the only one."""
        own = self.__dict__
        own.pop(name, None)
        for table in TABLES:
            if table in own and table != kept:
                own[table].pop(name, None)

    def _table(self, table: str) -> dict:
        found = self.__dict__.get(table)
        if found is None:
            what = {"_parameters": "parameters", "_modules": "module", "_buffers": "buffer"}[table]
            raise AttributeError(f"cannot assign {what} before Module.__init__() call")
        return found

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            if name in self.__dict__[table]:
                del self.__dict__[table][name]
                self._non_persistent_buffers_set.discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = set(super().__dir__())
        for table in TABLES:
            names.update(self.__dict__[table])
        return sorted(name for name in names if name.isidentifier())

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make `param` (or None, for a parameter this instance lacks) a parameter `name`."""
        parts = self._table("_parameters")
        _check_name(self, name, "parameter", parts)
        if param is not None and not isinstance(param, Parameter):
            raise ArgumentTypeError(
                f"register_parameter({name!r}, {type(param).__name__})",
                f"cannot assign '{type(param).__name__}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)",
                "wrap it: nn.Parameter(value)",
            )
        if param is not None and param.grad_fn is not None:
            raise ArgumentValueError(
                f"register_parameter({name!r}, ...)",
                f"Cannot assign non-leaf Tensor to parameter '{name}'",
                "wrap a detached tensor: nn.Parameter(value.detach())",
            )
        if param is not None:
            param = registered("parameter", self, name, param)
        parts[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make `tensor` a buffer: moved with the module, and saved when `persistent`."""
        parts = self._table("_buffers")
        _check_name(self, name, "buffer", parts)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise ArgumentTypeError(
                f"register_buffer({name!r}, {type(tensor).__name__})",
                f"cannot assign '{type(tensor).__name__}' object to buffer '{name}' "
                "(torch Tensor or None required)",
                "make a tensor of it first: torch.tensor(value)",
            )
        parts[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: "Module | None") -> None:
        """Make `module` a child `name`."""
        parts = self._table("_modules")
        if module is not None and not isinstance(module, Module):
            raise ArgumentTypeError(
                f"add_module({name!r}, {type(module).__name__})",
                f"{type(module).__name__} is not a Module subclass",
                "give an nn.Module",
            )
        _check_name(self, name, "module", parts)
        parts[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: "Module | None") -> None:
        """The same as add_module."""
        self.add_module(name, module)

    # ---- walking the tree --------------------------------------------------------------------

    def named_children(self) -> Iterator[tuple[str, "Module"]]:
        """Direct children with their names, each module once."""
        seen: set[Module] = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator["Module"]:
        """Direct children, each once."""
        for _, module in self.named_children():
            yield module

    def named_modules(
        self, memo: set | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, "Module"]]:
        """This module (named '' or `prefix`) and all below it, with dotted names."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                inner = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(memo, inner, remove_duplicate)

    def modules(self) -> Iterator["Module"]:
        """This module and all below it, each once."""
        for _, module in self.named_modules():
            yield module

    def _named_parts(
        self, table: str, prefix: str, recurse: bool, remove_duplicate: bool
    ) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules: Any = [(prefix, self)]
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        for path, module in modules:
            for name, part in getattr(module, table).items():
                if part is None or id(part) in seen:
                    continue
                if remove_duplicate:
                    seen.add(id(part))
                yield (f"{path}.{name}" if path else name), part

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """Parameters with dotted names, each once."""
        yield from self._named_parts("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """Parameters, each once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """Buffers with dotted names, each once."""
        yield from self._named_parts("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """Buffers, each once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_submodule(self, target: str) -> "Module":
        """The module at a dotted path; AttributeError where there is none."""
        module = self
        for name in target.split(".") if target else []:
            if not hasattr(module, name):
                raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: "Module", strict: bool = False) -> None:
        """Put a module at a dotted path; with `strict` only in the place of another one."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ArgumentValueError(
                "set_submodule", "Cannot set the submodule without a target name!"
            )
        if not isinstance(module, Module):
            raise ArgumentValueError(
                "set_submodule", f"`module` is not an nn.Module, found {type(module)}"
            )
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        found = getattr(module, name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return module._buffers[name]

    # ---- changing the tree -------------------------------------------------------------------

    def apply(self, fn: Callable[["Module"], None]) -> "Module":
        """Call `fn` on every module below and then on this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "Module":
        """Replace the data of every parameter and buffer by `fn(data)`; `recurse`: below too."""
        for module in self.children() if recurse else ():
            module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is not None:
                with no_grad():
                    self._parameters[name] = parameter = _converted(parameter, fn(parameter.data))
                    if parameter.grad is not None:
                        parameter.grad.data = fn(parameter.grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args: Any, **kwargs: Any) -> "Module":
        """Convert floating parameters and buffers to a dtype, or move all to a device.

        `memory_format` orders the elements of those of 4 or 5 dimensions.
        """
        where, wanted, _, order = _parse_to(*args, **kwargs)
        if wanted is not None and not wanted.differentiable:
            raise ArgumentTypeError(
                f"{type(self).__name__}.to({wanted})",
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={wanted}",
                "convert integer tensors one by one",
            )

        def convert(tensor: Any) -> Tensor:
            moved = {"device": where, "dtype": wanted if tensor.dtype.differentiable else None}
            fits = order is not None and tensor.ndim in (4, 5)
            return tensor.to(**moved, memory_format=order) if fits else tensor.to(**moved)

        return self._apply(convert)

    def type(self, dst_type: dtypes.dtype) -> "Module":
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda tensor: tensor.to(dst_type))

    def float(self) -> "Module":
        """Convert floating parameters and buffers to float32."""
        return self.to(dtypes.float32)

    def double(self) -> "Module":
        """Convert floating parameters and buffers to float64."""
        return self.to(dtypes.float64)

    def half(self) -> "Module":
        """Convert floating parameters and buffers to float16."""
        return self.to(dtypes.float16)

    def bfloat16(self) -> "Module":
        """Convert floating parameters and buffers to bfloat16."""
        return self.to(dtypes.bfloat16)

    def cpu(self) -> "Module":
        """Move all parameters and buffers to the CPU."""
        return self.to(device="cpu")

    def cuda(self, device: int | None = None) -> "Module":
        """Move all parameters and buffers to a GPU."""
        return self.to(device="cuda" if device is None else f"cuda:{device}")

    def to_empty(self, *, device: Any, recurse: bool = True) -> "Module":
        """Give all parameters and buffers fresh memory on a device, without their values.

        `recurse=False`: those of the modules below stay where they are.
        """
        return self._apply(
            lambda tensor: tensor.new_empty(tuple(tensor.shape), device=device), recurse
        )

    def share_memory(self) -> "Module":
        """Nothing to do: parameters of one process are already shared by its threads."""
        return self

    def train(self, mode: bool = True) -> "Module":
        """Set training mode (dropout on, batch statistics used) here and below."""
        if not isinstance(mode, bool):
            raise ArgumentValueError(
                f"train({mode!r})", "training mode is expected to be boolean", "pass True or False"
            )
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> "Module":
        """Set evaluation mode here and below: the same as train(False)."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> "Module":
        """Train the parameters, or freeze them."""
        for parameter in self.parameters():
            parameter.requires_grad = requires_grad
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the parameters' gradients (or set them to zero)."""
        for parameter in self.parameters():
            if set_to_none:
                parameter.grad = None
            else:
                zero_gradient(parameter)

    # ---- saving, loading, printing -----------------------------------------------------------

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> dict[str, Any]:
        """Parameters and persistent buffers by dotted name; they share the module's memory."""
        if args:
            given = module_state.positional(args, destination, prefix, keep_vars)
            return module_state.state_dict(self, *given)
        return module_state.state_dict(self, destination, prefix, keep_vars)

    def load_state_dict(
        self, state_dict: Any, strict: bool = True, assign: bool = False
    ) -> module_state.IncompatibleKeys:
        """Copy values from a state dict. ModuleError names all that does not fit.

        With `strict=False` missing and unexpected names are only returned; `assign` takes the
        given tensors themselves instead of copying.
        """
        return module_state.load_state_dict(self, state_dict, strict, assign)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        module_state.save_own(self, destination, prefix, keep_vars)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        lists = missing_keys, unexpected_keys, error_msgs
        module_state.load_own(self, state_dict, prefix, local_metadata, strict, *lists)

    def get_extra_state(self) -> Any:
        """What else belongs into the state dict; override together with set_extra_state."""
        raise ModuleError(
            f"{type(self).__name__}.get_extra_state",
            "Reached a code path in Module.get_extra_state() that should never be called.",
            "define it in the module",
        )

    def set_extra_state(self, state: Any) -> None:
        """Restore what get_extra_state returned."""
        raise ModuleError(
            f"{type(self).__name__}.set_extra_state",
            "Reached a code path in Module.set_extra_state() that should never be called.",
            "define it in the module",
        )

    def _has_extra_state(self) -> bool:
        return type(self).get_extra_state is not Module.get_extra_state

    def extra_repr(self) -> str:
        """What stands inside the parentheses when the module prints."""
        return ""

    def _get_name(self) -> str:
        return type(self).__name__

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [f"({name}): {_indented(repr(m))}" for name, m in self._modules.items()]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        return f"{self._get_name()}(\n  " + "\n  ".join(lines + children) + "\n)"


# The names they have in torch.
_IncompatibleKeys = module_state.IncompatibleKeys
_EXTRA_STATE_KEY_SUFFIX = module_state.EXTRA


def _check_name(module: Module, name: str, kind: str, parts: dict) -> None:
    asked = f"register_{kind}({name!r}, ...)"
    if not isinstance(name, str):
        raise ArgumentTypeError(
            asked, f"{kind} name should be a string, got {type(name).__name__}", "pass a str"
        )
    if "." in name or name == "":
        what = "can't contain '.'" if "." in name else "can't be empty string ''"
        raise KeyError(f"{kind} name {what}: {name!r}")
    if name not in parts and hasattr(module, name):
        raise KeyError(f"attribute '{name}' already exists")


def _indented(text: str) -> str:
    return text.replace("\n", "\n  ")
