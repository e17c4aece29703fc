"""Run loop IR one element at a time: slow, obvious, and the definition of what a kernel means.

In: a Kernel, flat numpy arrays for its buffers, ints for its sizes, numbers for its scalars. Out:
the arrays, written in place; KernelFailure for a check that failed. Arithmetic is numpy's scalar
arithmetic in each value's own type; the transcendental functions are vecmath's plain twins.

    >>> from minitorch2.kernels.parser import parse_kernel
    >>> kernel = parse_kernel('''kernel double(a: f32[3] in, b: f32[3] out) {
    ...   for i in 3 {
    ...     b[i] = add(a[i], a[i])
    ...   }
    ... }''')
    >>> result = numpy.zeros(3, "f4")
    >>> interpret_kernel(kernel, [numpy.arange(3, dtype="f4"), result])
    >>> result
    array([0., 2., 4.], dtype=float32)

Source: tinygrad's ops_python.py, the same idea for its own IR.
"""

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from minitorch2.dtypes import dtype
from minitorch2.kernels.index import evaluate
from minitorch2.kernels.loop_ir import (
    Accumulator,
    Call,
    Cast,
    Check,
    Constant,
    Expression,
    IndexValue,
    Kernel,
    Let,
    LetIndex,
    Load,
    Loop,
    Name,
    Reduce,
    Require,
    Statement,
    Store,
    Window,
)
from minitorch2.kernels.runtime.signature import KernelFailure
from minitorch2.kernels.vecmath import scalars

OPERATORS: dict[str, Callable] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
    "bit_and": operator.and_,
    "bit_or": operator.or_,
    "bit_xor": operator.xor,
    "bit_not": numpy.invert,
    "shift_left": operator.lshift,
    "shift_right": operator.rshift,
    "negative": operator.neg,
    "select": lambda condition, yes, no: yes if condition else no,
}


def function_named(name: str) -> Callable:
    """A scalar function as a Python function of numpy scalars of one type."""
    return OPERATORS.get(name) or getattr(scalars, name)


def interpret_kernel(
    kernel: Kernel,
    buffers: Sequence[numpy.ndarray],
    sizes: Sequence[int] = (),
    numbers: Sequence[Any] = (),
) -> None:
    """Run a kernel. Raises KernelFailure(code, index) with code = position of the message + 16."""
    run = _Run(kernel, buffers, sizes, numbers)
    with numpy.errstate(all="ignore"):
        run.block(kernel.body)


def messages(kernel: Kernel) -> tuple[str, ...]:
    """The failure messages of a kernel in order; status code 16 + k means the k-th."""
    found: dict[str, None] = {}
    pending = list(reversed(kernel.body))
    while pending:
        statement = pending.pop()
        if isinstance(statement, Check | Require):
            found[statement.message] = None
        elif isinstance(statement, Loop | Reduce):
            pending += reversed(statement.body)
    return tuple(found)


class _Run:
    """The state of one run: what every name stands for."""

    def __init__(
        self,
        kernel: Kernel,
        buffers: Sequence[numpy.ndarray],
        sizes: Sequence[int],
        numbers: Sequence[Any],
    ):
        self.messages = messages(kernel)
        self.buffers: Mapping[str, numpy.ndarray] = {
            b.name: array for b, array in zip(kernel.buffers, buffers, strict=True)
        }
        self.indices: dict[str, int] = dict(zip(kernel.sizes, map(int, sizes), strict=True))
        self.values: dict[str, Any] = {
            s.name: _number(s.dtype, value)
            for s, value in zip(kernel.scalars, numbers, strict=True)
        }

    def block(self, body: Sequence[Statement]) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: Statement) -> None:
        """Carry out a statement; a failed Check or Require raises."""
        match statement:
            case Let(name, value):
                self.values[name] = self.value(value)
            case LetIndex(name, index):
                self.indices[name] = evaluate(index, self.indices)
            case Window(name, inside, index, size):
                at = evaluate(index, self.indices)
                fits = 0 <= at < evaluate(size, self.indices)
                self.indices[name] = at if fits else 0
                self.values[inside] = numpy.bool_(fits)
            case Check(name, value, size, message):
                at = int(self.value(value))
                if not 0 <= at < evaluate(size, self.indices):
                    raise KernelFailure(16 + self.messages.index(message), at)
                self.indices[name] = at
            case Require(condition, message):
                if not self.value(condition):
                    raise KernelFailure(16 + self.messages.index(message), 0)
            case Store(buffer, index, value, accumulate):
                array, at = self.buffers[buffer], evaluate(index, self.indices)
                result = self.value(value)
                array[at] = array[at] + result if accumulate else result
            case Loop(variable, extent, body):
                for at in range(evaluate(extent, self.indices)):
                    self.indices[variable] = at
                    self.block(body)
            case Reduce(domain, body, accumulators):
                self.reduction(domain, body, accumulators)

    def reduction(
        self, domain: Sequence[tuple], body: Sequence[Statement], results: Sequence[Accumulator]
    ) -> None:
        folds = [_FOLDS[each.reducer](each.value.dtype) for each in results]
        extents = [range(evaluate(extent, self.indices)) for _, extent in domain]
        for position, point in enumerate(itertools.product(*extents)):
            for (variable, _), at in zip(domain, point, strict=True):
                self.indices[variable] = at
            self.block(body)
            for fold, each in zip(folds, results, strict=True):
                fold.add(self.value(each.value), position)
        for fold, each in zip(folds, results, strict=True):
            self.values[each.name] = fold.result

    def value(self, expression: Expression) -> Any:
        """The number that an expression gives here."""
        match expression:
            case Name(name):
                return self.values[name]
            case Constant(value, element):
                return _number(element, value)
            case Load(buffer, index):
                return self.buffers[buffer][evaluate(index, self.indices)]
            case IndexValue(index):
                return numpy.int64(evaluate(index, self.indices))
            case Cast(value, element):
                return numpy.asarray(self.value(value)).astype(element.numpy)[()]
            case Call(function, args, element):
                result = function_named(function)(*map(self.value, args))
                return _number(element, result)


def _number(element: dtype, value: Any) -> Any:
    return element.numpy.type(value)


class _Sum:
    def __init__(self, element: dtype):
        self.result = _number(element, 0)

    def add(self, value: Any, position: int) -> None:
        self.result = self.result + value


class _Product:
    def __init__(self, element: dtype):
        self.result = _number(element, 1)

    def add(self, value: Any, position: int) -> None:
        self.result = self.result * value


class _Any:
    def __init__(self, element: dtype):
        self.result = numpy.bool_(False)

    def add(self, value: Any, position: int) -> None:
        self.result = self.result | (value != 0)


class _All:
    def __init__(self, element: dtype):
        self.result = numpy.bool_(True)

    def add(self, value: Any, position: int) -> None:
        self.result = self.result & (value != 0)


class _Extremum:
    """max, min: NaN wins; argmax, argmin: the first position of the winner."""

    def __init__(self, better: Callable, want_position: bool):
        self.better, self.want_position = better, want_position
        self.best: Any = None
        self.position = numpy.int64(0)

    def add(self, value: Any, position: int) -> None:
        best = self.best
        if best is None or (best == best and (self.better(value, best) or value != value)):
            self.best, self.position = value, numpy.int64(position)

    @property
    def result(self) -> Any:
        return self.position if self.want_position else self.best


_FOLDS: dict[str, Callable] = {
    "sum": _Sum,
    "prod": _Product,
    "any": _Any,
    "all": _All,
    "max": lambda element: _Extremum(operator.gt, False),
    "min": lambda element: _Extremum(operator.lt, False),
    "argmax": lambda element: _Extremum(operator.gt, True),
    "argmin": lambda element: _Extremum(operator.lt, True),
}
