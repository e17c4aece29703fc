"""Complex tensors beside torch's: parts, writes, gradients, linear algebra, errors, files."""

import copy
import io
import pickle
import warnings
from functools import partial
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.judge import Outcome, compare_errors, compare_tensors  # noqa: E402

RANDOM = numpy.random.RandomState(5)


def numbers(*shape: int) -> numpy.ndarray:
    return RANDOM.uniform(-1, 1, shape) + 1j * RANDOM.uniform(-1, 1, shape)


Z, W, S = numbers(3, 4), numbers(3, 4), numbers(3, 3) + 2 * numpy.eye(3)
X = RANDOM.uniform(0.5, 2, (3, 4))


def hermitian(t: Any, s: Any) -> Any:
    return s @ s.mH + 3 * t.eye(3, dtype=s.dtype)


def written(t: Any, z: Any, write: Any) -> Any:
    """A copy of z after a write through a view of it."""
    copied = z * 1
    write(copied)
    return copied


# Each call gets the library, z and w [3, 4] and s [3, 3] (complex) and x [3, 4] (real).
CALLS: dict[str, Any] = {
    "parts": lambda t, z, w, s, x: [z.real, z.imag, t.real(z), t.imag(z), t.view_as_real(z)],
    "parts of views": lambda t, z, w, s, x: [
        t.view_as_real(z.t()), t.view_as_real(z[1:, ::2]), z[1].imag, t.view_as_real(z)[..., 0],
    ],
    "put together": lambda t, z, w, s, x: [
        t.complex(x, x * 2), t.polar(x, x), t.view_as_complex(t.stack([x, -x], -1)), x * (1 + 2j),
    ],
    "write real": lambda t, z, w, s, x: written(t, z, lambda c: c.real.mul_(3)),
    "write imag": lambda t, z, w, s, x: written(t, z, lambda c: c.imag.copy_(x)),
    "set real": lambda t, z, w, s, x: written(t, z, lambda c: setattr(c, "real", x * x)),
    "set imag": lambda t, z, w, s, x: written(t, z, lambda c: setattr(c, "imag", x.exp())),
    "write a slice of a part": lambda t, z, w, s, x: written(
        t, z, lambda c: c[1:].t().imag[2].add_(x[0, 1:3])
    ),
    "write pairs": lambda t, z, w, s, x: written(
        t, z, lambda c: t.view_as_real(c)[..., 1].mul_(x)
    ),
    "write as complex": lambda t, z, w, s, x: written(
        t, x, lambda c: t.view_as_complex(c.view(3, 2, 2)).mul_(1j)
    ),
    "write an element": lambda t, z, w, s, x: written(
        t, z, lambda c: c.__setitem__((0, slice(None, 2)), 3 - 1j)
    ),
    "write real numbers": lambda t, z, w, s, x: written(t, z, lambda c: c.add_(x).mul_(2j)),
    "absolute values": lambda t, z, w, s, x: [z.abs(), z.angle(), t.sgn(z), abs(z), z.abs().log()],
    "conjugates": lambda t, z, w, s, x: [
        (z * z.conj()).real, z.mH, z.H, s.adjoint(), z.conj_physical(), t.conj(z) * w,
    ],
    "arithmetic": lambda t, z, w, s, x: [
        z + w, z - x, x / z, z / 2j, 1 / z, z**2, z**w, 2**z, z ** (1 - 1j), -z, (1 + 1j) - z,
        z.reciprocal(), z.square(), z.sqrt(), z.rsqrt(), t.add(z, w, alpha=2j),
        t.addcmul(z, w, z, value=2), t.lerp(z, w, 0.3), t.true_divide(x, w),
    ],
    "functions": lambda t, z, w, s, x: [
        z.exp(), z.log(), z.sin(), z.cos(), z.tan(), z.sinh(), z.cosh(), z.tanh(), z.asin(),
        z.acos(), z.atan(), z.log2(), z.log10(), z.log1p(), z.expm1(), z.exp2(), z.sigmoid(),
        z.asinh(), z.acosh(), z.atanh(), t.sinc(z),
    ],
    "sums": lambda t, z, w, s, x: [
        z.sum(), z.sum(0), z.mean(), z.prod(1), z.cumsum(0), z.cumprod(1), z.var(), z.std(1),
        z.norm(), z.norm(dim=1), t.linalg.vector_norm(z, 3), z.logsumexp(0), t.trace(s),
        x.detach().sum(dtype=z.dtype),
    ],
    "products": lambda t, z, w, s, x: [
        s @ z, z @ w.t(), t.einsum("ij,kj->ik", z, w.conj()), t.vdot(z[0], w[0]),
        t.dot(z[0], w[0]), t.inner(z, w), t.outer(z[0], w[1]), t.linalg.vecdot(z, w),
        t.tensordot(z, w, ([0, 1], [0, 1])), t.kron(z, s), t.matrix_power(s, -2),
        t.addmm(s, z, w.mH), t.baddbmm(s[None], z[None], w.mH[None]),
    ],
    "pieces": lambda t, z, w, s, x: [
        t.cat([z, w]), t.stack([z, w]), z[[2, 0]], z[z.abs() > 0.7], z.flip(1), z.roll(1, 0),
        z.gather(1, t.tensor([[0, 1], [2, 2], [3, 0]])), z.index_select(1, t.tensor([3, 0])),
        t.where(x > 1, z, w), t.where(x > 1, z, 2.5), z.masked_fill(x > 1, 2 - 1j), z.tril(),
        z.diagonal(), t.diag_embed(z), z.repeat(2, 1), z.reshape(2, 6).permute(1, 0), *z.unbind(1),
        z.index_put((t.tensor([0, 2]),), w[:2]), z.scatter_add(0, t.tensor([[0, 1, 2, 0]]), w[:1]),
    ],
    "types": lambda t, z, w, s, x: [
        z.to(t.complex64), x.to(t.complex128), x.cfloat(), x.float().cdouble(),
        z.type_as(s.cfloat()),
        t.zeros(2, dtype=t.complex64), t.full((2,), 1j), t.ones_like(z), z.new_zeros(2),
        t.arange(3).to(t.complex64), t.tensor([1, 2j]), t.eye(2, dtype=t.complex128),
        t.tensor([1.0, 2.0]) * 1j, t.tensor(3) + 1j, t.float_power(z, 2),
    ],
    "truth": lambda t, z, w, s, x: [
        z == z, z != w, t.isreal(t.tensor([1 + 0j, 1j])), t.isnan(z * float("nan")), t.isinf(z),
        t.isfinite(z / 0), t.isclose(z, z + 1e-9), t.logical_not(z), z.bool(), z.any(), z.all(),
        t.tensor([t.is_complex(z), z.is_complex(), x.is_complex(), t.equal(z, z)]),
        t.tensor([t.allclose(z, w), t.allclose(z, z)]),
    ],
    "solve": lambda t, z, w, s, x: [
        t.linalg.inv(s), t.linalg.solve(s, z), t.linalg.det(s), *t.linalg.slogdet(s),
        t.linalg.solve(s, z[:, 0]), t.linalg.pinv(z), t.linalg.lstsq(z.mH, z.mH[:, :1]).solution,
        t.linalg.solve_triangular(s, z, upper=True), t.linalg.matrix_exp(s), t.linalg.cond(s),
        t.linalg.matrix_norm(z), t.linalg.matrix_norm(z, 2), t.linalg.matrix_rank(z),
    ],
    "cholesky": lambda t, z, w, s, x: [
        t.linalg.cholesky(hermitian(t, s)), t.linalg.cholesky(hermitian(t, s), upper=True),
    ],
    "qr": lambda t, z, w, s, x: list(t.linalg.qr(z.mH)),
    "eigh": lambda t, z, w, s, x: (lambda e, v: [e, v.abs(), (v * e.exp()) @ v.mH])(
        *t.linalg.eigh(hermitian(t, s))
    ),
    "svd": lambda t, z, w, s, x: (lambda u, e, vh: [e, u.abs(), vh.abs(), (u * e.exp()) @ vh])(
        *t.linalg.svd(z, full_matrices=False)
    ),
    "eig": lambda t, z, w, s, x: (lambda e, v: [v.abs(), t.linalg.inv(v.mH) @ v.inverse()])(
        *t.linalg.eig(s)
    ),
    "eigenvalues": lambda t, z, w, s, x: [t.linalg.eigvals(s), t.linalg.eigvals(s.real) ** 2],
    "lu": lambda t, z, w, s, x: [
        *t.linalg.lu(s), t.linalg.lu_factor(s)[0], t.linalg.lu_factor(s)[1],
        t.linalg.lu_solve(*t.linalg.lu_factor(s.detach()), z),
        t.linalg.lu_solve(*t.linalg.lu_factor(s.detach()), z, adjoint=True),
    ],
}  # fmt: skip


def _gradients(library: Any, results: list, leaves: list) -> list:
    """Of the sum of all results, each weighted, its parts too."""
    total = 0
    for at, result in enumerate(results):
        if not result.requires_grad:
            continue
        weight = numpy.random.RandomState(at).uniform(0.5, 1.5, tuple(result.shape))
        product = result.to(library.complex128) * library.from_numpy(numpy.asarray(weight))
        total = total + product.real.sum() + product.imag.sum() * 0.7
    if isinstance(total, int):
        return []
    return list(library.autograd.grad(total, leaves, allow_unused=True))


def _run(library: Any, call: Any) -> tuple[list, list]:
    leaves = [library.from_numpy(each.copy()).requires_grad_() for each in (Z, W, S, X)]
    found = call(library, *leaves)
    results = list(found) if isinstance(found, (list, tuple)) else [found]
    return results, _gradients(library, results, leaves)


@pytest.mark.parametrize("name", CALLS)
def test_call(name: str) -> None:
    """Results and the gradients of everything that went in."""
    mine, my_gradients = _run(minitorch2, CALLS[name])
    theirs, their_gradients = _run(torch, CALLS[name])
    pairs = [*zip(mine, theirs, strict=True), *zip(my_gradients, their_gradients, strict=True)]
    complaints = []
    for at, (a, b) in enumerate(pairs):
        assert (a is None) == (b is None), at
        if a is not None:
            complaints += compare_tensors(a, b.resolve_conj(), f"{at}", tolerance=(1e-6, 1e-8))
    assert not [each for each in complaints if "strides" not in each]


REFUSED: dict[str, Any] = {
    "order": lambda t, z, x: z < z,
    "largest": lambda t, z, x: z.max(),
    "sorted": lambda t, z, x: z.sort(),
    "argmax": lambda t, z, x: z.argmax(),
    "sign": lambda t, z, x: z.sign(),
    "clamp": lambda t, z, x: z.clamp(0, 1),
    "floor": lambda t, z, x: z.floor(),
    "remainder": lambda t, z, x: z % 2,
    "floor division": lambda t, z, x: z // 2,
    "imag of real": lambda t, z, x: x.imag,
    "view_as_real of real": lambda t, z, x: t.view_as_real(x),
    "view_as_complex of complex": lambda t, z, x: t.view_as_complex(z),
    "complex of two dtypes": lambda t, z, x: t.complex(x, x.float()),
    "a complex number into real": lambda t, z, x: x.add_(1j),
    "a complex tensor into real": lambda t, z, x: x.mul_(z),
    "backward of a complex loss": lambda t, z, x: z.requires_grad_().sum().backward(),
    "float of complex": lambda t, z, x: float(z[0, 0]),
    "index": lambda t, z, x: [1, 2, 3][z[0, 0]],
    "two dtypes in a product": lambda t, z, x: z @ x.t(),
    "relu": lambda t, z, x: t.relu(z),
    "erf": lambda t, z, x: t.erf(z),
    "bitwise": lambda t, z, x: z & z,
    "eig of a rectangle": lambda t, z, x: t.linalg.eig(z),
    "lu without pivots": lambda t, z, x: t.linalg.lu(z, pivot=False),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    """Both refuse, with errors of one kind."""
    call = REFUSED[name]
    outcomes = [
        Outcome(partial(call, t, t.from_numpy(Z.copy()), t.from_numpy(X.copy())))
        for t in (minitorch2, torch)
    ]
    mine, theirs = outcomes[0].error, outcomes[1].error
    assert mine is not None and theirs is not None
    if not isinstance(mine, TypeError):
        assert not compare_errors(mine, theirs)


def test_numbers_go_in_and_out() -> None:
    """item, tolist, numpy, complex(), pickle, deepcopy, save and load."""
    z = minitorch2.tensor([[1 + 2j, 3 - 0.5j]], requires_grad=True)
    assert z[0, 0].item() == 1 + 2j and complex(z[0, 1]) == 3 - 0.5j
    assert z.tolist() == [[1 + 2j, 3 - 0.5j]]
    array = z.detach().numpy()
    assert array.dtype == numpy.complex64
    array[0, 0] = 7j
    assert z[0, 0].item() == 7j
    shared = minitorch2.from_numpy(array)
    shared.imag.zero_()
    assert z.imag.abs().sum().item() == 0
    buffer = io.BytesIO()
    minitorch2.save({"z": z}, buffer)
    buffer.seek(0)
    for other in (pickle.loads(pickle.dumps(z)), copy.deepcopy(z), minitorch2.load(buffer)["z"]):
        assert minitorch2.equal(other, z) and other.dtype is minitorch2.complex64
        assert other.requires_grad


def test_files_of_torch() -> None:
    """A file written by one is read by the other."""
    for writer, reader in ((minitorch2, torch), (torch, minitorch2)):
        buffer = io.BytesIO()
        writer.save({"z": writer.from_numpy(Z.copy())[1:]}, buffer)
        buffer.seek(0)
        assert numpy.array_equal(reader.load(buffer)["z"].numpy(), Z[1:])


def test_default_dtype() -> None:
    """Complex numbers follow the default floating dtype."""
    minitorch2.set_default_dtype(minitorch2.float64)
    try:
        assert minitorch2.tensor(1j).dtype is minitorch2.complex128
        assert minitorch2.full((2,), 1j).dtype is minitorch2.complex128
        assert repr(minitorch2.tensor(1j)) == "tensor(0.+1.j)"
    finally:
        minitorch2.set_default_dtype(minitorch2.float32)


OPTIMIZERS: dict[str, dict] = {
    "SGD": {"momentum": 0.9, "weight_decay": 0.1}, "Adam": {"amsgrad": True}, "AdamW": {},
    "RMSprop": {"momentum": 0.5, "centered": True}, "Adagrad": {}, "Adadelta": {}, "NAdam": {},
    "RAdam": {}, "Adamax": {}, "ASGD": {}, "Rprop": {},
}  # fmt: skip


@pytest.mark.parametrize("name", [n for n in OPTIMIZERS if hasattr(minitorch2.optim, n)])
def test_optimizers(name: str) -> None:
    """Twenty steps of a complex layer, and its state taken up again after ten."""
    found = []
    for t in (minitorch2, torch):
        weight = t.from_numpy(Z.copy()).requires_grad_()
        optimizer = getattr(t.optim, name)([weight], lr=0.05, **OPTIMIZERS[name])
        target = t.from_numpy(W.copy())
        for step in range(20):
            if step == 10:
                saved = copy.deepcopy(optimizer.state_dict())
                optimizer = getattr(t.optim, name)([weight], lr=0.05, **OPTIMIZERS[name])
                optimizer.load_state_dict(saved)
            optimizer.zero_grad()
            gap = weight * (1 + 2j) - target
            (gap.abs() ** 2).sum().backward()
            optimizer.step()
        found.append(weight.detach().numpy())
    numpy.testing.assert_allclose(found[0], found[1], 1e-5, 1e-6)


def test_modules_of_complex_numbers() -> None:
    """Layers made of complex numbers, or turned into them."""
    made = minitorch2.nn.Linear(3, 2, dtype=minitorch2.complex64)
    assert made(minitorch2.ones(1, 3) * 1j).dtype is minitorch2.complex64
    turned = minitorch2.nn.Linear(3, 2).to(minitorch2.complex128)
    assert all(p.dtype is minitorch2.complex128 for p in turned.parameters())
    drawn = minitorch2.zeros(2000, dtype=minitorch2.complex64).normal_()
    assert abs(drawn.imag.std().item() - 0.5**0.5) < 0.05
    with pytest.raises(RuntimeError):
        minitorch2.nn.functional.mse_loss(drawn, drawn)


def test_random_numbers() -> None:
    """Mean 0 and variance 1 in all, the parts alike and independent."""
    minitorch2.manual_seed(3)
    z = minitorch2.randn(20000, dtype=minitorch2.complex128).numpy()
    assert abs(z.mean()) < 0.03 and abs((abs(z) ** 2).mean() - 1) < 0.03
    assert abs(z.real.var() - 0.5) < 0.02 and abs((z.real * z.imag).mean()) < 0.02
    u = minitorch2.rand(20000, dtype=minitorch2.complex64).numpy()
    assert 0 <= u.real.min() and u.imag.max() < 1 and abs(u.mean() - 0.5 - 0.5j) < 0.02
    like = minitorch2.randn_like(minitorch2.zeros(3, dtype=minitorch2.complex64))
    assert like.dtype is minitorch2.complex64


def test_lost_parts_are_told() -> None:
    """Where an imaginary part is dropped, torch's warning."""
    z = minitorch2.from_numpy(Z)
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert numpy.array_equal(z.to(minitorch2.float64).numpy(), Z.real)
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        minitorch2.zeros(3, 4).copy_(z)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(
    "joined",
    [
        lambda t, whole, real, z: t.cat([whole, z]),
        lambda t, whole, real, z: t.cat([real, z, whole, real]),
        lambda t, whole, real, z: t.stack([whole, z, real]),
        lambda t, whole, real, z: t.hstack([whole > 1, z]),
        lambda t, whole, real, z: t.vstack([real, whole]),
    ],
)
def test_what_is_joined_of_several_dtypes_has_gradients_without_a_word(joined, compiled) -> None:
    """Integers get none; a real part gets the real part of what it became; nothing is warned of."""
    found = []
    for t in (minitorch2, torch):
        whole = t.arange(3)
        real = t.tensor([1.0, -2.0, 0.5], requires_grad=True)
        z = t.tensor([1 + 2j, -1j, 3.0], requires_grad=True)
        join = lambda *parts, t=t: joined(t, *parts)  # noqa: E731
        run = minitorch2.compile(join) if compiled and t is minitorch2 else join
        result = run(whole, real, z)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            (result * (1 + 2j)).abs().sum().backward()
        found.append([None if x.grad is None else numpy.array(x.grad.tolist()) for x in (real, z)])
    for mine, theirs in zip(*found, strict=True):
        assert (mine is None) == (theirs is None)
        assert theirs is None or numpy.allclose(mine, theirs, 1e-5)
