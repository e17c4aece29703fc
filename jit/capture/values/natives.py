"""Objects of native classes that capture runs for real: arrays of numpy, bytearrays, generators.

In: an object that was made inside, from known values only. Out: its attributes and methods, which
run on the object itself while capture goes on. One that leaves the captured function is copied in
each call, in its final state.
"""

from __future__ import annotations

import array
import copy
import io
import random
from typing import TYPE_CHECKING, Any

import numpy

from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.symbols import inplace_method
from minitorch2.jit.capture.values.base import Arguments, Keywords, NativeMethod, Value
from minitorch2.jit.capture.values.tensors import TensorValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine

MUTABLE: tuple[type, ...] = (
    numpy.ndarray, bytearray, memoryview, array.array, io.StringIO, random.Random,
    numpy.random.RandomState, numpy.random.Generator,
)  # fmt: skip
MAKERS: tuple[type, ...] = (bytearray, memoryview, array.array, io.StringIO, random.Random)


class NativeObject(Value):
    """Such an object. It has no source: nobody else holds it."""

    __slots__ = ("object",)

    def __init__(self, object: Any, source: Source | None = None):
        super().__init__(source)
        self.object = object

    def python_type(self) -> type:
        return type(self.object)

    def known(self) -> Any:
        return self.object

    def describe(self) -> str:
        return f"{type(self.object).__name__} made inside"

    def same_as(self, machine: Machine, other: Value) -> bool:
        return isinstance(other, NativeObject) and other.object is self.object

    def get_attribute(self, machine: Machine, name: str) -> Value:
        found = machine.guarded(getattr, self.object, name)
        if callable(found) and getattr(found, "__self__", None) is self.object:
            return NativeMethod(self, name)
        return machine.from_python(found)

    def set_attribute(self, machine: Machine, name: str, value: Value) -> None:
        machine.guarded(setattr, self.object, name, machine.real(value).known())

    def call_method(self, machine: Machine, name: str, args: Arguments, kwargs: Keywords) -> Value:
        if any(isinstance(machine.real(argument), TensorValue) for argument in args):
            machine.stop("data-dependent", f"{type(self.object).__name__}.{name}() of a tensor")
        return machine.run_python(getattr(self.object, name), args, kwargs)

    def get_item(self, machine: Machine, key: Value) -> Value:
        return machine.run_python(lambda it, index: it[index], [self, key], {})

    def set_item(self, machine: Machine, key: Value, value: Value) -> None:
        if isinstance(machine.real(value), TensorValue):
            machine.stop("data-dependent", f"a tensor stored into a {type(self.object).__name__}")
        machine.run_python(type(self.object).__setitem__, [self, key, value], {})

    def operate_inplace(self, machine: Machine, symbol: str, other: Value) -> Value | None:
        method = inplace_method(symbol)
        if not hasattr(self.object, method):
            return None
        found = machine.run_python(getattr(self.object, method), [other], {})
        return None if found.python_type() is type(NotImplemented) else found

    def truth(self, machine: Machine) -> bool:
        return machine.guarded(bool, self.object)

    def length(self, machine: Machine) -> int:
        return machine.guarded(len, self.object)

    def contains(self, machine: Machine, item: Value) -> bool:
        return machine.run_python(lambda it, one: one in it, [self, item], {}).known()

    def iterator(self, machine: Machine) -> Value:
        items = machine.guarded(list, self.object)
        return machine.iterate_over([machine.from_python(item) for item in items])

    def emit(self, emitter: Emitter) -> str:
        root = self.object
        while getattr(root, "base", None) is not None:
            root = root.base
        if not emitter.leaves_once(root):
            raise GraphBreak("unknown-object", "two views of an array leave the function")
        kept = copy.deepcopy(self.object)
        name = emitter.object(kept, f"a_{type(kept).__name__}")
        return emitter.assign(self, f"{emitter.object(copy.deepcopy, 'deepcopy')}({name})")
