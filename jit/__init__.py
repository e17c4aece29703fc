"""A Python function in, a functional graph of primitives out.

    function -> capture/ -> graph (ir/) -> autodiff/ -> passes/ -> forward and backward graphs

Files, in reading order:

ir        the graph: grammar, types, printer, parser, verifier, interpreter
shapes    sizes that are not known yet
capture   Python bytecode to a captured graph
class_series  classes that one statement makes anew in each call
changes   what is no longer as a guard found it, in words
guards    when captured code may be used again, as one Python function
pieces    going on after a break: graph, operation, graph, operation ... in one flat loop
trials    remedies for recompilations, tried by tracing a call again
recompiles  the story of the recompilations of a function
cache     the entries of one compiled function, and why there is another
autodiff  captured graph to functional, joint, forward and backward graphs
passes    the optimizer: one file a pass
syntax    Python's own parser, for one thread at a time
as_module a captured graph as a torch.fx module, for backends of users' own
user_backends  runs those backends
scripting torch.jit's names, for scripts that use them
"""

from minitorch2.jit.scripting import (
    Attribute,
    Final,
    ScriptFunction,
    ScriptModule,
    annotate,
    export,
    fork,
    freeze,
    ignore,
    interface,
    is_scripting,
    is_tracing,
    isinstance_of,
    load,
    optimize_for_inference,
    optimized_execution,
    save,
    script,
    script_if_tracing,
    script_method,
    set_fusion_strategy,
    trace,
    trace_module,
    unused,
    wait,
)
from minitorch2.jit.scripting import script_if_tracing as _overload
from minitorch2.jit.scripting import script_if_tracing as _overload_method
from minitorch2.jit.scripting import script_if_tracing as _script_if_tracing

globals()["isinstance"] = isinstance_of  # torch.jit.isinstance
