"""torch judges which activations take integers and bools, and which probabilities bernoulli."""

import re

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import LIBRARIES, check, kind  # noqa: E402

NAMES = [
    "elu", "selu", "celu", "gelu", "silu", "mish", "relu", "relu6", "hardtanh", "leaky_relu",
    "softplus", "hardswish", "hardsigmoid", "logsigmoid", "softsign", "tanhshrink", "softshrink",
    "hardshrink", "softmax", "log_softmax", "softmin", "glu",
]  # fmt: skip
DTYPES = ["int64", "int32", "uint8", "float32", "float64", "float16", "bfloat16"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_dtypes(name, dtype):
    how = (
        {"dim": 0} if name.startswith(("soft", "log_soft")) and name[-3:] in ("max", "min") else {}
    )

    def program(t):
        found = getattr(t.nn.functional, name)(t.tensor([1, 2], dtype=getattr(t, dtype)), **how)
        return str(found.dtype), found.double()

    check(program, tolerance=1e-2 if "16" in dtype else 1e-5)


@pytest.mark.parametrize("values", [[0.5, 1.5], [-0.1], [float("nan")], [0.0, 1.0], [1, 0], [True]])
def test_probabilities(values):
    check(lambda t: list(t.bernoulli(t.tensor(values)).shape))
    check(lambda t: t.bernoulli(t.tensor(values).double().round().clamp(0, 1).nan_to_num()))


def refusals(program):
    """What the libraries raise: the builtin class of either, and torch's first sentence."""
    found = []
    for library in LIBRARIES:
        with pytest.raises((RuntimeError, TypeError, ValueError)) as caught:
            program(library)
        found.append(caught.value)
    mine, theirs = found
    return mine, theirs, re.split(r"\.?  \(Could", str(theirs))[0].rstrip(".")


def drawn_under_vmap(t, values, levels=1):
    function = t.bernoulli
    for _ in range(levels):
        function = t.vmap(function, randomness="different")
    return function(t.tensor(values).reshape(*[1] * levels, -1))


PROBABILITIES = {
    "of a tensor": lambda t, p: t.bernoulli(t.tensor(p)),
    "under vmap": lambda t, p: drawn_under_vmap(t, p),
    "under two vmaps": lambda t, p: drawn_under_vmap(t, p, 2),
    "written": lambda t, p: t.empty(len(p)).bernoulli_(t.tensor(p)),
    "written in integers": lambda t, p: t.empty(len(p)).long().bernoulli_(t.tensor(p)),
    "written under vmap": lambda t, p: t.vmap(
        lambda x: x.clone().bernoulli_(x), randomness="different"
    )(t.tensor([p])),
    "a number": lambda t, p: t.bernoulli(t.zeros(4), p[0]),
    "a number of a method": lambda t, p: t.zeros(4).bernoulli(p=p[0]),
    "a number for integers": lambda t, p: t.bernoulli(t.zeros(4).long(), p[0]),
    "a number written": lambda t, p: t.zeros(4).bernoulli_(p[0]),
    "a number for complex numbers": lambda t, p: t.bernoulli(t.zeros(4) + 0j, p[0]),
}


@pytest.mark.parametrize("way", PROBABILITIES)
def test_every_way_to_draw_checks_its_probabilities(way):
    draw = PROBABILITIES[way]
    if "complex" not in way:
        check(lambda t: draw(t, [1.0, 0.0, 1.0, 1.0]))
        check(lambda t: draw(t, [0.0, 1.0]))
    for wrong in ([1.5, 0.0], [-0.5, 0.0], [float("nan"), 1.0]):
        mine, theirs, words = refusals(lambda t, wrong=wrong: draw(t, wrong))
        assert kind(mine) == kind(theirs) and words in str(mine)


def test_probabilities_have_the_shape_and_a_dtype_of_floats():
    for probabilities in ([1, 0, 1], [True] * 3, [1j] * 3, [1.0, 0.0]):
        mine, theirs, words = refusals(
            lambda t, given=probabilities: t.zeros(3).bernoulli_(t.tensor(given))
        )
        if probabilities[0] != 1j:
            assert words.split(".")[0] in str(mine)
        assert kind(mine) == kind(theirs)
    drawn = minitorch2.bernoulli(minitorch2.zeros(10_000), 0.3).mean().item()
    assert drawn == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("refused", ["gelu of 1", "bernoulli of 1", "amax of 1j", "erfinv of 1j"])
def test_the_advice_is_for_the_dtype_that_was_given(refused):
    name, number = refused.split(" of ")
    where = minitorch2.nn.functional if name == "gelu" else minitorch2
    with pytest.raises(RuntimeError) as caught:
        getattr(where, name)(minitorch2.tensor([complex(number) if "j" in number else int(number)]))
    assert ("x.float()" in str(caught.value)) == ("j" not in number)
    assert (".real, .imag or .abs()" in str(caught.value)) == ("j" in number)


@pytest.mark.parametrize("groups", [0, -1])
@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
def test_groups_from_one_on(name, groups):
    mine, theirs, words = refusals(
        lambda t: getattr(t.nn.functional, name)(
            t.ones(1, 1, 2, 2), t.ones(1, 1, 1, 1), groups=groups
        )
    )
    assert kind(mine) == kind(theirs) and words in str(mine)


def test_variances_are_floats_from_zero_on():
    def loss(t, number, var, **how):
        return t.nn.functional.gaussian_nll_loss(t.tensor([number]), t.tensor([2]), var, **how)

    for var, words in (([1], "result type Float can't be cast"), ([-1.0], "var has negative")):
        for number in (1, 1.0):
            mine, theirs, said = refusals(lambda t, n=number, v=var: loss(t, n, t.tensor(v)))
            assert kind(mine) == kind(theirs) and words in said and words in str(mine)
    check(lambda t: [loss(t, 1, t.tensor([2.0])), loss(t, 1, 0.5), loss(t, 1.0, 0.5)])
    check(lambda t: loss(t, 1, t.tensor([2]), eps=1))


def test_the_layout_of_a_tensor_is_a_layout_to_make_others_in():
    check(lambda t: t.zeros(2, layout=t.ones(3).layout))
    check(lambda t: t.full_like(t.ones(2), 3, layout=t.ones(2, 2).layout))
    for name in ("rand", "arange", "eye", "ones", "empty"):
        check(lambda t, name=name: list(getattr(t, name)(3, layout=t.ones(1).layout).shape))
