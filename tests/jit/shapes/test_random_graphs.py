"""One compiled artifact for several sizes of random graphs; see tests/graphs/sizes.py."""

import warnings
from dataclasses import replace

import numpy
import pytest

import minitorch2 as torch
from minitorch2.jit.ir.parser import parse_graph
from tests.graphs.making import Case, make
from tests.graphs.sizes import SIZES, differences, entries, function_of, varied

pytestmark = pytest.mark.numba


def test_each_size_gives_what_eager_gives():
    judged, many = 0, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what runs op by op says so
        for seed in range(40):
            free = varied(make(seed))
            if free is None:
                continue
            run = torch.compile(free.function, dynamic=True, backend="interpreter")
            found = list(differences(free, run))
            wrong = [each for each in found if each[1]]
            assert not wrong, f"python -m tests.graphs.sizes 1 --seed {seed}: {wrong}"
            judged += len(found)
            many += len(found) > len(SIZES) // 2 and len(entries(run)) < len(found)
    assert judged > 60 and many > 10  # most graphs take several sizes with fewer artifacts


def test_a_size_that_is_compiled_again_for_nothing_is_wrong():
    """With `dynamic=False` each size is a compilation of its own."""
    graph = parse_graph("graph f(%x: f32[4,3]) { %0: f32[4,3] = exp(%x) return %0 }")
    free = varied(Case(0, graph, (numpy.ones((4, 3), "float32"),), (True,)))
    assert free is not None
    assert not [wrong for _, wrong in differences(free, torch.compile(free.function, dynamic=True))
                if wrong]  # fmt: skip
    fixed = torch.compile(free.function, dynamic=False)
    assert any("compiled" in wrong for _, wrong in differences(free, fixed))


def misplaced(function, place):
    """The function with the gradients of an input in the wrong places: their sum is right."""

    class Rolled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.clone()

        @staticmethod
        def backward(ctx, g):
            return g.roll(1, 0)

    def changed(*given):
        return function(*(Rolled.apply(x) if n == place else x for n, x in enumerate(given)))

    return changed


@pytest.mark.parametrize("place", (0, 1))
def test_gradients_in_the_wrong_places_are_wrong(place):
    text = "graph f(%x: f32[4], %y: f32[4]) { %0: f32[4] = add(%x, %y) return %0 }"
    numbers = numpy.linspace(1, 2, 4, dtype="float32")
    free = varied(Case(0, parse_graph(text), (numbers, numbers), (True, True)))
    compiled = torch.compile(free.function, dynamic=True, backend="interpreter")
    right = dict(differences(free, compiled))
    assert set(right) == {4, *SIZES} and not any(right.values())
    faulty = misplaced(compiled, place)
    faulty.cache = compiled.cache
    wrong = dict(differences(free, faulty))
    assert {size for size, text in wrong.items() if text} == {2, 4, 7, 33}
    assert all(f"array {3 + place}" in text for size, text in wrong.items() if size > 1)


def test_one_infinity_does_not_excuse_the_numbers_beside_it():
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = log(%x) return %0 }")
    free = varied(Case(0, graph, (numpy.array([0, 1, 2, 3], "float32"),), (False,)))
    compiled = torch.compile(free.function, dynamic=True, backend="interpreter")

    def faulty(x):
        return (compiled(x)[0] * torch.tensor(1.01),)

    faulty.cache = compiled.cache
    wrong = dict(differences(free, faulty))
    assert wrong[4] and wrong[7] and not wrong[0] and not wrong[1]


def test_what_eager_breaks_on_is_wrong_and_no_refusal():
    """But what it refuses at a size is left out."""
    graph = parse_graph("graph f(%x: f32[4]) { %0: f32[4] = exp(%x) return %0 }")
    free = varied(Case(0, graph, (numpy.ones(4, "float32"),), (False,)))

    def breaks(x):
        if x.shape[0] == 7:
            raise AssertionError("planted")
        if x.shape[0] == 33:
            raise ValueError("planted")
        return free.function(x)

    compiled = torch.compile(free.function, dynamic=True, backend="interpreter")
    found = dict(differences(replace(free, function=breaks), compiled))
    assert found.pop(7) == "eager raises AssertionError: planted"
    assert set(found) == {0, 1, 2, 4} and not any(found.values())


@pytest.mark.parametrize("shape", [(5, 3), (3, 5)])
@pytest.mark.parametrize("call", ["linalg_svd(%x, True)", "linalg_svd(%x, False)"])
def test_derivatives_that_slice_by_a_size_keep_it_free(shape, call):
    m, n = shape
    k = min(m, n)
    full = "True" in call
    u, vh = (f"f64[{m},{m}]", f"f64[{n},{n}]") if full else (f"f64[{m},{k}]", f"f64[{k},{n}]")
    graph = parse_graph(f"""graph f(%x: f64[{m},{n}]) {{
      %0: {u}, %1: f64[{k}], %2: {vh} = {call}
      %3: {u} = abs(%0)
      return %3, %1 }}""")
    numbers = numpy.random.RandomState(0).randn(m, n)
    eager = function_of(Case(0, graph, (numbers,), (True,)))
    run = torch.compile(eager, dynamic=True, backend="interpreter")
    for size in (m, m + 1, m + 6):
        x = torch.from_numpy(numpy.random.RandomState(size).randn(size, n if m > n else size + 2))
        one, two = x.clone().requires_grad_(), x.clone().requires_grad_()
        for leaf, function in ((one, eager), (two, run)):
            sum((out * out).sin().sum() for out in function(leaf * 1.0)).backward()
        torch.testing.assert_close(one.grad, two.grad)
    assert len(entries(run)) == 1
