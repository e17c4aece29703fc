"""Runs a case on every backend and says what differs.

In: a Case. Out: what is wrong with a backend, or nothing. Eager is the judge of shapes, dtypes,
strides, writes into inputs and of which inputs get a gradient. Numbers may differ by rounding: by a
multiple of what eager itself differs from float64, and of what it changes by when the inputs change
in their last bits (a floor or a comparison may fall on the other side).
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff.pipeline import compile_captured
from minitorch2.jit.autodiff.runtime import GraphFailed
from minitorch2.jit.ir.graph import Graph, GraphBuilder, Value, map_values
from minitorch2.jit.ir.interpreter import interpret, run_captured
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.options import PassOptions
from minitorch2.kernels.backend import KernelOptions, compile_graph
from tests.graphs.making import Case, tensors

Run = Callable[[list[Any]], list[Any]]
NARROW = {dtypes.float32: dtypes.float64}
SHAKES = 3


class Refused(Exception):
    """Eager refuses the case, so there is nothing to compare."""


@dataclass(frozen=True)
class Result:
    """Outputs, inputs afterwards and gradients, as arrays; what else must be the same as text."""

    arrays: tuple[numpy.ndarray | None, ...]
    facts: str


def compiled(case: Case, backend: str) -> Run:
    """The case's graph under a backend."""
    if backend == "eager":
        return functools.partial(run_captured, case.graph)

    def interpreted(graph: Graph, unit: str) -> Run:
        return functools.partial(interpret, graph)

    def kernels(graph: Graph, unit: str) -> Run:
        exact = backend == "exact"
        executor = "numba" if exact else backend
        return compile_graph(graph, KernelOptions(executor=executor, exact=exact))

    plain = backend in ("aot_eager", "interpreter")
    options = PassOptions(run=backend != "aot_eager")
    if backend == "budget":
        plain, options = True, PassOptions(memory_budget=0.3)
    executor = interpreted if plain else kernels
    return compile_captured(case.graph, case.flags, executor, "", options)


def result(case: Case, run: Run, given: Sequence[Any] | None = None) -> Result:
    """Run forward and backward."""
    leaves = list(given) if given is not None else tensors(case)
    for leaf, flag in zip(leaves, case.flags, strict=True):
        leaf.requires_grad_(flag and leaf.dtype.is_floating_point)
    inputs = [leaf.clone() for leaf in leaves]  # no leaves, so that they may be written
    with numpy.errstate(all="ignore"):
        found = run(inputs)
        live = [out for out in found if out.requires_grad]
        if live:
            sum(_weighted(out) for out in live).backward()
    arrays = [t.detach().numpy() for t in (*found, *inputs)]
    arrays += [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    facts = [f"{t.dtype} {tuple(t.shape)} {t.requires_grad}" for t in found]
    facts += [f"grad {leaf.grad is not None}" for leaf in leaves]
    return Result(tuple(arrays), "; ".join(facts))


def _weighted(out: Any) -> Any:
    """A number that every element has its own part in."""
    count = out.numel()
    weights = torch.linspace(0.5, 1.5, count, dtype=out.dtype) if count else torch.zeros(0)
    return (out * weights.reshape(out.shape)).sum().double()


@dataclass(frozen=True)
class Verdict:
    """For each backend that is wrong what is, and for each that compiles no such graph its words
    (`compile` then runs the function op by op)."""

    wrong: dict[str, str]
    refused: dict[str, str]


def differences(case: Case, backends: Sequence[str]) -> dict[str, str]:
    """For each backend that is wrong, what is. Raises Refused where eager refuses the case."""
    return judged(case, backends).wrong


def judged(case: Case, backends: Sequence[str]) -> Verdict:
    """What the backends make of a case. What one of them compiles, all must compile. Raises
    Refused where eager refuses the case."""
    try:
        eager = result(case, compiled(case, "eager"))
        bounds = _bounds(case, eager)
    except Mt2Error as error:
        raise Refused(str(error)) from error
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Refused(repr(error)) from error
    except Exception as error:  # not one of ours: a finding too
        return Verdict({"eager": f"raises {type(error).__name__}: {error}"}, {})
    wrong, refused = {}, {}
    for backend in backends:
        try:
            run = compiled(case, backend)
        except Mt2Error as error:
            refused[backend] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            continue
        except Exception as error:
            wrong[backend] = f"compiling raises {type(error).__name__}: {error}"
            continue
        text = _difference(case, backend, run, eager, bounds)
        if text:
            wrong[backend] = text
    for backend, reason in refused.items() if len(refused) < len(backends) else ():
        wrong[backend] = f"refuses what other backends compile: {reason}"
    return Verdict(wrong, refused)


def _difference(case: Case, backend: str, run: Run, eager: Result, bounds: list[Any]) -> str:
    """How a run differs from eager's; nothing where it does not."""
    try:
        exact = backend == "exact"  # the bits of eager
        return _compare(eager, result(case, run), [0.0] * len(bounds) if exact else bounds)
    except GraphFailed as failed:
        return f"fails where eager does not: {failed}"
    except Exception as error:  # any is a finding
        return f"raises {type(error).__name__}: {error}"


def _bounds(case: Case, eager: Result) -> list[Any]:
    """How far each number may be from eager's."""
    others = [result(case, functools.partial(run_captured, case.graph), shaken(case, number))
              for number in range(SHAKES)]  # fmt: skip
    try:
        wide = wider(case)
        others.append(result(wide, compiled(wide, "eager")))
    except Exception:  # some dtype arguments have no wider form
        pass
    bounds: list[Any] = []
    for place, array in enumerate(eager.arrays):
        if array is None:
            bounds.append(None)
            continue
        spread = numpy.zeros(array.shape)
        own = array.astype(numpy.float64) if array.dtype.kind != "c" else numpy.abs(array)
        for other in others:
            there = other.arrays[place]
            if there is not None and there.shape == array.shape:
                with numpy.errstate(invalid="ignore"):
                    gap = numpy.abs(there.astype(numpy.float64) - own)
                spread = numpy.maximum(spread, numpy.where(numpy.isfinite(gap), gap, numpy.inf))
        finite = own[numpy.isfinite(own)]
        scale = float(numpy.abs(finite).max()) if finite.size else 0.0
        epsilon = numpy.finfo(array.dtype).eps if array.dtype.kind == "f" else 0.0
        bounds.append(30 * spread.max(initial=0.0) + 60 * epsilon * (scale + 1e-3))
    return bounds


def shaken(case: Case, number: int) -> list[Any]:
    """Inputs changed in their last bits."""
    draw = numpy.random.RandomState(number)
    changed = []
    for array in case.arrays:
        if array.dtype.kind == "f":
            step = numpy.finfo(array.dtype).eps * draw.uniform(-4, 4, array.shape)
            array = (array * (1 + step)).astype(array.dtype)
        changed.append(torch.from_numpy(numpy.array(array)))
    return changed


def _compare(eager: Result, other: Result, bounds: list[Any]) -> str:
    if eager.facts != other.facts:
        return f"eager gives {eager.facts}; this {other.facts}"
    for place, (one, two, bound) in enumerate(zip(eager.arrays, other.arrays, bounds, strict=True)):
        if one is None or two is None:
            continue
        if one.shape != two.shape or one.dtype != two.dtype:
            return f"array {place} is {two.dtype}{two.shape}, not {one.dtype}{one.shape}"
        a, b = one.astype(numpy.float64), two.astype(numpy.float64)
        with numpy.errstate(invalid="ignore"):
            wrong = ~((a == b) | (numpy.isnan(a) & numpy.isnan(b)) | (numpy.abs(a - b) <= bound))
        if wrong.any() and not numpy.isinf(bound):
            at = tuple(int(i) for i in numpy.argwhere(wrong)[0])
            return f"array {place} at {at}: {b[at]!r}, not {a[at]!r} (within {bound:.3g})"
    return ""


def wider(case: Case) -> Case:
    """The same case in float64."""
    builder = GraphBuilder(case.graph.name)
    names: dict[Value, Any] = {}
    for declared in case.graph.inputs:
        type = declared.value.type
        assert isinstance(type, TensorType)
        wide = replace(type, dtype=NARROW.get(type.dtype, type.dtype))
        names[declared.value] = builder.input(declared.name, wide)
    for node in case.graph.nodes:
        args = tuple(map_values(_wide(item), names.__getitem__) for item in node.args)
        results = builder.add(node.op, args, node.origin, node.grad)
        names.update(zip(node.results, results, strict=True))
    for output in case.graph.outputs:
        builder.output(map_values(output.argument, names.__getitem__))
    arrays = tuple(a.astype(numpy.float64) if a.dtype == numpy.float32 else a for a in case.arrays)
    return Case(case.seed, builder.build(), arrays, case.flags)


def _wide(argument: Any) -> Any:
    if isinstance(argument, dtype):
        return NARROW.get(argument, argument)
    if isinstance(argument, tuple):
        return tuple(map(_wide, argument))
    return argument
