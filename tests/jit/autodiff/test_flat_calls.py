"""Calls with nothing between the host function and the kernels: which ones, and that they agree."""

import pytest

import minitorch2 as torch
from minitorch2.errors import DivisionByZero
from minitorch2.jit.autodiff.runtime import CompiledProgram

pytestmark = pytest.mark.numba


def program_of(compiled):
    [entry] = compiled.cache.all_entries()
    program = entry.compiled.run
    assert isinstance(program, CompiledProgram)
    return program


def is_flat(compiled):
    return program_of(compiled).flat() is not program_of(compiled)


def same(found, wanted):
    found, wanted = ([each] if isinstance(each, torch.Tensor) else each for each in (found, wanted))
    assert all(torch.equal(one, other) for one, other in zip(found, wanted, strict=True))


def written(x, y):
    x.add_(1)
    return x * y


FLAT = {
    "one result": lambda x, y: x * y + 1,
    "several": lambda x, y: (x * y, x - y, (x + y).sum()),
    "in another order": lambda x, y: (lambda a, b: (b, a))(x * y, x - y),
    "a product": lambda x, y: x @ y.t(),
    "a reshaped result": lambda x, y: (x * y).reshape(-1),
    "a transposed result": lambda x, y: (x * y).t(),
}
AROUND = {
    "an input is returned": lambda x, y: (x * y, x),
    "a view of an input": lambda x, y: (x * y, x[1:]),
    "one result twice": lambda x, y: (lambda a: (a, a))(x * y),
    "a constant": lambda x, y: (x * y, 3),
    "views of one result": lambda x, y: (lambda a: (a, a.t()))(x * y),
    "random numbers": lambda x, y: torch.rand(3) * 0 + x[0, :3],
    "what runs eagerly": lambda x, y: torch.linalg.inv(x @ x.t() + torch.eye(4)),
}
BESIDE = ("an input is returned", "one result twice", "a constant")  # what capture does by itself


@pytest.mark.parametrize("name", FLAT)
def test_kernels_and_products_alone(name):
    x, y = torch.rand(4, 6), torch.rand(4, 6)
    compiled = torch.compile(FLAT[name])
    for _ in range(3):
        same(compiled(x, y), FLAT[name](x, y))
    assert is_flat(compiled) and compiled.totals()["calls"] == 3


@pytest.mark.parametrize("name", AROUND)
def test_whatever_needs_more(name):
    x, y = torch.rand(4, 6), torch.rand(4, 6)
    compiled = torch.compile(AROUND[name])
    for _ in range(3):
        found, wanted = compiled(x, y), AROUND[name](x, y)
        if isinstance(wanted, tuple):
            assert [torch.is_tensor(each) for each in found] == [*map(torch.is_tensor, wanted)]
            found, wanted = ([e for e in each if torch.is_tensor(e)] for each in (found, wanted))
        torch.testing.assert_close(found, wanted)
    assert compiled.totals()["calls"] == 3
    assert is_flat(compiled) == (name in BESIDE)


def test_results_never_share_memory_with_inputs_or_each_other():
    x, y = torch.rand(4, 6), torch.rand(4, 6)
    for function in FLAT.values():
        results = torch.compile(function)(x, y)
        results = results if isinstance(results, tuple) else (results,)
        storages = [id(each.storage) for each in (x, y, *results)]
        assert len(set(storages)) == len(storages)


def test_writes_and_gradients_are_not_flat():
    x, y = torch.rand(4), torch.rand(4)
    compiled, before = torch.compile(written), x.clone()
    compiled(x, y)
    compiled(x, y)
    assert torch.equal(x, before + 1 + 1)
    z = torch.rand(4, requires_grad=True)
    recorded = torch.compile(lambda x: (x * 2).sum())
    for count in (1, 2, 3):
        recorded(z).backward()
        assert z.grad.tolist() == [2.0 * count] * 4
    assert not is_flat(recorded)


def test_an_error_in_a_kernel_is_the_users():
    divide = torch.compile(lambda x, y: x // y)
    x, y = torch.tensor([4, 6]), torch.tensor([2, 3])
    assert divide(x, y).tolist() == [2, 2] and is_flat(divide)
    for _ in range(2):
        with pytest.raises(DivisionByZero):
            divide(x, torch.tensor([2, 0]))
    assert divide(x, y).tolist() == [2, 2]


def test_the_mode_that_the_caller_is_in_stays():
    compiled = torch.compile(FLAT["one result"])
    x = torch.rand(4, 6)
    for wanted in (True, True, False, False):
        with torch.set_grad_enabled(wanted):
            result = compiled(x, x)
            assert torch.is_grad_enabled() is wanted and not result.requires_grad


def test_inference_mode():
    compiled = torch.compile(FLAT["several"])
    x = torch.rand(4, 6)
    with torch.inference_mode():
        for _ in range(2):
            found, eager = compiled(x, x), FLAT["several"](x, x)
            for one, other in zip(found, eager, strict=True):
                assert repr(one.storage.version) == repr(other.storage.version)
                assert torch.equal(one, other)
