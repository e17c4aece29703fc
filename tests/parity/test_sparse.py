"""Sparse tensors beside torch's: values, places, gradients, texts, refusals."""

import copy
import pickle
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402
from tests.parity.judge import Outcome, compare_errors, compare_tensors  # noqa: E402

PLACES = [[0, 2, 1, 0, 2, 2], [3, 0, 1, 1, 0, 3]]  # (2, 0) twice
NUMBERS = numpy.array([1.0, -2.0, 3.0, 0.5, 4.0, -1.5])
X = numpy.random.RandomState(0).uniform(-1, 1, (4, 2))
D = numpy.random.RandomState(1).uniform(-1, 1, (3, 4))


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """torch warns that sparse tensors are young."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def dense(t: Any, found: Any) -> Any:
    return found.to_dense() if found.is_sparse or found.is_sparse_csr else found


# Each call gets the library, a sparse [3, 4] with a place twice, x [4, 2] and d [3, 4].
CALLS: dict[str, Any] = {
    "to_dense": lambda t, s, x, d: s.to_dense(),
    "coalesced": lambda t, s, x, d: s.coalesce().values(),
    "spmm": lambda t, s, x, d: t.spmm(s, x),
    "sparse.mm": lambda t, s, x, d: t.sparse.mm(s, x),
    "mm": lambda t, s, x, d: t.mm(s, x),
    "operator": lambda t, s, x, d: s @ x,
    "matmul": lambda t, s, x, d: s.matmul(x).exp(),
    "vector": lambda t, s, x, d: s @ x[:, 0],
    "transposed": lambda t, s, x, d: s.t() @ d,
    "transpose": lambda t, s, x, d: t.sparse.mm(s.transpose(0, 1), d),
    "coalesced product": lambda t, s, x, d: s.coalesce() @ x,
    "sparse times sparse": lambda t, s, x, d: t.sparse.mm(s, s.t()),
    "addmm": lambda t, s, x, d: t.sparse.addmm(d[:, :2], s, x, beta=2, alpha=0.5),
    "torch.addmm": lambda t, s, x, d: t.addmm(d[:, :2], s, x),
    "plus": lambda t, s, x, d: s + s * 3,
    "plus alpha": lambda t, s, x, d: t.add(s, s, alpha=2),
    "minus": lambda t, s, x, d: s - s * 3,
    "dense plus sparse": lambda t, s, x, d: d + s,
    "times": lambda t, s, x, d: s * 2.5,
    "number times": lambda t, s, x, d: 2 * s,
    "times itself": lambda t, s, x, d: s.coalesce() * s.coalesce(),
    "times dense": lambda t, s, x, d: s.coalesce() * d,
    "divided": lambda t, s, x, d: s / 4,
    "negative": lambda t, s, x, d: -s,
    "power": lambda t, s, x, d: s.coalesce() ** 2,
    "sum": lambda t, s, x, d: t.sparse.sum(s),
    "sum over rows": lambda t, s, x, d: t.sparse.sum(s, 0),
    "sum over columns": lambda t, s, x, d: t.sparse.sum(s, (1,)),
    "softmax": lambda t, s, x, d: t.sparse.softmax(s, 1),
    "log_softmax": lambda t, s, x, d: t.sparse.log_softmax(s, 0),
    "abs": lambda t, s, x, d: s.coalesce().abs(),
    "double": lambda t, s, x, d: s.to(t.float64),
    "clone": lambda t, s, x, d: s.clone() @ x,
    "two layers": lambda t, s, x, d: t.spmm(s.t(), t.relu(t.spmm(s, x))),
    "to_sparse": lambda t, s, x, d: t.relu(d).to_sparse(),
    "dense values": lambda t, s, x, d: t.sparse_coo_tensor(
        [[0, 2, 0], [1, 1, 1]], x[:3], (3, 2, 2)
    ),
}


def _run(library: Any, call: Any) -> tuple[Any, list]:
    values, x, d = (library.from_numpy(a.copy()).requires_grad_() for a in (NUMBERS, X, D))
    s = library.sparse_coo_tensor(library.tensor(PLACES), values, (3, 4))
    found = dense(library, call(library, s, x, d))
    weight = numpy.random.RandomState(2).uniform(0.5, 1.5, tuple(found.shape))
    total = (found * library.from_numpy(numpy.asarray(weight))).sum()
    return found, list(library.autograd.grad(total, [values, x, d], allow_unused=True))


@pytest.mark.parametrize("name", CALLS)
def test_call(name: str) -> None:
    """The result as a dense tensor, and gradients of values and dense operands."""
    (mine, mine_grads), (theirs, their_grads) = (_run(t, CALLS[name]) for t in (minitorch2, torch))
    assert not compare_tensors(mine, theirs, name, tolerance=(1e-8, 1e-10))
    for a, b in zip(mine_grads, their_grads, strict=True):
        if b is None:
            assert a is None or not a.numpy().any()
            continue
        difference = compare_tensors(a, dense(torch, b), "gradient", tolerance=(1e-8, 1e-10))
        assert not [each for each in difference if "strides" not in each]


FACTS: dict[str, Any] = {
    "coo": lambda t: t.sparse_coo_tensor(t.tensor(PLACES), t.tensor(NUMBERS.tolist()), (3, 4)),
    "coalesced": lambda t: FACTS["coo"](t).coalesce(),
    "list": lambda t: t.sparse_coo_tensor([[1, 0], [0, 2]], [1.0, 2.0]),
    "empty": lambda t: t.sparse_coo_tensor(size=(2, 3)),
    "integers": lambda t: t.sparse_coo_tensor([[1]], [3], (4,)),
    "doubles": lambda t: t.sparse_coo_tensor([[1]], [3.0], (4,), dtype=t.float64),
    "dense values": lambda t: t.sparse_coo_tensor([[1, 0]], t.ones(2, 3), (4, 3)),
    "from dense": lambda t: t.tensor([[0.0, 1.5], [2.0, 0.0]]).to_sparse(),
    "one sparse dimension": lambda t: t.tensor([[0.0, 0.0], [2.0, 0.0]]).to_sparse(1),
    "old name": lambda t: t.sparse.FloatTensor(
        t.tensor([[0, 1], [1, 0]]), t.ones(2), t.Size([2, 2])
    ),
    "requires grad": lambda t: t.sparse_coo_tensor([[1]], [3.0], (4,), requires_grad=True),
    "transposed": lambda t: FACTS["coo"](t).t(),
    "csr": lambda t: t.tensor([[0.0, 1.5], [2.0, 0.0], [0.0, 0.0]]).to_sparse_csr(),
    "csr from parts": lambda t: t.sparse_csr_tensor(
        [0, 1, 1, 3], [2, 0, 1], [1.0, 2.0, 3.0], (3, 3)
    ),
    "from coo to csr": lambda t: FACTS["coo"](t).to_sparse_csr(),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts(name: str) -> None:
    """What it says of itself, and its text."""
    mine, theirs = FACTS[name](minitorch2), FACTS[name](torch)
    assert repr(mine) == repr(theirs)
    assert str(mine.dtype) == str(theirs.dtype) and tuple(mine.shape) == tuple(theirs.shape)
    for fact in ("is_sparse", "is_sparse_csr", "requires_grad", "ndim"):
        assert getattr(mine, fact) == getattr(theirs, fact), fact
    assert mine._nnz() == theirs._nnz() and mine.numel() == theirs.numel()
    assert mine.to_dense().tolist() == theirs.to_dense().tolist()
    if theirs.is_sparse:
        assert mine.is_coalesced() == theirs.is_coalesced()
        assert mine._indices().tolist() == theirs._indices().tolist()
        assert mine._values().tolist() == theirs._values().tolist()
        assert (mine.sparse_dim(), mine.dense_dim()) == (theirs.sparse_dim(), theirs.dense_dim())
    else:
        assert mine.crow_indices().tolist() == theirs.crow_indices().tolist()
        assert mine.col_indices().tolist() == theirs.col_indices().tolist()
    assert minitorch2.is_tensor(mine)
    for kind in ("strided", "sparse_coo", "sparse_csr"):
        answers = [x.layout == getattr(t, kind) for x, t in ((mine, minitorch2), (theirs, torch))]
        assert answers[0] == answers[1], kind


REFUSED: dict[str, Any] = {
    "indices": lambda t, s: s.indices(),
    "values": lambda t, s: s.values(),
    "counts": lambda t, s: t.sparse_coo_tensor([[0, 1]], [1.0], (3,)),
    "sizes of a sum": lambda t, s: s + s.t(),
    "sizes of a product": lambda t, s: s @ t.ones(3, 2),
    "dtypes of a product": lambda t, s: s @ t.ones(4, 2, dtype=t.float64),
    "sparse plus dense": lambda t, s: t.add(s, t.ones(3, 4)),
    "exp": lambda t, s: t.exp(s),
    "convolution": lambda t, s: t.conv1d(s, t.ones(1, 1, 1)),
    "cumsum": lambda t, s: s.cumsum(0),
    "view": lambda t, s: s.view(12),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Both refuse, with errors of one kind."""
    outcomes = [Outcome(partial(REFUSED[name], t, FACTS["coo"](t))) for t in (minitorch2, torch)]
    assert outcomes[0].error is not None and outcomes[1].error is not None
    assert not compare_errors(outcomes[0].error, outcomes[1].error)


def test_a_graph_network_learns_as_torchs_does() -> None:
    """Two layers of graph convolution, ten steps of Adam."""
    losses = []
    features = numpy.random.RandomState(3).uniform(-1, 1, (6, 5)).astype("float32")
    weights = [numpy.random.RandomState(at).randn(*s).astype("float32") * 0.5
               for at, s in enumerate(((5, 4), (4, 3)))]  # fmt: skip
    for t in (minitorch2, torch):
        edges = t.tensor([[0, 1, 2, 3, 4, 5, 0, 2, 3], [1, 0, 3, 2, 5, 4, 0, 2, 3]])
        adjacency = t.sparse_coo_tensor(edges, t.full((9,), 0.5), (6, 6))
        x = t.from_numpy(features.copy())
        first, second = (t.from_numpy(w.copy()).requires_grad_() for w in weights)
        adam = t.optim.Adam([first, second], lr=0.05)
        labels = t.tensor([0, 1, 2, 0, 1, 2])
        for _ in range(10):
            adam.zero_grad()
            hidden = t.relu(t.spmm(adjacency, x @ first))
            scores = t.nn.functional.log_softmax(t.spmm(adjacency, hidden @ second), 1)
            loss = t.nn.functional.nll_loss(scores, labels)
            loss.backward()
            adam.step()
            losses.append(loss.item())
    numpy.testing.assert_allclose(losses[:10], losses[10:], 1e-5)


@pytest.mark.parametrize("place", [5, -1])
def test_places_outside_are_refused(place: int) -> None:
    """torch checks them only when it is asked to."""
    with pytest.raises(RuntimeError, match="index"):
        minitorch2.sparse_coo_tensor([[place]], [1.0], (3,))
    with pytest.raises(RuntimeError, match="index"):
        torch.sparse_coo_tensor([[place]], [1.0], (3,), check_invariants=True)


def test_functions_that_leave_zero_alone() -> None:
    for name in ("tanh", "sin", "sqrt", "relu", "sign", "expm1"):
        mine, theirs = (
            getattr(t, name)(FACTS["coo"](t).coalesce().abs()).to_dense()
            for t in (minitorch2, torch)
        )
        assert not compare_tensors(mine, theirs, name)


def test_gradient_of_a_sparse_leaf_is_sparse() -> None:
    for t in (minitorch2, torch):
        s = t.sparse_coo_tensor([[0, 1], [1, 0]], [2.0, 3.0], (2, 2), requires_grad=True)
        t.sparse.mm(s, t.tensor([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
        assert s.grad.is_sparse and s.grad.to_dense().tolist() == [[0, 7], [3, 0]]


def test_copies_and_pickles() -> None:
    s = FACTS["coo"](minitorch2)
    for other in (copy.deepcopy(s), pickle.loads(pickle.dumps(s)), s.detach()):
        assert other.is_sparse and other.to_dense().tolist() == s.to_dense().tolist()
        assert other.is_coalesced() == s.is_coalesced()


def _sampled(t, **given):
    """A sampled product, with the gradients of its parts."""
    x = t.tensor([[0.0, 2, 0], [3, 0, -1]], dtype=t.float64).to_sparse_csr().requires_grad_()
    a, b = (numbers(t, *s, seed=s[0], dtype="float64").requires_grad_() for s in ((2, 4), (4, 3)))
    found = t.sparse.sampled_addmm(x, a, b, **given)
    (found.to_dense() * numbers(t, 2, 3, seed=9, dtype="float64")).sum().backward()
    parts = found.crow_indices(), found.col_indices(), found.values().detach()
    return (
        repr(found).split("layout=")[1][:16],
        parts,
        a.grad,
        b.grad,
        x.grad.values(),
        x.grad.is_sparse_csr,
    )


@pytest.mark.parametrize("given", [{}, {"beta": 0.5, "alpha": 2.0}, {"beta": 0.0}])
@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
def test_products_at_the_places_of_a_matrix(given) -> None:
    """Values and gradients of sampled_addmm."""
    check(lambda t: _sampled(t, **given), 1e-9)


@pytest.mark.parametrize("sizes", [((2, 4), (3, 4)), ((3, 4), (4, 3)), ((2, 4), (4, 2))])
def test_products_of_other_sizes_are_refused(sizes) -> None:
    """The sizes of the factors fit one another, and the matrix whose places are taken."""

    def program(t):
        return t.sparse.sampled_addmm(t.ones(2, 3).to_sparse_csr(), *map(t.ones, sizes)).to_dense()

    check(program)
    check(lambda t: t.sparse.sampled_addmm(t.ones(2, 3).to_sparse(), t.ones(2, 1), t.ones(1, 3)))
    check(
        lambda t: t.sparse.sampled_addmm(
            t.ones(2, 3).to_sparse_csr(), t.ones(2, 1).double(), t.ones(1, 3)
        )
    )
