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

MODULES = {
    "takes 1 positional argument but 2 were given": lambda t: t.nn.Module(1),
    "got an unexpected keyword argument 'a'": lambda t: t.nn.Module(a=1),
    "Linear has no attribute `x`": lambda t: t.nn.Linear(1, 1).get_parameter("x"),
    "`training` is not an nn.Parameter": lambda t: t.nn.Linear(1, 1).get_parameter("training"),
    "`weight` is not a buffer": lambda t: t.nn.Linear(1, 1).get_buffer("weight"),
    "Linear has no attribute `y`": lambda t: t.nn.Linear(1, 1).get_buffer("y"),
    "cannot assign 'int' as buffer 'running_mean' (torch.nn.Buffer, torch.Tensor or None": (
        lambda t: setattr(t.nn.BatchNorm1d(2), "running_mean", 3)
    ),
    "Reached a code path in Module.get_extra_state() that should never": (
        lambda t: t.nn.Module().get_extra_state()
    ),
}


def conv(t, *shape, weight=(1, 1, 2, 2), bias=None, **how):
    return t.nn.functional.conv2d(t.ones(shape or (1, 1, 4, 4)), t.ones(weight), bias, **how)


CONVOLUTIONS = {
    "Expected 3D (unbatched) or 4D (batched) input to conv2d, but got input of size: [4, 4]": (
        lambda t: conv(t, 4, 4)
    ),
    "non-positive stride is not supported": lambda t: conv(t, stride=0),
    "negative padding is not supported": lambda t: conv(t, padding=(1, -1)),
    "dilation should be greater than zero, but got [0, 0]": lambda t: conv(t, dilation=0),
    "expected stride to be a single integer value or a list of 2 values": (
        lambda t: conv(t, stride=(1, 1, 1))
    ),
    "expected bias to be 1-dimensional with 1 elements, but got bias of size [3] instead": (
        lambda t: conv(t, bias=t.ones(3))
    ),
    "expected weight to be at least 1 at dimension 0": lambda t: conv(t, weight=(0, 1, 2, 2)),
    "padding='same' is not supported for strided convolutions": (
        lambda t: conv(t, padding="same", stride=2)
    ),
    "groups must be a positive integer": lambda t: t.nn.Conv2d(4, 4, 3, groups=0),
    "out_channels must be divisible by groups": lambda t: t.nn.Conv2d(4, 3, 3, groups=2),
    "Invalid padding string 'q', should be one of": lambda t: t.nn.Conv2d(1, 1, 1, padding="q"),
    "is not supported for strided": lambda t: t.nn.Conv1d(1, 1, 1, padding="same", stride=2),
    "but got padding_mode='q'": lambda t: t.nn.Conv2d(1, 1, 1, padding_mode="q"),
    'Only "zeros" padding mode is supported for ConvTranspose2d': (
        lambda t: t.nn.ConvTranspose2d(1, 1, 1, padding_mode="circular")
    ),
    "10], but valid sizes range from [7, 7] to [8, 8]": (
        lambda t: t.nn.ConvTranspose2d(1, 1, 3, 2)(t.ones(1, 1, 3, 3), output_size=[10, 10])
    ),
    "for 4D input, output_size must have 2 or 4 elements (got 1)": (
        lambda t: t.nn.ConvTranspose2d(1, 1, 3, 2)(t.ones(1, 1, 3, 3), output_size=[10])
    ),
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


@pytest.mark.parametrize("words", MODULES)
def test_modules(words):
    agree(words, MODULES[words])


@pytest.mark.parametrize("words", CONVOLUTIONS)
def test_convolutions(words):
    agree(words, CONVOLUTIONS[words])


def test_sizes_that_do_not_fit():
    for first, second, words in (
        ((2, 3), (3, 4), "tensor a (3) must match the size of tensor b (4) at non-singleton dim"),
        ((2, 3), (3, 3), "tensor a (2) must match the size of tensor b (3) at non-singleton dim"),
        (
            (5, 1, 2),
            (4, 2, 3),
            "(2) must match the size of tensor b (3) at non-singleton dim",
        ),
    ):
        agree(words, lambda t, a=first, b=second: t.ones(a) + t.ones(b))
