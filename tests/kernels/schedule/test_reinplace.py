"""What replaces elements of an input is written there: same numbers, no copies, no half writes."""

import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.errors import IndexOutOfRange
from minitorch2.kernels.schedule import reinplace


def cached():
    torch.manual_seed(0)
    return torch.randn(4, 32, 6), torch.tensor([3, 7]), torch.randn(4, 2, 6)


def index_copy(cache, at, rows):
    cache.index_copy_(1, at, rows)
    return cache.sum()


def index_put(cache, at, rows):
    cache[:, at] = rows
    return (cache * 2).sum(0)


def accumulate(cache, at, rows):
    cache.index_put_((torch.tensor([0, 0]), at), rows[0], accumulate=True)


def index_add(cache, at, rows):
    cache.index_add_(1, at, rows)


def scatter(cache, at, rows):
    cache.scatter_(1, at.view(1, 2, 1).expand(4, 2, 6), rows)


def scatter_add(cache, at, rows):
    cache.scatter_add_(1, at.view(1, 2, 1).expand(4, 2, 6), rows)


def a_slice(cache, at, rows):
    cache[:, 4:6] = rows
    return cache @ rows.transpose(1, 2)


def every_third(cache, at, rows):
    cache[:, 1:7:3] = rows


def one(cache, at, rows):
    cache[:, -1] = rows[:, 0]
    return cache.mean()


def read_before(cache, at, rows):
    before = cache.sum(1)
    cache[:, at] = rows
    return before, cache.sum(1)


def of_its_own(cache, at, rows):
    cache[:, at] = cache.mean(1, keepdim=True).expand(4, 2, 6) + rows


def an_eager_step(cache, at, rows):
    """What runs eagerly may fail, and nothing may have been written then."""
    cache.index_copy_(1, at, rows)
    return torch.linalg.norm(cache[0, :6], ord=2)


def a_convolution(cache, at, rows):
    cache.index_copy_(1, at, rows)
    return torch.nn.functional.conv1d(cache, torch.ones(2, 32, 3))


IN_PLACE = (index_copy, index_put, accumulate, index_add, scatter, scatter_add, a_slice,
            every_third, one, read_before, of_its_own, a_convolution)  # fmt: skip


def shifted(cache, at, rows):
    cache[:, 1:4] = cache[:, 0:3]


def returned_too(cache, at, rows):
    changed = cache.index_copy(1, at, rows)
    cache.copy_(changed)
    return changed


def twice(cache, at, rows):
    cache.index_copy_(1, at, rows)
    cache.index_copy_(1, at + 1, rows * 2)


def into_another(cache, at, rows):
    other = cache.index_copy(1, at, rows)
    cache.copy_(other * 2)


def read_at_the_end(cache, at, rows):
    """A read of the cache as it was, through an index that may be wrong, after the write."""
    before = cache.clone()
    cache.index_copy_(1, at, rows)
    return before.index_select(1, at)


COPIED = (shifted, returned_too, twice, into_another, read_at_the_end, an_eager_step)


def told(function, options=None, executor="python"):
    """Results and inputs afterwards, compiled, and what was said of writes in place."""
    events = []
    step = torch.compile(
        function, fullgraph=True, options={"executor": executor, **(options or {})}
    )
    given = cached()
    with subscribe(events.append):
        result = step(*given)
    said = [text for e in events if e.stage == "loops.fused" for text in e.facts["in_place"]]
    return result, given, said


def compare(function, result, given):
    expected = cached()
    wanted = function(*expected)
    torch.testing.assert_close(result, wanted, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(given, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("function", IN_PLACE)
@pytest.mark.parametrize("executor", ["python", "numba", "loops"])
def test_in_place(function, executor):
    result, given, said = told(function, executor=executor)
    compare(function, result, given)
    assert len(said) == 1 and said[0].endswith("is written in place"), said


@pytest.mark.parametrize("function", COPIED)
def test_what_is_not_or_not_alone_written_in_place_has_the_same_numbers(function):
    result, given, _ = told(function)
    compare(function, result, given)


@pytest.mark.parametrize(
    "function, reason",
    [
        (shifted, "it reads %cache at other places"),
        (returned_too, "the result is returned in memory of its own"),
        (twice, "it changes %0, and %cache gets the result"),
    ],
)
def test_why_not(function, reason):
    _, _, said = told(function)
    assert any(reason in text for text in said), said


@pytest.mark.parametrize("function", [index_copy, index_put, scatter, index_add])
@pytest.mark.parametrize("executor", ["python", "numba"])
def test_a_wrong_index_has_written_nothing(function, executor):
    step = torch.compile(function, options={"executor": executor})
    cache, _, rows = cached()
    before = cache.clone()
    for at in ([3, 32], [99, 0]):
        with pytest.raises(IndexOutOfRange):
            step(cache, torch.tensor(at), rows)
        assert torch.equal(cache, before)


def test_two_caches_and_a_failing_lookup():
    def both(keys, values, table, at, rows):
        row = table[at]
        keys.index_copy_(1, at, rows)
        values.index_copy_(1, at, rows * 2)
        return row.sum() + (keys * values).sum()

    def inputs(index):
        torch.manual_seed(1)
        return (torch.randn(2, 9, 3), torch.randn(2, 9, 3), torch.randn(5, 4),
                torch.tensor([1, index]), torch.randn(2, 2, 3))  # fmt: skip

    events = []
    step = torch.compile(both, fullgraph=True)
    with subscribe(events.append):
        given, expected = inputs(4), inputs(4)
        torch.testing.assert_close(step(*given), both(*expected))
        torch.testing.assert_close(given, expected)
    [said] = [event.facts["in_place"] for event in events if event.stage == "loops.fused"]
    assert len(said) == 2 and all(text.endswith("is written in place") for text in said)
    given, before = inputs(7), inputs(7)  # in the caches, but not in the table
    with pytest.raises(IndexOutOfRange):
        step(*given)
    torch.testing.assert_close(given, before)


def test_caches_that_read_each_other():
    """Each wants to be written after the other is read: not both can be."""

    def swap(a, b, at):
        left, right = a[at], b[at]
        a.index_copy_(0, at, right)
        b.index_copy_(0, at, left)

    def inputs():
        torch.manual_seed(2)
        return torch.randn(9, 3), torch.randn(9, 3), torch.tensor([1, 4])

    given, expected = inputs(), inputs()
    torch.compile(swap, fullgraph=True)(*given)
    swap(*expected)
    torch.testing.assert_close(given, expected)


def test_it_can_be_turned_off():
    result, given, said = told(index_copy, {"disable_passes": ["reinplace"]})
    compare(index_copy, result, given)
    assert said == []


def test_gradients_pass_through():
    def step(cache, at, rows, weight):
        cache.index_copy_(1, at, rows)
        return ((cache * weight) ** 2).sum()

    def gradients(function):
        cache, at, rows = cached()
        rows.requires_grad_()
        weight = torch.full((6,), 0.5, requires_grad=True)
        function(cache, at, rows * 1, weight).backward()
        return rows.grad, weight.grad, cache.detach()

    torch.testing.assert_close(gradients(torch.compile(step)), gradients(step))


def test_only_a_small_slice_is_a_step_of_its_own(monkeypatch):
    monkeypatch.setattr(reinplace, "SMALL_PART", 1000)
    for step in (a_slice, every_third, one):
        result, given, said = told(step)
        compare(step, result, given)
        [reason] = said
        assert "is not written in place: " in reason and " of 768 elements are too many" in reason


@pytest.mark.parametrize("step", [a_slice, every_third, one])
def test_a_part_whose_size_varies_says_so(step):
    """Whether it is small is not known."""

    def inputs(batch):
        torch.manual_seed(0)
        return torch.randn(batch, 32, 6), torch.tensor(0), torch.randn(batch, 2, 6)

    compiled, events = torch.compile(step, fullgraph=True), []
    compiled(*inputs(4))
    with subscribe(events.append):
        given, expected = inputs(5), inputs(5)
        torch.testing.assert_close(compiled(*given), step(*expected), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(given, expected)
    [reason] = [text for e in events if e.stage == "loops.fused" for text in e.facts["in_place"]]
    assert "is not written in place: its size varies" in reason
