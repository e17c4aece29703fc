"""What limits elements keeps the sign of a zero, as torch does: eager, under no_grad, compiled.

Only what torch does alike for few elements and for many: its vector code has ties of its own.
"""

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402

NUMBERS = [-0.0, 0.0, -1.0, 1.0, -0.25, 7.0, float("inf"), -float("inf")]
FUNCTIONS = {
    "relu": lambda t, x: t.relu(x),
    "relu_": lambda t, x: t.relu_(x.clone()),
    "clamp(min=0)": lambda t, x: x.clamp(min=0),
    "clamp(min=-0.0)": lambda t, x: x.clamp(min=-0.0),
    "clamp(max=0)": lambda t, x: x.clamp(max=0),
    "clamp(0, 1)": lambda t, x: x.clamp(0, 1),
    "clamp_min": lambda t, x: t.clamp_min(x, 0.0),
    "relu6": lambda t, x: t.nn.functional.relu6(x),
    "hardtanh": lambda t, x: t.nn.functional.hardtanh(x, 0.0, 1.0),
    "threshold": lambda t, x: t.nn.functional.threshold(x, 0.0, 0.0),
    "leaky_relu": lambda t, x: t.nn.functional.leaky_relu(x),
}
PAIRS = {
    "fmax(x, 0)": lambda t, x: t.fmax(x, t.zeros_like(x)),
    "fmax(0, x)": lambda t, x: t.fmax(t.zeros_like(x), x),
    "fmin(x, 0)": lambda t, x: t.fmin(x, t.zeros_like(x)),
    "fmin(0, x)": lambda t, x: t.fmin(t.zeros_like(x), x),
}


def texts(tensor):
    """Texts tell -0.0 from 0.0."""
    return [str(each) for each in tensor.tolist()]


def of_torch(function, numbers, dtype):
    x = torch.tensor(numbers, dtype=getattr(torch, dtype), requires_grad=True)
    result = function(torch, x)
    result.sum().backward()
    return texts(result), texts(x.grad)


def of_ours(function, numbers, dtype):
    """By each way of running it: the result, and the gradient where there is one."""
    x = minitorch2.tensor(numbers, dtype=getattr(minitorch2, dtype), requires_grad=True)
    compiled = minitorch2.compile(lambda x: function(minitorch2, x))
    for run in (lambda x: function(minitorch2, x), compiled):
        with minitorch2.no_grad():
            plain = run(x)
        result = run(x)
        x.grad = None
        result.sum().backward()
        yield texts(plain), texts(x.grad)
        yield texts(result), texts(x.grad)


@pytest.mark.parametrize("times", [1, 3, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_limits_keep_zeros_as_torch_does(name, dtype, times):
    wanted = of_torch(FUNCTIONS[name], NUMBERS * times, dtype)
    assert [each == wanted for each in of_ours(FUNCTIONS[name], NUMBERS * times, dtype)] == [
        True
    ] * 4


@pytest.mark.parametrize("times", [1, 3, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", PAIRS)
def test_of_equal_elements_fmax_and_fmin_take_the_first_and_give_it_the_gradient(
    name, dtype, times
):
    numbers = [*NUMBERS, float("nan")] * times
    wanted = of_torch(PAIRS[name], numbers, dtype)
    assert [each == wanted for each in of_ours(PAIRS[name], numbers, dtype)] == [True] * 4
