"""Functions of numpy on known values.

In: the function and the values of a call. Out: what numpy gives, computed now: an array, which goes
on as an object made inside, or a number. A tensor among the arguments, or numpy's random numbers,
end the graph.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, Value
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

OUTSIDE = ("save", "savez", "savetxt", "load", "loadtxt", "fromfile", "memmap", "set_printoptions",
           "seterr", "seterrcall", "errstate", "genfromtxt", "tofile")  # fmt: skip


def run_numpy(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """Call a function of numpy."""
    name = getattr(function, "__name__", "function")
    module = getattr(function, "__module__", None) or ""
    if "random" in module or name in OUTSIDE or "random" in str(getattr(function, "__self__", "")):
        machine.stop("input-output", f"numpy's {name}()")
    given = [machine.native(value) for value in [*args, *kwargs.values()]]
    if _mentions_tensor(machine, given):
        machine.stop("data-dependent", f"numpy's {name}() of a tensor")
    try:
        plain = [value.lower(machine) for value in given]
    except NotKnown as unknown:
        machine.stop("unknown-operation", f"numpy's {name}() of {unknown.args[0].describe()}")
    named = dict(zip(kwargs, plain[len(args) :], strict=True))
    return machine.from_python(machine.guarded(lambda: function(*plain[: len(args)], **named)))


def _mentions_tensor(machine: Machine, values: list[Value]) -> bool:
    for value in values:
        value = machine.real(value)
        if isinstance(value, TensorValue):
            return True
        inside = getattr(value, "values", None)
        if isinstance(inside, list) and _mentions_tensor(machine, inside):
            return True
    return False
