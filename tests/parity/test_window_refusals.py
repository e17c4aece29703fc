"""Windows without size and states of other sizes are refused, in torch's words."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402
from tests.parity.test_refusals import agree  # noqa: E402


def pooled(name, *args, **how):
    return lambda t: getattr(t.nn.functional, name)(t.ones(1, 1, 4, 4), *args, **how)


POOLS = {
    "stride should not be zero": pooled("max_pool2d", 2, stride=(1, 0)),
    "should not be zero": pooled("avg_pool2d", 0),
    "kernel size should be greater than zero": pooled("max_pool2d", 0, stride=1),
    "dilation should be greater than zero": pooled("max_pool2d", 2, dilation=0),
    "greater than zero": pooled("avg_pool2d", 0, stride=1),
    "divisor must be not zero": pooled("avg_pool2d", 2, divisor_override=0),
}


def run(name, *shapes, sizes=(2, 3), **how):
    """A program: a layer of these sizes on ones of the first shape, from states of the others."""

    def program(t):
        layer = getattr(t.nn, name)(*sizes, **how)
        input, *states = (t.ones(shape) for shape in shapes)
        if not states:
            return layer(input)
        return layer(input, tuple(states) if name.startswith("LSTM") else states[0])

    return program


OTHERS = {
    "pad should be at most half of effective kernel size": pooled("avg_pool2d", 2, padding=2),
    "Halving dimension must be even, but dimension 1 is size 3": (
        lambda t: t.nn.functional.glu(t.ones(2, 3))
    ),
    "glu does not support scalars because halving size must be even": lambda t: t.nn.functional.glu(
        t.tensor(1.0)
    ),
    "alpha cannot be 0 for CELU": pooled("celu", 0),
    'Padding mode "reflect" doesn\'t take in value argument': (
        pooled("pad", (1, 1, 1, 1), "reflect", value=3)
    ),
    "must be greater than min_val (2)": lambda t: t.nn.Hardtanh(2, 1),
}
STATES = {
    "input_size must be greater than zero": run("LSTM", [1, 1, 1], sizes=(0, 2)),
    "proj_size has to be smaller than hidden_size": run("LSTM", [1, 1, 2], proj_size=3),
    "proj_size argument is only supported for LSTM": run("GRU", [1, 1, 2], proj_size=1),
    "hidden_size should be of type int, got: float": run("GRU", [1, 1, 2], sizes=(2, 2.5)),
    "Expected hidden[1] size (1, 1, 3), got [1, 2, 3]": (
        run("LSTM", [2, 1, 2], [1, 1, 3], [1, 2, 3])
    ),
    "Expected hidden size (1, 1, 3), got [2, 1, 3]": run("GRU", [2, 1, 2], [2, 1, 3]),
    "hx and cx should also be 2-D but got (3-D, 3-D) tensors": (
        run("LSTM", [2, 2], [1, 1, 3], [1, 1, 3])
    ),
    "For unbatched 2-D input, hx should also be 2-D but got 3-D tensor": (
        run("GRU", [2, 2], [1, 1, 3])
    ),
    "LSTMCell: Expected input to be 1D or 2D, got 3D instead": run("LSTMCell", [2, 1, 2]),
    "input has inconsistent input_size: got 3 expected 2": run("GRUCell", [1, 3]),
    "Input batch size 1 doesn't match hidden0 batch size 2": run("GRUCell", [1, 2], [2, 3]),
    "hidden0 has inconsistent hidden_size: got 2, expected 3": (
        run("LSTMCell", [1, 2], [1, 2], [1, 3])
    ),
    "hidden0 has inconsistent hidden_size": run("RNNCell", [2], [1, 3]),
    "Unknown nonlinearity: q": run("RNNCell", [1, 2], nonlinearity="q"),
}


@pytest.mark.parametrize("words", POOLS)
def test_pools(words):
    agree(words, POOLS[words])


@pytest.mark.parametrize("words", OTHERS)
def test_others(words):
    agree(words, OTHERS[words])


@pytest.mark.parametrize("words", STATES)
def test_states(words):
    agree(words, STATES[words])


@pytest.mark.parametrize(
    "program",
    [
        run("LSTM", [2, 2], [1, 3], [1, 3]),
        run("LSTM", [2, 4, 2], [2, 4, 1], [2, 4, 3], bidirectional=True, proj_size=1),
        run("GRU", [5, 2, 2], [1, 5, 3], batch_first=True),
        run("GRUCell", [2], [3]),
        run("RNNCell", [4, 2], [4, 3]),
    ],
)
def test_states_that_fit(program):
    def sizes(t):
        found, last = program(t), None
        if isinstance(found, tuple):
            found, last = found
        return [list(found.shape), None if last is None else [list(each.shape) for each in last]]

    check(sizes)


DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "uint16", "float16", "bfloat16", "float32",
    "float8_e4m3fn", "complex64",
]  # fmt: skip


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize(
    "pool", ["max_pool", "avg_pool", "adaptive_max_pool", "adaptive_avg_pool", "max_pool places"]
)
def test_dtypes_of_pools(pool, dims, name):
    """Each pooling takes the dtypes that torch's kernel is made for, and no other."""
    kind, _, places = pool.partition(" ")

    def program(t):
        function = getattr(t.nn.functional, f"{kind}{dims}d")
        input = (t.arange(2 * 4**dims) % 7).reshape(1, 2, *[4] * dims).to(getattr(t, name))
        found = function(input, 2, **({"return_indices": True} if places else {}))
        values = found[0] if places else found
        return str(values.dtype), values.float() if values.dtype.is_floating_point else values

    check(program)
