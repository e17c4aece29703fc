"""torch.autograd.functional, forward_ad, graph and anomaly mode beside torch's."""

import linecache
import re
import warnings

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402


def f(x):
    return (x**3).sum(-1) * x[..., 0].exp()


def scalar(x):
    return (x.sin() * x.pow(2)).sum()


def pair(x, y):
    return x * y.exp(), (x.sum() + y).sin()


def two(x, y):
    return (x * y.exp()).sum() * x.sum()


def api(t):
    return t.autograd.functional


def graphed(t, name, function, inputs=1, **options):
    """A result that is differentiated further."""
    given = tuple(numbers(t, 3, seed=k).requires_grad_() for k in range(inputs))
    result = getattr(api(t), name)(
        function, given if inputs > 1 else given[0], create_graph=True, **options
    )
    leaves = flat(result)
    total = sum((leaf.sin() * (k + 1)).sum() for k, leaf in enumerate(leaves))
    return leaves, t.autograd.grad(total, given)


def flat(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flat(item)]
    return [value]


def vectors(t, *seeds):
    return tuple(numbers(t, 3, seed=seed) for seed in seeds)


def duals(t):
    ad = t.autograd.forward_ad
    x, y, v = vectors(t, 0, 1, 2)
    with ad.dual_level():
        a = ad.make_dual(x, v)
        b = ad.make_dual(y, x)
        c = (a * b.exp()).sin()
        first, second = ad.unpack_dual(c), ad.unpack_dual(y * 2)
        third = ad.unpack_dual((a.sum() * 2, c)[0])
    return tuple(first), tuple(second), tuple(third), ad.unpack_dual(c).tangent


def dual_model(t):
    """torch's tutorial: tangents of a module's parameters."""
    ad = t.autograd.forward_ad
    model = t.nn.Linear(3, 2)
    with t.no_grad():
        model.weight.copy_(numbers(t, 2, 3))
        model.bias.copy_(numbers(t, 2, seed=1))
    tangents = {name: numbers(t, *p.shape, seed=5) for name, p in model.named_parameters()}
    with ad.dual_level():
        for name, p in dict(model.named_parameters()).items():
            delattr(model, name)
            setattr(model, name, ad.make_dual(p, tangents[name]))
        out = model(numbers(t, 4, 3, seed=7))
        return ad.unpack_dual(out).tangent.detach()


def dual_and_reverse(t):
    """Forward over reverse: the tangent is differentiated further."""
    ad = t.autograd.forward_ad
    x, v = vectors(t, 0, 1)
    x.requires_grad_()
    with ad.dual_level():
        tangent = ad.unpack_dual(scalar(ad.make_dual(x, v))).tangent
    return t.autograd.grad(tangent, x)


def saved_on_cpu(t):
    x = numbers(t, 3).requires_grad_()
    with t.autograd.graph.save_on_cpu():
        y = (x.exp() * x.sin()).sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return g, t.autograd.grad(g.sum(), x)


def packed(t):
    """Hooks see every saved tensor; double backward goes through what they return."""
    seen = []

    def pack(x):
        seen.append(tuple(x.shape))
        return x.detach() * 2

    x = numbers(t, 3).requires_grad_()
    with t.autograd.graph.saved_tensors_hooks(pack, lambda p: p / 2):
        y = (x.exp() * x).pow(2).sum()
    (g,) = t.autograd.grad(y, x, create_graph=True)
    return g, t.autograd.grad(g.sum(), x)


def nodes(t):
    x = numbers(t, 3).requires_grad_()
    y = (x.exp() * 2).sum()
    seen = []
    node = y.grad_fn
    mul = node.next_functions[0][0]
    exp = mul.next_functions[0][0]
    leaf = exp.next_functions[0][0]
    node.register_prehook(lambda grads: seen.append(("pre", grads[0])))
    mul.register_hook(lambda inputs, outputs: seen.append(("post", inputs[0], outputs[0])))
    exp.register_hook(lambda inputs, outputs: (inputs[0] * 10,))
    y.backward()
    return [n.name() for n in (node, mul, exp)], type(leaf).__name__, seen, x.grad, leaf.variable


def removed(t):
    x = numbers(t, 3).requires_grad_()
    y = x.exp()
    handle = y.grad_fn.register_hook(lambda i, o: (i[0] * 100,))
    y.sum().backward(retain_graph=True)
    handle.remove()
    y.sum().backward()
    return x.grad


def multi(t):
    x, y, z = (numbers(t, 2, seed=k).requires_grad_() for k in range(3))
    a, b = x * y, y * z
    seen = []
    hook = t.autograd.graph.register_multi_grad_hook
    every = hook([x, a, b, z], lambda grads: seen.append(("all", list(grads))))
    first = hook([x, y], lambda grad: seen.append("any"), mode="any")
    (a.sum() + b.sum()).backward(retain_graph=True)
    a.sum().backward(retain_graph=True)
    every.remove()
    first.remove()
    b.sum().backward()
    return seen


def edges(t):
    x = numbers(t, 2).requires_grad_()
    a = x.exp()
    y = (a * a).sum()
    edge = t.autograd.graph.get_gradient_edge(a)
    del a
    return t.autograd.grad(y, [edge, t.autograd.graph.get_gradient_edge(x)])


def post_accumulate(t):
    """torch's tutorial: the optimizer's step inside the backward."""
    w = t.nn.Parameter(numbers(t, 3))
    optimizer = t.optim.SGD([w], lr=0.5)
    steps = []

    def step(parameter):
        optimizer.step()
        optimizer.zero_grad()
        steps.append(parameter.grad is None)

    w.register_post_accumulate_grad_hook(step)
    (w * w).sum().backward()
    return w, steps


def as_soon_as_whole(t):
    """A leaf's hooks run when its last gradient is there, not at the end of the backward."""
    a, b, c = (t.nn.Parameter(numbers(t, 2, seed=k)) for k in range(3))
    seen = []

    def note(name):
        def hook(parameter):
            seen.append((name, [p.grad is not None for p in (a, b, c)]))
            parameter.grad = None

        return hook

    for name, parameter in (("a", a), ("b", b), ("c", c)):
        parameter.register_post_accumulate_grad_hook(note(name))
    ((a * 2 * b).exp() * c * b).sum().backward()
    return seen


def increments(t):
    x = numbers(t, 2).requires_grad_()
    y = x.exp()
    t.autograd.graph.increment_version(y)
    y.sum().backward()


def refused_hooks(t):
    with t.autograd.graph.disable_saved_tensors_hooks("not here"):
        with t.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            pass


J = {
    "jacobian": lambda t: api(t).jacobian(f, numbers(t, 2, 3)),
    "jacobian_pair": lambda t: api(t).jacobian(pair, vectors(t, 0, 1)),
    "jacobian_vectorized": lambda t: api(t).jacobian(pair, vectors(t, 0, 1), vectorize=True),
    "jacobian_forward": lambda t: flat(
        api(t).jacobian(pair, vectors(t, 0, 1), vectorize=True, strategy="forward-mode")
    ),
    "jacobian_graph": lambda t: graphed(t, "jacobian", pair, 2),
    "jacobian_graph_vectorized": lambda t: graphed(t, "jacobian", f, vectorize=True),
    "jacobian_unused": lambda t: api(t).jacobian(lambda x, y: x * 2, vectors(t, 0, 1)),
    "jacobian_strict": lambda t: api(t).jacobian(lambda x, y: x * 2, vectors(t, 0, 1), strict=True),
    "jacobian_constant": lambda t: api(t).jacobian(lambda x: t.ones(2), numbers(t, 3), strict=True),
    "jacobian_both": lambda t: api(t).jacobian(f, numbers(t, 3), strict=True, vectorize=True),
    "jacobian_strategy": lambda t: api(t).jacobian(f, numbers(t, 3), strategy="sideways"),
    "forward_alone": lambda t: api(t).jacobian(f, numbers(t, 3), strategy="forward-mode"),
    "hessian": lambda t: api(t).hessian(scalar, numbers(t, 2, 2)),
    "hessian_pair": lambda t: api(t).hessian(two, vectors(t, 0, 1)),
    "hessian_vectorized": lambda t: api(t).hessian(two, vectors(t, 0, 1), vectorize=True),
    "hessian_forward": lambda t: (
        api(t)
        .hessian(scalar, numbers(t, 3), vectorize=True, outer_jacobian_strategy="forward-mode")
        .detach()
    ),
    "hessian_graph": lambda t: graphed(t, "hessian", two, 2),
    "hessian_vector": lambda t: api(t).hessian(lambda x: x * 2, numbers(t, 3)),
    "vjp": lambda t: api(t).vjp(pair, vectors(t, 0, 1), vectors(t, 2, 3)),
    "vjp_one": lambda t: api(t).vjp(scalar, numbers(t, 3)),
    "vjp_graph": lambda t: graphed(t, "vjp", scalar),
    "vjp_without_v": lambda t: api(t).vjp(pair, vectors(t, 0, 1)),
    "vjp_shape": lambda t: api(t).vjp(f, numbers(t, 3), numbers(t, 2)),
    "vjp_list": lambda t: api(t).vjp(scalar, [numbers(t, 3)]),
    "jvp": lambda t: api(t).jvp(pair, vectors(t, 0, 1), vectors(t, 2, 3)),
    "jvp_graph": lambda t: graphed(t, "jvp", lambda x: x.exp() * x, v=numbers(t, 3, seed=9)),
    "jvp_strict": lambda t: api(t).jvp(
        lambda x: t.ones(2), numbers(t, 3), numbers(t, 3), strict=True
    ),
    "vhp": lambda t: api(t).vhp(two, vectors(t, 0, 1), vectors(t, 2, 3)),
    "hvp": lambda t: api(t).hvp(scalar, numbers(t, 3), numbers(t, 3, seed=1)),
    "hvp_graph": lambda t: graphed(t, "hvp", scalar, v=numbers(t, 3, seed=9)),
    "hvp_linear": lambda t: api(t).hvp(lambda x: x.sum(), numbers(t, 3), numbers(t, 3)),
    "hvp_strict": lambda t: api(t).hvp(
        lambda x: x.sum(), numbers(t, 3), numbers(t, 3), strict=True
    ),
    "duals": duals,
    "dual_model": dual_model,
    "dual_and_reverse": dual_and_reverse,
    "dual_outside": lambda t: t.autograd.forward_ad.make_dual(*vectors(t, 0, 1)),
    "saved_on_cpu": saved_on_cpu,
    "packed": packed,
    "nodes": nodes,
    "removed": removed,
    "multi": multi,
    "edges": edges,
    "post_accumulate": post_accumulate,
    "increments": increments,
    "as_soon_as_whole": as_soon_as_whole,
    "refused_hooks": refused_hooks,
}


@pytest.mark.parametrize("name", J)
def test_program(name):
    check(J[name], tolerance=1e-5)


@pytest.mark.parametrize("kind", ["nan", "raises"])
def test_anomalies_name_the_line_of_the_forward(kind):
    class Failing(minitorch2.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            raise RuntimeError("my own")

    x = minitorch2.zeros(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with minitorch2.autograd.detect_anomaly():
            y = minitorch2.sqrt(x) * 0 if kind == "nan" else Failing.apply(x)
            with pytest.raises(RuntimeError) as caught:
                y.sum().backward()
    text = str(caught.value) + "".join(getattr(caught.value, "__notes__", []))
    line = int(re.search(r"test_functional_ad.py:(\d+)", text)[1])
    assert "y = minitorch2.sqrt(x) * 0 if kind" in linecache.getline(__file__, line)
    assert ("nan" if kind == "nan" else "my own") in text
    assert not minitorch2.autograd.is_anomaly_enabled()


def test_anomaly_mode_is_set_for_good_and_taken_back():
    minitorch2.autograd.set_detect_anomaly(True)
    assert minitorch2.autograd.is_anomaly_enabled()
    x = minitorch2.zeros(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="nan"):
        (minitorch2.sqrt(x) * 0).sum().backward()
    minitorch2.autograd.set_detect_anomaly(False)
    assert not minitorch2.autograd.is_anomaly_enabled()
    with minitorch2.autograd.set_detect_anomaly(True, check_nan=False):
        (minitorch2.sqrt(x) * 0).sum().backward()
    assert not minitorch2.autograd.is_anomaly_enabled()
