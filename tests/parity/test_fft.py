"""torch.fft, windows and short-time transforms beside torch's: values, gradients, errors."""

import itertools
import warnings
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.judge import Outcome, compare_errors, compare_tensors  # noqa: E402

TOLERANCE = (2e-5, 2e-5)


def numbers(shape: tuple, dtype: str, seed: int = 0) -> numpy.ndarray:
    random = numpy.random.RandomState(seed)
    found = random.uniform(-1, 1, shape)
    if dtype.startswith("complex"):
        found = found + 1j * random.uniform(-1, 1, shape)
    return numpy.asarray(found if dtype != "int64" else found * 9).astype(dtype)


def both(call: Any, *arrays: numpy.ndarray) -> tuple[list, list]:
    """The results of a call and the gradients of its inputs, in minitorch2 and in torch."""
    found = []
    for library in (minitorch2, torch):
        tensors = [library.from_numpy(each.copy()) for each in arrays]
        leaves = [t for t in tensors if t.dtype.is_floating_point or t.dtype.is_complex]
        for tensor in leaves:
            tensor.requires_grad_()
        result = call(library, *tensors)
        total = (result * library.from_numpy(numbers(tuple(result.shape), "float64", 7))).sum()
        total = total.real + total.imag * 0.5 if total.dtype.is_complex else total
        grads = list(library.autograd.grad(total, leaves, allow_unused=True)) if leaves else []
        found.append([result.detach(), *grads])
    return found[0], found[1]


def same(call: Any, *arrays: numpy.ndarray) -> None:
    mine, theirs = both(call, *arrays)
    assert len(mine) == len(theirs)
    complaints = [
        complaint
        for a, b in zip(mine, theirs, strict=True)
        if b is not None
        for complaint in compare_tensors(a, b.resolve_conj(), "result", tolerance=TOLERANCE)
        if "strides" not in complaint
    ]
    assert not complaints


ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
TWO = ("fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2")
SEVERAL = ("fftn", "ifftn", "rfftn", "irfftn", "hfftn", "ihfftn")
REAL_ONLY = ("rfft", "ihfft", "rfft2", "ihfft2", "rfftn", "ihfftn")
DTYPES = ("float32", "float64", "complex64", "complex128", "int64")


def takes(name: str, dtype: str) -> bool:
    return not (name in REAL_ONLY and dtype.startswith("complex"))


@pytest.mark.parametrize("name", ONE)
def test_one_dimension(name: str) -> None:
    """Sizes cut and filled, dimensions, norms."""
    for dtype, n, dim, norm in itertools.product(
        DTYPES, (None, 1, 3, 6, 9), (-1, 0), (None, "ortho", "forward", "backward")
    ):
        if takes(name, dtype):
            x = numbers((5, 6), dtype)
            same(lambda t, x: getattr(t.fft, name)(x, n, dim, norm), x)  # noqa: B023


@pytest.mark.parametrize("name", TWO + SEVERAL)
def test_several_dimensions(name: str) -> None:
    """Some sizes, some dimensions."""
    ways: tuple[dict, ...] = ({}, {"s": (3, 6)}, {"dim": (0, 1)}, {"s": (5, 4), "dim": (2, 0)},
                              {"norm": "ortho"}, {"s": (-1, 3), "dim": (-1, -2)})  # fmt: skip
    if name in SEVERAL:
        ways += ({"dim": (1,)}, {"s": (2,)}, {"dim": (0, 1, 2), "norm": "forward"})
    for dtype, way in itertools.product(("float64", "complex128", "float32"), ways):
        if takes(name, dtype):
            x = numbers((3, 4, 5), dtype)
            same(lambda t, x: getattr(t.fft, name)(x, **way), x)  # noqa: B023


def test_gradients_of_gradients() -> None:
    """Twice through a transform: torch's gradgradcheck on ours."""
    x = minitorch2.from_numpy(numbers((3, 6), "float64")).requires_grad_()
    for name in ("rfft", "fft", "ihfft"):
        function = getattr(minitorch2.fft, name)

        def parts(x, function=function):
            return minitorch2.view_as_real(function(x)).square()

        assert minitorch2.autograd.gradcheck(parts, (x,))
        assert minitorch2.autograd.gradgradcheck(parts, (x,))


def test_helpers() -> None:
    """Frequencies and shifts."""
    for n in (1, 4, 5):
        for d in (1.0, 0.1):
            same(lambda t: t.fft.fftfreq(n, d))  # noqa: B023
            same(lambda t: t.fft.rfftfreq(n, d, dtype=t.float64))  # noqa: B023
    for dim in (None, 0, (0, 1), (-1,)):
        same(lambda t, x: t.fft.fftshift(x, dim), numbers((4, 5), "float64"))  # noqa: B023
        same(lambda t, x: t.fft.ifftshift(x, dim), numbers((4, 5), "float64"))  # noqa: B023


REFUSED = {
    "norm": lambda t, x: t.fft.fft(x, norm="wrong"),
    "no points": lambda t, x: t.fft.fft(x, 0),
    "dimension": lambda t, x: t.fft.fft(x, dim=2),
    "complex": lambda t, x: t.fft.rfft(x.to(t.complex64)),
    "unique": lambda t, x: t.fft.fftn(x, dim=(0, 0)),
    "lengths": lambda t, x: t.fft.fftn(x, s=(1,), dim=(0, 1)),
    "bfloat16": lambda t, x: t.fft.fft(x.bfloat16()),
    "stft without return_complex": lambda t, x: t.stft(x, 4),
    "stft of a short signal": lambda t, x: t.stft(x, 99, center=False, return_complex=True),
    "stft window": lambda t, x: t.stft(x, 4, window=t.ones(3), return_complex=True),
    "istft of real numbers": lambda t, x: t.istft(x, 4),
    "istft with holes": lambda t, x: t.istft(
        t.ones(3, 5, dtype=t.complex64), 4, 4, window=t.hann_window(4), center=False
    ),
    "window dtype": lambda t, x: t.hann_window(3, dtype=t.int64),
    "window length": lambda t, x: t.hann_window(-1),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    """Both refuse, with errors of one kind."""
    x = numbers((5, 6), "float32")
    mine = Outcome(lambda: REFUSED[name](minitorch2, minitorch2.from_numpy(x)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = Outcome(lambda: REFUSED[name](torch, torch.from_numpy(x)))
    assert mine.error is not None and not compare_errors(mine.error, theirs.error)


@pytest.mark.parametrize("name", ["hann", "hamming", "blackman", "bartlett", "kaiser"])
def test_windows(name: str) -> None:
    """Lengths, periodic or not, dtypes."""
    for length, periodic, dtype in itertools.product(
        (0, 1, 2, 5, 8), (True, False), (None, "float64")
    ):

        def window(t: Any) -> Any:
            wanted = None if dtype is None else getattr(t, dtype)  # noqa: B023
            return getattr(t, f"{name}_window")(length, periodic, dtype=wanted)  # noqa: B023

        same(window)
    same(lambda t: t.hamming_window(7, True, 0.6, 0.4))
    same(lambda t: t.kaiser_window(7, False, 5.0))


STFT: tuple[dict, ...] = (
    {"n_fft": 16},
    {"n_fft": 16, "hop_length": 5, "win_length": 11},
    {"n_fft": 15, "hop_length": 4, "center": False},
    {"n_fft": 16, "normalized": True, "pad_mode": "constant"},
    {"n_fft": 16, "onesided": False},
)


@pytest.mark.parametrize("shape", [(64,), (2, 64)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_stft(shape: tuple, dtype: str) -> None:
    """Frames, windows, sides, norms."""
    for options, windowed in itertools.product(STFT, (False, True)):
        size = options.get("win_length", options["n_fft"])
        window = numbers((size,), "float64", 3) + 2
        if dtype == "complex128" and options.get("onesided") is None:
            options = {**options, "onesided": False}

        def call(t: Any, x: Any, w: Any) -> Any:
            w = w if windowed else None  # noqa: B023
            return t.stft(x, window=w, return_complex=True, **options)  # noqa: B023

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            same(call, numbers(shape, dtype), window)


@pytest.mark.parametrize("shape", [(64,), (2, 64)])
def test_istft(shape: tuple) -> None:
    """Back to the signal, of a given length or not."""
    for options, length in itertools.product(STFT[:2] + STFT[3:], (None, 50, 64)):
        kept = {key: value for key, value in options.items() if key != "pad_mode"}

        def call(t: Any, x: Any) -> Any:
            size = options.get("win_length", options["n_fft"])  # noqa: B023
            window = t.hann_window(size, dtype=t.float64)
            spectra = t.stft(x, window=window, return_complex=True, **options)  # noqa: B023
            return t.istft(spectra * 2, window=window, length=length, **kept)  # noqa: B023

        same(call, numbers(shape, "float64"))
