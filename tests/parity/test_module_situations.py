"""Modules: names, assignments, hooks, states, containers, beside torch."""

import pytest

torch = pytest.importorskip("torch")

from minitorch2.nn import module as own_module  # noqa: E402
from tests.parity.both import check, filled, kind, leaf  # noqa: E402


def model(t):
    """A module of everything: a child twice, two kinds of buffer, a parameter that is None."""

    class Everything(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.l = t.nn.Linear(2, 2)
            self.register_buffer("b", t.ones(2))
            self.register_buffer("np", t.zeros(1), persistent=False)
            self.register_parameter("none", None)
            self.l2 = self.l

        def forward(self, x):
            return self.l(x) + self.b

    return Everything()


def named(t):
    m = model(t)
    return (
        [n for n, _ in m.named_parameters()],
        [n for n, _ in m.named_parameters(remove_duplicate=False)],
        [n for n, _ in m.named_buffers()],
        [n for n, _ in m.named_modules()],
        [n for n, _ in m.named_modules(remove_duplicate=False)],
        [n for n, _ in m.named_children()],
        list(m.state_dict()),
        [n for n, _ in m.named_parameters(prefix="p", recurse=False)],
    )


def attempt(function, *args):
    """'ok', or the builtin class of what a call raises."""
    try:
        function(*args)
    except Exception as error:  # torch's refusals count as answers
        return kind(error)
    return "ok"


def before_init(t):
    """Modules that assign before Module.__init__ has run."""

    def made(value):
        class Early(t.nn.Module):
            def __init__(self):
                self.x = value
                super().__init__()

        return attempt(Early)

    return made(t.nn.Parameter(t.ones(1))), made(t.nn.Linear(1, 1)), made(1), made(t.ones(1))


def assigned(t):
    """What may stand in the place of a parameter, a child, a buffer."""
    m, found = t.nn.Module(), []

    def put(name, value):
        tables = m._parameters, m._modules, m._buffers
        found.append((attempt(setattr, m, name, value), [list(each) for each in tables]))

    put("p", t.nn.Parameter(t.ones(1)))
    for value in (t.ones(1), None, t.nn.Parameter(t.ones(2)), 3):
        put("p", value)
    put("c", t.nn.Linear(1, 1))
    for value in (3, t.ones(1), None, t.nn.Parameter(t.ones(1)), t.nn.Linear(1, 2)):
        put("c", value)
    m.register_buffer("b", t.ones(1))
    for value in (3, t.zeros(2), None, t.nn.Parameter(t.ones(1)), t.nn.Linear(1, 1)):
        put("b", value)
    return found


def registered(t):
    """Names and values that cannot be registered, and attributes that are not there."""
    m = t.nn.Module()
    m.p = t.nn.Parameter(t.ones(1))
    own = lambda: t.nn.Parameter(t.ones(1))  # noqa: E731
    return [
        attempt(m.register_buffer, "p", t.ones(1)),
        attempt(m.register_buffer, "training", t.ones(1)),
        attempt(m.register_buffer, "other", 3),
        attempt(m.register_parameter, "a.b", own()),
        attempt(m.register_parameter, "", own()),
        attempt(m.register_parameter, "q", t.ones(1)),
        attempt(m.register_parameter, "q", own() * 1),
        attempt(m.register_parameter, 3, None),
        attempt(m.add_module, "forward", t.nn.Linear(1, 1)),
        attempt(m.add_module, "x", 3),
        attempt(m.add_module, "y", None),
        attempt(getattr, m, "nothing"),
        attempt(delattr, m, "p"),
        attempt(delattr, m, "nope"),
        [list(each) for each in (m._parameters, m._modules, m._buffers)],
    ]


def ld_hooks(t):
    log = []
    m = model(t)
    m.register_load_state_dict_pre_hook(lambda *a: log.append(("pre", len(a), a[2]))) if hasattr(
        m, "register_load_state_dict_pre_hook"
    ) else None
    m._register_load_state_dict_pre_hook(
        lambda sd, prefix, meta, strict, mk, uk, em: log.append(("oldpre", prefix, strict))
    )
    m.register_load_state_dict_post_hook(
        lambda mod, inc: (
            log.append(("post", list(inc.missing_keys), list(inc.unexpected_keys))),
            inc.missing_keys.clear(),
        )[0]
    )
    m.register_state_dict_pre_hook(lambda mod, prefix, kv: log.append(("sdpre", prefix, kv)))
    m.register_state_dict_post_hook(lambda mod, sd, prefix, meta: log.append(("sdpost", prefix)))
    sd = m.state_dict()
    sd.pop("b")
    r = m.load_state_dict(sd)
    return log, str(r), list(sd._metadata)


def ld_errors(t):
    m = model(t)
    r = []
    for d in (
        {},
        {"l.weight": t.ones(3)},
        {**m.state_dict(), "x": t.ones(1)},
        {**m.state_dict(), "l.weight": t.ones(3, 3)},
        {**m.state_dict(), "l.weight": 3},
        3,
    ):
        for st in (True, False):
            try:
                q = m.load_state_dict(d, strict=st)
                r.append((list(q.missing_keys), list(q.unexpected_keys)))
            except Exception as e:
                r.append(kind(e))
    return r


def ld_assign(t):
    m = t.nn.Linear(2, 2)
    w = t.ones(2, 2, dtype=t.float64)
    b = t.zeros(2)
    m.load_state_dict({"weight": w, "bias": b}, assign=True)
    return (
        str(m.weight.dtype),
        m.weight.requires_grad,
        m.weight.data_ptr() == w.data_ptr(),
        isinstance(m.weight, t.nn.Parameter),
        isinstance(m.bias, t.nn.Parameter),
    )


def ld_frozen_assign(t):
    m = t.nn.Linear(2, 2)
    m.weight.requires_grad_(False)
    m.load_state_dict({"weight": t.ones(2, 2), "bias": t.zeros(2)}, assign=True)
    return m.weight.requires_grad


def global_hooks(t):
    log = []

    mod = t.nn.modules.module if t is torch else own_module
    hs = [
        mod.register_module_forward_pre_hook(lambda m, i: log.append("gpre")),
        mod.register_module_forward_hook(lambda m, i, o: log.append("gfwd")),
        mod.register_module_full_backward_pre_hook(lambda m, g: log.append("gbpre")),
        mod.register_module_full_backward_hook(lambda m, gi, go: log.append("gbwd")),
        mod.register_module_parameter_registration_hook(lambda m, n, p: log.append(("preg", n))),
        mod.register_module_module_registration_hook(lambda m, n, p: log.append(("mreg", n))),
        mod.register_module_buffer_registration_hook(lambda m, n, p: log.append(("breg", n))),
    ]
    m = t.nn.Sequential(t.nn.Linear(2, 2))
    m[0].register_forward_pre_hook(lambda m, i: log.append("pre"))
    m[0].register_forward_hook(lambda m, i, o: log.append("fwd"))
    m[0].register_full_backward_hook(lambda m, a, b: log.append("bwd"))
    m[0].register_full_backward_pre_hook(lambda m, a: log.append("bpre"))
    m(leaf(t, 1.0, 2.0)).sum().backward()
    for h in hs:
        h.remove()
    n = len(log)
    m(leaf(t, 1.0, 2.0))
    return log[:n], log[n:]


def fwd_hook_kw(t):
    log = []

    class K(t.nn.Module):
        def forward(s, x, k=1):
            return x * k

    k = K()
    k.register_forward_pre_hook(lambda m, a, kw: (a, {"k": 5}), with_kwargs=True)
    k.register_forward_hook(lambda m, a, kw, o: (log.append(kw), o + 1)[1], with_kwargs=True)
    k.register_forward_hook(lambda m, a, o: log.append("p"), prepend=True)
    return k(leaf(t, 2.0), k=2), log


def fwd_hook_always(t):
    log = []

    class K(t.nn.Module):
        def forward(s, x):
            raise ValueError("a")

    k = K()
    k.register_forward_hook(lambda m, a, o: log.append("always"), always_call=True)
    k.register_forward_hook(lambda m, a, o: log.append("not"))
    try:
        k(leaf(t, 1.0))
    except ValueError as e:
        log.append(str(e))
    return log


def pre_hook_replace(t):
    m = t.nn.Identity()
    m.register_forward_pre_hook(lambda m, i: i[0] * 2)
    m.register_forward_pre_hook(lambda m, i: (i[0] + 1,))
    return m(leaf(t, 1.0))


def bwd_hook_replace(t):
    m = filled(t, t.nn.Linear(2, 1))
    m.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    m.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    x = leaf(t, 1.0, 2.0)
    m(x).sum().backward()
    return x.grad, m.weight.grad


def bwd_hook_noinput(t):
    log = []
    m = filled(t, t.nn.Linear(2, 1))
    m.register_full_backward_hook(lambda m, gi, go: log.append((gi, go)))
    m(t.ones(2)).sum().backward()
    return log


def bwd_hook_old_and_new(t):
    m = t.nn.Linear(1, 1)
    m.register_backward_hook(lambda *a: None)
    m.register_full_backward_hook(lambda *a: None)


def bwd_hook_inplace(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU(inplace=True))
    m[0].register_full_backward_hook(lambda *a: None)
    m(leaf(t, 1.0, 2.0)).sum().backward()


def parametrize(t):
    P = t.nn.utils.parametrize

    class D(t.nn.Module):
        def forward(s, x):
            return x * 2

        def right_inverse(s, x):
            return x / 2

    m = filled(t, t.nn.Linear(2, 2))
    w = m.weight.clone()
    P.register_parametrization(m, "weight", D())
    r = [t.allclose(m.weight, w), list(m.state_dict()), P.is_parametrized(m), type(m).__name__]
    with P.cached():
        r.append(m.weight is m.weight)
    r.append(m.weight is m.weight)
    P.remove_parametrizations(m, "weight")
    r.append(list(m.state_dict()))
    return r, repr(m)


def module_to(t):
    m = model(t)
    m.to(t.float64)
    r = [str(m.l.weight.dtype), str(m.b.dtype)]
    m.half()
    r.append(str(m.b.dtype))
    m.float()
    m.train(False)
    r.append(m.training)
    m.requires_grad_(False)
    r.append(m.l.weight.requires_grad)
    m.apply(lambda q: r.append(type(q).__name__))
    return r


def zero_grad(t):
    m = filled(t, t.nn.Linear(2, 1))
    m(leaf(t, 1.0, 2.0)).sum().backward()
    g = m.weight.grad
    m.zero_grad(set_to_none=False)
    r = [m.weight.grad is g, m.weight.grad]
    m.zero_grad()
    return r + [m.weight.grad]


def get_sub(t):
    m = model(t)
    r = [
        type(m.get_submodule("l")).__name__,
        m.get_parameter("l.weight").shape,
        m.get_buffer("b").shape,
    ]
    for f in (
        lambda: m.get_submodule("zz"),
        lambda: m.get_parameter("b"),
        lambda: m.get_buffer("l.weight"),
        lambda: m.get_submodule("l.weight"),
        lambda: m.get_parameter("l.zz"),
    ):
        try:
            f()
            r.append("ok")
        except Exception as e:
            r.append(kind(e))
    m.set_submodule("l", t.nn.Identity())
    r.append(type(m.l).__name__)
    return r


def extra_state(t):
    class X(t.nn.Module):
        def get_extra_state(s):
            return {"a": 1}

        def set_extra_state(s, st):
            s.got = st

    x = X()
    sd = x.state_dict()
    y = X()
    y.load_state_dict(sd)
    r = [dict(sd), y.got]
    for d in ({},):
        try:
            y.load_state_dict(d)
        except Exception as e:
            r.append(kind(e))
    return r


def containers(t):
    r = []
    s = t.nn.Sequential(t.nn.Linear(1, 1), t.nn.ReLU())
    s.append(t.nn.Tanh())
    s.insert(1, t.nn.Sigmoid())
    s.extend([t.nn.GELU()])
    r.append([type(q).__name__ for q in s])
    del s[0]
    r.append([n for n, _ in s.named_children()])
    r.append(type(s[1:]).__name__)
    s2 = s + t.nn.Sequential(t.nn.ELU())
    r.append(len(s2))
    s3 = s * 2
    r.append(len(s3))
    p = s.pop(0)
    r.append(type(p).__name__)
    s[0] = t.nn.ELU()
    r.append(repr(s))
    ml = t.nn.ModuleList([t.nn.ReLU()])
    ml += [t.nn.Tanh()]
    r.append(len(ml))
    r.append(type(ml[-1]).__name__)
    r.append([n for n, _ in ml.named_children()])
    md = t.nn.ModuleDict({"a": t.nn.ReLU()})
    md.update([("b", t.nn.Tanh())])
    r.append(list(md.keys()))
    r.append("a" in md)
    md.pop("a")
    r.append(len(md))
    md.clear()
    r.append(repr(md))
    pl = t.nn.ParameterList([t.ones(1), t.nn.Parameter(t.ones(2))])
    pl.append(t.ones(3))
    r.append([type(q).__name__ for q in pl])
    r.append(repr(pl))
    pd = t.nn.ParameterDict({"z": t.ones(1)})
    pd["y"] = t.nn.Parameter(t.ones(2))
    r.append(list(pd))
    r.append(repr(pd))
    r.append([n for n, _ in pd.named_parameters()])
    return r


SITUATIONS = [
    named,
    before_init,
    assigned,
    registered,
    ld_hooks,
    ld_errors,
    ld_assign,
    ld_frozen_assign,
    global_hooks,
    fwd_hook_kw,
    fwd_hook_always,
    pre_hook_replace,
    bwd_hook_replace,
    bwd_hook_noinput,
    bwd_hook_old_and_new,
    bwd_hook_inplace,
    parametrize,
    module_to,
    zero_grad,
    get_sub,
    extra_state,
    containers,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_situation(situation):
    """The same results, or an error of torch's class."""
    check(situation)
