"""What a generated host function calls: memory, views, products, eager steps, errors.

In: numpy arrays and tensors while a compiled graph runs. Out: numpy views, tensors, and, for a
check that failed inside a kernel, the error with the user's line.

Source: the counterpart of codegen/host.py, which writes the calls.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.artifacts import Origin
from minitorch2.backends.blas import product
from minitorch2.backends.quiet import restore, silence
from minitorch2.devices import CPU
from minitorch2.dispatch import origin_scope, run_backend, state
from minitorch2.errors import DivisionByZero, IndexOutOfRange, Mt2Error
from minitorch2.jit.ir.graph import Node, Value, map_values, values_in
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import SizeExpression
from minitorch2.kernels.runtime import built_in, chains, tensor_code
from minitorch2.kernels.runtime import pool as threads
from minitorch2.kernels.runtime.buffers import flat, pool
from minitorch2.kernels.runtime.signature import KernelFailure
from minitorch2.layouts import Layout, row_major
from minitorch2.ops.table import VIEW, lookup
from minitorch2.storages import storage_of_array
from minitorch2.tensors import Tensor, wrap

Run = Callable[[int, Sequence[Any], Sequence[int], Sequence[Any], float], None]
ERRORS = {"IndexOutOfRange": IndexOutOfRange, "ZeroDivisionError": DivisionByZero}


def array_of(tensor: Tensor, letter: str) -> numpy.ndarray:
    """A tensor's array as it is ("s"), or in row-major order ("r"), copied if need be."""
    array = tensor.array
    if letter == "s" or array.flags.c_contiguous:
        return array
    return numpy.ascontiguousarray(array)


def arrays(inputs: Sequence[Any], kinds: bytes) -> tuple[Any, ...]:
    """What a host function works on: arrays of tensors, or ("n") the item itself."""
    pairs = zip(inputs, kinds.decode(), strict=True)
    return tuple(item if letter == "n" else array_of(item, letter) for item, letter in pairs)


def strided(
    array: numpy.ndarray, shape: tuple[int, ...], strides: tuple[int, ...], offset: int
) -> numpy.ndarray:
    """A view with any strides (in elements) of the memory an array spans."""
    size = array.dtype.itemsize
    base = array if array.flags.c_contiguous else flat(array)
    steps = tuple(stride * size for stride in strides)
    return numpy.ndarray(shape, array.dtype, base, offset * size, steps)


def laid_out(array: numpy.ndarray, shape: tuple[int, ...], strides: tuple[int, ...]) -> Tensor:
    """A tensor over memory that the host function allocated."""
    element = dtypes.from_numpy_dtype(array.dtype)
    return Tensor(storage_of_array(array, CPU), Layout(shape, strides, 0), element)


def tensor(array: numpy.ndarray, layout: Layout, element: dtypes.dtype, nbytes: int) -> Tensor:
    """A tensor that owns a row-major array of its own shape, which has so many bytes."""
    return Tensor(storage_of_array(array, CPU), layout, element, array)


def alias(base: Tensor, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
    """A view of an input's memory, `offset` elements after its first one."""
    layout = Layout(shape, strides, base.layout.offset + offset)
    return Tensor(base.storage, layout, base.dtype)


def written(target: Tensor, memory: numpy.ndarray) -> None:
    """Note that an input was written (and write it, if the kernels worked on a copy)."""
    if memory is not target.array and not numpy.shares_memory(memory, target.array):
        target.array[...] = memory
    target.storage.version += 1


def product_step(node: Node) -> Callable[..., None]:
    """A function of two arrays and the memory of their product."""
    type = node.results[0].type
    assert isinstance(type, TensorType)
    return product_of(type.dtype.short)


def product_of(short: str) -> Callable[..., None]:
    """The same for the dtype of that name."""
    return _matmul_16 if short in ("f16", "bf16") else _matmul


def product_member(short: str, places: Sequence[int], in_sums: bool) -> chains.Product:
    """The same as a member of a chain."""
    return chains.Product(short, tuple(places), product_of(short), in_sums)


def chain_of(members: Sequence[chains.Member], whole: bool) -> Callable[..., None]:
    """A function of what each member is given alone."""
    return chains.chain(members, whole, pool().take)


def _matmul(left: numpy.ndarray, right: numpy.ndarray, result: numpy.ndarray) -> None:
    token = silence()  # as eager products are: infinities are values
    try:
        product(left, right, result)
    finally:
        restore(token)


def _matmul_16(left: numpy.ndarray, right: numpy.ndarray, result: numpy.ndarray) -> None:
    """Of 16-bit floats, computed in f32 as eager does."""
    token = silence()
    try:
        result[...] = product(left.astype(numpy.float32), right.astype(numpy.float32))
    finally:
        restore(token)


def eager_step(node: Node) -> Callable[..., list[Any]]:
    """A function of the node's values (arrays and numbers) and sizes that runs it eagerly."""
    op, values = lookup(node.op), list(dict.fromkeys(values_in(node.args)))
    tensor_of = _row_major if op.kind == VIEW else wrap  # a view may ask for strides

    def run(
        given: Sequence[Any],
        sizes: Mapping[str, int],
        orders: Sequence[Sequence[int] | None] | None = None,
    ) -> list[Any]:
        actual = {
            value: tensor_of(item) if isinstance(item, numpy.ndarray) else item
            for value, item in zip(values, given, strict=True)
        }
        arguments = tuple(_actual(argument, actual, sizes) for argument in node.args)
        with origin_scope(node.origin or Origin()):
            found = run_backend(op, arguments)
        results = found if isinstance(found, tuple | list) else (found,)
        own: list[Any] = []
        for result, order in zip(results, orders or repeat(None), strict=False):
            own.append(owned(result, [*given, *own], order))
        return own

    return run


def _row_major(array: numpy.ndarray) -> Tensor:
    return wrap(numpy.ascontiguousarray(array).reshape(array.shape))


def _actual(argument: Any, actual: Mapping[Value, Any], sizes: Mapping[str, int]) -> Any:
    if isinstance(argument, SizeExpression):
        return argument.evaluate(sizes)
    if isinstance(argument, tuple):
        return tuple(_actual(item, actual, sizes) for item in argument)
    return map_values(argument, actual.__getitem__)


def owned(result: Any, given: Sequence[Any], order: Sequence[int] | None = None) -> Any:
    """A result in memory that none of the arguments shares; row-major, or in another order."""
    if not isinstance(result, Tensor):
        return result
    seen = result.array if order is None else result.array.transpose(order)
    array = numpy.ascontiguousarray(seen)
    if any(isinstance(g, numpy.ndarray) and numpy.may_share_memory(array, g) for g in given):
        array = array.copy()
    return array.reshape(-1)


@dataclass(frozen=True, slots=True)
class Failure:
    """What a check of a kernel says when it fails ("ErrorClass: what was asked"), and for whom."""

    message: str
    origin: Origin | None


def guarded(run: Run, failures: Sequence[Failure]) -> Run:
    """The launch of a kernel with checks: a failed one raises with the user's line."""

    def launch(
        total: int, arrays: Sequence[Any], sizes: Sequence[int], numbers: Sequence[Any], cost: float
    ) -> None:
        try:
            run(total, arrays, sizes, numbers, cost)
        except KernelFailure as found:
            raise failure_error(failures[found.code - 16], found.index) from None

    return launch


def failure_error(failure: Failure, index: int) -> Mt2Error:
    """The error of a failed check."""
    kind, _, asked = failure.message.partition(": ")
    error: Mt2Error
    if kind == "IndexOutOfRange":
        asked, _, size = asked.rpartition(" with size ")
        error = IndexOutOfRange(asked, f"index {index} is out of bounds for size {size}")
    else:
        error = ERRORS.get(kind, Mt2Error)(asked, failure.message)
    if failure.origin is not None and failure.origin.spans:
        span = failure.origin.spans[0]
        error.move_to(span.file, span.line)
    return error


@cache
def _host_names() -> dict[str, Any]:
    own = (arrays, strided, tensor, laid_out, alias, written, row_major)
    names: dict[str, Any] = {each.__name__: each for each in own}
    names |= {"empty": pool().take, "room": chains.room}
    if threads.supported() and built_in.supported():
        address = threads.code().address
        names["arrays"] = tensor_code.arrays_function(address["arrays"], array_of)
        names["tensor"] = tensor_code.tensor_function(address["tensor"])
    names |= {element.short: element.numpy for element in dtypes.EVERY}
    return names | {element.short.upper(): element for element in dtypes.EVERY}


def host_names() -> dict[str, Any]:
    """The names a generated host function may use, beside its kernels.

    `f32` is numpy's dtype, `F32` ours. Guards keep a program inside or outside of inference mode;
    what it makes inside is marked, which the native function does not do.
    """
    names = dict(_host_names())
    return names | {"tensor": tensor} if state.inference else names
