"""Says whether the results of a case on its backends are right.

In: a Case and names of backends. Out: what is wrong with a backend, or nothing. Eager is the judge
of shapes, dtypes, strides, writes into inputs and of which inputs get a gradient. A number may
differ by rounding: by a multiple of the last bit of the largest number beside it, of what eager
itself differs from float64, of what eager changes by when the inputs change in their last bits (a
floor or a comparison may fall on the other side), and of what it changes by when its steps are
rounded the other way (cli/rounding.py): that is each rounding error's effect to first order, and
GAPS stands for sums, which round as often as they add; and of what single outputs give a gradient,
which may be summed up apart. Each costs several runs, so that it is measured only where a number is
outside of the ones before.

A nan may have any bits, also where a view shows them as an integer or as a part of a number: a
graph that computes with such bits is not judged by its numbers.

The backend "exact" must give eager's bits, see _exact. One of the things that are outside of that
promise (jit/passes/options.py) is met here, and nothing else is let pass: in graphs with writes the
gradient of a value that is overwritten is left out. Eager adds 0 times a slope for it: nan where
the slope is infinite, on every backend, and a zero of another sign.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.cli.rounding import RoundedSteps
from minitorch2.dispatch import Mode, below_modes
from minitorch2.dtypes import dtype
from minitorch2.errors import Mt2Error
from minitorch2.jit.autodiff.runtime import GraphFailed
from minitorch2.jit.ir.graph import GraphBuilder, Value, map_values
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.ir.verify import is_functional
from minitorch2.ops.table import COMPOSITE, VIEW
from minitorch2.tensors import Tensor
from tests.graphs.making import Case
from tests.graphs.running import Programs, Result, Run, compiled, result

NARROW = {dtypes.float32: dtypes.float64}
OF_BITS = frozenset({"view_dtype", "nextafter"})
SHAKES = 6
GAPS, BITS = 30.0, 60.0


class Refused(Exception):
    """Eager refuses the case, so there is nothing to compare."""


@dataclass(frozen=True)
class Verdict:
    """For each backend that is wrong what is, for each that compiles no such graph its words
    (`compile` then runs the function op by op), how eager itself does against float64, and the rows
    whose derivatives took part."""

    wrong: dict[str, str]
    refused: dict[str, str]
    eager: str = "not judged"
    derivatives: frozenset[str] = frozenset()


def differences(case: Case, backends: Sequence[str]) -> dict[str, str]:
    """For each backend that is wrong, what is. Raises Refused where eager refuses the case."""
    return judged(case, backends).wrong


def judged(case: Case, backends: Sequence[str]) -> Verdict:
    """What the backends make of a case. What one of them compiles, all must compile. Raises
    Refused where eager refuses the case."""
    programs = Programs(case)
    try:
        eager = eager_result(case, programs.run("eager"))
    except Refused:
        raise
    except Exception as error:  # not one of ours: a finding too
        return Verdict({"eager": f"raises {type(error).__name__}: {error}"}, {})
    bounds = Bounds(case, eager)
    wrong, refused = {}, {}
    for backend in backends:
        try:
            run = programs.run(backend)
        except Mt2Error as error:
            refused[backend] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
            continue
        except Exception as error:
            wrong[backend] = f"compiling raises {type(error).__name__}: {error}"
            continue
        text = difference(case, backend, run, bounds)
        if text:
            wrong[backend] = text
    for backend, reason in refused.items() if len(refused) < len(backends) else ():
        wrong[backend] = f"refuses what other backends compile: {reason}"
    return Verdict(wrong, refused, bounds.of_eager(), programs.derivatives())


def eager_result(case: Case, run: Run) -> Result:
    """What eager gives. Raises Refused where it refuses the case; what else is raised is wrong."""
    try:
        return result(case, run)
    except Mt2Error as error:
        raise Refused(str(error)) from error
    except (ZeroDivisionError, OverflowError, ValueError, TypeError) as error:
        raise Refused(repr(error)) from error


def eager_of(case: Case) -> Run:
    """A case under eager."""
    return compiled(case, "eager")


class _NansShown(Mode):
    """Notes whether something is computed with a nan that is shown as elements of another dtype."""

    def __init__(self) -> None:
        self.found = False
        self.shown: list[Any] = []  # storages, held so that no id comes twice

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out the operation, and look at what it shows or computes with."""
        given = [each for each in args if isinstance(each, Tensor)]
        seen = any(each.storage is known for each in given for known in self.shown)
        self.found |= seen and op.kind not in (VIEW, COMPOSITE) and op.name != "clone"
        if op.name == "view_dtype" and args[0].array.dtype.kind == "f":
            seen |= bool(numpy.isnan(args[0].array).any())
        with self:
            found = below_modes(op, args)
        if seen:
            results = found if isinstance(found, tuple) else (found,)
            self.shown += [each.storage for each in results if isinstance(each, Tensor)]
        return found


class Bounds:
    """How far each number may be from eager's. `run_of` gives eager's run of a case."""

    def __init__(self, case: Case, eager: Result, run_of: Callable[[Case], Run] = eager_of):
        self.case, self.eager, self.run_of = case, eager, run_of
        self.overwrites = not is_functional(case.graph)
        self.shows_bits = any(node.op == "view_dtype" for node in case.graph.nodes)
        self.wide = _wide_result(case, run_of)
        self.close = [_close(array) for array in eager.arrays]
        self.loose: list[list[Any]] = []  # once they are needed

    def differs(self, other: Result) -> str:
        """How another result differs; nothing where rounding explains all of it."""
        text = self.compare(other, self.close)
        for place, measure in enumerate((self._of_inputs, self._of_steps, self._of_outputs)):
            if text and len(self.loose) == place:
                self.loose.append(measure())
            text = text and self.compare(other, self.loose[place])
        return "" if text and self._computes_with_nans() else text

    def _computes_with_nans(self) -> bool:
        """Whether something is computed with the bits of a nan, which may be any."""
        if not self.shows_bits:
            return False
        watched = _NansShown()
        result(self.case, self.run_of(self.case), mode=watched)
        return watched.found

    def compare_bits(self, other: Result, count: int) -> str:
        """The first difference in the bits of the first `count` arrays."""
        text = self.compare(other, None, count)
        return "" if text and self._computes_with_nans() else text

    def compare(
        self,
        other: Result,
        bounds: list[Any] | None,
        count: int | None = None,
        eager: Result | None = None,
    ) -> str:
        """The first difference, in the first `count` arrays; without bounds the bits must be the
        same, but for those of a nan. `eager` is another eager result than that of the case."""
        eager = self.eager if eager is None else eager
        if eager.facts != other.facts:
            return f"eager gives {eager.facts}; this {other.facts}"
        given = bounds if bounds is not None else [0.0] * len(eager.arrays)
        columns = list(zip(eager.arrays, other.arrays, given, strict=True))[:count]
        for place, (one, two, bound) in enumerate(columns):
            if one is None or two is None:
                continue
            if one.shape != two.shape or one.dtype != two.dtype:
                return f"array {place} is {two.dtype}{two.shape}, not {one.dtype}{one.shape}"
            if one.tobytes() == two.tobytes():
                continue
            a, b = _wide_array(one), _wide_array(two)
            with numpy.errstate(all="ignore"):
                right = (a == b) | (numpy.isnan(a) & numpy.isnan(b)) | (numpy.abs(a - b) <= bound)
                wrong = ~(right | numpy.isinf(bound))
            if self.overwrites and place >= eager.first_gradient:
                wrong &= ~numpy.isnan(a)
            if bounds is None:
                signs = (numpy.signbit(a) != numpy.signbit(b)) & ~numpy.isnan(a)
                left_out = self.overwrites and place >= eager.first_gradient
                wrong |= signs & (a != 0) if left_out else signs
            if self.shows_bits and wrong.any():
                wrong &= ~_same_but_for_nans(one, two)
            if wrong.any():
                at = tuple(int(i) for i in numpy.argwhere(wrong)[0])
                within = float(numpy.broadcast_to(bound, wrong.shape)[at])
                return f"array {place} at {at}: {b[at]!r}, not {a[at]!r} (within {within:.3g})"
        return ""

    def of_eager(self) -> str:
        """How eager does against float64, by the bounds that hold for the others."""
        if self.wide is None:
            return "not judged"
        narrowed = _narrowed(self.wide, self.eager)
        if not self.compare(narrowed, self.close):
            return "within rounding of float64"
        shaken = _shaken_results(self.case, self.run_of)
        if not self.compare(narrowed, self._spreads(shaken)):
            return "as far from float64 as its inputs' last bits reach"
        steps = _rounded_results(self.case, self.run_of)
        if not self.compare(narrowed, self._spreads([*shaken, *steps])):
            return "as far from float64 as the last bits of its steps reach"
        return "beyond float64"

    def _of_inputs(self) -> list[Any]:
        others = _shaken_results(self.case, self.run_of)
        return self._spreads([*others, self.wide] if self.wide is not None else others)

    def _of_steps(self) -> list[Any]:
        steps = self._spreads(_rounded_results(self.case, self.run_of))
        return [
            None if one is None else numpy.maximum(one, two)
            for one, two in zip(steps, self.loose[0], strict=True)
        ]

    def _of_outputs(self) -> list[Any]:
        """With what each output alone adds to a gradient: of results that share memory, and of
        inputs that are results too, those are summed up apart."""
        run, bounds = self.run_of(self.case), list(self.loose[1])
        for only in range(len(self.case.graph.outputs)):
            part = result(self.case, run, only=only)
            for place in range(self.eager.first_gradient, len(bounds)):
                grown = _close(part.arrays[place])
                if bounds[place] is not None and grown is not None:
                    bounds[place] = bounds[place] + grown
        return bounds

    def _spreads(self, others: Sequence[Result]) -> list[Any]:
        """Bounds with what eager differs from other results of its own; infinite where those are
        no numbers."""
        bounds: list[Any] = []
        for place, (array, close) in enumerate(zip(self.eager.arrays, self.close, strict=True)):
            if array is None:
                bounds.append(None)
                continue
            spread = numpy.zeros(array.shape)
            for other in others:
                there = other.arrays[place]
                if there is not None and there.shape == array.shape:
                    with numpy.errstate(all="ignore"):
                        gap = numpy.abs(_wide_array(there) - _wide_array(array))
                    same = (there == array) | (numpy.isnan(there) & numpy.isnan(array))
                    gap = numpy.where(same, 0.0, numpy.where(numpy.isnan(gap), numpy.inf, gap))
                    spread = numpy.maximum(spread, gap)
            largest = spread[numpy.isfinite(spread)].max(initial=0.0)
            bounds.append(numpy.where(numpy.isfinite(spread), GAPS * largest + close, numpy.inf))
        return bounds


def _close(array: numpy.ndarray | None) -> Any:
    """What the last bits of an array's numbers allow."""
    if array is None:
        return None
    finite = numpy.abs(_wide_array(array[numpy.isfinite(array)]))
    epsilon = numpy.finfo(array.dtype).eps if array.dtype.kind == "f" else 0.0
    return BITS * epsilon * (finite.max(initial=0.0) + 1e-3)


def _same_but_for_nans(one: numpy.ndarray, two: numpy.ndarray) -> numpy.ndarray:
    """Which elements have the same bits as floats of some size, but for those of a nan: no rule
    says which these are, and a view may show them as an integer, or two floats as one."""
    found = numpy.zeros(one.shape, bool)
    for size in (2, 4, 8):
        if one.itemsize % size == 0:
            a, b = (_parts(each, f"f{size}") for each in (one, two))
            same = _parts(one, f"u{size}") == _parts(two, f"u{size}")
            found |= (same | (numpy.isnan(a) & numpy.isnan(b))).all(-1)
    return found


def _parts(array: numpy.ndarray, kind: str) -> numpy.ndarray:
    """Each element as numbers of another kind, along a new last dimension."""
    whole = numpy.ascontiguousarray(array).reshape(*array.shape, 1)
    return whole.view(kind)


def _wide_array(array: numpy.ndarray) -> numpy.ndarray:
    return array.astype(numpy.float64)


def difference(case: Case, backend: str, run: Run, bounds: Bounds) -> str:
    """How a run differs from eager's; nothing where it does not."""
    try:
        found = result(case, run)
        exact = _exact(run, bounds.eager) if backend == "exact" else 0
        return (bounds.compare_bits(found, exact) if exact else "") or bounds.differs(found)
    except GraphFailed as failed:
        return f"fails where eager does not: {failed}"
    except Exception as error:  # any is a finding
        return f"raises {type(error).__name__}: {error}"


def _exact(run: Any, eager: Result) -> int:
    """How many arrays must have eager's bits: all, unless some result shares memory with an input
    or another result; their gradients then meet outside of the program."""
    plans = run.functional.outputs
    own = [plan.index for plan in plans if plan.index is not None]
    apart = len(set(own)) == len(own) and all(p.alias is None and not p.steps for p in plans)
    return len(eager.arrays) if apart else eager.first_gradient


def _shaken_results(case: Case, run_of: Callable[[Case], Run]) -> list[Result]:
    """Eager on inputs changed in their last bits."""
    run = run_of(case)
    return [result(case, run, shaken(case, number)) for number in range(SHAKES)]


def _rounded_results(case: Case, run_of: Callable[[Case], Run]) -> list[Result]:
    """Eager with its steps rounded the other way."""
    run = run_of(case)
    return [result(case, run, mode=RoundedSteps(number)) for number in range(SHAKES)]


def _wide_result(case: Case, run_of: Callable[[Case], Run]) -> Result | None:
    """Eager in float64; None where some dtype argument has no wider form, or an operation is one
    of the bits, which are others in float64."""
    if any(node.op in OF_BITS for node in case.graph.nodes):
        return None
    try:
        wide = wider(case)
        return result(wide, run_of(wide))
    except Exception:  # whatever it is, the case itself runs
        return None


def _narrowed(wide: Result, eager: Result) -> Result:
    """A result in the dtypes of another one; where the shapes differ it is the other's."""
    arrays = [
        own if one is None or own is None or one.shape != own.shape else _as(one, own.dtype)
        for one, own in zip(wide.arrays, eager.arrays, strict=True)
    ]
    return Result(tuple(arrays), eager.facts, eager.first_gradient)


def _as(array: numpy.ndarray, kind: Any) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        return array.astype(kind)


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
