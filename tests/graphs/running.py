"""Runs a case on a backend.

In: a Case and the name of a backend. Out: outputs, inputs afterwards and gradients. What several
backends share is done once: the graph without writes and its joint graph for all of them, passes
and partition for those with the same options, and the plan of kernels for those that run it as
Python and as machine code.

    eager        the captured graph, node by node, under eager autograd
    aot_eager    forward and backward graphs without passes, node by node
    interpreter  the optimized graphs, node by node
    python       their kernels as plain Python
    numba        their kernels as machine code
    loops        their kernels as loop IR
    budget       the optimized graphs with less memory, node by node
    exact        kernels as machine code, with the bits of eager
"""

import contextlib
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2.dispatch import Mode
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff.pipeline import Traced, compile_traced, trace
from minitorch2.jit.autodiff.runtime import CompiledProgram, Executable
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.interpreter import interpret, run_captured
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.kernels.backend import Compiled, KernelOptions, compile_graph, generate
from tests.graphs.making import Case, tensors

Run = Callable[[list[Any]], list[Any]]
OPTIONS = {
    "aot_eager": PassOptions(run=False, chains=False),
    "budget": PassOptions(memory_budget=0.3),
    "exact": PassOptions(numerics="eager", chains=False),
}
KERNELS = {"exact": "numba", "numba": "numba", "python": "python", "loops": "loops"}


@dataclass(frozen=True)
class Result:
    """Outputs, inputs afterwards and gradients, as arrays; what else must be the same as text.

    The gradients are the arrays from `first_gradient` on.
    """

    arrays: tuple[numpy.ndarray | None, ...]
    facts: str
    first_gradient: int


class Programs:
    """A case under each backend. What refuses one of them raises Mt2Error."""

    def __init__(self, case: Case):
        self.case = case
        self._interpreted: dict[PassOptions, CompiledProgram] = {}
        self._plans: dict[int, Compiled] = {}

    def run(self, backend: str) -> Run:
        """The case's graph under a backend."""
        if backend == "eager":
            return functools.partial(run_captured, self.case.graph)
        program = self._program(OPTIONS.get(backend, DEFAULT))
        if backend not in KERNELS:
            return program
        make = functools.partial(self._kernels, backend)
        return CompiledProgram(
            program.functional,
            make(_graph_of(program.forward)),
            program.partition,
            None if program.backward is None else make(_graph_of(program.backward)),
            program.tangent_outputs,
            program.gradient_inputs,
            make,
        )

    def derivatives(self) -> frozenset[str]:
        """The autograd nodes that wrote the backward: one for each row."""
        try:
            joint = self._traced.joint
        except Mt2Error:
            joint = None
        nodes = joint.graph.nodes if joint is not None else ()
        made = {node.origin.made_by for node in nodes if node.origin is not None}
        return frozenset(
            each.removeprefix("vjp of ") for each in made if each.startswith("vjp of ")
        )

    @functools.cached_property
    def _traced(self) -> Traced:
        return trace(self.case.graph, self.case.flags)

    def _program(self, options: PassOptions) -> CompiledProgram:
        found = self._interpreted.get(options)
        if found is None:
            found = compile_traced(self._traced, _interpreted, "", options)
            self._interpreted[options] = found
        return found

    def _kernels(self, backend: str, graph: Graph) -> Compiled:
        exact = backend == "exact"
        options = KernelOptions(executor=KERNELS[backend], exact=exact, chain=not exact)
        if exact:
            return compile_graph(graph, options)
        found = self._plans.get(id(graph))
        if found is None:
            found = self._plans[id(graph)] = compile_graph(graph, options)
            return found
        return generate(graph, found.plan, options)


def _interpreted(graph: Graph, unit: str = "") -> Executable:
    return functools.partial(interpret, graph)


def _graph_of(executable: Any) -> Graph:
    """The graph of what `_interpreted` made."""
    return executable.args[0]


def compiled(case: Case, backend: str) -> Run:
    """The case's graph under one backend."""
    return Programs(case).run(backend)


def result(
    case: Case,
    run: Run,
    given: Sequence[Any] | None = None,
    mode: Mode | None = None,
    only: int | None = None,
) -> Result:
    """Run forward and backward, in a mode if there is one; `only` from one output."""
    leaves, inputs = live_inputs(given if given is not None else tensors(case), case.flags)
    with numpy.errstate(all="ignore"), mode or contextlib.nullcontext():
        found = run(inputs)
        chosen = found if only is None else found[only : only + 1]
        live = [out for out in chosen if out.requires_grad]
        if live:
            sum(_weighted(out) for out in live).backward()
    arrays = [t.detach().numpy() for t in (*found, *inputs)]
    first = len(arrays)
    arrays += [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    facts = [f"{t.dtype} {tuple(t.shape)} {t.requires_grad}" for t in found]
    facts += [f"grad {leaf.grad is not None}" for leaf in leaves]
    return Result(tuple(arrays), "; ".join(facts), first)


def live_inputs(given: Sequence[Any], flags: Sequence[bool]) -> tuple[list[Any], list[Any]]:
    """Leaves, and what is made of them: no leaves, so that they may be written."""
    leaves = list(given)
    for leaf, flag in zip(leaves, flags, strict=True):
        leaf.requires_grad_(flag and leaf.dtype.is_floating_point)
    return leaves, [leaf.clone() for leaf in leaves]


def _weighted(out: Any) -> Any:
    """A number that every element has its own part in."""
    count = out.numel()
    weights = torch.linspace(0.5, 1.5, count, dtype=out.dtype) if count else torch.zeros(0)
    return (out * weights.reshape(out.shape)).sum().double()
