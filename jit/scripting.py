"""torch.jit's names: scripts that were compiled to TorchScript run as the Python they are.

In: functions, classes, modules. Out: the same objects. TorchScript is another language with a
compiler and an interpreter of its own, which minitorch2 does not have; `minitorch2.compile` makes
code fast. So `script` and `trace` return what they are given, marks say nothing, and what needs a
TorchScript program (its text, its file) raises OperationError.

    >>> script(len) is len
    True

Source: torch.jit.
"""

import contextlib
import typing
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from minitorch2.errors import OperationError

Final = typing.Final
List, Dict, Tuple, Optional = typing.List, typing.Dict, typing.Tuple, typing.Optional  # noqa: UP006
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list  # one number, or one for each


def script(obj: Any, *args: Any, **options: Any) -> Any:
    """The object itself: it runs as Python, with Python's meaning."""
    return obj


def trace(func: Any = None, example_inputs: Any = None, *args: Any, **options: Any) -> Any:
    """The function or module itself, after one call with the example inputs.

    Unlike a trace of torch's it takes every branch anew, so it holds for all inputs.
    """
    if func is None:
        return lambda given: trace(given, example_inputs, *args, **options)
    named = options.get("example_kwarg_inputs") or {}
    if example_inputs is not None or named:
        several = isinstance(example_inputs, (tuple, list))
        given = example_inputs if several else () if example_inputs is None else (example_inputs,)
        func(*given, **named)
    return func


def trace_module(mod: Any, inputs: dict[str, Any], *args: Any, **options: Any) -> Any:
    """The module itself, after one call of each named method with its example inputs."""
    for name, given in inputs.items():
        getattr(mod, name)(*(given if isinstance(given, tuple) else (given,)))
    return mod


def ignore(drop: Any = False, **options: Any) -> Any:
    """A mark for TorchScript's compiler, as `@ignore` or `@ignore(drop=True)`: the function."""
    return drop if callable(drop) else lambda function: function


def unused(fn: Callable) -> Callable:
    """A mark for TorchScript's compiler: the function itself."""
    return fn


def export(fn: Callable) -> Callable:
    """A mark for TorchScript's compiler: the function itself."""
    return fn


def script_method(fn: Callable) -> Callable:
    """A mark for TorchScript's compiler: the function itself."""
    return fn


def script_if_tracing(fn: Callable) -> Callable:
    """A mark for TorchScript's compiler: the function itself."""
    return fn


# The names that torchvision uses: marks for TorchScript's compiler, too.
_script_if_tracing = _overload = _overload_method = script_if_tracing


def interface(obj: Any) -> Any:
    """A mark for TorchScript's compiler: the class itself."""
    return obj


def annotate(the_type: Any, the_value: Any) -> Any:
    """The value; its type was for TorchScript's compiler."""
    return the_value


def Attribute(value: Any, type: Any) -> Any:
    """The value; its type was for TorchScript's compiler."""
    return value


def isinstance_of(obj: Any, target_type: Any) -> bool:
    """Whether the object is of one of the types; for List[int] and its like, of its plain type."""
    wanted: tuple[Any, ...] = target_type if isinstance(target_type, tuple) else (target_type,)
    plain: list[Any] = [typing.get_origin(each) or each for each in wanted]
    return isinstance(obj, tuple(plain))


def is_scripting() -> bool:
    """Whether TorchScript runs this code: no."""
    return False


def is_tracing() -> bool:
    """Whether TorchScript traces this code: no."""
    return False


def freeze(mod: Any, *args: Any, **options: Any) -> Any:
    """The module itself; as torch asks, only in eval mode."""
    if getattr(mod, "training", False):
        raise OperationError(
            "jit.freeze(module)",
            "Freezing is currently only implemented for modules in eval mode.",
            "call .eval() on your module before freezing",
        )
    return mod


def optimize_for_inference(mod: Any, *args: Any, **options: Any) -> Any:
    """The module itself."""
    return mod


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block in which TorchScript would be optimized or not: it makes no difference."""
    yield


def set_fusion_strategy(strategy: Any) -> list:
    """Nothing to set: there is no TorchScript to fuse."""
    return []


def fork(func: Callable, *args: Any, **options: Any) -> Any:
    """The result of the call, made now."""
    return func(*args, **options)


def wait(future: Any) -> Any:
    """What fork gave."""
    return future


def _no_programs(asked: str) -> NoReturn:
    raise OperationError(
        asked,
        "minitorch2 has no TorchScript programs, so none can be written or read",
        "save the state_dict with torch.save and rebuild the module from its class",
    )


def save(m: Any, f: Any, *args: Any) -> NoReturn:
    """Write a TorchScript program: OperationError."""
    _no_programs("jit.save(module, file)")


def load(f: Any, *args: Any, **options: Any) -> NoReturn:
    """Read a TorchScript program: OperationError."""
    _no_programs(f"jit.load({f!r})")


class ScriptModule:
    """What torch.jit.script makes of a module in torch. Nothing is an instance of it here."""


class ScriptFunction:
    """What torch.jit.script makes of a function in torch. Nothing is an instance of it here."""
