"""The shared walk: uses follow replacements, definitions are found, graphs are copied whole."""

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.rebuild import rebuild

TEXT = """graph f(%x: f32[s0]) {
  where s0>=4
  %0: f32[s0] = exp(%x)
  %1: f32[s0] = neg(%0)
  return %0, (%1, 2)
  writes (%x <- %1)
}"""


def test_keeping_everything_changes_nothing():
    graph = parse_graph(TEXT)
    assert rebuild(graph, lambda rebuilder, node: None) == graph


def test_outputs_and_writes_follow():
    seen = []

    def step(rebuilder, node):
        seen.append([rebuilder.definition(argument) for argument in node.args])
        return (node.args[0],) if node.op == "neg" else None

    after = rebuild(parse_graph(TEXT), step)
    verify(after)
    assert str(after).splitlines()[-3:] == ["  return %0, (%0, 2)", "  writes (%x <- %0)", "}"]
    assert seen[0] == [None] and seen[1][0].op == "exp"


def test_new_nodes_have_types_defaults_and_origins():
    def step(rebuilder, node):
        if node.op == "exp":
            return (rebuilder.add("sum", (node.args[0], -1, True), node, "test"),)

    text = TEXT.replace("%0: f32[s0] = exp(%x)", "%0: f32[1] = exp(%x)")
    after = rebuild(parse_graph(text.replace("%1: f32[s0]", "%1: f32[1]")), step)
    first = after.nodes[0]
    assert str(first) == "%0: f32[1] = sum(%x, (-1,), True)"
    assert first.args[3] is None and first.origin.made_by == "test"
    assert [span.line for span in first.origin.spans] == [3]
