"""A compiled graph inside eager autograd: saving, freeing, refusing, differentiating twice."""

import gc
import warnings
import weakref

import numpy as np
import pytest

import minitorch2 as torch
from minitorch2.errors import (
    DivisionByZero,
    GraphFreed,
    InPlaceError,
    OperationError,
    SavedTensorModified,
)

BACKENDS = ["eager", "aot_eager", "interpreter"]


def leaf(*values):
    return torch.tensor(list(values), dtype=torch.float64, requires_grad=True)


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
class TestBackends:
    def test_second_backward_needs_retain_graph(self, backend):
        function = torch.compile(lambda x: (x * x).exp().sum(), backend=backend)
        x = leaf(1.0, 2.0)
        loss = function(x)
        loss.backward(retain_graph=True)
        loss.backward()
        want = 2 * (2 * x.detach() * (x.detach() ** 2).exp())
        np.testing.assert_allclose(x.grad.numpy(), want.numpy())
        with pytest.raises(GraphFreed):
            loss.backward()

    def test_a_saved_input_written_before_the_backward_is_noticed(self, backend):
        function = torch.compile(lambda x, y: (x * y).sum(), backend=backend)
        x, y = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)
        loss = function(x, y)
        y.add_(1)
        with pytest.raises(SavedTensorModified):
            loss.backward()

    def test_double_backward(self, backend):
        function = torch.compile(lambda x: (x**3).sum(), backend=backend)
        x = leaf(1.0, 2.0)
        (first,) = torch.autograd.grad(function(x), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        np.testing.assert_allclose(first.detach().numpy(), 3 * x.detach().numpy() ** 2)
        np.testing.assert_allclose(second.numpy(), 6 * x.detach().numpy())

    def test_dropout_draws_what_eager_draws(self, backend):
        def function(x):
            return torch.nn.functional.dropout(x, 0.5, True) + torch.rand(10)

        compiled = torch.compile(function, backend=backend)
        x = torch.ones(10)
        torch.manual_seed(5)
        want = [function(x), function(x), torch.rand(3)]
        torch.manual_seed(5)
        got = [compiled(x), compiled(x), torch.rand(3)]
        for one, other in zip(want, got, strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())

    def test_a_write_into_a_differentiable_input_keeps_its_history(self, backend):
        def function(x, y):
            x.mul_(y)
            return x.sum()

        compiled = torch.compile(function, backend=backend)
        grads = []
        for run in (function, compiled):
            x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
            middle = x * 2
            run(middle, y)
            (middle * middle).sum().backward()
            grads.append((x.grad.numpy(), y.grad.numpy()))
        np.testing.assert_allclose(grads[0], grads[1])

    def test_outputs_share_memory_with_inputs_only_as_in_eager(self, backend):
        def function(x):
            return x, x[1:], x * 1, x + 0

        x = torch.arange(4.0)
        whole, part, product, total = torch.compile(function, backend=backend)(x)
        assert whole is x
        x[2] = 100.0
        assert part[1].item() == 100.0
        assert product[2].item() == 2.0 and total[2].item() == 2.0


@pytest.mark.pure
def test_saved_tensors_are_freed_as_the_backward_passes():
    function = torch.compile(lambda x: x.exp().sin().sum(), backend="interpreter")
    x = leaf(1.0, 2.0)
    loss = function(x)
    saved = [weakref.ref(tensor) for tensor in loss.grad_fn.saved]
    assert saved and all(reference() is not None for reference in saved)
    loss.backward()
    gc.collect()
    assert all(reference() is None for reference in saved)


@pytest.mark.pure
def test_grad_mode_inside_is_what_counts():
    def function(x):
        with torch.enable_grad():
            live = x * 3
        return live, x * 3

    compiled = torch.compile(function, backend="interpreter")
    x = leaf(1.0, 2.0)
    with torch.no_grad():
        live, dead = compiled(x)
    assert live.requires_grad and not dead.requires_grad
    live.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), [3.0, 3.0])


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
class TestOutputsThatAreViews:
    def test_views_of_each_other_stay_so(self, backend):
        def function(x):
            whole = x * 2
            return whole, whole[1:], whole.detach(), (x + 1).sum().expand(2, 2)

        x = leaf(1.0, 2.0, 3.0)
        whole, part, bare, wide = torch.compile(function, backend=backend)(x)
        assert part.requires_grad and not bare.requires_grad and wide.stride() == (0, 0)
        bare[2] = 100.0
        assert whole[2].item() == part[1].item() == 100.0
        part.sum().backward()
        np.testing.assert_array_equal(x.grad.numpy(), [0.0, 2.0, 2.0])

    def test_views_of_an_input_have_its_gradients(self, backend):
        compiled = torch.compile(lambda x: (x[:, 1:], x.detach(), x.mT), backend=backend)
        memory = torch.arange(12.0).view(4, 3)[1:].t().detach().requires_grad_(True)
        part, bare, turned = compiled(memory)
        assert not bare.requires_grad and bare.storage is memory.storage
        ((part * 2).sum() + (turned[0] * 3).sum()).backward()
        np.testing.assert_array_equal(memory.grad.numpy(), [[3, 2, 2]] * 3)

    def test_views_of_nothing(self, backend):
        compiled = torch.compile(lambda x: (x[:, 1:], x.t() + 1), backend=backend)
        part, more = compiled(torch.zeros(0, 3)[:, ::2])
        assert part.shape == (0, 1) and more.shape == (2, 0)


@pytest.mark.parametrize("backend", [*BACKENDS, "numba"])
class TestOperationsThatFail:
    zeros = torch.zeros(3, dtype=torch.int64)

    def test_the_error_names_the_line_and_what_precedes_it_has_happened(self, backend):
        log = []

        def function(x, y):
            x.add_(1)
            noise = torch.rand(4)
            if len(log) < 9:
                log.append("before")
            z = x // y + noise
            x.add_(1)
            return z

        compiled = torch.compile(function, backend=backend)
        torch.manual_seed(0)
        for times in (1, 2):
            x = torch.ones(3, dtype=torch.int64)
            with pytest.raises(DivisionByZero) as refusal:
                compiled(x, self.zeros)
            assert refusal.value.location == (__file__, function.__code__.co_firstlineno + 5)
            assert x.tolist() == [2, 2, 2]
            assert torch.default_generator.counter == times
            if backend != "eager":
                assert log == ["before"] * times

    def test_the_function_may_handle_the_error(self, backend):
        def function(x, y):
            try:
                return x // y
            except DivisionByZero:
                return x

        compiled = torch.compile(function, backend=backend)
        x = torch.ones(3, dtype=torch.int64)
        assert compiled(x, x).tolist() == [1, 1, 1]
        if backend != "eager":
            assert compiled(x, self.zeros) is x


def copy_without_history(x):
    y = torch.zeros(3)
    with torch.no_grad():
        y.copy_(x)
    return (y * x,)


def copy_into_detached(x):
    y = torch.zeros(3)
    bare = y.detach()
    bare.copy_(x)
    return y * x, bare * 2


def write_through_detached(x):
    y = x * 2
    y.detach().mul_(3)
    y[1:].data.mul_(x[1:])
    return (y * x,)


def write_without_history(x):
    y = x * 2
    with torch.no_grad():
        y[1:].mul_(x[1:])
    return (y * x,)


def overwrite_the_whole(x):
    y, z = x * 2, x.sin()
    z[:] = 0.5
    return y + 1, z


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "function",
    [copy_without_history, copy_into_detached, write_through_detached, write_without_history,
     overwrite_the_whole],
)  # fmt: skip
def test_writes_that_gradients_do_not_see(function, backend):
    found = []
    for run in (function, torch.compile(function, backend=backend)):
        x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
        results = run(x)
        assert all(result.requires_grad for result in results)
        sum(result.sum() for result in results).backward()
        found.append((x.grad.tolist(), [result.tolist() for result in results]))
    assert found[0] == found[1]


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_input_gets_a_gradient_only_from_results_computed_from_it(backend):
    def function(x, y):
        whole = y * 3
        whole[:] = 1
        return x * 2, y * 3, whole

    compiled = torch.compile(function, backend=backend)
    for used, expected in ((0, (2.0, None)), (1, (None, 3.0)), (2, (None, 0.0))):
        x, y = leaf(1.0), leaf(1.0)
        compiled(x, y)[used].backward()
        got = tuple(None if t.grad is None else t.grad.item() for t in (x, y))
        assert got == expected


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
def test_an_error_of_an_unused_result_is_raised(backend):
    def function(x, n):
        n % n
        return x * 2

    x, zero = leaf(1.0), torch.zeros(1, dtype=torch.int64)
    with pytest.raises(DivisionByZero):
        torch.compile(function, backend=backend)(x, zero)


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_part_of_an_expanded_input_is_written(backend):
    def function(x):
        x[0].add_(1)
        return x * 2

    x = torch.zeros(3).expand(2, 3)
    assert torch.compile(function, backend=backend)(x).tolist() == [[2, 2, 2], [2, 2, 2]]


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_the_backward_does_not_see(backend):
    def function(a, b):
        flat = b.reshape(1, -1)
        return (flat.sum() * a).exp(), b[:, :1].erf()

    compiled = torch.compile(function, backend=backend, dynamic=True)
    for rows in (4, 5):
        a, b = leaf(0.5), torch.ones(rows, 3)
        b.requires_grad = rows == 5
        exponential, part = compiled(a, b)
        (exponential + part.sum()).backward()
        assert a.grad.item() == pytest.approx(3 * rows * np.exp(1.5 * rows))


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_view_keeps_its_history_when_it_is_written_without_one(backend):
    def function(x):
        live = x[:2]
        with torch.no_grad():
            live[0] = 5.0
            live.add_(1)
        return live * x[:2]

    found = []
    for run in (function, torch.compile(function, backend=backend)):
        x = leaf(1.0, 2.0, 3.0)
        result = run(x * 1)
        result.sum().backward()
        found.append((result.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.filterwarnings("ignore:.*runs op by op")
def test_a_view_of_no_history_is_refused_after_a_write(backend):
    def function(x):
        with torch.no_grad():
            bare = x[:1]
            x.add_(1)
        return x * 2 + bare

    for run in (function, torch.compile(function, backend=backend)):
        with pytest.raises(InPlaceError, match="created in no_grad mode"):
            run(leaf(1.0, 2.0, 3.0) * 1)


@pytest.mark.parametrize("backend", [*BACKENDS, "numba"])
def test_a_class_that_is_none_is_refused(backend):
    function = torch.compile(lambda x: torch.nn.functional.one_hot(x, 3), backend=backend)
    assert function(torch.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    with pytest.raises(OperationError):
        function(torch.tensor([0, 3]))


def test_kernels_over_nothing():
    function = torch.compile(lambda x: (x / x + 1)[:1, None, :-1].sqrt())
    assert function(torch.zeros(0, 2, 2)).shape == (0, 1, 1, 2)


@pytest.mark.parametrize("backend", [*BACKENDS, "numba"])
def test_a_symbolic_size_that_is_1_broadcasts(backend):
    def function(a, c):
        return c + a.reshape(3, -1).prod(0, keepdim=True)

    compiled = torch.compile(function, backend=backend, dynamic=True)
    a, c = torch.tensor([2.0, 3.0, 4.0]), torch.zeros(4, 4)
    assert compiled(a, c).tolist() == [[24.0] * 4] * 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_outputs_without_a_gradient_take_no_part_in_the_backward(backend):
    """Zeros in their place would make nan of infinite derivatives."""

    def function(x, y):
        return x * y, x.log() * y, (x * 2).sqrt().sum() + y.sum()

    run = torch.compile(function, backend=backend)
    for used in ([0], [1], [2], [0, 2], [0, 1, 2]):
        found = []
        for call in (function, run):
            x = torch.tensor([0.0, -1.0, 4.0], requires_grad=True)
            y = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
            outputs = call(x, y)
            sum(outputs[place].sum() for place in used).backward()
            found.append((x.grad, y.grad))
        for eager, compiled in zip(*found, strict=True):
            assert torch.allclose(eager, compiled, equal_nan=True)


def _data_written(x):
    detached = x.detach()
    detached.sub_(x.mean())
    return detached


def _shared_data_written(x):
    y = x * 2
    detached = y.detach()
    detached.sub_(x)
    return y, detached


def _own_data_written(x):
    detached = (x * 2).detach()
    detached.sub_(x)
    return detached[1:]


@pytest.mark.pure
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("function", [_data_written, _shared_data_written, _own_data_written])
def test_what_is_detached_and_then_written_keeps_the_history_of_what_is_written(function, backend):
    """It sees the memory of an input or of another result, whose history is another."""
    compiled = torch.compile(function, backend=backend)
    found = []
    for call in (function, compiled):
        x = leaf(1.0, 2.0, 3.0)
        inside = x.clone()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what cannot be one graph runs op by op
            outputs = call(inside)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        assert all(output.requires_grad for output in outputs)
        sum((output * leaf(*range(1, 1 + len(output)))).sum() for output in outputs).backward()
        found.append([x.grad, inside, *outputs])
    for one, other in zip(*found, strict=True):
        assert torch.equal(one.detach(), other.detach())
