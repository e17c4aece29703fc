"""Every vjp under vmap: a batch of gradients through one graph equals one gradient at a time.

Jacobians are made this way (torch.func.jacrev). The tests are generated from the rows' samples.
"""

import warnings

import numpy
import pytest

import minitorch2
from minitorch2.autograd.functional import jacobian
from minitorch2.errors import Mt2Error
from minitorch2.func import grad, vmap
from tests.minitorch2.test_vmap import DATA_DEPENDENT, RANDOM, leaves, rebuilt, results
from tests.op_samples import build, rows, samples

SMOOTH_OPERANDS = {"linalg_pinv_above": 1}  # the operands behind have no derivative
MOST = 60  # elements of an output: each is a row of the Jacobian


def differentiable(op):
    """The calls of a row with float64 inputs to differentiate, as (function, inputs)."""
    for sample in samples(op):
        args, kwargs = build((sample.args, sample.kwargs), minitorch2)
        tensors = leaves((args, kwargs))
        wanted = [i for i, t in enumerate(tensors) if t.dtype is minitorch2.float64]
        wanted = wanted[: SMOOTH_OPERANDS.get(op.name, len(wanted))]
        if sample.fails or not sample.smooth or not wanted:
            continue

        def function(*given, args=args, kwargs=kwargs, tensors=tensors, wanted=wanted):
            values = list(tensors)
            for place, value in zip(wanted, given, strict=True):
                values[place] = value
            fresh_args, fresh_kwargs = rebuilt((args, kwargs), iter(values))
            if op.inplace_of is not None or op.name == "copy_":
                if not isinstance(fresh_args[0], minitorch2.Tensor):
                    return ()
                found = getattr(fresh_args[0].clone(), op.name)(*fresh_args[1:], **fresh_kwargs)
            else:
                found = op.public(*fresh_args, **fresh_kwargs)
            parts = [minitorch2.view_as_real(t) if t.is_complex() else t for t in results(found)]
            return tuple(t for t in parts if t.is_floating_point())

        yield function, tuple(tensors[i] for i in wanted)


def checked(op):
    """Whether a row is differentiated here."""
    return op.name not in RANDOM | DATA_DEPENDENT | {"gradients"}


@pytest.mark.parametrize("op", [op for op in rows() if checked(op)], ids=lambda op: op.name)
def test_a_batch_of_gradients_equals_one_at_a_time(op):
    tried = 0
    for function, inputs in differentiable(op):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                outputs = function(*inputs)
                if not outputs or tried == 3 or any(out.numel() > MOST for out in outputs):
                    continue
                one = jacobian(function, inputs)
            except Mt2Error:  # not differentiable there
                continue
            tried += 1
            several = jacobian(function, inputs, vectorize=True)
        for a, b in zip(leaves(several), leaves(one), strict=True):
            assert numpy.allclose(a.numpy(), b.numpy(), 1e-9, 1e-9, equal_nan=True), op.name
    assert tried or not (op.vjp and any(True for _ in differentiable(op)))


@pytest.mark.parametrize("op", [op for op in rows() if checked(op)], ids=lambda op: op.name)
def test_per_sample_gradients_equal_a_loop(op):
    tried = 0
    for function, inputs in differentiable(op):

        def total(*given, function=function):
            return sum((out * out).sum() for out in function(*given))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            batch = [minitorch2.stack([t, t * 1.01, t * 0.97], 0) for t in inputs]
            numbers = tuple(range(len(inputs)))
            try:
                loop = [grad(total, numbers)(*[t[k].clone() for t in batch]) for k in range(3)]
            except Mt2Error:
                continue
            if tried == 2:
                break
            tried += 1
            try:
                found = vmap(grad(total, numbers))(*batch)
            except Mt2Error as error:  # the row asks for a number of its tensors
                assert "vmap" in str(error) and ("item()" in str(error) or "nonzero" in str(error))
                continue
        for at, column in enumerate(zip(*loop, strict=True)):
            wanted = minitorch2.stack(list(column), 0).numpy()
            assert numpy.allclose(found[at].numpy(), wanted, 1e-7, 1e-9, equal_nan=True), op.name
