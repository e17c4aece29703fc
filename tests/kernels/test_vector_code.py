"""The innermost loops of compiled programs, for each kind of kernel: vector instructions only."""

import re

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as F
from minitorch2.artifacts import subscribe
from minitorch2.kernels.runtime.compile import compile_kernel
from tests.kernels.vecmath.test_vectorized import MACHINE, innermost_loops

pytestmark = [
    pytest.mark.numba,
    pytest.mark.skipif(MACHINE != "x86_64", reason="reads the assembly of x86"),
]
VECTOR = re.compile(r"%[yz]mm\d+")
MOST_SCALAR = 0.2  # of a loop that works on elements: the tail is a loop of its own


def x(*shape, dtype=torch.float32):
    return torch.rand(*shape).to(dtype)


KINDS = {
    "chain": (lambda a, b: torch.exp(-(a * a + b * b)) * torch.sin(a) + torch.tanh(b),
              lambda: (x(64, 512), x(64, 512))),
    "broadcast": (lambda a, b: torch.relu(a + b) * 2, lambda: (x(64, 512), x(512))),
    "comparison": (lambda a, b: (a > b) & (a < 0.7), lambda: (x(64, 512), x(64, 512))),
    "where": (lambda a, b: torch.where(a > b, a, b * 2), lambda: (x(64, 512), x(64, 512))),
    "double": (lambda a: torch.exp(a) * a, lambda: (x(64, 512, dtype=torch.float64),)),
    "bfloat16": (lambda a: F.gelu(a), lambda: (x(64, 512, dtype=torch.bfloat16),)),
    "half": (lambda a: a * a + 1, lambda: (x(64, 512, dtype=torch.float16),)),
    "integers": (lambda a, b: a * b + 3, lambda: (torch.arange(4096), torch.arange(4096))),
    "bytes": (lambda a, b: (a & b) ^ 3, lambda: (torch.arange(4096).to(torch.uint8),) * 2),
    "remainder": (lambda a, b: torch.fmod(a, b), lambda: (x(4096), x(4096) + 1)),
    "row sum": (lambda a: a.sum(-1), lambda: (x(64, 512),)),
    "column sum": (lambda a, b: (a * b).sum(0), lambda: (x(64, 512), x(64, 512))),
    "full sum": (lambda a, b: ((a - b) ** 2).mean(), lambda: (x(64, 512), x(64, 512))),
    "row maximum": (lambda a: a.amax(-1), lambda: (x(64, 512),)),
    "variance": (lambda a: (a.var(-1), a.mean(-1)), lambda: (x(64, 512),)),
    "softmax": (lambda a: a.softmax(-1), lambda: (x(64, 512),)),
    "layer norm": (lambda a, w: F.layer_norm(a, (512,), w, w), lambda: (x(64, 512), x(512))),
    "slices": (lambda a: torch.cat([a[:, :256] * 2, a[:, 256:] + 1], 1), lambda: (x(64, 512),)),
    "update": (lambda p, g, m: (p - 0.1 * (0.9 * m + g), 0.9 * m + g),
               lambda: (x(4096), x(4096), x(4096))),
}  # fmt: skip


def assemblies(function, arguments):
    """The assembly of each kernel of a compiled call."""
    events = []
    with subscribe(events.append):
        torch.compile(function)(*arguments)
    for event in events:
        if event.stage == "kernel.source":
            for source in event.payload.kernels:
                yield compile_kernel(source.text, source.signature).assembly()


def main_loop(assembly):
    """The innermost loop with the most vector instructions, line by line."""
    loops = [loop.splitlines() for loop in innermost_loops(assembly)] or [assembly.splitlines()]
    return max(loops, key=lambda lines: sum(bool(VECTOR.search(line)) for line in lines))


@pytest.mark.parametrize("name", KINDS)
def test_the_innermost_loop_is_vector_code(name):
    function, make = KINDS[name]
    for assembly in list(assemblies(function, make()))[:1]:  # a second one folds a few partial sums
        lines = [line for line in main_loop(assembly) if line.startswith("\t")]
        vector = [line for line in lines if VECTOR.search(line)]
        scalar = [line for line in lines if re.match(r"\tv?\w+s[sd]\t.*%xmm", line)]
        assert vector, f"no vector instruction:\n{assembly}"
        assert len(scalar) <= MOST_SCALAR * len(lines), "\n".join(lines)
        assert not any("call" in line for line in lines), "\n".join(lines)


@pytest.mark.parametrize("name", ["two sums", "three sums"])
def test_the_lanes_of_several_sums_stay_in_registers(name):
    sums = {
        "two sums": lambda a: (a.sum(-1), (a * a).sum(-1)),
        "three sums": lambda a: (a.sum(-1), (a * a).sum(-1), a.amax(-1)),
    }
    [assembly] = assemblies(sums[name], (x(64, 512),))
    stored = re.findall(r"\tvmovup?a?p?s\t%[yz]mm\d+, \d*\(%rsp\)", assembly)
    assert len(stored) <= 8, assembly


def test_a_mean_beside_a_variance_is_not_summed_again():
    events = []
    with subscribe(events.append):
        torch.compile(KINDS["variance"][0])(x(64, 512))
    [source] = [event.payload.kernels[0] for event in events if event.stage == "kernel.source"]
    assert source.text.count("= local_f32(64)") == 2
