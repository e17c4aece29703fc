"""Gradients through views, and through writes into views, of inputs laid out in every way.

Each base layout is combined with each chain of views; the view is read, written, or both, in
minitorch2 and in torch.
"""

import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.judge import as_numpy  # noqa: E402

BASES = {
    "row-major": lambda x: x * 1,
    "transposed": lambda x: (x * 1).t(),
    "transposed copy": lambda x: x.t().clone(),
    "with an offset": lambda x: (x * 1)[1:],
    "every other column": lambda x: (x * 1)[:, ::2],
    "a column": lambda x: (x * 1)[:, 1:2],
    "three dimensions": lambda x: (x * 1).unsqueeze(1).permute(2, 0, 1).clone(),
}
VIEWS = {
    "expanded": lambda b: b.unsqueeze(0).expand(3, *b.shape)[1],
    "expanded, a part": lambda b: b.unsqueeze(-1).expand(*b.shape, 2)[1:, ..., 0],
    "expanded, twice": lambda b: b[:1].expand(2, *b.shape)[1].select(0, 0),
    "flat": lambda b: b.view(-1)[1:],
    "flat in its own order": lambda b: b.permute(*range(b.dim() - 1, -1, -1)).view(-1)[:2],
    "as_strided": lambda b: b.as_strided((2,), (1,)),
    "as_strided from an offset": lambda b: b.as_strided((2, 2), (1, 2), b.storage_offset() + 1),
    "as_strided that overlaps": lambda b: b.as_strided((2, 2), (1, 1)),
    "diagonal": lambda b: b.diagonal()[:1],
    "windows": lambda b: b.unfold(0, 1, 1)[:, 0],
    "one of overlapping windows": lambda b: b.unfold(0, 2, 1)[0],
    "a place in overlapping windows": lambda b: b.unfold(b.dim() - 1, 2, 1)[..., 1][:1],
}


def _read(base: Any, view: Any) -> Any:
    return view(base) * 2


def _written(base: Any, view: Any) -> Any:
    view(base).mul_(view(base.detach()).clone() + 1)
    return base


def _both(base: Any, view: Any) -> Any:
    seen = view(base)
    seen.copy_(seen.sin())
    return base.sum() * seen


USES = {"read": _read, "written": _written, "read and written": _both}


def _outcome(library: Any, base: Any, view: Any, use: Any) -> tuple:
    numbers = library.arange(12.0, dtype=library.float64).reshape(3, 4) + 1
    leaf = numbers.requires_grad_()
    try:
        result = use(base(leaf), view)
        weight = library.arange(float(result.numel())).reshape(result.shape) + 1
        (result * weight).sum().backward()
    except (RuntimeError, ValueError) as error:
        return (type(error).__name__, None, None)
    return None, as_numpy(result), as_numpy(leaf.grad)


OUTSIDE = ("a column", "as_strided from an offset")  # torch writes outside of the memory there
OVERLAPPING = "as_strided that overlaps"  # a write: in torch the last one wins, here refused


CASES = [
    case
    for case in itertools.product(BASES, VIEWS, USES)
    if case[:2] != OUTSIDE and not (case[1] == OVERLAPPING and "written" in case[2])
]


@pytest.mark.parametrize("base, view, use", CASES)
def test_gradient(base: str, view: str, use: str) -> None:
    """Results and gradients are torch's; what one refuses, both do."""
    chosen = BASES[base], VIEWS[view], USES[use]
    refused, result, gradient = _outcome(minitorch2, *chosen)
    expected_refusal, expected, expected_gradient = _outcome(torch, *chosen)
    assert (refused is None) == (expected_refusal is None), (refused, expected_refusal)
    if refused is None:
        assert result == pytest.approx(expected)
        assert gradient == pytest.approx(expected_gradient)


FILLS = {
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(3),
    "fill_ by keyword": lambda x: x.fill_(value=True),
    "fill_ by a tensor": lambda x: x.fill_(x.new_ones(())),
    "an assignment": lambda x: x.__setitem__(slice(None), 0),
    "copy_": lambda x: x.copy_(x.new_zeros(x.shape)),
    "add_": lambda x: x.add_(1),
}
EXPANDED = {
    "rows": lambda x: x[:1].expand(3, 4),
    "columns": lambda x: x[:, 1:2].expand(3, 4),
    "one element": lambda x: x[1:2, 1:2].expand(5, 4),
    "a new dimension": lambda x: x.expand(2, 3, 4),
    "turned": lambda x: x[:1].expand(3, 4).t(),
}


ONCE = {
    "rows": lambda x: x[:1],
    "columns": lambda x: x[:, 1:2],
    "one element": lambda x: x[1:2, 1:2],
    "a new dimension": lambda x: x[:],
    "turned": lambda x: x[:1],
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
@pytest.mark.parametrize("fill", FILLS)
@pytest.mark.parametrize("expanded", EXPANDED)
def test_one_number_may_be_written_into_what_is_repeated(
    expanded: str, fill: str, dtype: str
) -> None:
    """It does not matter how often; any other write is refused."""
    found: list[Any] = []
    for library in (torch, minitorch2):
        base = library.arange(12).reshape(3, 4).to(getattr(library, dtype))
        view = EXPANDED[expanded](base)
        try:
            FILLS[fill](view)
        except RuntimeError as error:
            two = fill == "add_" and dtype == "bool" and library is minitorch2  # faults
            assert ("cast" if two else "single memory location") in str(error)
            found.append("refused")
            continue
        found.append((base.tolist(), view.tolist(), view.stride()))
    assert found[0] == found[1]


@pytest.mark.parametrize("expanded", EXPANDED)
def test_what_was_overwritten_by_a_number_gets_no_gradient(expanded: str) -> None:
    """As where each place is written once (torch's own backward refuses repeated ones)."""
    gradients = []
    for library, places in ((torch, ONCE), (minitorch2, EXPANDED)):
        leaf = library.ones(3, 4, requires_grad=True)
        base = leaf * 3
        places[expanded](base).zero_()
        (base * library.arange(12.0).reshape(3, 4)).sum().backward()
        gradients.append(leaf.grad.tolist())
    assert gradients[0] == gradients[1]
