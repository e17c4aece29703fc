"""Operations that users add, the same in torch and here."""

from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


def defined(t: Any, space: str) -> Any:
    """A product with a derivative of its own, called by name and by the definition."""

    def product(x, y, factor):
        return x * y * factor

    product.__annotations__ = {"x": t.Tensor, "y": t.Tensor, "factor": float, "return": t.Tensor}
    op = t.library.custom_op(f"{space}::product", mutates_args=())(product)

    def setup(ctx, inputs, output):
        x, y, factor = inputs
        ctx.save_for_backward(x, y)
        ctx.factor = factor

    def backward(ctx, grad):
        x, y = ctx.saved_tensors
        return grad * y * ctx.factor * 2, grad * x * ctx.factor, None

    op.register_autograd(backward, setup_context=setup)
    op.register_fake(lambda x, y, factor: x.new_empty(x.shape))
    x = t.arange(3.0).requires_grad_()
    y = t.ones(3, requires_grad=True)
    first = op(x, y, 2.0)
    second = getattr(t.ops, space).product(x, y, factor=3.0)
    (first + second).sum().backward()
    return first, second, x.grad, y.grad


def by_schema(t: Any, space: str) -> Any:
    lib = t.library.Library(space, "DEF")
    lib.define("plus(Tensor x, int n) -> Tensor")
    lib.impl("plus", lambda x, n: x + n, "CPU")
    t.library.define(f"{space}::twice", "(Tensor x) -> Tensor")
    t.library.impl(f"{space}::twice", "cpu", lambda x: x * 2)
    place = getattr(t.ops, space)
    result = place.plus(t.ones(2), 3), place.twice.default(t.ones(2))
    del lib
    return result


def writing(t: Any, space: str) -> Any:
    def fill(x, value):
        x.fill_(value)

    fill.__annotations__ = {"x": t.Tensor, "value": float, "return": None}
    op = t.library.custom_op(f"{space}::fill", mutates_args={"x"})(fill)
    x = t.zeros(3)
    before = x._version
    op(x, 2.0)
    return x, t.tensor(int(x._version > before))


@pytest.mark.parametrize("program", [defined, by_schema, writing], ids=lambda p: p.__name__)
def test_same(program):
    ours = program(minitorch2, f"mine_{program.__name__}")
    theirs = program(torch, f"mine_{program.__name__}")
    for a, b in zip(ours, theirs, strict=True):
        numpy.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-6)


def test_names_of_rows():
    t = minitorch2
    assert t.ops.aten.add.Tensor(t.ones(1), t.ones(1)).item() == 2
    assert t.ops.aten.mm.default(t.ones(2, 2), t.eye(2)).sum().item() == 4
    assert "aten::relu" in repr(t.ops.aten.relu.default)
    with pytest.raises(AttributeError, match="no_such_op"):
        _ = t.ops.aten.no_such_op
    with pytest.raises(OSError):
        t.ops.load_library("lib.so")


def test_the_steps_inside_aten_are_torchs_and_no_others():
    """Libraries ask `hasattr` before they replace a step."""
    schemas = {each.name for each in torch._C._jit_get_all_schemas()}
    steps = {each.removeprefix("aten::") for each in schemas if each.startswith("aten::_")}
    names = {each for each in steps if not each.startswith("__")}
    aten = minitorch2.ops.aten
    assert [name for name in sorted(names) if not hasattr(aten, name)] == []
    others = ("_foo_bar", "_add", "_matmul_backwards", "_version", "_op", "_is_view", "_array")
    for name in others:
        assert hasattr(aten, name) is hasattr(torch.ops.aten, name), name


def test_operations_that_aten_names_otherwise():
    for t in (minitorch2, torch):
        x = t.arange(3.0)
        for padded in (t.ops.aten.constant_pad_nd, t.ops.aten.constant_pad_nd.default):
            assert padded(x, [1, 2], 7.0).tolist() == [7, 0, 1, 2, 7, 7]
            assert padded(x, [1, -1]).tolist() == [0, 0, 1]
        assert t.ops.aten._softmax(x, 0, False).equal(x.softmax(0))
        assert t.ops.aten._unsafe_view(x, [3, 1]).shape == (3, 1)


def test_inside_a_compiled_function():
    op = minitorch2.library.custom_op("mine_compiled::thrice", mutates_args=())(lambda x: x * 3)
    function = minitorch2.compile(lambda x: op(x + 1) * 2)
    assert function(minitorch2.ones(2)).tolist() == [12, 12]


def test_errors():
    with pytest.raises(ValueError, match="namespace"):
        minitorch2.library.custom_op("nameless", mutates_args=())(lambda x: x)
    minitorch2.library.define("mine_errors::later", "(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="no implementation"):
        minitorch2.ops.mine_errors.later(minitorch2.ones(1))
    with pytest.raises(RuntimeError, match="no such operation"):
        minitorch2.library.register_kernel("mine_errors::never", "cpu", lambda x: x)


def test_opcheck_runs_what_it_names():
    t = minitorch2
    op = t.library.custom_op("mine_checked::square", mutates_args=())(lambda x: x * x)
    x = t.tensor([1.0, -2.0], dtype=t.float64, requires_grad=True)
    assert t.library.opcheck(op, (x,)) == {}
    op.register_fake(lambda x: x.new_empty(x.shape))
    assert list(t.library.opcheck(op, (x,))) == ["test_faketensor"]

    def save(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    op.register_autograd(lambda ctx, grad: 2 * grad * ctx.saved_tensors[0], setup_context=save)
    assert len(t.library.opcheck(op, (x,))) == 2
    op.register_autograd(lambda ctx, grad: grad * ctx.saved_tensors[0], setup_context=save)
    with pytest.raises(Exception, match="(?i)jacobian"):
        t.library.opcheck(op, (x,))
    op.register_fake(lambda x: x.new_empty((3,)))
    with pytest.raises(RuntimeError, match="fake"):
        t.library.opcheck(op, (x,))
