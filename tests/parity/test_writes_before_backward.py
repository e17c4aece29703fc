"""What may be written between a forward and its backward: all that torch lets one write.

Every row that eager runs as one program, for tensors below and above the size from which it does,
and each of its operands and its result: where torch allows the write, so do we, with torch's
gradients. Where torch's row keeps its result (or what it was given), the write is refused by both.
"""

from collections.abc import Callable
from typing import Any

import pytest
import torch

import minitorch2 as ours
from tests.kernels.test_eager_composites import WHOLE

Call = Callable[..., Any]
SIZES = (16, 2048)  # rows of 8: below and above the size of a program

CALLS: dict[str, list[Call]] = {
    "softmax": [lambda F, x, y, w, b: F.softmax(x, -1), lambda F, x, y, w, b: x.softmax(0)],
    "log_softmax": [lambda F, x, y, w, b: F.log_softmax(x, 1)],
    "gelu": [lambda F, x, y, w, b: F.gelu(x), lambda F, x, y, w, b: F.gelu(x, approximate="tanh")],
    "silu": [lambda F, x, y, w, b: F.silu(x)],
    "leaky_relu": [lambda F, x, y, w, b: F.leaky_relu(x)],
    "elu": [lambda F, x, y, w, b: F.elu(x)],
    "softplus": [lambda F, x, y, w, b: F.softplus(x)],
    "logsigmoid": [lambda F, x, y, w, b: F.logsigmoid(x)],
    "hardtanh": [lambda F, x, y, w, b: F.hardtanh(x)],
    "relu6": [lambda F, x, y, w, b: F.relu6(x)],
    "normalize": [lambda F, x, y, w, b: F.normalize(x)],
    "layer_norm": [
        lambda F, x, y, w, b: F.layer_norm(x, (8,), w, b),
        lambda F, x, y, w, b: F.layer_norm(x, (8,)),
    ],
    "rms_norm": [lambda F, x, y, w, b: F.rms_norm(x, (8,), w)],
    "group_norm": [lambda F, x, y, w, b: F.group_norm(x, 2, w, b)],
    "channel_norm": [
        lambda F, x, y, w, b: F.batch_norm(x, w.detach() * 1, b.detach() * 1, w, b, False)
    ],
    "batch_statistics_norm": [
        lambda F, x, y, w, b: F.batch_norm(x, None, None, w, b, True),
        lambda F, x, y, w, b: F.batch_norm(x, None, None, None, b, True),
    ],
    "embedding": [lambda F, x, y, w, b: F.embedding(y.argmax(1), x, 2)],
}
CALLS |= {
    "sum": [lambda F, x, y, w, b: x.sum(-1)],
    "prod": [lambda F, x, y, w, b: x.prod(-1)],
    "amax": [lambda F, x, y, w, b: x.amax(-1)],
    "amin": [lambda F, x, y, w, b: x.amin(-1)],
    "var": [lambda F, x, y, w, b: x.var(-1)],
    "std": [lambda F, x, y, w, b: x.std(-1)],
    "norm": [lambda F, x, y, w, b: x.norm(), lambda F, x, y, w, b: x.norm(3, -1)],
    "logsumexp": [lambda F, x, y, w, b: x.logsumexp(-1)],
    "attention": [lambda F, x, y, w, b: F.scaled_dot_product_attention(x, y, x * y)],
    "cross_entropy": [
        lambda F, x, y, w, b: F.cross_entropy(x, y.argmax(1)),
        lambda F, x, y, w, b: F.cross_entropy(x, y.argmax(1), label_smoothing=0.1),
        lambda F, x, y, w, b: F.cross_entropy(x, y.detach(), reduction="none"),
    ],
    "mse_loss": [lambda F, x, y, w, b: F.mse_loss(x, y)],
    "l1_loss": [
        lambda F, x, y, w, b: F.l1_loss(x, y),
        lambda F, x, y, w, b: F.l1_loss(x, y, reduction="none"),
    ],
    "smooth_l1_loss": [lambda F, x, y, w, b: F.smooth_l1_loss(x, y)],
    "binary_cross_entropy": [lambda F, x, y, w, b: F.binary_cross_entropy(x, y.detach())],
    "binary_cross_entropy_with_logits": [
        lambda F, x, y, w, b: F.binary_cross_entropy_with_logits(x, y.detach())
    ],
}
INNER = {"softmax_backward", "log_softmax_backward"}  # rows that only derivatives call
KEEP_RESULT = ("softmax", "log_softmax")


def outcome(module: Any, call: Call, rows: int, written: str) -> Any:
    """The gradients after a write into one of x, y, w, b or the result; 'refused' otherwise."""
    start = torch.Generator().manual_seed(rows)
    shapes = {"x": (rows, 8), "y": (rows, 8), "w": (8,), "b": (8,)}
    values = {
        name: torch.rand(shape, generator=start, dtype=torch.float64) * 0.8 + 0.1
        for name, shape in shapes.items()
    }
    leaves = {name: module.tensor(value.numpy()).requires_grad_() for name, value in values.items()}
    given = {name: leaf * 1 for name, leaf in leaves.items()}
    result = call(module.nn.functional, *given.values())
    weights = torch.rand(tuple(result.shape), generator=start, dtype=torch.float64).numpy()
    target = result if written == "result" else given[written]
    target.add_(1)
    try:
        module.autograd.backward(result, module.tensor(weights))
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        return "refused"
    return [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves.values()]


def test_every_whole_row_is_called() -> None:
    """A row that says `whole` has a call here."""
    assert set(CALLS) | INNER == set(WHOLE)


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", CALLS)
def test_what_torch_lets_one_write(name: str, rows: int) -> None:
    """A write that torch allows is allowed, and changes no gradient."""
    for call in CALLS[name]:
        for written in ("x", "y", "w", "b", "result"):
            expected = outcome(torch, call, rows, written)
            if isinstance(expected, str):
                continue
            found = outcome(ours, call, rows, written)
            assert not isinstance(found, str), f"{name}: a write into {written} is refused"
            for one, other in zip(found, expected, strict=True):
                assert (one is None) == (other is None), written
                if one is not None:
                    assert abs(one - other).max() <= 1e-9 * (abs(other).max() + 1), written


@pytest.mark.parametrize("rows", SIZES)
@pytest.mark.parametrize("name", KEEP_RESULT)
def test_kept_results_must_not_be_written(name: str, rows: int) -> None:
    """The result is kept, and nothing else: as in torch, a write into it is refused."""
    for call in CALLS[name]:
        for written in ("x", "result"):
            expected, found = (outcome(m, call, rows, written) for m in (torch, ours))
            assert (found == "refused") == (expected == "refused") == (written == "result")
