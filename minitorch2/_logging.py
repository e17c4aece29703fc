"""torch._logging: what compiled functions go through, printed while they are compiled.

In: names of artifacts, as torch has them. Out: each artifact on standard error when it is made,
under its name, the function's and the file's that made it.

    torch._logging.set_logs(graph_breaks=True, output_code=True)

`mt2 explain script.py` prints all of them, line beside line, without a change of the script. A
level for a part of torch's compiler (`dynamo=logging.DEBUG`) is taken and changes nothing, as
minitorch2 logs no running text. The environment's TORCH_LOGS is not read.

Source: torch._logging.set_logs.
"""

import contextlib
import sys
from typing import Any

from minitorch2.artifacts import Event, subscribe
from minitorch2.errors import ArgumentValueError

# torch's names, and the stages whose artifacts they are here.
STAGES: dict[str, tuple[str, ...]] = {
    "bytecode": ("capture.bytecode",),
    "graph_breaks": ("capture.break",),
    "recompiles": ("capture.recompile",),
    "recompiles_verbose": ("capture.recompile",),
    "guards": ("capture.guards",),
    "graph": ("capture.graph",),
    "graph_code": ("capture.graph",),
    "graph_sizes": ("capture.graph",),
    "trace_source": ("capture.source",),
    "aot_joint_graph": ("autodiff.joint",),
    "aot_graphs": ("autodiff.partition",),
    "pre_grad_graphs": ("autodiff.functional",),
    "post_grad_graphs": ("passes.optimized",),
    "ir_pre_fusion": ("loops.lowered",),
    "ir_post_fusion": ("loops.fused",),
    "fusion": ("loops.fused",),
    "schedule": ("loops.fused",),
    "output_code": ("kernel.source",),
    "kernel_code": ("kernel.source",),
}
# Parts of torch's compiler that have a level there, and artifacts that nothing here makes.
WITHOUT_EFFECT = frozenset(
    "all dynamo aot autograd dynamic torch distributed dist_c10d dist_ddp dist_fsdp fsdp inductor "
    "cudagraphs onnx export modules trace_bytecode trace_call ddp_graphs aot_joint_graph_log "
    "aot_graphs_effects perf_hints sym_node compiled_autograd compiled_autograd_verbose overlap "
    "onnx_diagnostics compute_dependencies cudagraph_static_inputs benchmarking autotuning "
    "loop_ordering loop_tiling hierarchical_compile ddp fbscribelogger graph_region_expansion "
    "inductor_metrics tracer_graph side_effects verbose_guards not_implemented".split()
)
_active = contextlib.ExitStack()


def set_logs(modules: Any = None, **wanted: Any) -> None:
    """Print the artifacts named true from now on, and no others; without names, none.

    Raises ValueError for a name that torch does not have.
    """
    unknown = sorted(set(wanted) - set(STAGES) - WITHOUT_EFFECT)
    if unknown:
        raise ArgumentValueError(
            f"set_logs({unknown[0]}=...)",
            f"unknown log {unknown[0]!r}",
            f"choose among {', '.join(STAGES)}",
        )
    _active.close()
    names: dict[str, str] = {}
    for name, stages in STAGES.items():
        if wanted.get(name):
            names.update((stage, name) for stage in stages if stage not in names)
    if names:
        _active.enter_context(subscribe(lambda event: _print(names, event)))


def _print(names: dict[str, str], event: Event) -> None:
    name = names.get(event.stage)
    if name is not None:
        text = event.text.rstrip("\n").replace("\n", "\n    ")
        print(f"[{name}] {event.unit} ({event.producer})\n    {text}", file=sys.stderr)
