"""Hooks of modules: functions called before and after forward, and when gradients pass.

In: a module with hooks and the arguments of a call. Out: the call's result. Backward hooks are two
identity operations with gradients of their own, one around the inputs and one around the outputs.

Example: `module.register_forward_hook(lambda module, args, output: print(output.shape))`.
Source: torch.nn.Module's hooks.
"""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.graph import RemovableHandle
from minitorch2.dispatch import state
from minitorch2.errors import OperationError
from minitorch2.tensors import Tensor


class ForwardHook:
    """A hook around forward, with the way it wants to be called."""

    __slots__ = ("function", "with_kwargs", "always")

    def __init__(self, function: Callable, with_kwargs: bool, always: bool):
        self.function, self.with_kwargs, self.always = function, with_kwargs, always

    def before(self, module: Any, args: tuple, kwargs: dict) -> tuple[tuple, dict]:
        """Run a pre-hook; the arguments it leaves."""
        if self.with_kwargs:
            changed = self.function(module, args, kwargs)
            if changed is None:
                return args, kwargs
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise OperationError(
                    "a forward pre-hook",
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but "
                    f"got {changed}.",
                )
            return changed
        changed = self.function(module, args)
        if changed is None:
            return args, kwargs
        return (changed if isinstance(changed, tuple) else (changed,)), kwargs

    def after(self, module: Any, args: tuple, kwargs: dict, result: Any) -> Any:
        """Run a forward hook; the output it leaves."""
        if self.with_kwargs:
            changed = self.function(module, args, kwargs, result)
        else:
            changed = self.function(module, args, result)
        return result if changed is None else changed


def add_hook(hooks: dict, hook: Any, prepend: bool = False) -> RemovableHandle:
    """Register a hook, last or first; the handle removes it."""
    others = dict(hooks)
    handle = RemovableHandle(hooks, hook)
    if prepend:
        for key, other in others.items():
            del hooks[key]
            hooks[key] = other
    return handle


class _Each:
    """One hook on every module, and when it runs."""

    __slots__ = ("kind", "hook")

    def __init__(self, kind: str, hook: Any):
        self.kind, self.hook = kind, hook

    @classmethod
    def kept(cls, kind: str, hook: Any) -> RemovableHandle:
        """Keep a hook among those on every module."""
        each: Any = cls(kind, hook)
        return RemovableHandle(EVERY, each)


EVERY: dict[int, Any] = {}  # hooks on every module, by the number of their handle


def _every(kind: str) -> list[Any]:
    return [each.hook for each in list(EVERY.values()) if each.kind == kind]


def register_module_forward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, args)` before every module's forward."""
    return _Each.kept("before", ForwardHook(hook, False, False))


def register_module_forward_hook(
    hook: Callable, *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after every module's forward."""
    return _Each.kept("after", ForwardHook(hook, with_kwargs, always_call))


def register_module_full_backward_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` in every module's backward."""
    return _Each.kept("backward", hook)


register_module_backward_hook = register_module_full_backward_hook


def register_module_full_backward_pre_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, grad_output)` in every module's backward."""
    return _Each.kept("backward_pre", hook)


def register_module_parameter_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when a module gets one; another may be returned."""
    return _Each.kept("parameter", hook)


def register_module_module_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, child)` when a module gets one; another may be returned."""
    return _Each.kept("module", hook)


def register_module_buffer_registration_hook(hook: Callable) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a module gets one; another may be returned."""
    return _Each.kept("buffer", hook)


def registered(kind: str, module: Any, name: str, value: Any) -> Any:
    """What a module gets in the place of `value`, after the hooks on every module have seen it."""
    for hook in _every(kind):
        changed = hook(module, name, value)
        value = value if changed is None else changed
    return value


def call_with_hooks(module: Any, args: tuple, kwargs: dict) -> Any:
    """Run forward with every hook of the module around it."""
    result: Any = None
    after = _every("after") + list(module._forward_hooks.values())
    waiting = [hook for hook in after if hook.always]
    try:
        for hook in _every("before") + list(module._forward_pre_hooks.values()):
            args, kwargs = hook.before(module, args, kwargs)
        around = _BackwardHooks(module)
        if not (around.before or around.after):
            around = None  # type: ignore[assignment]
        else:
            args = around.watch_inputs(args)
        result = module.forward(*args, **kwargs)
        for hook in after:
            if hook in waiting:
                waiting.remove(hook)
            result = hook.after(module, args, kwargs, result)
        result = result if around is None else around.watch_outputs(result)
        if module._is_full_backward_hook is False:
            watch_last_node(module, result)
        return result
    except Exception:
        for hook in waiting:
            try:
                hook.after(module, args, kwargs, result)
            except Exception as error:  # the first error is the one to tell
                warnings.warn(
                    "module forward hook with ``always_call=True`` raised an exception that was "
                    f"silenced as another error was raised in forward: {error!s}",
                    stacklevel=3,
                )
        raise


def watch_last_node(module: Any, result: Any) -> None:
    """The older backward hooks: on the last operation of the module, whichever it is."""
    while not isinstance(result, Tensor):
        if isinstance(result, dict):
            result = next((each for each in result.values() if isinstance(each, Tensor)), None)
        elif isinstance(result, (tuple, list)) and result:
            result = result[0]
        else:
            return
    if result.grad_fn is not None:
        for hook in module._backward_hooks.values():
            result.grad_fn.register_hook(functools.partial(_of_last_node, hook, module))


def _of_last_node(hook: Callable, module: Any, inputs: tuple, outputs: tuple) -> Any:
    changed = hook(module, inputs, outputs)
    return changed if changed is None or isinstance(changed, tuple) else (changed,)


class BackwardHookFunction(Function):
    """The identity, whose backward shows the gradients to a function that may replace them."""

    @staticmethod
    def forward(ctx: Any, seen: Callable, *tensors: Any) -> Any:
        ctx.seen = seen
        ctx.set_materialize_grads(False)
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return (None, *ctx.seen(grads))


def _pass(values: tuple, seen: Callable) -> tuple:
    """The values, those that require a gradient sent through BackwardHookFunction."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
    if not places or not state.grad_enabled:
        return values

    def widened(grads: tuple) -> tuple:
        full = [None] * len(values)
        for place, grad in zip(places, grads, strict=True):
            full[place] = grad
        changed = seen(tuple(full))
        return tuple(changed[place] for place in places)

    found = BackwardHookFunction.apply(widened, *[values[place] for place in places])
    result = list(values)
    for place, value in zip(places, found, strict=True):
        result[place] = value
    return tuple(result)


class _BackwardHooks:
    """One call's backward hooks: remembers the outputs' gradients until the inputs' are known."""

    def __init__(self, module: Any):
        self.module = module
        full = module._is_full_backward_hook is not False
        self.before = _every("backward_pre") + list(module._backward_pre_hooks.values())
        self.after = _every("backward") + (list(module._backward_hooks.values()) if full else [])
        self.of_outputs: Any = None
        self.input_count = 0
        self.without_inputs = False

    def watch_inputs(self, args: tuple) -> tuple:
        self.input_count = len(args)
        watched = _pass(args, self.inputs_known)
        self.without_inputs = watched is args
        return watched

    def watch_outputs(self, result: Any) -> Any:
        if isinstance(result, Tensor):
            return _pass((result,), self.outputs_known)[0]
        if isinstance(result, tuple):
            return _pass(result, self.outputs_known)
        warnings.warn(
            "For backward hooks to be called, module output should be a Tensor or a tuple of "
            f"Tensors but received {type(result)}",
            stacklevel=5,
        )
        return result

    def outputs_known(self, grads: tuple) -> tuple:
        """What reaches the outputs; pre hooks may replace it; without inputs the hooks run now."""
        for hook in self.before:
            grads = _replaced(hook(self.module, grads), grads, "pre hook", "grad_output")
        if self.after:
            self.of_outputs = grads
        if self.without_inputs:  # nothing will arrive at the inputs: the hooks run now
            if self.after:
                warnings.warn(
                    "Full backward hook is firing when gradients are computed with respect to "
                    "module outputs since no inputs require gradients.",
                    stacklevel=5,
                )
            none = (None,) * self.input_count
            for hook in self.after:
                if hook(self.module, none, grads) not in (None, none):
                    raise OperationError(
                        "a backward hook",
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients.",
                    )
        return grads

    def inputs_known(self, grads: tuple) -> tuple:
        for hook in self.after:
            changed = hook(self.module, grads, self.of_outputs)
            grads = _replaced(changed, grads, "hook", "grad_input")
        return grads


def _replaced(changed: Any, grads: tuple, kind: str, what: str) -> tuple:
    """The gradients that a hook leaves."""
    if changed is None:
        return grads
    changed = changed if isinstance(changed, tuple) else (changed,)
    if len(changed) != len(grads):
        raise OperationError(
            f"a backward {kind}",
            f"Backward {kind} returned an invalid number of {what}, got {len(changed)}, but "
            f"expected {len(grads)}",
        )
    return changed


class HookRegistry:
    """What Module has for the registration of hooks."""

    __slots__ = ()

    _forward_pre_hooks: dict
    _forward_hooks: dict
    _backward_pre_hooks: dict
    _backward_hooks: dict
    _state_dict_hooks: dict
    _state_dict_pre_hooks: dict
    _load_state_dict_pre_hooks: dict
    _load_state_dict_post_hooks: dict

    def register_forward_pre_hook(
        self, hook: Callable, *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before forward; what it returns replaces the arguments."""
        return add_hook(self._forward_pre_hooks, ForwardHook(hook, with_kwargs, False), prepend)

    def register_forward_hook(
        self,
        hook: Callable,
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after forward; what it returns replaces the output."""
        return add_hook(self._forward_hooks, ForwardHook(hook, with_kwargs, always_call), prepend)

    def register_full_backward_hook(self, hook: Callable, prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the inputs' gradients are known."""
        self._of_one_kind(True)
        return add_hook(self._backward_hooks, hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable, prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the outputs' gradients are known."""
        return add_hook(self._backward_pre_hooks, hook, prepend)

    def register_backward_hook(self, hook: Callable) -> RemovableHandle:
        """The older backward hook: on the last operation of forward, whichever that is."""
        self._of_one_kind(False)
        return add_hook(self._backward_hooks, hook)

    def _of_one_kind(self, full: bool) -> None:
        if self.__dict__.get("_is_full_backward_hook") is (not full):
            raise OperationError(
                "register_backward_hook",
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them.",
            )
        self.__dict__["_is_full_backward_hook"] = full

    def register_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the module's state is collected."""
        return add_hook(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)`, which changes it in place."""

        def checked(*args: Any) -> None:
            if hook(*args) is not None:
                raise OperationError(
                    "state_dict", "state_dict post-hook must return None", "change it in place"
                )

        return add_hook(self._state_dict_hooks, checked)

    def _register_state_dict_hook(self, hook: Callable) -> RemovableHandle:
        return add_hook(self._state_dict_hooks, hook)

    def register_load_state_dict_pre_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, metadata, strict, missing, unexpected, errors)`

        before the module's own part is loaded.
        """
        return add_hook(self._load_state_dict_pre_hooks, hook)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable, with_module: bool = False
    ) -> RemovableHandle:
        def without(module: Any, *args: Any) -> Any:
            return hook(*args)

        return add_hook(self._load_state_dict_pre_hooks, hook if with_module else without)

    def register_load_state_dict_post_hook(self, hook: Callable) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)`, which changes the lists in place."""

        def checked(*args: Any) -> None:
            assert hook(*args) is None, (
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done "
                "inplace."
            )

        return add_hook(self._load_state_dict_post_hooks, checked)
