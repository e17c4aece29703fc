"""Composite rows as programs: eager runs the whole row at once where its tensors are large.

In: a composite row and its arguments, outside of any layer of the dispatcher. Out: its results,
connected to autograd by one node, or None where the row has to run step by step: for small
tensors, for those in other orders than the row-major one, and with MT2_PRIMITIVES=numpy.

    run(lookup("layer_norm"), (x, (512,), weight, bias, 1e-5))

The program is what the compiler makes of the row's definition (kernels/eager_composites.py,
imported at the first use): its passes over memory are fused, and of what lies between them only
what the backward needs is kept. It is found by dtypes, by which tensors require gradients and by
the other arguments; sizes other than 1 are its parameters.

Source: the limit was measured: below it, the steps and the program take about the same time, and
what never meets a large tensor never compiles.
"""

import importlib
from collections.abc import Callable
from typing import Any

from minitorch2 import dispatch
from minitorch2.config import config
from minitorch2.dispatch import state
from minitorch2.dtypes import FLOATING
from minitorch2.ops.table import Op
from minitorch2.tensors import PLAIN, Tensor, row_major_array

LARGE = 1 << 13  # elements of the largest tensor
MOST = 1024  # programs by exact sizes; they are few programs, found by many sizes
_programs: dict[tuple, Callable | None] = {}


def run(op: Op, args: tuple, recorded: bool = True) -> Any:
    """The row's result, or None if no program can make it. Not `recorded`: without its node."""
    recorded = recorded and state.grad_enabled
    found = _key(op, args, recorded)
    if found is None or config.primitives == "numpy" or config.cuda or state.capturing:
        return None
    key, tensors = found
    try:
        program = _programs.get(key, run)
    except TypeError:  # an argument that cannot be hashed
        return None
    if program is run:  # there is none yet
        if len(_programs) >= MOST:
            _programs.clear()
        make = importlib.import_module("minitorch2.kernels.eager_composites").program
        program = _programs[key] = make(op, args, tensors, recorded)
    return None if program is None else program(tensors)


def _key(op: Op, args: tuple, recorded: bool) -> tuple[tuple, list[Tensor]] | None:
    """What the program depends on, and the tensors; None where the row runs step by step."""
    parts: list[Any] = [op.name]
    tensors: list[Tensor] = []
    largest = 0
    for value in args:
        kind = type(value)
        if kind in PLAIN:
            array = value._array
            if array is None or not value.layout.row_major:
                array = row_major_array(value)
                if array is None:
                    return None
            element = value.dtype
            if element.is_complex:
                return None
            if element.category == FLOATING:
                largest = max(largest, array.size)
                parts += (element, array.shape, recorded and value.requires_grad)
            else:
                parts += (element, array.shape, False)
            if not array.size:
                return None
            tensors.append(value)
        elif isinstance(value, Tensor):
            return None
        else:
            parts += (kind, repr(value) if kind is float else value)
    return (tuple(parts), tensors) if largest >= LARGE else None


dispatch.install_programs(run)
