"""Tensors and numbers that enter the capture: inputs of the graph and guarded constants.

In: an object and its source. Out: a fake tensor with the object's layout and an input of the graph
that is fetched from that source in each call; or a constant with its guard.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from minitorch2 import dispatch
from minitorch2.devices import CPU
from minitorch2.dispatch import below_modes
from minitorch2.dtypes import float64
from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.mode import CaptureMode, tensor_type
from minitorch2.jit.capture.source import ConstantSource, Source
from minitorch2.jit.capture.state import TOO_LARGE, CaptureState, InputTensor
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.floats import FloatValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.ir.types import ScalarType
from minitorch2.jit.shapes.environment import SizeGuard
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size
from minitorch2.layouts import Layout, contiguous_strides
from minitorch2.ops.derived_methods import is_inference
from minitorch2.ops.table import lookup
from minitorch2.size_marks import dynamic_sizes, static_sizes
from minitorch2.tensors import Tensor, fake_tensor, is_fake

if TYPE_CHECKING:
    pass

VARIES = frozenset({-1})  # among the free sizes: the source is an int that changes
RATE = "['lr']"  # of an optimizer's group, or the like: schedules change it, so it varies at once
KNOWN_CLASSES = ("Tensor", "Parameter", "Buffer")


class Inputs:
    """The part of the machine that makes inputs."""

    state: CaptureState
    mode: CaptureMode
    free_sizes: Any

    def input_tensor(self: Any, object: Tensor, source: Source) -> Value:
        """The value of a tensor that exists."""
        state = self.state
        cls = type(object)
        own = cls.__name__ in KNOWN_CLASSES and cls.__module__.startswith("minitorch2")
        if not own:
            self.stop("unknown-object", f"a tensor of class {cls.__name__}")
        if is_fake(object):
            self.stop("unknown-object", f"{source}, a tensor on the meta device")
        free = self._free_dims(object, source)
        if not source.trusted:
            number = len(state.inputs)
            state.guards.add(kinds.tensor_guard(source, object, free, number, state.span()))
            for place, (low, high) in dynamic_sizes(object).items():
                if place in free and (low, high) != (2, None):
                    state.guard_size_between(source, place, low, high)
        fake = self._fake_of(object, free)
        strides = tuple(fake.layout.strides)
        whole = strides == contiguous_strides(tuple(fake.layout.shape)) if not free else True
        value = state.builder.input(
            state.input_name(source), tensor_type(fake), None if whole else strides
        )
        self.mode.name(fake, value)
        state.inputs.append(InputTensor(value, source, fake, object))
        result = TensorValue(fake, source, object)
        state.tensor_values[id(fake)] = result
        state.remember(object, result)
        return result

    def _free_dims(self: Any, object: Tensor, source: Source) -> frozenset[int]:
        """The dimensions whose size is symbolic."""
        sizes, strides = object.layout.shape, object.layout.strides
        if tuple(strides) != contiguous_strides(sizes) or type(object) is not Tensor:
            return frozenset()
        asked, marked = self.free_sizes(str(source)), dynamic_sizes(object)
        fixed = static_sizes(object)
        return frozenset(i for i, size in enumerate(sizes) if size >= 2 and i not in fixed
                         and (asked is True or i in asked or i in marked))  # fmt: skip

    def _fake_of(self: Any, object: Tensor, free: frozenset[int]) -> Tensor:
        layout = object.layout
        environment = self.state.environment
        bounds = dynamic_sizes(object)
        shape = tuple(
            environment.new_size(size, *bounds.get(index, (2, None))) if index in free else size
            for index, size in enumerate(layout.shape)
        )
        strides = contiguous_strides(shape) if free else tuple(layout.strides)
        fake = fake_tensor(shape, object.dtype, Layout(shape, strides, 0), object.device)
        if is_inference(object):
            fake.storage.version = object.storage.version
        if object.requires_grad:
            fake.requires_grad = True
            if not object.is_leaf:
                with dispatch.origin_scope(None):
                    fake = _with_history(fake)
        return fake

    def lift(self: Any, tensor: Tensor) -> Tensor:
        """A real tensor met by an operation during capture becomes an input."""
        known = self.state.by_id.get(id(tensor))
        if isinstance(known, TensorValue):
            return known.fake
        value = self.input_tensor(tensor, ConstantSource(tensor, "constant"))
        assert isinstance(value, TensorValue)
        return value.fake

    def tensor_result(self: Any, tensor: Tensor) -> Value:
        """The value of a tensor that a function returned during capture."""
        known = self.state.tensor_values.get(id(tensor))
        if known is not None:
            return known
        if id(tensor) not in self.state.graph_values:
            if is_fake(tensor):
                raise GraphBreak("internal", "a tensor without a place in the graph",
                                 self.state.span())  # fmt: skip
            # Made from known data, outside of the operations: once now, copied in each call.
            made = self.from_python(self.lift(tensor))
            return self.run_python(Tensor.clone, [made], {})  # type: ignore[attr-defined]
        value = TensorValue(tensor)
        self.state.tensor_values[id(tensor)] = value
        if tensor.requires_grad and tensor.is_leaf:
            self.turn_leaf(value)
        return value

    def add_size_guard(self: Any, guard: SizeGuard) -> None:
        """A condition on symbolic sizes as a guard on the inputs' shapes."""
        sources: list[Source] = []

        def place(found: re.Match) -> str:
            for item in self.state.inputs:
                where = item.size_place(found[0])
                if where is not None:
                    if item.source not in sources:
                        sources.append(item.source)
                    return f"{{{sources.index(item.source)}}}{where}"
            raise GraphBreak("internal", f"size {found[0]} belongs to no input")

        text = re.sub(r"\bs\d+\b", place, str(guard.condition))
        spans = guard.origin.spans if guard.origin is not None else ()
        said = text.format(*sources).replace(".layout.shape", ".shape")
        seen = tuple(self._size_now(item.object) for each in sources for item in self.state.inputs
                     if item.source == each)  # fmt: skip
        self.state.guards.add(kinds.plain_guard("size", tuple(sources), f"not ({text})",
                                                f"{said} held", spans[0] if spans else None,
                                                expected=seen))  # fmt: skip

    def _size_now(self: Any, object: Any) -> Any:
        """The shape of a tensor, or the int that varies, in the call that is captured."""
        if isinstance(object, Tensor):
            return tuple(object.layout.shape)
        return self.state.environment.hint(as_size(object))

    def input_constant(self: Any, object: Any, source: Source) -> Value:
        """A number or string of the call: known and guarded, or one that is known to vary."""
        small = type(object) is int and object < TOO_LARGE
        if small and self.free_sizes(str(source)) == VARIES:
            size = self.state.environment.new_size(object)
            if isinstance(size, SymbolicSize):
                return self._input_int(size, source)
        text = str(source)
        varies = text.endswith(RATE) or self.free_sizes(text) == VARIES
        if type(object) is float and varies:
            self.state.guard_type(source, float)
            return FloatValue(self, object, (), source)
        self.state.guard_value(source, object)
        return Constant(object, source)

    def input_float(self: Any, number: float, source: Source) -> Tensor:
        """The 0-d float64 tensor that carries a float which varies into the graph."""
        state = self.state
        fake = fake_tensor((), float64, None, CPU)
        value = state.builder.input(state.input_name(source), tensor_type(fake))
        self.mode.name(fake, value)
        state.inputs.append(InputTensor(value, source, fake, number))
        return fake

    def _input_int(self: Any, size: SymbolicSize, source: Source) -> Value:
        """An int that varies: an input of the graph, and a size for shapes to depend on."""
        state = self.state
        state.guard_symbolic_int(source)
        kind = ScalarType("int", as_size(size))
        value = state.builder.input(state.input_name(source), kind)
        state.inputs.append(InputTensor(value, source, None, size))
        return Constant(size, source)


def _with_history(leaf: Tensor) -> Tensor:
    """A fake like `leaf` that some operation made: not a leaf, but with the same layout."""
    before = dispatch.state.grad_enabled
    modes = dispatch.state.modes
    dispatch.state.grad_enabled, dispatch.state.modes = True, ()
    try:
        made = below_modes(lookup("view"), (leaf, tuple(leaf.layout.shape)))
    finally:
        dispatch.state.grad_enabled, dispatch.state.modes = before, modes
    made.layout = leaf.layout
    made._view = None
    return made


def written_apart(tensors: tuple[Tensor, ...], written: int) -> bool:
    """Whether the first `written` tensors look at blocks of memory that no other tensor sees."""
    blocks = [id(tensor.storage.block) for tensor in tensors]
    mine = set(blocks[:written])
    return len(mine) == written and mine.isdisjoint(blocks[written:])
