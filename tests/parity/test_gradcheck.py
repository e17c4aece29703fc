"""gradcheck and gradgradcheck beside torch's: the same verdicts on right and wrong gradients."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check, numbers  # noqa: E402


def leaf(t, *shape, seed=0, dtype="float64"):
    return numbers(t, *shape, seed=seed, low=0.2, dtype=dtype).requires_grad_()


def wrong(t, factor=2.0, first=None):
    """A square whose backward is off by a factor."""

    class Wrong(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad * x * factor * (next(first) if first is not None else 1)

    return Wrong.apply


def pushing(t, factor, batched=True):
    """A square whose jvp is off by a factor."""

    class Pushing(t.autograd.Function):
        generate_vmap_rule = batched

        @staticmethod
        def forward(x):
            return x * x

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)
            ctx.save_for_forward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.saved_tensors[0] * 2

        @staticmethod
        def jvp(ctx, tangent):
            return tangent * ctx.saved_tensors[0] * factor

    return Pushing.apply


def verdict(t, function, inputs, name="gradcheck", **options):
    return getattr(t.autograd, name)(function, inputs, **options)


PROGRAMS = {
    "right": lambda t: verdict(t, lambda x: x.exp() * x, (leaf(t, 2, 2),)),
    "one": lambda t: verdict(t, t.sin, leaf(t, 3)),
    "two": lambda t: verdict(t, lambda x, y: (x @ y, x.sum()), (leaf(t, 2, 3), leaf(t, 3, 2))),
    "wrong": lambda t: verdict(t, wrong(t, 3.0), leaf(t, 2)),
    "wrong_quietly": lambda t: verdict(t, wrong(t, 3.0), leaf(t, 2), raise_exception=False),
    "right_function": lambda t: verdict(t, wrong(t, 2.0), leaf(t, 2)),
    "not_the_same_twice": lambda t: verdict(
        t, wrong(t, 2.0, iter([1] * 2 + [1 + 1e-9] * 50)), leaf(t, 2)
    ),
    "nearly_the_same_twice": lambda t: verdict(
        t, wrong(t, 2.0, iter([1] * 2 + [1 + 1e-9] * 50)), leaf(t, 2), nondet_tol=1e-5,
        check_undefined_grad=False,
    ),
    "fast": lambda t: verdict(t, lambda x: x.exp() * x.sum(), leaf(t, 4), fast_mode=True),
    "fast_wrong": lambda t: verdict(t, wrong(t, 3.0), leaf(t, 4), fast_mode=True),
    "batched": lambda t: verdict(t, lambda x: x.exp() @ x, leaf(t, 3, 3), check_batched_grad=True),
    "forward": lambda t: verdict(t, lambda x: x.exp() * x.sum(), leaf(t, 3), check_forward_ad=True),
    "forward_batched": lambda t: verdict(
        t, lambda x: x.sin() * x.sum(), leaf(t, 3), check_forward_ad=True,
        check_batched_forward_grad=True,
    ),
    "forward_right": lambda t: verdict(t, pushing(t, 2.0), leaf(t, 3), check_forward_ad=True),
    "forward_wrong": lambda t: verdict(t, pushing(t, 3.0), leaf(t, 3), check_forward_ad=True),
    "forward_unasked": lambda t: verdict(t, pushing(t, 3.0), leaf(t, 3)),
    "forward_alone": lambda t: verdict(
        t, pushing(t, 3.0), leaf(t, 3), check_forward_ad=True, check_backward_ad=False,
        check_undefined_grad=False,
    ),
    "forward_without": lambda t: verdict(t, wrong(t, 2.0), leaf(t, 2), check_forward_ad=True),
    "forward_batched_function": lambda t: verdict(
        t, pushing(t, 2.0), leaf(t, 3), check_forward_ad=True, check_batched_forward_grad=True
    ),
    "forward_complex": lambda t: verdict(
        t, lambda x: (x * x.conj()).exp(), leaf(t, 2, dtype="complex128"), check_forward_ad=True
    ),
    "nothing_required": lambda t: verdict(t, t.sin, numbers(t, 2, dtype="float64")),
    "cut": lambda t: verdict(t, lambda x: x.detach() * 2, leaf(t, 2)),
    "dtypes": lambda t: verdict(t, t.sin, leaf(t, 2), check_grad_dtypes=True),
    "second": lambda t: verdict(t, lambda x: x**3 * x.sum(), leaf(t, 3), "gradgradcheck"),
    "second_two": lambda t: verdict(
        t, lambda x, y: x * y.exp(), (leaf(t, 2), leaf(t, 2, seed=1)), "gradgradcheck"
    ),
    "second_given": lambda t: verdict(
        t, lambda x: x**3, (leaf(t, 2),), "gradgradcheck", grad_outputs=(leaf(t, 2, seed=3),)
    ),
    "second_strided": lambda t: verdict(
        t, lambda x: x**3, leaf(t, 2, 2), "gradgradcheck", gen_non_contig_grad_outputs=True
    ),
    "second_wrong": lambda t: verdict(
        t, lambda x: (x * x.detach()) ** 2, leaf(t, 2), "gradgradcheck"
    ),
    "complex": lambda t: verdict(
        t, lambda x: x * x.conj() * x, (leaf(t, 3) + 1j).detach().requires_grad_()
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(PROGRAMS[name])


def test_single_precision_is_warned_about():
    import minitorch2

    x = minitorch2.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="double precision"):
        minitorch2.autograd.gradcheck(lambda v: v * 2, x, eps=1e-2)
