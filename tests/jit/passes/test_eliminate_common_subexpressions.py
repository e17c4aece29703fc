"""Equal calls become one, unless they are not equal or have effects."""

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.eliminate_common_subexpressions import eliminate_common_subexpressions
from minitorch2.jit.passes.options import DEFAULT
from tests.jit.passes.checking import check


def left(body):
    graph = parse_graph(f"graph f(%x: f32[4], %i: i64[4]) {{\n{body}\n}}")
    return [node.op for node in eliminate_common_subexpressions(graph, DEFAULT).nodes]


def test_equal_calls_chain():
    check(
        eliminate_common_subexpressions,
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = exp(%x)
          %1: f32[s0] = exp(%x)
          %2: f32[s0] = mul(%0, 2.0)
          %3: f32[s0] = mul(%1, 2.0)
          %4: f32[s0], %5: i64[s0] = sort(%3)
          %6: f32[s0], %7: i64[s0] = sort(%2)
          return %4: strides(1), %6: strides(1), %7: strides(1)
        }""",
        """graph f(%x: f32[s0]) {
          %0: f32[s0] = exp(%x)
          %1: f32[s0] = mul(%0, 2.0)
          %2: f32[s0], %3: i64[s0] = sort(%1)
          return %2: strides(1), %2: strides(1), %3: strides(1)
        }""",
    )


def test_literals_must_be_the_same():
    assert left("%0: f32[4] = mul(%x, 0.0) %1: f32[4] = mul(%x, -0.0) return %0, %1") == [
        "mul", "mul",
    ]  # fmt: skip
    assert left("%0: i64[4] = mul(%i, 1) %1: f32[4] = mul(%i, 1.0) return %0, %1") == [
        "mul", "mul",
    ]  # fmt: skip
    assert left("%0: f32[4] = mul(%x, nan) %1: f32[4] = mul(%x, nan) return %0, %1") == ["mul"]


def test_random_numbers_from_a_generator_are_not_merged_and_pure_ones_are():
    generator = "%0: f32[4] = rand((4,)) %1: f32[4] = rand((4,)) return %0, %1"
    assert left(generator) == ["rand", "rand"]
    pure = "%0: f32[4] = uniform(7, {0}, (4,), f32) %1: f32[4] = uniform(7, {1}, (4,), f32)"
    assert left(pure.format(3, 3) + " return %0, %1") == ["uniform"]
    assert left(pure.format(3, 4) + " return %0, %1") == ["uniform", "uniform"]


def test_what_may_fail_fails_once():
    body = "%0: i64[4] = floor_divide(%i, %i) %1: i64[4] = floor_divide(%i, %i) return %0, %1"
    assert left(body) == ["floor_divide"]


def test_writes_change_what_equal_calls_see():
    body = """%0: f32[4] = exp(%x)
    %1: f32[4] = copy_(%x, %0)
    %2: f32[4] = exp(%x)
    return %0, %2"""
    assert left(body) == ["exp", "copy_", "exp"]


def test_the_one_that_stays_knows_all_places():
    text = "graph f(%x: f32[4]) {\n%0: f32[4] = exp(%x)\n%1: f32[4] = exp(%x)\nreturn %0, %1\n}"
    node = eliminate_common_subexpressions(parse_graph(text), DEFAULT).nodes[0]
    assert [span.line for span in node.origin.spans] == [2, 3]


def test_graphs_among_the_arguments(choose):
    inner = """graph {0}(%a: f32[4]) {{
        %0: f32[4] = exp(%a)
        %1: f32[4] = exp(%a)
        %2: f32[4] = add(%0, %1)
        return %2
      }}"""
    text = f"""graph f(%p: bool[], %x: f32[4]) {{
      %0: f32[4] = choose(%p, {inner.format("yes")}, {inner.format("no")}, (%x,))
      %1: f32[4] = choose(%p, {inner.format("yes")}, {inner.format("no")}, (%x,))
      return %0, %1
    }}"""
    graph = eliminate_common_subexpressions(parse_graph(text), DEFAULT)
    assert len(graph.nodes) == 1 and str(graph).count("exp") == 2
