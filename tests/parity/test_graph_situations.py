"""Saved tensors, writes, anomalies, grad modes, users' Functions: beside torch."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check, leaf  # noqa: E402


def saved_hooks_nested(t):
    log = []
    x = leaf(t, 2.0, 3.0)

    def mk(n):
        return (lambda s: (log.append("p" + n), s)[1], lambda s: (log.append("u" + n), s)[1])

    with t.autograd.graph.saved_tensors_hooks(*mk("o")):
        y = x * x
        with t.autograd.graph.saved_tensors_hooks(*mk("i")):
            z = y.exp()
    (z + y).sum().backward()
    return log, x.grad


def saved_hooks_change(t):
    x = leaf(t, 2.0, 3.0)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s * 0 + 10, lambda s: s):
        y = x * x
    y.sum().backward()
    return x.grad


def saved_hooks_nontensor(t):
    x = leaf(t, 2.0, 3.0)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s.tolist(), lambda s: t.tensor(s)):
        y = x * x
    y.sum().backward()
    return x.grad


def saved_hooks_bad_unpack(t):
    x = leaf(t, 2.0, 3.0)
    with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: "x"):
        y = x * x
    y.sum().backward()


def saved_hooks_disabled(t):
    with t.autograd.graph.disable_saved_tensors_hooks("no"):
        with t.autograd.graph.saved_tensors_hooks(lambda s: s, lambda s: s):
            pass


def save_on_cpu(t):
    x = leaf(t, 2.0, 3.0)
    with t.autograd.graph.save_on_cpu():
        y = (x * x).sin()
    y.sum().backward()
    return x.grad


def saved_modified(t):
    x = leaf(t, 2.0, 3.0)
    y = x.exp()
    y.add_(1)
    y.sum().backward()


def saved_modified2(t):
    x = leaf(t, 2.0, 3.0)
    w = t.ones(2)
    y = x * w
    w.add_(1)
    y.sum().backward()


def saved_modified_ok(t):
    x = leaf(t, 2.0, 3.0)
    w = t.ones(2)
    y = x + w
    w.add_(1)
    y.sum().backward()
    return x.grad


def leaf_inplace(t):
    x = leaf(t, 1.0)
    x.add_(1)


def leaf_view_inplace(t):
    x = leaf(t, 1.0, 2.0)
    x[0] = 1.0


def leaf_nograd_inplace(t):
    x = leaf(t, 1.0, 2.0)
    with t.no_grad():
        x.add_(1)
    return x, x._version


def expand_inplace(t):
    t.ones(1).expand(3).add_(1)


def unbind_inplace(t):
    x = leaf(t, 1.0, 2.0) * 1
    a, b = x.unbind(0)
    a.add_(1)


def split_inplace_noreq(t):
    x = t.ones(4)
    a, b = x.split(2)
    a.add_(1)
    return x


def chunk_base_then_view(t):
    x = leaf(t, 1.0, 2.0) * 1
    a, b = x.chunk(2)
    x.add_(1)
    return a.grad_fn


def inplace_versions(t):
    x = t.ones(3)
    v = x[:2]
    v.add_(1)
    x.mul_(2)
    d = x.detach()
    d.add_(1)
    return x._version, v._version, d._version, x.data._version


def anomaly_nan(t):
    x = leaf(t, 0.0)
    with t.autograd.detect_anomaly():
        (x.sqrt() * 0).backward()


def anomaly_nan_off(t):
    x = leaf(t, 0.0)
    with t.autograd.detect_anomaly(check_nan=False):
        (x.sqrt() * 0).backward()
    return x.grad


def anomaly_custom(t):
    class B(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("boom")

    with t.autograd.detect_anomaly():
        B.apply(leaf(t, 1.0)).backward()


def anomaly_state(t):
    r = [t.is_anomaly_enabled()]
    with t.autograd.set_detect_anomaly(True):
        r.append(t.is_anomaly_enabled())
        r.append(t.is_anomaly_check_nan_enabled())
    return r + [t.is_anomaly_enabled()]


def next_functions(t):
    x, w = leaf(t, 1.0), leaf(t, 2.0, g=False)
    y = x * w + 1
    n = y.grad_fn
    return (
        n.name(),
        [(type(f).__name__, i) for f, i in n.next_functions],
        [None if f is None else (f.name(), i) for f, i in n.next_functions[0][0].next_functions],
    )


def gradient_edge(t):
    x = leaf(t, 2.0)
    y = x * x
    e = t.autograd.graph.get_gradient_edge(y)
    z = y * 3
    return t.autograd.grad(z, [e]), e.output_nr


def gradient_edge_backward(t):
    x = leaf(t, 2.0)
    y = x * x
    e = t.autograd.graph.get_gradient_edge(y)
    t.autograd.backward(e, t.tensor([5.0]))
    return x.grad


def inference(t):
    with t.inference_mode():
        x = t.ones(2)
        y = x * 2
    return x.is_inference(), y.requires_grad


def inference_save(t):
    with t.inference_mode():
        x = t.ones(2)
    (x * leaf(t, 1.0, 2.0)).sum().backward()


def inference_inplace(t):
    with t.inference_mode():
        x = t.ones(2)
    x.add_(1)


def inference_req(t):
    with t.inference_mode():
        x = t.ones(2)
    x.requires_grad_()


def set_grad(t):
    r = []

    @t.no_grad()
    def f():
        return t.is_grad_enabled()

    @t.enable_grad()
    def g():
        return t.is_grad_enabled()

    with t.no_grad():
        r.append(g())
    r.append(f())
    with t.set_grad_enabled(False):
        r.append(t.is_grad_enabled())
    t.set_grad_enabled(False)
    r.append(t.is_grad_enabled())
    t.set_grad_enabled(True)
    return r


def nograd_generator(t):
    @t.no_grad()
    def gen():
        yield t.is_grad_enabled()
        yield t.is_grad_enabled()

    r = []
    for v in gen():
        r += [v, t.is_grad_enabled()]
    return r


def complex_backward(t):
    z = t.tensor([1 + 2j], requires_grad=True)
    (z * z.conj()).real.sum().backward()
    return z.grad


def complex_nonreal(t):
    z = t.tensor([1 + 2j], requires_grad=True)
    (z * z).sum().backward()


def queue_callback(t):
    log = []
    x = leaf(t, 1.0)

    def f(g):
        t.autograd.Variable._execution_engine.queue_callback(lambda: log.append("cb"))

    x.register_hook(f)
    x2 = x * 2
    x2.backward()
    return log


def nested_backward_in_hook(t):
    x = leaf(t, 1.0)
    y = leaf(t, 2.0)

    def f(g):
        (y * 3).backward()

    h = x * 2
    h.register_hook(f)
    h.backward()
    return x.grad, y.grad


def function_nonleaf_dirty(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    x = leaf(t, 1.0, 2.0)
    y = x * 1
    z = Own.apply(y)
    z.sum().backward()
    return x.grad, z is y


def function_return_input(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    x = leaf(t, 1.0, 2.0)
    z = Own.apply(x)
    z.sum().backward()
    return x.grad, z is x


def function_none_grad(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x * 1, y * 1

        @staticmethod
        def backward(ctx, a, b):
            return None, b

    x, y = leaf(t, 1.0), leaf(t, 2.0)
    a, b = Own.apply(x, y)
    (a + b).backward()
    return x.grad, y.grad


def function_once(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @t.autograd.function.once_differentiable
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]

    x = leaf(t, 3.0)
    (g,) = t.autograd.grad(Own.apply(x), x, create_graph=True)
    g.backward()


def function_save_output(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(t, 3.0)
    (g,) = t.autograd.grad(Own.apply(x), x, create_graph=True)
    (h,) = t.autograd.grad(g, x)
    return g.item(), h.item()


def function_needs(t):
    r = []

    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, k):
            r.append(ctx.needs_input_grad)
            return x * y

        @staticmethod
        def backward(ctx, g):
            r.append(ctx.needs_input_grad)
            return g, g, None

    Own.apply(leaf(t, 1.0), leaf(t, 2.0, g=False), 3).backward()
    return r


def function_ctx_attrs(t):
    class Own(t.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.k = 7
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.k

    y = Own.apply(leaf(t, 1.0))
    return (
        y.grad_fn.k,
        type(y.grad_fn).__name__,
        y.grad_fn.name(),
        isinstance(y.grad_fn, t.autograd.function.BackwardCFunction),
    )


SITUATIONS = [
    saved_hooks_nested,
    saved_hooks_change,
    saved_hooks_nontensor,
    saved_hooks_bad_unpack,
    saved_hooks_disabled,
    save_on_cpu,
    saved_modified,
    saved_modified2,
    saved_modified_ok,
    leaf_inplace,
    leaf_view_inplace,
    leaf_nograd_inplace,
    expand_inplace,
    unbind_inplace,
    split_inplace_noreq,
    chunk_base_then_view,
    inplace_versions,
    anomaly_nan,
    anomaly_nan_off,
    anomaly_custom,
    anomaly_state,
    next_functions,
    gradient_edge,
    gradient_edge_backward,
    inference,
    inference_save,
    inference_inplace,
    inference_req,
    set_grad,
    nograd_generator,
    complex_backward,
    complex_nonreal,
    queue_callback,
    nested_backward_in_hook,
    function_nonleaf_dirty,
    function_return_input,
    function_none_grad,
    function_once,
    function_save_output,
    function_needs,
    function_ctx_attrs,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_situation(situation):
    """The same results, or an error of torch's class."""
    check(situation)
