"""Functions of complex tensors, compiled: what they return, write and differentiate is eager's."""

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import minitorch2 as torch
from minitorch2.tensors import Tensor


def rotary(x: Any, frequencies: Any) -> Any:
    """Rotary embedding as Llama's reference code has it: pairs of channels turned as one number."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    turns = frequencies.view(1, pairs.shape[1], 1, pairs.shape[-1])
    return torch.view_as_real(pairs * turns).flatten(3).type_as(x)


def turns(width: int, length: int) -> Any:
    """The turn of each pair of channels at each position, a number of absolute value 1."""
    speeds = 1.0 / (10000.0 ** (torch.arange(0, width, 2)[: width // 2].float() / width))
    angles = torch.outer(torch.arange(length).float(), speeds)
    return torch.polar(torch.ones_like(angles), angles)


def _numbers(*shape: int, dtype: Any = torch.complex64, grad: bool = True) -> Any:
    return torch.randn(*shape, dtype=dtype, requires_grad=grad)


CASES: dict[str, tuple[Callable, Callable]] = {
    "rotary": (
        lambda x, f: rotary(x, f).sin().sum(),
        lambda: (_numbers(2, 5, 3, 8, dtype=torch.float32), turns(8, 5)),
    ),
    "rotary with its turns": (
        lambda x: rotary(x, turns(8, 5)).relu().sum(),
        lambda: (_numbers(2, 5, 3, 8, dtype=torch.float32),),
    ),
    "rotary of a transposed tensor": (
        lambda x, f: rotary(x.transpose(1, 2), f).exp().sum(),
        lambda: (_numbers(2, 3, 5, 8, dtype=torch.float32), turns(8, 5)),
    ),
    "holomorphic": (
        lambda z: ((z * 1j + 2).exp() / (z * z + (3 - 0.5j))).abs().sum(),
        lambda: (_numbers(3, 4),),
    ),
    "product and real numbers": (
        lambda z, x: (z @ z.mH).abs() + x.exp(),
        lambda: (_numbers(3, 3), _numbers(3, dtype=torch.float32)),
    ),
    "pieces": (
        lambda z: torch.cat([z, z * 2], 0)[1:3, ::2],
        lambda: (_numbers(3, 4, dtype=torch.complex128),),
    ),
    "parts returned": (
        lambda z: (z.conj() * 2, z.real * 2, z.imag, torch.view_as_real(z)),
        lambda: (_numbers(3, 4, grad=False),),
    ),
    "a part written": (
        lambda z: (z.real.mul_(3), z)[1],
        lambda: (_numbers(3, 4, grad=False),),
    ),
    "written": (
        lambda z: z.mul_(1 + 1j).add_(1),
        lambda: (_numbers(3, 4, grad=False),),
    ),
    "moved": (
        lambda z: (z.t().contiguous(), z.t() + z.t().contiguous(), z.flip(0)),
        lambda: (_numbers(3, 4, dtype=torch.complex128),),
    ),
    "spectrum": (
        lambda x: torch.fft.irfft(torch.fft.rfft(x) * torch.fft.rfft(x.cos()), 8).square().sum(),
        lambda: (_numbers(3, 8, dtype=torch.float64),),
    ),
    "solved": (
        lambda a, b: torch.linalg.solve(a, b).abs().sum(),
        lambda: (_numbers(3, 3), _numbers(3)),
    ),
}


def _results(found: Any) -> list[Tensor]:
    return list(found) if isinstance(found, tuple) else [found]


def _run(function: Callable, make: Callable) -> tuple[list[Tensor], tuple]:
    torch.manual_seed(0)
    inputs = make()
    results = _results(function(*inputs))
    wanted = [each for each in results if each.requires_grad]
    if wanted:
        sum(each.abs().sum() for each in wanted).backward()
    return results, inputs


@pytest.mark.numba
@pytest.mark.parametrize("backend", ["eager", "kernels"])
@pytest.mark.parametrize("name", CASES)
def test_compiled(name: str, backend: str) -> None:
    """Values, dtypes, strides, writes into inputs, and gradients."""
    function, make = CASES[name]
    options = {"backend": "eager"} if backend == "eager" else {}
    expected, inputs = _run(function, make)
    found, given = _run(torch.compile(function, fullgraph=True, **options), make)
    for a, b in zip(found, expected, strict=True):
        assert (a.dtype, a.shape, a.stride()) == (b.dtype, b.shape, b.stride())
        numpy.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 2e-5, 1e-6)
    for a, b in zip(given, inputs, strict=True):
        numpy.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), 2e-5, 1e-6)
        assert (a.grad is None) == (b.grad is None)
        if a.grad is not None:
            numpy.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), 1e-4, 1e-5)


@pytest.mark.numba
def test_a_program_with_complex_literals_is_found_on_disk(tmp_path: Any, monkeypatch: Any) -> None:
    """The second process reads the numbers that the first one wrote."""
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path))

    def turned(z):
        return z * (1.5 - 0.25j) + 1j

    z = _numbers(4, grad=False)
    for _ in range(2):
        run = torch.compile(turned, fullgraph=True)
        numpy.testing.assert_allclose(run(z).numpy(), turned(z).numpy(), 1e-6)
