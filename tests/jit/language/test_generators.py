"""Generators of random numbers, made inside and met: the graph draws from them."""

import pytest

import minitorch2 as torch
import minitorch2.nn.functional as F
from minitorch2 import nn
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


def state(generator):
    """Where a generator stands."""
    return generator.get_state().tolist()


@program
def made_and_seeded(x):
    generator = torch.Generator()
    generator.manual_seed(3)
    first = torch.rand(3, generator=generator)
    return first + x, torch.randn(2, generator=generator), generator.initial_seed()


@program
def made_and_not_seeded(x):
    generator = torch.Generator("cpu")
    return torch.rand(3, generator=generator) * x, generator.device


@program
def every_operation(x):
    generator = torch.Generator().manual_seed(11)
    return (
        torch.randint(0, 9, (3,), generator=generator),
        torch.bernoulli(torch.full((3,), 0.5), generator=generator),
        torch.randperm(5, generator=generator),
        torch.empty(3).normal_(generator=generator),
        torch.empty(3).uniform_(1, 2, generator=generator),
        nn.init.kaiming_uniform_(nn.Parameter(torch.empty(3, 2)), generator=generator),
        torch.normal(0.0, 1.0, (2,), generator=generator) + x[0, 0],
    )


@program
def two_beside_the_default(x):
    one, two = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
    first, second, third = torch.rand(3, generator=one), torch.rand(3), torch.rand(3, generator=two)
    return first, second, third, (first == third).all(), one is two, x + 1


@program
def large_seeds(x):
    made = [torch.Generator().manual_seed(seed) for seed in (-1, 2**63, 2**64 - 2)]
    return [torch.rand(2, generator=one) for one in made], x + 1


@program
def the_default_seeded(x):
    before = torch.rand(2)
    torch.manual_seed(5)
    first = torch.rand(3)
    torch.manual_seed(5)
    return before, first, torch.rand(3), F.dropout(x, 0.5), nn.Linear(3, 2)


@program(breaks=True)
def the_state_handed_out(x):
    generator = torch.Generator().manual_seed(2)
    first = torch.rand(2, generator=generator)
    return first, generator.get_state(), x + 1


@program(breaks=True)
def the_default_by_name(x):
    first = torch.rand(2, generator=torch.default_generator)
    return first, torch.rand(2), x + 1


@program(breaks=True)
def the_default_among_others(x):
    first = torch.rand(2)
    second = torch.rand(2, generator=torch.default_generator)
    return first, second, torch.rand(2), F.dropout(x, 0.5)


@program
def the_default_seeded_by_its_method(x):
    torch.default_generator.manual_seed(5)
    first = torch.rand(3)
    return first, torch.rand(3, generator=torch.default_generator), F.dropout(x, 0.5)


def met():
    """One that exists: its state changes from call to call."""
    generator = torch.Generator().manual_seed(7)

    def fn(x):
        return torch.rand(3, generator=generator) * x, generator

    return fn, (torch.ones(3),), lambda: state(generator)


def met_and_seeded():
    """One that exists, and its state too."""
    generator = torch.Generator().manual_seed(7)

    def fn(x):
        generator.manual_seed(4)
        return torch.rand(3, generator=generator) * x

    return fn, (torch.ones(3),), lambda: state(generator)


program.known["met"] = met, {"calls": 4, "again": True}
program.known["met_and_seeded"] = met_and_seeded, {"calls": 3}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


def test_the_default_goes_on_where_the_function_left_it():
    def fn(x):
        torch.manual_seed(9)
        return torch.rand(3) * x

    x = torch.ones(3)
    wanted = fn(x).tolist(), torch.rand(2).tolist()
    torch.manual_seed(1)
    compiled = torch.compile(fn, fullgraph=True)
    assert (compiled(x).tolist(), torch.rand(2).tolist()) == wanted


def test_the_default_in_place_of_another():
    """A function compiled with one generator, called with the default one, and back."""

    def fn(generator):
        return torch.rand(2, generator=generator), torch.rand(2)

    def seeds(generator):
        torch.manual_seed(6)
        return torch.rand(2), torch.rand(2, generator=generator)

    def drawn(fn):
        torch.manual_seed(0)
        own = torch.Generator().manual_seed(1)
        given = [own, torch.default_generator, torch.default_generator, own]
        return [[one.tolist() for one in fn(each)] for each in given], torch.rand(1).tolist()

    for one in (fn, seeds):
        compiled = torch.compile(one, backend="aot_eager")
        assert drawn(compiled) == drawn(compiled) == drawn(one)


def test_a_state_that_changes_is_no_reason_to_compile_each_time():
    generator = torch.Generator()

    def fn(x):
        return torch.rand(4, generator=generator) * x

    compiled = torch.compile(fn, fullgraph=True, backend="aot_eager")
    drawn = [compiled(torch.ones(4)).tolist() for _ in range(6)]
    again = torch.Generator()
    assert drawn == [torch.rand(4, generator=again).tolist() for _ in range(6)]
    assert len(compiled.cache.recompiles) <= 2
