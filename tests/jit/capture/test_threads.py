"""Eight threads compile and call the same and other functions at once; results are right."""

import threading

import pytest

import minitorch2 as torch
from minitorch2 import nn

# Eight shapes at once are more than one function is compiled for.
pytestmark = pytest.mark.filterwarnings("ignore:.*was compiled 8 times")
THREADS = 8


def together(work):
    """Run `work(number)` in eight threads that start at once; what they raised is raised here."""
    gate, failures = threading.Barrier(THREADS), []

    def run(number):
        gate.wait()
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_the_same_function():
    def fn(x, by, items):
        items.append(by)
        y = x * by
        if x.dim() == 2:
            y = y.sum(0)
        return y + len(items)

    run = torch.compile(fn, backend="interpreter")

    def work(number):
        for turn in range(20):
            shape = [(3,), (2, 3), (4, 3), (1,)][(number + turn) % 4]
            x, by = torch.full(shape, float(number)), turn % 3
            items = [0] * (number % 3)
            assert run(x, by, items).tolist() == fn(x, by, [0] * (number % 3)).tolist()
            assert items[-1] == by and len(items) == number % 3 + 1

    together(work)


def test_different_functions_that_break():
    def made(number):
        def fn(x):
            y = x * number
            total = int(y.sum().item())
            return y + total

        return fn

    functions = [torch.compile(made(number), backend="interpreter") for number in range(3)]

    def work(number):
        for turn in range(15):
            which = (number + turn) % 3
            x = torch.full((2 + turn % 4,), float(number))
            assert functions[which](x).tolist() == made(which)(x).tolist()

    together(work)


def test_grad_mode_is_each_threads_own():
    weight = torch.ones(3, requires_grad=True)
    run = torch.compile(lambda x: (x * weight).sum(), backend="aot_eager")

    def work(number):
        for _ in range(10):
            x = torch.full((3,), float(number))
            if number % 2:
                with torch.no_grad():
                    assert not run(x).requires_grad
            else:
                (grad,) = torch.autograd.grad(run(x), weight)
                assert grad.tolist() == [float(number)] * 3

    together(work)


def test_exceptions_and_breaks_in_one_function():
    def fn(x, by, log):
        try:
            y = x * by
            if by % 3 == 0:
                raise ValueError(by)
            log.append(y.sum().item())
            print(end="")
            return y + len(log)
        except ValueError as error:
            return x - error.args[0]
        finally:
            log.append("end")

    run = torch.compile(fn, backend="aot_eager")

    def work(number):
        for turn in range(12):
            x, log, expected = torch.full((1 + (number + turn) % 3,), float(number)), [], []
            result = run(x, number % 4, log).tolist()
            assert result == fn(x, number % 4, expected).tolist() and log == expected

    together(work)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last, self.calls = nn.Linear(4, 8), nn.Linear(8, 1), 0

    def forward(self, x):
        self.calls += 1
        h = self.first(x).relu()
        return self.last(h * 1.5 if self.calls % 2 else h)


def losses_of(net, run, number):
    """The losses of a short training."""
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    found = []
    for turn in range(6):
        optimizer.zero_grad()
        loss = run(torch.full((3 + turn % 2, 4), number / 10 + turn / 100)).square().mean()
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return found


@pytest.mark.parametrize("backend", ["aot_eager", "numba"])
def test_each_trains_a_module_of_one_class(backend):
    def made():
        torch.manual_seed(1)
        return Net()

    nets = [made() for _ in range(THREADS)]
    runs = [torch.compile(net, backend=backend) for net in nets]
    expected = [losses_of(net, net, number) for number, net in enumerate(made() for _ in nets)]
    found = {}

    def work(number):
        found[number] = losses_of(nets[number], runs[number], number)

    together(work)
    for number in range(THREADS):
        assert found[number] == pytest.approx(expected[number], rel=1e-4)


def test_stances_and_resets_while_others_call():
    run = torch.compile(lambda x: (x * 2).relu() + 1, backend="eager")

    def work(number):
        for turn in range(40):
            x = torch.ones(*[2] * (1 + turn % 3))
            if number == 0:
                torch.compiler.reset()
            elif number == 1:
                with torch.compiler.set_stance("force_eager"):
                    assert run(x).sum().item() == 3 * x.numel()
            else:
                assert run(x).sum().item() == 3 * x.numel()

    together(work)


def test_autocast_is_each_threads_own_and_gradients_cross_threads():
    product = torch.compile(lambda x: (x @ x).float(), backend="aot_eager")
    loss = torch.compile(lambda x, w: (x * w).sin().sum(), backend="numba")

    def work(number):
        for turn in range(5):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bool(number % 2)):
                found = product(torch.full((2, 2), 1.001))[0, 0].item()
            assert found == pytest.approx(2.0 if number % 2 else 2.004002, abs=1e-4)
            x, w = torch.arange(4.0), torch.full((4,), number / 10 + turn, requires_grad=True)
            other = threading.Thread(target=loss(x, w).backward)
            other.start()
            other.join()
            assert torch.allclose(w.grad, (x * w.detach()).cos() * x, atol=1e-6)

    together(work)
