"""Checkpoints and optimizers: beside torch."""

import copy

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check, filled, kind, leaf  # noqa: E402


def optimizer(t, kind="SGD", **settings):
    """Two parameters in two groups with rates of their own, and their optimizer."""
    a, b = t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(3))
    groups = [{"params": [a], "lr": 0.1}, {"params": [b]}]
    return a, b, getattr(t.optim, kind)(groups, **{"lr": 0.2, **settings})


def ckpt(t):
    r = []
    for ur in (True, False):
        n = [0]

        def f(x, y, n=n):
            n[0] += 1
            return (x * y).sin(), x + 1

        x, y = leaf(t, 1.0, 2.0), leaf(t, 3.0, 4.0)
        a, b = t.utils.checkpoint.checkpoint(f, x, y, use_reentrant=ur)
        (a.sum() + b.sum()).backward()
        r += [x.grad, y.grad, n[0]]
    return r


def ckpt_seq(t):
    m = filled(t, t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU(), t.nn.Linear(2, 2), t.nn.Tanh()))
    x = leaf(t, 1.0, 2.0)
    t.utils.checkpoint.checkpoint_sequential(m, 2, x, use_reentrant=False).sum().backward()
    return x.grad, [p.grad for p in m.parameters()]


def ckpt_rng(t):
    t.manual_seed(0)
    x = t.ones(10, requires_grad=True)
    f = t.nn.Dropout(0.5)
    y = t.utils.checkpoint.checkpoint(f, x, use_reentrant=False)
    y.sum().backward()
    return (x.grad == y.detach()).all()


def ckpt_grad(t):
    x = leaf(t, 2.0)
    y = t.utils.checkpoint.checkpoint(lambda x: x**3, x, use_reentrant=False)
    (g,) = t.autograd.grad(y, x, create_graph=True)
    (h,) = t.autograd.grad(g, x)
    return g.item(), h.item()


def ckpt_nograd_in(t):
    x = leaf(t, 1.0, g=False)
    y = t.utils.checkpoint.checkpoint(lambda x: x * 2, x, use_reentrant=True)
    return y.requires_grad


def ckpt_kw(t):
    x = leaf(t, 2.0)
    return t.utils.checkpoint.checkpoint(lambda x, k=1: x * k, x, k=5, use_reentrant=False)


def ckpt_twice(t):
    x = leaf(t, 2.0)
    y = t.utils.checkpoint.checkpoint(lambda x: x.exp(), x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def ckpt_ctx(t):
    log = []
    import contextlib

    class C(contextlib.ContextDecorator):
        def __init__(s, n):
            s.n = n

        def __enter__(s):
            log.append(s.n)

        def __exit__(s, *a):
            log.append("-" + s.n)

    x = leaf(t, 2.0)
    t.utils.checkpoint.checkpoint(
        lambda x: x.exp(), x, use_reentrant=False, context_fn=lambda: (C("f"), C("r"))
    ).backward()
    return log


def ckpt_mismatch(t):
    n = [0]

    def f(x):
        n[0] += 1
        return x.exp() if n[0] == 1 else x.exp().sin()

    x = leaf(t, 2.0)
    t.utils.checkpoint.checkpoint(f, x, use_reentrant=False).backward()
    return x.grad, n


def opt_state(t):
    a, b, o = optimizer(t, momentum=0.9)
    a.grad = t.ones(2)
    o.step()
    sd = o.state_dict()
    return {
        k: (dict(v) if isinstance(v, dict) else [{q: str(z) for q, z in g.items()} for g in v])
        for k, v in sd.items()
    }


def opt_load(t):
    a, b, o = optimizer(t, momentum=0.9)
    a.grad = t.ones(2)
    b.grad = t.ones(3)
    o.step()
    sd = copy.deepcopy(o.state_dict())
    a2, b2, o2 = optimizer(t, momentum=0.1)
    o2.load_state_dict(sd)
    r = [o2.param_groups[0]["lr"], o2.param_groups[1]["momentum"], o2.state[a2]["momentum_buffer"]]
    for bad in (
        lambda: o2.load_state_dict({"state": {}, "param_groups": []}),
        lambda: o2.load_state_dict(
            {"state": {}, "param_groups": [{"params": [0, 1]}, {"params": [2]}]}
        ),
    ):
        try:
            bad()
            r.append("ok")
        except Exception as e:
            r.append(kind(e))
    return r


def opt_errors(t):
    r = []
    p = t.nn.Parameter(t.ones(1))
    for f in (
        lambda: t.optim.SGD([], lr=0.1),
        lambda: t.optim.SGD(p, lr=0.1),
        lambda: t.optim.SGD([p], lr=-1),
        lambda: t.optim.SGD([p * 2], lr=0.1),
        lambda: t.optim.SGD([1], lr=0.1),
        lambda: t.optim.SGD([p], lr=0.1, nesterov=True),
        lambda: t.optim.Adam([p], betas=(1.0, 0.9)),
        lambda: t.optim.Adam([p], eps=-1),
        lambda: t.optim.SGD({p}, lr=0.1),
        lambda: t.optim.SGD([{"params": [p]}, {"params": [p]}], lr=0.1),
        lambda: t.optim.SGD([p], lr=0.1, bogus=1),
        lambda: t.optim.LBFGS([{"params": [p]}, {"params": [t.nn.Parameter(t.ones(1))]}]),
        lambda: t.optim.Adam([p], foreach=True, fused=True),
        lambda: t.optim.SGD([p]).step(3),
        lambda: t.optim.SGD([p]).add_param_group({"params": [p]}),
        lambda: t.optim.SGD([p]).add_param_group([p]),
    ):
        try:
            f()
            r.append("ok")
        except Exception as e:
            r.append(kind(e))
    return r


def opt_repr(t):
    a, b, o = optimizer(t, "AdamW")
    return repr(o)


def opt_named(t):
    m = t.nn.Linear(2, 1)
    o = t.optim.SGD(m.named_parameters(), lr=0.1)
    return o.param_groups[0]["param_names"], list(o.state_dict()["param_groups"][0])


def opt_maximize_closure(t):
    a, b, o = optimizer(t, maximize=True)

    def c():
        o.zero_grad()
        loss = a.sum() ** 2 + b.sum()
        loss.backward()
        return loss

    loss = o.step(c)
    return loss.item(), a.data, b.data


SITUATIONS = [
    ckpt,
    ckpt_seq,
    ckpt_rng,
    ckpt_grad,
    ckpt_nograd_in,
    ckpt_kw,
    ckpt_twice,
    ckpt_ctx,
    ckpt_mismatch,
    opt_state,
    opt_load,
    opt_errors,
    opt_repr,
    opt_named,
    opt_maximize_closure,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_situation(situation):
    """The same results, or an error of torch's class."""
    check(situation)
