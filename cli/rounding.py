"""Numbers of a run, and how far they may be from those in float64.

In: a graph and its inputs. Out: the same in float64, inputs changed in their last bits, steps
rounded the other way, and from what such runs give, a bound for each result.

Source: N. Higham, "Accuracy and Stability of Numerical Algorithms" (1996), running error bounds.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.dispatch import Mode, below_modes
from minitorch2.dtypes import dtype
from minitorch2.jit.ir.graph import Graph, GraphBuilder, Value, map_values
from minitorch2.jit.ir.types import TensorType
from minitorch2.ops.table import CREATION, INPLACE, PRODUCT, VIEW
from minitorch2.tensors import Tensor, wrap

SLACK = 30.0  # times what rounding explains


def tangent(value: Value) -> Tensor:
    """A gradient for a value: a few numbers that are all different."""
    assert isinstance(value.type, TensorType)
    shape = tuple(size if isinstance(size, int) else 1 for size in value.type.shape)
    count = int(numpy.prod(shape, dtype=int))
    return wrap(numpy.linspace(0.5, 1.5, count).reshape(shape).astype(value.type.dtype.numpy))


def copies(inputs: Sequence[Any]) -> list[Any]:
    """Inputs that may be written."""
    return [wrap(numpy.array(i.array)) if isinstance(i, Tensor) else i for i in inputs]


def shaken(inputs: Sequence[Any], seed: int) -> list[Any]:
    """Inputs changed in their last bits."""
    draw, changed = numpy.random.RandomState(seed), []
    for value in inputs:
        if isinstance(value, Tensor) and value.dtype in (*WIDER, *WIDER.values()):
            array = numpy.array(value.array)
            epsilon = 2.0 ** -{2: 10, 4: 23, 8: 52}[_real_size(array)]
            factor = 1 + epsilon * draw.uniform(-2, 2, array.shape)
            wide = WIDER.get(value.dtype, value.dtype).numpy
            value = wrap((array.astype(wide) * factor).astype(array.dtype))
        changed.append(value)
    return changed


class RoundedSteps(Mode):
    """Operations, those of a backward too, whose results are moved to a number beside them.

    Every element that an operation has rounded goes up or down by the unit of its last place, or
    stays. A sum rounds on its way: it moves by the last place of the sum of all magnitudes, also
    where it is 0. What is not rounded stays: numbers that an operand has (a copy, a sign, a
    maximum), also times a power of two, those that fit into half the bits (counts, comparisons,
    whole numbers), and sums of such numbers. To first order several such runs show what the
    rounding of each step comes to, whether it is 0 in eager by chance or not; to shake inputs
    cannot show it for integers.
    """

    def __init__(self, seed: int):
        self.draw = numpy.random.RandomState(seed)

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out the operation, the steps of a composite one by one, and round the other way."""
        with self:
            found = below_modes(op, args)
        if op.decomp is None and op.kind not in (VIEW, INPLACE, CREATION):
            given = [each for each in _flat(args) if not isinstance(each, str)]
            taken = {id(each.storage) for each in given if isinstance(each, Tensor)}
            for result in _flat((found,)):
                if isinstance(result, Tensor) and id(result.storage) not in taken:
                    sizes = None
                    sums = op.kind == PRODUCT or op.name in ("sum", "prod")
                    if sums and result.array.dtype.kind == "f":
                        sizes = below_modes(op, tuple(map(_magnitudes, args))).array
                    _move(result.array, given, self.draw, sizes)
        return found


def _move(
    array: numpy.ndarray,
    given: Sequence[Any],
    draw: numpy.random.RandomState,
    sizes: numpy.ndarray | None = None,
) -> None:
    """Move the rounded elements of the result of an operation on some operands; by the last place
    of `sizes`, where they are sums of those."""
    if array.dtype.kind != "f" or not array.size:
        return
    with numpy.errstate(all="ignore"):
        numbers = [i.array if isinstance(i, Tensor) else numpy.asarray(i) for i in given]
        real = [n.astype(array.dtype).ravel() for n in numbers if n.dtype.kind in "biuf"]
        known = numpy.frexp(numpy.abs(numpy.concatenate([[0.0], *real])))[0].astype(array.dtype)
        fraction = numpy.frexp(numpy.abs(array))[0]
        stays = _is_short(fraction) | numpy.isin(fraction, known)
        if sizes is not None:
            stays &= bool(_is_short(known).all())
        rounded = numpy.isfinite(array) & ~stays
        last = numpy.spacing(numpy.abs(array if sizes is None else sizes))
        steps = draw.randint(-1, 2, array.shape) * numpy.where(numpy.isfinite(last), last, 0)
        array[...] = numpy.where(rounded, array + steps, array)


def _magnitudes(argument: Any) -> Any:
    return wrap(numpy.abs(argument.array)) if isinstance(argument, Tensor) else argument


def _is_short(fraction: numpy.ndarray) -> numpy.ndarray:
    """Which fractions fit into half the bits of their type."""
    places = 2.0 ** ((numpy.finfo(fraction.dtype).nmant + 1) // 2)
    return fraction.astype(numpy.float64) * places % 1 == 0


def _flat(items: Sequence[Any]) -> list[Any]:
    return [each for item in items for each in (_flat(item) if isinstance(item, tuple) else [item])]


def arrays(found: Sequence[Any]) -> list[Any]:
    """Tensors as arrays of their own."""
    return [numpy.array(each.array) if isinstance(each, Tensor) else each for each in found]


def bound_of(own: Any, exact: Any, *others: Any) -> Any:
    """How far a result may be from the exact one, given what eager and shaken runs differ."""
    if not isinstance(own, numpy.ndarray) or own.size == 0:
        return 0.0
    wide = _reals(own)
    with numpy.errstate(all="ignore"):
        gaps = [numpy.abs(_reals(o) - wide) for o in (exact, *others)]
    gaps = [numpy.where(numpy.isfinite(gap), gap, 0.0) for gap in gaps]
    finite = numpy.abs(wide[numpy.isfinite(wide)])
    scale = float(finite.max()) if finite.size else 0.0
    floating = own.dtype.kind in "fc" or own.dtype.name == "bfloat16"
    step = scale * 2.0 ** -{2: 8, 4: 23, 8: 52}.get(_real_size(own), 52) if floating else 0.0
    return SLACK * (max(float(gap.max()) for gap in gaps) + step)


def as_eager(own: Any, exact: Any) -> Any:
    """The exact result, with eager's own numbers where those are not finite."""
    if not isinstance(own, numpy.ndarray) or own.dtype.kind not in "fc":
        return exact
    if not isinstance(exact, numpy.ndarray) or own.shape != exact.shape:
        return exact
    return numpy.where(numpy.isfinite(own), exact, own)


def _reals(array: numpy.ndarray) -> numpy.ndarray:
    """The numbers in float64; a complex one is two, along one more dimension."""
    if array.dtype.kind == "c":
        array = numpy.stack([array.real, array.imag], -1)
    return array.astype(numpy.float64)


def _real_size(array: numpy.ndarray) -> int:
    """The bytes of one real number in it."""
    return array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)


def ratio_of(found: Any, exact: Any, bound: float) -> float:
    """The worst error of a result over its bound."""
    if not isinstance(found, numpy.ndarray) or not isinstance(exact, numpy.ndarray):
        return 0.0 if repr(found) == repr(exact) else float("inf")
    if found.shape != exact.shape:
        return float("inf")
    a, b = _reals(found), _reals(exact)
    with numpy.errstate(all="ignore"):
        gap = numpy.abs(a - b)
    same = (a == b) | (numpy.isnan(a) & numpy.isnan(b))
    gap = numpy.where(same, 0.0, numpy.where(numpy.isnan(gap), numpy.inf, gap))
    worst = float(gap.max(initial=0.0))
    return worst / bound if bound else (0.0 if worst == 0.0 else float("inf"))


WIDER = {
    **dict.fromkeys((dtypes.float32, dtypes.float16, dtypes.bfloat16), dtypes.float64),
    dtypes.complex64: dtypes.complex128,
}


def wide_input(value: Any) -> Any:
    """An input in float64."""
    if isinstance(value, Tensor) and value.dtype in WIDER:
        return wrap(numpy.array(value.array).astype(WIDER[value.dtype].numpy))
    return copies([value])[0]


def widened(graph: Graph) -> Graph:
    """The graph in float64: every narrower float type and dtype argument replaced."""
    builder = GraphBuilder(graph.name)
    builder.assumptions = list(graph.assumptions)
    names: dict[Value, Any] = {}
    for declared in graph.inputs:
        type = declared.value.type
        if isinstance(type, TensorType):
            type = replace(type, dtype=WIDER.get(type.dtype, type.dtype))
        names[declared.value] = builder.input(declared.name, type, declared.strides)
    for node in graph.nodes:
        args = tuple(map_values(_wide(item), names.__getitem__) for item in node.args)
        results = builder.add(node.op, args, node.origin, node.grad)
        names.update(zip(node.results, results, strict=True))
    for output in graph.outputs:
        builder.output(map_values(output.argument, names.__getitem__), output.strides)
    for place, value in graph.writes:
        builder.write(place, names[value])
    return builder.build()


def _wide(argument: Any) -> Any:
    match argument:
        case dtype():
            return WIDER.get(argument, argument)
        case tuple():
            return tuple(map(_wide, argument))
        case Graph():
            return widened(argument)
    return argument
