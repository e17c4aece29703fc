"""Composites that have a derivative of their own: all ways to differentiate them, beside torch's.

Forward mode, derivatives of derivatives, mapped over a batch, compiled: the derivative is the one
of the row, so that what it keeps must not be written, and second derivatives are those of torch.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2 as ours  # noqa: E402
from minitorch2.ops.table import all_ops  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402

ROWS = [op.name for op in all_ops() if op.slope]
SIZES = ((3, 5), (40, 256))  # below and above the size from which eager runs a program


def operands(t: Any, shape: tuple[int, ...]) -> list[Any]:
    """A point, a direction and weights."""
    return [numbers(t, *shape, seed=seed, low=-2, dtype="float64") for seed in range(3)]


def gradient(t: Any, f: Callable, x: Any, w: Any) -> Any:
    """The gradient of a weighted sum of results, which may be differentiated again."""
    return t.autograd.grad((f(x) * w).sum(), x, create_graph=True)[0]


def backward_three_times(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    x = x.clone().requires_grad_()
    first = gradient(t, f, x, w)
    (second,) = t.autograd.grad((first * v).sum(), x, create_graph=True)
    (third,) = t.autograd.grad((second * w).sum(), x)
    return first, second, third


def forward_twice(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    return t.func.jvp(lambda z: t.func.jvp(f, (z,), (v,)), (x,), (w,))


def forward_of_backward(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    return t.func.jvp(t.func.grad(lambda z: (f(z) * w).sum()), (x,), (v,))


def backward_of_forward(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    return t.func.grad(lambda z: (t.func.jvp(f, (z,), (v,))[1] * w).sum())(x)


def duals(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    ad = t.autograd.forward_ad
    with ad.dual_level():
        return tuple(ad.unpack_dual(f(ad.make_dual(x, v))))


def each_sample(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    """Samples are rows, then columns: the row's only dimension is the first or the last."""
    loss = t.func.grad(lambda z, w: (f(z) * w).sum())
    return (
        t.vmap(f)(x),
        t.vmap(f, in_dims=1, out_dims=1)(x),
        t.vmap(loss)(x, w),
        t.vmap(lambda z, w, v: t.func.jvp(lambda z: loss(z, w), (z,), (v,)))(x, w, v),
        t.vmap(t.vmap(f))(x),
        t.vmap(lambda z: t.vmap(f)(z.view(1, -1)))(x),
    )


def through_a_batch(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    x = x.clone().requires_grad_()
    first = gradient(t, t.vmap(f), x, w)
    return first, t.autograd.grad((first * v).sum(), x)[0]


def jacobians(t: Any, f: Callable, x: Any, v: Any, w: Any) -> Any:
    x, w = x[:2, :3].clone(), w[:2, :3]
    hessian = t.func.hessian(lambda z: (f(z) * w).sum())
    return t.func.jacrev(f)(x), t.func.jacfwd(f)(x), hessian(x)


WAYS = (
    backward_three_times, forward_twice, forward_of_backward, backward_of_forward, duals,
    each_sample, through_a_batch, jacobians,
)  # fmt: skip


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("name", ROWS)
def test_all_ways(name: str, way: Callable, shape: tuple[int, ...]) -> None:
    for dim in (-1,) if way in (each_sample, through_a_batch) else (-1, 0):

        def program(t: Any, dim: int = dim) -> Any:
            return way(t, lambda z: getattr(t, name)(z, dim), *operands(t, shape))

        check(program, 1e-10)


@pytest.mark.numba
@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("name", ROWS)
def test_compiled(name: str, shape: tuple[int, ...]) -> None:
    """First and second derivatives of compiled code, and those taken inside of it."""

    def program(t: Any) -> Any:
        x, v, w = operands(t, shape)
        x.requires_grad_()

        def f(x: Any) -> Any:
            return getattr(t, name)(x.sin(), -1) * x

        def inside(x: Any) -> Any:
            (f(x) * w).sum().backward()

        run, step = (t.compile(f), t.compile(inside)) if t is ours else (f, inside)
        first = gradient(t, run, x, w)
        (second,) = t.autograd.grad((first * v).sum(), x)
        step(x)
        return first, second, x.grad

    check(program, 1e-10)


def alone(t: Any, name: str, x: Any) -> Any:
    return getattr(t, name)(x * 1, -1).add_(1)


def mapped(t: Any, name: str, x: Any) -> Any:
    return t.vmap(lambda z: getattr(t, name)(z, 0))(x * 1).add_(1)


def its_operand(t: Any, name: str, x: Any) -> Any:
    return getattr(t, name)((y := x * 1), -1) + y.add_(1)


def refused(t: Any, run: Callable, shape: tuple[int, ...]) -> bool:
    """Whether the backward refuses, because the result was written."""
    x = operands(t, shape)[0].requires_grad_()
    result = run(x)
    try:
        result.sum().backward()
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return True
    return False


@pytest.mark.parametrize("shape", SIZES)
@pytest.mark.parametrize("name", ROWS)
def test_a_written_result_is_refused(name: str, shape: tuple[int, ...]) -> None:
    """Of one call, of one mapped over a batch, and in compiled code."""
    for write in (alone, mapped, its_operand):
        for t in (torch, ours):
            assert refused(t, partial(write, t, name), shape) == (write is not its_operand)
        run = ours.compile(partial(write, ours, name), backend="aot_eager")
        assert refused(ours, run, shape) == (write is not its_operand)


@pytest.mark.parametrize("name", ROWS)
def test_the_node_is_the_row_s(name: str) -> None:
    """Mapped over a batch and under a profiler, too."""
    x = ours.randn(3, 4, requires_grad=True)
    row = getattr(ours, name)
    found = [row(x, -1), ours.vmap(lambda z: row(z, 0))(x)]
    with ours.profiler.profile():
        found.append(row(x, -1))
    theirs = getattr(torch, name)(torch.randn(3, 4, requires_grad=True), -1)
    assert {each.grad_fn.name() for each in found} == {theirs.grad_fn.name()}
