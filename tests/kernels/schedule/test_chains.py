"""Batched products and the kernels between them as one step."""

import numpy
import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph, plan_graph
from minitorch2.kernels.lower.lowering import lower_graph
from minitorch2.kernels.schedule.chains import chain
from minitorch2.kernels.schedule.plan import ChainStep

SOFTMAX = (
    "%2: f32[2,4,16,1] = amax(%1, (-1,), True)",
    "%3: f32[2,4,16,16] = sub(%1, %2)",
    "%4: f32[2,4,16,16] = exp(%3)",
    "%5: f32[2,4,16,1] = sum(%4, (-1,), True)",
    "%6: f32[2,4,16,16] = true_divide(%4, %5)",
)
QKV = "%q: f32[2,4,16,8], %k: f32[2,4,16,8], %v: f32[2,4,16,8]"
SCORES = (
    "%0: f32[2,4,8,16] = transpose(%k, -1, -2)",
    "%1: f32[2,4,16,16] = matmul(%q, %0)",
)


def graph_of(*lines, inputs=QKV, returns="%9", writes=""):
    return parse_graph(f"graph f({inputs}) {{ {' '.join(lines)} return {returns} {writes} }}")


def chained(*lines, **parts):
    """The steps of a graph: the letters of a chain's members in parentheses."""
    graph = graph_of(*lines, **parts)
    plan, _ = chain(plan_graph(graph, lower_graph(graph), fuse=True)[0])
    letter = {"ProductStep": "p", "KernelStep": "k", "EagerStep": "e"}
    words = []
    for step in plan.steps:
        members = step.members if isinstance(step, ChainStep) else (step,)
        word = "".join(letter[type(each).__name__] for each in members)
        unit = "rows" if not getattr(step, "whole", True) else "matrices"
        words.append(f"{word} {unit}" if isinstance(step, ChainStep) else word)
    return words


def given(graph, seed=0):
    """An array for each input."""
    make = numpy.random.default_rng(seed)
    shapes = [(each.value.type.dtype, each.value.type.shape) for each in graph.inputs]
    return [torch.tensor(make.standard_normal(shape)).to(dtype) for dtype, shape in shapes]


def assert_same(graph, *options, exact=True):
    """With and without chains, and by the interpreter of loops, the same."""
    inputs = given(graph)
    wanted = compile_graph(graph, KernelOptions(chain=False))(list(inputs))
    for each in options or (KernelOptions(), KernelOptions(executor="python")):
        found = compile_graph(graph, each)(list(inputs))
        for one, other in zip(found, wanted, strict=True):
            assert torch.equal(one, other) if exact else torch.allclose(one, other, atol=1e-6)
    checked = interpret(graph, inputs)
    for one, other in zip(wanted, checked, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-4)


ATTENTION = (*SCORES, *SOFTMAX, "%9: f32[2,4,16,8] = matmul(%6, %v)")


def test_attention_is_one_launch_some_rows_at_a_time():
    assert chained(*ATTENTION) == ["pkp rows"]
    assert_same(graph_of(*ATTENTION))


def test_what_is_returned_has_memory():
    graph = graph_of(*ATTENTION, returns="%9, %6")
    plan, (note,) = chain(plan_graph(graph, lower_graph(graph), fuse=True)[0])
    (step,) = plan.steps
    assert [value.id for value in step.inside] == ["1"]
    assert note == (
        "%1 (matmul) and %9 (matmul)  one launch, some rows at a time, with no memory for all of %1"
    )
    assert_same(graph)


def test_an_operand_that_is_turned_needs_whole_matrices():
    lines = (
        *SCORES,
        "%2: f32[2,4,16,16] = exp(%1)",
        "%3: f32[2,4,16,16] = transpose(%2, -1, -2)",
        "%8: f32[2,4,16,8] = matmul(%2, %v)",
        "%9: f32[2,4,16,8] = matmul(%3, %q)",
    )
    assert chained(*lines, returns="%8, %9") == ["pkpp matrices"]
    assert_same(graph_of(*lines, returns="%8, %9"))


def test_a_right_operand_of_the_chain_needs_whole_matrices():
    lines = (*SCORES, "%2: f32[2,4,16,16] = exp(%1)", "%9: f32[2,4,16,16] = matmul(%2, %2)")
    assert chained(*lines) == ["pkp matrices"]
    assert_same(graph_of(*lines))


@pytest.mark.parametrize(
    "lines",
    [
        # a sum over the heads reads other matrices than its own
        (*SCORES, "%2: f32[2,1,16,16] = sum(%1, (1,), True)",
         "%3: f32[2,4,16,16] = expand(%2, (2, 4, 16, 16))",
         "%9: f32[2,4,16,8] = matmul(%3, %v)"),
        # the heads change places
        (*SCORES, "%2: f32[4,2,16,16] = transpose(%1, 0, 1)", "%3: f32[4,2,16,16] = exp(%2)",
         "%4: f32[2,4,16,16] = view(%3, (2, 4, 16, 16))",
         "%9: f32[2,4,16,8] = matmul(%4, %v)"),
        # one matrix for all
        ("%0: f32[2,4,16,16] = exp(%x)", "%1: f32[2,4,16,8] = matmul(%0, %w)",
         "%9: f32[2,4,16,8] = exp(%1)"),
    ],
)  # fmt: skip
def test_what_reads_across_units_stays_apart(lines):
    inputs = QKV + ", %x: f32[2,4,16,16], %w: f32[16,8]"
    assert all(" " not in word for word in chained(*lines, inputs=inputs))
    assert_same(graph_of(*lines, inputs=inputs))


def test_nothing_is_gained_where_all_is_wanted_elsewhere():
    assert chained(*ATTENTION, returns="%9, %6, %1") == ["p", "k", "p"]


def test_what_is_in_the_way_runs_before():
    lines = (
        *SCORES,
        "%7: f32[8,8] = exp(%x)",
        "%8: f32[8,8] = matmul(%7, %7)",
        *SOFTMAX,
        "%9: f32[2,4,16,8] = matmul(%6, %v)",
    )
    inputs = f"{QKV}, %x: f32[8,8]"
    words = chained(*lines, inputs=inputs, returns="%9, %8")
    assert sorted(words) == ["k", "p", "pkp rows"]
    assert_same(graph_of(*lines, inputs=inputs, returns="%9, %8"))


def test_writes_into_inputs_are_no_members():
    lines = (*ATTENTION[:-1], "%9: f32[2,4,16,8] = matmul(%6, %v)")
    words = chained(*lines, inputs=QKV, writes="writes (%q <- %9)")
    assert words == ["pkp rows", "k"]
    graph = graph_of(*lines, writes="writes (%q <- %9)")
    first, second = given(graph), given(graph)
    compile_graph(graph, KernelOptions())(first)
    compile_graph(graph, KernelOptions(chain=False))(second)
    assert torch.equal(first[0], second[0])


def sums(rows):
    """q @ k.T and what becomes of it, its own turn times q, for so many rows."""
    inputs = f"%q: f32[8,{rows},16], %k: f32[8,{rows},16]"
    lines = (
        f"%0: f32[8,16,{rows}] = transpose(%k, -1, -2)",
        f"%1: f32[8,{rows},{rows}] = matmul(%q, %0)",
        f"%2: f32[8,{rows},{rows}] = exp(%1)",
        f"%3: f32[8,{rows},{rows}] = transpose(%2, -1, -2)",
        f"%8: f32[8,{rows},16] = matmul(%2, %k)",
        f"%9: f32[8,{rows},16] = matmul(%3, %q)",
    )
    return lines, inputs


def test_large_matrices_are_added_up():
    """Rows of the scores are terms of the second sum: memory for the rows of a unit is enough."""
    lines, inputs = sums(512)
    graph = graph_of(*lines, inputs=inputs, returns="%8, %9")
    plan, (note,) = chain(plan_graph(graph, lower_graph(graph), fuse=True)[0])
    (step,) = plan.steps
    assert (step.whole, step.in_sums) == (False, (False, False, False, True))
    assert "some rows, added up, at a time" in note
    small = graph_of(*sums(128)[0], inputs=sums(128)[1], returns="%8, %9")
    (other,) = chain(plan_graph(small, lower_graph(small), fuse=True)[0])[0].steps
    assert other.whole
    assert_same(graph, KernelOptions(), exact=False)


def test_a_sum_over_units_is_complete_at_the_end_only():
    lines, inputs = sums(512)
    last = "%10: f32[8,512,16] = exp(%9)"
    assert chained(*lines, last, inputs=inputs, returns="%8, %10") == ["pkpp rows", "k"]


def test_the_number_of_threads_changes_no_sum():
    lines, inputs = sums(512)
    graph = graph_of(*lines, inputs=inputs, returns="%8, %9")
    run, data = compile_graph(graph, KernelOptions()), given(graph)
    before, found = torch.get_num_threads(), []
    try:
        for count in (1, 2, 64):
            torch.set_num_threads(count)
            found.append(run(list(data)))
    finally:
        torch.set_num_threads(before)
    assert all(all(map(torch.equal, each, found[0])) for each in found)


@pytest.mark.parametrize("kind", [torch.float32, torch.float64], ids=str)
def test_every_size_gives_the_same_bits(kind):
    """Also those that no blocks fit, and those that BLAS does not take."""

    def attention(q, k, v):
        return torch.softmax(q @ k.transpose(-2, -1) * 0.25, -1) @ v

    together = torch.compile(attention, dynamic=True)
    apart = torch.compile(attention, dynamic=True, options={"disable_passes": ["chain"]})
    make = numpy.random.default_rng(7)
    for rows in (2, 31, 63, 64, 65, 127, 128, 192, 1024):
        for heads in (2, 3, 8):
            shapes = [(2, heads, size, 16) for size in (rows, 70, 70)]
            inputs = [torch.tensor(make.standard_normal(shape)).to(kind) for shape in shapes]
            assert torch.equal(together(*inputs), apart(*inputs)), (rows, heads)


def test_the_number_of_threads_changes_nothing():
    graph = graph_of(*ATTENTION, returns="%9, %6")
    run, inputs = compile_graph(graph, KernelOptions()), given(graph)
    before = torch.get_num_threads()
    results = []
    try:
        for count in (1, 2, 3, 16):
            torch.set_num_threads(count)
            results.append(run(list(inputs)))
    finally:
        torch.set_num_threads(before)
    for found in results[1:]:
        assert all(map(torch.equal, found, results[0]))


def attention(q, k, v, mask):
    scores = q @ k.transpose(-2, -1) * (1 / 8)
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1)
    return torch.nn.functional.dropout(weights, 0.2) @ v


def test_training_with_a_mask_and_dropout_draws_and_gives_the_same():
    """Forward and backward each are one launch; the seed changes from call to call."""
    make = numpy.random.default_rng(3)
    data = [make.standard_normal((2, 128, 4, 32)).astype(numpy.float32) for _ in range(3)]
    future = torch.ones(128, 128, dtype=torch.bool).tril().logical_not()

    def run(options):
        torch.manual_seed(1)
        compiled = torch.compile(attention, options=options)
        found = []
        for _ in range(3):
            leaves = [torch.tensor(each).requires_grad_() for each in data]
            result = compiled(*[leaf.transpose(1, 2) for leaf in leaves], future)
            result.square().sum().backward()
            found += [result.detach(), *(leaf.grad for leaf in leaves)]
        return found

    events = []
    with subscribe(events.append):
        together = run({})
    fused = [event for event in events if event.stage == "loops.fused"]
    assert [len(event.facts["chained"]) for event in fused] == [1, 1]
    apart = run({"disable_passes": ["chain"]})
    assert all(map(torch.equal, together, apart))
    assert not torch.equal(together[0], together[4])  # other numbers each time


def test_a_program_from_the_disk_has_its_chains(monkeypatch):
    """The second compilation of a function loads what the first one stored."""
    make = numpy.random.default_rng(5)
    inputs = [torch.tensor(make.standard_normal((2, 4, 64, 32))) for _ in range(3)]

    def compiled():
        def fn(q, k, v):
            return torch.softmax(q @ k.transpose(-2, -1) + 0.125, -1) @ v

        return torch.compile(fn)(*inputs)

    first = compiled()
    monkeypatch.setattr("minitorch2.kernels.backend.compile_graph", None)
    assert torch.equal(compiled(), first)


def test_bytes_that_stay_inside_do_not_count():
    graph = graph_of(*ATTENTION)
    events = []
    with subscribe(events.append):
        compile_graph(graph, KernelOptions())
        compile_graph(graph, KernelOptions(chain=False))
    together, apart = [e.facts["costs"] for e in events if e.stage == "kernel.cost"]
    (row,) = together
    assert row["name"] == "chain_0"
    assert row["bytes_read"] + row["bytes_written"] == 4 * 4 * 2 * 4 * 16 * 8
    assert row["flops"] == sum(each["flops"] for each in apart)


def test_the_meter_counts_a_chain_as_one_launch():
    events = []
    with subscribe(events.append, also=["runtime.launches"]):
        run = compile_graph(graph_of(*ATTENTION), KernelOptions())
        run(given(run.graph))
        run(given(run.graph))
    (tally,) = run.meter.tallies
    assert (tally.name, tally.launches, tally.counted) == ("chain_0", 2, True)
    assert tally.flops > 0 and tally.read > 0
