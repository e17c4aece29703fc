"""Pointwise rows that numpy computes in several passes: kernels of their own for large arrays.

In: a row's name and its numpy form. Out: a function of arrays and numbers for the row's `eager`.
Where it pays, it is the kernel that the row's `expr` compiles to (kernels/eager_rows.py, imported
at the first use), in one pass on all threads; else, and with MT2_PRIMITIVES=numpy, numpy's form.

    eager = RowKernel("where", numpy.where)

Source: the limit was measured: below it the launch and numpy's passes, in the cache, cost the same.
"""

import importlib
from collections.abc import Callable
from typing import Any

import numpy

from minitorch2.config import config

LARGE = 1 << 15  # elements
_KINDS = {"f": "f32", "d": "f64", "?": "bool"}


class RowKernel:
    """A row's function of arrays and numbers; `out`, if given, is the first operand."""

    def __init__(self, name: str, usual: Callable[..., Any], large: int = LARGE):
        self.name, self.usual, self.large = name, usual, large
        self.kernels: dict[tuple, Callable[..., None]] = {}  # by what the operands are

    def __call__(self, *values: Any, out: numpy.ndarray | None = None) -> Any:
        """The row over its operands."""
        first = values[0]
        small = type(first) is numpy.ndarray and first.size < self.large
        kinds = None if small else _kinds(values, self.large)
        if kinds is None or config.primitives == "numpy":
            found = self.usual(*values)
            if out is None:
                return found
            numpy.copyto(out, found)
            return out
        arrays = tuple(value for value, kind in zip(values, kinds, strict=True) if kind)
        numbers = tuple(float(v) for v, kind in zip(values, kinds, strict=True) if not kind)
        if out is None:
            floating = next(array for array in arrays if array.dtype.kind == "f")
            result = numpy.empty(floating.shape, floating.dtype)
        else:
            result = out
        key = kinds, out is not None
        kernel = self.kernels.get(key)
        if kernel is None:
            make = importlib.import_module("minitorch2.kernels.eager_rows").kernel
            kernel = self.kernels[key] = make(self.name, *key)
        kernel(arrays, numbers, result)
        return result


def _kinds(values: tuple, large: int = LARGE) -> tuple[str, ...] | None:
    """The dtype of each array, '' for numbers; None where the kernel does not fit."""
    kinds: list[str] = []
    first = None
    floating = ""
    for value in values:
        if type(value) is not numpy.ndarray or not value.ndim:
            kinds.append("")
            continue
        if value.size < large:
            return None
        if first is None:
            first = value
        kind = _KINDS.get(value.dtype.char, "")
        if not (kind and value.flags.c_contiguous) or value.shape != first.shape:
            return None
        if kind != "bool":
            if floating and kind != floating:
                return None
            floating = kind
        kinds.append(kind)
    return tuple(kinds) if floating else None
