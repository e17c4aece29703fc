"""What the capture tests share: run a function eagerly and captured, and compare everything."""

import copy
from typing import Any

import minitorch2 as torch
from minitorch2.jit.cache import CodeCache
from minitorch2.jit.capture.program import capture
from minitorch2.jit.ir.interpreter import interpret, run_captured
from minitorch2.tensors import Tensor


def through_interpreter(program: Any) -> Any:
    """The captured graph, interpreted."""
    return lambda inputs: interpret(program.graph, inputs)


def recorded(program: Any) -> Any:
    """The captured graph, run op by op under autograd."""

    def run(inputs: list) -> list:
        with torch.enable_grad():
            return run_captured(program.graph, inputs)

    return run


def compiled(fn: Any, **options: Any) -> CodeCache:
    """A compiled function whose graphs run op by op; breaks are errors unless asked for."""
    options.setdefault("fullgraph", True)
    return CodeCache(fn, f"test:{getattr(fn, '__name__', 'module')}#0", recorded, **options)


def same(left: Any, right: Any) -> bool:
    """Equality of nested results."""
    if type(left) is not type(right):
        return False
    if isinstance(left, Tensor):
        return (
            left.dtype is right.dtype
            and tuple(left.shape) == tuple(right.shape)
            and left.requires_grad == right.requires_grad
            and left.stride() == right.stride()
            and left.tolist() == right.tolist()
        )
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(same(left[key], right[key]) for key in left)
    return left == right


def check(fn: Any, *args: Any, **kwargs: Any) -> Any:
    """Captured in one graph and eager give the same; returns the captured program."""
    expected = fn(*copies(args), **copies(kwargs))
    program = capture(fn, args, kwargs, unit="test:fn#0")
    run = program.bind(through_interpreter(program))
    assert program.guards.check is not None and program.guards.check(*args, **kwargs)
    got = run(*copies(args), **copies(kwargs))
    assert same(got, expected), f"{got} is not {expected}"
    return program


def copies(value: Any) -> Any:
    """Fresh tensors and containers, so that writes of one run do not reach the next."""
    if isinstance(value, Tensor):
        made = value.detach().clone()
        made.requires_grad = value.requires_grad
        return made
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(copies(item) for item in value)
    if type(value) is dict:
        return {key: copies(item) for key, item in value.items()}
    return value if callable(value) else copy.copy(value)


def ones(*sizes: int, **options: Any) -> Tensor:
    """A tensor of ones."""
    return torch.ones(sizes, **options)
