"""torch._dynamo.decorators: what is put on functions and tensors before they are compiled.

Example: `from torch._dynamo.decorators import mark_dynamic`.
Source: torch._dynamo.decorators.
"""

from minitorch2._dynamo.eval_frame import graph_break, mark_static_address, run
from minitorch2.compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    mark_dynamic,
    mark_static,
    maybe_mark_dynamic,
    set_stance,
)

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "disable",
    "graph_break",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "run",
    "set_stance",
]
