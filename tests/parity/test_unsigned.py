"""torch judges uint16, uint32 and uint64: what can be done with them, and what cannot."""

import io
import itertools

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import LIBRARIES, check  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:Casting complex")

DTYPES = ["uint16", "uint32", "uint64"]
OTHERS = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64",
    "complex64", *DTYPES,
]  # fmt: skip


def made(t, name):
    return t.tensor([3, 1, 2]).to(getattr(t, name))


def shown(value):
    """A value as Python's numbers, with its dtype."""
    if isinstance(value, (tuple, list)):
        return [shown(each) for each in value]
    if hasattr(value, "dtype") and hasattr(value, "tolist"):
        flat = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return str(value.dtype), list(value.shape), flat.tolist()
    return str(value)


def assigned(x):
    x[0] = 9
    x[1:] = x[:2].clone()
    return x


WORK = {
    "prints": lambda t, x: repr(x),
    "facts": lambda t, x: (x.dtype.is_signed, x.is_signed(), x.element_size(), x.type()),
    "limits": lambda t, x: (t.iinfo(x.dtype).max, t.iinfo(x.dtype).min, t.iinfo(x.dtype).bits),
    "made": lambda t, x: [
        t.zeros(2, dtype=x.dtype), t.ones(2, dtype=x.dtype), t.full((2,), 7, dtype=x.dtype),
        t.full((), -1, dtype=x.dtype), t.tensor([1, 2], dtype=x.dtype), t.tensor(3, dtype=x.dtype),
        t.empty(0, dtype=x.dtype), x.new_zeros(2), x.new_ones(2), x.new_full((2,), 5),
        t.zeros_like(x), t.ones_like(x), t.full_like(x, 9),
    ],
    "floats": lambda t, x: t.tensor([2.7], dtype=x.dtype),
    "too large": lambda t, x: t.tensor([2**65], dtype=x.dtype),
    "too large to fill": lambda t, x: t.full((2,), 2**64, dtype=x.dtype),
    "largest": lambda t, x: t.tensor([t.iinfo(x.dtype).max, 0], dtype=x.dtype),
    "wrapped": lambda t, x: t.tensor([-1, -70000, 2**40 + 5]).to(x.dtype),
    "copies": lambda t, x: [
        x.clone(), x.contiguous(), t.empty_like(x).copy_(t.tensor([1.0, 2, 3])),
    ],
    "views": lambda t, x: [x.view(3, 1), x[1:], x[::2], x.expand(2, 3), x.reshape(1, 3).t()],
    "bits": lambda t, x: [x.view(t.uint8), x & 1, x | 4, x ^ 7],
    "indexed": lambda t, x: [
        x[0], x[t.tensor([2, 0])], x[x == 3], x[t.tensor([True, False, True])], x.roll(1),
    ],
    "joined": lambda t, x: [t.cat([x, x]), t.stack([x, x]), x.repeat(2), x.split(2), x.chunk(2),
                            t.nn.functional.pad(x, (1, 1)), t.cat([x, t.ones(1)])],
    "written": lambda t, x: [x.clone().fill_(3), x.clone().zero_(), x.clone().mul_(2)],
    "assigned": lambda t, x: assigned(x.clone()),
    "compared": lambda t, x: [x == 3, x != x[1], x.eq(x), t.equal(x, x), t.equal(x, x * 2), 1 in x],
    "close": lambda t, x: [t.allclose(x, x), t.isclose(x, x * 2)],
    "products": lambda t, x: [x * 2, x * x, x * 2.5, x / x, x / 2, x.prod(), x.cumprod(0)],
    "sums": lambda t, x: [x.sum(), x.cumsum(0), x.view(3, 1).sum(1), x.float().mean(), x.nansum()],
    "chosen": lambda t, x: t.where(x == 3, x, x * 2),
    "ordered": lambda t, x: [*x.sort(), x.argsort(), *x.sort(descending=True), x.unique()],
    "rounded": lambda t, x: [x.round(), x.ceil(), x.floor(), x.trunc()],
    "asked": lambda t, x: [
        x.isnan(), x.isinf(), x.isfinite(), x.any(), x.all(), bool(x[0]), int(x[0]),
    ],
    "functions": lambda t, x: [x.exp(), x.sqrt(), x.sin(), x.log(), x.sigmoid(), x.tanh(), x.erf()],
    "signs": lambda t, x: [x.signbit(), x.copysign(-1.0), t.copysign(t.tensor([-1.0]), x)],
    "special functions": lambda t, x: [
        getattr(t, name)(x) for name in (
            "lgamma", "digamma", "i0", "erfc", "deg2rad", "rad2deg", "sinc", "nan_to_num",
        )
    ],
    "more special functions": lambda t, x: [
        getattr(t.special, name)(x) for name in (
            "i0e", "i1", "i1e", "ndtr", "log_ndtr", "erfcx", "entr", "bessel_j0", "bessel_y1",
        )
    ],
    "bounded": lambda t, x: [t.logit(x, 0.1), t.logit(x).nan_to_num(), t.erfinv(x).nan_to_num(),
                             t.special.ndtri(x).nan_to_num(), t.polygamma(2, x), t.mvlgamma(x, 1)],
    "in pairs": lambda t, x: [
        t.xlogy(x, x), t.xlogy(x, 2), t.xlogy(0.5, x), t.special.xlog1py(x, x),
        t.special.xlog1py(x, 0.5), t.special.zeta(x + 0.5, x), t.special.zeta(x * 2, 1.5),
        *[f(a, b) for f in (t.xlogy, t.special.xlog1py)
          for other in (t.float16, t.float64)
          for a, b in ((x, t.ones(1, dtype=other)), (t.ones(1, dtype=other), x))],
    ],
    "numpy": lambda t, x: str(x.numpy().dtype),
    "from numpy": lambda t, x: t.from_numpy(numpy.array([5, 6], x.numpy().dtype)),
    "of numpy's numbers": lambda t, x: t.tensor([x.numpy()[0], x.numpy()[1]]),
    "gradients": lambda t, x: x.requires_grad_(),
    "complex": lambda t, x: x.dtype.to_complex(),
    "default": lambda t, x: t.set_default_dtype(x.dtype),
    "scaled": lambda t, x: t.ones(3, requires_grad=True).mul(x).grad_fn is not None,
}  # fmt: skip
REFUSED = {
    "add": lambda t, x: x + 1,
    "add itself": lambda t, x: x.add_(x),
    "sub": lambda t, x: x - x,
    "neg": lambda t, x: -x,
    "not": lambda t, x: ~x,
    "gt": lambda t, x: x > 1,
    "lt": lambda t, x: x.lt(x),
    "floor division": lambda t, x: x // 2,
    "remainder": lambda t, x: x % 2,
    "shift": lambda t, x: x << 1,
    "abs": lambda t, x: abs(x),
    "sign": lambda t, x: x.sign(),
    "max": lambda t, x: x.max(),
    "amin": lambda t, x: x.amin(),
    "maximum": lambda t, x: t.maximum(x, x),
    "clamp": lambda t, x: x.clamp(0, 1),
    "topk": lambda t, x: x.topk(1),
    "argmax": lambda t, x: x.argmax(),
    "mean": lambda t, x: x.mean(),
    "std": lambda t, x: x.std(),
    "logical": lambda t, x: x.logical_not(),
    "power": lambda t, x: x**2,
    "square": lambda t, x: x.square(),
    "hash": lambda t, x: t.hash_tensor(x),
    "difference": lambda t, x: x.diff(),
}


HERE = {
    "gather": lambda x: x.gather(0, minitorch2.tensor([2])),
    "index_select": lambda x: x.index_select(0, minitorch2.tensor([2, 0])),
    "flip": lambda x: x.flip(0),
    "tril": lambda x: x.view(1, 3).tril(),
    "nonzero": lambda x: x.nonzero(),
    "bincount": lambda x: x.bincount(),
    "median": lambda x: x.median(),
    "mode": lambda x: x.mode().values,
    "dot": lambda x: x.dot(x),
    "trace": lambda x: x.view(1, 3).trace(),
    "index_add": lambda x: x.index_add(0, minitorch2.tensor([0]), x[:1]),
}


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("what", HERE)
def test_what_is_said_to_work_here_only_gives_the_numbers_of_int64(what, name):
    x = made(minitorch2, name)
    assert HERE[what](x).tolist() == HERE[what](x.long()).tolist()


NOT_OF_UINT64 = (
    "too large",
    "of numpy's numbers",
)  # torch takes other numbers of Python for uint64
WORKING = [(what, name) for what in WORK for name in DTYPES
           if name != "uint64" or what not in NOT_OF_UINT64]  # fmt: skip


@pytest.mark.parametrize("what, name", WORKING)
def test_work(what, name):
    check(lambda t: shown(WORK[what](t, made(t, name))))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("what", REFUSED)
def test_refused(what, name):
    check(lambda t: shown(REFUSED[what](t, made(t, name))))


@pytest.mark.parametrize("name", DTYPES)
def test_two_dtypes(name):
    for other in OTHERS:
        check(lambda t, other=other: str(t.promote_types(getattr(t, name), getattr(t, other))))
        check(lambda t, other=other: str(t.promote_types(getattr(t, other), getattr(t, name))))
        check(lambda t, other=other: shown(made(t, name) * made(t, other)))
        check(lambda t, other=other: shown(made(t, name).to(getattr(t, other))))
        check(lambda t, other=other: shown(made(t, other).to(getattr(t, name))))
        check(lambda t, other=other: t.can_cast(getattr(t, name), getattr(t, other)))


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize(("writer", "reader"), [*itertools.product(LIBRARIES, LIBRARIES)])
def test_files(writer, reader, name):
    file = io.BytesIO()
    writer.save([made(writer, name), made(writer, name)[1:]], file)
    file.seek(0)
    assert shown(reader.load(file)) == shown([made(reader, name), made(reader, name)[1:]])


COMPILED = ["products", "bits", "chosen", "compared", "sums", "ordered", "joined", "functions",
            "made", "rounded"]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("what", COMPILED)
def test_compiled(what, name):
    def program(x):
        return WORK[what](minitorch2, x)

    found = minitorch2.compile(program)(made(minitorch2, name))
    assert shown(found) == shown(program(made(minitorch2, name)))
