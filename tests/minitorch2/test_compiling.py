"""minitorch2.compile as a user meets it: what it takes, what it returns, what it says."""

import copy

import pytest

import minitorch2 as torch
from minitorch2 import artifacts, nn
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, GraphBreakError

BACKENDS = ["eager", "aot_eager", "interpreter", "numba"]


def square_sum(x, scale=1.0):
    return (x * x).sum() * scale


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_backend_gives_values_and_gradients(backend):
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    compiled = torch.compile(square_sum, backend=backend, fullgraph=True)
    total = compiled(x, scale=2.0)
    total.backward()
    assert total.item() == 28.0
    assert x.grad.tolist() == [4.0, 8.0, 12.0]


@pytest.mark.pure
class TestForms:
    def test_as_a_decorator_with_and_without_arguments(self):
        @torch.compile(backend="interpreter")
        def first(x):
            """Adds one."""
            return x + 1

        assert first(torch.zeros(2)).tolist() == [1.0, 1.0]
        assert first.__name__ == "first" and first.__doc__ == "Adds one."

    def test_as_a_method(self):
        class Holder:
            def __init__(self, factor):
                self.factor = factor

            @torch.compile(backend="interpreter")
            def scaled(self, x):
                return x * self.factor

        x = torch.ones(2)
        assert Holder(3).scaled(x).tolist() == [3.0, 3.0]
        assert Holder(4).scaled(x).tolist() == [4.0, 4.0]

    def test_a_module_keeps_its_parameters_modes_and_attributes(self):
        module = nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5))
        compiled = torch.compile(module, backend="interpreter")
        assert list(compiled.parameters()) == list(module.parameters())
        assert set(compiled.state_dict()) == {"_orig_mod.0.weight", "_orig_mod.0.bias"}
        compiled.eval()
        assert not module.training and not module[1].training
        x = torch.ones(1, 2)
        assert torch.equal(compiled(x), module(x))
        module.label = "two layers"
        assert compiled.label == "two layers"

    def test_compiling_twice_changes_nothing(self):
        once = torch.compile(square_sum, backend="interpreter")
        assert torch.compile(once) is once

    def test_disabled(self):
        assert torch.compile(square_sum, disable=True) is square_sum


@pytest.mark.pure
class TestMistakes:
    def test_not_callable(self):
        with pytest.raises(ArgumentTypeError, match="not Tensor"):
            torch.compile(torch.ones(2))

    def test_unknown_backend_mode_and_option(self):
        with pytest.raises(ArgumentValueError, match="no such backend"):
            torch.compile(square_sum, backend="fast")
        with pytest.raises(ArgumentValueError, match="no such mode"):
            torch.compile(square_sum, mode="fast")
        with pytest.raises(ArgumentValueError, match="unexpected optimization option 'fuze'"):
            torch.compile(square_sum, options={"fuze": True})

    def test_fullgraph_raises_with_reason_hint_and_the_users_line(self):
        def branching(x):
            if x.sum() > 0:
                return x
            return -x

        with pytest.raises(GraphBreakError) as caught:
            torch.compile(branching, fullgraph=True, backend="interpreter")(torch.ones(2))
        text = str(caught.value)
        assert "test_compiling.py" in text and "x.sum() > 0" in text
        eager = torch.compile(branching, backend="interpreter")
        assert eager(torch.ones(2)).tolist() == [1.0, 1.0]
        assert eager(-torch.ones(2)).tolist() == [1.0, 1.0]

    def test_an_error_of_the_program_is_the_programs_error(self):
        compiled = torch.compile(lambda x, y: x @ y, backend="interpreter")
        with pytest.raises(RuntimeError, match="cannot be multiplied"):
            compiled(torch.ones(2, 3), torch.ones(2, 3))


@pytest.mark.pure
def test_a_recompilation_says_what_changed_and_where():
    events = []
    compiled = torch.compile(lambda x: x * 2, backend="interpreter")
    with artifacts.subscribe(events.append):
        compiled(torch.ones(3))
        compiled(torch.ones(4))
        compiled(torch.ones(5))
    again = [event for event in events if event.stage == "capture.recompile"]
    assert len(again) == 1  # the size is symbolic from the second compilation on
    assert again[0].facts["old"] == "3" and again[0].facts["new"] == "4"
    assert "test_compiling.py" in again[0].facts["where"]


@pytest.mark.pure
def test_a_whole_training_step_is_one_graph():
    def run(compiled):
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.Dropout(0.3), nn.Linear(8, 3))
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.5)

        def step(x, y):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return loss

        if compiled:
            step = torch.compile(step, backend="interpreter", fullgraph=True)
        x, y = torch.rand(5, 4), torch.tensor([0, 1, 2, 0, 1])
        losses = []
        for _ in range(6):
            losses.append(step(x, y).item())
            schedule.step()
        weights = [parameter.detach().clone() for parameter in model.parameters()]
        return losses, weights, step

    want, weights, _ = run(False)
    got, found, step = run(True)
    assert got == pytest.approx(want, rel=1e-5)
    for one, other in zip(weights, found, strict=True):
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-6)
    assert not step.cache.breaks and len(step.cache.recompiles) <= 2
    assert step.totals()["graphs"] == len(step.cache.recompiles) + 1


def test_a_copy_of_a_compiled_module_is_compiled_and_stands_apart():
    module = torch.compile(torch.nn.Linear(2, 2), backend="eager")
    x = torch.ones(1, 2)
    for called in (False, True):
        if called:
            module(x)
        other = copy.deepcopy(module)
        assert type(other) is type(module)
        assert torch.equal(other(x), module(x))
        with torch.no_grad():
            other.weight.add_(1)
        assert not torch.equal(other(x), module(x))
