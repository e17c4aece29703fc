"""Updates of several tensors in one pass: the bits of tensor operations, and who has to do them."""

import numpy
import pytest

import minitorch2 as torch
from minitorch2.backends.update_kernels import UpdateKernel, blended
from minitorch2.config import config

pytestmark = pytest.mark.numba
SETTINGS = [
    {}, {"weight_decay": 0.1}, {"betas": (0.3, 0.4), "lr": 0.1}, {"betas": (0.0, 0.5)},
    {"maximize": True, "eps": 1e-3}, {"amsgrad": True},
]  # fmt: skip


def trained(name, settings, dtype, shape):
    """A parameter and its state after some steps, as bytes."""
    rng = numpy.random.default_rng(0)
    parameter = torch.nn.Parameter(torch.from_numpy(rng.standard_normal(shape).astype(dtype)))
    optimizer = getattr(torch.optim, name)([parameter], **settings)
    for _ in range(3):
        parameter.grad = torch.from_numpy(rng.standard_normal(shape).astype(dtype))
        optimizer.step()
    values = optimizer.state[parameter].values()
    return [each.detach().numpy().tobytes() for each in (parameter, *values)]


@pytest.mark.parametrize("shape", [(0, 3), (1,), (33, 7), (40_001,)], ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("name", ["Adam", "AdamW"])
def test_the_bits_of_tensor_operations(name, settings, dtype, shape, monkeypatch):
    found = trained(name, settings, dtype, shape)
    monkeypatch.setattr(config, "primitives", "numpy")
    assert found == trained(name, settings, dtype, shape)


@pytest.fixture
def halves():
    return UpdateKernel(("x",), ("y",), ("w",), (blended("x", "y", "w", True),))


def test_it_writes_and_counts_the_write(halves):
    x, y = torch.zeros(5), torch.full((5,), 4.0)
    version = x._version
    with torch.no_grad():
        assert halves((x, y), (0.5,))
    assert x.tolist() == [2.0] * 5 and y.tolist() == [4.0] * 5
    assert x._version == version + 1 and y._version == 0


OTHERS = {
    "autograd may record": lambda: ((torch.zeros(4), torch.ones(4)), torch.enable_grad),
    "half precision": lambda: ((torch.zeros(4).half(), torch.ones(4).half()), torch.no_grad),
    "two dtypes": lambda: ((torch.zeros(4), torch.ones(4).double()), torch.no_grad),
    "two shapes": lambda: ((torch.zeros(4), torch.ones(1)), torch.no_grad),
    "another order": lambda: ((torch.zeros(4, 3).t(), torch.ones(3, 4)), torch.no_grad),
    "shared memory": lambda: ((torch.zeros(8)[:4],) * 2, torch.no_grad),
    "no memory": lambda: ((torch.zeros(4, device="meta"),) * 2, torch.no_grad),
}


@pytest.mark.parametrize("case", OTHERS)
def test_other_tensors_are_left_to_tensor_operations(case, halves):
    tensors, scope = OTHERS[case]()
    with scope():
        assert not halves(tensors, (0.5,))


def test_a_captured_step_is_made_of_operations():
    """The compiler sees the operations, not a kernel it cannot fuse."""
    parameter = torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.AdamW([parameter], lr=0.1)
    other = torch.nn.Parameter(torch.ones(3))
    eager = torch.optim.AdamW([other], lr=0.1)

    @torch.compile(fullgraph=True)
    def step():
        (parameter * parameter).sum().backward()
        optimizer.step()

    for _ in range(2):
        parameter.grad = other.grad = None
        step()
        (other * other).sum().backward()
        eager.step()
    numpy.testing.assert_allclose(parameter.detach().numpy(), other.detach().numpy(), rtol=1e-6)
