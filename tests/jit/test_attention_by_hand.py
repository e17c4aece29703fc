"""Attention written by hand is the same chain of launches as torch's function for it.

Each way to write it is compiled, forward and backward; both are one chain (kernels/schedule/
chains.py) without memory for all scores, and the numbers are eager's within rounding.
"""

import math

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as functional
from minitorch2.artifacts import subscribe
from minitorch2.config import config

pytestmark = pytest.mark.numba

BATCH, HEADS, LENGTH, WIDTH = 1, 2, 512, 8
SCALE = 1 / math.sqrt(WIDTH)
LOWER = torch.ones(LENGTH, LENGTH).tril()
THERE = torch.arange(LENGTH) < 500
BIAS = torch.randn(HEADS, LENGTH, LENGTH, generator=torch.Generator().manual_seed(5))
FLAT = (BATCH * HEADS, LENGTH, WIDTH)


def _softmax(scores):
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1, keepdim=True)


def _bmm(q, k, v):
    q, k, v = (each.reshape(FLAT) for each in (q, k, v))
    weights = torch.softmax(torch.bmm(q, k.transpose(1, 2)) * SCALE, -1)
    return torch.bmm(weights, v).reshape(BATCH, HEADS, LENGTH, WIDTH)


def _baddbmm(q, k, v):
    q, k, v = (each.reshape(FLAT) for each in (q, k, v))
    start = torch.zeros(FLAT[0], LENGTH, LENGTH)
    scores = torch.baddbmm(start, q, k.transpose(1, 2), beta=0, alpha=SCALE)
    return torch.bmm(torch.softmax(scores, -1), v).reshape(BATCH, HEADS, LENGTH, WIDTH)


def _einsum(q, k, v):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) * SCALE
    return torch.einsum("bhts,bhsd->bhtd", torch.softmax(scores, -1), v)


def _einsum_with_heads_inside(q, k, v):
    q, k, v = (each.transpose(1, 2) for each in (q, k, v))
    scores = torch.einsum("bthd,bshd->bhts", q, k) * SCALE
    return torch.einsum("bhts,bshd->bthd", torch.softmax(scores, -1), v)


def _masked_fill(q, k, v):
    scores = (q @ k.mT * SCALE).masked_fill(LOWER == 0, float("-inf"))
    return torch.softmax(scores, -1) @ v


def _mask_made_inside(q, k, v):
    later = torch.triu(torch.ones(LENGTH, LENGTH, dtype=torch.bool), 1)
    return torch.softmax((q @ k.mT * SCALE).masked_fill(later, float("-inf")), -1) @ v


def _padding(q, k, v):
    scores = (q @ k.mT * SCALE).masked_fill(~THERE[None, None, None, :], float("-inf"))
    return torch.softmax(scores, -1) @ v


def _one_of_a_stack(q, k, v):
    q, k, v = torch.stack((q, k, v)).unbind(0)
    return torch.softmax(q @ k.mT * SCALE, -1) @ v


WAYS = {
    "torch's": functional.scaled_dot_product_attention,
    "torch's, causal": lambda q, k, v: functional.scaled_dot_product_attention(
        q, k, v, is_causal=True
    ),
    "operators": lambda q, k, v: torch.softmax(q @ k.mT * SCALE, -1) @ v,
    "divided": lambda q, k, v: (
        functional.softmax(q @ k.transpose(-2, -1) / math.sqrt(WIDTH), dim=-1) @ v
    ),
    "q scaled": lambda q, k, v: torch.softmax((q * SCALE) @ k.mT, -1) @ v,
    "functions": lambda q, k, v: torch.matmul(
        torch.softmax(torch.matmul(q, k.permute(0, 1, 3, 2)) * SCALE, -1), v
    ),
    "masked_fill": _masked_fill,
    "where": lambda q, k, v: (
        torch.softmax(torch.where(LOWER.bool(), q @ k.mT * SCALE, -1e9), -1) @ v
    ),
    "a mask made inside": _mask_made_inside,
    "padding": _padding,
    "a bias": lambda q, k, v: torch.softmax(q @ k.mT * SCALE + BIAS, -1) @ v,
    "dropout": lambda q, k, v: functional.dropout(torch.softmax(q @ k.mT * SCALE, -1), 0.1) @ v,
    "capped": lambda q, k, v: torch.softmax(torch.tanh(q @ k.mT * SCALE / 9) * 9, -1) @ v,
    "einsum": _einsum,
    "einsum, heads inside": _einsum_with_heads_inside,
    "bmm": _bmm,
    "baddbmm": _baddbmm,
    "softmax by hand": lambda q, k, v: _softmax(q @ k.mT * SCALE) @ v,
    "log_softmax": lambda q, k, v: torch.log_softmax(q @ k.mT * SCALE, -1).exp() @ v,
    "one of a stack": _one_of_a_stack,
}


def _run(function):
    """Result, gradients, and what was told meanwhile."""
    draw = torch.Generator().manual_seed(3)
    given = [torch.randn(BATCH, HEADS, LENGTH, WIDTH, generator=draw) for _ in range(3)]
    given = [each.requires_grad_() for each in given]
    torch.manual_seed(1)
    found = function(*given)
    found.square().sum().backward()
    return [found.detach(), *(each.grad for each in given)]


@pytest.mark.parametrize("way", WAYS)
def test_one_chain_forward_and_one_backward(way, monkeypatch):
    monkeypatch.setattr(config, "kernel_level", 1)
    events = []
    with subscribe(events.append):
        found = _run(torch.compile(WAYS[way], dynamic=False))
    fused = [event.facts for event in events if event.stage == "loops.fused"]
    assert [len(each["chained"]) for each in fused] == [1, 1]
    assert all("with no memory for all of" in each["chained"][0] for each in fused)
    assert not any(each["eager"] for each in fused)
    for one, other in zip(found, _run(WAYS[way]), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
