"""What torch refuses is refused here too: the same class of error, and torch's own words in it."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import LIBRARIES  # noqa: E402

CONTAINERS = {
    "Index out of range": lambda t: t.nn.Sequential(t.nn.ReLU()).insert(5, t.nn.ReLU()),
    "module should be of type": lambda t: t.nn.Sequential().insert(0, 3),
    "add operator supports only objects of Sequential": lambda t: t.nn.Sequential() + 3,
    "ModuleList.extend should be called with an iterable": lambda t: t.nn.ModuleList().extend(3),
    "ParameterList.extend should be called with an iterable, but got int": (
        lambda t: t.nn.ParameterList().extend(3)
    ),
    "sequence element #1 has length 1; 2 is required": (
        lambda t: t.nn.ModuleDict().update([("a", t.nn.ReLU()), ("b",)])
    ),
    "sequence element #0 should be Iterable": lambda t: t.nn.ModuleDict().update([3]),
    "update should be called with an iterable of key/value pairs": (
        lambda t: t.nn.ParameterDict().update(3)
    ),
    "cannot be used as a key as it is not a string": (lambda t: t.nn.ParameterDict({3: t.ones(1)})),
    "'ParameterDict' object has no attribute 'q'": lambda t: t.nn.ParameterDict()["q"],
    "ParameterList should not be called": lambda t: t.nn.ParameterList()(3),
    "ParameterDict should not be called": lambda t: t.nn.ParameterDict()(3),
}


def refusal(library, program):
    """The builtin class of what is raised, and its text."""
    with pytest.raises(Exception) as caught:  # noqa: PT011 - whatever torch raises
        program(library)
    kinds = [each for each in type(caught.value).__mro__ if each.__module__ == "builtins"]
    return kinds[0].__name__, str(caught.value)


def agree(words, program):
    mine, theirs = (refusal(library, program) for library in LIBRARIES)
    assert words.lower() in theirs[1].lower(), theirs
    assert words.lower() in mine[1].lower(), mine
    assert mine[0] == theirs[0]


@pytest.mark.parametrize("words", CONTAINERS)
def test_containers(words):
    agree(words, CONTAINERS[words])
