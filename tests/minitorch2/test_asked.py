"""An error names the operation that the user called, not one inside of it, and no defaults."""

import copy
import pickle

import pytest

import minitorch2 as torch

F = torch.nn.functional
LEAF = torch.ones(2, requires_grad=True)
CALLS = {
    "cross_entropy(f32[2,5], i64[2])": lambda: F.cross_entropy(
        torch.ones(2, 5), torch.tensor([0, 7])
    ),
    "cross_entropy(f32[2,5], i64[3])": lambda: F.cross_entropy(
        torch.ones(2, 5), torch.tensor([0, 1, 2])
    ),
    "nll_loss(f32[2,5], i64[2])": lambda: F.nll_loss(torch.ones(2, 5), torch.tensor([0, 7])),
    "embedding(i64[1], f32[3,4])": lambda: torch.nn.Embedding(3, 4)(torch.tensor([5])),
    "sum(f32[3], [2])": lambda: torch.ones(3).sum(2),
    "softmax(f32[3], 2)": lambda: F.softmax(torch.ones(3), 2),
    "add_(f32[2], 1)": lambda: LEAF.add_(1),
    "add(f32[3], f32[4])": lambda: torch.ones(3) + torch.ones(4),
    "add(f32[3], f32[4], alpha=2)": lambda: torch.add(torch.ones(3), torch.ones(4), alpha=2),
    "sub(f32[3], f32[4])": lambda: torch.ones(3) - torch.ones(4),
}


@pytest.mark.parametrize("asked", CALLS)
def test_the_users_call_is_named(asked):
    with pytest.raises(torch.errors.Mt2Error) as caught:
        CALLS[asked]()
    assert caught.value.asked == asked
    assert __file__ in str(caught.value)


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("asked", ["sum(f32[3], [2])", "add(f32[3], f32[4])", "softmax(f32[3], 2)"])
def test_a_compiled_function_names_the_same(asked, backend):
    with pytest.raises(torch.errors.Mt2Error) as caught:
        torch.compile(CALLS[asked], backend=backend)()
    assert caught.value.asked == asked


def test_a_name_that_is_not_there_names_the_nearest():
    with pytest.raises(AttributeError, match="has no attribute 'sigmiod'. Did you mean: 'sigmoid'"):
        torch.sigmiod  # noqa: B018
    with pytest.raises(AttributeError) as caught:
        torch.nothing_is_like_this_one  # noqa: B018
    assert str(caught.value).endswith("'nothing_is_like_this_one'")
    assert str(copy.copy(caught.value)) == str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert not hasattr(torch, "sigmiod") and getattr(torch, "sigmiod", 3) == 3


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "model.pt").write_bytes(b"hello")
    with pytest.raises(torch.errors.SerializationError, match="model.pt"):
        torch.load(tmp_path / "model.pt")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"numerics": "fats"}, "use one of .*; nearest is 'fast'"),
        ({"numerics": "fats"}, "no such numerics: 'fats'"),
        ({"activation_memory_budget": 2}, "no such memory budget: 2"),
    ],
)
def test_an_option_out_of_range_is_named_alone(options, said):
    with pytest.raises(torch.errors.ArgumentValueError, match=said):
        torch.compile(lambda x: x, options=options)
