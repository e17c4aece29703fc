"""How tensors print, beside torch."""

from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

NAN, INF = float("nan"), float("inf")
VALUES: list[Any] = [
    1.5,
    3,
    True,
    [],
    [[]],
    [1.0, 2.0, 3.0],
    [1, -20, 300],
    [True, False],
    [0.1, 0.22222222, 100.5],
    [1e-5, 1.0],
    [1e10, 1.0],
    [1e8, 2e8],
    [1e9, 2.0],
    [0.00001],
    [12345.678, 0.001],
    [1000.5, 1.0],
    [1001.0, 1.5],
    [NAN, 1.0],
    [INF, -INF, 2.5],
    [NAN, NAN],
    [-0.0, 0.0],
    [1e-40, 1.0],
    [[1.0, 2.0], [3.5, -4.25]],
    [[[1, 2], [3, 4]], [[5, 6], [7, 8]]],
    [123456789, 1],
    [1.0, 10000000.0],
    [99999.0, 0.5],
    list(range(1001)),
    [x / 7 for x in range(50)],
    [[float(x * y) for x in range(60)] for y in range(60)],
    [[x * y for x in range(30)] for y in range(3)],
]


@pytest.mark.parametrize("value", VALUES, ids=lambda v: repr(v)[:40])
def test_repr(value: Any) -> None:
    """The text of repr for default dtypes."""
    assert repr(minitorch2.tensor(value)) == repr(torch.tensor(value))


COMPLEX: list[Any] = [
    1 + 2j,
    -1.5 - 0.25j,
    [1 + 2j, 3 - 1j],
    [[0.1 + 100j, 2j], [1e-5 - 1j, 3.0 + 0j]],
    [complex(NAN, INF), complex(-INF, 1), 1j],
    [complex(0.0, -0.0), complex(-0.0, 0.0)],
    [1e10 + 1j, 1 + 1e-8j],
    [],
    [x / 7 - 1j * x for x in range(50)],
    [1j * x for x in range(1001)],
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("value", COMPLEX, ids=lambda v: repr(v)[:40])
def test_repr_of_complex(value: Any, dtype: str) -> None:
    """Each part has a format of its own."""
    ours = minitorch2.tensor(value, dtype=getattr(minitorch2, dtype))
    assert repr(ours) == repr(torch.tensor(value, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("value", [[], [1.0, 2.0], [[0.1, 100.0]], 3.0, [0.001, 12.0]], ids=repr)
def test_repr_of_dtypes(value: Any, dtype: str) -> None:
    """The tail names what is not usual."""
    ours = minitorch2.tensor(value, dtype=getattr(minitorch2, dtype))
    assert repr(ours) == repr(torch.tensor(value, dtype=getattr(torch, dtype)))


@pytest.mark.parametrize(
    "make",
    [
        lambda t: t.zeros(0, 3),
        lambda t: t.zeros(2, 0, dtype=t.int64),
        lambda t: t.ones(2, requires_grad=True),
        lambda t: t.ones(2, requires_grad=True) * 2,
        lambda t: t.ones(2, requires_grad=True).double(),
        lambda t: t.ones(2, 3, requires_grad=True).t(),
        lambda t: t.ones(2, 2).t(),
        lambda t: t.ones(3, device="meta"),
        lambda t: t.arange(24.0).reshape(2, 3, 4) / 3,
        lambda t: t.zeros(20, 20, 20),
        lambda t: t.ones(2).shape,
        lambda t: t.float32,
        lambda t: t.device("cpu"),
    ],
)
def test_repr_of_others(make: Any) -> None:
    """Empty tensors, histories, views, sizes, dtypes, devices."""
    ours, theirs = repr(make(minitorch2)), repr(make(torch))
    assert ours.split("grad_fn")[0] == theirs.split("grad_fn")[0]
    assert ("grad_fn" in ours) == ("grad_fn" in theirs)


@pytest.mark.parametrize("seed", range(20))
def test_repr_of_random_numbers(seed: int) -> None:
    """Magnitudes of all kinds."""
    random = numpy.random.RandomState(seed)
    array = random.randn(*random.randint(1, 9, 2)) * 10.0 ** random.randint(-6, 9)
    ours, theirs = minitorch2.from_numpy(array), torch.from_numpy(array)
    assert repr(ours) == repr(theirs)
    assert repr(ours.float()) == repr(theirs.float())
    assert f"{ours.sum():.3f}" == f"{theirs.sum():.3f}"
