"""Composite rows that eager runs as one program give what their steps give.

Every row that says `whole` is called here, on large tensors: its values, gradients and gradients
of gradients are those of its steps, whatever sizes the program was first made for.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import minitorch2 as torch
from minitorch2 import dispatch
from minitorch2.backends import composite_programs
from minitorch2.config import config
from minitorch2.errors import CompileError, KernelError, VerificationError
from minitorch2.kernels import eager_composites
from minitorch2.kernels.verify import LoopVerifyError
from minitorch2.ops.table import all_ops, lookup

F = torch.nn.functional
WHOLE = [op.name for op in all_ops() if op.whole]
SHAPES = ((33, 256), (3, 4, 9, 100))
OTHER_SHAPES = ((1, 8200), (8200, 1), (96, 96))
Call = Callable[[Any, Any, Any], Any]


def classes(x: Any) -> Any:
    """Targets for scores x, the class last among the dimensions of x but for the batch."""
    sizes = (x.shape[0], *x.shape[2:])
    count = int(torch.tensor(sizes).prod())
    return (torch.arange(count) * 7 % x.shape[1]).reshape(sizes)


CALLS: dict[str, list[Call]] = {
    "softmax": [lambda x, w, b: F.softmax(x, -1), lambda x, w, b: x.softmax(0)],
    "log_softmax": [lambda x, w, b: F.log_softmax(x, 1)],
    "softmax_backward": [
        lambda x, w, b: dispatch.call(lookup("softmax_backward"), (x, x.detach() / 2, -1))
    ],
    "log_softmax_backward": [
        lambda x, w, b: dispatch.call(lookup("log_softmax_backward"), (x.detach() / 2, x, 1))
    ],
    "gelu": [lambda x, w, b: F.gelu(x), lambda x, w, b: F.gelu(x, approximate="tanh")],
    "silu": [lambda x, w, b: F.silu(x)],
    "leaky_relu": [lambda x, w, b: F.leaky_relu(x, 0.2)],
    "elu": [lambda x, w, b: F.elu(x, 0.5)],
    "softplus": [lambda x, w, b: F.softplus(x, 2, 1.5)],
    "logsigmoid": [lambda x, w, b: F.logsigmoid(x)],
    "normalize": [lambda x, w, b: F.normalize(x, dim=-1)],
    "layer_norm": [
        lambda x, w, b: F.layer_norm(x, w.shape, w, b),
        lambda x, w, b: F.layer_norm(x, x.shape[1:]),
    ],
    "rms_norm": [lambda x, w, b: F.rms_norm(x, w.shape, w)],
    "attention": [
        lambda x, w, b: F.scaled_dot_product_attention(x, x * w, x + b, scale=0.01),
        lambda x, w, b: F.scaled_dot_product_attention(x, x * w, x + b, is_causal=True, scale=0.01),
    ],
    "cross_entropy": [
        lambda x, w, b: F.cross_entropy(x, classes(x)),
        lambda x, w, b: F.cross_entropy(x, classes(x), reduction="none", label_smoothing=0.1),
    ],
}
CALLS |= {
    "sum": [lambda x, w, b: x.sum(-1), lambda x, w, b: x.sum(0, keepdim=True)],
    "prod": [lambda x, w, b: (x.abs() * 0.01 + 0.99).prod(-1)],
    "amax": [lambda x, w, b: x.amax(-1)],
    "amin": [lambda x, w, b: x.amin((0, 1))],
    "var": [lambda x, w, b: x.var(-1), lambda x, w, b: x.var((0, -1), correction=0)],
    "std": [lambda x, w, b: x.std(-1)],
    "norm": [lambda x, w, b: x.norm(), lambda x, w, b: x.norm(3, -1)],
    "logsumexp": [lambda x, w, b: x.logsumexp(-1)],
    "mse_loss": [lambda x, w, b: F.mse_loss(x, b.expand_as(x).contiguous())],
    "l1_loss": [lambda x, w, b: F.l1_loss(x, b.expand_as(x).contiguous())],
    "smooth_l1_loss": [lambda x, w, b: F.smooth_l1_loss(x, b.expand_as(x).contiguous())],
    "binary_cross_entropy": [
        lambda x, w, b: F.binary_cross_entropy(x.sigmoid(), (x > 0).to(x.dtype))
    ],
    "binary_cross_entropy_with_logits": [
        lambda x, w, b: F.binary_cross_entropy_with_logits(x, (x > 0).to(x.dtype))
    ],
    "hardtanh": [lambda x, w, b: F.hardtanh(x)],
    "relu6": [lambda x, w, b: F.relu6(x)],
    "embedding": [
        lambda x, w, b: F.embedding(torch.arange(99).reshape(3, 33) % 7, x.flatten(0, -2), 3)
    ],
    "channel_norm": [
        lambda x, w, b: F.batch_norm(x, of(x, 0.3), of(x, 1.5), of(x, 2.0), of(x, 0.5), False)
    ],
    "batch_statistics_norm": [
        lambda x, w, b: F.batch_norm(x, None, None, of(x, 2.0), of(x, 0.5), True)
    ],
    "group_norm": [
        lambda x, w, b: F.group_norm(x.transpose(0, 1).contiguous(), 3, of(x, 2.0, 0)),
        lambda x, w, b: F.group_norm(x, 2),
    ],
}


def of(x: Any, value: float, dim: int = 1) -> Any:
    """A vector with an element for each channel of x."""
    return torch.full((x.shape[dim],), value).to(x.dtype)


@pytest.fixture
def by_steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable]:
    """A function that calls another one with every composite row run step by step."""

    def run(function: Callable, *args: Any) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(composite_programs, "LARGE", 1 << 60)
            return function(*args)

    yield run


def operands(shape: tuple[int, ...], dtype: Any) -> list[Any]:
    """x, and a weight and a bias for its last dimension; all require gradients."""
    made = torch.Generator().manual_seed(1)
    x = torch.randn(shape, generator=made)
    w, b = torch.rand(shape[-1], generator=made), torch.randn(shape[-1], generator=made)
    return [each.to(dtype).requires_grad_() for each in (x, w, b)]


def outcome(call: Call, shape: tuple[int, ...], dtype: Any, twice: bool = True) -> list[Any]:
    """The result, its gradients, and the gradients of their squares."""
    given = operands(shape, dtype)
    result = call(*given)
    start = torch.randn(result.shape, generator=torch.Generator().manual_seed(2)).to(result.dtype)
    first = torch.autograd.grad(result, given, start, allow_unused=True, create_graph=twice)
    if not twice:
        return [result, *first]
    total = sum((each.double() ** 2).sum() for each in first if each is not None)
    if not total.requires_grad:
        return [result, *first]
    return [result, *first, *torch.autograd.grad(total, given, allow_unused=True)]


def assert_same(ours: list[Any], expected: list[Any], bound: float) -> None:
    """Equal dtypes, shapes, strides, and values up to `bound` of the largest."""
    assert len(ours) == len(expected)
    for found, wanted in zip(ours, expected, strict=True):
        if wanted is None:
            assert found is None
            continue
        assert found.dtype is wanted.dtype and found.stride() == wanted.stride()
        largest = float(wanted.abs().max()) + 1e-6
        if wanted.numel() == 1:  # a sum over everything, which may be zero but for its roundings
            largest += 100.0
        assert float((found.double() - wanted.double()).abs().max()) <= bound * largest


def test_every_whole_row_is_called() -> None:
    """A row that says `whole` has a call here."""
    assert set(CALLS) == set(WHOLE)


@pytest.mark.parametrize("name", WHOLE)
def test_a_program_gives_what_the_steps_give(name: str, by_steps: Callable) -> None:
    """Values, gradients, gradients of gradients, by one node named after the row."""
    for call in CALLS[name]:
        for shape in SHAPES:
            ours = outcome(call, shape, torch.float64)
            label = "".join(part.capitalize() for part in name.split("_")) + "Backward0"
            assert ours[0].grad_fn.name() == label
            assert_same(ours, by_steps(outcome, call, shape, torch.float64), 1e-9)
        ours = outcome(call, SHAPES[0], torch.float32, twice=False)
        assert_same(ours, by_steps(outcome, call, SHAPES[0], torch.float32, False), 2e-5)


@pytest.mark.parametrize("name", ["softmax", "layer_norm", "gelu", "cross_entropy"])
def test_other_sizes_and_dtypes(name: str, by_steps: Callable) -> None:
    """Single rows, single columns, as many rows as columns; 64 and 16 bits."""
    call = CALLS[name][0]
    for shape in OTHER_SHAPES:
        ours = outcome(call, shape, torch.float32, twice=False)
        assert_same(ours, by_steps(outcome, call, shape, torch.float32, False), 2e-5)
    for dtype, bound in ((torch.float64, 1e-12), (torch.bfloat16, 0.03), (torch.float16, 0.005)):
        ours = outcome(call, SHAPES[0], dtype, twice=False)
        assert_same(ours, by_steps(outcome, call, SHAPES[0], dtype, False), bound)


def test_sizes_are_parameters_of_a_program() -> None:
    """Lengths that change from call to call meet the same program."""
    F.softmax(torch.randn(100, 90), -1)
    known = len(eager_composites._runs)
    for length in (91, 128, 1000):
        F.softmax(torch.randn(length, 95), -1)
    assert len(eager_composites._runs) == known


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a process that has made no program."""
    monkeypatch.setattr(composite_programs, "_programs", {})
    for name in ("_counts", "_settings", "_runs"):
        monkeypatch.setattr(eager_composites, name, {})


def test_numbers_that_change_from_call_to_call_are_not_compiled_again(
    fresh: None, monkeypatch: pytest.MonkeyPatch, by_steps: Callable
) -> None:
    """Nor captured: the steps are quicker. Those that there are go on as programs."""
    captures: list[Any] = []
    right = eager_composites.captured

    def noted(*given: Any) -> Any:
        captures.append(given)
        return right(*given)

    monkeypatch.setattr(eager_composites, "captured", noted)
    x = torch.randn(100, 100, requires_grad=True)
    slopes = [0.01 * n for n in range(1, 31)]
    for slope in slopes:
        ours = F.leaky_relu(x, slope)
        assert torch.equal(ours, by_steps(F.leaky_relu, x, slope))
        whole = ours.grad_fn.name() == "LeakyReluBackward0"
        assert whole == (slope in slopes[: eager_composites.SETTINGS])
    assert len(captures) == len(eager_composites._runs) == eager_composites.SETTINGS
    F.leaky_relu(torch.randn(110, 100), slopes[0])  # of other sizes
    assert len(captures) == eager_composites.SETTINGS + 1
    assert F.softmax(x, -1).grad_fn.name() == "SoftmaxBackward0"  # has no numbers


@pytest.mark.parametrize("fault", [VerificationError, LoopVerifyError, KernelError])
def test_a_fault_of_the_compiler_is_no_refusal(
    fresh: None, monkeypatch: pytest.MonkeyPatch, fault: Any
) -> None:
    """It is raised; a stage that refuses a row leaves it to its steps."""

    def raising(error: Exception) -> Callable:
        def compiled(*given: Any) -> Any:
            raise error

        return compiled

    x = torch.randn(100, 100)
    monkeypatch.setattr(eager_composites, "_compiled", raising(fault("%0", "planted")))
    with pytest.raises(fault, match="planted"):
        F.silu(x)
    monkeypatch.setattr(eager_composites, "_compiled", raising(CompileError("%0", "planted")))
    assert torch.equal(F.silu(x), x * torch.sigmoid(x))


@pytest.mark.parametrize("activation", ["gelu", "silu", "leaky_relu", "elu", "softplus"])
def test_activations_have_the_bits_of_their_steps(activation: str, by_steps: Callable) -> None:
    """Without sums there is one order of roundings."""
    x = torch.randn(100, 100)
    function = getattr(F, activation)
    assert torch.equal(function(x), by_steps(function, x))


def test_refusals_are_those_of_the_steps(by_steps: Callable) -> None:
    """A class that is none, a shape that does not fit: the same words."""
    x, wrong = torch.randn(100, 100, requires_grad=True), torch.full((100,), 100)
    for call in (lambda: F.cross_entropy(x, wrong), lambda: F.layer_norm(x, (99,))):
        with pytest.raises(Exception) as ours:
            call()
        with pytest.raises(type(ours.value)) as expected:
            by_steps(call)
        assert str(ours.value).splitlines()[1:] == str(expected.value).splitlines()[1:]


def test_a_second_backward_is_refused_and_kept_graphs_allow_it() -> None:
    """As for any operation."""
    x = torch.randn(100, 100, requires_grad=True)
    y = F.gelu(x).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    assert torch.equal(x.grad, 2 * once)
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_writes_into_what_was_saved_are_refused() -> None:
    """The input is read again by the backward; the result may be written."""
    x = torch.randn(100, 100, requires_grad=True)
    z = x * 1
    y = F.silu(z)
    y.add_(1)
    y.sum().backward()
    expected = torch.autograd.grad(F.silu(x).sum(), x)[0]
    assert torch.equal(x.grad, expected)
    z = x * 1
    y = F.silu(z)
    z.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_modes_around_a_call(by_steps: Callable) -> None:
    """Without gradients nothing is recorded; in inference mode results are inference tensors."""
    x = torch.randn(100, 100, requires_grad=True)
    with torch.no_grad():
        assert not F.gelu(x).requires_grad
    with torch.inference_mode():
        assert F.gelu(x).is_inference()
    transposed = F.gelu(x.t())
    assert transposed.grad_fn.name() == "MulBackward0" and transposed.stride() == (1, 100)
    v = torch.randn(9000)
    assert torch.allclose(
        torch.func.jvp(lambda v: F.gelu(v), (v,), (v,))[1],
        by_steps(lambda: torch.func.jvp(lambda v: F.gelu(v), (v,), (v,))[1]),
    )


def test_no_program_without_primitives(monkeypatch: pytest.MonkeyPatch) -> None:
    """MT2_PRIMITIVES=numpy means no machine code."""
    monkeypatch.setattr(config, "primitives", "numpy")
    x = torch.randn(100, 100, requires_grad=True)
    assert composite_programs.run(lookup("silu"), (x,)) is None
