"""A random captured graph: calls of any op that accepts what is there.

In: a seed. Out: a Case: a graph of up to a dozen calls, and concrete inputs. Arguments are drawn by
the type of each parameter; a call that its row refuses is drawn again. Where chance would rarely
give what an op wants (indices in range, shapes that multiply), a recipe does; one of them calls a
row that has a derivative as one of its samples does, one makes what a rewrite rule looks for, and
both have the result returned.
"""

import ast
import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2 import dtypes
from minitorch2.artifacts import Origin, Span
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import Graph, GraphBuilder, Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.passes.rules import RULES
from minitorch2.ops.table import (
    COMPOSITE,
    CONTROL,
    INPLACE,
    LIBRARY,
    RANDOM,
    VIEW,
    Op,
    all_ops,
    lookup,
)
from tests.op_samples import Sample, TensorSpec, rows, samples

LARGEST = 300  # elements of a value
SAMPLED = 0.5  # of the graphs start with a sample's call
SIZES = (1, 2, 3, 4, 5)
FLOATS = (dtypes.float32, dtypes.float64)
INPUT_DTYPES = (*FLOATS, dtypes.float32, dtypes.float32, dtypes.int64, dtypes.bool)
NUMBERS = (0, 1, 2, -1, 0.5, -2.0, 3)
# Left out: what is random, has results of unknown size, or is itself a differentiation.
ODD = frozenset(
    "view after gradients empty nonzero rebase random_words uniform detach_ as_strided".split()
)
REFUSED = (Mt2Error, TypeError, AttributeError, IndexError, ValueError, KeyError, RuntimeError,
           AssertionError, ZeroDivisionError, OverflowError)  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A graph, arrays for its inputs, and which of them require gradients."""

    seed: int
    graph: Graph
    arrays: tuple[numpy.ndarray, ...]
    flags: tuple[bool, ...]


@functools.cache
def candidates() -> tuple[tuple[Op, float], ...]:
    """The rows that may be called, each with its weight."""
    found = []
    for op in all_ops():
        if op.kind in (RANDOM, CONTROL) or op.effects in ("random", "data_dependent"):
            continue
        if op.name in ODD or "complex" in op.name or op.name.startswith(("fft", "linalg")):
            continue
        weight = {VIEW: 4.0, COMPOSITE: 0.7, LIBRARY: 0.5, INPLACE: 3.0}.get(op.kind, 2.0)
        found.append((op, 0.4 if op.effects == "writes" and op.kind == COMPOSITE else weight))
    return tuple(found)


class Maker:
    """Draws one case."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.numbers = numpy.random.RandomState(seed)
        self.seed = seed
        self.builder = GraphBuilder("f")
        self.pool: list[Value] = []
        self.arrays: list[numpy.ndarray] = []
        self.flags: list[bool] = []
        self.wanted: list[Value] = []  # to be returned

    def case(self) -> Case:
        """Inputs, calls, outputs."""
        draw = self.random
        shape = tuple(draw.choice(SIZES) for _ in range(draw.randint(1, 3)))
        for number in range(draw.randint(1, 3)):
            own = shape[draw.randint(0, len(shape)) :] if draw.random() < 0.4 else shape
            self.input(f"x{number}", draw.choice(INPUT_DTYPES), own)
        operations, weights = zip(*candidates(), strict=True)
        target, tries = draw.randint(2, 12), 0
        if draw.random() < SAMPLED:
            self.attempt(_sampled)
        while len(self.builder.nodes) < target and tries < 400:
            tries += 1
            recipe = draw.random() < 0.2
            if recipe:
                self.attempt(draw.choice(RECIPES))
            else:
                op = draw.choices(operations, weights)[0]
                self.attempt(functools.partial(_any_call, op=op))
        return Case(self.seed, self.finished(), tuple(self.arrays), tuple(self.flags))

    def finished(self) -> Graph:
        draw = self.random
        tensors = [v for v in self.pool if isinstance(v.type, TensorType)]
        recent = tensors[-6:]
        drawn = draw.sample(recent, min(len(recent), draw.randint(1, 3)))
        for value in dict.fromkeys((*self.wanted, *drawn)):
            self.builder.output(value)
        return self.builder.build()

    def input(self, name: str, dtype: Any, shape: tuple[int, ...]) -> Value:
        """Declare an input with an array for it."""
        if dtype is dtypes.bool:
            array = self.numbers.rand(*shape) > 0.5
        elif dtype.is_floating_point:
            array = numpy.asarray(self.numbers.randn(*shape) * 1.5).astype(dtype.numpy)
        else:
            array = numpy.asarray(self.numbers.randint(-4, 5, shape)).astype(dtype.numpy)
        self.arrays.append(numpy.asarray(array))
        self.flags.append(bool(dtype.is_floating_point) and self.random.random() < 0.8)
        value = self.builder.input(name, TensorType(dtype, shape))
        self.pool.append(value)
        return value

    def attempt(self, make: Callable[["Maker"], None]) -> None:
        """One call; nothing where it is refused."""
        builder = self.builder
        growing: list[list] = []
        growing += [builder.nodes, builder.inputs, self.arrays, self.flags, self.pool]
        counts = [len(each) for each in growing]
        try:
            make(self)
        except REFUSED:
            for each, count in zip(growing, counts, strict=True):
                del each[count:]

    def add(self, op: str, *args: Any) -> Value:
        """Append a call; small results go into the pool."""
        span = Span("random.py", len(self.builder.nodes) + 1)
        results = self.builder.add(op, args, Origin((span,), made_by="capture"))
        for result in results:
            if not isinstance(result.type, TensorType) or result.type.dtype.is_complex:
                raise ValueError("not for the pool")
            shape = _type(result).shape
            if numpy.prod(shape, dtype=int) > LARGEST or len(shape) > 5:
                raise ValueError("too large")
        self.pool += results
        return results[0]

    def tensor(self, floating: bool = False) -> Value:
        """A value, more likely a new one."""
        pool = [v for v in self.pool if not floating or _type(v).dtype.is_floating_point]
        if not pool:
            raise ValueError("none")
        return pool[-1 - int(self.random.expovariate(0.35)) % len(pool)]


def _type(value: Value) -> Any:
    """The TensorType of a value; its sizes are ints here."""
    assert isinstance(value.type, TensorType)
    return value.type


def _any_call(maker: Maker, op: Op) -> None:
    """A call with arguments drawn by the parameters' types."""
    args: list[Any] = []
    for parameter in op.signature.parameters:
        usual = parameter.default
        keep = args and usual is not None and maker.random.random() < 0.6
        if keep and repr(usual)[:7] != "<object":
            args.append(usual)
        else:
            numbers = op.numbers is None or parameter.name in op.numbers.split()
            args.append(_argument(maker, parameter, args, numbers))
    maker.add(op.name, *args)


def _argument(maker: Maker, parameter: Any, args: list[Any], numbers: bool) -> Any:
    draw = maker.random
    first = args[0] if args and isinstance(args[0], Value) else None
    ndim = _type(first).ndim if first is not None else 1
    match parameter.type:
        case "Tensor":
            return maker.tensor(floating=draw.random() < 0.6)
        case "Operand":
            number = numbers and args and draw.random() < 0.3
            return draw.choice(NUMBERS) if number else maker.tensor()
        case "Scalar" | "float":
            return draw.choice(NUMBERS)
        case "int" if parameter.name == "itemsize":  # that of the first: no choice of a caller
            return _type(first).dtype.itemsize if first is not None else 1
        case "int":
            return draw.randint(-ndim, max(ndim - 1, 0)) if "dim" in parameter.name else (
                draw.randint(0, 3))  # fmt: skip
        case "int[]" | "int[...]":
            if "dim" in parameter.name:
                return tuple(draw.sample(range(ndim), draw.randint(0, ndim)))
            shape = list(_type(first).shape) if first is not None else [2]
            draw.shuffle(shape)
            return tuple(shape)
        case "bool":
            return draw.random() < 0.5
        case "dtype":
            return draw.choice(FLOATS)
        case "Tensor[]":
            return tuple(maker.tensor() for _ in range(draw.randint(1, 3)))
    return None if parameter.optional else parameter.default


# Recipes: what chance would seldom give.


def _indices(maker: Maker, size: int, shape: tuple[int, ...]) -> Value:
    array = maker.numbers.randint(0, size, shape)
    name = f"i{len(maker.arrays)}"
    value = maker.input(name, dtypes.int64, shape)
    maker.arrays[-1] = array.astype(numpy.int64)
    return value


def _select(maker: Maker) -> None:
    x = maker.tensor()
    dim = maker.random.randrange(_type(x).ndim)
    index = _indices(maker, _type(x).shape[dim], (maker.random.randint(1, 4),))
    maker.add("index_select", x, dim, index)


def _gather(maker: Maker) -> None:
    x = maker.tensor()
    dim = maker.random.randrange(_type(x).ndim)
    maker.add("gather", x, dim, _indices(maker, _type(x).shape[dim], _type(x).shape))


def _scatter(maker: Maker) -> None:
    x = maker.tensor(floating=True)
    dim = maker.random.randrange(_type(x).ndim)
    index = _indices(maker, _type(x).shape[dim], _type(x).shape)
    op = maker.random.choice(("scatter_add", "scatter_add_"))
    maker.add(op, x, dim, index, maker.add("sin", x))


def _matmul(maker: Maker) -> None:
    x = maker.tensor(floating=True)
    type = _type(x)
    if type.ndim < 2:
        raise ValueError("no matrix")
    same = [v for v in maker.pool if v.type == type]
    maker.add("matmul", x, maker.add("transpose", maker.random.choice(same), -1, -2))


def _reshape(maker: Maker) -> None:
    x = maker.tensor()
    shape = list(_type(x).shape)
    count = int(numpy.prod(shape, dtype=int))
    divisors = [n for n in range(1, count + 1) if count % n == 0]
    first = maker.random.choice(divisors)
    maker.add("reshape", x, (first, count // first))


def _write_part(maker: Maker) -> None:
    """A write through a view, of which other views may see a part."""
    x = maker.tensor(floating=True)
    type = _type(x)
    dim = maker.random.randrange(type.ndim)
    size = type.shape[dim]
    start = maker.random.randrange(size)
    seen = maker.add("slice", x, dim, start, size, 1) if maker.random.random() < 0.5 else (
        maker.add("select", x, dim, start))  # fmt: skip
    if maker.random.random() < 0.3 and _type(seen).ndim > 1:
        seen = maker.add("transpose", seen, 0, -1)
    kind = maker.random.choice(("mul_", "add_", "copy_", "exp_", "relu_", "fill"))
    if kind in ("exp_", "relu_"):
        maker.add(kind, seen)
    elif kind == "fill":
        maker.add("mul_", seen, 0)
    else:
        other = maker.add("sin", maker.tensor(floating=True))
        maker.add(kind, seen, other)


def _layer(maker: Maker) -> None:
    x = maker.tensor(floating=True)
    last = _type(x).shape[-1:]
    name = maker.random.choice(("softmax", "log_softmax", "layer_norm", "gelu", "var", "cumsum"))
    extra = {"layer_norm": (last,), "gelu": (), "var": (-1,)}.get(name, (-1,))
    maker.add(name, x, *extra)


def _choose(maker: Maker) -> None:
    x = maker.tensor(floating=True)
    maker.add("where", maker.add("gt", x, maker.random.choice(NUMBERS)), x, maker.add("neg", x))


@functools.cache
def differentiable() -> tuple[Op, ...]:
    """The rows with a derivative of their own that have a call to sample."""
    return tuple(op for op in rows() if op.vjp is not None and op.name not in ODD and _fit(op))


@functools.cache
def _fit(op: Op) -> tuple[Sample, ...]:
    """The samples of a row that are small and of dtypes drawn here."""
    return tuple(each for each in samples(op) if not each.fails and _is_fit(each))


def _is_fit(sample: Sample) -> bool:
    specs = [each for each in _flat((*sample.args, *sample.kwargs.values()))
             if isinstance(each, TensorSpec)]  # fmt: skip
    return any(spec.dtype.is_floating_point for spec in specs) and all(
        spec.dtype in INPUT_DTYPES and 0 < numpy.prod(spec.shape, dtype=int) <= LARGEST
        for spec in specs
    )


def _flat(arguments: tuple) -> Iterator[Any]:
    for each in arguments:
        if isinstance(each, (tuple, list)):
            yield from _flat(tuple(each))
        else:
            yield each


def _sampled(maker: Maker) -> None:
    """A call of a row with a derivative."""
    draw = maker.random
    op = draw.choice(differentiable())
    smooth = [each for each in _fit(op) if each.smooth]
    sample = draw.choice(smooth if smooth and draw.random() < 0.7 else _fit(op))
    narrow = draw.random() < 0.5
    args = tuple(_given(maker, each, narrow) for each in sample.args)
    named = {name: _given(maker, each, narrow) for name, each in sample.kwargs.items()}
    maker.wanted.append(maker.add(op.name, *op.bind(*args, **named)))


def _given(maker: Maker, argument: Any, narrow: bool) -> Any:
    """An argument of a sample; its tensors are inputs or values that are there."""
    if isinstance(argument, (tuple, list)):
        return tuple(_given(maker, each, narrow) for each in argument)
    if not isinstance(argument, TensorSpec):
        return argument
    dtype = argument.dtype
    if narrow and dtype is dtypes.float64:
        dtype = dtypes.float32
    alike = [v for v in maker.pool if v.type == TensorType(dtype, argument.shape)]
    if alike and dtype.is_floating_point and maker.random.random() < 0.5:
        return maker.random.choice(alike)
    value = maker.input(f"s{len(maker.arrays)}", dtype, argument.shape)
    steps = tuple(step * argument.flat.itemsize for step in argument.strides)
    seen = numpy.lib.stride_tricks.as_strided(
        argument.flat[argument.offset :], argument.shape, steps
    )
    with numpy.errstate(over="ignore"):
        maker.arrays[-1] = numpy.array(seen).astype(dtype.numpy)
    return value


def _ruled(maker: Maker) -> None:
    """What a rewrite rule looks for, made of values that are there."""
    rule = maker.random.choice([each for each in RULES if "rebase" not in each.text])
    pool = [value for value in maker.pool if _type(value).dtype in rule.dtypes]
    first = maker.random.choice(pool[-8:])
    alike = [value for value in pool if value.type == first.type]
    numbers = {variable for _, variable in rule.where}
    known: dict[str, Any] = {"c": maker.add("gt", first, 0)} if "where(" in rule.text else {}

    def made(part: ast.expr) -> Any:
        if isinstance(part, ast.Call):
            assert isinstance(part.func, ast.Name)
            return maker.add(part.func.id, *lookup(part.func.id).bind(*map(made, part.args)))
        if not isinstance(part, ast.Name):
            return ast.literal_eval(part)
        if part.id not in known:
            known[part.id] = maker.random.choice((2, 4, 8) if part.id in numbers else alike)
        return known[part.id]

    maker.wanted.append(made(rule.pattern))


RECIPES: tuple[Callable[[Maker], None], ...] = (
    _sampled, _select, _gather, _scatter, _matmul, _reshape, _write_part, _write_part, _layer,
    _choose, _ruled, _ruled,
)  # fmt: skip


def make(seed: int) -> Case:
    """The case of a seed."""
    return Maker(seed).case()


def called(op: Op, sample: Sample, narrow: bool) -> Case | None:
    """The call of a sample alone, without gradients; None if it is not of dtypes drawn here. What
    a view shows is copied: a graph has no other result of its own then. `narrow`: in float32 where
    the sample is in float64."""
    if not _is_fit(sample):
        return None
    maker = Maker(0)
    args = tuple(_given(maker, each, narrow) for each in sample.args)
    named = {name: _given(maker, each, narrow) for name, each in sample.kwargs.items()}
    try:
        found = maker.add(op.name, *op.bind(*args, **named))
        maker.builder.output(maker.add("clone", found) if op.kind == VIEW else found)
    except REFUSED:
        return None
    return Case(0, maker.builder.build(), tuple(maker.arrays), (False,) * len(maker.arrays))


def tensors(case: Case) -> list[Any]:
    """Fresh tensors for the inputs."""
    return [torch.from_numpy(array.copy()) for array in case.arrays]
