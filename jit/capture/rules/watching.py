"""`tensor.register_hook(hook)` inside captured code.

In: a tensor as a value and the hook. Out: for a leaf, the hook among those of the real leaf when
the call is over, and applied to the gradients of a backward that is captured meanwhile. A hook on
a result ends the graph, before the result was made if something was computed from it: Python
registers it on the real one.

Source: PyTorch's documentation of `torch.Tensor.register_hook`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2.autograd.graph import RemovableHandle, leaf_hooks
from minitorch2.jit.capture.picking import BreakEarlier
from minitorch2.jit.capture.source import AttributeSource, Call, ConstantSource, Render, Step
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

LEAF_HOOKS = ConstantSource(leaf_hooks, "leaf_hooks")


@dataclass(frozen=True, slots=True, eq=False)
class LeafHooksSource(Step):
    """The hooks of a leaf."""

    def fetch(self, call: Call) -> Any:
        return leaf_hooks(self.origin.fetch(call))

    def expression(self, of: Render) -> str:
        return f"{of(LEAF_HOOKS)}({of(self.origin)})"

    def __str__(self) -> str:
        return f"hooks of {self.origin}"


def register_hook(machine: Machine, value: TensorValue, args: Arguments, kwargs: Keywords) -> Value:
    """`value.register_hook(hook)`."""
    if not value.fake.requires_grad or len(args) + len(kwargs) != 1:
        given: Any = [None] * len(args)
        named: Any = dict.fromkeys(kwargs)
        hook: Any = Tensor.register_hook  # type: ignore[attr-defined]
        machine.guarded(lambda: hook(value.fake, *given, **named))
        machine.stop("gradient-machinery", "Tensor.register_hook()")
    function = machine.real([*args, *kwargs.values()][0])
    if value.fake.is_leaf and value.source is not None:
        handle = machine.trusted(RemovableHandle, "RemovableHandle")
        return machine.call(handle, [_hooks_of(machine, value), function], {})
    if value.source is None and machine.is_recorded(value):
        step = _made_at(machine, value)
        raise BreakEarlier("gradient-machinery", "Tensor.register_hook()", step)
    machine.stop("gradient-machinery", "Tensor.register_hook()")


def _made_at(machine: Machine, value: TensorValue) -> int:
    """Before which step the graph must end, so that Python makes a result, and what was computed
    from it since is computed from the real one."""
    made = machine.made_at.get(id(value))
    if made is not None:
        return made[0]
    place = machine.state.graph_values[id(value.fake)]
    for node in machine.state.builder.nodes:
        step = node.origin.step if node.origin is not None else None
        if step is not None and any(one is place for one in node.results):
            return max((root for root, _ in machine.made_at.values() if root <= step), default=1)
    return machine.state.frames[0].step


def _hooks_of(machine: Machine, leaf: TensorValue) -> DictValue:
    """The hooks that the program registers on a leaf, a dict of the real one."""
    known = machine.state.leaf_hooks.get(id(leaf))
    if known is None:
        assert leaf.source is not None
        known = DictValue({}, AttributeSource(LeafHooksSource(leaf.source), "grad"))
        machine.state.leaf_hooks[id(leaf)] = known
    return known


def hooked(machine: Machine, leaf: TensorValue, gradient: Value) -> Value:
    """A gradient, as the hooks of its leaf leave it."""
    hooks = machine.state.leaf_hooks.get(id(leaf))
    for hook in list(hooks.entries.values()) if hooks is not None else ():
        changed = machine.real(machine.call(hook, [gradient], {}))
        if not (isinstance(changed, Constant) and changed.value is None):
            gradient = changed
    return gradient
