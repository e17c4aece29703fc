"""torch._dynamo: the names of torch's capture that scripts and backends of users' own call.

Most are torch.compiler's; the others are one step away from it.

Files, in reading order:

config      settings, as attributes of a module
exc         errors by torch's names
utils       counters of what was compiled; `same`
testing     backends that count and keep graphs
eval_frame  optimize, run, and what is not torch.compiler's
decorators  marks on functions and tensors
backends    the registry of backends
_trace_wrapped_higher_order_op  a context that libraries import

Source: torch._dynamo's documentation.
"""

from minitorch2._dynamo import backends, config, decorators, eval_frame, exc, testing, utils
from minitorch2._dynamo.eval_frame import (
    graph_break,
    is_dynamo_supported,
    is_inductor_supported,
    mark_static_address,
    optimize,
    optimize_assert,
    run,
)
from minitorch2.compiler import (
    allow_in_graph,
    assume_constant_result,
    disable,
    error_on_graph_break,
    explain,
    is_compiling,
    mark_dynamic,
    mark_static,
    maybe_mark_dynamic,
    reset,
    set_stance,
)
from minitorch2.compiling import OptimizedModule
from minitorch2.custom_backends import list_backends, lookup_backend, register_backend

reset_code_caches = reset
nonstrict_trace = allow_in_graph

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "backends",
    "config",
    "decorators",
    "disable",
    "error_on_graph_break",
    "eval_frame",
    "exc",
    "explain",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "is_inductor_supported",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "nonstrict_trace",
    "optimize",
    "optimize_assert",
    "register_backend",
    "reset",
    "reset_code_caches",
    "run",
    "set_stance",
    "testing",
    "utils",
]
