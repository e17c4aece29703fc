"""The stages a compiled function goes through, in order, each with one sentence for the reader.

In: a stage name of an event, or what a user typed after `--stage`. Out: its row. The table is the
order of the report; passes are rows of their own, taken from the pipeline.

    >>> stage_named("loops.fused").title
    'fused loops'
    >>> [stage.name for stage in matching("loops")]
    ['loops.lowered', 'loops.fused']

Source: TORCH_LOGS of PyTorch names its artifacts the same way.
"""

import difflib
from dataclasses import dataclass

from minitorch2.jit.passes.pipeline import PIPELINE


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: `says` explains it to a reader, `form` is how its text is laid out.

    `file` is the file that does the work where another one emits the event.
    """

    name: str
    title: str
    says: str
    form: str
    file: str = ""


def _passes() -> tuple[Stage, ...]:
    return tuple(
        Stage(
            f"passes.{function.__name__}",
            "pass " + function.__name__.replace("_", " "),
            (function.__doc__ or "").split("\n")[0],
            "diff",
            function.__module__.partition(".")[2].replace(".", "/") + ".py",
        )
        for function in PIPELINE
    )


STAGES = (
    Stage("capture.source", "source", "The function, as you wrote it.", "python"),
    Stage(
        "capture.bytecode",
        "bytecode",
        "What Python would run, instruction by instruction, and what the symbolic machine made "
        "of each: values without numbers, graph nodes (%), guards.",
        "bytecode",
        "jit/capture/interpreter.py",
    ),
    Stage(
        "capture.break",
        "graph break",
        "Capture cannot follow here: the graph so far is compiled, the rest as it says below.",
        "alert",
    ),
    Stage(
        "capture.recompile",
        "recompilation",
        "A guard of the compiled code did not hold any more, so the function is compiled again.",
        "alert",
    ),
    Stage(
        "capture.limit",
        "too many recompilations",
        "The function was compiled so often that further calls run as Python: each reason, and "
        "what would help.",
        "alert",
        "jit/recompiles.py",
    ),
    Stage(
        "capture.guards",
        "guards",
        "What must be the same again before the compiled code may be used again.",
        "python",
        "jit/guards.py",
    ),
    Stage(
        "capture.graph",
        "captured graph",
        "The tensor operations the function called, one a line: value, type, call.",
        "graph",
    ),
    Stage(
        "autodiff.functional",
        "functional graph",
        "The same in primitive operations, and those that have a derivative of their own, as "
        "softmax; writes in place became new values.",
        "graph",
        "jit/autodiff/functionalize.py",
    ),
    Stage(
        "autodiff.joint",
        "joint graph",
        "Forward and backward as one graph: inputs and output gradients in (%tangent0 "
        "belongs to the first output), outputs and input gradients out.",
        "graph",
        "jit/autodiff/joint.py",
    ),
    *_passes(),
    Stage(
        "passes.ledger",
        "changes of numbers",
        "What numerics='fast' allowed: each of these can show in the last bits of a result.",
        "text",
        "jit/passes/notes.py",
    ),
    Stage(
        "passes.optimized",
        "optimized graph",
        "What the passes left.",
        "graph",
    ),
    Stage(
        "autodiff.partition",
        "forward and backward",
        "What the backward reads: saved by the forward or computed again. A joint graph is cut in "
        "two, a whole training step stays one.",
        "partition",
        "jit/autodiff/partition.py",
    ),
    Stage(
        "autodiff.refused",
        "not compiled",
        "A later stage could not carry this graph out; it runs operation by operation.",
        "alert",
    ),
    Stage(
        "loops.lowered",
        "loops",
        "Every operation as loops over single elements.",
        "loops",
        "kernels/lower/lowering.py",
    ),
    Stage(
        "loops.fused",
        "fused loops",
        "Loops merged so that values stay in registers, and why others could not be.",
        "loops",
        "kernels/schedule/fusion.py",
    ),
    Stage(
        "kernel.source",
        "kernels",
        "The loops as Python source that is compiled to machine code, each line with the user "
        "lines it works for.",
        "kernel",
        "kernels/codegen/source.py",
    ),
    Stage(
        "kernel.llvm",
        "LLVM",
        "Each kernel after LLVM's passes, with the user lines; vector loops have a bar.",
        "native",
        "kernels/runtime/native_text.py",
    ),
    Stage(
        "kernel.asm",
        "machine code",
        "Each kernel as this computer runs it, with the user lines; vector loops have a bar.",
        "native",
        "kernels/runtime/native_text.py",
    ),
    Stage(
        "kernel.cost",
        "costs",
        "What one launch must move between memory and registers at least, and compute.",
        "costs",
        "kernels/schedule/cost.py",
    ),
    Stage(
        "memory.planned",
        "memory",
        "From which step to which each value has memory of its own, and whose memory it takes.",
        "memory",
        "kernels/schedule/lifetimes.py",
    ),
    Stage(
        "cuda.schedule",
        "loops for a GPU",
        "The fused loops dealt to blocks, warps and threads; a vector is read in one access.",
        "loops",
        "kernels/schedule/gpu.py",
    ),
    Stage(
        "cuda.source",
        "kernels for a GPU",
        "What one thread does, as Python source that numba-cuda compiles.",
        "kernel",
        "kernels/codegen/cuda.py",
    ),
    Stage(
        "cuda.ptx",
        "PTX",
        "NVIDIA's assembly language, with what ptxas makes of each kernel.",
        "text",
        "kernels/runtime/cuda.py",
    ),
    Stage(
        "runtime.inputs",
        "inputs",
        "The graph as it was first called; its facts hold copies of the inputs.",
        "graph",
        "minitorch2/compiling.py",
    ),
    Stage(
        "runtime.launches",
        "launches",
        "All launches of each kernel: bytes and flops as predicted, milliseconds as measured. The "
        "first launch, which wakes the threads, is no part of GB/s if there are others.",
        "launches",
        "kernels/meter.py",
    ),
    Stage(
        "runtime.totals",
        "totals",
        "What all this came to: graphs compiled, the captured "
        "operations in them, kernels made, calls.",
        "table",
    ),
)
_BY_NAME = {stage.name: stage for stage in STAGES}
_ORDER = {stage.name: number for number, stage in enumerate(STAGES)}


def stage_named(name: str) -> Stage:
    """The row of an event's stage; a plain one for a stage the table does not know."""
    return _BY_NAME.get(name) or Stage(name, name.replace(".", ": ").replace("_", " "), "", "text")


def order(name: str) -> int:
    """The stage's place in the table; unknown ones come last."""
    return _ORDER.get(name, len(_ORDER))


def matches(query: str, name: str) -> bool:
    """Whether what a user typed names a stage: whole, by a part, a word or a beginning."""
    query = query.lower()
    first, _, last = name.partition(".")
    if query in (name, first, last, first.rstrip("s"), first + "s", last + "s"):
        return True
    return name.startswith(query) or last.startswith(query) or query in last.split("_")


def matching(query: str) -> tuple[Stage, ...]:
    """The stages a query names, in order."""
    return tuple(stage for stage in STAGES if matches(query, stage.name))


def nearest(query: str) -> list[str]:
    """What could be typed instead of a query that names no stage."""
    words: dict[str, str] = {}
    for stage in STAGES:
        first, _, last = stage.name.partition(".")
        words |= {stage.name: stage.name, last: stage.name, first: first}
    found = difflib.get_close_matches(query.lower(), words, 3)
    return list(dict.fromkeys(words[word] for word in found))
