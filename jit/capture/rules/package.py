"""Functions of minitorch2 itself.

In: a function of the package and the values of a call. Out: the value it returns when it was run
directly on fake tensors (operations and whatever is pure over tensors), or None when it is to be
inlined like user code (modules, optimizers, data utilities). A few have a rule.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.jit.capture.gradients import capture_grad
from minitorch2.jit.capture.rules import control_flow
from minitorch2.jit.capture.rules.custom_gradients import capture_apply
from minitorch2.jit.capture.rules.transforms import capture_jvp, capture_vjp
from minitorch2.jit.capture.source import ConstantSource
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.floats import lowered_operands
from minitorch2.jit.capture.values.namespaces import is_foreign
from minitorch2.jit.capture.values.natives import NativeObject
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.random_states import manual_seed
from minitorch2.jit.capture.values.tensors import NUMBERS, TensorValue, check_method
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

Rule = Callable[["Machine", Any, Arguments, Keywords], Value | None]

PURE = ("minitorch2.nn.functional", "minitorch2.nn.init")
INLINED = (
    "minitorch2.nn",
    "minitorch2.optim",
    "minitorch2.amp.grad_scaler",
    "minitorch2.utils",
    "minitorch2.autograd.modes",
    "minitorch2.control_flow",
    "minitorch2.trees",
    "minitorch2.ops.namespaces",
    "minitorch2.func",
    "minitorch2.jit.capture.rules.groups",
)
READ_THROUGH = ("RemovableHandle.", "autocast.__call__", "zero_gradient")  # in modules that are not
GRADIENTS = ("minitorch2.autograd",)
OUTSIDE = {
    "minitorch2.random": "random-generator",
    "minitorch2.serialization": "input-output",
    "minitorch2.artifacts": "input-output",
    "minitorch2.printing": "data-dependent",
    "minitorch2.utils.data": "input-output",
    "minitorch2.library": "unknown-call",
}


def package_rule(function: Any) -> Rule | None:
    """How a Python function is called, or None when it is inlined as user code is."""
    if is_foreign(function):  # a wrapper of the program's carries the names of what it wraps
        return None
    module = getattr(function, "__module__", None) or ""
    if getattr(function, "op", None) is not None:
        return run_directly
    if module != "minitorch2" and not module.startswith("minitorch2."):
        return None
    name = function.__name__
    if module == "minitorch2.control_flow" and name in control_flow.RULES:
        return control_flow.RULES[name]
    if name == "step" and module.startswith("minitorch2.optim.lr_scheduler."):
        return _schedule
    if function.__qualname__ in BY_NAME:
        return BY_NAME[function.__qualname__]
    if module in PURE:
        return run_directly
    if module == "minitorch2.compiling":
        return _compiled
    if function.__qualname__.startswith(READ_THROUGH):
        return None
    for prefix, code in OUTSIDE.items():
        if module.startswith(prefix):
            return stopping(code)
    if module.startswith(INLINED):
        return None
    if module.startswith(GRADIENTS):
        return stopping("gradient-machinery")
    return run_directly


def run_directly(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords
) -> Value | None:
    """Call on fakes; None when an argument has no plain form, so that it is inlined."""
    name = function.__name__
    if name in NUMBERS:
        machine.stop("data-dependent", f"{name}()")
    if args and isinstance(machine.real(args[0]), TensorValue):  # methods, met as functions
        check_method(machine, name)
    try:
        op = getattr(function, "op", None)
        given = [machine.real(argument) for argument in args]
        plain = lowered_operands(machine, op, given) if op is not None else None
        if plain is None:
            plain = [argument.lower(machine) for argument in given]
        named = {key: machine.real(value).lower(machine) for key, value in kwargs.items()}
    except NotKnown as unknown:
        if getattr(function, "op", None) is None:
            return None
        value = unknown.args[0]
        machine.stop("unknown-operation", f"{function.__name__}() of {value.describe()}")
    return machine.from_python(machine.run_lowered(function, plain, named))


def stopping(code: str) -> Rule:
    """A rule that ends the graph, for a reason."""

    def stop(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
        machine.stop(code, f"{function.__name__}()")

    return stop


def _compiled(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """A compiled function met inside another is inlined as the function it was made of."""
    owner = machine.real(args[0]) if args else None
    if owner is None or owner.python_type().__name__ != "CompiledFunction":
        return None
    return machine.call(machine.get_attribute(owner, "original"), list(args[1:]), kwargs)


def _is_grad_enabled(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords
) -> Value | None:
    return Constant(dispatch.state.grad_enabled)


def _is_inference_mode_enabled(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords
) -> Value | None:
    return Constant(dispatch.state.inference)


def _is_compiling(
    machine: Machine, function: Any, args: Arguments, kwargs: Keywords
) -> Value | None:
    return Constant(True)


def _is_tensor(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    return Constant(isinstance(machine.real(args[0]), TensorValue))


def _tensor(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`tensor(data)`: made once from known data, copied in each call."""
    try:
        plain = [machine.real(argument).known() for argument in args[:1]]
        named = {key: machine.real(value).known() for key, value in kwargs.items()}
    except NotKnown:
        try:
            plain = [machine.real(argument).lower(machine) for argument in args[:1]]
        except NotKnown:
            plain = [None]
        if _mentions_tensor(plain):
            machine.stop("data-dependent", f"{function.__name__}() of tensors")
        named = {key: machine.real(value).known() for key, value in kwargs.items()}
    modes, dispatch.state.modes = dispatch.state.modes, ()
    try:
        made = machine.guarded(lambda: function(*plain, **named))
    finally:
        dispatch.state.modes = modes
    requires_grad, made.requires_grad = made.requires_grad, False
    constant = machine.input_tensor(made, ConstantSource(made, "constant"))
    copied = machine.run_python(Tensor.clone, [constant], {})  # type: ignore[attr-defined]
    if requires_grad:
        machine.require_grad(copied, Constant(True))
    return copied


def _as_tensor(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`as_tensor(data)`: a tensor itself, or one made of known data; an array is shared."""
    given = machine.real(args[0]) if args else None
    if isinstance(given, TensorValue):
        return run_directly(machine, function, args, kwargs)
    if given is None or isinstance(given, NativeObject):
        machine.stop("unknown-call", "as_tensor() of an array")
    return _tensor(machine, function, args, kwargs)


def _mentions_tensor(data: Any) -> bool:
    if isinstance(data, (list, tuple)):
        return any(_mentions_tensor(item) for item in data)
    return isinstance(data, Tensor) or data is None


def _region(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`__enter__` and `__exit__` of a mode, called through its class."""
    return machine.real(args[0]).call_method(machine, function.__name__, list(args[1:]), kwargs)


def _grad(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`torch.autograd.grad`; other functions of that name are treated as their modules are."""
    if function.__module__ != "minitorch2.autograd.public":
        return None
    return capture_grad(machine, function, args, kwargs)


def _checkpoint(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`checkpoint(f, x)` is `f(x)`: what is kept and what is computed again is for the partition
    of the joint graph to choose."""
    if "context_fn" in kwargs:
        machine.stop("gradient-machinery", "checkpoint() with a context_fn")
    known = {name: kwargs[name] for name in kwargs if name not in CHECKPOINT_SETTINGS}
    return machine.call(args[0], list(args[1:]), known)


def _schedule(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value | None:
    """`scheduler.step()`: read through, until the number of the step turns out to vary. What comes
    of it is a number of Python's, by formulas that capture would compile for every step."""
    owner = machine.real(args[0]) if args else None
    if machine.may_break and isinstance(owner, ObjectValue):
        count = owner.own(machine, "last_epoch", quiet=True)
        if count is not None and not isinstance(getattr(machine.real(count), "value", 0), int):
            machine.stop("schedule", f"{owner.cls.__name__}.step()")
    return None


CHECKPOINT_SETTINGS = frozenset(
    "use_reentrant determinism_check debug early_stop preserve_rng_state".split()
)
REGIONS = ("_GradMode", "inference_mode", "set_grad_enabled", "autocast")
BY_NAME: dict[str, Rule] = {
    **{f"{region}.__{name}__": _region for region in REGIONS for name in ("enter", "exit")},
    "Function.apply": capture_apply,
    "vjp": capture_vjp,
    "jvp": capture_jvp,
    "grad": _grad,
    "checkpoint": _checkpoint,
    "is_grad_enabled": _is_grad_enabled,
    "is_inference_mode_enabled": _is_inference_mode_enabled,
    "is_compiling": _is_compiling,
    "is_tensor": _is_tensor,
    "tensor": _tensor,
    "manual_seed": manual_seed,
    "set_default_dtype": stopping("input-output"),
    "save": stopping("input-output"),
    "load": stopping("input-output"),
    "from_numpy": stopping("unknown-call"),
    "as_tensor": _as_tensor,
}
