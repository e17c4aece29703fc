"""Convolutions without windows in memory equal those of windows in memory."""

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.kernels.runtime import channel_convolutions, convolutions
from minitorch2.kernels.runtime.planes import planes_source
from minitorch2.ops import convolution as row

pytestmark = pytest.mark.numba
if convolutions.shape() is None:
    pytest.skip("this CPU has no such kernels", allow_module_level=True)


def cases(count: int):
    """Settings of all kinds: groups, strides, paddings beyond the kernel, dilations."""
    chance = np.random.RandomState(7)
    for number in range(count):
        dimensions = 1 + number % 3
        most = 24 if dimensions < 3 else 11

        def pick(low, high, dimensions=dimensions):
            return tuple(int(n) for n in chance.randint(low, high, dimensions))

        sizes, kernel, stride = pick(7, most), pick(1, 4), pick(1, 4)
        padding, dilation = pick(0, 4), pick(1, 3)
        groups, into, out = int(chance.choice([1, 1, 2, 4])), *map(int, chance.randint(1, 19, 2))
        settings = zip(sizes, kernel, stride, padding, dilation, strict=True)
        places = [row.output_size(*each) for each in settings]
        if min(places) < 1:
            continue
        samples = int(chance.randint(1, 12))
        yield (samples, groups * into, *sizes), (groups * out, into, *kernel), (
            stride, padding, dilation, groups)  # fmt: skip


CASES = list(cases(90))


@pytest.fixture(autouse=True)
def nothing_is_too_little(monkeypatch):
    monkeypatch.setattr(convolutions, "LEAST_WORK", 0)


def arrays(given, kernel, how, dtype):
    """The input, the weight and a gradient of the result."""
    chance = np.random.RandomState(1)
    image, weight = (chance.randn(*shape).astype(dtype) for shape in (given, kernel))
    result = row._convolution(image, weight, *how)
    return image, weight, chance.randn(*result.shape).astype(dtype)


@pytest.fixture(params=[True, False], ids=["vectors of channels", "vectors of places"])
def kernels(request, monkeypatch):
    """Both kinds of kernels, whichever would be chosen."""
    monkeypatch.setattr(channel_convolutions, "pays", lambda rows, dtype: request.param)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("given, kernel, how", CASES, ids=str)
def test_all_three_agree_with_windows(given, kernel, how, dtype, kernels):
    image, weight, grad = arrays(given, kernel, how, dtype)
    found = [
        convolutions.convolution(image, weight, *how),
        convolutions.to_input(grad, weight, given[2:], *how),
        convolutions.to_weight(grad, image, kernel[2:], *how),
    ]
    wanted = [
        row._convolution(image, weight, *how),
        row._to_input(grad, weight, given[2:], *how),
        row._to_weight(grad, image, kernel[2:], *how),
    ]
    tolerance = 1e-4 if dtype == "f4" else 1e-11
    for ours, theirs in zip(found, wanted, strict=True):
        assert ours.shape == theirs.shape and ours.dtype == theirs.dtype
        scale = max(np.abs(theirs).max(), 1.0)
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale)


@pytest.mark.parametrize("samples", [1, 9])
def test_the_bits_do_not_depend_on_threads(monkeypatch, kernels, samples):
    how = ((1, 1), (1, 1), (1, 1), 1)
    image, weight, grad = arrays((samples, 12, 40, 40), (40, 12, 3, 3), how, "f4")
    found = []
    for threads in (1, 2, 3):
        monkeypatch.setattr(config, "threads", threads)
        results = (
            convolutions.convolution(image, weight, *how),
            convolutions.to_input(grad, weight, (40, 40), *how),
            convolutions.to_weight(grad, image, (3, 3), *how),
        )
        found.append([each.tobytes() for each in results])
    assert found[0] == found[1] == found[2]


def test_few_rows_of_a_group_are_vectors_of_places():
    lanes = convolutions.shape().lanes("f32")
    assert channel_convolutions.pays(lanes, np.dtype("f4"))
    assert channel_convolutions.pays(4 * lanes + 1, np.dtype("f4"))
    assert not channel_convolutions.pays(1, np.dtype("f4"))


@pytest.mark.parametrize("how", [
    ((1, 1), (1, 1), (1, 1), 1), ((2, 2), (1, 1), (1, 1), 1), ((1, 1), (0, 0), (2, 2), 2),
], ids=str)  # fmt: skip
def test_large_planes_are_cut_into_bands(how):
    """Planes that no cache holds, in bands whose windows overlap."""
    image, weight, grad = arrays((2, 48 * how[3], 50, 61), (32 * how[3], 48, 3, 3), how, "f8")
    np.testing.assert_allclose(
        channel_convolutions.convolution(image, weight, *how),
        row._convolution(image, weight, *how), rtol=1e-10, atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(
        channel_convolutions.to_input(grad, weight, (50, 61), *how),
        row._to_input(grad, weight, (50, 61), *how), rtol=1e-10, atol=1e-9)  # fmt: skip
    np.testing.assert_allclose(
        channel_convolutions.to_weight(grad, image, (3, 3), *how),
        row._to_weight(grad, image, (3, 3), *how), rtol=1e-10, atol=1e-9)  # fmt: skip


def test_infinities_reach_what_they_meet_and_nothing_else():
    """A corner meets one element of the kernel only where the window leaves it."""
    how = ((1, 1), (1, 1), (1, 1), 1)
    image, weight, grad = arrays((2, 3, 20, 20), (4, 3, 3, 3), how, "f4")
    image[0, 1, 5, 19] = np.inf
    assert convolutions.to_weight(grad, image, (3, 3), *how) is None
    with np.errstate(invalid="ignore"):
        found = row.lookup("convolution_to_weight").eager(grad, image, (3, 3), *how)
        wanted = row._to_weight(grad, image, (3, 3), *how)
        np.testing.assert_array_equal(np.isfinite(found), np.isfinite(wanted))
        places = convolutions.convolution(image, weight, *how)
        np.testing.assert_array_equal(
            np.isfinite(places), np.isfinite(row._convolution(image, weight, *how)))  # fmt: skip


def test_operands_in_any_order_of_memory():
    how = ((2, 1), (1, 0), (1, 1), 1)
    image, weight, _ = arrays((3, 6, 20, 18), (5, 6, 3, 2), how, "f4")
    turned = np.ascontiguousarray(image.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    same = convolutions.convolution(turned, np.asfortranarray(weight), *how)
    assert same.tobytes() == convolutions.convolution(image, weight, *how).tobytes()


def test_little_work_and_other_types_are_left_to_numpy(monkeypatch):
    monkeypatch.setattr(convolutions, "LEAST_WORK", 10)
    how = ((1,), (0,), (1,), 1)
    assert (
        convolutions.convolution(np.ones((1, 1, 9), "f4"), np.ones((1, 1, 3), "f4"), *how) is None
    )
    assert convolutions.convolution(np.ones((9, 9, 9)), np.ones((9, 9, 3)), *how) is not None
    assert convolutions.convolution(
        np.ones((9, 9, 9), "i8"), np.ones((9, 9, 3), "i8"), *how) is None  # fmt: skip


@pytest.mark.parametrize("dimensions, near", [(2, True), (2, False), (3, True), (1, False)])
def test_planes_source_runs_as_plain_python(dimensions, near):
    from minitorch2.kernels.runtime.compile import plain_kernel

    planes = convolutions.Planes(
        (5, 6, 7)[-dimensions:], (2, 3, 1 if near else 2)[-dimensions:], (2, 2, 1)[-dimensions:],
        (1, -1, 2)[-dimensions:], (4, 3, 9)[-dimensions:],
    )  # fmt: skip
    image = np.random.RandomState(0).randn(2, 3, *planes.sizes).astype("f4")
    numbers = (*planes.sizes, *planes.step, *planes.remainders, *planes.front, *planes.lengths)
    result = np.full(6 * planes.channel, np.nan, "f4")
    words = [number % 2**64 for number in numbers]
    run = plain_kernel(planes_source("f32", dimensions, near))
    run(result.size // planes.lengths[-1], (image.reshape(-1), result), words)
    assert result.tobytes() == planes.made(image, 0).tobytes()
