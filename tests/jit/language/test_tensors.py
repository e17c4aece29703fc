"""Tensors: attributes, operators, indexing, writes in place, out=, subclasses, random numbers."""
# ruff: noqa: B018, E501 -- one line, one program

import copy

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as F
from tests.jit.language.judging import BACKENDS, Programs

EXPRESSIONS = r"""
abs(x), round(x), x // 2, x % 2, x ** 2, 2 ** x, 2 - x, 1 / x, -x, +x, divmod(x, 2), pow(x, 2),
    x @ y.T, ~(x > 0), (x > 0) & (y > 0), (x > 0) | (y > 0), (x > 0) ^ (y > 0)
x[0], x[-1], x[0, 1], x[:, 1], x[..., 0], x[None], x[0:1, ::2], x[[0, 1]], x[:, [0, 2]],
    x[x > 0] is None if False else 1, x[torch.tensor([0])], x[:, torch.tensor([True, False,
    True])].shape if False else 2, x[(0, 1)], x[True] if False else 3
len(x), x.tolist if False else 0, [r for r in x][0], list(zip(x, y))[0][0], (lambda p,
    q: p + q)(*x), x.shape[0] * 2
x.float(), x.double(), x.int(), x.bool(), x.to(torch.float64), x.type(torch.int32), x.half(),
    x.to("cpu"), x.cpu(), x.long(), x.to(y), x.type_as(y)
x.reshape(-1), x.view(3, 2), x.flatten(), x.unsqueeze(0), x.squeeze(), x.t(), x.transpose(0, 1),
    x.permute(1, 0), x.expand(2, 3), x.repeat(2, 1), x.chunk(3, 1), x.split(1), x.unbind(),
    torch.cat([x, y]), torch.stack([x, y]), x.contiguous(), x.clone(), x.detach()
x.sum(), x.mean(0), x.max(), x.max(1), x.min(dim=1, keepdim=True), x.argmax(), x.std(), x.var(1),
    x.norm(), x.prod(), x.cumsum(1), x.sort(), x.topk(2), x.any(), x.all()
x.max(1).values, x.max(1).indices, x.sort(1)[0], x.topk(2).values, torch.max(x, 1)[1],
    x.max(1)._fields
(lambda t: (t.add_(1), t.mul_(2), t.zero_(), t))(x.clone()), x
x.add_(1), x
(lambda t: (t.__setitem__(0, 5), t))(x.clone())
torch.add(x, y, out=torch.empty(2, 3)), torch.add(x, y, alpha=2)
F.relu(x), F.softmax(x, dim=-1), F.gelu(x), F.linear(x, y), F.mse_loss(x, y), F.layer_norm(x, (3,
    )), F.dropout(x, 0.5, training=False), F.one_hot(torch.tensor([0, 2]), 3), F.pad(x, (1, 1)),
    F.cross_entropy(x, torch.tensor([0, 2])), F.normalize(x)
torch.zeros(2), torch.ones_like(x), torch.arange(3), torch.full((2,), 3.0), torch.empty(0),
    torch.tensor([1, 2]), torch.tensor(3.0), torch.eye(2), torch.linspace(0, 1, 3),
    x.new_zeros(2), torch.zeros_like(x), x.new_ones(2, 2), x.new_full((1,), 2.0)
torch.rand(2), torch.randn(2), torch.randint(0, 5, (2,)), torch.rand_like(x),
    torch.bernoulli(torch.full((2,), 0.5)), torch.randperm(4), F.dropout(x)
torch.where(x > 0, x, y), torch.einsum("ij,kj->ik", x, y), torch.matmul(x, y.T), torch.clamp(x, 0,
    1), torch.sigmoid(x), torch.exp(x), torch.outer(v, v), torch.tril(x), torch.gather(x, 1,
    torch.tensor([[0], [1]])), x.masked_fill(x > 0, 0.0), x.index_select(0, torch.tensor([1])),
    torch.broadcast_to(v, (2, 3)), torch.meshgrid(v, v, indexing="ij")
torch.compiler.is_compiling() if False else 0
x.is_same_size(y), x.size() == y.size(), torch.equal if False else 1,
    torch.is_nonzero if False else 2, x.sum().shape, x.dtype.itemsize, str(x.device)
"""
program = Programs()
program.lines(EXPRESSIONS, globals())


@program
def attributes(x, w):
    return (
        x.shape, x.dtype, x.device, x.ndim, x.T, x.mT, x.H if False else 0, x.requires_grad,
        w.requires_grad,
        x.is_leaf, w.is_leaf, (w * 2).is_leaf, x.grad, w.grad, x.data, w.data, x.grad_fn, w.grad_fn,
        (w * 2).grad_fn is None, x.is_cuda,   x.is_meta, x.itemsize, x.nbytes,
        x.names if False else 0, x.stride(), x.is_contiguous(), x.t().is_contiguous(),
        x.storage_offset(),
    )  # fmt: skip


@program
def in_place(x, y):
    z = x.clone()
    kept = z
    z += y
    z *= 2
    z -= 1
    z /= 2
    z[0] = 7
    z[:, 1] += 5
    z[1, 0:2] = y[0, 0:2]
    z[..., -1] = torch.tensor([1.0, 2.0])
    z[z.shape[0] - 1].mul_(3)
    z.clamp_(max=20).add_(y, alpha=0.5)
    z.fill_diagonal_(4) if hasattr(z, "fill_diagonal_") else None
    return z, kept is z, z.masked_fill_(y > 2, 0.0) is z


@program
def writes_into_arguments(x, y, items, table):
    x.add_(1)
    x[0, 0] = 9
    y.copy_(x * 2)
    items.append(x)
    table["y"] = y
    v = x.view(3, 2)
    v[0] = 0
    return x.sum(), v, items[-1] is x, table["y"] is y


@program
def into_out(x, y):
    made = torch.empty(2, 3)
    found = torch.mul(x, y, out=made)
    torch.add(x, 1, out=x)
    return made, found is made, x


@program
def setitem_forms(x, y):
    z = torch.zeros(3, 4)
    z[0] = 1
    z[1, :] = 2.5
    z[2, 1:3] = torch.tensor([5.0, 6.0])
    z[:, 0] = z[:, 1] + 1
    z[torch.tensor([0, 2]), 3] = 8
    z[z > 7] = -1
    z[[0, 1]] = z[[1, 0]]
    z[..., None][0] = 3 if False else 4
    return z


@program
def views_share(x):
    z = x.clone()
    row, flat = z[0], z.view(-1)
    row.zero_()
    flat[5] = 100
    first, *others = z.unbind(1)
    first = first + 1
    return z, row, flat, others, z.data_ptr() == row.data_ptr() if False else 0


@program
def loops_over(x, y):
    total = 0
    for row in x:
        for value in row:
            total = total + value
    for (i, row), other in zip(enumerate(x), y, strict=True):
        total = total + i * row * other
    rows = [row for row in x if row.shape[0] == 3]
    a, b = x
    (c, *_), d = x
    return total, rows, a - b, c, d, len(list(x)), max(len(r) for r in x)


@program
def of_numbers(x, a, b, f):
    return (
        x + a, a - x, x * f, f / (x + 10), x**b, b ** (x / 10), x // b, x % b,
        a @ x if False else 0, x > a,
        f < x, x == a, x != f, -x, abs(x), x.add(a), torch.add(x, b, alpha=a), x.clamp(a, b),
        x.pow(b),
        torch.full((a, b), f), torch.arange(a, b + a), x.new_full((a,), f), x.sum() * a,
        x.mean() + f,
        x.reshape(b, -1), x.view(b, 2), x[:, a], x[a], x.roll(a, 0), x.narrow(1, a, 2),
        x.select(0, a),
    )  # fmt: skip


@program
def random_numbers(x):
    a = torch.rand(2)
    b = torch.randn(2, 2)
    c = F.dropout(x, 0.5)
    d = torch.randint(0, 9, (4,))
    e = torch.bernoulli(torch.full((3,), 0.5))
    return (
        a,
        b,
        c,
        d,
        e,
        torch.rand_like(x),
        torch.randperm(5),
        x.clone().uniform_(),
        x.clone().normal_(),
    )


@program
def gradients(w, x):
    y = (w * x).sum()
    with torch.no_grad():
        z = w * 2
    return y, z, w.detach() * 2, (w * 3).requires_grad, y.requires_grad


@program
def backward_inside(w, x):
    loss = (w * x).sum() + (w**2).mean()
    loss.backward()
    return loss.detach(), w.grad


@program
def named_results(x):
    best = x.max(dim=1)
    values, places = x.sort(dim=1)
    return (
        best.values,
        best.indices,
        values,
        places,
        best[0] is best.values,
        len(best),
    )


class Masked(torch.Tensor):
    pass


class Scaled:
    """Not a tensor, but takes part in arithmetic with them."""

    def __init__(self, by):
        self.by = by

    def __rmul__(self, other):
        return other * self.by

    def __mul__(self, other):
        return other * self.by

    def __radd__(self, other):
        return other + self.by


@program
def arithmetic_with_objects(x):
    return Scaled(2) * x


@program
def types_of(x, w):
    return (
        isinstance(x, torch.Tensor),
        type(x) is torch.Tensor,
        torch.is_tensor(3),
        isinstance(w, torch.nn.Parameter),
    )


@program
def parameters_and_constants(x):
    scale = torch.tensor(2.0)
    table = torch.tensor([[1, 2], [3, 4]])
    return (
        x * scale,
        table + 1,
        torch.tensor([True, False]),
        torch.as_tensor([1.5]),
        torch.tensor(x.shape),
    )


@program
def copies(x):
    return (
        copy.deepcopy(x),
        x.clone() is x,
        x.contiguous() is x,
        x.to(torch.float32) is x,
        x.float() is x,
    )


@program
def dynamic_attributes(x):
    x.tag = "mine"
    x.kept = [x.tag]
    return x.tag, x.kept, hasattr(x, "other"), x


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
