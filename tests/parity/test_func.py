"""torch.func beside torch's: vmap, grad, vjp, jvp, Jacobians, ensembles, nested in each other."""

import warnings

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import alike, check, numbers  # noqa: E402


def poly(x):
    """A scalar function whose derivatives of all orders differ."""
    return (x**3 * x.sin()).sum()


def pair(x, y):
    """Two outputs of two inputs."""
    return x * y.sin(), (x + y).exp()


def affine(t, weight, bias, x):
    return t.tanh(weight @ x + bias)


def _model(t, seed=0):
    """The same small network in both libraries."""
    model = t.nn.Sequential(t.nn.Linear(4, 5), t.nn.Tanh(), t.nn.Linear(5, 3))
    with t.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(t, *parameter.shape, seed=seed + index))
    return model


def _conv(t, seed=0):
    model = t.nn.Sequential(
        t.nn.Conv2d(2, 4, 3, padding=1), t.nn.ReLU(), t.nn.MaxPool2d(2), t.nn.Flatten(),
        t.nn.Linear(4 * 9, 3),
    )  # fmt: skip
    with t.no_grad():
        for index, parameter in enumerate(model.parameters()):
            parameter.copy_(numbers(t, *parameter.shape, seed=seed + index))
    return model


def per_sample_gradients(t, make, shape):
    """torch's tutorial: the gradient of the loss of each sample."""
    model = make(t)
    parameters = {k: v.detach() for k, v in model.named_parameters()}

    def loss(parameters, x, y):
        out = t.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return t.nn.functional.cross_entropy(out, y.unsqueeze(0))

    x, y = numbers(t, 6, *shape), t.tensor([0, 1, 2, 0, 1, 2])
    return t.func.vmap(t.func.grad(loss), in_dims=(None, 0, 0))(parameters, x, y)


def ensemble(t, make, shape):
    """torch's tutorial: several models as one."""
    models = [make(t, seed=10 * k) for k in range(4)]
    parameters, buffers = t.func.stack_module_state(models)
    base = make(t)

    def run(parameters, buffers, x):
        return t.func.functional_call(base, (parameters, buffers), (x,))

    x = numbers(t, 5, *shape)
    out = t.func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, x)
    own = t.func.vmap(run)(parameters, buffers, numbers(t, 4, 5, *shape))
    loss = (out**2).sum() + own.sum()
    return out, own, t.autograd.grad(loss, list(parameters.values()))


def jacobian_of_a_batch(t):
    """Per-sample Jacobians two ways: vmap of jacrev, and rows by grad."""
    weight, bias, x = numbers(t, 3, 4), numbers(t, 3, seed=1), numbers(t, 5, 4, seed=2)
    each = t.func.vmap(t.func.jacrev(lambda x: affine(t, weight, bias, x)))(x)
    forward = t.func.vmap(t.func.jacfwd(lambda x: affine(t, weight, bias, x)))(x)
    wrt = t.func.vmap(t.func.jacrev(lambda w, x: affine(t, w, bias, x)), in_dims=(None, 0))(
        weight, x
    )
    return each, forward, wrt


def grads_batched(t):
    x = numbers(t, 4).requires_grad_()
    y = x.exp() * x.sum()
    eye = t.eye(4)
    both = t.autograd.grad(y, x, eye, retain_graph=True, is_grads_batched=True)
    return both, t.func.vmap(lambda v: t.autograd.grad(y, x, v, retain_graph=True))(eye)


def closure_grad(t):
    """The inner function's closure is differentiated by the outer one and by autograd."""
    w = numbers(t, 3, seed=4).requires_grad_()

    def outer(x):
        inner = t.func.grad(lambda y: (y * x * w).exp().sum())
        return inner(t.ones(3)).sum()

    value = t.func.grad(outer)(numbers(t, 3))
    (back,) = t.autograd.grad(value.sum(), w)
    return value, back


class Cube:
    """An autograd.Function of either library, with its own or a generated vmap rule."""

    @staticmethod
    def of(t, generate, own=False):
        class Function(t.autograd.Function):
            generate_vmap_rule = generate

            @staticmethod
            def forward(x, y):
                return x**3 * y

            @staticmethod
            def setup_context(ctx, inputs, output):
                ctx.save_for_backward(*inputs)

            @staticmethod
            def backward(ctx, grad):
                x, y = ctx.saved_tensors
                return 3 * x**2 * y * grad, x**3 * grad

        if own:
            Function.vmap = staticmethod(
                lambda info, dims, x, y: (
                    Function.apply(
                        x if dims[0] is None else x.movedim(dims[0], 0),
                        y if dims[1] is None else y.movedim(dims[1], 0),
                    ),
                    0,
                )
            )
        return Function.apply


def in_place(t):
    def f(x, y):
        z = t.zeros_like(x)
        z[0] = y
        z += x
        z.mul_(2).clamp_(min=-1)
        z[1:].copy_(x[:2])
        return z, x.new_ones(2).add_(y)

    return t.vmap(f)(numbers(t, 4, 3), numbers(t, 4, seed=3))


PROGRAMS = {
    "grad": lambda t: t.func.grad(poly)(numbers(t, 4)),
    "grad_argnums": lambda t: t.func.grad(lambda x, y: (x * y * y).sum(), argnums=(1, 0))(
        numbers(t, 3), numbers(t, 3, seed=1)
    ),
    "grad_of_dict": lambda t: t.func.grad(lambda d: (d["a"] * d["b"][0]).sum())(
        {"a": numbers(t, 3), "b": [numbers(t, 3, seed=1)]}
    ),
    "grad_aux": lambda t: t.func.grad(lambda x: (poly(x), {"twice": x * 2}), has_aux=True)(
        numbers(t, 3)
    ),
    "grad_and_value": lambda t: t.func.grad_and_value(lambda x: (poly(x), x.exp()), has_aux=True)(
        numbers(t, 3)
    ),
    "grad_unused": lambda t: t.func.grad(lambda x, y: y.sum())(numbers(t, 3), numbers(t, 3)),
    "grad_grad_grad": lambda t: t.func.grad(t.func.grad(t.func.grad(poly)))(t.tensor(0.7)),
    "grad_of_tracked": lambda t: t.func.grad(poly)(numbers(t, 3).requires_grad_()).detach(),
    "grad_under_no_grad": lambda t: t.no_grad()(t.func.grad(poly))(numbers(t, 3)),
    "no_grad_inside": lambda t: t.func.grad(lambda x: (x * t.no_grad()(t.sin)(x)).sum())(
        numbers(t, 3)
    ),
    "closure": closure_grad,
    "perturbations": lambda t: t.func.grad(
        lambda x: x * t.func.grad(lambda y: x * y)(t.tensor(1.0))
    )(t.tensor(3.0)),
    "vjp": lambda t: (lambda out, pull: (out, pull((out[0], out[1] * 2))))(
        *t.func.vjp(pair, numbers(t, 3), numbers(t, 3, seed=1))
    ),
    "vjp_aux": lambda t: (lambda out, pull, aux: (out, pull(out), aux))(
        *t.func.vjp(lambda x: (x.exp(), x + 1), numbers(t, 3), has_aux=True)
    ),
    "jvp": lambda t: t.func.jvp(
        pair,
        (numbers(t, 3), numbers(t, 3, seed=1)),
        (numbers(t, 3, seed=2), numbers(t, 3, seed=3)),
    ),
    "jvp_aux": lambda t: t.func.jvp(
        lambda x: (x.exp(), x + 1), (numbers(t, 3),), (numbers(t, 3),), has_aux=True
    ),
    "jvp_of_jvp": lambda t: t.func.jvp(
        lambda x: t.func.jvp(t.sin, (x,), (x * 2,))[1], (numbers(t, 3),), (numbers(t, 3),)
    ),
    "jvp_independent": lambda t: t.func.jvp(lambda x: t.ones(2), (numbers(t, 3),), (t.ones(3),)),
    "linearize": lambda t: (lambda out, push: (out, push(t.ones(3)), push(numbers(t, 3, seed=4))))(
        *t.func.linearize(lambda x: x.exp() * x.sum(), numbers(t, 3))
    ),
    "jacrev": lambda t: t.func.jacrev(pair, argnums=(0, 1))(numbers(t, 2), numbers(t, 2, seed=1)),
    "jacrev_chunks": lambda t: t.func.jacrev(lambda x: x.exp() * x.sum(), chunk_size=2)(
        numbers(t, 5)
    ),
    "jacfwd": lambda t: t.func.jacfwd(pair, argnums=(0, 1))(numbers(t, 2), numbers(t, 2, seed=1)),
    "jacfwd_aux": lambda t: t.func.jacfwd(lambda x: (x**2, x), has_aux=True)(numbers(t, 2, 2)),
    "hessian": lambda t: t.func.hessian(poly)(numbers(t, 3)),
    "hessian_dict": lambda t: t.func.hessian(lambda d: (d["a"] ** 2 * d["b"]).sum())(
        {"a": numbers(t, 2), "b": numbers(t, 2, seed=1)}
    ),
    "jacrev_jacfwd": lambda t: t.func.jacrev(t.func.jacfwd(lambda x: x**3 * x.sum()))(
        numbers(t, 2)
    ),
    "jacfwd_jacfwd": lambda t: t.func.jacfwd(t.func.jacfwd(poly))(numbers(t, 3)),
    "third": lambda t: t.func.jacrev(t.func.hessian(poly))(numbers(t, 2)),
    "batch_of_hessians": lambda t: t.vmap(t.func.hessian(poly))(numbers(t, 4, 3)),
    "batch_of_jacobians": jacobian_of_a_batch,
    "jacobian_of_a_map": lambda t: t.func.jacrev(t.vmap(poly))(numbers(t, 2, 3)),
    "map_of_map_of_grad": lambda t: t.vmap(t.vmap(t.func.grad(poly)), in_dims=1)(
        numbers(t, 2, 4, 3)
    ),
    "grad_of_map_of_grad": lambda t: t.func.grad(lambda x: t.vmap(t.func.grad(poly))(x).sum())(
        numbers(t, 2, 3)
    ),
    "grads_batched": grads_batched,
    "per_sample": lambda t: per_sample_gradients(t, _model, (4,)),
    "per_sample_conv": lambda t: per_sample_gradients(t, _conv, (2, 6, 6)),
    "ensemble": lambda t: ensemble(t, _model, (4,)),
    "ensemble_conv": lambda t: ensemble(t, _conv, (2, 6, 6)),
    "function_vmap": lambda t: t.vmap(Cube.of(t, True), in_dims=(0, None))(
        numbers(t, 4, 3), numbers(t, 3)
    ),
    "function_own_vmap": lambda t: t.vmap(Cube.of(t, False, own=True), in_dims=(1, None))(
        numbers(t, 3, 4), numbers(t, 3)
    ),
    "function_per_sample": lambda t: t.vmap(
        t.func.grad(lambda x, y: Cube.of(t, True)(x, y).sum(), argnums=(0, 1)), in_dims=(0, None)
    )(numbers(t, 4, 3), numbers(t, 3)),
    "function_backward": lambda t: t.func.grad(
        lambda y: t.vmap(Cube.of(t, True), in_dims=(0, None))(numbers(t, 4, 3), y).sum()
    )(numbers(t, 3)),
    "function_jacobian": lambda t: t.func.jacrev(lambda x: Cube.of(t, True)(x, x))(numbers(t, 3)),
    "function_without_rule": lambda t: t.vmap(Cube.of(t, False), in_dims=(0, None))(
        numbers(t, 4, 3), numbers(t, 3)
    ),
    "in_place": in_place,
    "in_place_refused": lambda t: t.vmap(lambda x, y: x.add_(y), in_dims=(None, 0))(
        t.zeros(3), numbers(t, 4, 3)
    ),
    "in_dims_nested": lambda t: t.vmap(
        lambda d, p: d["x"] * p[0] + p[1], in_dims=({"x": 1}, (None, 0))
    )({"x": numbers(t, 3, 4)}, (numbers(t, 3), numbers(t, 4, 3))),
    "out_dims": lambda t: t.vmap(lambda x: (x, {"s": x.sum(), "c": t.ones(2)}), out_dims=(1, 0))(
        numbers(t, 4, 3)
    ),
    "out_dims_last": lambda t: t.vmap(lambda x: x * 2, out_dims=-1)(numbers(t, 4, 3, 2)),
    "out_dims_none": lambda t: t.vmap(lambda x: t.ones(3), out_dims=None)(numbers(t, 4)),
    "out_dims_none_refused": lambda t: t.vmap(lambda x: x * 2, out_dims=None)(numbers(t, 4)),
    "kwargs": lambda t: t.vmap(lambda x, y=1: x * y)(numbers(t, 4), y=numbers(t, 4, seed=1)),
    "chunks": lambda t: t.vmap(lambda x, y: (x * y, x.sum()), (0, None), chunk_size=3)(
        numbers(t, 7, 2), numbers(t, 2)
    ),
    "same_numbers": lambda t: (lambda out: (out[0] == out[1]).all())(
        t.vmap(lambda x: x * 0 + t.rand(3), randomness="same")(t.zeros(4, 3))
    ),
    "different_numbers": lambda t: (lambda out: (out[0] == out[1]).any())(
        t.vmap(lambda x: x * 0 + t.rand(3), randomness="different")(t.zeros(4, 3))
    ),
    "dropout": lambda t: (lambda out: [sorted(set(out.flatten().tolist())), list(out.shape)])(
        t.vmap(lambda x: t.nn.functional.dropout(x, 0.5), randomness="different")(t.ones(40, 5))
    ),
    "random_refused": lambda t: t.vmap(lambda x: x + t.rand(3))(t.zeros(4, 3)),
    "item_refused": lambda t: t.vmap(lambda x: x.sum().item())(numbers(t, 4, 3)),
    "if_refused": lambda t: t.vmap(lambda x: x if x.sum() > 0 else -x)(numbers(t, 4, 3)),
    "nonzero_refused": lambda t: t.vmap(lambda x: x.nonzero())(numbers(t, 4, 3)),
    "sizes_refused": lambda t: t.vmap(lambda x, y: x)(numbers(t, 4), numbers(t, 3)),
    "in_dims_refused": lambda t: t.vmap(lambda x: x, in_dims=(0, 0))(numbers(t, 4)),
    "in_dim_range": lambda t: t.vmap(lambda x: x, in_dims=2)(numbers(t, 4)),
    "no_batch": lambda t: t.vmap(lambda x: x, in_dims=None)(numbers(t, 4)),
    "not_a_tensor": lambda t: t.vmap(lambda x, y: x)(numbers(t, 4), 3),
    "returns_number": lambda t: t.vmap(lambda x: 3)(numbers(t, 4)),
    "randomness_value": lambda t: t.vmap(lambda x: x, randomness="some")(numbers(t, 4)),
    "grad_vector_refused": lambda t: t.func.grad(lambda x: x * 2)(numbers(t, 3)),
    "grad_tuple_refused": lambda t: t.func.grad(lambda x: (x.sum(), x.sum()))(numbers(t, 3)),
    "argnums_refused": lambda t: t.func.grad(poly, argnums=1)(numbers(t, 3)),
    "integers_refused": lambda t: t.func.grad(lambda x: x.sum())(t.tensor([1, 2])),
    "jvp_shape_refused": lambda t: t.func.jvp(t.sin, (numbers(t, 3),), (numbers(t, 2),)),
    "vjp_shape_refused": lambda t: t.func.vjp(t.sin, numbers(t, 3))[1](numbers(t, 2)),
    "lists_refused": lambda t: t.func.jvp(t.sin, [numbers(t, 3)], [numbers(t, 3)]),
    "stack_refused": lambda t: t.func.stack_module_state([_model(t), _model(t).eval()]),
    "batch_norm": lambda t: t.vmap(
        lambda x: t.nn.functional.batch_norm(x, None, None, training=True)
    )(numbers(t, 3, 4, 2)),
    "attention": lambda t: t.vmap(t.nn.functional.scaled_dot_product_attention)(
        numbers(t, 3, 2, 4, 5), numbers(t, 3, 2, 4, 5, seed=1), numbers(t, 3, 2, 4, 5, seed=2)
    ),
    "einsum": lambda t: t.vmap(lambda a, b: t.einsum("ij,kj->ik", a, b), in_dims=(0, None))(
        numbers(t, 3, 2, 4), numbers(t, 5, 4)
    ),
    "index_by_sample": lambda t: t.vmap(lambda x, i: x[i])(
        numbers(t, 4, 3), t.tensor([0, 2, 1, 1])
    ),
    "inverse": lambda t: t.vmap(t.func.jacrev(t.linalg.inv))(numbers(t, 2, 3, 3) + 2 * t.eye(3)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    check(PROGRAMS[name], tolerance=2e-5)


def cross_entropy(t):
    return lambda x: t.nn.functional.binary_cross_entropy(x, t.tensor([1.0, 0.5], device=x.device))


READ = {
    "mapped": lambda t, x: t.vmap(cross_entropy(t))(x),
    "mapped_twice": lambda t, x: t.vmap(t.vmap(cross_entropy(t)))(x.unsqueeze(0)),
    "other_mapped": lambda t, x: t.vmap(lambda y: cross_entropy(t)(x[0]) + y.sum())(x),
    "pushed": lambda t, x: t.func.jvp(cross_entropy(t), (x[0],), (x[1],)),
    "pulled": lambda t, x: t.func.grad(cross_entropy(t))(x[0]),
    "meta": lambda t, x: cross_entropy(t)(x[0].to("meta")).shape,
}


@pytest.mark.parametrize("largest", [1.0, 1.5])
@pytest.mark.parametrize("name", READ)
def test_numbers_are_looked_at_through_transforms(name, largest):
    """Probabilities above one are refused there too."""
    check(lambda t: READ[name](t, t.tensor([[largest, 0.25], [0.5, 0.125]])), tolerance=2e-5)


@pytest.mark.parametrize("std", [1.0, -1.0])
def test_normal_numbers_without_memory(std):
    def program(t):
        mean, spread = t.zeros(2, device="meta"), t.full((3, 1), std, device="meta")
        made = t.normal(mean, spread), t.normal(0.0, spread), t.normal(mean, 2.0)
        return [(str(each.device), tuple(each.shape), str(each.dtype)) for each in made]

    check(program)


def test_numbers_of_different_samples_are_independent():
    import minitorch2

    drawn = minitorch2.vmap(lambda x: minitorch2.randn(3), randomness="different")
    values = drawn(minitorch2.zeros(5000)).numpy()
    covariance = numpy.cov(numpy.concatenate([values, numpy.roll(values, 1, 0)], 1).T)
    assert abs(covariance - numpy.eye(6)).max() < 0.08
    inner = minitorch2.vmap(drawn, randomness="different")(minitorch2.zeros(20, 50)).numpy()
    assert len(numpy.unique(inner)) == inner.size


def _tied(t):
    """Two layers that share their weight."""
    model = t.nn.Sequential(t.nn.Linear(2, 2, bias=False), t.nn.Linear(2, 2, bias=False))
    with t.no_grad():
        model[0].weight.copy_(numbers(t, 2, 2))
    model[1].weight = model[0].weight
    return model


@pytest.mark.parametrize("tie", [True, False])
@pytest.mark.parametrize("given", [("0.weight",), ("1.weight",), ("0.weight", "1.weight")])
def test_functional_call_with_tied_weights(tie, given):
    """A value for one name of a shared weight stands for its other names, unless told not to."""

    def run(t):
        value = numbers(t, 2, 2, seed=3)
        values = dict.fromkeys(given, value)
        return t.func.functional_call(_tied(t), values, (numbers(t, 3, 2),), tie_weights=tie)

    check(run)


def test_functional_call_refuses_two_values_for_tied_weights():
    """Two values for one tensor are an error; with tie_weights=False each name has its own."""
    for t in (torch, minitorch2):
        values = {
            name: numbers(t, 2, 2, seed=at) for at, name in enumerate(("0.weight", "1.weight"))
        }
        with pytest.raises(ValueError, match="multiple values for keys"):
            t.func.functional_call(_tied(t), values, (numbers(t, 3, 2),))

    def own(t):
        values = {
            name: numbers(t, 2, 2, seed=at) for at, name in enumerate(("0.weight", "1.weight"))
        }
        return t.func.functional_call(_tied(t), values, (numbers(t, 3, 2),), tie_weights=False)

    check(own)


def test_functional_call_strict_counts_tied_names_once():
    """strict=True is content with one name of a shared weight, and asks for both when untied."""
    for t in (torch, minitorch2):
        one = {"0.weight": numbers(t, 2, 2)}
        t.func.functional_call(_tied(t), one, (numbers(t, 3, 2),), strict=True)
        with pytest.raises((RuntimeError, ValueError), match="1.weight"):
            t.func.functional_call(
                _tied(t), one, (numbers(t, 3, 2),), strict=True, tie_weights=False
            )


@pytest.mark.parametrize("randomness", ["error", "same", "different", "none"])
def test_jacfwd_draws_as_told(randomness):
    """Whether the tangents of one Jacobian meet the same random factor; or the refusal."""
    found = []
    for t in (minitorch2, torch):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                drawn, aux = t.func.jacfwd(
                    lambda x, t=t: (x * t.rand(()), [x + 1]),
                    has_aux=True,
                    randomness=randomness,
                )(t.ones(3))
        except RuntimeError as refusal:
            found.append(refusal)
            continue
        diagonal = drawn.diagonal()
        found.append((bool((diagonal == diagonal[0]).all()), aux[0].tolist()))
    if randomness in ("same", "different"):
        assert found[0] == found[1] == (randomness == "same", [2.0] * 3)
    else:
        assert alike(*found, str(found[1]).split(". ")[0].removeprefix("vmap: "))


@pytest.mark.parametrize("numbers", [(3, 0, 2, -1), (0, 0, 2), (0, 1, 0, 2), (1, 2, 3)])
@pytest.mark.parametrize("name", ["cumprod", "prod"])
def test_second_derivatives_of_products_are_right_at_zeros_in_every_order(name, numbers):
    """Forward over reverse, reverse over forward, and each twice; torch's reverse twice judges."""

    def function(t):
        weights = t.arange(1.0, len(numbers) + 1)
        made = (lambda x: x.cumprod(0)) if name == "cumprod" else (lambda x: x.prod())
        return lambda x: (made(x) * weights).sum()

    there = torch.func.jacrev(torch.func.jacrev(function(torch)))
    wanted = there(torch.tensor(numbers, dtype=torch.float64)).tolist()
    x = minitorch2.tensor(numbers, dtype=minitorch2.float64)
    ways = (minitorch2.func.jacfwd, minitorch2.func.jacrev)
    for outer in ways:
        for inner in ways:
            found = outer(inner(function(minitorch2)))(x)
            assert numpy.allclose(found.numpy(), wanted), (outer.__name__, inner.__name__)
