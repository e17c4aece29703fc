"""Switches of torch.compiler: marked sizes, stances, functions that are captured in another way."""

import pytest

import minitorch2 as torch
from minitorch2.compile_settings import limits, settings
from minitorch2.errors import ArgumentValueError, CompileError


@pytest.fixture(autouse=True)
def stance():
    yield
    settings.stance = "default"


def entries(compiled):
    return sum(map(len, compiled.cache.entries.values()))


def test_a_marked_size_is_symbolic_from_the_first_call_on():
    run = torch.compile(lambda x: x * 2 + x.shape[0], backend="eager", fullgraph=True)
    first = torch.ones(4, 3)
    torch.compiler.mark_dynamic(first, 0)
    assert run(first).tolist() == (first * 2 + 4).tolist()
    assert run(torch.ones(9, 3)).tolist() == [[11.0] * 3] * 9
    assert entries(run) == 1
    run(torch.ones(9, 5))
    assert entries(run) == 2


def test_the_range_of_a_mark_is_kept():
    run = torch.compile(lambda x: (x + 1) if x.shape[0] >= 3 else x, backend="eager")
    first = torch.ones(4, 3)
    torch.compiler.mark_dynamic(first, 0, min=3, max=64)
    for count in (4, 3, 64, 2, 65):
        assert run(torch.ones(count, 3) if count != 4 else first)[0, 0].item() == 1 + (count > 2)
    assert entries(run) == 3


def test_a_mark_that_cannot_be_kept_names_the_line():
    def pinned(x):
        if x.shape[0] == 4:
            return x + 1
        return x

    first = torch.ones(4, 3)
    torch.compiler.mark_dynamic(first, -2)
    with pytest.raises(CompileError, match=r"size 4 only, .* at .*test_switches.py:\d+"):
        torch.compile(pinned, backend="eager")(first)


def marked(x, **bounds):
    torch.compiler.mark_dynamic(x, 0, **bounds)
    return x


@pytest.mark.parametrize(
    "given, says",
    [
        (lambda: marked(torch.ones(4, 3), min=8), r"min=8, max=None\): the size is 4"),
        (lambda: marked(torch.ones(9, 3), max=8), r"min=2, max=8\): the size is 9"),
        (lambda: marked(torch.ones(3, 4).t()), r"not contiguous\n .*pass x.contiguous\(\)"),
    ],
)
def test_a_mark_that_does_not_fit_its_tensor_says_why(given, says):
    run = torch.compile(lambda x: x + 1, backend="eager")
    with pytest.raises(CompileError, match=says) as raised:
        run(given())
    assert __file__ in str(raised.value)  # where it was called, not where it is compiled


def test_marks_of_small_and_of_static_sizes_are_numbers():
    run = torch.compile(lambda x: x + 1, backend="eager")
    for count in (1, 0):
        assert run(marked(torch.ones(count, 3))).shape == (count, 3)
    both = marked(torch.ones(4, 3))
    torch.compiler.mark_static(both, 0)
    assert run(both).shape == (4, 3) and entries(run) == 3
    with pytest.raises(ArgumentValueError, match="min is more than max"):
        marked(torch.ones(4), min=5, max=3)


def test_a_static_size_stays_a_number():
    run = torch.compile(lambda x: x * 2, backend="eager")
    for count in (4, 5, 6):
        given = torch.ones(count, 3)
        torch.compiler.mark_static(given)
        run(given)
    assert entries(run) == 3
    free = torch.compile(lambda x: x * 2, backend="eager")
    for count in (4, 5, 6):
        free(torch.ones(count, 3))
    assert entries(free) == 2


def test_stances():
    calls = []

    def fn(x):
        calls.append(1)
        return x * 2

    run = torch.compile(fn, backend="eager")
    with torch.compiler.set_stance("force_eager"):
        run(torch.ones(2))
    assert entries(run) == 0 and len(calls) == 1
    run(torch.ones(2))
    with torch.compiler.set_stance("eager_on_recompile"):
        assert run(torch.ones(2, 2)).tolist() == [[2.0, 2.0]] * 2
    assert entries(run) == 1
    with torch.compiler.set_stance("fail_on_recompile"):
        run(torch.ones(2))
        with pytest.raises(CompileError, match="number of dimensions"):
            run(torch.ones(2, 2))
    run(torch.ones(2, 2))
    assert entries(run) == 2 and len(calls) == 5
    with pytest.raises(ArgumentValueError):
        torch.compiler.set_stance("eager")


def test_reset_forgets():
    run = torch.compile(lambda x: x + 1, backend="eager")
    run(torch.ones(2))
    torch.compiler.reset()
    assert entries(run) == 0
    assert run(torch.ones(2)).tolist() == [2.0, 2.0]


def test_functions_in_the_graph_and_results_that_stay():
    seen = []

    @torch.compiler.allow_in_graph
    def whole(x, by):
        seen.append(type(x))
        return x * by + 1

    @torch.compiler.assume_constant_result
    def answer():
        seen.append("asked")
        return 42

    run = torch.compile(lambda x: whole(x, 3) + answer(), backend="eager", fullgraph=True)
    for _ in range(3):
        assert run(torch.ones(2)).tolist() == [46.0, 46.0]
    assert len(seen) == 2


def test_results_that_stay_are_asked_for_with_numbers_and_objects():
    seen = []

    class Settings:
        rate = 0.5

        @torch.compiler.assume_constant_result
        def scale(self, by):
            seen.append((self, type(by), by))
            return torch.ones(2) * self.rate * by

    chosen = Settings()
    run = torch.compile(lambda x, by: x + chosen.scale(by), backend="eager", fullgraph=True)
    for by in (1, 2, 3, 4, 3):
        assert run(torch.ones(2), by).tolist() == [1 + by / 2] * 2
    assert seen == [(chosen, int, by) for by in (1, 2, 3, 4)]


def test_the_limit_of_compilations_is_a_setting(monkeypatch):
    monkeypatch.setattr(limits, "recompilations", limits.recompilations)
    torch.compiler.config.recompile_limit = 2
    assert torch.compiler.config.cache_size_limit == 2
    run = torch.compile(lambda x: x + 1, backend="eager")
    run(torch.ones(2))
    run(torch.ones(2, 2))
    with pytest.warns(UserWarning, match="compiled 2 times"):
        run(torch.ones(2, 2, 2))
    assert entries(run) == 2


def test_explain_counts():
    def fn(x):
        y = x * 2 + 1
        if y.sum().item() > 0:
            return y.relu()
        return y

    found = torch.compiler.explain(fn)(torch.ones(2))
    assert (found.graph_count, found.graph_break_count) == (2, 1)
    assert "data-dependent" in str(found) and "Graph Break Count: 1" in str(found)
