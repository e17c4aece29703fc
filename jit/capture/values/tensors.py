"""A tensor of the captured program: a fake tensor in the machine, a value in the graph.

In: a fake tensor (shape, dtype, device, no memory). Out: `TensorValue`: attributes and methods run
on the fake under `CaptureMode`, which writes the operations into the graph. What needs the numbers
inside (`item`, `bool`, `tolist`) is a graph break.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from minitorch2.autograd.graph import Node
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import AttributeSource, Source
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.namespaces import is_foreign
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

# Methods that look at the elements, or hand out the memory itself.
NUMBERS = frozenset(
    "item tolist numpy __bool__ __int__ __float__ __index__ __complex__ __array__ data_ptr "
    "__repr__ __str__ __format__ __dlpack__ is_nonzero nonzero equal allclose __contains__ "
    "untyped_storage storage array unique masked_select __reduce_ex__ __deepcopy__".split()
)
AUTOGRAD = frozenset(
    "register_hook retain_grad grad_fn register_post_accumulate_grad_hook _node set_history "
    "_backward_hooks _hooks _view _version".split()
)
REFUSED = frozenset("share_memory_ resize_ set_ cuda cpu_ as_subclass _make_subclass".split())


def check_method(machine: Machine, name: str) -> None:
    """End the graph at a method that works on the history or the memory of a tensor."""
    if name in AUTOGRAD:
        machine.stop("gradient-machinery", f"Tensor.{name}()")
    if name in REFUSED:
        machine.stop("unknown-call", f"Tensor.{name}()")


class HistoryValue(Value):
    """The `grad_fn` of a tensor: there is one, and nothing more is known of it."""

    __slots__ = ()

    def python_type(self) -> type:
        return Node

    def get_attribute(self, machine: Machine, name: str) -> Value:
        machine.stop("gradient-machinery", f"Tensor.grad_fn.{name}")

    def emit(self, emitter: Emitter) -> str:
        raise GraphBreak("gradient-machinery", "Tensor.grad_fn leaves the captured function")


class TensorValue(Value):
    """A tensor; `attributes` overlays what the captured program set on it (`grad`, own names)."""

    __slots__ = ("fake", "object", "attributes")

    def __init__(self, fake: Tensor, source: Source | None = None, object: Tensor | None = None):
        super().__init__(source)
        self.fake = fake
        self.object = object
        self.attributes: dict[str, Value] = {}

    def python_type(self) -> type:
        return type(self.object) if self.object is not None else type(self.fake)

    def lower(self, machine: Machine) -> Any:
        return self.fake

    def describe(self) -> str:
        fake = self.fake
        sizes = ",".join(str(size) for size in fake.layout.shape)
        name = f"{self.source}: " if self.source is not None else ""
        return f"{name}{fake.dtype.short}[{sizes}]"

    def same_as(self, machine: Machine, other: Value) -> bool:
        if isinstance(other, TensorValue) and other is not self:
            machine.state.guard_distinct(self, other)
        return self is other

    def get_attribute(self, machine: Machine, name: str) -> Value:
        """Metadata of the fake; history and numbers end the graph when they are asked for."""
        if name in self.attributes:
            return self.attributes[name]
        if name == "__class__":
            return machine.from_python(self.python_type())
        if name == "backward":
            return NativeMethod(self, name)
        if name == "__dict__":
            machine.stop("unknown-attribute", "Tensor.__dict__")
        if name == "grad_fn" and self.fake.is_leaf:
            return machine.from_python(None)
        if name == "grad_fn":
            return HistoryValue()
        if name in AUTOGRAD and not callable(getattr(self.python_type(), name, None)):
            machine.stop("gradient-machinery", f"Tensor.{name}")
        if name in NUMBERS or name in AUTOGRAD:
            return NativeMethod(self, name)
        if name == "grad" and not self.fake.is_leaf and "grad" not in self.attributes:
            machine.stop("gradient-machinery", "Tensor.grad of a result, which warns")
        if name == "grad" or (name == "is_leaf" and self._is_untouched()):
            return self._kept(machine, name)
        if name == "data":
            return machine.run_python(lambda tensor: tensor.detach(), [self], {})
        return self._own_or_class(machine, name)

    def _is_untouched(self) -> bool:
        """Whether the captured program has not changed the history of this input."""
        return self.object is not None and self.object.is_leaf == self.fake.is_leaf

    def _own_or_class(self, machine: Machine, name: str) -> Value:
        cls = self.python_type()
        if self.object is not None and name in self.object.__dict__:
            return self._kept(machine, name)
        if not hasattr(cls, name):
            machine.state.guard_no_attribute(self.source, name)
            machine.raise_(AttributeError, f"'{cls.__name__}' object has no attribute '{name}'")
        own = self._put_there(machine, name)
        if own is not None:
            return own
        if callable(getattr(cls, name)):
            return NativeMethod(self, name)
        return machine.run_python(getattr, [self, machine.from_python(name)], {})

    def _put_there(self, machine: Machine, name: str) -> Value | None:
        """A method or property that the program put into the class of tensors, or None: ours. That
        ours stands there is guarded."""
        found = machine.class_lookup(self.python_type(), name)
        if found is None:
            return None
        owner, raw = found
        function = raw.fget if isinstance(raw, property) else raw
        if isinstance(function, FunctionType) and is_foreign(function):
            return machine.bind_attribute(self, owner, name, raw)
        machine.state.guard_name(owner, f"torch.{owner.__name__}", name, raw)
        return None

    def special(self, machine: Machine, name: str, *args: Value) -> Value | None:
        """What a special method answers that the program put into the class, or None."""
        own = self._put_there(machine, name)
        found = machine.real(machine.call(own, list(args), {})) if own is not None else None
        if isinstance(found, Constant) and found.value is NotImplemented:
            machine.stop("unknown-operation", f"Tensor.{name}() answers NotImplemented")
        return found

    def _kept(self, machine: Machine, name: str) -> Value:
        if self.source is None or self.object is None:
            found: Value = machine.from_python(None)
        else:
            held = getattr(self.object, name)
            found = machine.wrap(held, AttributeSource(self.source, name))
        self.attributes[name] = found
        return found

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        value = machine.real(value)
        if name == "requires_grad":
            machine.require_grad(self, value)
            return
        if name == "data":
            machine.set_data(self, value)
            return
        if name in ("_grad", "storage", "layout", "dtype"):
            machine.stop("gradient-machinery", f"assigning Tensor.{name}")
        if self.source is None or (name != "grad" and hasattr(type(self.fake), name)):
            machine.stop("unknown-attribute", f"assigning Tensor.{name}")
        machine.state.effects.set_attribute(self, name, value)
        self.attributes[name] = value

    def get_item(self, machine: Machine, key: Value) -> Value:
        found = self.special(machine, "__getitem__", key)
        if found is not None:
            return found
        return machine.run_python(lambda tensor, index: tensor[index], [self, key], {})

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        if self.special(machine, "__setitem__", key, value) is None:
            machine.run_python(operator.setitem, [self, key, value], {})

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        """Run on the fake, but for what needs numbers, history or memory."""
        if name == "backward":
            return machine.backward(self, args, kwargs)
        if name == "register_hook":
            return machine.register_hook(self, args, kwargs)
        if name == "requires_grad_":
            machine.require_grad(self, *args, *kwargs.values())
            return self
        if name in NUMBERS:
            machine.stop("data-dependent", f"Tensor.{name}()")
        if name == "storage_offset":
            return self._offset(machine)
        if name == "detach_" and self.fake.requires_grad:
            return self._cut_off(machine)
        check_method(machine, name)
        method = getattr(type(self.fake), name)
        return machine.run_python(method, [self, *args], kwargs)

    def _cut_off(self, machine: Machine) -> Value:
        """`detach_()`: a result goes on without its history, which nobody else holds."""
        if self.fake.is_leaf or self.source is not None or self.fake._view is not None:
            machine.stop("gradient-machinery", "Tensor.detach_()")
        made = machine.real(machine.run_python(lambda tensor: tensor.detach(), [self], {}))
        assert isinstance(made, TensorValue)
        self.fake = made.fake
        machine.state.tensor_values[id(self.fake)] = self
        return self

    def _offset(self, machine: Machine) -> Value:
        """Where it begins in its memory: of an input only the call knows."""
        memory, inputs = self.fake.storage, machine.state.inputs
        held = (item for item in inputs if item.fake is not None and item.fake.storage is memory)
        base = next(held, None)
        start = 0
        if base is not None and not base.source.trusted:
            start = base.object.layout.offset
            place = AttributeSource(AttributeSource(base.source, "layout"), "offset")
            machine.state.guard_value(place, start)
        return machine.from_python(start + self.fake.layout.offset)

    def truth(self, machine: Machine) -> bool:
        machine.stop("tensor-branch", "a tensor used as a condition")

    def length(self, machine: Machine) -> int:
        found = self.special(machine, "__len__") or machine.run_python(len, [self], {})
        return found.known()

    def contains(self, machine: Machine, item: Value) -> bool:
        machine.stop("data-dependent", "`in` on a tensor")

    def iterator(self, machine: Machine) -> Value:
        found = self.special(machine, "__iter__")
        if found is not None:
            return found
        result = machine.run_python(lambda tensor: list(iter(tensor)), [self], {})
        return machine.iterate_over(machine.items(result))

    def emit(self, emitter: Emitter) -> str:
        return emitter.tensor(self)
