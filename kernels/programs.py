"""Programs on disk: what a captured graph was compiled to, kept for the next process.

In: a captured graph, which inputs require gradients, the options as text, and `build`, which
compiles. Out: a CompiledProgram, built or loaded. What is loaded skips every stage after capture,
and imports none of them:

    program = program_for(captured, flags, "options", build, record)

The key holds everything that `build` depends on: the graph's text (layouts, sizes, conditions),
the flags and options, the default dtype, the settings, versions, CPU, and the files of minitorch2
itself. The user's lines are no part of it; the record names nodes instead, as
jit/autodiff/records.py says. While somebody listens to the stages, or MT2_CHECK=1, everything is
built. A damaged entry is built anew, as is one that names what is no longer there.

Source: PyTorch's FX graph cache and AOTAutograd cache.
"""

import base64
import hashlib
import marshal
import os
import platform
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import llvmlite
import ml_dtypes
import numpy

import minitorch2
from minitorch2 import dtypes, jit, kernels
from minitorch2.artifacts import listening
from minitorch2.config import config
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff.records import (
    NotRecorded,
    Record,
    Spans,
    argument_record,
    loaded_program,
    node_from,
    node_spans,
    numbered,
    origin_from,
    program_record,
)
from minitorch2.jit.autodiff.runtime import CompiledProgram, HostFunction
from minitorch2.jit.ir.graph import Graph
from minitorch2.kernels import host
from minitorch2.kernels.runtime import cache as disk
from minitorch2.kernels.runtime import chains
from minitorch2.kernels.runtime.compile import CompiledKernel, compile_kernel
from minitorch2.kernels.runtime.machine import cache_bytes, cpu
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.ops.table import Op, lookup
from minitorch2.phases import phase

Build = Callable[[Graph], CompiledProgram]
DAMAGED = (LookupError, TypeError, ValueError, AttributeError, EOFError, Mt2Error)


def program_for(
    captured: Graph, flags: Sequence[bool], options: str, build: Build,
    record_part: Callable[[Any], Record], executor: Callable[[Graph], Any] | None = None,
) -> CompiledProgram:  # fmt: skip
    """The program of a captured graph, from the disk where it is there, else by `build`.

    `record_part` makes the record of a compiled graph; only what is built needs it. `executor`
    compiles a graph that a loaded program turns out to need.
    """
    if listening() or config.check or config.cuda:
        return build(captured)
    key = program_key(captured, flags, options)
    if key is None:
        return build(captured)
    with phase("disk"):
        found = _load(key, captured, executor)
    if found is not None:
        return found
    program = build(numbered(captured))
    with phase("disk"):
        return _kept(key, program, record_part)


def _kept(
    key: str, program: CompiledProgram, record_part: Callable[[Any], Record]
) -> CompiledProgram:
    """The program, which is on disk from now on if it can be."""
    try:
        parts = [program.forward, *([program.backward] if program.backward is not None else [])]
        record = program_record(program) | {"parts": [record_part(part) for part in parts]}
    except NotRecorded:
        return program
    disk.store_program(key, record)
    return program


def _load(
    key: str, captured: Graph, executor: Callable[[Graph], Any] | None
) -> CompiledProgram | None:
    record = disk.load_program(key)
    if record is None:
        return None
    spans = node_spans(captured)
    try:
        forward, *backward = [LoadedGraph(part, spans) for part in record["parts"]]
        half = backward[0] if backward else None
        return loaded_program(record, forward, half, spans, executor)
    except DAMAGED:
        disk.forget(key)
        return None


class LoadedGraph(HostFunction):
    """A compiled graph from the disk: calling it runs the host function."""

    __slots__ = ("record",)

    def __init__(self, record: Record, spans: Spans):
        self.record = record
        names = host.host_names()
        for name, kernel in record["kernels"].items():
            names[name] = _kernel_run(kernel, spans)
        for name, short in record["products"].items():
            names[name] = host.product_of(short)
        for name, (whole, members) in record["chains"].items():
            names[name] = host.chain_of([_member(*each) for each in members], whole)
        for name, node in record["eager"].items():
            names[name] = host.eager_step(node_from(node, spans))
        exec(marshal.loads(base64.b64decode(record["code"])), names)
        super().__init__(names[record["run"]], record["plain"])

    @property
    def kernel_count(self) -> int:
        """How many kernels it launches."""
        inside = [member for _, members in self.record["chains"].values() for member, *_ in members]
        return len(self.record["kernels"]) + sum(not isinstance(each, str) for each in inside)


def _kernel(record: Record) -> CompiledKernel:
    arrays, sizes, scalars, noalias, grain = record["signature"]
    signature = KernelSignature(tuple(arrays), sizes, tuple(scalars), noalias, grain)
    return compile_kernel(record["text"], signature, key=record["key"])


def _member(record: Record | str, places: list[int], in_sums: bool) -> chains.Member:
    """A member of a chain: a kernel, or the dtype of a product."""
    if isinstance(record, str):
        return host.product_member(record, places, in_sums)
    kernel = _kernel(record)
    return chains.Launch(kernel.direct(), kernel, tuple(places))


def _kernel_run(record: Record, spans: Spans) -> host.Run:
    kernel = _kernel(record)
    run: Any = kernel.direct()
    failures = [host.Failure(text, origin_from(o, spans)) for text, o in record["failures"]]
    return host.guarded(run, failures) if failures else run


# The key.


def program_key(captured: Graph, flags: Sequence[bool], options: str) -> str | None:
    """The name of a program on disk; None for a graph whose text does not say all of it."""
    try:
        for node in captured.nodes:
            argument_record(node.args)
            if not _is_own(lookup(node.op)):
                return None
        for output in captured.outputs:
            argument_record(output.argument)
    except NotRecorded:
        return None
    flags_text = "".join("01"[bool(flag)] for flag in flags)
    parts = (str(captured), flags_text, options, repr(dtypes.get_default_dtype()),
             config.primitives, config.kernel_frontend, str(config.kernel_level),
             environment())  # fmt: skip
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@cache
def _is_own(op: Op) -> bool:
    """Whether a row is one of ours, whose meaning `environment` covers."""
    rules = (op.eager, op.infer, op.view, op.vjp, op.decomp)
    modules = [getattr(rule, "__module__", None) or "numpy" for rule in rules if rule is not None]
    return all(module.split(".")[0] in ("minitorch2", "numpy") for module in modules)


def _sources(folder: str, below: str = "") -> list[str]:
    """Each source file below a folder: its name, size and time of change, as Python's own cache of
    bytecode tells that a file is another one. Reading them all takes longer than a program does.
    """
    files, folders = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                found = entry.stat()
                files.append(f"{below}{entry.name} {found.st_size} {found.st_mtime_ns}")
            elif "." not in entry.name and entry.is_dir(follow_symlinks=False):
                if entry.name != "__pycache__":
                    folders.append((entry.path, f"{below}{entry.name}/"))
    for inner in folders:
        files += _sources(*inner)
    return files


@cache
def environment() -> str:
    """What programs depend on beside their graph: versions, the CPU, our own source."""
    digest = hashlib.sha256()
    for room in (minitorch2, jit, kernels):
        found = sorted(_sources(os.path.dirname(str(room.__file__))))
        digest.update("\n".join(found).encode())
    modules = (numpy, ml_dtypes, llvmlite)
    versions = [f"{module.__name__}={module.__version__}" for module in modules]
    machine = "/".join(map(str, (*cpu(), cache_bytes())))
    return f"{platform.python_version()} {' '.join(versions)} {digest.hexdigest()} {machine}"
