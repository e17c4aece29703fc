"""Attention of several heads in all its forms, flex_attention, and the choice of kernels."""

import importlib
import itertools
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402

for library in ("torch", "minitorch2"):
    importlib.import_module(f"{library}.nn.attention.flex_attention")

OPTIONS = [
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True},
    {"kdim": 3, "vdim": 5},
    {"kdim": 6, "vdim": 4, "bias": False, "add_bias_kv": True, "add_zero_attn": True},
]


def _filled(t: Any, module: Any) -> Any:
    for at, parameter in enumerate(module.parameters()):
        with t.no_grad():
            parameter.copy_(numbers(t, *parameter.shape, seed=at))
    return module


def _masks(t: Any, which: str) -> dict[str, Any]:
    padding = t.tensor([[False, False, False, True], [False, True, False, False]])
    return {
        "none": {},
        "bool": {"attn_mask": t.ones(3, 4, dtype=t.bool).triu(2)},
        "floating": {"attn_mask": numbers(t, 3, 4, seed=9)},
        "for each head": {"attn_mask": numbers(t, 4, 3, 4, seed=9), "key_padding_mask": padding},
        "padding": {"key_padding_mask": padding, "average_attn_weights": False},
    }[which]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda each: "-".join(each) or "plain")
@pytest.mark.parametrize("which", ["none", "bool", "floating", "for each head", "padding"])
def test_multi_head(options: dict[str, Any], which: str) -> None:
    """Results, weights, gradients, the names of the parameters; batch first and last."""

    def program(t: Any) -> Any:
        module = _filled(t, t.nn.MultiheadAttention(6, 2, **options))
        q = numbers(t, 3, 2, 6, seed=1)
        k = numbers(t, 4, 2, options.get("kdim", 6), seed=2)
        v = numbers(t, 4, 2, options.get("vdim", 6), seed=3)
        q.requires_grad_()
        result, weights = module(q, k, v, **_masks(t, which))
        (result.sum() + (weights * weights).sum()).backward()
        grads = {name: p.grad for name, p in module.named_parameters()}
        first = _filled(t, t.nn.MultiheadAttention(6, 2, batch_first=True, **options))
        again = first(*(x.transpose(0, 1) for x in (q, k, v)), **_masks(t, which))[0]
        return result, weights, q.grad, grads, again, list(module.state_dict())

    check(program)


def test_multi_head_as_a_function() -> None:
    """The function takes the weights; so do keys and values that stand already."""

    def program(t: Any) -> Any:
        module = _filled(t, t.nn.MultiheadAttention(6, 2))
        x = numbers(t, 3, 2, 6, seed=1)
        common = (6, 2, module.in_proj_weight, module.in_proj_bias, None, None, False, 0.0)
        out = (module.out_proj.weight, module.out_proj.bias)
        static = {"static_k": numbers(t, 4, 5, 3, seed=4), "static_v": numbers(t, 4, 5, 3, seed=5)}
        function = t.nn.functional.multi_head_attention_forward
        return [
            function(x, x, x, *common, *out),
            function(x, x, x, *common, *out, **static),
            function(x[:, 0], x[:, 0], x[:, 0], *common, *out, average_attn_weights=False),
            function(x, x, x, *common, *out, need_weights=False)[0],
        ]

    check(program)


def test_multi_head_refuses() -> None:
    for t in (minitorch2, torch):
        with pytest.raises((AssertionError, ValueError)):
            t.nn.MultiheadAttention(6, 4)
        module, x = t.nn.MultiheadAttention(6, 2), t.zeros(3, 2, 6)
        with pytest.raises((RuntimeError, ValueError)):
            module(x, x, x, need_weights=False, is_causal=True)
        with pytest.raises((AssertionError, RuntimeError)):
            module(t.zeros(3, 2, 5), x, x)


FLEX: dict[str, Any] = {
    "plain": (None, None),
    "alibi": (lambda t: lambda s, b, h, q, kv: s + (kv - q) * 2.0 ** (-8 * (h + 1) / 2), None),
    "capped": (lambda t: lambda s, b, h, q, kv: 5 * t.tanh(s / 5), None),
    "causal": (None, lambda t, f: lambda b, h, q, kv: q >= kv),
    "window": (
        None,
        lambda t, f: f.and_masks(
            lambda b, h, q, kv: q >= kv,
            f.or_masks(lambda b, h, q, kv: q - kv <= 2, lambda b, h, q, kv: kv < 1),
        ),
    ),
}


@pytest.mark.filterwarnings("ignore")  # torch warns that it computes without its compiler
@pytest.mark.parametrize("name", FLEX)
def test_flex_attention(name: str) -> None:
    """Scores and masks by rule: values, logarithms of sums."""
    score, mask = FLEX[name]

    def program(t: Any) -> Any:
        flex = t.nn.attention.flex_attention
        q, k, v = (numbers(t, 2, 2, 6, 4, seed=at) for at in range(3))
        block = None if mask is None else flex.create_block_mask(mask(t, flex), 2, 2, 6, 6, "cpu")
        mod = None if score is None else score(t)
        result, lse = flex.flex_attention(q, k, v, mod, block, return_lse=True)
        dense = [] if block is None else [block.to_dense(), tuple(block.shape)]
        return result, lse, dense

    check(program)


def test_flex_attention_has_gradients() -> None:
    """Those of scaled_dot_product_attention under the same mask; torch has none on the CPU."""
    flex = importlib.import_module("minitorch2.nn.attention.flex_attention")
    sdpa = minitorch2.nn.functional.scaled_dot_product_attention
    causal = flex.create_block_mask(lambda b, h, q, kv: q >= kv, 2, 2, 6, 6)
    found = []
    for compute in (
        lambda q, k, v: sdpa(q, k, v, is_causal=True),
        lambda q, k, v: flex.flex_attention(q, k, v, block_mask=causal),
    ):
        given = [numbers(minitorch2, 2, 2, 6, 4, seed=at).requires_grad_() for at in range(3)]
        compute(*given).square().sum().backward()
        found.append([x.grad for x in given])
    for one, other in zip(*found, strict=True):
        minitorch2.testing.assert_close(one, other)


def test_flex_masks() -> None:
    """create_mask says what is allowed; grouped heads share keys and values."""

    def program(t: Any) -> Any:
        flex = t.nn.attention.flex_attention
        near = flex.create_mask(lambda b, h, q, kv: (q - kv).abs() <= h, 1, 2, 5, 4, "cpu")
        q, k = numbers(t, 1, 4, 5, 4, seed=1), numbers(t, 1, 2, 5, 4, seed=2)
        return near, flex.flex_attention(q, k, k, enable_gqa=True, scale=0.3)

    check(program)


def test_sdpa_kernel_is_remembered_and_undone() -> None:
    """Inside the context the switches of torch.backends.cuda tell the choice."""

    def program(t: Any) -> Any:
        names = ("flash", "mem_efficient", "math", "cudnn")
        seen = []
        kinds = t.nn.attention.SDPBackend
        for chosen in (kinds.MATH, [kinds.FLASH_ATTENTION, kinds.EFFICIENT_ATTENTION]):
            with t.nn.attention.sdpa_kernel(chosen):
                seen += [getattr(t.backends.cuda, f"{name}_sdp_enabled")() for name in names]
        after = [getattr(t.backends.cuda, f"{name}_sdp_enabled")() for name in names]
        kernels = ("MATH", "FLASH_ATTENTION", "EFFICIENT_ATTENTION", "CUDNN_ATTENTION")
        return seen, after, [int(getattr(kinds, name)) for name in kernels]

    check(program)
    for t, one in itertools.product((minitorch2, torch), ("math", 3)):
        with pytest.raises((TypeError, AssertionError)), t.nn.attention.sdpa_kernel(one):
            pass
