"""What a graph means: values, symbols, layouts of outputs, aliases, writes, nested graphs."""

import numpy
import pytest

import minitorch2 as torch
from minitorch2.errors import ArgumentValueError, IndexOutOfRange, ShapeError
from minitorch2.jit.ir.interpreter import as_function, interpret
from minitorch2.jit.ir.parser import parse_graph


def run(text, *inputs):
    return interpret(parse_graph(text), inputs)


def test_nodes_run_in_order():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    (found,) = run(
        "graph f(%x: f32[2,2]) { %0: f32[2,2] = matmul(%x, %x) %1: f32[2] = sum(%0, 1) return %1 }",
        x,
    )
    assert found.tolist() == [17.0, 37.0]


def test_composites_and_multiple_results():
    text = """graph f(%x: f32[3]) {
      %0: f32[3], %1: i64[3] = sort(%x, descending=True)
      %2: f32[3] = softmax(%0, 0)
      return %1, %2, (%0, 2, None), 1.5
    }"""
    order, soft, pair, number = run(text, torch.tensor([1.0, 3.0, 2.0]))
    assert order.tolist() == [1, 2, 0] and abs(float(soft.sum()) - 1) < 1e-6
    assert pair[0].tolist() == [3.0, 2.0, 1.0] and pair[1:] == (2, None) and number == 1.5


def test_symbols_come_from_shapes_and_numbers():
    text = """graph f(%x: f32[s0,s1*2], %n: int(s2)) {
      %0: f32[s0*s1*2] = view(%x, (s0*s1*2,))
      %1: f32[s0*s1*2] = mul(%0, s0+s2)
      return %1
    }"""
    (found,) = run(text, torch.ones((2, 6)), 5)
    assert found.tolist() == [7.0] * 12


@pytest.mark.parametrize(
    "inputs, wrong",
    [
        ((torch.ones((2, 4)),), "1 inputs given, 2 declared"),
        ((torch.ones((2, 5)), torch.ones((2,))), "declared 4, found 5"),
        ((torch.ones((2, 4)), torch.ones((3,))), "declared s0, found 3"),
        ((torch.ones((2, 4), dtype=torch.float64), torch.ones((2,))), "%x is declared f32[s0,4]"),
        ((torch.ones((4, 2)).t(), torch.ones((2,))), "declared 4, found 1"),
        ((torch.ones((7, 4)), torch.ones((7,))), "s0<=6 does not hold"),
    ],
)
def test_inputs_that_do_not_fit(inputs, wrong):
    text = """graph f(%x: f32[s0,4] strides(4,1), %y: f32[s0]) {
      where s0<=6
      return %x
    }"""
    with pytest.raises((ShapeError, ArgumentValueError)) as raised:
        run(text, *inputs)
    assert wrong in str(raised.value) and "graph f" in str(raised.value)


def test_gradients_are_recorded_unless_the_node_says_no():
    text = """graph f(%x: f32[2]) {
      %0: f32[2] = mul(%x, %x)
      %1: f32[2] = mul(%x, 3.0) no_grad
      %2: f32[2] = add(%0, %1)
      return %2
    }"""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (found,) = run(text, x)
    found.sum().backward()
    assert x.grad.tolist() == [2.0, 4.0]
    with torch.no_grad():
        assert not run(text, x)[0].requires_grad


def test_an_output_with_strides_owns_its_memory_in_that_layout():
    text = """graph f(%x: f32[2,3]) {
      %0: f32[3,2] = permute(%x, (1, 0))
      %1: f32[2,3] = exp(%x)
      return %0: strides(1,3), %0: strides(2,1), %1: strides(3,1), %1: strides(3,1)
    }"""
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    turned, row_major, first, second = run(text, x)
    assert turned.stride() == (1, 3) and row_major.stride() == (2, 1)
    assert turned.tolist() == row_major.tolist() == x.t().tolist()
    owners = {id(each.storage) for each in (x, turned, row_major, first, second)}
    assert len(owners) == 5
    assert turned._view is None and first._view is None


def test_an_alias_is_a_view_of_the_input_after_the_writes():
    text = """graph f(%x: f32[2,3], %y: f32[2,3]) {
      %0: f32[2,3] = add(%x, 1.0)
      %1: f32[2] = select(%x, 1, 2)
      return %1: alias(%x, 2) strides(3), %x: alias(%x, 0), %0: strides(3,1)
      writes (%x <- %0)
    }"""
    big = torch.zeros((3, 3))
    x = big[1:]
    version = x._version
    column, whole, fresh = run(text, x, x)
    assert whole is x and column.tolist() == [1.0, 1.0] and big[0].tolist() == [0.0] * 3
    assert x._version > version
    column[0] = 7.0
    assert x[0, 2] == 7.0 and fresh[0, 2] == 1.0


def test_all_writes_read_before_the_first_is_written():
    text = "graph f(%x: f32[2], %y: f32[2]) { return writes (%x <- %y, %y <- %x) }"
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    assert run(text, x, y) == []
    assert x.tolist() == [3.0, 4.0] and y.tolist() == [1.0, 2.0]


def test_outputs_are_as_computed_before_the_writes():
    text = """graph f(%x: f32[2], %y: f32[2]) {
      %0: f32[2] = view(%x, (2,))
      return %0, (%x, %y)
      writes (%x <- %y)
    }"""
    x, y = torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])
    view, (whole, other) = run(text, x, y)
    assert view.tolist() == whole.tolist() == [1.0, 2.0] and x.tolist() == [3.0, 4.0]
    assert other is y


def test_values_have_no_strides_so_a_view_may_copy():
    text = """graph f(%x: f32[2,3]) {
      %0: f32[3,2] = permute(%x, (1, 0))
      %1: f32[6] = view(%0, (6,))
      return %1
    }"""
    (found,) = run(text, torch.arange(6, dtype=torch.float32).reshape(2, 3))
    assert found.tolist() == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]


NESTED = """graph f(%p: bool[], %x: f32[s0]) {
  %0: f32[s0] = choose(%p, graph yes(%a: f32[s0]) {
    %0: f32[s0] = mul(%a, s0)
    return %0
  }, graph no(%a: f32[s0]) {
    return %a
  }, (%x,))
  return %0
}"""


def test_graphs_among_the_arguments_run_and_see_the_outer_symbols(choose):
    x = torch.tensor([1.0, 2.0, 3.0])
    assert run(NESTED, torch.tensor(True), x)[0].tolist() == [3.0, 6.0, 9.0]
    assert run(NESTED, torch.tensor(False), x)[0].tolist() == [1.0, 2.0, 3.0]


def test_a_graph_is_a_function():
    graph = parse_graph("graph f(%x: f32[2]) { %0: f32[2] = neg(%x) return %0, 1 }")
    negated, one = as_function(graph)(torch.tensor([1.0, 2.0]))
    assert negated.tolist() == [-1.0, -2.0] and one == 1


def test_random_ops_are_functions_of_seed_and_counter():
    text = """graph f(%seed: int, %counter: int(s0)) {
      %0: f32[3] = uniform(%seed, %counter, (3,), f32)
      %1: f32[3] = uniform(%seed, s0, (3,), f32)
      return %0, %1
    }"""
    first, second = run(text, 7, 40)
    assert first.tolist() == second.tolist() == run(text, 7, 40)[0].tolist()


def test_errors_are_those_of_eager():
    text = "graph f(%x: f32[3], %i: i64[1]) { %0: f32[1] = gather(%x, 0, %i) return %0 }"
    with pytest.raises(IndexOutOfRange, match="index 5 is out of bounds"):
        run(text, torch.ones(3), torch.tensor([5]))


def test_numbers_keep_their_types():
    text = "graph f(%x: i64[2]) { %0: i64[2] = add(%x, 1) %1: f32[2] = add(%x, 1.0) return %0, %1 }"
    whole, real = run(text, torch.tensor([1, 2]))
    assert whole.array.dtype == numpy.int64 and real.array.dtype == numpy.float32
