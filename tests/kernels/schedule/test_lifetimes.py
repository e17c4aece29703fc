"""The plan of memory: what it says, and that a run of the plan uses that much."""

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.artifacts import subscribe
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph, plan_graph
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.runtime.buffers import pool, rounded_size
from minitorch2.kernels.schedule.lifetimes import lifetimes_of
from minitorch2.nn import functional as F

LAYERS = """
graph f(%x: f32[64,32], %w: f32[32,32]) {
  %0: f32[64,32] = matmul(%x, %w)
  %1: f32[64,32] = exp(%0)
  %2: f32[64,32] = matmul(%1, %w)
  %3: f32[64,32] = exp(%2)
  %4: f32[64,32] = matmul(%3, %w)
  %5: f32[64,32] = add(%4, %1)
  return %5: strides(32,1)
}"""


def planned(text, **options):
    graph = parse_graph(text)
    return lifetimes_of(plan_graph(graph, lower_graph(graph), True, **options)[0])


def test_each_value_lives_from_its_step_to_the_last_one_that_touches_it():
    found = planned(LAYERS)
    for each in found.rows:
        assert each.bytes == 64 * 32 * 4 and each.born <= (each.dies or each.born)
    steps = {each.value.id: each.steps for each in found.rows}
    assert steps["0"] == ("matmul_0", "kernel_0")
    assert steps["1"][1] == "kernel_2"  # read once more at the end
    assert steps["5"][1] == "the end"
    assert found.total() == len(found.rows) * 8192
    assert found.fullest()[1] == max(found.level())


def test_a_block_is_taken_again_by_what_is_born_after_its_owner_died():
    rows = planned(LAYERS).rows
    at = {each.value: each for each in rows}
    assert any(each.after is not None for each in rows)
    for each in rows:
        if each.after is not None:
            before = at[each.after]
            assert before.dies < each.born and before.block == each.block
    owners = {}
    for each in rows:
        for other in owners.setdefault(each.block, []):
            assert other.dies is not None and other.dies < each.born
        owners[each.block].append(each)


def test_varying_sizes_are_counted_at_an_example_that_is_named():
    found = planned(LAYERS.replace("64", "s0"))
    assert list(found.examples) == ["s0"]
    assert all(each.bytes == found.examples["s0"] * 128 for each in found.rows)
    assert f"(with s0 = {found.examples['s0']})" in str(found)
    assert "128*s0 bytes" in str(found)


def test_nothing_to_plan():
    assert str(planned("graph f(%x: f32[4]) { return %x }")) == "no value gets memory of its own"


WRITES = """
graph f(%x: f32[64,32], %w: f32[32,32], %cache: f32[64,32], %rows: f32[500,32], %i: i64[2]) {
  %0: f32[64,32] = matmul(%x, %w)
  %1: f32[64,32] = matmul(%0, %w)
  %2: f32[32,32] = mul(%w, 0.5)
  %3: f32[2,32] = slice(%0, 0, 0, 2)
  %4: f32[500,32] = index_put(%rows, (%i,), %3)
  return %0: strides(32,1)
  writes (%cache <- %1, %w <- %2, %rows <- %4)
}"""


def test_each_input_that_is_written_says_by_whom():
    """A product is made elsewhere and copied; kernels and scatters write where it belongs."""
    graph = parse_graph(WRITES)
    plan, _ = plan_graph(graph, lower_graph(graph), True)
    found = lifetimes_of(plan)
    steps = dict(zip(plan.names(), plan.steps, strict=True))
    told = {each.value.id: each for each in found.writes}
    assert {name: each.copied and each.copied.id for name, each in told.items()} == {
        "cache": "1", "w": None, "rows": None,
    }  # fmt: skip
    for each in found.writes:
        assert steps[each.step].writes(each.value)
        assert str(each) in str(found)
    plain = lifetimes_of(plan_graph(graph, lower_graph(graph), True, in_place=False)[0])
    assert {each.value.id: each.copied and each.copied.id for each in plain.writes}["rows"] == "4"


def mlp():
    net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.LayerNorm(128), nn.Linear(128, 64))
    return net, torch.randn(256, 64), torch.randint(64, (256,))


def convolutions():
    net = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU(), nn.Conv2d(16, 16, 3, stride=2),
                        nn.Flatten(), nn.Linear(16 * 6 * 6, 16))  # fmt: skip
    return net, torch.randn(16, 3, 16, 16), torch.randint(16, (16,))


@pytest.mark.numba
@pytest.mark.parametrize("made", [mlp, convolutions])
def test_a_whole_step_uses_what_is_planned(made):
    """The pool's own counter, against the plan. Eager steps take memory of their own, too, and
    numpy's for some results."""
    net, x, y = made()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)

    @torch.compile(fullgraph=True)
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    events = []
    with subscribe(events.append):
        step(x, y)
        step(x, y)
    lives = [event.payload for event in events if event.stage == "memory.planned"][-1]
    step(x, y)
    pool().forget_peak()
    held = pool().counters()["allocated"]
    step(x, y)
    used = pool().counters()["peak"] - held
    rows = [each for each in lives.rows if not each.steps[0].startswith("eager")]
    most = max(
        sum(rounded_size(each.bytes) for each in rows if each.spans(number))
        for number in range(len(lives.names))
    )
    assert most == used if made is mlp else 0 < most <= used


def test_the_event_holds_the_sums_and_the_users_lines():
    events = []
    with subscribe(events.append):
        compile_graph(parse_graph(LAYERS), KernelOptions(executor="loops"), "net.py:f#0")
    [event] = [event for event in events if event.stage == "memory.planned"]
    assert event.unit == "net.py:f#0" and event.facts["graph"] == "f"
    assert event.facts["peak"] == event.payload.fullest()[1] <= event.facts["sum"]
    assert event.facts["fullest"] in event.payload.names
    rows = event.facts["values"]
    assert all(row["lines"][0].startswith("<text>:") for row in rows)
    assert sum(row["bytes"] for row in rows if row["at_peak"]) == event.facts["peak"]
