"""Tensors in place of lists, dimensions and classes that are not there: torch's words in ours."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import LIBRARIES, alike  # noqa: E402

STACKS = "cat stack hstack vstack dstack column_stack".split()
NO_LISTS = {
    "a tensor": lambda t: t.ones(3, 2),
    "a number": lambda t: 3,
    "text": lambda t: "ab",
    "a number among them": lambda t: [t.ones(2), 3],
    "a list among them": lambda t: (t.ones(2), [t.ones(2)]),
}
DIMENSIONS = {
    "sum": lambda t: t.ones(3).sum(2),
    "softmax": lambda t: t.nn.functional.softmax(t.ones(3), -2),
    "transpose": lambda t: t.ones(3, 2).transpose(0, 2),
    "stack": lambda t: t.stack([t.ones(3)], 3),
    "broadcast_tensors": lambda t: t.broadcast_tensors([t.ones(2)]),
    "block_diag": lambda t: t.block_diag([t.ones(2)]),
}


def refused(call):
    errors = []
    for library in LIBRARIES:
        with pytest.raises(Exception) as caught:
            call(library)
        errors.append(caught.value)
    return errors


@pytest.mark.parametrize("kind", NO_LISTS)
@pytest.mark.parametrize("name", STACKS)
def test_several_tensors_are_a_list_or_tuple(name, kind):
    ours, theirs = refused(lambda t: getattr(t, name)(NO_LISTS[kind](t)))
    assert alike(ours, theirs)


@pytest.mark.parametrize("name", DIMENSIONS)
def test_the_words_are_torchs(name):
    ours, theirs = refused(DIMENSIONS[name])
    assert alike(ours, theirs)


def test_a_text_is_no_dtype():
    ours, theirs = refused(lambda t: t.zeros(3, dtype="float64"))
    words = "argument 'dtype' must be torch.dtype, not str"
    assert alike(ours, theirs, words) and words in str(theirs)
    assert "give dtype=torch.float64" in str(ours)
