"""Arrays out of tensors, and tensors around arrays, native: the two ends of a host function.

In: the pool's code. Out: two built-in functions in it:

    arrays(inputs, kinds)     a tuple: for each item of a list what its letter in `kinds` says
    tensor(array, layout, dtype, nbytes)     a tensor that owns an array just made

The letters: `r` a tensor's array in row-major order (a copy where it is in another one), `s` its
array as it is, `n` the item itself. A tensor that has no array yet, and one that must be copied, go
to a Python function, which has the last word on what an array is. The other fields of a new tensor
are those of one that `minitorch2.tensors.fresh` has made.

Source: slots of objects as CPython's member descriptors give them.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir

from minitorch2.devices import CPU
from minitorch2.dtypes import float32
from minitorch2.kernels.runtime.built_in import (
    ARRAY_FLAGS,
    BYTES_DATA,
    ITEMS,
    LIST_ITEMS,
    ROW_MAJOR,
    SIZE,
    TYPE,
    built_in,
    slot_of,
)
from minitorch2.kernels.runtime.native import I1, I8, I32, I64, VOID, Function
from minitorch2.kernels.runtime.pool_code import PoolCode
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor, fresh

NAMED = ("nbytes", "block", "storage", "_array", "layout", "dtype")  # slots that differ each time
FIXED = 2 + len(NAMED)  # words before the counts of the other slots


class TensorCode:
    """Writes the functions."""

    def __init__(self, pool: PoolCode) -> None:
        self.pool = pool
        self.new_tuple = pool.outside("PyTuple_New", I64, [I64])
        self.subtype = pool.outside("PyType_IsSubtype", I32, [I64, I64])
        self.call_back = pool.outside("PyObject_CallFunctionObjArgs", I64, [I64], more=True)
        self.make = pool.outside("PyType_GenericAlloc", I64, [I64, I64])
        self.bad_call = pool.outside("PyErr_BadArgument", I32, [])
        self.keep = pool.outside("Py_IncRef", VOID, [I64])
        self.drop = pool.outside("Py_DecRef", VOID, [I64])
        self._arrays()
        self._tensor()

    def field(self, f: Function, about: ir.Value, index: int) -> ir.Value:
        """Write: word `index` of what the function knows."""
        return f.get(f.slot(f.pointer(about), BYTES_DATA + index))

    def check(self, f: Function, given: bool | ir.Value) -> None:
        """Write: refuse the call unless the condition holds."""
        with f.when(f.builder.not_(given)):
            f.call(self.bad_call)
            f.ret(0)

    def _arrays(self) -> None:
        f = self.pool.function("arrays", I64, [I64, I64.as_pointer(), I64], export=True)
        about, given, count = f.arguments
        self.check(f, f.test(count, "==", 2))
        inputs, kinds = f.get(f.slot(given, 0)), f.get(f.slot(given, 1))
        kind = f.get(f.slot(f.pointer(inputs), TYPE))
        self.check(f, f.test(kind, "==", self.field(f, about, 5)))
        number = f.get(f.slot(f.pointer(inputs), SIZE))
        self.check(f, f.test(f.get(f.slot(f.pointer(kinds), SIZE)), "==", number))
        items = f.pointer(f.get(f.slot(f.pointer(inputs), LIST_ITEMS)))
        letters = f.builder.bitcast(f.slot(f.pointer(kinds), BYTES_DATA), I8.as_pointer())
        result = f.call(self.new_tuple, number)
        with f.when(f.test(result, "==", 0)):
            f.ret(0)
        with f.count(0, number) as i:
            item, letter = f.get(f.slot(items, i)), f.get(f.builder.gep(letters, [i]))
            found = f.variable(item)
            with f.when(f.test(letter, "!=", ord("n"))):
                self._array(f, about, item, letter, found)
            with f.builder.if_else(f.test(f.get(found), "!=", 0)) as (good, bad):
                with good:
                    place = f.builder.add(i, I64(ITEMS))
                    f.put(f.slot(f.pointer(result), place), f.get(found))
                with bad:
                    f.call(self.drop, result)
                    f.ret(0)
            with f.when(f.test(f.get(found), "==", item)):
                f.call(self.keep, item)
        f.ret(result)

    def _array(
        self, f: Function, about: ir.Value, item: ir.Value, letter: ir.Value, found: ir.Value
    ) -> None:
        """Write: put a tensor's array into `found`: a new reference, or 0 and an error."""
        known = self.field(f, about, 0)
        kind = f.get(f.slot(f.pointer(item), TYPE))
        fits = f.variable(f.test(kind, "==", known), I1)
        with f.when(f.builder.not_(f.get(fits))):
            f.put(fits, f.test(f.call(self.subtype, kind, known), "!=", 0))
        with f.builder.if_else(f.get(fits)) as (right, wrong):
            with right:
                self._array_of(f, about, item, letter, found)
            with wrong:
                f.call(self.bad_call)
                f.put(found, 0)

    def _array_of(
        self, f: Function, about: ir.Value, item: ir.Value, letter: ir.Value, found: ir.Value
    ) -> None:
        """Write: the same for what is a tensor."""
        ndarray, back, array_slot = (self.field(f, about, i) for i in (1, 2, 6))
        array = f.get(f.slot(f.pointer(item), array_slot))
        ready = f.variable(0, I1)
        with f.when(f.test(array, "!=", 0)):
            is_array = f.test(f.get(f.slot(f.pointer(array), TYPE)), "==", ndarray)
            with f.when(is_array):
                flags = f.builder.and_(f.get(f.slot(f.pointer(array), ARRAY_FLAGS)), I64(ROW_MAJOR))
                f.put(ready, f.builder.or_(f.test(flags, "!=", 0), f.test(letter, "==", ord("s"))))
        with f.builder.if_else(f.get(ready)) as (as_it_is, other):
            with as_it_is:
                f.call(self.keep, array)
                f.put(found, array)
            with other:
                letters = [self.field(f, about, 3), self.field(f, about, 4)]
                mode = f.builder.select(f.test(letter, "==", ord("r")), *letters)
                f.put(found, f.call(self.call_back, back, item, mode, I64(0)))

    def _tensor(self) -> None:
        f = self.pool.function("tensor", I64, [I64, I64.as_pointer(), I64], export=True)
        about, given, count = f.arguments
        self.check(f, f.test(count, "==", 4))
        array, layout, dtype, nbytes = (f.get(f.slot(given, i)) for i in range(4))
        storage = f.call(self.make, self.field(f, about, 0), 0)
        with f.when(f.test(storage, "==", 0)):
            f.ret(0)
        in_storage, in_tensor = (self.field(f, about, FIXED + i) for i in (0, 1))
        self._constants(f, about, storage, I64(FIXED + 2), in_storage)
        for name, value in (("nbytes", nbytes), ("block", array)):
            self._set(f, storage, self._slot(f, about, name), value)
        tensor = f.call(self.make, self.field(f, about, 1), 0)
        with f.when(f.test(tensor, "==", 0)):
            f.call(self.drop, storage)
            f.ret(0)
        first = f.builder.add(I64(FIXED + 2), f.builder.shl(in_storage, I64(1)))
        self._constants(f, about, tensor, first, in_tensor)
        for name, value in (("_array", array), ("layout", layout), ("dtype", dtype)):
            self._set(f, tensor, self._slot(f, about, name), value)
        f.put(f.slot(f.pointer(tensor), self._slot(f, about, "storage")), storage)  # hands it over
        f.ret(tensor)

    def _slot(self, f: Function, about: ir.Value, name: str) -> ir.Value:
        return self.field(f, about, 2 + NAMED.index(name))

    def _constants(
        self, f: Function, about: ir.Value, thing: ir.Value, first: ir.Value, count: ir.Value
    ) -> None:
        """Write: set `count` slots to objects that are the same every time."""
        pairs = f.builder.add(first, I64(BYTES_DATA))
        with f.count(0, count) as i:
            pair = f.builder.add(pairs, f.builder.shl(i, I64(1)))
            slot = f.get(f.slot(f.pointer(about), pair))
            value = f.get(f.slot(f.pointer(about), f.builder.add(pair, I64(1))))
            self._set(f, thing, slot, value)

    def _set(self, f: Function, thing: ir.Value, slot: ir.Value, value: ir.Value) -> None:
        f.call(self.keep, value)
        f.put(f.slot(f.pointer(thing), slot), value)


def arrays_function(address: int, back: Callable[[Any, str], np.ndarray]) -> Callable[..., Any]:
    """`arrays`; `back(tensor, letter)` gives the array where this does not. It must live on."""
    objects = map(id, (Tensor, np.ndarray, back, "r", "s", list))
    return built_in("arrays", address, [*objects, slot_of(Tensor, "_array")])


_example = fresh(np.empty(1, np.float32), float32, CPU)  # its fields are those of every tensor made


def tensor_function(address: int) -> Callable[..., Any]:
    """`tensor`."""
    slots = [slot_of(Storage if name in ("nbytes", "block") else Tensor, name) for name in NAMED]
    storage, tensor = _same_fields(_example.storage), _same_fields(_example)
    counts = [len(storage) // 2, len(tensor) // 2]
    words = [id(Storage), id(Tensor), *slots, *counts, *storage, *tensor]
    return built_in("tensor", address, words)


def _same_fields(thing: Storage | Tensor) -> list[int]:
    """Slots, and the objects in them, of what does not differ from one tensor to the next."""
    words: list[int] = []
    for name in type(thing).__slots__:
        if name not in (*NAMED, "__dict__", "__weakref__"):
            words += [slot_of(type(thing), name), id(getattr(thing, name))]
    return words
