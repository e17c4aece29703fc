"""Hooks of tensors and nodes, what backward and grad are asked for: beside torch."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check, leaf  # noqa: E402


def hooks_order(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    z = y.sum()
    x.register_hook(lambda g: log.append("x"))
    y.register_hook(lambda g: log.append("y1"))
    y.retain_grad()
    y.register_hook(lambda g: (log.append("y2"), g * 3)[1])
    y.grad_fn.register_hook(lambda a, b: log.append("ypost"))
    y.grad_fn.register_prehook(lambda b: log.append("ypre"))
    x.register_post_accumulate_grad_hook(lambda p: log.append(("acc", p.grad.tolist())))
    z.register_hook(lambda g: log.append("z"))
    z.backward()
    return log, x.grad, y.grad


def retain_then_hook_value(t):
    x = leaf(t, 1.0)
    y = x * 2
    y.register_hook(lambda g: g * 10)
    y.retain_grad()
    (y * 3).backward()
    return y.grad, x.grad


def hook_remove_in_hook(t):
    x = leaf(t, 1.0)
    log = []
    h = x.register_hook(lambda g: (log.append(1), h.remove())[0])
    (x * 2).backward()
    (x * 2).backward()
    return log, x.grad


def hook_add_in_hook(t):
    x = leaf(t, 1.0)
    log = []

    def f(g):
        log.append("a")
        x.register_hook(lambda g: log.append("b"))

    x.register_hook(f)
    (x * 2).backward()
    log.append("|")
    (x * 2).backward()
    return log


def node_hook_replace(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: tuple(g * 2 for g in gi))
    y.sum().backward()
    return x.grad


def node_hook_wrong_len(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    y.grad_fn.register_hook(lambda gi, go: (gi[0],))
    y.sum().backward()
    return x.grad


def node_prehook_replace(t):
    x = leaf(t, 1.0, 2.0)
    y = x * x
    y.grad_fn.register_prehook(lambda go: (go[0] * 5,))
    y.sum().backward()
    return x.grad


def multi_grad_all(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    log = []
    h = t.autograd.graph.register_multi_grad_hook(
        (x, y), lambda gs: log.append([None if g is None else g.item() for g in gs])
    )
    (x * y).backward()
    (x * 2).backward()
    h.remove()
    (x * y).backward()
    return log


def multi_grad_any(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    log = []
    t.autograd.graph.register_multi_grad_hook((x, y), lambda g: log.append(g.item()), mode="any")
    (x * y).backward()
    (x * 2).backward()
    return log


def post_acc_nonleaf(t):
    x = leaf(t, 1.0)
    (x * 2).register_post_accumulate_grad_hook(lambda p: None)


def retain_grad_leaf(t):
    x = leaf(t, 1.0)
    x.retain_grad()
    return x.retains_grad, (x * 2).retains_grad


def retain_grad_noreq(t):
    t.ones(1).retain_grad()


def retain_inplace(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y**2).sum().backward()
    return y.grad, x.grad


def hook_before_inplace(t):
    log = []
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: log.append(("old", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: log.append(("new", g.tolist())))
    (y**2).sum().backward()
    return log


def detach_inplace(t):
    x = leaf(t, 1.0, 2.0)
    y = x * 2
    y.detach_()
    return y.requires_grad, y.grad_fn, y.is_leaf


def detach_view(t):
    x = leaf(t, 1.0, 2.0)
    y = (x * 2)[:1]
    y.detach_()
    return y.requires_grad


def detach_leaf(t):
    x = leaf(t, 1.0)
    x.detach_()
    return x.requires_grad


def reqgrad_int(t):
    t.tensor([1]).requires_grad_()


def reqgrad_nonleaf_false(t):
    x = leaf(t, 1.0)
    y = x * 2
    y.requires_grad_(False)


def reqgrad_nonleaf_true(t):
    x = leaf(t, 1.0)
    y = x * 2
    y.requires_grad_(True)
    return y.is_leaf


def backward_nonscalar(t):
    (leaf(t, 1.0, 2.0) * 2).backward()


def backward_noreq(t):
    t.ones(1).backward()


def backward_shape(t):
    (leaf(t, 1.0, 2.0) * 2).backward(t.ones(3))


def backward_twice(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward()
    y.backward()


def backward_twice_retain(t):
    x = leaf(t, 2.0)
    y = x * x
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


def backward_twice_nosave(t):
    x = leaf(t, 2.0)
    y = x + x
    y.backward()
    y.backward()
    return x.grad


def backward_inputs(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    (x * y).backward(inputs=[x])
    return x.grad, y.grad


def backward_inputs_nonleaf(t):
    x = leaf(t, 1.0)
    y = x * 2
    z = y * y
    z.backward(inputs=[y])
    return y.grad, x.grad


def backward_inputs_empty(t):
    x = leaf(t, 1.0)
    (x * 2).backward(inputs=[])


def multi_backward(t):
    x = leaf(t, 1.0, 2.0)
    a, b = x * 2, x * 3
    t.autograd.backward([a, b], [t.ones(2), None])


def multi_backward2(t):
    x = leaf(t, 1.0, 2.0)
    a, b = x * 2, (x * 3).sum()
    t.autograd.backward([a, b], [t.ones(2), None])
    return x.grad


def grad_unused(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    t.autograd.grad(x * 2, (x, y))


def grad_unused_allow(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    return t.autograd.grad(x * 2, (x, y), allow_unused=True)


def grad_materialize(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    return t.autograd.grad(x * 2, (x, y), materialize_grads=True)


def grad_materialize_bad(t):
    x, y = leaf(t, 1.0), leaf(t, 2.0)
    return t.autograd.grad(x * 2, (x, y), allow_unused=False, materialize_grads=True)


def grad_batched(t):
    x = leaf(t, 1.0, 2.0)
    y = x**2
    return t.autograd.grad(y, x, t.eye(2), is_grads_batched=True)


def grad_int_output(t):
    x = leaf(t, 1.0)
    t.autograd.grad(x.long(), x)


def create_graph_warn(t):
    x = leaf(t, 2.0)
    y = x**3
    y.backward(create_graph=True)
    return x.grad.requires_grad, x.grad.grad_fn is not None


def grad_accum_create_graph(t):
    x = leaf(t, 2.0)
    (x**3).backward(create_graph=True)
    g = x.grad
    (x**2).backward(create_graph=True)
    return g is x.grad, x.grad.item()


def grad_accum_inplace(t):
    x = leaf(t, 2.0)
    (x**3).backward()
    g = x.grad
    (x**2).backward()
    return g is x.grad, g.item()


def grad_dtype_mismatch(t):
    x = leaf(t, 1.0)
    x.grad = t.ones(1, dtype=t.float64)


def grad_shape_mismatch(t):
    x = leaf(t, 1.0)
    x.grad = t.ones(2)


SITUATIONS = [
    hooks_order,
    retain_then_hook_value,
    hook_remove_in_hook,
    hook_add_in_hook,
    node_hook_replace,
    node_hook_wrong_len,
    node_prehook_replace,
    multi_grad_all,
    multi_grad_any,
    post_acc_nonleaf,
    retain_grad_leaf,
    retain_grad_noreq,
    retain_inplace,
    hook_before_inplace,
    detach_inplace,
    detach_view,
    detach_leaf,
    reqgrad_int,
    reqgrad_nonleaf_false,
    reqgrad_nonleaf_true,
    backward_nonscalar,
    backward_noreq,
    backward_shape,
    backward_twice,
    backward_twice_retain,
    backward_twice_nosave,
    backward_inputs,
    backward_inputs_nonleaf,
    backward_inputs_empty,
    multi_backward,
    multi_backward2,
    grad_unused,
    grad_unused_allow,
    grad_materialize,
    grad_materialize_bad,
    grad_batched,
    grad_int_output,
    create_graph_warn,
    grad_accum_create_graph,
    grad_accum_inplace,
    grad_dtype_mismatch,
    grad_shape_mismatch,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_situation(situation):
    """The same results, or an error of torch's class."""
    check(situation)
