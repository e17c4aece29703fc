"""Leaves made inside: parameters, buffers, and tensors that are told to require a gradient.

In: the data of one as a value. Out: the value of a leaf that is an *input* of the graph: the host
function allocates its memory before the graph runs, anew in each call, and the graph fills it. So
its gradient takes the way of every other leaf's, optimizers and modules may hold it, and what
leaves the function is one object, of its own class.

A leaf shares its memory with its data. Data that nobody else looks at goes on as a view of the
leaf; where somebody does, the two are kept apart as long as nobody can tell (twins.py).

Source: PyTorch's documentation of `torch.nn.Parameter` and "Autograd mechanics", leaf tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2 import creation, dispatch
from minitorch2.dispatch import call
from minitorch2.jit.capture.mode import tensor_type
from minitorch2.jit.capture.source import ConstantSource, MadeSource, Source
from minitorch2.jit.capture.state import CaptureState, InputTensor
from minitorch2.jit.capture.values.base import Arguments, Keywords, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.ir.graph import values_in
from minitorch2.layouts import Layout, contiguous_strides
from minitorch2.nn.parameter import Buffer, Parameter
from minitorch2.ops.memory_methods import empty_strided
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@dataclass(eq=False, slots=True)
class Fresh:
    """Makes the memory of a leaf. `adopt` turns a plain tensor into what the program made of it;
    nothing is in it yet."""

    layout: Layout
    dtype: Any
    device: Any
    adopt: Callable[[Tensor], Tensor]
    requires_grad: bool
    version: int  # of the data that it is laid over

    def __call__(self) -> Tensor:
        """One for this call."""
        plain = empty_strided(
            self.layout.shape, self.layout.strides, dtype=self.dtype, device=self.device
        )
        made = self.adopt(plain)
        made.requires_grad = self.requires_grad
        made.storage.version = self.version - 1  # the graph's filling it is no write
        return made


class Leaves:
    """The part of the machine that makes leaves."""

    state: CaptureState
    mode: Any

    def make_leaf(self: Any, data: TensorValue, made: Tensor, adopt: Callable) -> TensorValue:
        """The value of `made`, a fake that the program made over the memory of `data`."""
        leaf = TensorValue(made)
        self._lay_over(leaf, data, made.requires_grad, adopt)
        return leaf

    def set_data(self: Any, leaf: TensorValue, data: Value) -> None:
        """`leaf.data = data`: the leaf lies over other memory from now on."""
        fresh, data = fresh_of(leaf), self.real(data)
        if fresh is None or self.is_recorded(leaf):
            self.stop("gradient-machinery", "assigning Tensor.data")
        assert fresh is not None
        if not isinstance(data, TensorValue):
            self.guarded(setattr, leaf.fake, "data", data.lower(self))  # which refuses it
            return
        self._lay_over(leaf, data, leaf.fake.requires_grad, fresh.adopt)

    def _lay_over(
        self: Any, leaf: TensorValue, data: TensorValue, requires_grad: bool, adopt: Callable
    ) -> None:
        """The leaf shares the memory of `data`."""
        before = data.fake
        self._place_leaf(leaf, before, requires_grad, adopt)
        alone = sum(fake.storage is before.storage for fake in self.state.fakes) == 1
        if not alone or data.source is not None or before.requires_grad:
            self.state.twins.add(leaf.fake, before)
            return
        # From now on `data` is a view of the leaf.
        data.fake = self._unrecorded(lambda: call(lookup("detach"), (leaf.fake,)))
        self.state.tensor_values[id(data.fake)] = data

    def turn_leaf(self: Any, value: TensorValue) -> None:
        """A tensor made inside requires a gradient from now on."""
        before = value.fake
        seen = any(fake.storage is before.storage and fake is not before
                   for fake in self.state.fakes)  # fmt: skip
        self._place_leaf(value, before, True, lambda plain: plain)
        if seen:
            self.state.twins.add(value.fake, before)

    def _place_leaf(
        self: Any, value: TensorValue, data: Tensor, requires_grad: bool, adopt: Callable
    ) -> None:
        """Make `value` an input of the graph, into which the graph copies the data."""
        state, layout = self.state, data.layout
        shape = tuple(layout.shape)
        if dispatch.state.inference:
            self.stop("gradient-machinery", "a leaf made in inference mode")
        if any(type(size) is not int for size in shape):
            self.stop("gradient-machinery", "a leaf whose size varies")
        if not layout.is_dense() or id(data.storage) in state.picking.by_storage:
            self.stop("unknown-object", "a leaf over a part of another tensor's memory")
        placed = Layout(shape, tuple(layout.strides), 0)
        version = data.storage.version
        fresh = Fresh(placed, data.dtype, data.device, adopt, requires_grad, version)
        example = fresh()
        source = MadeSource(ConstantSource(fresh, type(example).__name__))
        fake = fake_tensor(shape, data.dtype, placed, data.device)
        fake.requires_grad = requires_grad
        plain = placed.strides == contiguous_strides(shape)
        declared = state.builder.input(
            state.input_name(source), tensor_type(fake), None if plain else placed.strides
        )
        self.mode.name(fake, declared)
        state.inputs.append(InputTensor(declared, source, fake, example))
        state.remember(example, value)
        state.tensor_values[id(fake)] = value
        value.fake, value.source, value.object = fake, source, example
        self._unrecorded(lambda: call(lookup("copy_"), (fake, data, False)))
        fake.storage.version += version

    def _unrecorded(self: Any, operation: Callable[[], Tensor]) -> Tensor:
        """What an operation gives that no backward pass knows of."""
        before, dispatch.state.grad_enabled = dispatch.state.grad_enabled, False
        try:
            return self.run_lowered(operation, [], {})
        finally:
            dispatch.state.grad_enabled = before

    def require_grad(self: Any, value: Any, wanted: Value | None = None) -> None:
        """`tensor.requires_grad = wanted`, by default True."""
        flag = True if wanted is None else self.real(wanted).known()
        fake = value.fake
        if type(flag) is not bool or fake.requires_grad == flag or not fake.is_leaf:
            self.guarded(setattr, fake, "requires_grad", flag)  # which says what is wrong with it
        elif value.source is None:
            self.guarded(setattr, fake, "requires_grad", flag)
            self.turn_leaf(value)
        else:
            fresh = fresh_of(value)
            if fresh is None or self.is_recorded(value):
                self.stop("gradient-machinery", "assigning Tensor.requires_grad")
            self.guarded(setattr, fake, "requires_grad", flag)
            assert fresh is not None and value.object is not None
            fresh.requires_grad = value.object.requires_grad = flag

    def is_recorded(self: Any, value: TensorValue) -> bool:
        """Whether an operation that a backward pass goes through has read a tensor."""
        place = self.state.graph_values[id(value.fake)]
        return any(node.grad and any(one is place for one in values_in(node.args))
                   for node in self.state.builder.nodes)  # fmt: skip


def fresh_of(value: TensorValue) -> Fresh | None:
    """How a leaf made inside is made, else None."""
    source: Source | None = value.source
    return source.origin.object if isinstance(source, MadeSource) else None  # type: ignore


def make_parameter(machine: Machine, cls: type, args: Arguments, kwargs: Keywords) -> Value:
    """`Parameter(data, requires_grad)` or `Buffer(data, persistent=...)`."""
    given = [machine.real(argument) for argument in args]
    named = {name: machine.real(value) for name, value in kwargs.items()}
    data = named["data"] if "data" in named else given[0] if given else Constant(None)
    if isinstance(data, Constant) and data.value is None:
        data = machine.real(
            machine.call(machine.trusted(creation.empty, "empty"), [Constant(0)], {})
        )
        given, named = [data, *given[1:]], {k: v for k, v in named.items() if k != "data"}
    plain = [value.lower(machine) for value in given]
    keywords = {name: value.lower(machine) for name, value in named.items()}
    made = machine.guarded(lambda: cls(*plain, **keywords))
    assert isinstance(data, TensorValue)  # anything else was refused
    rest = {k: v for k, v in keywords.items() if k not in ("data", "requires_grad")}
    adopt: Callable = (lambda it: cls(it, **rest)) if cls is Buffer else (lambda it: cls(it, False))
    return machine.make_leaf(data, made, adopt)


LEAVES = (Parameter, Buffer)
