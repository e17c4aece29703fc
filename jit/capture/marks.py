"""Whether a captured program keeps the user's marks on sizes (minitorch2/size_marks.py).

In: a captured program and the call it was captured for. Out: nothing, or an error that names the
line which fixed a size that was marked as varying.

Source: torch._dynamo.mark_dynamic.
"""

from __future__ import annotations

import re
from typing import Any

from minitorch2.errors import CompileError
from minitorch2.jit.capture.source import Call, Source
from minitorch2.size_marks import Bounds, dynamic_sizes, static_sizes
from minitorch2.tensors import Tensor


def check_marks(program: Any, call: Call) -> None:
    """Raise CompileError when a size that is marked dynamic is fixed in a captured program."""
    for source, value in zip(program.inputs, program.graph.inputs, strict=True):
        tensor = source.fetch(call)
        for place, bounds in dynamic_sizes(tensor).items() if isinstance(tensor, Tensor) else ():
            if place < tensor.dim() and place not in static_sizes(tensor):
                fixed = isinstance(value.value.type.shape[place], int)
                _check(program, source, tensor, place, bounds, fixed)


def _check(
    program: Any, source: Source, tensor: Tensor, place: int, bounds: Bounds, fixed: bool
) -> None:
    size, asked = tensor.layout.shape[place], f"mark_dynamic({source}, {place})"
    pinned = _pinned(program, source, place)
    remedy = "write that line for any size, or take the mark away"
    if size < 2:
        return
    if not bounds[0] <= size <= (bounds[1] or size):
        asked = f"mark_dynamic({source}, {place}, min={bounds[0]}, max={bounds[1]})"
        raise CompileError(asked, f"the size is {size}", "mark it with a range that holds it")
    if pinned is None and fixed:
        pinned, remedy = ", because the tensor is not contiguous", f"pass {source}.contiguous()"
    if pinned is not None:
        raise CompileError(asked, f"the program works for the size {size} only{pinned}", remedy)


def _pinned(program: Any, source: Source, place: int) -> str | None:
    """The line that fixed a size, in words; None when there is none."""
    fixing = re.compile(rf"not \(\{{0\}}\.layout\.shape\[{place}\]==\d+\)")
    for guard in program.guards.guards:
        if guard.kind == "size" and guard.sources == (source,) and fixing.fullmatch(guard.test):
            return f", for which it asks at {guard.span}"
    return None
