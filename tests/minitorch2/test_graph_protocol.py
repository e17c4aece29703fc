"""What users may see and do of the graph: hooks and their order, saved tensors, edges, modes."""

import gc
import math
import weakref

import pytest

import minitorch2 as torch
from minitorch2.autograd.saving import get_gradient_edge, register_multi_grad_hook


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


# ---- hooks ------------------------------------------------------------------------------------


def test_hooks_of_tensors_come_before_those_of_nodes():
    log = []

    def of_tensor(grad):
        log.append("tensor")
        return grad * 3

    def of_node(grads):
        log.append("node")
        return tuple(grad * 2 for grad in grads)

    a = torch.tensor(1.0, requires_grad=True)
    b = a.clone()
    b.grad_fn.register_prehook(of_node)
    b.register_hook(of_tensor)
    accumulator = b.grad_fn.next_functions[0][0]
    accumulator.register_prehook(of_node)
    a.register_hook(of_tensor)
    b.backward(retain_graph=True)
    assert log == ["tensor", "node"] * 2
    assert a.grad.item() == 36
    log.clear()
    torch.autograd.grad(b, a, retain_graph=True)  # accumulates nothing: its node does not run
    assert log == ["tensor", "node", "tensor"]


def test_the_hooks_around_an_accumulation():
    tensor = torch.rand(3, requires_grad=True)
    accumulator = tensor.view_as(tensor).grad_fn.next_functions[0][0]

    def at_last(inputs, outputs):
        assert inputs == ()
        tensor.grad = outputs[0].mul(10)

    def add(owner):
        owner.grad.add_(0.5)

    tensor.register_hook(lambda grad: grad - 2)
    accumulator.register_prehook(lambda grads: (grads[0] / 5,))
    tensor.register_post_accumulate_grad_hook(add)
    accumulator.register_hook(at_last)
    tensor.sum().backward()
    assert torch.allclose(tensor.grad, torch.full((3,), 3.0))


@pytest.mark.parametrize(
    "hook, error, text",
    [
        (lambda grad: grad.sum(), RuntimeError, "changed the size of value"),
        (lambda grad: grad.double(), RuntimeError, "changed the type of value"),
        (lambda grad: 3, TypeError, "but hook returned 'int'"),
    ],
)
def test_what_a_hook_may_not_return(hook, error, text):
    y = leaf() * 2
    y.register_hook(hook)
    with pytest.raises(error, match=text):
        y.sum().backward()


def test_hooks_of_nodes_return_tuples():
    y = leaf() * 2
    y.grad_fn.register_hook(lambda inputs, outputs: inputs[0])
    with pytest.raises(TypeError, match="expected tuple"):
        y.sum().backward()


def test_hooks_after_accumulation_want_leaves_and_return_nothing():
    with pytest.raises(RuntimeError, match="non-leaf"):
        (leaf() * 2).register_post_accumulate_grad_hook(print)
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda t: t.grad)
    with pytest.raises(RuntimeError, match="hooks should return None"):
        x.sum().backward()


def test_retained_gradients_belong_to_the_newest_value():
    a = leaf(1.0).clone()
    a.retain_grad()
    a.mul_(2)
    a.mul_(2)
    a.sum().backward()
    assert a.grad.tolist() == [1.0]
    base = leaf(1.0).clone()
    view, other = base[:], base[:]
    view.retain_grad()
    other.retain_grad()
    view.mul_(2)
    (view + other).sum().backward()
    assert view.grad.tolist() == other.grad.tolist() == [1.0]


def test_a_hook_of_an_output_without_a_gradient_sees_none():
    seen = []
    first, second = leaf().unbind()
    first.register_hook(seen.append)
    second.backward()
    assert not seen  # the parts are nodes of their own

    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, x * 3

        @staticmethod
        def backward(ctx, a, b):
            return a + b

    first, second = Two.apply(leaf())
    first.register_hook(seen.append)
    second.sum().backward()
    assert seen == [None]


def test_hooks_on_several_gradients_know_which_are_computed():
    tensors = [leaf() for _ in range(4)]
    seen = []
    register_multi_grad_hook(tensors, lambda grads: seen.append([g is not None for g in grads]))
    out = (tensors[1] * tensors[2]).sum()
    out.backward(inputs=tensors[1:3], retain_graph=True)
    out.backward(inputs=[tensors[0], tensors[3]], retain_graph=True)
    out.backward(inputs=[tensors[0], tensors[2]], retain_graph=True)
    assert seen == [[False, True, True, False], [False, False, True, False]]


# ---- which gradients -----------------------------------------------------------------------------


def test_backward_into_tensors_that_are_no_leaves():
    x = leaf()
    y = x * 3
    (y**2).sum().backward(inputs=[y])
    assert y.grad.tolist() == [6.0, 12.0] and x.grad is None
    with pytest.raises(RuntimeError, match="cannot be empty"):
        (x * 2).sum().backward(inputs=[])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        torch.autograd.grad((x * 2).sum(), [])


def test_edges_stand_for_tensors_in_and_out():
    x = leaf()
    middle = x.sin().sum()
    out = middle.exp()
    edge = get_gradient_edge(middle)
    (start,) = torch.autograd.grad(out, edge, retain_graph=True)
    (found,) = torch.autograd.grad(edge, x, start, retain_graph=True)
    (expected,) = torch.autograd.grad(out, x)
    assert torch.equal(found, expected)
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        torch.autograd.grad(edge, x, torch.ones(3))
    x = leaf().clone()
    before = get_gradient_edge(x)
    x *= 2
    old, new = torch.autograd.grad(x.sum(), (before, x))
    assert old.tolist() == [2.0, 2.0] and new.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "gradient, error, text",
    [
        (torch.ones(3), RuntimeError, r"grad_output\[0\] has a shape of torch.Size\(\[3\]\)"),
        (torch.ones(2, dtype=torch.complex64), RuntimeError, "required to have the same dtype"),
        (3, TypeError, "gradients can be either Tensors or None"),
    ],
)
def test_gradients_that_do_not_fit(gradient, error, text):
    with pytest.raises(error, match=text):
        torch.autograd.backward([leaf() * 2], [gradient])


def test_a_batch_of_gradients_names_what_does_not_fit():
    x = torch.randn(2, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match="we interpret the first"):
        torch.autograd.grad(x.clone(), x, torch.ones(2, 2), is_grads_batched=True)
    (found,) = torch.autograd.grad(x.sum(), x, torch.arange(3), is_grads_batched=True)
    assert found.dtype == torch.float32 and found[2].tolist() == [[2.0, 2.0]] * 2


def test_unused_inputs():
    x, y = leaf(), leaf()
    with pytest.raises(RuntimeError, match="at index 1 appears to not have been used"):
        torch.autograd.grad(x.sum(), [x, y])
    with pytest.raises(ValueError, match="Expected allow_unused to be True"):
        torch.autograd.grad(x.sum(), x, allow_unused=False, materialize_grads=True)


# ---- saved tensors ------------------------------------------------------------------------------


def saved_by(function, *tensors):
    """How many tensors a call saves."""
    count = []

    def pack(tensor):
        count.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        function(*tensors)
    return len(count)


@pytest.mark.parametrize(
    "function, kept, both",
    [
        (lambda a, b: a * b, 1, 2),
        (lambda a, b: a @ b, 1, 2),
        (lambda a, b: a / b, 1, 2),
        (lambda a, b: a * 3, 0, 0),
        (lambda a, b: torch.relu(a), 1, 1),
        (lambda a, b: torch.conv1d(a[None], b[None]), 1, 2),
    ],
)
def test_only_what_a_gradient_needs_is_saved(function, kept, both):
    a, b = torch.rand(2, 2, requires_grad=True), torch.rand(2, 2)
    assert saved_by(function, a, b) == kept
    assert saved_by(function, a, b.requires_grad_()) == both


def test_a_factor_that_nothing_needs_may_be_written():
    x, scale = torch.rand(3), leaf(2.0)
    y = x * scale  # needs x only
    scale.data.mul_(2)
    with torch.no_grad():
        scale.mul_(3)
    y.sum().backward()
    assert torch.allclose(scale.grad, x.sum()[None])


@pytest.mark.parametrize("name", ["add", "sum", "view", "clone", "neg", "expand", "double"])
def test_nodes_that_save_nothing_run_again(name):
    x = torch.rand(2, requires_grad=True)
    call = {"add": lambda: x + 1, "view": lambda: x.view(2, 1), "expand": lambda: x.expand(3, 2)}
    y = call.get(name, lambda: getattr(x, name)())()
    start = torch.ones_like(y)
    y.backward(start)
    y.backward(start)
    with pytest.raises(RuntimeError, match="second time"):
        z = x.exp()
        z.backward(torch.ones(2))
        z.backward(torch.ones(2))


def test_nodes_show_what_they_saved():
    a = leaf()
    y = a.exp()
    node = y.grad_fn
    assert torch.equal(node._saved_result, y) and node._saved_result.grad_fn is node
    raw = node._raw_saved_result
    assert isinstance(raw, torch.autograd.SavedTensor) and raw.unpack_hook is None
    assert (a * 3).grad_fn._saved_other == 3 and (a * 3).grad_fn._saved_self is None
    assert not hasattr(node, "_saved_other")
    with pytest.raises(RuntimeError, match="modifying its input in place"):
        raw.register_hooks(lambda t: t.mul_(2), lambda t: t)
    raw.register_hooks(lambda t: 2 * t, lambda t: t / 2)
    with pytest.raises(RuntimeError, match="already been set"):
        raw.register_hooks(lambda t: t, lambda t: t)
    assert torch.equal(node._saved_result, y)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="after they have already been freed"):
        node._saved_result  # noqa: B018
    with pytest.raises(RuntimeError, match="after it has been freed"):
        node._raw_saved_result.register_hooks(lambda t: t, lambda t: t)


def test_an_unpack_hook_returns_a_tensor():
    y = leaf() ** 2
    y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: 1)
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type int"):
        y.sum().backward()


def test_a_saved_tensor_that_was_detached_in_place():
    a = leaf().clone()
    b = a.sin()
    a.detach_()
    with pytest.raises(RuntimeError, match="detached in-place"):
        b.sum().backward()
    a = leaf().clone()
    b = a.exp()  # saves its result
    a.detach_()
    b.sum().backward()
    with pytest.raises(RuntimeError, match="Can't detach views in-place"):
        leaf()[:1].detach_()


def test_writes_into_saved_tensors_may_be_allowed():
    allow = torch.autograd.graph.allow_mutation_on_saved_tensors
    a = torch.rand(2, 3, requires_grad=True)
    with allow() as context:
        b = a.clone()
        out, again = b**2, b**2
        b[:1].sin_()
        b.sin_()
        assert len(context.cloned) == 1
        out.sum().backward()
        del again, out
        assert len(context.cloned) == 0
        with pytest.raises(RuntimeError, match="cannot be nested"), allow():
            pass
        late = (a**2).sum()
    assert torch.allclose(a.grad, 2 * a)
    with pytest.raises(AssertionError, match="outside of the"):
        late.backward()


def test_results_die_without_the_garbage_collector():
    gc.disable()
    try:

        class Exp(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                return grad * ctx.saved_tensors[0]

        for function in (Exp.apply, torch.exp, torch.relu):
            y = function(leaf())
            y.retain_grad()
            alive = weakref.ref(y)
            del y
            assert alive() is None
    finally:
        gc.enable()


# ---- nodes, callbacks, settings ----------------------------------------------------------------


def test_nodes_of_leaves_are_kept():
    x = leaf()
    y = x + 5
    (first, index), (nothing, _) = y.grad_fn.next_functions
    assert first is y.grad_fn.next_functions[0][0] and first.variable is x and index == 0
    assert nothing is None and first.name() == "torch::autograd::AccumulateGrad"
    assert get_gradient_edge(x).node is first
    assert y.grad_fn._input_metadata[0].shape == (2,)


def test_a_node_can_be_called():
    x = leaf()
    y = x.exp()
    assert torch.allclose(y.grad_fn(torch.ones(2)), y)
    with pytest.raises(TypeError, match="expected 1 arguments, got 0 instead"):
        y.grad_fn()


def test_what_runs_in_a_backward():
    engine, seen = torch.autograd.Variable._execution_engine, []
    x = leaf()
    y = x * 2
    other = y.cos()

    def hook(grad):
        seen.append([torch._C._will_engine_execute_node(t.grad_fn) for t in (y, other)])
        seen.append(torch._C._current_autograd_node().name())
        engine.queue_callback(lambda: seen.append("end"))

    y.register_hook(hook)
    y.sum().backward()
    assert seen == [[True, False], "MulBackward0", "end"]
    assert torch._C._current_graph_task_id() == -1
    with pytest.raises(RuntimeError, match="during the backward pass"):
        torch._C._will_engine_execute_node(y.grad_fn)


def test_decorated_generators_have_the_mode_between_their_own_steps():
    @torch.no_grad()
    def steps():
        try:
            got = yield torch.is_grad_enabled()
            yield got, torch.is_grad_enabled()
        except ValueError:
            yield "caught", torch.is_grad_enabled()

    running = steps()
    assert next(running) is False and torch.is_grad_enabled()
    assert running.send(5) == (5, False)
    assert running.throw(ValueError) == ("caught", False)
    running.close()
    with pytest.warns(FutureWarning, match="Decorating classes"):
        torch.no_grad()(type("Anything", (), {}))


def test_gradients_of_another_dtype():
    x = leaf()
    assert x.grad_dtype is torch.float32
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = torch.ones(2, dtype=torch.float64)
    x.grad_dtype = torch.float16
    (x * 2).sum().backward()
    assert x.grad.dtype is torch.float16
    with pytest.raises(RuntimeError, match="Cannot set grad_dtype"):
        x.grad_dtype = torch.float32
    with pytest.raises(RuntimeError, match="only be accessed on leaf"):
        (x * 2).grad_dtype  # noqa: B018


def test_a_gradient_that_nobody_keeps_is_warned_of():
    y = leaf() * 2
    with pytest.warns(UserWarning, match="not a leaf Tensor"):
        assert y.grad is None
    y.retain_grad()
    assert y.grad is None


# ---- inference mode ---------------------------------------------------------------------------


def test_inference_tensors_have_no_version_and_are_not_saved():
    with torch.inference_mode():
        c = torch.ones(2)
        assert c.is_inference() and (c * c).is_inference() and c.view(2).is_inference()
        c.add_(1)
        with torch.inference_mode(False):
            assert torch.is_grad_enabled() and not torch.ones(2).is_inference()
    assert not torch.ones(2).is_inference() and not (c * c).is_inference()
    with pytest.raises(RuntimeError, match="do not track version counter"):
        c._version  # noqa: B018
    for write in (lambda: c.add_(1), lambda: c.unsqueeze_(0), lambda: torch.exp(c, out=c)):
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            write()
    x = leaf()
    assert (c + x).requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved"):
        c * x
    with pytest.raises(RuntimeError, match="on inference tensor outside"):
        c.requires_grad_()


def test_views_made_where_nothing_is_recorded_are_not_written():
    for mode, text in ((torch.no_grad, "no_grad mode"), (torch.inference_mode, "inference mode")):
        base = leaf().clone()
        with mode():
            view = base.view(2)
        with pytest.raises(RuntimeError, match=f"{text} and is being modified"):
            view.add_(1)
        base.add_(1)
        with pytest.raises(RuntimeError, match="its base or another view of its base"):
            view.grad_fn  # noqa: B018


def test_one_of_several_views_may_be_written_where_no_gradient_is_wanted():
    x = torch.zeros(2, 2)
    x.unbind(1)[0].add_(1)
    x.split(1)[1].mul_(3)
    assert x.tolist() == [[1.0, 0.0], [3.0, 0.0]]
    with pytest.raises(RuntimeError, match="returns multiple views"):
        x.unbind(0)[0].copy_(leaf())


def test_deep_graphs_are_freed_and_run():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + y * 1e-9
    y.backward()
    assert math.isclose(x.grad.item(), 1.0, rel_tol=1e-2)
