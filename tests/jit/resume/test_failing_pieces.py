"""What cannot be compiled behind a break: the error leaves the function as any other would, through
the with blocks, except and finally clauses that are open there."""

import threading

import pytest

import minitorch2 as torch
from minitorch2.compile_settings import settings
from minitorch2.errors import BackendCompilerFailed, GraphBreakError


class Noting:
    """Writes down how it is entered and left."""

    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")

    def __exit__(self, kind, error, trace):
        self.log.append(kind and kind.__name__)


def failing_at(number):
    """A backend that cannot compile graph `number`, and the graphs it was given."""
    given = []

    def backend(graph, inputs):
        given.append(graph)
        if len(given) == number:
            raise ValueError("this one not")
        return graph.forward

    return backend, given


def called_at_a_break(x, log):
    for turn in range(2):
        try:
            x = x + 1
            print(end="")
            x = x + 2
        except ValueError:
            log.append("another kind")
        finally:
            log.append(turn)
    return x


def blocks(x, lock, log):
    try:
        with torch.no_grad(), lock, Noting(log):
            y = x + 1
            print(end="")
            y = called_at_a_break(y * 2, log)
        y = y + 3
        print(end="")
        y = y + 4
    except RuntimeError as error:
        log.append(type(error).__name__)
        raise
    finally:
        log.append("end")
    return y


@pytest.mark.parametrize(
    "number, expected",
    [
        (1, ["BackendCompilerFailed", "end"]),
        (2, ["in", "BackendCompilerFailed", "BackendCompilerFailed", "end"]),
        (3, ["in", "BackendCompilerFailed", "BackendCompilerFailed", "end"]),
        (4, ["in", 0, "BackendCompilerFailed", "BackendCompilerFailed", "end"]),
        (5, ["in", 0, 1, "BackendCompilerFailed", "BackendCompilerFailed", "end"]),
    ],
)
def test_blocks_that_are_open_end(number, expected):
    lock, log = threading.Lock(), []
    backend, given = failing_at(number)
    with pytest.raises(BackendCompilerFailed, match="this one not"):
        torch.compile(blocks, backend=backend)(torch.ones(1), lock, log)
    assert len(given) == number
    assert log == expected and not lock.locked() and torch.is_grad_enabled()


def test_an_error_that_is_caught_is_an_error_like_others():
    def fn(x):
        try:
            print(end="")
            y = x + 1
            print(end="")
            return y * 2
        except RuntimeError as error:
            return type(error).__name__

    for number, result in ((1, "BackendCompilerFailed"), (2, "BackendCompilerFailed"), (3, 4.0)):
        found = torch.compile(fn, backend=failing_at(number)[0])(torch.ones(1))
        assert found == result


def test_errors_for_graph_breaks_are_set_back():
    def fn(x):
        return x * x.sum().item()

    wrapped = torch._dynamo.error_on_graph_break(True)(fn)
    with pytest.raises(GraphBreakError, match="item"):
        torch.compile(wrapped, backend="eager")(torch.ones(1))
    assert settings.error_on_break is None
    assert torch.compile(fn, backend="eager")(torch.ones(1)).item() == 1.0
