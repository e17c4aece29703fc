"""A compiled graph as plain data: host source, kernel sources, and what its other steps do.

In: a Compiled of backend.py, made from a graph with numbered spans. Out: a record as JSON has it,
from which programs.py makes a function that runs as the first one does, without any of the stages
that led here. Raises NotRecorded for a step without a plain form.

    record = part_record(compiled)

Source: the writer's half of the disk cache of programs.
"""

from __future__ import annotations

import base64
import marshal
from typing import TYPE_CHECKING

from minitorch2.artifacts import Origin
from minitorch2.jit.autodiff.records import Record, node_record, origin_record
from minitorch2.kernels.codegen.host import host_code, identifier
from minitorch2.kernels.codegen.source import KernelSource
from minitorch2.kernels.host import Failure
from minitorch2.kernels.loop_ir import Check, Kernel, Loop, Reduce, Require, Statement
from minitorch2.kernels.lower.nests import tensor_type
from minitorch2.kernels.runtime.compile import kernel_key
from minitorch2.kernels.schedule.plan import ChainStep, KernelStep, ProductStep

if TYPE_CHECKING:
    from minitorch2.kernels.backend import Compiled


def part_record(compiled: Compiled) -> Record:
    """The record of a compiled graph."""
    plan, sources = compiled.plan, iter(compiled.sources.kernels)
    graph, host = compiled.graph.name, compiled.sources.host
    record: Record = {
        "name": graph,
        "run": identifier("run", graph),
        "host": host,
        "code": base64.b64encode(marshal.dumps(host_code(host, graph))).decode(),
        "plain": compiled.plain,
        "kernels": {},
        "products": {},
        "chains": {},
        "eager": {},
    }
    for name, step in zip(plan.names(), plan.steps, strict=True):
        if isinstance(step, KernelStep):
            record["kernels"][name] = _kernel_record(step.kernel, next(sources))
        elif isinstance(step, ProductStep):
            record["products"][name] = tensor_type(step.result).dtype.short
        elif isinstance(step, ChainStep):
            members = [
                _kernel_record(each.kernel, next(sources))
                if isinstance(each, KernelStep)
                else tensor_type(each.result).dtype.short
                for each in step.members
            ]
            record["chains"][name] = [
                step.whole,
                list(zip(members, step.places, step.in_sums, strict=True)),
            ]
        else:
            record["eager"][name] = node_record(step.node)
    return record


def _kernel_record(kernel: Kernel, source: KernelSource) -> Record:
    signature = source.signature
    failures = failures_of(kernel, source.messages)
    return {
        "text": source.text,
        "key": kernel_key(source.text, signature),
        "signature": [list(signature.arrays), signature.sizes, list(signature.scalars),
                      signature.noalias, signature.grain],
        "failures": [[each.message, origin_record(each.origin)] for each in failures],
    }  # fmt: skip


def failures_of(kernel: Kernel, messages: tuple[str, ...]) -> tuple[Failure, ...]:
    """What a kernel's checks say, each with the Origin of the first one that says it."""
    return tuple(Failure(message, _origin_of(kernel.body, message)) for message in messages)


def _origin_of(body: tuple[Statement, ...], message: str) -> Origin | None:
    for statement in body:
        if isinstance(statement, Check | Require) and statement.message == message:
            return statement.origin
        if isinstance(statement, Loop | Reduce):
            found = _origin_of(statement.body, message)
            if found is not None:
                return found
    return None
