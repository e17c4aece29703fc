"""torch judges segment_reduce: segments by lengths and by offsets, in every layout and dtype."""

import itertools

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers  # noqa: E402
from tests.parity.test_refusals import agree  # noqa: E402

KINDS = ["sum", "mean", "max", "min", "prod"]
OFFSETS = [[0, 4], [1, 3], [1, 2, 4], [3, 3, 3], [2, 2, 3], [4], [0, 0, 1, 4]]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("initial", [None, 3])
def test_offsets_say_where_segments_start_and_end(kind, initial):
    """Elements before the first offset and after the last are in no segment."""
    for offsets, shape in itertools.product(OFFSETS, [(4,), (4, 3), (4, 2, 2)]):
        check(
            lambda t, offsets=offsets, shape=shape: t.segment_reduce(
                numbers(t, *shape), kind, offsets=t.tensor(offsets), initial=initial
            )
        )
        check(
            lambda t, offsets=offsets, shape=shape: slopes(
                t, numbers(t, *shape), kind, offsets=t.tensor(offsets), initial=initial
            )
        )


def slopes(t, data, kind, **how):
    """The gradient of a sum in which every segment has another weight."""
    data.requires_grad_()
    found = t.segment_reduce(data, kind, **how)
    (found.nan_to_num() * t.arange(1.0, 1 + found.numel()).reshape(found.shape)).sum().backward()
    return data.grad


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_of_segments(kind):
    """The segments differ from row to row; the result lies row after row."""
    for rest in [(), (2,), (2, 3)]:
        for by, rows in (
            ("lengths", [[1, 3], [4, 0]]),
            ("offsets", [[0, 1, 4], [1, 2, 3]]),
            ("offsets", [[2, 4], [1, 1]]),
        ):

            def program(t, rest=rest, by=by, rows=rows):
                data = numbers(t, 2, 4, *rest)
                found = t.segment_reduce(data, kind, **{by: t.tensor(rows)}, axis=1)
                return found, found.stride(), found.is_contiguous()

            check(program)


def reduced(data, kind="sum", **how):
    """A program: the call on what `data` makes of the library, with lengths or offsets made too."""
    return lambda t: t.segment_reduce(
        data(t),
        kind,
        **{name: value(t) if callable(value) else value for name, value in how.items()},
    )


REFUSED = {
    "\"_segment_reduce_cpu\" not implemented for 'Long'": reduced(
        lambda t: t.tensor([1, 2]), lengths=lambda t: t.tensor([2])
    ),
    "\"_segment_reduce_cpu\" not implemented for 'Bool'": reduced(
        lambda t: t.tensor([True]), lengths=lambda t: t.tensor([1])
    ),
    "\"_segment_reduce_cpu\" not implemented for 'ComplexFloat'": reduced(
        lambda t: t.tensor([1j]), lengths=lambda t: t.tensor([1])
    ),
    "\"_segment_reduce_lengths_cpu_kernel1\" not implemented for 'Float'": reduced(
        lambda t: t.ones(2), lengths=lambda t: t.tensor([2.0])
    ),
    "\"_segment_reduce_lengths_cpu_kernel1\" not implemented for 'Short'": reduced(
        lambda t: t.ones(2), lengths=lambda t: t.tensor([2]).short()
    ),
    "\"_segment_reduce_offsets_cpu_kernel1\" not implemented for 'Float'": reduced(
        lambda t: t.ones(2), offsets=lambda t: t.tensor([0, 2.0])
    ),
    "Expected data.dim() >= lengths_value.dim() to be true, but got false.": reduced(
        lambda t: t.tensor(1.0), lengths=lambda t: t.tensor([1])
    ),
    "Expected data.dim() >= offsets_value.dim() to be true, but got false.": reduced(
        lambda t: t.tensor(1.0), offsets=lambda t: t.tensor([0, 1])
    ),
    "Expected axis to be the last dimension of lengths but got 0.": reduced(
        lambda t: t.ones(2), lengths=lambda t: t.tensor(2)
    ),
    "Expected axis to be the last dimension of offsets but got 0.": reduced(
        lambda t: t.ones(2), offsets=lambda t: t.tensor(2)
    ),
    "Expected axis to be the last dimension of lengths but got 1.": reduced(
        lambda t: t.ones(2, 2), lengths=lambda t: t.tensor([2]), axis=-1
    ),
    "Expected segment_length >= 0 to be true, but got false.": reduced(
        lambda t: t.ones(4), offsets=lambda t: t.tensor([3, 1]), unsafe=True
    ),
    "negative dimension -1": reduced(
        lambda t: t.ones(4), offsets=lambda t: t.tensor([], dtype=t.int64)
    ),
    "lengths contains negative value!": reduced(
        lambda t: t.ones(4), lengths=lambda t: t.tensor([-1, 5])
    ),
}


@pytest.mark.parametrize("words", REFUSED)
def test_refused(words):
    agree(words, REFUSED[words])


@pytest.mark.parametrize("offsets", [[0, 5], [-1, 3]])
def test_offsets_outside_of_the_data_are_refused(offsets):
    """torch reads memory that is not the tensor's there."""
    with pytest.raises(RuntimeError, match="offsets must lie between 0 and 4"):
        minitorch2.segment_reduce(minitorch2.ones(4), "sum", offsets=minitorch2.tensor(offsets))


def test_offsets_go_before_lengths_and_both_may_be_short():
    check(reduced(lambda t: numbers(t, 4), offsets=lambda t: t.tensor([1, 3]),
                  lengths=lambda t: t.tensor([4])))  # fmt: skip
    check(reduced(lambda t: numbers(t, 4), offsets=lambda t: t.tensor([1, 3]).int()))
    check(reduced(lambda t: numbers(t, 4), lengths=lambda t: t.tensor([1, 2]), unsafe=True))
