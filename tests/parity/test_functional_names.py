"""functional_call with names that the module has not, or lacks; what transforms refuse."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import LIBRARIES, check  # noqa: E402


def reads_extra(t):
    class Reads(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = t.nn.Parameter(t.ones(2))

        def forward(self, x):
            return x * self.weight + getattr(self, "extra", 0)

    return Reads()


def test_an_unknown_name_is_an_attribute_during_the_call():
    def program(t):
        module = reads_extra(t)
        found = t.func.functional_call(module, {"extra": t.ones(2) * 3}, (t.ones(2),))
        return [found, hasattr(module, "extra"), module(t.ones(2))]

    check(program)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Missing key(s): 'weight'"),
        ({"weight": 2, "extra": 1}, "Unexpected key(s): 'extra'"),
        ({"extra": 1}, "Error(s) in reparametrizing for Reads"),
    ],
)
def test_strict(given, words):
    for t in LIBRARIES:
        values = {name: t.ones(2) * value for name, value in given.items()}
        with pytest.raises(RuntimeError) as caught:
            t.func.functional_call(reads_extra(t), values, (t.ones(2),), strict=True)
        assert words in str(caught.value)


def test_transforms_take_tensors():
    for t in LIBRARIES:
        with pytest.raises(ValueError, match="Thing passed to transform API must be Tensor"):
            t.func.grad(lambda x: x)(3)
