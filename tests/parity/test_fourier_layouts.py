"""Where the elements of a Fourier transform lie: as torch lays them out, eager and compiled."""

from typing import Any

import pytest
import torch

import minitorch2

SHAPE = (5, 6, 7)
DIMS: list[Any] = [0, 1, 2, (0, 1), (0, 2), (1, 2), (0, 1, 2), (2, 0)]
NAMES = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")


def operand(library: Any, turned: bool) -> Any:
    """The numbers 0 to 209 as [5, 6, 7], row by row or with its dimensions the other way round."""
    numbers = library.arange(210, dtype=library.float64)
    return numbers.reshape(SHAPE[::-1]).permute(2, 1, 0) if turned else numbers.reshape(SHAPE)


def transformed(library: Any, name: str, dim: Any, turned: bool) -> Any:
    """A transform over one dimension or several."""
    several = isinstance(dim, tuple)
    return getattr(library.fft, name + "n" * several)(operand(library, turned), dim=dim)


@pytest.mark.parametrize("name", NAMES)
def test_strides(name: str) -> None:
    """Every direction over every choice of dimensions."""
    for dim in DIMS:
        for turned in (False, True):
            ours = transformed(minitorch2, name, dim, turned)
            theirs = transformed(torch, name, dim, turned)
            assert ours.stride() == theirs.stride(), (dim, turned)
            assert torch.allclose(torch.from_numpy(ours.numpy()), theirs.resolve_conj())


def test_compiled_results_lie_as_eager_ones() -> None:
    """The fake tensors of capture have the layout of the real ones."""
    compiled = minitorch2.compile(lambda x: minitorch2.fft.fftn(x, dim=(0, 1)) * 2, fullgraph=True)
    x = operand(minitorch2, False)
    assert compiled(x).stride() == (minitorch2.fft.fftn(x, dim=(0, 1)) * 2).stride()
