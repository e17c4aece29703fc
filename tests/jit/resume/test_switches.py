"""Functions that are never captured, and regions in which a break is an error."""

import pytest

import minitorch2 as torch
from minitorch2.errors import GraphBreakError
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, codes, is_captured, ones


@torch.compiler.disable
def left_alone(x):
    assert not torch.compiler.is_compiling()
    return x * 3


def calls_it(x):
    y = x + 1
    z = left_alone(y)
    return z + y


def breaks(x):
    y = x + 1
    print("break")
    return y * 2


def test_a_disabled_function_is_the_operation_of_a_break():
    cache = both(calls_it)
    assert codes(cache) == ["disabled"] and is_captured(cache)
    assert [len(e.program.graph.nodes) for e in cache.all_entries()] == [1, 1]


def test_a_disabled_method_and_module():
    class Inner(torch.nn.Module):
        def forward(self, x):
            assert not torch.compiler.is_compiling()
            return x * 5

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.compiler.disable(Inner())

        @torch.compiler.disable(reason="for the test")
        def helper(self, x):
            assert not torch.compiler.is_compiling()
            return x + 1

        def forward(self, x):
            return self.inner(self.helper(x * 2)) - 1

    made = Outer()
    cache = compiled(made, fullgraph=False)
    assert cache(*ones()).tolist() == cache(*ones()).tolist() == [14.0] * 3
    assert codes(cache) == ["disabled", "disabled"]


def test_compiling_a_disabled_function_does_nothing():
    cache = compiled(left_alone)
    assert cache(*ones()).tolist() == [3.0] * 3 and not list(cache.all_entries())


def test_a_region_in_which_breaks_are_errors(capsys):
    strict, lax = torch.compile(breaks, backend="eager"), torch.compile(calls_it, backend="eager")
    with torch.compiler.error_on_graph_break():
        with pytest.raises(GraphBreakError, match="input-output"):
            strict(*ones())
        with torch.compiler.error_on_graph_break(False):
            assert lax(*ones()).tolist() == [8.0] * 3
    assert strict(*ones()).tolist() == [4.0] * 3

    decorated = torch.compiler.error_on_graph_break()(torch.compile(breaks, backend="eager"))
    with pytest.raises(GraphBreakError):
        decorated(*ones())
    whole = torch.compile(breaks, backend="eager", fullgraph=True)
    with torch.compiler.error_on_graph_break(False):
        assert whole(*ones()).tolist() == [4.0] * 3
