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


KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.25},
    "more keys": {"keys": 9},
    "causal, more keys": {"keys": 9, "is_causal": True},
    "causal, fewer keys": {"keys": 4, "is_causal": True},
    "boolean": {"mask": lambda t: t.ones(7, 7, dtype=t.bool).triu(1)},  # the last row sees nothing
    "for each sample": {"mask": lambda t: numbers(t, 2, 1, 7, 7, seed=9) > 0},
    "added": {"mask": lambda t: numbers(t, 7, 7, seed=9, dtype="float64")},
    "grouped": {"heads": 1, "enable_gqa": True},
    "one head of keys": {"heads": 1},
    "narrow": {"dtype": "float32"},
    "sixteen bits": {"dtype": "bfloat16"},
}


@pytest.mark.parametrize("most", [None, 60, 20, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_attention_in_blocks(kind: str, most: int | None, monkeypatch: Any) -> None:
    """Values and gradients do not depend on how rows and heads are cut."""
    attention = importlib.import_module("minitorch2.nn.functional.attention")
    if most is not None:
        monkeypatch.setattr(attention, "MOST_SCORES", most)
        monkeypatch.setattr(attention, "LEAST_ROWS", 2)
    given: dict[str, Any] = {
        "keys": 7,
        "heads": 3,
        "mask": lambda t: None,
        "dtype": "float64",
    } | KINDS[kind]
    options = {name: given[name] for name in ("is_causal", "scale", "enable_gqa") if name in given}

    def program(t: Any) -> Any:
        dtype = getattr(t, given["dtype"])
        q = (
            numbers(t, 2, 7, 3, 4, seed=1, dtype="float64")
            .to(dtype)
            .transpose(1, 2)
            .requires_grad_()
        )
        k, v = (
            numbers(t, 2, given["heads"], given["keys"], width, seed=at, dtype="float64")
            .to(dtype)
            .requires_grad_()
            for at, width in ((2, 4), (3, 5))
        )
        found = t.nn.functional.scaled_dot_product_attention(q, k, v, given["mask"](t), **options)
        (found * found).sum().backward()
        return [each.double() for each in (found.detach(), q.grad, k.grad, v.grad)]

    tolerance = {"bfloat16": 3e-2, "float32": 1e-5, "float64": 1e-10}[given["dtype"]]
    check(program, tolerance)


@pytest.mark.parametrize("needed", list(itertools.product([True, False], repeat=3))[:-1])
def test_gradients_that_are_wanted(needed: tuple[bool, ...], monkeypatch: Any) -> None:
    """Those of some of the three only, and gradients of gradients."""
    attention = importlib.import_module("minitorch2.nn.functional.attention")
    monkeypatch.setattr(attention, "MOST_SCORES", 20)
    monkeypatch.setattr(attention, "LEAST_ROWS", 2)

    def program(t: Any) -> Any:
        given = [numbers(t, 2, 7, 4, seed=at, dtype="float64").requires_grad_(need)
                 for at, need in enumerate(needed)]  # fmt: skip
        wanted = [each for each in given if each.requires_grad]
        compute = t.nn.functional.scaled_dot_product_attention
        with t.nn.attention.sdpa_kernel(t.nn.attention.SDPBackend.MATH):
            found = compute(*given, is_causal=True)
            first = t.autograd.grad((found * found).sum(), wanted, create_graph=True)
            second = t.autograd.grad(sum((each * each).sum() for each in first), wanted)
        return found, *first, *second

    check(program, 1e-10)


def test_what_is_cut_keeps_no_scores(monkeypatch: Any) -> None:
    """Between forward and backward there is nothing of the size of the scores."""
    attention = importlib.import_module("minitorch2.nn.functional.attention")
    monkeypatch.setattr(attention, "MOST_SCORES", 1 << 12)
    kept: list[int] = []

    def pack(each: Any) -> Any:
        kept.append(each.numel())
        return each

    given = [numbers(minitorch2, 2, 256, 4, seed=at).requires_grad_() for at in range(3)]
    with minitorch2.autograd.graph.saved_tensors_hooks(pack, lambda each: each):
        found = minitorch2.nn.functional.scaled_dot_product_attention(*given)
    assert found.grad_fn.name() == "ScaledDotProductFlashAttentionForCpuBackward"
    assert max(kept) == 2 * 256 * 4
    found.sum().backward()
    assert given[0].grad is not None


def test_attention_under_autocast() -> None:
    """In bfloat16, whatever the numbers were."""

    def program(t: Any) -> Any:
        q, k, v = (numbers(t, 2, 7, 4, seed=at).float() for at in range(3))
        with t.autocast("cpu", t.bfloat16):
            found = t.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return str(found.dtype).partition(".")[2], found.float()

    check(program, 3e-2)


@pytest.mark.parametrize("dropout", [0.0, 1e-9])
def test_dtypes_and_places(dropout: float) -> None:
    """Of 16 bits, grouped heads of different numbers, and large without memory."""

    def program(t: Any) -> Any:
        compute = t.nn.functional.scaled_dot_product_attention
        q, k, v = (numbers(t, 1, heads, 5, 4, seed=heads) for heads in (4, 2, 4))
        grouped = compute(q, k, v, dropout_p=dropout, enable_gqa=True)
        half = compute(*(x.bfloat16() for x in (q, q, v)), dropout_p=dropout)
        large = t.empty(1, 2, 2048, 16, device="meta")
        found = compute(large, large, large)
        return grouped, str(half.dtype), half.float(), str(found.device), tuple(found.shape)

    check(program, 2e-2)
