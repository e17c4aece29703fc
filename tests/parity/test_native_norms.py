"""torch.native_layer_norm and its like: results, statistics and gradients beside torch's."""

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402


def tensor(t, *shape, seed=0):
    """Numbers which require gradients."""
    return numbers(t, *shape, seed=seed, low=0.5, high=2.5, dtype="float64").requires_grad_()


def scales(t, kind, *shape):
    return (
        (None, None) if kind == "bare" else (tensor(t, *shape, seed=1), tensor(t, *shape, seed=2))
    )


def layer(t, kind, x):
    size = [6, 5] if kind == "two" else [5]
    given = scales(t, kind, *size)
    return t.native_layer_norm(x, size, *given, 1e-3), given


def group(t, kind, x):
    given = scales(t, kind, 6)
    return t.native_group_norm(x, *given, 4, 6, 5, 2 if kind == "two" else 3, 1e-3), given


def batch(t, kind, x):
    """Trained, or for kind 'two' not; the running statistics are written."""
    given = scales(t, kind, 6)
    running = tensor(t, 6, seed=3).detach(), tensor(t, 6, seed=4).detach()
    found = t.native_batch_norm(x, *given, *running, kind != "two", 0.1, 1e-3)
    return (*found, *running), given


def without_running(t, kind, x):
    given = scales(t, kind, 6)
    return t.native_batch_norm(x, *given, None, None, True, 0.1, 1e-3), given


@pytest.mark.parametrize("function", [layer, group, batch, without_running])
@pytest.mark.parametrize("kind", ["usual", "two", "bare"])
def test_results_and_gradients(function, kind):
    """Over one or two dimensions, with and without scales, trained and not."""

    def program(t):
        x = tensor(t, 4, 6, 5)
        results, given = function(t, kind, x)
        loss = sum((each**2).sum() for each in results if each.requires_grad and each.numel())
        leaves = [each for each in (x, *given) if each is not None]
        # what has no elements in torch cannot be asked whether it requires gradients
        parts = [each if each.numel() else each.detach() for each in results]
        return parts, t.autograd.grad(loss, leaves)

    check(program, 1e-13)


SIZES = [(1, 3), (0, 3), (0, 3, 2), (2, 3, 0), (2, 0), (2, 3)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("training", [True, False])
def test_batches_of_one_and_of_nothing(size, training):
    """One value a channel has no unbiased variance; nothing has no statistics to train on."""

    def statistics(t):
        return t.zeros(size[1]), t.ones(size[1])

    def native(t):
        running = statistics(t)
        found = t.native_batch_norm(t.ones(size), None, None, *running, training, 0.1, 1e-3)
        return *found, *running

    def usual(t):
        running = statistics(t)
        return t.nn.functional.batch_norm(t.ones(size), *running, training=training), *running

    check(native)
    check(usual)


@pytest.mark.parametrize("wanted", [None, "float32", "bfloat16"])
def test_statistics_have_the_dtype_of_the_parameters(wanted):
    def parts(t, wide=False):
        x = numbers(t, 4, 3, 2).bfloat16()
        scale = None if wanted is None else t.ones(3, dtype=getattr(t, wanted))
        if wide:
            x, scale = x.double(), scale if scale is None else scale.double()
        return t.native_batch_norm(x, scale, scale, None, None, True, 0.1, 1e-3)

    def program(t):
        return [(str(each.dtype), each.float()) for each in parts(t)]

    # torch rounds what is between: up to the last bit of bfloat16
    check(program, 1e-6 if wanted == "float32" else 2**-7)
    for mine, exact in zip(parts(minitorch2), parts(torch, wide=True), strict=True):
        rounded = exact.to(getattr(torch, str(mine.dtype).removeprefix("torch.")))
        close = torch.isclose(torch.tensor(mine.tolist()), rounded.float(), 1e-6, 0)
        assert close.all(), (mine, rounded)


def test_constant_pad_nd():
    """pad by another name; negative sizes cut off."""
    for pad, value in (([1, 2], 0), ([-1, 2, 0, 1], 3.5)):
        check(lambda t, pad=pad, value=value: t.constant_pad_nd(tensor(t, 2, 4), pad, value))
