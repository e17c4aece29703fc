"""Code is used again exactly when what it read is unchanged, and says what changed."""

import functools
import keyword
import threading

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.jit import guards
from tests.jit.capture.capturing import compiled, ones

SCALE = 2
X = ones(2, 3)
CACHED = functools.lru_cache(lambda n: n + 1)


def entries(run):
    return sum(len(found) for found in run.entries.values())


def test_a_global_that_changes():
    global SCALE
    SCALE = 2
    run = compiled(lambda x: x * SCALE)
    assert run(X).tolist()[0][0] == 2
    SCALE = 5
    try:
        assert run(X).tolist()[0][0] == 5
        assert "SCALE: was 2; now 5" in str(run.recompiles[0])
        assert "test_guards.py" in run.recompiles[0].where
    finally:
        SCALE = 2
    assert run(X).tolist()[0][0] == 2
    assert entries(run) == 2


def test_what_is_not_read_is_not_guarded():
    def fn(x, unused, flag):
        return x + 1 if flag else x + unused

    run = compiled(fn)
    for unused in (1, "two", None):
        run(X, unused, True)
    assert entries(run) == 1


@pytest.mark.parametrize("first, second", [(1, 1.0), (1, True), (0.0, -0.0), ("a", "b"), (None, 0)])
def test_equal_values_of_other_kinds_are_other_values(first, second):
    run = compiled(lambda x, v: (x, repr(v)))
    assert run(X, first)[1] == repr(first)
    assert run(X, second)[1] == repr(second)


def test_nan_is_the_same_value_again():
    run = compiled(lambda x, v: x * v)
    run(X, float("nan"))
    run(X, float("nan"))
    assert entries(run) == 1


def test_defaults_and_keywords():
    def fn(x, k=3, *, j=1):
        return x * k + j

    run = compiled(fn)
    assert [run(X).tolist()[0][0], run(X, 4).tolist()[0][0], run(X, j=5).tolist()[0][0]] == [
        4,
        5,
        8,
    ]
    fn.__defaults__ = (7,)
    assert run(X).tolist()[0][0] == 8


def test_closure_variables():
    factor = 2

    def fn(x):
        return x * factor

    run = compiled(fn)
    assert run(X).tolist()[0][0] == 2
    factor = 3
    assert run(X).tolist()[0][0] == 3


@pytest.mark.parametrize(
    "other",
    [
        ones(2, 3, dtype=torch.float64),
        ones(3, 2).t(),
        ones(2, 3, requires_grad=True),
        ones(2, 3, 1),
        nn.Parameter(ones(2, 3)),
    ],
)
def test_tensor_fields(other):
    run = compiled(lambda x: x * 2)
    run(X)
    got = run(other)
    assert got.dtype is other.dtype and got.requires_grad == other.requires_grad
    assert got.shape == other.shape and got.stride() == (other * 2).stride()
    assert entries(run) == 2


def test_grad_mode_and_default_dtype():
    run = compiled(lambda x: x * 2 + torch.zeros(3))
    x = ones(2, 3, requires_grad=True)
    assert run(x).requires_grad
    with torch.no_grad():
        assert not run(x).requires_grad
    torch.set_default_dtype(torch.float64)
    try:
        assert run(x).dtype is torch.float64
    finally:
        torch.set_default_dtype(torch.float32)


def test_containers_of_the_caller():
    run = compiled(lambda x, items, table: x + len(items) + items[0] + table.get("k", 100))
    assert run(X, [1, 2], {"k": 1}).tolist()[0][0] == 5
    assert run(X, [1, 9], {"k": 1, "z": 2}).tolist()[0][0] == 5
    assert entries(run) == 1
    assert run(X, [1], {}).tolist()[0][0] == 103
    assert run(X, [2, 2], {"k": 1}).tolist()[0][0] == 6
    assert entries(run) == 3


def test_one_tensor_twice_and_two_tensors():
    def fn(a, b):
        if a is b:
            return a * 10
        return a + b

    run = compiled(fn)
    a, b = ones(2), ones(2)
    assert run(a, a).tolist() == [10, 10]
    assert run(a, b).tolist() == [2, 2]
    assert run(b, b).tolist() == [10, 10]
    assert entries(run) == 2


def test_sizes_become_symbolic_when_they_change():
    def fn(x):
        return x.reshape(-1) * x.shape[0], x.shape[0] * 2

    run = compiled(fn)
    for size in (4, 6, 9, 12):
        y, double = run(ones(size, 3))
        assert y.shape == (size * 3,) and y[0].item() == size and double == 2 * size
    assert entries(run) == 2
    assert run(ones(1, 3))[1] == 2
    assert entries(run) == 3


def test_dynamic_from_the_start_and_never():
    always, never = (
        compiled(lambda x: x + 1, dynamic=True),
        compiled(lambda x: x + 1, dynamic=False),
    )
    for size in (4, 6, 9):
        assert always(ones(size)).shape == never(ones(size)).shape == (size,)
    assert entries(always) == 1 and entries(never) == 3


def test_branches_on_symbolic_sizes_are_guarded():
    def fn(x):
        return x + 1 if x.shape[0] > 10 else x - 1

    run = compiled(fn, dynamic=True)
    assert [run(ones(size))[0].item() for size in (5, 20, 8, 11, 10)] == [0, 2, 0, 2, 0]
    assert entries(run) == 2


def test_an_int_that_changes_becomes_symbolic():
    def fn(x, n):
        text = f"{n} of {n:>3}" if n > 100 else ""
        return (x * n).expand(n, 2, 3), n + 1, isinstance(n, int), text

    run = compiled(fn)
    for n in (3, 5, 9, 40):
        y, after, is_int, text = run(X, n)
        assert y.shape == (n, 2, 3) and y[0, 0, 0].item() == n and after == n + 1 and is_int
        assert text == ""
    assert entries(run) == 2
    assert run(X, 1)[1] == 2 and entries(run) == 3
    assert run(X, 101)[3] == "101 of 101"


def test_a_float_that_changes_becomes_an_input():
    class Group:
        rate = 0.5

    group = Group()
    group.rate = 0.5

    def fn(x):
        y = x * (1 - group.rate * 0.1) - group.rate
        y.mul_(group.rate)
        group.last = group.rate * 3
        return y + torch.mul(x, group.rate / 3), group.rate

    run = compiled(fn)
    for rate in (0.5, 0.1, 0.3, 1e-7):
        group.rate = rate
        (y, same), last = run(X), group.last
        expected, _ = fn(X)
        assert y.tolist() == expected.tolist() and y.dtype is torch.float32
        assert same == rate and last == group.last and type(last) is float
    assert entries(run) == 2


def test_a_float_that_is_looked_at_is_guarded():
    def fn(x, rate):
        return x * rate if rate > 0.5 else x

    run = compiled(fn)
    assert [run(X, rate).tolist()[0][0] for rate in (0.25, 0.75, 0.5)] == [1, 0.75, 1]
    assert compiled(lambda n, rate: n * rate)(torch.arange(3), 0.5).dtype is torch.float32


def test_a_whole_training_step_with_a_schedule():
    def train(wrap):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.2), nn.Linear(8, 3))
        optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        x, y = torch.randn(16, 4), torch.randint(0, 3, (16,))

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            return loss

        run = wrap(step)
        losses = []
        for _ in range(5):
            losses.append(run(x, y).item())
            schedule.step()
        return losses, [parameter.tolist() for parameter in net.parameters()], run

    losses, parameters, run = train(compiled)
    expected, expected_parameters, _ = train(lambda step: step)
    assert losses == expected and parameters == expected_parameters
    assert entries(run) == 2


def test_the_limit_warns_once_and_runs_as_python():
    run = compiled(lambda x, text: x + len(text))
    for n in range(8):
        assert run(X, "a" * n).tolist()[0][0] == n + 1
    with pytest.warns(UserWarning, match="compiled 8 times"):
        assert run(X, "a" * 8).tolist()[0][0] == 9
    assert run(X, "a" * 9).tolist()[0][0] == 10
    assert entries(run) == 8


def test_modules_hooks_training_and_parameters():
    net = nn.Sequential(nn.Linear(3, 2), nn.Dropout(0.5))
    run = compiled(net)
    net.eval()
    first = run(X)
    net.train()
    run(X)
    net.eval()
    assert run(X).tolist() == first.tolist()
    assert entries(run) == 2
    net[0].weight = nn.Parameter(net[0].weight.detach() * 2)
    assert run(X).tolist() == net(X).tolist()
    assert entries(run) == 2
    seen = []
    handle = net[0].register_forward_hook(lambda module, args, out: seen.append(1))
    run(X)
    handle.remove()
    run(X)
    assert seen == [1]
    net[1] = nn.ReLU()
    assert run(X).tolist() == net(X).tolist()


def test_the_body_of_an_inlined_function_is_replaced():
    def helper(x):
        return x + 1

    def other(x):
        return x - 1

    run = compiled(lambda x: helper(x))
    assert run(X).tolist()[0][0] == 2
    helper.__code__ = other.__code__
    assert run(X).tolist()[0][0] == 0


def test_guards_are_compiled_by_the_second_call():
    """They are one function before and after, and hold and fail as ever."""
    run = compiled(lambda x: x + 1)
    run(X)
    (entry,) = run.entries[1]
    check, before = entry.check, entry.check.__code__.co_filename
    run(X)
    assert before == guards.__file__ and check.__code__.co_filename.startswith("<minitorch2 guards")
    assert run.entries[1][0].check is check
    assert check(ones(2, 3)) and not check(ones(2, 3, 4)) and not check(5)
    with pytest.raises(TypeError):
        check()


def test_guards_are_compiled_by_whoever_calls_first():
    """Several threads at once."""
    run = compiled(lambda x: x + 1)
    run(X)
    (entry,) = run.entries[1]
    start, found = threading.Barrier(4), []

    def work():
        start.wait()
        found.append([entry.check(ones(2, 3)), entry.check(5), entry.check(ones(2, 3))])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[True, False, True]] * 4


def test_a_program_may_use_the_names_of_generated_functions():
    run = compiled(lambda FIRST_CALL, guard: helper_of(FIRST_CALL) + guard)  # noqa: N803
    for value in (2.0, 3.0):
        assert run(X, value).tolist() == (X * 2 + value).tolist()
        assert run(X, value).tolist() == (X * 2 + value).tolist()


def helper_of(x):
    return x * FIRST_CALL


FIRST_CALL = 2


def test_the_guard_function_is_readable_and_fast_for_new_keys():
    run = compiled(lambda x: x + 1)
    run(X)
    (entry,) = run.entries[1]
    assert "def guard(x, /):" in entry.guards.source_text
    assert "x.key is not KEY_0" in entry.guards.source_text
    assert entry.check(ones(2, 3)) and not entry.check(ones(2, 3, 4)) and not entry.check(5)


def test_threads_share_one_entry():
    run = compiled(lambda x: x * 3)
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(run(X).tolist()[0][0])) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [3.0] * 8 and entries(run) == 1


def test_a_compiled_function_inside_another_is_part_of_it():
    inner = torch.compile(lambda x: x * 2, backend="eager")
    run = compiled(lambda x: inner(x) + 1)
    assert run(X).tolist()[0][0] == 3
    (entry,) = run.entries[1]
    assert [node.op for node in entry.program.graph.nodes] == ["mul", "add"]


def test_a_comparison_of_a_float_that_varies_guards_its_answer():
    def fn(x, rate, floor):
        if rate * 2 - floor > 0.5:
            return x * rate
        if not floor:
            return x - 1
        return x / rate if -rate > -0.3 else x + floor

    run = compiled(fn)
    values = (0.1, 0.2, 0.6, 0.9, 0.0, -0.0, 0.25, 0.35, float("inf"), float("nan"), 1e-320)
    for rate in values[1:3] + values:
        for floor in values:
            if rate:
                assert repr(run(X, rate, floor)) == repr(fn(X, rate, floor)), (rate, floor)
    assert entries(run) <= 7
    assert "rate * 2" in "".join(map(str, run.recompiles))


def test_functions_without_a_name_of_their_own():
    global CACHED
    run = compiled(lambda x: x * CACHED(2))
    assert run(X).tolist()[0][0] == 3
    kept, CACHED = CACHED, functools.cache(lambda n: n + 5)
    try:
        assert run(X).tolist()[0][0] == 7
    finally:
        CACHED = kept


@pytest.mark.parametrize("name", [*keyword.kwlist, "v0", "guard", "print", "x", "a\nb", "1 b"])
def test_any_name_of_a_function_and_of_its_file(name):
    scope = {}
    exec(compile("def made(x): return x + 1", f"<file\n{name}>", "exec"), scope)
    made = functools.lru_cache(scope["made"])
    made.__wrapped__.__name__ = made.__wrapped__.__qualname__ = name
    table = {name: 2}
    run = compiled(lambda x: x * made(table[name]))
    assert run(X).tolist()[0][0] == 3 and run(X).tolist()[0][0] == 3
    table[name] = 4
    assert run(X).tolist()[0][0] == 5
    assert entries(run) == 2
