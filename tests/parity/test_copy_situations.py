"""Tensors as Python objects: copies, pickles, hashing, printing, numbers, beside torch."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402


def pk(value):
    return pickle.loads(pickle.dumps(value))


def info(x):
    facts = str(x.dtype), tuple(x.shape), x.stride(), x.requires_grad, x.is_leaf
    return type(x).__name__, facts, x.detach().cfloat()


def kinds(t):
    return [
        info(pk(x))
        for x in (
            t.ones(2, 3),
            t.ones(2, 3).t(),
            t.ones(4)[1:3],
            t.ones(1).expand(3),
            t.tensor(3),
            t.zeros(0, 2),
            t.ones(2, dtype=t.bfloat16),
            t.ones(2, dtype=t.complex64),
            t.nn.Parameter(t.ones(2)),
            t.ones(2, requires_grad=True),
            t.ones(2, dtype=t.bool),
        )
    ]


def nonleaf(t):
    return info(pk(t.ones(2, requires_grad=True) * 2))


def attrs(t):
    x = t.ones(2)
    x.a = 1
    return pk(x).a, copy.copy(x).a


def grads(t):
    x = t.ones(2, requires_grad=True)
    x.sum().backward()
    return pk(x).grad, copy.copy(x).grad, copy.deepcopy(x).grad


def copy_shares(t):
    x = t.ones(2)
    y = copy.copy(x)
    y[0] = 5
    return x, y is x


def copy_param(t):
    p = t.nn.Parameter(t.ones(2))
    q = copy.copy(p)
    q.data[0] = 3
    return p, type(q).__name__, q is p


def copy_nonleaf(t):
    x = t.ones(2, requires_grad=True) * 2
    y = copy.copy(x)
    return y.requires_grad, y.grad_fn is not None


def module(t):
    m = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.BatchNorm1d(2))
    m[0].weight.data.fill_(2.0)
    n = pk(m)
    return n[0].weight, n.training, list(n.state_dict())


def copymodule(t):
    m = t.nn.Linear(2, 2)
    n = copy.copy(m)
    return n.weight is m.weight, n._parameters is m._parameters


def optimizer(t):
    p = t.nn.Parameter(t.ones(2))
    o = t.optim.Adam([p])
    p.grad = t.ones(2)
    o.step()
    q = copy.deepcopy(o)
    return list(q.state.values())[0]["step"], q.param_groups[0]["lr"], pk(o).param_groups[0]["lr"]


def dtype_size(t):
    return (
        pk(t.float32) is t.float32,
        pk(t.Size([1, 2])),
        type(pk(t.Size([1]))).__name__,
        str(pk(t.device("cpu"))),
        pk(t.strided) is t.strided,
    )


def savegrad(t):
    b = io.BytesIO()
    t.save(t.ones(2, requires_grad=True) * 2, b)
    b.seek(0)
    x = t.load(b)
    return x.requires_grad, x.is_leaf


def weakref_(t):
    import weakref

    x = t.ones(2)
    r = weakref.ref(x)
    del x
    return r() is None


def hashing(t):
    x = t.ones(2)
    return {x: 1}[x], x in {x}, x in [x]


def reprs(t):
    return [
        repr(t.ones(2, requires_grad=True)),
        repr(t.nn.Parameter(t.ones(2))),
        repr(t.ones(2, requires_grad=True) * 2),
        repr(t.tensor([])),
        repr(t.zeros(0, 3)),
        repr(t.ones(2, dtype=t.float64)),
        repr(t.tensor([1, 2], dtype=t.int32)),
        repr(t.tensor([1e10, 1.0])),
        repr(t.tensor([float("nan"), 1.0])),
        repr(t.arange(2000.0)),
        repr(t.tensor(True)),
        repr(t.tensor([1 + 2j])),
        repr(t.ones(2, 2)[:, :0]),
        repr(t.ones(2).to_sparse()),
        repr(t.tensor(3.5, dtype=t.bfloat16)),
        repr(t.empty(2, device="meta")),
    ]


def deep_list(t):
    a = t.ones(2)
    m = copy.deepcopy([a, a])
    return m[0] is m[1]


def iter_etc(t):
    x = t.arange(3.0)
    return (
        [i.item() for i in x],
        len(x),
        list(reversed(x))[0].item(),
        bool(t.tensor([1])),
        float(x[1]),
        int(x[2]),
        [*x.shape],
        x.tolist(),
        1.0 in x,
        x.__contains__(5),
    )


def bool_multi(t):
    return bool(t.ones(2))


def bool_empty(t):
    return bool(t.ones(0))


def len0(t):
    return len(t.tensor(1))


def iter0(t):
    return list(t.tensor(1))


def index_(t):
    return [1, 2, 3][t.tensor(1)], range(t.tensor(3))


def index_float(t):
    return [1, 2, 3][t.tensor(1.0)]


def format_(t):
    return f"{t.tensor(1.5):.3f}", f"{t.tensor([1.5])}", str(t.tensor(2)), f"{t.tensor(3):d}"


def format_bad(t):
    return f"{t.ones(2):.3f}"


def dir_(t):
    return all(n in dir(t.ones(1)) for n in ("add", "shape", "grad"))


def setstate(t):
    x = t.ones(2)
    y = t.zeros(3)
    y.set_(x)
    return y


SITUATIONS = [
    kinds,
    nonleaf,
    attrs,
    grads,
    copy_shares,
    copy_param,
    copy_nonleaf,
    module,
    copymodule,
    optimizer,
    dtype_size,
    savegrad,
    weakref_,
    hashing,
    reprs,
    deep_list,
    iter_etc,
    bool_multi,
    bool_empty,
    len0,
    iter0,
    index_,
    index_float,
    format_,
    format_bad,
    dir_,
    setstate,
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda f: f.__name__)
def test_situation(situation):
    """The same results, or an error of torch's class."""
    check(situation)
