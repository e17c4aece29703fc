"""topk of long rows beside the first elements of their whole stable order."""

import numpy
import pytest

import minitorch2 as torch

SHAPES = {(1000,): 0, (3, 700): 1, (600, 5): 0, (2, 900, 3): 1, (4, 333): -1, (1, 128): -1}
KINDS = ("spread", "ties", "constant", "few_nans", "many_nans", "infinite", "sorted")
DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int8", "uint8")


def filled(shape, kind, dtype):
    """Numbers of a kind; what integers lack is left out of theirs."""
    random = numpy.random.RandomState(len(kind))
    values = random.uniform(0, 100, shape)
    if kind == "ties":
        values = random.randint(0, 4, shape).astype(float)
    elif kind == "constant":
        values = numpy.full(shape, 7.0)
    elif kind == "sorted":
        values = numpy.sort(values.ravel()).reshape(shape)
    elif "int" not in dtype:
        special = {"few_nans": (numpy.nan, 0.004), "many_nans": (numpy.nan, 0.5)}
        number, share = special.get(kind, (numpy.inf, 0.02))
        values[random.uniform(size=shape) < share] = number if kind != "spread" else 1.0
    return torch.tensor(values).to(getattr(torch, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("largest", [True, False])
def test_the_first_elements_of_the_order(kind, dtype, largest):
    for shape, dim in SHAPES.items():
        x = filled(shape, kind, dtype)
        values, places = x.sort(dim, descending=largest, stable=True)
        for count in (1, 3, 16):
            found = x.topk(count, dim, largest)
            assert torch.equal(found.indices, places.narrow(dim, 0, count)), (shape, count)
            wanted = values.narrow(dim, 0, count)
            same = found.values == wanted
            assert (same | found.values.isnan() & wanted.isnan()).all(), (shape, count)
            assert found.values.is_contiguous() and found.indices.is_contiguous()


def test_gradients_reach_the_chosen_elements():
    x = torch.arange(1000.0).reshape(2, 500).requires_grad_()
    (x.topk(3, 1, largest=False)[0] * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    assert x.grad[:, :4].tolist() == [[1.0, 2.0, 3.0, 0.0]] * 2
    assert x.grad.sum().item() == 12.0
