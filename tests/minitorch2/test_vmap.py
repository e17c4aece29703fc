"""vmap: every row of the op table, mapped over batches, equals a loop over the samples.

The tests are generated: each sample call of each row gets batches in some of its tensors, at
dimension 0, at the last one, or none, and the mapped call is compared with one call a sample.
"""

import warnings
from functools import partial

import numpy
import pytest

import minitorch2
from minitorch2 import tensor
from minitorch2.errors import InPlaceError, Mt2Error, OperationError
from minitorch2.func import vmap
from tests.op_samples import build, rows, samples

BATCH = 3
RANDOM = {
    op.name
    for op in rows()
    if op.kind == "random" or op.effects == "random" or "counter" in op.signature.names
}
# Their results' shapes, or the number of values that count, depend on the elements.
DATA_DEPENDENT = {
    "argwhere",
    "bincount",
    "masked_select",
    "nonzero",
    "unique_consecutive_parts",
    "unique_parts",
}


# Rows that read a number from their tensors in some of their calls.
READS_VALUES = {
    "cov",
    "index_put",
    "index_put_",
    "masked_scatter",
    "masked_scatter_",
    "one_hot",
    "repeat_interleave",
}
# Views that ask for strides: a batch between the dimensions gives a sample other strides.
LAID_OUT = {"as_strided", "view_as_complex", "view_dtype"}


def leaves(value):
    """The tensors among arguments, in order."""
    if isinstance(value, minitorch2.Tensor):
        return [value]
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return []


def rebuilt(value, tensors):
    """The arguments with other tensors, taken from an iterator."""
    if isinstance(value, minitorch2.Tensor):
        return next(tensors)
    if isinstance(value, dict):
        return {key: rebuilt(item, tensors) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)([rebuilt(item, tensors) for item in value])
    return value


def variant(given, number):
    """Another tensor of the same kind: floats scaled, indices and masks rolled."""
    array = given.numpy()
    if array.dtype.kind in "iub":
        return tensor(numpy.roll(array.reshape(-1), number).reshape(array.shape), dtype=given.dtype)
    return given * (1 + 0.25 * number)


def patterns(tensors):
    """The batch dimensions to try: all at 0; each one alone, at its last place."""
    found = [(0,) * len(tensors)]
    for at in range(len(tensors)):
        found.append(tuple(t.ndim if i == at else None for i, t in enumerate(tensors)))
    return list(dict.fromkeys(found))


def results(found):
    """The tensors of a result, in order."""
    return leaves(found if isinstance(found, (tuple, list)) else (found,))


def call_of(op, args, kwargs, tensors):
    """One call with these tensors; an in-place form works on a clone and returns it."""
    fresh_args, fresh_kwargs = rebuilt((args, kwargs), iter(tensors))
    if op.inplace_of is not None or op.name == "copy_":
        target = fresh_args[0].clone()
        returned = getattr(target, op.name)(*fresh_args[1:], **fresh_kwargs)
        assert returned is target
        return target
    return op.public(*fresh_args, **fresh_kwargs)


def mapped_call(op, args, kwargs, *tensors):
    """`call_of` with the tensors one by one, as vmap gives them."""
    return call_of(op, args, kwargs, tensors)


def compare(op, args, kwargs, dims):
    """The mapped call beside the loop."""
    tensors = leaves((args, kwargs))
    batches = [[variant(t, number) for number in range(BATCH)] for t in tensors]
    parts = list(zip(tensors, batches, dims, strict=True))
    given = [t if d is None else minitorch2.stack(b, d) for t, b, d in parts]
    picked = [[t if d is None else b[number] for t, b, d in parts] for number in range(BATCH)]
    try:
        expected = [results(call_of(op, args, kwargs, each)) for each in picked]
    except Mt2Error:
        return  # a sample that the row refuses with other values

    mapped = partial(mapped_call, op, args, kwargs)
    if op.inplace_of is not None or op.name == "copy_":
        if dims[0] is None:
            with pytest.raises((InPlaceError, OperationError)):
                vmap(mapped, in_dims=dims)(*given)
            return
    try:
        found = results(vmap(mapped, in_dims=dims)(*given))
    except OperationError as error:  # the sample asks for a number of its tensors
        assert op.name in READS_VALUES and ("item()" in str(error) or "nonzero" in str(error))
        return
    assert len(found) == len(expected[0])
    for column, result in zip(zip(*expected, strict=True), found, strict=True):
        wanted = minitorch2.stack(list(column), 0)
        assert result.dtype is wanted.dtype, (dims, result.dtype, wanted.dtype)
        assert tuple(result.shape) == tuple(wanted.shape), (dims, result.shape, wanted.shape)
        a, b = (
            t.double().numpy() if t.is_floating_point() else t.numpy() for t in (result, wanted)
        )
        loose = (
            1e-12 if result.dtype is minitorch2.float64 else 1e-2 if result.itemsize == 2 else 1e-5
        )
        close = numpy.isclose(a, b, loose, loose, equal_nan=True)
        assert close.all(), (dims, args, a, b)


def mappable(op):
    """Whether a row has calls with tensors to map over."""
    return op.name not in RANDOM | DATA_DEPENDENT | {"gradients"}


@pytest.mark.parametrize("op", [op for op in rows() if mappable(op)], ids=lambda op: op.name)
def test_mapped_row_equals_a_loop(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sample in samples(op):
            args, kwargs = build((sample.args, sample.kwargs), minitorch2)
            tensors = leaves((args, kwargs))
            if sample.fails or not tensors:
                continue
            if op.inplace_of is not None and not isinstance(args[0], minitorch2.Tensor):
                continue
            for dims in patterns(tensors)[: 1 if op.name in LAID_OUT else None]:
                compare(op, args, kwargs, dims)


@pytest.mark.parametrize("name", sorted(DATA_DEPENDENT))
def test_shapes_that_depend_on_values_are_refused(name):
    op = next(op for op in rows() if op.name == name)
    for sample in samples(op):
        args, kwargs = build((sample.args, sample.kwargs), minitorch2)
        tensors = leaves((args, kwargs))
        if sample.fails or not tensors:
            continue
        given = [minitorch2.stack([t] * BATCH, 0) for t in tensors]
        with pytest.raises(OperationError, match="vmap"):
            vmap(partial(mapped_call, op, args, kwargs))(*given)
