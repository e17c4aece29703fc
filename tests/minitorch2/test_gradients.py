"""Every vjp against central finite differences, and the vjp's own vjp, in double precision."""

from collections.abc import Callable
from functools import partial

import pytest

import minitorch2
from minitorch2.autograd import gradcheck, gradgradcheck
from minitorch2.ops.table import Op
from minitorch2.tensors import Tensor
from tests.op_samples import Sample, build, rows, samples, specs_in

LIMIT = 5  # samples of a row; finite differences need two calls for each element
RANDOM = [op.name for op in rows() if op.effects == "random" or op.kind == "random"]
# The derivative of a saved mask or count is not there to be found.
FIRST_ONLY = ("floor_divide", "trunc_divide")
# The gradient of these is declared, not what the function does.
DECLARED = ("detach", "rebase", "convert", "gradients")


def smooth(op: Op) -> list[Sample]:
    """Samples with float64 tensors only among the differentiable ones, away from kinks."""
    found = []
    for sample in samples(op):
        specs = specs_in(sample)
        floats = [spec for spec in specs if spec.dtype.is_floating_point]
        if sample.fails or not sample.smooth or not any(spec.grad for spec in floats):
            continue
        if op.vjp is None and op.decomp is None:
            continue
        if all(spec.dtype.short == "f64" for spec in floats) and all(
            0 < spec.flat.size <= 40 for spec in floats
        ):
            found.append(sample)
    return found[:LIMIT]


ROWS = [
    op
    for op in rows()
    if op.inplace_of is None and op.name not in (*RANDOM, *DECLARED, "copy_") and smooth(op)
]


def as_function(op: Op, sample: Sample) -> tuple:
    """A function of the sample's differentiable tensors, and those tensors."""
    args, kwargs = build((sample.args, sample.kwargs), minitorch2, grad=True)
    leaves: list[Tensor] = []

    def collect(value):
        if isinstance(value, Tensor) and value.requires_grad:
            leaves.append(value)
        for item in value if isinstance(value, (tuple, list)) else ():
            collect(item)

    collect(args)
    collect(tuple(kwargs.values()))

    def function(*given):
        rest = iter(given)

        def put(value):
            if isinstance(value, Tensor) and any(value is leaf for leaf in leaves):
                return next(rest)
            if isinstance(value, (tuple, list)):
                return type(value)(put(item) for item in value)
            return value

        return op.public(*put(args), **{key: put(value) for key, value in kwargs.items()})

    apart = [leaf.contiguous() if 0 in leaf.stride() else leaf for leaf in leaves]
    return function, [leaf.detach().requires_grad_() for leaf in apart]


@pytest.mark.parametrize("name", ["exp", "tanh", "abs", "sgn", "phase", "conjugate", "reciprocal"])
def test_vjp_of_complex_numbers(name: str) -> None:
    """Holomorphic functions and others, first and second derivatives, as functions of the parts."""
    z = minitorch2.tensor([0.5 + 1j, -1.2 + 0.3j, 2 - 0.7j], dtype=minitorch2.complex128)
    z.requires_grad = True
    function = next(op for op in rows() if op.name == name).public
    assert gradcheck(function, (z,))
    assert gradgradcheck(lambda z: function(z) * z, (z,))


def test_gradcheck_finds_a_missing_conjugate() -> None:
    """A vjp for real numbers, called with complex ones as if it were right for them."""

    class Square(minitorch2.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    z = minitorch2.tensor([0.5 + 1j], dtype=minitorch2.complex128, requires_grad=True)
    with pytest.raises(minitorch2.errors.AutogradError):
        gradcheck(Square.apply, (z,))
    assert gradcheck(lambda z: z * z, (z,))


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_vjp(op: Op) -> None:
    """The first derivative."""
    for sample in smooth(op):
        function, leaves = as_function(op, sample)
        assert gradcheck(function, leaves), repr(sample)


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_vjp_of_vjp(op: Op) -> None:
    """The second derivative."""
    for sample in smooth(op)[:2]:
        function, leaves = as_function(op, sample)
        found = function(*leaves)
        found = found if isinstance(found, tuple) else (found,)
        kept = [place for place, out in enumerate(found) if out.requires_grad]
        if kept:
            assert gradgradcheck(partial(chosen, function, kept), leaves), repr(sample)


def chosen(function: Callable, kept: list[int], *given: Tensor) -> tuple:
    """The results at some places."""
    found = function(*given)
    found = found if isinstance(found, tuple) else (found,)
    return tuple(found[place] for place in kept)


@pytest.mark.parametrize(
    "op",
    [op for op in rows() if op.vjp and op.name not in ("copy_", "rebase")],
    ids=lambda op: op.name,
)
def test_every_vjp_is_reached(op: Op) -> None:
    """A row with a vjp has a sample whose result requires a gradient."""
    for sample in samples(op):
        if sample.fails:
            continue
        args, kwargs = build((sample.args, sample.kwargs), minitorch2, grad=True)
        result = op.public(*args, **kwargs)
        first = result[0] if isinstance(result, tuple) else result
        if first.requires_grad:
            return
    pytest.fail(f"no sample of {op.name} is differentiable")
