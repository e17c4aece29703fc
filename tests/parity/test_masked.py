"""torch.masked beside torch's: every function, masks of several shapes, dtypes, all left out."""

import pytest

torch = pytest.importorskip("torch")

from minitorch2 import masked  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402

SEVERAL = ("sum", "prod", "amax", "amin", "mean", "norm", "var", "std", "logsumexp")
ALONG = ("cumsum", "cumprod", "softmax", "log_softmax", "softmin", "median")
PLACES = ("argmax", "argmin")
MASKS = ("none", "whole", "column", "row", "nothing")
INTEGERS = {
    "sum", "prod", "amax", "amin", "cumsum", "cumprod", "argmax", "argmin", "var", "std", "median",
}  # fmt: skip
CLOSE = {"float64": 1e-13}  # else single precision


def values(t, dtype):
    """12 numbers as [3, 4]; those of floating dtypes require gradients."""
    x = (t.arange(12) * 7 % 12 - 5).reshape(3, 4).to(getattr(t, dtype))
    return x.requires_grad_() if x.dtype.is_floating_point else x


def mask_of(t, kind):
    """A mask that broadcasts to [3, 4]."""
    if kind == "none":
        return None
    whole = (t.arange(12) % 3 != 0).reshape(3, 4)
    parts = {"whole": whole, "column": whole[:, :1], "row": whole[0], "nothing": whole & False}
    return parts[kind]


def compare(function, given, kind, *args, wanted=None, zeros=False, **how):
    """The result of a tensor of one dtype, perhaps in another, and the gradient of its sum.

    `zeros`: the gradient is zero, which torch says by giving none.
    """

    def program(t):
        x, dtype = values(t, given), wanted and getattr(t, wanted)
        result = getattr(t.masked, function)(x, *args, **how, dtype=dtype, mask=mask_of(t, kind))
        if result.requires_grad:
            result.sum().backward()
        nothing = zeros and (x.grad is None or not x.grad.any())
        return result, None if nothing else x.grad

    check(program, CLOSE.get(given, 1e-6))


@pytest.mark.parametrize("function", SEVERAL)
def test_reductions(function):
    """Over all dimensions, one, several, kept or not."""
    given = (2.0,) if function == "norm" else ()
    for kind in MASKS:
        for dtype in ("float32", "float64", *(["int32"] if function in INTEGERS else [])):
            compare(function, dtype, kind, *given)
            compare(function, dtype, kind, *given, 1, keepdim=True)
            compare(function, dtype, kind, *given, (0, -1))
            compare(function, dtype, kind, *given, ())


@pytest.mark.parametrize("function", [*ALONG, *PLACES])
def test_along_one_dimension(function):
    """Running sums, softmax, medians and the places of extrema."""
    for kind in MASKS:
        for dim in (0, -1, 2):
            compare(function, "float64", kind, dim)
        if function in INTEGERS:
            compare(function, "int32", kind, 1)
            compare(function, "uint8", kind, 0)


@pytest.mark.parametrize("function", ALONG)
def test_of_several_dimensions_the_first_is_meant(function):
    for dim in ((1, 0), (1,), (-1, -2), (), None):
        compare(function, "float64", "whole", dim)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("given", ["float16", "float32", "int64", "bool", "complex64"])
def test_medians_of_other_dtypes(given):
    """Compared as floating point numbers, given back in what was asked."""
    for kind in MASKS:
        for wanted in (None, "float64", "int16", "bool"):
            compare("median", given, kind, 1, keepdim=True, wanted=wanted)
    check(lambda t: t.masked.median(t.tensor([[1.0, float("nan"), 2, 3]]), 1))
    check(lambda t: t.masked.median(t.zeros(0, 3), 0))


@pytest.mark.parametrize("order", [0, 1, 2, 3, float("inf"), float("-inf")])
def test_orders_of_norms(order):
    """Also those whose smallest element decides."""
    for kind in ("none", "whole", "column"):
        compare("norm", "float64", kind, order, 1, zeros=order == 0)
        if order > 0:
            compare("normalize", "float64", kind, order, 1)


def test_corrections():
    """unbiased and correction; both at once are refused."""
    for how in ({"unbiased": False}, {"correction": 2}, {"correction": 0}):
        compare("var", "float64", "whole", 1, **how)
        compare("std", "float64", "whole", 1, **how)
    check(lambda t: t.masked.var(t.ones(3), 0, True, correction=1))


@pytest.mark.parametrize("first", MASKS)
def test_logaddexp(first):
    """Two tensors, each with a mask."""

    def program(t):
        x, y = numbers(t, 3, 4), numbers(t, 3, 4, seed=1)
        masks = {"input_mask": mask_of(t, first), "other_mask": mask_of(t, "whole")}
        return t.masked.logaddexp(x, y, **masks)

    check(program, 1e-6)


def test_every_function_is_tested():
    """A function that is published stands in one of the lists."""
    assert set(masked.__all__) == {*SEVERAL, *ALONG, *PLACES, "normalize", "logaddexp"}
