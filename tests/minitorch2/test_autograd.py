"""What autograd promises besides the numbers: hooks, graphs freed, modes, writes in place."""

import gc
import weakref
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2.errors import AutogradError, GraphFreed, InPlaceError, SavedTensorModified


def leaf(*values: float) -> Any:
    """A vector that requires a gradient."""
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


def test_gradients_accumulate() -> None:
    """A second backward adds to .grad, into the same tensor."""
    x = leaf(1.0, 2.0)
    (x * 3).sum().backward()
    first = x.grad
    (x * x).sum().backward()
    assert x.grad is first
    assert x.grad.tolist() == [5.0, 7.0]


def test_a_second_backward_needs_retain_graph() -> None:
    """Saved tensors are freed by the first, unless asked otherwise."""
    x = leaf(2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [8.0]
    with pytest.raises(GraphFreed, match="second time"):
        y.backward()


def test_saved_tensors_die_as_the_backward_passes() -> None:
    """After a backward nothing keeps an intermediate alive, though the output still lives."""
    x = leaf(1.0, 2.0)
    middle = x.exp()
    y = (middle * middle).sum()
    alive = weakref.ref(middle.storage)
    del middle
    gc.disable()
    try:
        assert alive() is not None
        y.backward()
        assert alive() is None
    finally:
        gc.enable()


def test_an_unused_graph_needs_no_garbage_collector() -> None:
    """A result saved by its own node makes no cycle."""
    gc.disable()
    try:
        x = leaf(1.0)
        y = x.exp().tanh()
        alive = weakref.ref(y)
        del y
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("write", ["add_", "mul_"])
def test_a_saved_tensor_may_not_be_overwritten(write: str) -> None:
    """The version counter tells, and the message says which and what to do."""
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    getattr(y, write)(2.0)
    with pytest.raises(SavedTensorModified, match="modified by an inplace operation"):
        z.backward()


def test_a_write_through_a_view_is_seen() -> None:
    """Base and views share one counter."""
    x = leaf(1.0, 2.0)
    y = x * 1
    z = (y * y).sum()
    y[0] = 5.0
    assert y._version == 1 and y[1:]._version == 1
    with pytest.raises(SavedTensorModified):
        z.backward()


def test_writes_to_detached_data_count_but_to_data_do_not() -> None:
    """detach() shares the counter; .data has one of its own."""
    x = torch.ones(2)
    x.detach().add_(1)
    assert x._version == 1
    x.data.add_(1)
    assert x._version == 1 and x.tolist() == [3.0, 3.0]


def test_leaves_may_not_be_written() -> None:
    """Neither directly nor through a view, unless no_grad."""
    x = leaf(1.0, 2.0)
    with pytest.raises(InPlaceError, match="leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(InPlaceError, match="view of a leaf"):
        x[0] = 1.0
    with torch.no_grad():
        x.add_(1)
        x[0] = 7.0
    assert x.tolist() == [7.0, 3.0] and x.is_leaf and x.requires_grad


def test_siblings_may_not_be_written() -> None:
    """Outputs of unbind, split and chunk share a history."""
    x = leaf(1.0, 2.0, 3.0, 4.0) * 1
    for parts in (x.unbind(0), x.split(2), x.chunk(2)):
        with pytest.raises(InPlaceError, match="multiple views"):
            parts[0].mul_(2)


def test_writes_into_views_reach_the_base() -> None:
    """The written part gets the new value's gradient, the rest keeps its own."""
    x, w = leaf(1.0, 2.0, 3.0), leaf(5.0)
    y = x * 2
    y[1:2] = w * 3
    y[0].mul_(10)
    y.sum().backward()
    assert y.tolist() == [20.0, 15.0, 6.0]
    assert x.grad.tolist() == [20.0, 0.0, 2.0] and w.grad.tolist() == [3.0]


def test_views_learn_of_writes_to_their_base() -> None:
    """A view made before the write has the base's new history."""
    x = leaf(1.0, 2.0)
    y = x * 1
    view = y[:1]
    y.mul_(3)
    view.sum().backward()
    assert x.grad.tolist() == [3.0, 0.0]


def test_views_of_views() -> None:
    """Chains of views, transposed and sliced, write back in order."""
    x = torch.arange(6, dtype=torch.float64).reshape(2, 3).requires_grad_()
    y = x * 1
    y.t()[1:].select(1, 0).mul_(4)
    (y * y.detach()).sum().backward()
    assert y.tolist() == [[0.0, 4.0, 8.0], [3.0, 4.0, 5.0]]
    assert x.grad.tolist() == [[0.0, 16.0, 32.0], [3.0, 4.0, 5.0]]


def test_double_backward() -> None:
    """create_graph makes gradients that have gradients."""
    x = leaf(2.0)
    (g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g.sum(), x, create_graph=True)
    (i,) = torch.autograd.grad(h.sum(), x)
    assert (g.item(), h.item(), i.item()) == (12.0, 12.0, 6.0)


def test_grad_of_what_was_not_used() -> None:
    """An error, or None, or zeros: as asked."""
    x, y = leaf(1.0), leaf(1.0)
    with pytest.raises(AutogradError, match="not have been used"):
        torch.autograd.grad(x.sum(), [x, y])
    assert torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    zeros = torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)[1]
    assert zeros.tolist() == [0.0]


def test_grad_of_an_intermediate() -> None:
    """grad() also goes to tensors that are no leaves, and leaves .grad alone."""
    x = leaf(3.0)
    y = x * x
    z = (y * y).sum()
    dy, dx = torch.autograd.grad(z, [y, x])
    assert dy.item() == 18.0 and dx.item() == 108.0 and x.grad is None


def test_hooks_change_gradients() -> None:
    """Tensor hooks on leaves and others, in the order they were registered."""
    x = leaf(1.0, 2.0)
    seen = []
    y = x * 2

    def tenfold(g: Any) -> Any:
        seen.append(g.tolist())
        return g * 10

    handle = y.register_hook(tenfold)
    y.register_hook(lambda g: seen.append(g.tolist()))
    x.register_hook(lambda g: g + 1)
    y.sum().backward()
    assert seen == [[1.0, 1.0], [10.0, 10.0]] and x.grad.tolist() == [21.0, 21.0]
    handle.remove()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_hooks_after_accumulation_and_retained_gradients() -> None:
    """register_post_accumulate_grad_hook and retain_grad."""
    x = leaf(1.0)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    assert seen == [6.0] and y.grad.tolist() == [3.0]


def test_node_hooks_and_next_functions() -> None:
    """The graph can be walked, and its nodes take hooks."""
    x = leaf(1.0)
    y = (x * 2).exp()
    assert y.grad_fn.name() == "ExpBackward0"
    product = y.grad_fn.next_functions[0][0]
    assert product.name() == "MulBackward0"
    assert product.next_functions[0][0].variable is x
    seen = []
    y.grad_fn.register_prehook(lambda grads: seen.append("before"))
    y.grad_fn.register_hook(lambda grads_in, grads_out: seen.append("after"))
    y.sum().backward()
    assert seen == ["before", "after"]


def test_modes() -> None:
    """no_grad, enable_grad, set_grad_enabled, inference_mode, as blocks and decorators."""
    x = leaf(1.0)
    with torch.no_grad():
        assert not (x * 2).requires_grad and not torch.is_grad_enabled()
        with torch.enable_grad():
            assert (x * 2).requires_grad
    with torch.set_grad_enabled(False):
        assert not (x * 2).requires_grad
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not (x * 2).requires_grad
    assert torch.is_grad_enabled() and not torch.no_grad()(lambda: (x * 2).requires_grad)()


def test_backward_needs_a_scalar_and_a_history() -> None:
    """Two mistakes everybody makes once."""
    with pytest.raises(AutogradError, match="scalar outputs"):
        (leaf(1.0, 2.0) * 2).backward()
    with pytest.raises(AutogradError, match="does not require grad"):
        torch.ones(1).backward()
    with pytest.raises(AutogradError, match="floating point"):
        torch.ones(2, dtype=torch.int64).requires_grad_()


def test_function() -> None:
    """autograd.Function: saved tensors, non-tensor arguments, double backward through it."""

    class Cube(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, scale):
            ctx.save_for_backward(x)
            ctx.scale = scale
            return x * x * x * scale

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 3 * x * x * g * ctx.scale, None

    x = leaf(2.0)
    y = Cube.apply(x, 2.0)
    (g,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert g.item() == 24.0
    g.sum().backward()
    assert x.grad.item() == 24.0
    assert torch.autograd.gradcheck(lambda t: Cube.apply(t, 2.0), (leaf(1.5),))


def test_deep_graphs_need_no_deep_stack() -> None:
    """Ten thousand operations in a row, forward, backward and forgotten."""
    x = leaf(1.0)
    y = x
    for _ in range(10_000):
        y = y + 1
    y.sum().backward()
    del y
    assert x.grad.item() == 1.0


def test_a_dropped_deep_graph_is_freed() -> None:
    """Without a backward the chain of nodes is let go one by one."""
    y = leaf(1.0)
    for _ in range(50_000):
        y = y + 1
    del y
    gc.collect()


def test_a_function_may_see_which_gradients_are_missing():
    seen = []

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx, first, second):
            seen.append((first, second))
            return second

    x = torch.ones(2, requires_grad=True)
    Two.apply(x)[1].sum().backward()
    assert seen[0][0] is None and x.grad.tolist() == [1, 1]


def test_a_write_through_an_expand_that_repeats_nothing():
    x = torch.ones(1, 3, requires_grad=True)
    y = (x * 2).expand(1, 3)
    y[0, 1:].mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [[2, 6, 6]]


def test_what_a_backward_does_not_read_may_be_written():
    x, w = torch.ones(2, 2), torch.ones(2, 2, requires_grad=True)
    y, z = x * w, w @ x
    w.detach().add_(1)
    (y.sum() + z.sum()).backward()
    assert w.grad.tolist() == [[3, 3], [3, 3]]


def test_products_of_nothing():
    a, b = torch.ones(2, 0, 3, requires_grad=True), torch.ones(3, 0, requires_grad=True)
    (a @ b).sum().backward()
    assert a.grad.shape == (2, 0, 3) and b.grad.shape == (3, 0)
    assert torch.zeros(0, 3).t().is_contiguous()


def test_what_a_hook_keeps_is_its_own() -> None:
    """A gradient that a hook kept is not written when later gradients are added to .grad."""
    x = leaf(1.0, 2.0)
    kept: list = []
    x.register_hook(kept.append)
    y = x * 1
    y.register_hook(kept.append)
    for _ in range(3):
        y.sum().backward(retain_graph=True)
    assert [gradient.tolist() for gradient in kept] == [[1.0, 1.0]] * 6
    assert x.grad is not None and x.grad.tolist() == [3.0, 3.0]
