"""What an error says: what was asked, what is wrong, what to do, and the user's own line."""

import re
from collections.abc import Callable

import pytest

import minitorch2 as torch
from minitorch2 import errors
from minitorch2.errors import Mt2Error

CASES: list[tuple[Callable[[], object], type, str, str]] = [
    (
        lambda: torch.ones(2, 3) + torch.ones(4),
        errors.ShapeError,
        "add(f32[2,3], f32[4])",
        "tensor a (3) must match the size of tensor b (4)",
    ),
    (
        lambda: torch.ones(2, 3) @ torch.ones(4, 5),
        errors.ShapeError,
        "matmul(f32[2,3], f32[4,5])",
        "2x3 and 4x5",
    ),
    (lambda: torch.ones(2).sum(3), errors.DimensionError, "sum(f32[2], [3])", "range of [-1, 0]"),
    (lambda: torch.ones(3, 4).t().view(12), errors.ViewError, "view(", "reshape"),
    (
        lambda: torch.tensor([1]) // torch.tensor([0]),
        errors.DivisionByZero,
        "floor_divide",
        "ZeroDivisionError",
    ),
    (
        lambda: -torch.tensor([True]),
        errors.DtypeError,
        "neg(bool[1])",
        "on a bool tensor is not supported",
    ),
    (lambda: torch.tensor([True]) - torch.tensor([True]), errors.DtypeError, "sub(", "bool tensor"),
    (lambda: torch.ones(2) & torch.ones(2), errors.DtypeError, "bitwise_and", "torch.float32"),
    (lambda: torch.add(torch.ones(2), "x"), errors.ArgumentTypeError, "add(f32[2], 'x'", "not str"),
    (
        lambda: torch.ones(2).expand(2, 2, 3),
        errors.ShapeError,
        "expand(",
        "must match the existing size (2) at non-singleton dimension 2",
    ),
    (lambda: torch.ones(2).item(), errors.OperationError, "item()", "2 elements"),
    (lambda: bool(torch.ones(2)), errors.OperationError, "bool()", "ambiguous"),
    (
        lambda: torch.ones(2).expand(3, 2).add_(1),
        errors.InPlaceError,
        "add_(f32[3,2], 1)",
        "single memory location",
    ),
    (lambda: torch.tensor([1]).add_(1.5), errors.DtypeError, "add_(", "can't be cast"),
    (
        lambda: torch.ones(2).add_(torch.ones(3, 2)),
        errors.ShapeError,
        "add_(",
        "doesn't match the broadcast",
    ),
    (lambda: torch.cat([]), errors.ArgumentValueError, "cat([])", "non-empty"),
    (
        lambda: torch.device("tpu"),
        errors.DeviceError,
        "tpu",
        "device type at start of device string: tpu",
    ),
    (lambda: torch.zeros(2, device="cuda"), errors.DeviceError, "cuda", "CPU only"),
    (lambda: torch.ones(2, requires_grad=True).numpy(), errors.AutogradError, "numpy()", "detach"),
]


@pytest.mark.parametrize(("make", "kind", "asked", "wrong"), CASES, ids=[c[2] for c in CASES])
def test_text(make: Callable, kind: type, asked: str, wrong: str) -> None:
    """All four parts are there."""
    with pytest.raises(kind) as caught:
        make()
    text = str(caught.value)
    assert asked in text and wrong in text
    assert re.match(r"\[MT2-\d{4}\] ", text)
    assert "\n  what to do: " in text
    assert re.search(r"\n  at .*test_errors\.py:\d+$", text)


def test_every_class_is_one_that_torch_raises() -> None:
    """`except RuntimeError` and its like in scripts written for torch keep working."""
    found = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, Mt2Error)]
    for each in found:
        if each is not Mt2Error:
            kinds = (RuntimeError, TypeError, IndexError, ValueError, OverflowError)
            assert issubclass(each, kinds), each
            assert re.fullmatch(r"MT2-\d{4}", each.code) and each.remedy and each.__doc__
    codes = [each.code for each in found]
    assert len(set(codes)) == len(codes)


def test_meta_says_the_same_words() -> None:
    """Without memory the same rule refuses, in the same words."""
    for make in (lambda d: torch.ones(2, 3, device=d) + torch.ones(4, device=d),
                 lambda d: torch.ones(2, 3, device=d) @ torch.ones(4, 5, device=d)):  # fmt: skip
        texts = []
        for device in ("cpu", "meta"):
            with pytest.raises(errors.ShapeError) as caught:
                make(device)
            texts.append(str(caught.value))
        assert texts[0] == texts[1]
