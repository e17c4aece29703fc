"""A size is 0 or more: one message from all that makes a tensor, eager and compiled."""

import pytest

import minitorch2 as torch

WAYS = {
    "zeros": lambda x: torch.zeros(2, -x.shape[0]),
    "ones": lambda x: torch.ones((2, -x.shape[0])),
    "empty": lambda x: torch.empty(2, -x.shape[0]),
    "full": lambda x: torch.full((2, -x.shape[0]), 7),
    "rand": lambda x: torch.rand(2, -x.shape[0]),
    "randn": lambda x: torch.randn(2, -x.shape[0]),
    "randint": lambda x: torch.randint(0, 5, (2, -x.shape[0])),
    "new_zeros": lambda x: x.new_zeros(2, -x.shape[0]),
    "new_full": lambda x: x.new_full((2, -x.shape[0]), 3),
    "complex": lambda x: torch.randn(2, -x.shape[0], dtype=torch.complex64),
}


@pytest.mark.parametrize("backend", [None, "interpreter", "numba"])
@pytest.mark.parametrize("name", WAYS)
def test_negative_sizes(name, backend):
    fn = torch.compile(WAYS[name], backend=backend) if backend else WAYS[name]
    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match=r"negative dimension -3: \[2, -3\]"):
        fn(torch.ones(3))
    assert torch.get_rng_state().tolist() == before.tolist()


@pytest.mark.parametrize("name", ["zeros", "rand", "randn"])
def test_no_elements(name):
    assert getattr(torch, name)(0, 3).shape == (0, 3)
