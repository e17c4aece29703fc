"""Random programs over complex and real tensors: values and gradients are torch's, compiled too."""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


def _written(x: Any, write: Callable) -> Any:
    copied = x * 1
    write(copied)
    return copied


def _row_set(x: Any) -> Any:
    return _written(x, lambda c: c.__setitem__(0, 1 + 2j if c.is_complex() else 1.0))


# One step: of the library, two values of one shape (either may be complex) and a number 0 to 5.
STEPS: dict[str, Callable] = {
    "product": lambda t, x, y, k: x * y,
    "sum": lambda t, x, y, k: t.add(x, y, alpha=2),
    "number": lambda t, x, y, k: x - y * (0.5 + 1j),
    "quotient": lambda t, x, y, k: x / (y.abs() + 1.5),
    "conjugate": lambda t, x, y, k: x.conj() * 1,
    "exp": lambda t, x, y, k: (x * 0.3).exp(),
    "sin": lambda t, x, y, k: x.sin(),
    "square": lambda t, x, y, k: x**2,
    "power": lambda t, x, y, k: (x.abs() + 1) ** y,
    "abs": lambda t, x, y, k: x.abs(),
    "angle": lambda t, x, y, k: x.angle(),
    "sgn": lambda t, x, y, k: t.sgn(x),
    "real": lambda t, x, y, k: t.real(x) * 2,
    "imag": lambda t, x, y, k: t.imag(x) if x.is_complex() else x,
    "part": lambda t, x, y, k: t.view_as_real(x)[..., k % 2] if x.is_complex() else x * 1j,
    "complex": lambda t, x, y, k: x if x.is_complex() or y.is_complex() else t.complex(x, y),
    "polar": lambda t, x, y, k: t.polar(x.abs() + 0.1, y.abs()),
    "matmul": lambda t, x, y, k: x @ y.mH if x.dtype == y.dtype else x,
    "solve": lambda t, x, y, k: t.linalg.solve(x @ x.mH + 4 * t.eye(x.shape[0], dtype=x.dtype), x),
    "transpose": lambda t, x, y, k: x.t(),
    "slice": lambda t, x, y, k: x[..., :: 1 + k % 2],
    "reshape": lambda t, x, y, k: x.reshape(-1).reshape(x.shape),
    "expand": lambda t, x, y, k: x[:1].expand(x.shape) + y,
    "flip": lambda t, x, y, k: x.flip(0),
    "cat": lambda t, x, y, k: t.cat([x, x * 2], 0)[: x.shape[0]],
    "where": lambda t, x, y, k: t.where(x.abs() > 1, x, y),
    "rows": lambda t, x, y, k: x[[0, x.shape[0] - 1]].mean(0, keepdim=True) + x,
    "total": lambda t, x, y, k: x.sum(-1, keepdim=True) + x,
    "prod": lambda t, x, y, k: (x * 0.5 + 1).prod(-1, keepdim=True) * y,
    "cumsum": lambda t, x, y, k: x.cumsum(-1),
    "norm": lambda t, x, y, k: x / (1 + t.linalg.vector_norm(x, dim=-1, keepdim=True)),
    "fft": lambda t, x, y, k: t.fft.fft(x, dim=-1, norm="ortho"),
    "written": lambda t, x, y, k: _written(x, lambda c: c.mul_(2).add_(1)),
    "part written": lambda t, x, y, k: _written(
        x, lambda c: (c.real if c.is_complex() else c).mul_(3)
    ),
    "pairs written": lambda t, x, y, k: _written(
        x, lambda c: t.view_as_real(c)[..., k % 2].mul_(2) if c.is_complex() else None
    ),
    "row set": lambda t, x, y, k: _row_set(x),
}


def program(seed: int) -> list[tuple[str, float, float, int]]:
    """Names of steps, and which of the values so far each takes."""
    chance = random.Random(seed)
    names = sorted(STEPS)
    return [
        (chance.choice(names), chance.random(), chance.random(), chance.randint(0, 5))
        for _ in range(chance.randint(3, 7))
    ]


def run(t: Any, steps: list, leaves: tuple) -> tuple[Any, Any]:
    """The last value, every other one mixed in, and a real loss of it."""
    values = list(leaves)
    for name, first, second, k in steps:
        x, y = values[int(first * len(values))], values[int(second * len(values))]
        values.append(STEPS[name](t, x, y if x.shape == y.shape else x, k))
    out = values[-1] + 0 * sum(value.abs().sum() for value in values[:-1])
    return out, (out.abs() ** 2).sum() * 0.1 + (out * (1 + 0.5j)).real.sum()


def _leaves(seed: int) -> list[numpy.ndarray]:
    chance = numpy.random.RandomState(seed)
    parts = [chance.uniform(-1, 1, (3, 4)) for _ in range(5)]
    return [parts[0] + 1j * parts[1], parts[2] + 1j * parts[3], parts[4]]


def outcome(t: Any, seed: int, wrap: Callable = lambda function: function) -> list[Any]:
    """The value and the gradients of the leaves, as arrays."""
    leaves = [t.from_numpy(array.copy()).requires_grad_() for array in _leaves(seed)]
    steps = program(seed)
    out, loss = wrap(lambda *given: run(t, steps, given))(*leaves)
    found = [out.detach(), *t.autograd.grad(loss, leaves, allow_unused=True)]
    return [None if f is None else f.resolve_conj().numpy() for f in found]


def check(seeds: range, wrap: Callable = lambda function: function) -> Counter:
    """Compare programs that torch runs; how often each step was in one."""
    used: Counter = Counter()
    for seed in seeds:
        try:
            expected = outcome(torch, seed)
        except RuntimeError:
            continue  # shapes or dtypes that do not fit
        found = outcome(minitorch2, seed, wrap)
        assert found[0].dtype == expected[0].dtype, seed
        for mine, theirs in zip(found, expected, strict=True):
            if theirs is None:
                assert mine is None or not mine.any(), seed
            else:
                numpy.testing.assert_allclose(mine, theirs, 1e-6, 1e-7, err_msg=str(seed))
        used.update(name for name, *_ in program(seed))
    return used


def test_programs() -> None:
    """Two hundred of them, every step among them."""
    used = check(range(200))
    assert set(used) == set(STEPS) and sum(used.values()) > 800


@pytest.mark.slow
@pytest.mark.numba
def test_compiled_programs() -> None:
    """Compiled, each is what torch says too."""
    assert len(check(range(1000, 1020), minitorch2.compile)) > 20
