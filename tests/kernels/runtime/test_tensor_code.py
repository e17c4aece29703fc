"""Arrays out of tensors and tensors around arrays: what the Python functions do, natively."""

import sys

import numpy as np
import pytest

import minitorch2 as torch
from minitorch2.dtypes import float32
from minitorch2.kernels import host
from minitorch2.kernels.runtime import built_in
from minitorch2.kernels.runtime import pool as threads
from minitorch2.layouts import row_major
from minitorch2.storages import Storage
from minitorch2.tensors import Tensor, fresh

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(
        not (threads.supported() and built_in.supported()), reason="no native functions here"
    ),
]


@pytest.fixture(params=["native", "python"])
def names(request):
    """What a host function calls, native and in Python."""
    if request.param == "native":
        return host.host_names()
    return {"arrays": host.arrays, "tensor": host.tensor}


class Named(Tensor):
    """A tensor of a class of the user's own."""


def given():
    base = torch.arange(12.0).reshape(3, 4)
    named = Named([1.0, 2.0])
    return {
        "plain": base,
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "transposed": base.t(),
        "a part": base[1:, 1:],
        "expanded": torch.ones(1).expand(4),
        "zero-dimensional": torch.tensor(2.0),
        "empty": torch.empty(0, 3),
        "without an array yet": Tensor(base.storage, row_major((12,)), float32),
        "transposed, without an array": Tensor(base.storage, base.t().layout, float32),
        "of a class of its own": named,
        "bfloat16": torch.ones(3, dtype=torch.bfloat16),
    }


@pytest.mark.parametrize("name", given())
@pytest.mark.parametrize("letter", ["r", "s"])
def test_the_arrays_of_tensors(names, name, letter):
    tensor = given()[name]
    [array] = names["arrays"]([tensor], letter.encode())
    assert type(array) is np.ndarray and (array == tensor.detach().numpy()).all()
    assert array.flags.c_contiguous or letter == "s"
    if letter == "s" or tensor.is_contiguous():
        assert np.shares_memory(array, tensor.detach().numpy()) or array.size == 0


def test_other_items_come_as_they_are(names):
    things = [3, 2.5, torch.ones(2), None, True]
    found = names["arrays"](things, b"nnrnn")
    assert type(found) is tuple and found[:2] == (3, 2.5) and found[3:] == (None, True)
    assert names["arrays"]([], b"") == ()


def test_every_reference_is_counted(names):
    tensor, number = torch.ones(5), object()
    array = tensor.array
    before = sys.getrefcount(array), sys.getrefcount(number), sys.getrefcount(tensor)
    for _ in range(100):
        names["arrays"]([tensor, number], b"rn")
    assert (sys.getrefcount(array), sys.getrefcount(number), sys.getrefcount(tensor)) == before


@pytest.mark.parametrize(
    "arguments",
    [(), ([],), ([1], b"r"), ([1, 2], b"n"), ((1,), b"n"), ([None], b"s"), (None, b"")],
)
def test_bad_calls_of_arrays_are_refused(arguments):
    with pytest.raises((TypeError, AttributeError)):
        host.host_names()["arrays"](*arguments)


def test_a_refused_item_leaves_no_reference_behind():
    tensor = torch.ones(5)
    array = tensor.array
    before = sys.getrefcount(array)
    for _ in range(10):
        with pytest.raises(TypeError):
            host.host_names()["arrays"]([tensor, "no tensor"], b"rr")
    assert sys.getrefcount(array) == before


def test_a_made_tensor_is_one_as_any_other(names):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    made = names["tensor"](array, row_major((2, 3)), float32, array.nbytes)
    wanted = fresh(array, float32, torch.device("cpu"))
    for kind, one, other in ((Tensor, made, wanted), (Storage, made.storage, wanted.storage)):
        assert type(one) is kind
        for slot in kind.__slots__:
            if slot not in ("storage", "__dict__", "__weakref__"):
                assert getattr(one, slot) is getattr(other, slot) or (
                    getattr(one, slot) == getattr(other, slot)), slot  # fmt: skip
    assert made.array is array and made.__dict__ == {}
    made.mark = 1
    made.requires_grad_()
    (made * 2).sum().backward()
    assert made.grad.tolist() == [[2.0] * 3] * 2


def test_made_tensors_die(names):
    array = np.zeros(4, np.float32)
    layout = row_major((4,))
    before = sys.getrefcount(array), sys.getrefcount(layout), sys.getrefcount(float32)
    for _ in range(100):
        names["tensor"](array, layout, float32, 16)
    assert (sys.getrefcount(array), sys.getrefcount(layout), sys.getrefcount(float32)) == before


@pytest.mark.parametrize("arguments", [(), (1, 2, 3)])
def test_bad_calls_of_tensor_are_refused(arguments):
    with pytest.raises(TypeError):
        host.host_names()["tensor"](*arguments)
