"""Recurrent layers and transformers beside torch's: outputs, states, gradients, printed forms."""

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.shared import as_array  # noqa: E402

# torch says that it takes its usual path for projections.
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections", "ignore:enable_nested")

LAYERS = [
    "nn.RNN(4, 3)",
    "nn.RNN(4, 3, 2, nonlinearity='relu', bias=False)",
    "nn.LSTM(4, 3, num_layers=2, batch_first=True)",
    "nn.LSTM(4, 3, bidirectional=True)",
    "nn.LSTM(4, 6, proj_size=3)",
    "nn.GRU(4, 3, 2, bidirectional=True)",
]
CELLS = ["nn.RNNCell(4, 3)", "nn.LSTMCell(4, 3)", "nn.GRUCell(4, 3, bias=False)"]
ENCODER = "nn.TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu', batch_first=True)"
STACKS = [
    ENCODER,
    "nn.TransformerEncoderLayer(8, 2, 16, 0.0, norm_first=True)",
    f"nn.TransformerEncoder({ENCODER}, 2)",
]
BOTH = [
    "nn.TransformerDecoderLayer(8, 2, 16, 0.0)",
    "nn.Transformer(8, 2, 1, 2, 16, 0.0, batch_first=True)",
]


def build(library, text):
    return eval(text, {"nn": library.nn})


def flat(found):
    if isinstance(found, tuple):
        return [each for item in found for each in flat(item)]
    return [found]


def outcomes(text, shapes, given=()):
    judge, mine = build(torch, text), build(minitorch2, text)
    assert repr(judge) == repr(mine)
    state = {name: as_array(value) for name, value in judge.state_dict().items()}
    assert list(mine.state_dict()) == list(state)
    mine.load_state_dict({name: minitorch2.tensor(value) for name, value in state.items()})
    rng = numpy.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype("float32") for shape in shapes]
    found = []
    for library, module in ((torch, judge), (minitorch2, mine)):
        tensors = [library.tensor(a).requires_grad_() for a in arrays]
        results = flat(module(*tensors, **dict(given)))
        sum((r * r).sum() for r in results).backward()
        leaves = [*tensors, *module.parameters()]
        found.append([as_array(x) for x in (*results, *[leaf.grad for leaf in leaves])])
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_allclose(a, b, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("text", LAYERS)
@pytest.mark.parametrize("shape", [(5, 2, 4), (5, 4)])
def test_layer(text, shape):
    outcomes(text, [shape])


@pytest.mark.parametrize("text", CELLS)
def test_cell(text):
    outcomes(text, [(2, 4)])


@pytest.mark.parametrize("text", STACKS)
def test_encoder(text):
    outcomes(text, [(2, 3, 8)])


@pytest.mark.parametrize("text", BOTH)
def test_decoder(text):
    outcomes(text, [(2, 3, 8), (2, 3, 8)])


def test_first_states():
    judge = torch.nn.LSTM(4, 3)
    mine = minitorch2.nn.LSTM(4, 3)
    mine.load_state_dict(
        {name: minitorch2.tensor(as_array(v)) for name, v in judge.state_dict().items()}
    )
    x, h = numpy.ones((5, 2, 4), "float32"), numpy.full((1, 2, 3), 0.5, "float32")
    found = [
        flat(net(lib.tensor(x), (lib.tensor(h), lib.tensor(h))))
        for lib, net in ((torch, judge), (minitorch2, mine))
    ]
    for a, b in zip(*found, strict=True):
        numpy.testing.assert_allclose(as_array(a), as_array(b), rtol=1e-5, atol=1e-6)


def test_compiled():
    net = minitorch2.nn.LSTM(4, 3)
    run = minitorch2.compile(net, fullgraph=True)
    x = minitorch2.randn(3, 2, 4)
    for a, b in zip(flat(run(x)), flat(net(x)), strict=True):
        numpy.testing.assert_allclose(as_array(a), as_array(b), rtol=1e-5, atol=1e-6)
