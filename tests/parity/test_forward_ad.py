"""Forward mode beside torch's: dual tensors, views and writes, a Function's own jvp."""

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import alike, check, numbers  # noqa: E402


def unpacked(t, *tensors):
    """The values and tangents of tensors, zeros where there is none."""
    found = [t.autograd.forward_ad.unpack_dual(each) for each in tensors]
    return [(p, t.zeros_like(p) if d is None else d) for p, d in found]


def level(t):
    return t.autograd.forward_ad.dual_level()


def dual(t, *shape, seed=0):
    make = t.autograd.forward_ad.make_dual
    return make(numbers(t, *shape, seed=seed), numbers(t, *shape, seed=seed + 7))


def in_no_grad(t):
    with level(t), t.no_grad():
        x = dual(t, 3)
        return unpacked(t, (x * x).sin(), x, x.requires_grad_(False))


def in_inference(t):
    with level(t):
        x = dual(t, 3)
        with t.inference_mode():
            y = x * 2
        return unpacked(t, y.clone())


def reverse_of_forward(t):
    x = numbers(t, 3).requires_grad_()
    with level(t):
        y = t.autograd.forward_ad.make_dual(x, numbers(t, 3, seed=1)).tanh().exp().sum()
        ((value, tangent),) = unpacked(t, y)
        (first,) = t.autograd.grad(tangent, x, retain_graph=True)
        (second,) = t.autograd.grad(value, x)
    return first, second, y.requires_grad


def forward_of_reverse(t):
    with level(t):
        x = dual(t, 4).requires_grad_()
        (g,) = t.autograd.grad((x.softmax(0) * x.sigmoid()).sum(), x)
        return unpacked(t, g)


def write_into_view(t):
    with level(t):
        base = t.zeros(3, 2)
        row, column = base[1], base[:, 0]
        row.copy_(dual(t, 2))
        return unpacked(t, base, row, column)


def write_into_base(t):
    with level(t):
        base = t.ones(3, 2)
        row = base[1]
        base.mul_(dual(t, 3, 2))
        row.add_(1)
        base[2] = 5.0
        return unpacked(t, base, row, base.t()[0], base.view(-1))


def write_of_a_constant(t):
    with level(t):
        x = dual(t, 3)
        x[0] = 2.0
        y = x.clone()
        y.zero_()
        x[1:].fill_(3.0)
        return unpacked(t, x, y)


def indexed_write(t):
    with level(t):
        x = dual(t, 4, 3)
        x[t.tensor([0, 2])] = dual(t, 2, 3, seed=3)
        x[x.detach() > 1] = 0.0
        x.index_add_(0, t.tensor([1, 1]), dual(t, 2, 3, seed=5))
        return unpacked(t, x)


def detached(t):
    with level(t):
        x = dual(t, 3)
        y = x.detach()
        y.mul_(2)
        return unpacked(t, y, x, x.data)


def without_layout(t):
    """A tangent that lies otherwise in memory than its tensor."""
    with level(t):
        make = t.autograd.forward_ad.make_dual
        x = make(numbers(t, 3, 2), numbers(t, 2, 3, seed=1).t())
        y = make(numbers(t, 3, 2).t(), numbers(t, 2, 3, seed=1))
        z = make(numbers(t, 3, 2), t.ones(()).expand(3, 2))
        return unpacked(t, x.view(6), y.t().view(6), z.view(2, 3))


def change_of_shape(t):
    with level(t):
        x = dual(t, 3)
        x.unsqueeze_(0)
        y = dual(t, 2, 3) * 2
        y.transpose_(0, 1)
        return unpacked(t, x * 2, y + 1)


def unpacked_values(t):
    """The value of a dual tensor has no tangent, nor have its views."""
    with level(t):
        x = dual(t, 2, 3) * 2
        ((value, _),) = unpacked(t, x)
        return unpacked(t, value, value.t(), value * x)


def after_the_level(t):
    with level(t):
        x = dual(t, 3)
    with level(t):
        return unpacked(t, x, x * 2)


def switched_off(t):
    with level(t):
        x = dual(t, 3)
        with t.autograd.forward_ad._set_fwd_grad_enabled(False):
            y = x * 2
        return unpacked(t, y, x * 2)


def through_a_module(t):
    t.manual_seed(0)
    layer = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.Tanh(), t.nn.Linear(4, 2))
    for number, each in enumerate(layer.parameters()):
        each.data = numbers(t, *each.shape, seed=number)
    with level(t):
        ((value, tangent),) = unpacked(t, layer(dual(t, 5, 3)))
        tangent.sum().backward()
    return value, tangent, [each.grad for each in layer.parameters() if each.grad is not None]


def of_a_norm(t):
    with level(t):
        return unpacked(t, t.nn.functional.layer_norm(dual(t, 5, 3), (3,)))


def of_a_clone(t):
    """What is written into a copy's tangent is not written into its source's."""
    with level(t):
        x = dual(t, 3)
        y, z = x.clone(), x + 0
        y[0] = y[1] * y[2]
        z.mul_(2)
        return unpacked(t, x, y, z, y * x)


def of_parameters(t):
    layer = t.nn.Linear(3, 2)
    shapes = {name: each.shape for name, each in layer.named_parameters()}
    with level(t):
        given = {name: dual(t, *shape, seed=2) for name, shape in shapes.items()}
        return unpacked(t, t.func.functional_call(layer, given, (numbers(t, 4, 3),)))


def complex_numbers(t):
    with level(t):
        z = t.complex(dual(t, 3), dual(t, 3, seed=4))
        return unpacked(t, z.abs(), (z * z).real, t.view_as_real(z)[0], z.conj().angle(), z.exp())


def of_two_levels(t):
    return t.func.jvp(
        lambda x: t.func.jvp(lambda y: (y * x).tanh().cumsum(0), (x * 2,), (x.sin(),))[1],
        (numbers(t, 3),),
        (numbers(t, 3, seed=1),),
    )


def batched_with_writes(t):
    def f(x):
        y = x.clone()
        y[0] = y[1] * y[2]
        y.mul_(x)
        return y.exp()

    x = numbers(t, 3)
    return t.func.jacfwd(f)(x), t.vmap(lambda v: t.func.jvp(f, (x,), (v,)))(t.eye(3))


def third_derivative(t):
    f = lambda x: (x.exp() * x.sin()).sum()  # noqa: E731
    return t.func.jacfwd(t.func.jacrev(t.func.jacfwd(f)))(numbers(t, 2))


SITUATIONS = [
    in_no_grad, in_inference, reverse_of_forward, forward_of_reverse, write_into_view,
    write_into_base, write_of_a_constant, indexed_write, detached, without_layout, change_of_shape,
    unpacked_values, after_the_level, switched_off, through_a_module, of_parameters,
    of_a_norm, of_a_clone,
    complex_numbers, of_two_levels, batched_with_writes, third_derivative,
]  # fmt: skip


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_duals(situation):
    """Values and tangents are torch's."""
    check(situation)


def of_function(t, forward, jvp, *others, setup=None, **fields):
    """The unpacked results of a Function applied to a dual tensor and others."""
    methods = {"forward": forward, "jvp": jvp, "backward": lambda ctx, g: g * 2}
    if setup is not None:
        methods["setup_context"] = setup
    fields |= {key: staticmethod(each) for key, each in methods.items() if each is not None}
    made = type("Own", (t.autograd.Function,), fields)
    with level(t):
        found = made.apply(dual(t, 3), *others)
        return unpacked(t, *(found if isinstance(found, tuple) else (found,)))


def twice(ctx, x):
    return x * 2


def pair(ctx, x):
    return x * 2, x * 3


def and_whole_numbers(ctx, x):
    whole = x.long()
    ctx.mark_non_differentiable(whole)
    return x * 2, whole


def in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def with_missing(ctx, x, y):
    ctx.set_materialize_grads(False)
    return x * y


def saving(ctx, x):
    result = x.exp()
    ctx.save_for_forward(x, result)
    ctx.kept = 3
    return result


def keep_result(ctx, inputs, output):
    ctx.save_for_forward(output)


FUNCTIONS = {
    "own": lambda t: of_function(t, twice, lambda ctx, d: d * 7),
    "two": lambda t: of_function(t, pair, lambda ctx, d: (d, d * 5)),
    "integers": lambda t: of_function(t, and_whole_numbers, lambda ctx, d: (d * 4, None)),
    "numbers": lambda t: of_function(t, lambda ctx, x, n: x * n, lambda ctx, d, n: d * 9, 3),
    "in place": lambda t: of_function(t, in_place, lambda ctx, d: d.mul_(2)),
    "view": lambda t: of_function(t, lambda ctx, x: x.view(3, 1), lambda ctx, d: d.view(3, 1)),
    "as it is": lambda t: of_function(t, lambda ctx, x: x, lambda ctx, d: d.view_as(d)),
    "zeros": lambda t: of_function(
        t, lambda ctx, x, y: x * y, lambda ctx, d, e: d + e + 1, t.ones(3)
    ),
    "missing": lambda t: of_function(
        t, with_missing, lambda ctx, d, e: d * (2 if e is None else 3), t.ones(3)
    ),
    "saved": lambda t: of_function(
        t, saving, lambda ctx, d: d * ctx.saved_tensors[1] * ctx.kept + ctx.saved_tensors[0]
    ),
    "nothing saved": lambda t: of_function(
        t, twice, lambda ctx, d: d * (len(ctx.saved_tensors) + 2)
    ),
    "setup": lambda t: of_function(
        t, lambda x: x.exp(), lambda ctx, d: d * ctx.saved_tensors[0], setup=keep_result
    ),
    # refused
    "without": lambda t: of_function(t, twice, None),
    "shape": lambda t: of_function(t, twice, lambda ctx, d: d[:2]),
    "too many": lambda t: of_function(t, twice, lambda ctx, d: (d, d)),
    "too few": lambda t: of_function(t, pair, lambda ctx, d: d),
    "of integers": lambda t: of_function(t, and_whole_numbers, lambda ctx, d: (d, d)),
    "copied": lambda t: of_function(t, in_place, lambda ctx, d: d * 2),
    "no view": lambda t: of_function(t, lambda ctx, x: x.view(3, 1), lambda ctx, d: d.clone()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name):
    """An autograd.Function's jvp is called as torch calls it, and refused where torch refuses."""
    check(FUNCTIONS[name])


def own(t):
    """A Function whose jvp is seven times its true one, so that nobody else's is taken for it."""

    class Own(t.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x.exp()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(inputs[0])
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

        @staticmethod
        def jvp(ctx, d):
            return d * 7 * ctx.saved_tensors[0].exp()

    return Own.apply


TRANSFORMS = {
    "jvp": lambda t: t.func.jvp(own(t), (numbers(t, 3),), (numbers(t, 3, seed=1),)),
    "jacfwd": lambda t: t.func.jacfwd(own(t))(numbers(t, 3)),
    "jacrev": lambda t: t.func.jacrev(own(t))(numbers(t, 3)),
    "vmap_jvp": lambda t: t.vmap(lambda x: t.func.jvp(own(t), (x,), (x * 2,)))(numbers(t, 3)),
    "jvp_vmap": lambda t: t.func.jvp(t.vmap(own(t)), (numbers(t, 3),), (numbers(t, 3, seed=1),)),
    "grad_jvp": lambda t: t.func.grad(
        lambda x: t.func.jvp(own(t), (x,), (t.ones(3),))[1].sum()
    )(numbers(t, 3)),
    "jvp_grad": lambda t: t.func.jvp(
        t.func.grad(lambda x: own(t)(x).sum()), (numbers(t, 3),), (numbers(t, 3, seed=1),)
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMS)
def test_function_in_transforms(name):
    """The same under torch.func."""
    check(TRANSFORMS[name])


ROUNDED = {
    "long": lambda t, x: x * x.long().to(x.dtype),
    "bool": lambda t, x: x * x.bool().to(x.dtype),
    "to": lambda t, x: x.to(t.int32) + x * x.to(t.uint8),
    "comparison": lambda t, x: t.where(x > 0, x * x, x.sign()) * (x == x).float(),
    "argsort": lambda t, x: x[x.argsort()] * x.argmax() + x.max(0).values,
    "quantile": lambda t, x: x.quantile(0.3) * x.nanquantile(0.6),
}


@pytest.mark.parametrize("name", ROUNDED)
def test_what_has_no_tangent_in_between(name):
    """Integers and truth made of duals stand beside tangents."""

    def program(t):
        def call(x):
            return ROUNDED[name](t, x)

        x, tangent = numbers(t, 4, low=-3.0, high=3.0), numbers(t, 4, seed=1)
        return t.func.jvp(call, (x,), (tangent,)), t.func.jacfwd(call)(x)

    check(program)


REFUSED = {
    "two levels": lambda t: level(t).__enter__() and level(t).__enter__(),
    "no level": lambda t: dual(t, 3),
    "whole numbers": lambda t: t.autograd.forward_ad.make_dual(t.arange(3), t.arange(3)),
    "other shape": lambda t: t.autograd.forward_ad.make_dual(t.ones(3), t.ones(2)),
    "past the end": lambda t: t.autograd.forward_ad.exit_dual_level(),
}


@pytest.mark.parametrize("name", ["whole numbers", "other shape"])
def test_refusals_inside(name):
    """What make_dual refuses within a level."""

    def situation(t):
        with level(t):
            return REFUSED[name](t)

    check(situation)


@pytest.mark.parametrize("name", ["no level", "past the end"])
def test_refusals_outside(name):
    """What is refused without a level."""
    check(REFUSED[name])


def test_levels_do_not_nest():
    """A second dual_level inside of one is refused; the first goes on."""

    def situation(t):
        with level(t):
            with pytest.raises(RuntimeError, match="Nested forward mode AD"), level(t):
                pass
            return unpacked(t, dual(t, 3).exp())

    check(situation)


def _dual(t, primal, tangent):
    with t.autograd.forward_ad.dual_level():
        return t.autograd.forward_ad.make_dual(primal, tangent)


def _pushed(t, primal, tangent):
    return t.func.jvp(lambda x: x * 2, (primal,), (tangent,))


@pytest.mark.parametrize("way", [_dual, _pushed])
@pytest.mark.parametrize(
    ("primal", "tangent"),
    [
        (lambda t: t.ones(2), lambda t: t.ones(3)),
        (lambda t: t.ones(2), lambda t: t.ones(2, 1)),
        (lambda t: t.ones(()), lambda t: t.ones(1)),
        (lambda t: t.arange(2), lambda t: t.ones(2)),
        (lambda t: t.ones(2), lambda t: t.arange(2)),
        (lambda t: t.ones(2) > 0, lambda t: t.ones(2)),
        (lambda t: 1.0, lambda t: t.ones(())),
        (lambda t: t.ones(()), lambda t: None),
        (lambda t: [], lambda t: []),
        (lambda t: [t.ones(2)], lambda t: t.ones(2)),
    ],
)
def test_tangents_that_are_none_are_refused_in_torchs_words(way, primal, tangent):
    said = []
    for t in (minitorch2, torch):
        with pytest.raises((RuntimeError, ValueError, AttributeError)) as refusal:
            way(t, primal(t), tangent(t))
        said.append(refusal.value)
    mine, theirs = said
    words = str(theirs).split(" Got primals with structure")[0].removeprefix("jvp(f, primals, ")
    assert alike(mine, theirs, "" if isinstance(theirs, AttributeError) else words)


def test_a_complex_tensor_may_have_a_real_tangent():
    def program(t):
        x = t.tensor([1 + 2j, -1j])
        return t.func.jvp(lambda x: x * x * 1j, (x,), (t.tensor([1.0, 2.0]),))

    mine, theirs = (
        [numpy.array(each.tolist()) for each in program(t)] for t in (minitorch2, torch)
    )
    assert numpy.allclose(mine, theirs)


def test_a_dual_tensor_is_not_made_dual_again():
    for t in (minitorch2, torch):
        forward_ad = t.autograd.forward_ad
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(t.ones(2), t.ones(2))
            for again in (dual, dual[:1]):
                with pytest.raises(RuntimeError, match="already has a forward gradient"):
                    forward_ad.make_dual(again, t.ones_like(again))
            forward_ad.make_dual(forward_ad.unpack_dual(dual).primal, t.ones(2))


def test_a_view_of_what_has_no_tangent_has_none_in_levels_around_or_inside():
    forward_ad = minitorch2.autograd.forward_ad
    ones = minitorch2.ones(2)

    def inside(x):
        with forward_ad.dual_level():
            made = forward_ad.make_dual(x, ones * 3) * 2
            seen = forward_ad.unpack_dual(made).primal.view(2, 1)[0]
            assert forward_ad.unpack_dual(seen).tangent is None
            assert forward_ad.unpack_dual(made.view(2, 1)[0]).tangent.tolist() == [6.0]
            return seen * 1

    _, tangent = minitorch2.func.jvp(inside, (ones,), (ones * 5,))
    assert tangent.tolist() == [10.0]
