"""The short way of every row gives what the dispatcher's door gives, bit for bit, or nothing."""

import inspect

import numpy
import pytest

import minitorch2 as torch
from minitorch2.backends import row_kernels
from minitorch2.dispatch import Mode, below_modes, call, state
from minitorch2.ops.short_ways import has_one, make, source_of
from minitorch2.ops.table import all_ops, lookup

ROWS = [op for op in all_ops() if has_one(op)]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.3, 2.5, float("inf"), -float("inf"), float("nan"), 1e-40, 3e38]


def operands(op, dtype, shapes):
    """Tensors of special and ordinary values for the row's operands; numbers for no shape."""
    row = op.inplace_of or op
    rng = numpy.random.default_rng(0)
    made = []
    for _, shape in zip(range(row.plain), shapes, strict=False):
        if shape is None:
            made.append(1.75)
            continue
        values = rng.standard_normal(shape).astype(dtype)
        flat = values.reshape(-1)
        flat[: len(SPECIAL)] = rng.permutation(SPECIAL)[: flat.size]
        made.append(torch.from_numpy(values))
    return made


def long_way(op, values):
    """The row through the dispatcher, never by a short way."""
    row = op.inplace_of or op
    defaults = [each.default for each in op.signature.parameters[row.plain :]]
    return below_modes(op, (*values, *defaults))


def same_bits(found, wanted):
    assert found.dtype is wanted.dtype
    assert found.shape == wanted.shape
    assert found.stride() == wanted.stride()
    assert bits(found) == bits(wanted)


def bits(tensor):
    """The bytes of the elements, every nan alike."""
    array = tensor.detach().numpy()
    return (
        numpy.where(numpy.isnan(array), numpy.nan, array) if array.dtype.kind == "f" else array
    ).tobytes()


SHAPES = {
    "equal": [(3, 7)] * 3,
    "no dimensions": [()] * 3,
    "empty": [(0, 3)] * 3,
    "broadcast": [(3, 7), (7,), (3, 1)],
    "columns and rows": [(4, 1), (1, 5), (4, 5)],
    "number last": [(3, 7), None, None],
    "number first": [None, (3, 7), (3, 7)],
    "large": [(190, 200)] * 3,
    "large, with a number": [(190, 200), (190, 200), None],
}


@pytest.mark.parametrize("shapes", SHAPES.values(), ids=list(SHAPES))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_equals_the_long_way(op, dtype, shapes):
    values, again = operands(op, dtype, shapes), operands(op, dtype, shapes)
    assert row_kernels.LARGE <= 190 * 200
    found = op.short(*values)
    if found is None:
        return
    if op.inplace_of is not None:
        assert found is values[0]
    same_bits(found, long_way(op, again))


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_usual_calls_take_it(op):
    """So that the test above compares something for every row."""
    assert op.short(*operands(op, "float32", SHAPES["equal"])) is not None


DIFFERENTIABLE = [op for op in ROWS if op.vjp is not None]


@pytest.mark.parametrize("op", DIFFERENTIABLE, ids=lambda op: op.name)
def test_gradients_are_those_of_the_long_way(op):
    grads = []
    for way in (op.short, lambda *values: long_way(op, values)):
        rng = numpy.random.default_rng(1)
        leaves = [torch.from_numpy(rng.uniform(0.1, 0.9, (2, 3))) for _ in range(op.plain)]
        for leaf in leaves:
            leaf.requires_grad_()
        result = way(*leaves)
        assert type(result.grad_fn).__name__ == result.grad_fn.name()
        result.backward(torch.from_numpy(rng.standard_normal((2, 3))))
        grads.append([leaf.grad for leaf in leaves])
    for found, wanted in zip(*grads, strict=True):
        same_bits(found, wanted) if wanted is not None else None


class Weighed(torch.Tensor):
    """A class of the user's own."""


UNUSUAL = {
    "another dtype": lambda: (torch.ones(3), torch.ones(3, dtype=torch.float64)),
    "integers": lambda: (torch.ones(3, dtype=torch.int64), torch.ones(3, dtype=torch.int64)),
    "16 bits": lambda: (torch.ones(3).bfloat16(), torch.ones(3).bfloat16()),
    "transposed": lambda: (torch.ones(2, 3).t(), torch.ones(3, 2)),
    "no memory": lambda: (torch.ones(3, device="meta"), torch.ones(3, device="meta")),
    "a bool": lambda: (torch.ones(3), True),
    "a class of one's own": lambda: (Weighed(torch.ones(3)), torch.ones(3)),
    "shapes that do not fit": lambda: (torch.ones(3), torch.ones(4)),
    "no tensor": lambda: (2.0, 3),
    "a string": lambda: (torch.ones(3), "x"),
}


@pytest.mark.parametrize("make_operands", UNUSUAL.values(), ids=list(UNUSUAL))
def test_unusual_calls_do_not_take_it(make_operands):
    assert lookup("mul").short(*make_operands()) is None


class Seen(Mode):
    """Lists the rows that pass it."""

    def __init__(self):
        self.names = []

    def handle(self, op, args):
        self.names.append(op.name)
        return call(op, args)


def test_modes_see_every_operation():
    x = torch.ones(3)
    with Seen() as seen:
        assert not state.direct
        torch.add(x, x)
        x * x  # noqa: B018 - for the mode
        x.exp()
        1 - x  # noqa: B018
        x.add_(x)
        -x  # noqa: B018
    assert state.direct
    assert seen.names[:4] == ["add", "mul", "exp", "sub"] and "neg" in seen.names


def test_saved_tensor_hooks_and_autocast_are_in_the_way():
    packed = []
    x = torch.ones(3, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        assert not state.direct
        x * x  # noqa: B018
    assert len(packed) == 2
    with torch.autocast("cpu"):
        assert not state.direct
    assert state.direct


def test_parameters_after_the_operands_take_the_long_way():
    x = torch.ones(3)
    assert torch.add(x, x, alpha=2).tolist() == [3.0, 3.0, 3.0]
    assert x.add(x, alpha=1.0).tolist() == [2.0, 2.0, 2.0]


def test_writes_count_and_are_refused_where_the_long_way_refuses():
    x = torch.ones(3)
    version = x._version
    x.mul_(2.0)
    assert x._version == version + 1
    leaf = torch.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="leaf Variable"):
        leaf.mul_(2.0)
    with torch.no_grad():
        leaf.mul_(2.0)
    y = leaf * leaf
    x.mul_(3.0)
    saved = x * leaf
    x.add_(1.0)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        saved.sum().backward()


def test_replaced_methods_are_used(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "add", lambda self, other: "mine")
    assert torch.ones(3).add(1) == "mine"


def test_its_text_can_be_read():
    short = make(lookup("atan2"))
    assert inspect.getsource(short) == source_of(lookup("atan2"))
