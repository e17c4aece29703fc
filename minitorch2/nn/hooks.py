"""Hooks of modules: functions called before and after forward, and when gradients pass.

In: a module with hooks and the arguments of a call. Out: the call's result. Backward hooks are two
identity operations with gradients of their own, one around the inputs and one around the outputs.

Example: `module.register_forward_hook(lambda module, args, output: print(output.shape))`.
Source: torch.nn.Module's hooks.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.autograd.function import Function
from minitorch2.autograd.graph import RemovableHandle
from minitorch2.dispatch import state
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
            return (args, kwargs) if changed is None else changed
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


def call_with_hooks(module: Any, args: tuple, kwargs: dict) -> Any:
    """Run forward with every hook of the module around it."""
    result: Any = None
    waiting = [hook for hook in module._forward_hooks.values() if hook.always]
    try:
        for hook in list(module._forward_pre_hooks.values()):
            args, kwargs = hook.before(module, args, kwargs)
        around = None
        if module._backward_hooks or module._backward_pre_hooks:
            around = _BackwardHooks(module)
            args = around.watch_inputs(args)
        result = module.forward(*args, **kwargs)
        for hook in list(module._forward_hooks.values()):
            if hook in waiting:
                waiting.remove(hook)
            result = hook.after(module, args, kwargs, result)
        return result if around is None else around.watch_outputs(result)
    finally:
        for hook in waiting:
            hook.after(module, args, kwargs, result)


class _Pass(Function):
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
    """The values, those that require a gradient sent through _Pass."""
    places = [i for i, v in enumerate(values) if isinstance(v, Tensor) and v.requires_grad]
    if not places or not state.grad_enabled:
        return values

    def widened(grads: tuple) -> tuple:
        full = [None] * len(values)
        for place, grad in zip(places, grads, strict=True):
            full[place] = grad
        changed = seen(tuple(full))
        return tuple(changed[place] for place in places)

    found = _Pass.apply(widened, *[values[place] for place in places])
    result = list(values)
    for place, value in zip(places, found, strict=True):
        result[place] = value
    return tuple(result)


class _BackwardHooks:
    """One call's backward hooks: remembers the outputs' gradients until the inputs' are known."""

    def __init__(self, module: Any):
        self.module = module
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
        return result

    def outputs_known(self, grads: tuple) -> tuple:
        for hook in list(self.module._backward_pre_hooks.values()):
            changed = hook(self.module, grads)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        self.of_outputs = grads
        if self.without_inputs:  # nothing will arrive at the inputs: the hooks run now
            self.inputs_known((None,) * self.input_count)
        return grads

    def inputs_known(self, grads: tuple) -> tuple:
        for hook in list(self.module._backward_hooks.values()):
            changed = hook(self.module, grads, self.of_outputs)
            if changed is not None:
                grads = changed if isinstance(changed, tuple) else (changed,)
        return grads
