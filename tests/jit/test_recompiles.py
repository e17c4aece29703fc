"""Too many recompilations: one warning tells each of them, and what it says would help does."""

import itertools
import warnings
from types import SimpleNamespace

import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.compile_settings import limits

SCALE = 1.0


def relu(x):
    return x.relu() + 1


def times(x, n):
    return x * n


def repeated(x, n):
    for _ in range(n):
        x = x + 1
    return x


def fixed(x):
    return x + len([0] * x.shape[0])


def applied(x, function):
    return function(x)


def rows(x, items):
    return x + sum(items)


def named(x, name):
    return x + len(name)


def module_step(x, state):
    state.count += 1
    return x * state.count + len(str(state.count))


def ones(*sizes):
    return torch.ones(sizes)


def columns(count):
    return ones(count, 3).t()


def adding():
    return eval("lambda x: x + 1")  # another code object each time


ADDING = adding()


def same(call):
    return call


# function: (arguments of call i, options, what the warning must say, the same with each remedy)
STORIES = {
    "sizes": (
        relu, lambda i: (ones(i + 2),), {"dynamic": False},
        ["x: shape[0] was 2; now 3", "x: shape[0] was 9; now 10",
         "return x.relu() + 1\n           ^^^^^^"],
        {"leave dynamic=False out": (same, {}), "torch.compiler.mark_dynamic(x, 0)": (same, {})},
    ),
    "layouts": (
        relu, lambda i: (columns(i + 2),), {},
        ["x: shape[1] was 2; now 3"],
        {"pass x.contiguous()": (lambda call: (call[0].contiguous(),), {}),
         "torch.compiler.mark_dynamic(x, 1)": (same, {})},
    ),
    "kinds": (
        relu, lambda i: (ones(2).to([torch.float32, torch.float64][i % 2]).requires_grad_(i > 0),),
        {},
        ["x: dtype was torch.float32; now torch.float64", "x: requires_grad was False; now True"],
        {"pass x.detach().to(torch.float32)":
            (lambda call: (call[0].detach().to(torch.float32),), {})},
    ),
    "numbers": (
        times, lambda i: (ones(2), i + 2), {"dynamic": False},
        ["n: was 2; now 3"],
        {"leave dynamic=False out": (same, {}),
         "pass n as a tensor, torch.tensor(n)":
            (lambda call: (call[0], torch.tensor(call[1])), {"dynamic": False})},
    ),
    "loops": (
        repeated, lambda i: (ones(2), i), {},
        ["n: was 0; now 1", "n: was 7; now 8", "for _ in range(n)"],
        {"pass n as a tensor, torch.tensor(n)":
            (lambda call: (call[0], torch.tensor(call[1])), {})},
    ),
    "sizes that are asked for": (
        fixed, lambda i: (ones(i + 2),), {},
        ["x: shape[0] was 3; now 4", "x.shape[0]==10 held"],
        {"torch.compiler.mark_dynamic(x, 0)": (same, {})},
    ),
    "functions": (
        applied, lambda i: (ones(2), adding()), {},
        ["function: function was <lambda> of <string>:1; now another one"],
        {"make function once, outside of the loop, and pass the same one in each call":
            (lambda call: (call[0], ADDING), {})},
    ),
    "lists": (
        rows, lambda i: (ones(2), [ones(2)] * i), {},
        ["items: length was 0; now 1"],
        {"pass torch.stack(items) instead of the list":
            (lambda call: (call[0], torch.stack(call[1]) if call[1] else ones(0, 2)), {})},
    ),
    "texts": (named, lambda i: (ones(2), "n" * i), {}, ["name: was ''; now 'n'"], {}),
}  # fmt: skip


def calls(arguments):
    return [arguments(i) for i in range(limits.recompilations + 1)]


def run(function, given, options):
    """The compiled function after the calls, and the warnings."""
    compiled = torch.compile(function, backend="eager", **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for each in given:
            assert torch.equal(compiled(*each), function(*each))
    return compiled, [str(one.message) for one in caught if "the limit" in str(one.message)]


def told(story):
    """What the warning says of each remedy: {words: yes, partly or no}."""
    lines = story.partition("Tried, by tracing this call again:\n")[2].splitlines()
    found = {}
    for line in itertools.takewhile(lambda line: line.startswith("  "), lines):
        sign, _, words = line.strip().partition(": ")
        found[words.partition("; ")[0]] = sign
    return found


@pytest.mark.parametrize("name", STORIES)
def test_the_whole_story_is_told_once_and_what_helps_helps(name, monkeypatch):
    function, arguments, options, said, remedies = STORIES[name]
    monkeypatch.setattr(limits, "recompilations", 2 if name == "kinds" else 8)
    _, stories = run(function, calls(arguments) + calls(arguments), options)
    assert len(stories) == 1
    for text in said:
        assert text in stories[0], stories[0]
    story = stories[0]
    assert f"was compiled {limits.recompilations} times" in story
    numbers = range(2, limits.recompilations + 2)
    assert all(f"\n  {number}. " in story for number in numbers)
    signs = told(story)
    assert set(signs) == set(remedies), story
    for words, (change, changed_options) in remedies.items():
        given = [change(each) for each in calls(arguments)]
        compiled, again = run(function, given, changed_options)
        enough = not again and not compiled.cache.breaks
        assert enough == (signs[words] == "yes"), f"{words}: {signs[words]}\n{story}"


def test_values_that_are_reached_through_others_are_named():
    state = SimpleNamespace(count=0)
    compiled = torch.compile(module_step, backend="eager")
    with pytest.warns(UserWarning, match=r"state\.count: was 0; now 1 .*\n"):
        for _ in range(limits.recompilations + 1):
            compiled(ones(2), state)
    assert state.count == limits.recompilations + 1  # a trial does nothing that is seen


def test_trials_are_not_among_the_events():
    events = []
    compiled = torch.compile(repeated, backend="eager")
    with subscribe(events.append), pytest.warns(UserWarning, match="the limit"):
        for each in calls(lambda i: (ones(2), i)):
            compiled(*each)
    stages = [event.stage for event in events]
    assert stages.count("capture.limit") == 1
    assert stages.count("capture.graph") == limits.recompilations
    assert stages.count("capture.recompile") == limits.recompilations


def test_nothing_more_is_kept_after_the_limit():
    compiled = torch.compile(repeated, backend="eager")
    with pytest.warns(UserWarning, match="the limit"):
        for count in range(30):
            compiled(ones(2), count)
    assert len(compiled.cache.recompiles) == limits.recompilations


def test_the_part_behind_a_break_tells_its_own_story():
    def broken(x, n):
        print(end="")
        for _ in range(n):
            x = x * 2
        return x

    compiled = torch.compile(broken, backend="eager")
    with pytest.warns(UserWarning, match=r"broken#\d+\.1 was compiled 8 times(.|\n)*range\(n\)"):
        for count in range(10):
            assert compiled(ones(1), count).item() == 2.0**count


def test_modes_and_globals_are_named():
    global SCALE
    compiled = torch.compile(lambda x: x * SCALE, backend="eager")
    compiled(ones(2))
    with torch.no_grad():
        compiled(ones(2))
    SCALE = "no number"
    with pytest.raises(TypeError):
        compiled(ones(2))
    first, second = compiled.cache.recompiles
    assert "grad mode: was on; now off" in str(first) and "no_grad" in str(first)
    assert "SCALE: was 1.0; now 'no number'" in second.line()
    SCALE = 1.0


def test_what_to_do_fits_what_changed():
    net = torch.nn.Linear(2, 2)

    def helper(x):
        return x

    def fn(x, table):
        return net(helper(x)) * (3 if hasattr(helper, "mark") else table.get("scale", 1))

    run = torch.compile(fn, backend="eager")

    def now(rows=1, **table):
        run(torch.ones(rows, 2), table)
        return str(run.cache.recompiles[-1]) if run.cache.recompiles else ""

    assert now(rows=2) == ""
    told = now(rows=3)
    assert "shape[0] was 2; now 3" in told and "mark_dynamic to have it so" in told
    told = now(rows=1)
    assert "a size of 2 or more; now 1" in told and "sizes 0 and 1" in told
    told = now(scale=2)
    assert "had no key 'scale'; now there is one" in told and "fill the container" in told
    helper.mark = True
    told = now()
    assert "had no own attribute mark; now there is one" in told and "set the attribute" in told
    net.register_forward_hook(lambda module, given, result: None)
    told = now()
    assert "had no hooks; now there is one" in told and "register hooks" in told
