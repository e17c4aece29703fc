"""Native code as functions that Python calls directly, and where things stand in its objects.

In: the address of a C function `(self, arguments, count) -> object` and the words it finds in
`self`, a bytes object. Out: a built-in function: no ctypes, no struct, no tuple on its way.

    take = built_in("take", address, (word, word))
    take(8, dtype)

What such a function must know of CPython's and numpy's objects is here, in 8-byte words from the
object's address on; `supported` compares it with real objects.

Source: https://docs.python.org/3/c-api/structures.html#c.METH_FASTCALL; numpy's
PyArrayObject_fields and its table of C functions.
"""

import ctypes
import struct
import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

FASTCALL = 0x80
TYPE, SIZE, ITEMS = 1, 2, tuple.__basicsize__ // 8
LIST_ITEMS = 3  # the address of the items
ARRAY_DATA, ARRAY_FLAGS = object.__basicsize__ // 8, 8
BYTES_DATA = bytes.__basicsize__ // 8
ROW_MAJOR = 1  # the bit of an array's flags
NEW_FROM_DESCRIPTION, SET_BASE = 94, 282  # places in numpy's table, the same in every version


class _MethodDefinition(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_definitions: dict[int, _MethodDefinition] = {}


def built_in(
    name: str, function: int, words: Sequence[int], keep: object = None
) -> Callable[..., Any]:
    """A built-in function; whatever the words point to must live on. It keeps `keep` alive."""
    if function not in _definitions:
        _definitions[function] = _MethodDefinition(name.encode(), function, FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.py_object]
    data = struct.pack(f"={len(words)}Q", *words)
    # A built-in function owns what it takes for its module.
    return make(ctypes.addressof(_definitions[function]), data, keep)


@cache
def supported() -> bool:
    """Whether this interpreter and this numpy lay out their objects as this file says."""
    if sys.implementation.name != "cpython" or "t" in sys.abiflags:  # free threading: no one lock
        return False
    array, pair = np.zeros((2, 2)), [object()]
    crossed = array.T
    return (
        _word(array, ARRAY_DATA) == array.ctypes.data
        and _word(array, TYPE) == id(np.ndarray)
        and _word(array, ARRAY_FLAGS) & ROW_MAJOR == 1
        and _word(crossed, ARRAY_FLAGS) & ROW_MAJOR == 0
        and _word(tuple(pair), SIZE) == 1
        and _word(tuple(pair), ITEMS) == id(pair[0])
        and ctypes.c_size_t.from_address(_word(pair, LIST_ITEMS)).value == id(pair[0])
        and BYTES_DATA * 8 == bytes.__basicsize__ - 1
        and numpy_functions() is not None
    )


def _word(thing: object, at: int) -> int:
    return ctypes.c_size_t.from_address(id(thing) + 8 * at).value


@cache
def numpy_functions() -> tuple[int, int] | None:
    """The addresses of PyArray_NewFromDescr and PyArray_SetBaseObject; None if not found."""
    name = "numpy._core._multiarray_umath"  # numpy.core before version 2
    module = sys.modules.get(name) or sys.modules.get(name.replace("_core", "core"))
    capsule = getattr(module, "_ARRAY_API", None)
    if capsule is None:
        return None
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = get(capsule, None)
    words = (ctypes.c_size_t * (SET_BASE + 1)).from_address(table)
    return words[NEW_FROM_DESCRIPTION], words[SET_BASE]


def slot_of(kind: type, name: str) -> int:
    """Where an object's slot of that name stands, in words."""
    member = id(kind.__dict__[name]) + object.__basicsize__ + 24  # behind type, name and qualname
    definition = ctypes.c_size_t.from_address(member).value
    return ctypes.c_ssize_t.from_address(definition + 16).value // 8
