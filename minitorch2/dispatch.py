"""The single door of all operations: op -> mode stack -> composite or autograd -> backend.

While a graph is traced (jit/autodiff), a tracer stands where the backends stand: everything above
it, autograd's recorder included, runs as always, and the primitives become nodes.

In: an op row and one argument for each of its parameters. Out: what the innermost layer that
handles it returns. Modes (capture, tracing, transforms) are objects on a thread-local stack; while
one handles an operation it is off the stack, so what it calls goes to the next one.

    class Counter(Mode):
        def handle(self, op, args):
            self.seen[op.name] += 1
            return call(op, args)

Source: PyTorch's dispatcher and __torch_dispatch__ modes, JAX autodidax's interpreter stack.
"""

import threading
from collections.abc import Callable
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.devices import as_device, require_available


class State(threading.local):
    """What the dispatcher reads on each call; one for each thread.

    `direct` is derived: nothing but autograd stands between a call and the backend. It is made anew
    whenever one of `LAYERS` is set, so that the ordinary call reads one attribute. The others may
    be written into this thread's `__dict__`, which takes a quarter of the time.
    """

    LAYERS = frozenset(("modes", "autocast", "tracer", "saved_hooks", "duals"))
    modes: "tuple[Mode, ...]"
    grad_enabled: bool
    autocast: Any  # the 16-bit dtype of an autocast region
    inference: bool
    origin: Origin | None
    tracer: Any  # stands in for the backends while a graph is traced
    capturing: bool
    duals: tuple  # the levels of tangents in force, innermost last
    backward: Any  # the run of the engine in progress
    saved_hooks: tuple[tuple[Callable, Callable], ...]  # (pack, unpack), innermost last
    direct: bool

    def __init__(self) -> None:
        self.__dict__.update(
            modes=(), grad_enabled=True, autocast=None, inference=False, origin=None, tracer=None,
            capturing=False, duals=(), backward=None, saved_hooks=(), direct=True,
        )  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        own[name] = value
        if name in State.LAYERS:
            layers = own["modes"] or own["tracer"] or own["saved_hooks"] or own["duals"]
            own["direct"] = not layers and own["autocast"] is None


state = State()


class Mode:
    """A layer that sees every operation while it is entered (`with mode:`)."""

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out `op`; `call(op, args)` passes it on to the layer below."""
        raise NotImplementedError(f"{type(self).__name__} must define handle")

    def __enter__(self) -> "Mode":
        state.modes = (*state.modes, self)
        return self

    def __exit__(self, *exc: object) -> None:
        state.modes = state.modes[:-1]


# Autograd's recorder and the backends by device type, filled in by the files that define them
# (autograd/record.py, backends/*.py), which stand above this one.
backends: dict[str, Callable[[Any, tuple], Any]] = {}
recorder: Callable[[Any, tuple], Any] | None = None
viewer: Callable[[Any, tuple], Any] | None = None
pusher: Callable[[Any, tuple], Any] | None = None
caster: Callable[[Any, tuple, Any], tuple] | None = None  # (op, args, dtype) -> args: amp/
programs: Callable[[Any, tuple], Any] | None = None  # whole rows: backends/composite_programs.py


def install_autograd(record: Callable, view: Callable) -> None:
    """Set the functions that run an operation and record its vjp, and that make a view."""
    global recorder, viewer
    recorder, viewer = record, view


def install_forward(push: Callable) -> None:
    """Set the function that runs an operation whose arguments may have tangents."""
    global pusher
    pusher = push


def install_programs(run: Callable) -> None:
    """Set the function that runs a composite row as one program, or answers None."""
    global programs
    programs = run


def call(op: Any, args: tuple) -> Any:
    """Run one operation with its bound arguments."""
    if state.direct:
        if len(args) == op.plain:  # Note [The short way], for what composites call
            found = op.short(*args)
            if found is not None:
                return found
        return below_modes(op, args)
    if state.autocast is not None:
        return without_autocast(_call_cast, op, args, state.autocast)
    modes = state.modes
    if modes:
        state.modes = modes[:-1]
        try:
            return modes[-1].handle(op, args)
        finally:
            state.modes = modes
    return below_modes(op, args)


def _call_cast(op: Any, args: tuple, dtype: Any) -> Any:
    return call(op, caster(op, args, dtype))  # type: ignore[misc]


def without_autocast(function: Callable, *args: Any) -> Any:
    """Call a function outside of any autocast region."""
    before, state.autocast = state.autocast, None
    try:
        return function(*args)
    finally:
        state.autocast = before


def below_modes(op: Any, args: tuple) -> Any:
    """The part of `call` below the mode stack: composite, forward mode, autograd, the backend."""
    if op.decomp is not None and not stays_whole(op, args):
        return by_definition(op, args)
    if state.duals:
        return pusher(op, args)  # type: ignore[misc]
    return below_tangents(op, args)


def stays_whole(op: Any, args: tuple) -> bool:
    """Whether a composite goes on as a primitive does: where its own derivative, if it has one, is
    wanted, or may be of the graph that is traced."""
    if not op.slope:
        return False
    if state.duals or state.tracer is not None:
        return True
    return state.grad_enabled and wants_gradient(op, args)


def by_definition(op: Any, args: tuple) -> Any:
    """A composite: as one program where there is one, else step by step."""
    if op.whole and state.direct:
        found = programs(op, args)  # type: ignore[misc]
        if found is not None:
            return found
    return op.decomp(*args)


class unrecorded:
    """What is computed inside has no history; tangents pass on."""

    __slots__ = ("before",)

    def __enter__(self) -> None:
        own = state.__dict__
        self.before, own["grad_enabled"] = own["grad_enabled"], False

    def __exit__(self, *exc: object) -> None:
        state.__dict__["grad_enabled"] = self.before


def below_tangents(op: Any, args: tuple) -> Any:
    """The part of `below_modes` below forward mode: autograd's record, then the backend."""
    if op.view is not None:
        return viewer(op, args)  # type: ignore[misc]
    if state.grad_enabled and op.vjp is not None and wants_gradient(op, args):
        return recorder(op, args)  # type: ignore[misc]
    return run_backend(op, args)


def wants_gradient(op: Any, args: tuple) -> bool:
    """Whether one of the op's tensors requires a gradient."""
    for position in op.tensor_positions:
        argument = args[position]
        kind = type(argument)
        if kind is float or kind is int or argument is None:
            continue
        if kind is tuple or kind is list:
            if any(getattr(item, "requires_grad", False) for item in argument):
                return True
        elif getattr(argument, "requires_grad", False):
            return True
    return False


def _without_memory(value: Any) -> bool:
    storage = getattr(value, "storage", None)
    return storage is not None and storage.block is None


def run_backend(op: Any, args: tuple) -> Any:
    """Run a primitive on the device of its tensors, or on the one asked for, without autograd."""
    if state.tracer is not None:
        return state.tracer.run(op, args)
    if op.slope:
        with unrecorded():
            return by_definition(op, args)
    where = "cpu"
    for position in op.tensor_positions:
        argument = args[position]
        kind = type(argument)
        if kind is float or kind is int or argument is None:
            continue
        if kind is tuple or kind is list:
            argument = next(filter(_without_memory, argument), argument[0] if argument else None)
        storage = getattr(argument, "storage", None)
        if storage is not None:
            if storage.block is None:  # no memory: a meta tensor, or a fake of any device
                return backends["meta"](op, args)
            where = storage.device.type
    if op.device_position is not None:
        wanted = as_device(args[op.device_position])
        require_available(wanted)
        where = wanted.type
    return backends[where](op, args)


class origin_scope:
    """Give `origin` to everything recorded inside the `with` block."""

    __slots__ = ("before", "origin")

    def __init__(self, origin: Origin | None):
        self.origin = origin

    def __enter__(self) -> None:
        own = state.__dict__  # as State says
        self.before, own["origin"] = own["origin"], self.origin

    def __exit__(self, *error: object) -> None:
        state.__dict__["origin"] = self.before


def current_origin() -> Origin | None:
    """The Origin in force for what is being recorded."""
    return state.origin


def is_compiling() -> bool:
    """Whether the code that asks is being captured."""
    return state.capturing
