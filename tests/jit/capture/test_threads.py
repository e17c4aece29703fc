"""Eight threads compile and call the same and other functions at once; results are right."""

import threading

import pytest

import minitorch2 as torch

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
