"""What fusion joins, and the reason it gives for what it leaves apart."""

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import kernel_count, plan_graph
from minitorch2.kernels.lower.lowering import lower_graph


def plan(*lines: str, inputs: str = "%x: f32[64,32]", returns: str = "%9", writes: str = ""):
    """The plan of a graph and its refusals as texts."""
    body = "\n".join(f"  {line}" for line in (*lines, f"return {returns}", writes) if line)
    graph = parse_graph(f"graph f({inputs}) {{\n{body}\n}}")
    made, fusion = plan_graph(graph, lower_graph(graph), fuse=True)
    return made, [str(refusal) for refusal in fusion.refusals]


def test_a_chain_is_one_loop():
    made, refusals = plan(
        "%0: f32[64,32] = exp(%x)",
        "%1: f32[32,64] = transpose(%0, 0, 1)",
        "%2: f32[64,32] = transpose(%1, 0, 1)",
        "%9: f32[2048] = view(%2, (2048,))",
    )
    assert kernel_count(made) == 1 and not refusals
    assert str(made.steps[0].kernel.parallel_extent) == "2048"


def test_softmax_is_one_kernel():
    made, refusals = plan(
        "%0: f32[64,1] = amax(%x, (1,), True)",
        "%1: f32[64,32] = sub(%x, %0)",
        "%2: f32[64,32] = exp(%1)",
        "%3: f32[64,1] = sum(%2, (1,), True)",
        "%9: f32[64,32] = true_divide(%2, %3)",
    )
    assert kernel_count(made) == 1 and not refusals


def test_groups_of_channels_are_returned_without_a_copy():
    made, refusals = plan(
        "%0: f32[4,3,70] = view(%x, (4, 3, 70))",
        "%1: f32[4,3,1] = sum(%0, (2,), True)",
        "%2: f32[4,3,70] = sub(%0, %1)",
        "%9: f32[4,6,5,7] = view(%2, (4, 6, 5, 7))",
        inputs="%x: f32[4,6,5,7]",
    )
    assert kernel_count(made) == 1 and not refusals


def test_siblings_share_a_loop():
    made, _ = plan(
        "%0: f32[32] = sum(%x, (0,))",
        "%1: f32[64,32] = mul(%x, %x)",
        "%2: f32[32] = sum(%1, (0,))",
        returns="%0, %2",
    )
    assert kernel_count(made) == 1
    reduce = made.steps[0].kernel.body[0].body[0]
    assert len(reduce.accumulators) == 2


@pytest.mark.parametrize(
    "lines, reason",
    [
        (("%0: f32[32] = sum(%x, (0,))", "%9: f32[64,32] = sub(%x, %0)"),
         "its rows do not lie in one stretch of memory"),
        (("%0: f32[64] = sum(%x, (1,))", "%9: f32[] = sum(%0)"),
         "their reductions run over different loops"),
        (("%0: f32[32,64] = transpose(%x, 0, 1)", "%1: f32[32,32] = matmul(%0, %x)",
          "%9: f32[32,32] = exp(%1)"),
         "matmul is a step of its own"),
        (("%0: f32[64,32] = exp(%x)", "%1: f32[1,64,32] = unsqueeze(%0, 0)",
          "%9: f32[9,64,32] = expand(%1, (9, 64, 32))"),
         "it would compute a slow function again for every element"),
        (("%0: f32[64,32] = sub(%x, 1.0)", "%1: f32[1,64,32] = unsqueeze(%0, 0)",
          "%2: f32[9,64,32] = expand(%1, (9, 64, 32))", "%9: f32[9,64,32] = add(%2, %0)"),
         ""),
    ],
)  # fmt: skip
def test_reasons(lines, reason):
    _, refusals = plan(*lines)
    if reason:
        assert any(reason in refusal for refusal in refusals), refusals
    else:
        assert not refusals


def test_a_write_joins_its_producer_only_where_nothing_reads_later():
    made, _ = plan("%0: f32[64,32] = add(%x, 1.0)", returns="", writes="writes (%x <- %0)")
    assert kernel_count(made) == 1 and made.steps[0].kernel.buffers[0].mode == "inout"
    made, refusals = plan("%0: f32[64,32] = flip(%x, (0,))", returns="", writes="writes (%x <- %0)")
    assert kernel_count(made) == 2
    assert any("other iterations still read" in refusal for refusal in refusals)


def test_a_write_waits_for_what_may_fail_and_joins_the_rest():
    """The update is one kernel in place, although a bad index may stop the call before it."""
    made, refusals = plan(
        "%0: f32[8,32] = index_select(%x, 0, %i)",
        "%1: f32[] = sum(%0)",
        "%2: f32[64,32] = mul(%y, 0.5)",
        "%3: f32[64,32] = add(%2, %1)",
        inputs="%i: i64[8], %x: f32[64,32], %y: f32[64,32]",
        returns="%1",
        writes="writes (%y <- %3)",
    )
    assert kernel_count(made) == 2
    last = made.steps[-1].kernel
    assert [buffer.mode for buffer in last.buffers].count("inout") == 1
    made, refusals = plan(
        "%0: f32[64,32] = index_select(%x, 0, %i)",
        inputs="%i: i64[64], %x: f32[64,32], %y: f32[64,32]",
        returns="",
        writes="writes (%y <- %0)",
    )
    assert kernel_count(made) == 2
    assert any("nothing can fail any more" in refusal for refusal in refusals)


def test_an_update_runs_when_its_gradient_is_there():
    """A correction that stands at the end of the program does not keep the gradient waiting."""
    made, _ = plan(
        "%0: f32[32] = sum(%x, (0,))",
        "%1: f32[64,64] = matmul(%x, %y)",
        "%2: f32[64,64] = matmul(%1, %1)",
        "%3: f32[] = mul(%s, 0.5)",
        "%4: f32[32,64] = exp(%y)",
        "%5: f32[64,64] = matmul(%x, %4)",
        "%6: f32[32] = mul(%0, %3)",
        "%7: f32[32] = add(%w, %6)",
        inputs="%x: f32[64,32], %y: f32[32,64], %s: f32[], %w: f32[32]",
        returns="%2, %5",
        writes="writes (%w <- %7)",
    )
    kinds = [type(step).__name__ for step in made.steps]
    assert kinds[0] == "KernelStep" and kinds.index("ProductStep") == 1


def test_indices_that_were_checked_are_not_checked_again_before_a_write():
    """The gradient of an embedding cannot fail where the embedding has not."""
    lines = (
        "%0: f32[8,32] = index_select(%x, 0, %i)",
        "%1: f32[8,32] = mul(%0, 2.0)",
        "%2: f32[64,32] = full((64, 32), 0.0)",
        "%3: f32[64,32] = index_add(%2, 0, %i, %1)",
        "%4: f32[64,32] = add(%y, 1.0)",
    )
    inputs = "%i: i64[8], %x: f32[64,32], %y: f32[64,32]"
    graph = parse_graph(f"graph f({inputs}) {{ {' '.join(lines)} return %3 writes (%y <- %4) }}")
    fusion = plan_graph(graph, lower_graph(graph), fuse=True)[1]
    assert [fusion.name(unit) for unit in sorted(fusion.fragile)] == ["%0 (index_select)"]


def test_an_operand_in_another_order_needs_no_copy():
    made, _ = plan(
        "%0: f32[32,8,8] = transpose(%x, 0, 2)",
        "%1: f32[32,8,8] = transpose(%0, 1, 2)",
        "%2: f32[32,64] = view(%1, (32, 64))",
        "%9: f32[32,4] = matmul(%2, %y)",
        inputs="%x: f32[8,8,32], %y: f32[64,4]",
    )
    assert [type(step).__name__ for step in made.steps] == ["ProductStep"]


def test_indices_computed_twice_in_the_same_way_are_checked_once():
    """A memory budget computes the positions again for the gradient of their embedding."""
    lines = (
        "%0: i64[64] = range_(0, 64, 1, i64)",
        "%1: f32[64,32] = index_select(%x, 0, %0)",
        "%2: f32[64,32] = mul(%1, 2.0)",
        "%3: f32[64,32] = full((64, 32), 0.0)",
        "%4: f32[64,32] = after(%2, %1)",
        "%5: i64[64] = range_(0, 64, 1, i64)",
        "%6: f32[64,32] = index_add(%3, 0, %5, %4)",
        "%7: f32[64,32] = add(%y, 1.0)",
    )
    inputs = "%x: f32[64,32], %y: f32[64,32]"
    graph = parse_graph(f"graph f({inputs}) {{ {' '.join(lines)} return %6 writes (%y <- %7) }}")
    fusion = plan_graph(graph, lower_graph(graph), fuse=True)[1]
    assert [fusion.name(unit) for unit in sorted(fusion.fragile)] == ["%1 (index_select)"]
