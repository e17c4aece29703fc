"""torch judges which activations take integers and bools, and which probabilities bernoulli."""

import pytest

torch = pytest.importorskip("torch")

from tests.parity.both import check  # noqa: E402

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
