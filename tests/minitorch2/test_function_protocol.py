"""autograd.Function: what forward may declare and return, and what backward may give."""

import warnings

import pytest

import minitorch2 as torch
from minitorch2.autograd import Function
from minitorch2.autograd.function import InplaceFunction, once_differentiable


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


class Same(Function):
    """Returns what it gets; the gradient is doubled, so that the node shows."""

    @staticmethod
    def forward(ctx, x):
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


def test_an_input_returned_as_it_came_is_a_view_not_to_be_written():
    x = leaf()
    y = Same.apply(x)
    assert y is not x and y._is_view() and y._base is x
    assert type(y.grad_fn).__name__ == y.grad_fn.name() == "SameBackward"
    y.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        Same.apply(x.clone()).add_(1)
    with pytest.raises(RuntimeError, match="created inside a custom Function"):
        Same.apply(torch.ones(2)).add_(x)


def test_backward_sees_every_output_and_none_for_what_is_no_tensor():
    seen = []

    class Mixed(Function):
        @staticmethod
        def forward(ctx, a, scale, b):
            ctx.scale = ctx.count = ctx.inputs = scale  # names are the user's
            return scale, a * scale, None, "text", b * 2

        @staticmethod
        def backward(ctx, *grads):
            seen.extend(grad is None for grad in grads)
            return grads[1] * ctx.scale, None, grads[4] * 2

    a, b = leaf(), leaf()
    scale, first, nothing, text, second = Mixed.apply(a, 3, b)
    assert (scale, nothing, text) == (3, None, "text")
    assert len(first.grad_fn.next_functions) == 2 and first.grad_fn.scale == 3
    (first + second).sum().backward()
    assert seen == [True, False, True, True, False]
    assert a.grad.tolist() == [3.0, 3.0] and b.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    "gradient, error, text",
    [
        (
            lambda g: torch.ones(10),
            RuntimeError,
            "invalid gradient at index 0 - got .10. but expec",
        ),
        (lambda g: (g, g), RuntimeError, r"incorrect number of gradients \(expected 1, got 2\)"),
        (lambda g: (), RuntimeError, "incorrect number of gradients"),
        (lambda g: [g], RuntimeError, r"expected Variable or None \(got list\)"),
    ],
)
def test_gradients_that_backward_may_not_give(gradient, error, text):
    class Wrong(Same):
        @staticmethod
        def backward(ctx, grad):
            return gradient(grad)

    with pytest.raises(error, match=text):
        Wrong.apply(leaf()).sum().backward()


def test_gradients_are_fit_to_their_inputs():
    class Large(Same):
        @staticmethod
        def backward(ctx, grad):
            return grad.double().expand(3, 2), None, None

    x = leaf()
    Large.apply(x).sum().backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [3.0, 3.0]


def test_missing_gradients():
    seen = []

    class Sees(Same):
        @staticmethod
        def backward(ctx, grad):
            seen.append(grad)
            return grad

    class AsTheyAre(Sees):
        @staticmethod
        def forward(ctx, x):
            ctx.set_materialize_grads(False)
            return x

    x = leaf(1.0)
    for kind in (Sees, AsTheyAre):
        torch._C._functions.UndefinedGrad()(kind.apply(x)).backward()
    assert seen[0].tolist() == [0.0] and seen[1] is None
    assert x.grad is not None


def test_a_backward_without_derivative_of_its_own():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x**2

        @staticmethod
        @once_differentiable
        def backward(ctx, grad):
            assert not torch.is_grad_enabled()
            return grad * 2 * ctx.saved_tensors[0]

    x = leaf()
    go = torch.ones((), requires_grad=True)
    (found,) = torch.autograd.grad(Once.apply(x).sum(), x, go, create_graph=True)
    assert found.requires_grad
    with pytest.raises(RuntimeError, match="once_differentiable"):
        found.sum().backward()


def test_what_is_not_defined():
    class Nothing(Function):
        pass

    class ForwardOnly(Function):
        forward = staticmethod(lambda ctx, x: x.clone())

    class Both(ForwardOnly):
        backward = vjp = staticmethod(lambda ctx, grad: grad)

    class Vjp(ForwardOnly):
        vjp = staticmethod(lambda ctx, grad: 7 * grad)

    x = leaf()
    with pytest.raises(NotImplementedError, match="must implement the forward"):
        Nothing.apply(x)
    with pytest.raises(RuntimeError, match="must implement either the backward or vjp"):
        ForwardOnly.apply(x).sum().backward()
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        Both.apply(x).sum().backward()
    Vjp.apply(x).sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        old = ForwardOnly()
    with pytest.raises(RuntimeError, match="non-static forward method is deprecated"):
        old(x)
    assert hasattr(Nothing, "vmap") and Nothing.generate_vmap_rule is False


def test_defaults_of_forward_reach_setup_context():
    class Power(Function):
        @staticmethod
        def forward(x, y=3):
            return x**y

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.y = inputs
            ctx.save_for_backward(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * ctx.y * ctx.saved_tensors[0] ** (ctx.y - 1), None

    x = leaf(2.0)
    y = Power.apply(x)
    y.sum().backward()
    assert y.tolist() == [8.0] and x.grad.tolist() == [12.0]


class Written(InplaceFunction):
    """Adds one to what it gets; the gradient is multiplied by five, so that the node shows."""

    @staticmethod
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    @staticmethod
    def backward(ctx, grad):
        return grad * 5


def test_inputs_that_are_written():
    x = leaf()
    a = x.clone()
    assert Written.apply(a) is a and type(a.grad_fn) is Written._backward_cls
    a.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    x.grad = None
    whole = x.clone()
    Written.apply(whole[1:])  # the base's history has it, too
    whole.sum().backward()
    assert x.grad.tolist() == [1.0, 5.0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        Written.apply(leaf())
    with pytest.raises(RuntimeError, match="a view of a leaf Variable"):
        Written.apply(leaf()[:])
    with pytest.raises(RuntimeError, match="returns multiple views"):
        Written.apply(x.clone().split(1)[0])


def test_what_mark_dirty_cannot_mean():
    class Lost(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.add_(1))
            return x.clone()

    class NotGiven(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 3
            ctx.mark_dirty(y)
            return y

    class Two(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x.add_(1))
            return x, x + 1

    x = leaf()
    with pytest.raises(RuntimeError, match="were not returned as output"):
        Lost.apply(x.clone())
    with pytest.warns(UserWarning, match="Only input Tensors should be given"):
        NotGiven.apply(x.clone())
    with pytest.raises(RuntimeError, match="a view of another Tensor"):
        Two.apply(x.clone()[:])


def test_one_tensor_returned_twice():
    class Twice(Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            return y, y

        @staticmethod
        def backward(ctx, a, b):
            return a * 2 + b * 2

    x = leaf()
    a, b = Twice.apply(x)
    assert a is b
    (a + b).sum().backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_saved_tensors_that_are_cleared_when_asked_for():
    class Cleared(Function):
        clear_saved_tensors_on_access = True

        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x.clone()

        @staticmethod
        def backward(ctx, grad):
            assert ctx.saved_tensors[1] is None
            return ctx.saved_tensors[0] * grad

    with pytest.raises(RuntimeError, match="can only be accessed once"):
        Cleared.apply(leaf()).sum().backward()


def test_the_older_name_of_saved_tensors():
    class Older(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return ctx.saved_variables[0] * grad

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        Older.apply(leaf()).sum().backward()
    assert "saved_variables" in str(seen[0].message)
