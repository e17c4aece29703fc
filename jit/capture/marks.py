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
from minitorch2.size_marks import dynamic_sizes
from minitorch2.tensors import Tensor


def check_marks(program: Any, call: Call) -> None:
    """Raise CompileError when a size that is marked dynamic is fixed in a captured program."""
    for source, value in zip(program.inputs, program.graph.inputs, strict=True):
        tensor = source.fetch(call)
        for place in dynamic_sizes(tensor) if isinstance(tensor, Tensor) else ():
            pinned = _pinned(program, source, place)
            if pinned is None and not isinstance(value.value.type.shape[place], int):
                continue
            raise CompileError(
                f"mark_dynamic({source}, {place})",
                f"the program works for the size {tensor.layout.shape[place]} only"
                f"{pinned or ', which is less than 2, or the tensor is not contiguous'}",
                "write that line for any size, or take the mark away",
            )


def _pinned(program: Any, source: Source, place: int) -> str | None:
    """The line that fixed a size, in words; None when there is none."""
    fixing = re.compile(rf"not \(\{{0\}}\.layout\.shape\[{place}\]==\d+\)")
    for guard in program.guards.guards:
        if guard.kind == "size" and guard.sources == (source,) and fixing.fullmatch(guard.test):
            return f", for which it asks at {guard.span}"
    return None
