"""detect_anomaly: a backward that fails, or gives nan, names the line of its forward.

In: a block in which the forward and the backward run. Out: AutogradError, which names the operation
and the user's line it stands on, when the backward of an operation raises or returns nan.

    with torch.autograd.detect_anomaly():
        loss = model(x)
        loss.backward()

It is a mode of the dispatcher: inside, every operation gets its user's line as its Origin, which
nodes keep. Outside, nothing is recorded and nothing checked.

Source: torch.autograd.detect_anomaly's documentation.
"""

import linecache
import sys
import warnings
from collections.abc import Callable
from typing import Any

from minitorch2.artifacts import Origin, Span
from minitorch2.dispatch import Mode, call, origin_scope, state
from minitorch2.errors import AutogradError, user_location
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class AnomalyMode(Mode):
    """Gives every operation the user's line; checks what nodes return."""

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out an operation with its line as its Origin."""
        place = user_location()
        if place is None or state.origin is not None:
            return call(op, args)
        with origin_scope(Origin((Span(*place),), made_by="eager")):
            return call(op, args)

    def run(self, apply: Callable, node: Any, grads: list[Any]) -> tuple:
        """`apply(node, grads)`, with the forward's line in what goes wrong."""
        try:
            found = apply(node, grads)
        except Exception as error:
            _tell(node)
            error.add_note(f"in the backward of {node.name()}, whose forward ran at {place(node)}")
            raise
        if self.check_nan:
            for index, gradient in enumerate(found):
                if isinstance(gradient, Tensor) and _has_nan(gradient):
                    _tell(node)
                    raise AutogradError(
                        f"the backward of {node.name()}, whose forward ran at {place(node)}",
                        f"Function '{node.name()}' returned nan values in its {index}th output.",
                        "look at the values that reach this line: a division by zero, the square "
                        "root or logarithm of zero",
                    )
        return found


def _tell(node: Any) -> None:
    """Warn of the node at fault and of its forward; where warnings raise, print it."""
    where = "No forward pass information available. Enable detect anomaly during forward pass"
    if node.origin is not None and node.origin.spans:
        line = linecache.getline(node.origin.spans[0].file, node.origin.spans[0].line).strip()
        where = f"Its forward ran at {place(node)}: {line}"
    text = f"Error detected in {node.name()}. {where}"
    try:
        warnings.warn(text, UserWarning, stacklevel=2)
    except UserWarning:
        print(text, file=sys.stderr)


def _has_nan(gradient: Tensor) -> bool:
    before, state.modes = state.modes, ()
    try:
        if gradient.storage.block is None or not gradient.dtype.differentiable:
            return False
        return bool(call(lookup("any"), (call(lookup("isnan"), (gradient,)), None, False)).item())
    finally:
        state.modes = before


def place(node: Any) -> str:
    """The line a node's forward stands on, as file:line."""
    if node.origin is None or not node.origin.spans:
        return "a line that was not recorded (outside of detect_anomaly)"
    span = node.origin.spans[0]
    return f"{span.file}:{span.line}"


def active() -> AnomalyMode | None:
    """The mode in force, if any."""
    for mode in reversed(state.modes):
        if isinstance(mode, AnomalyMode):
            return mode
    return None


def origin_now() -> Origin | None:
    """The Origin in force, or while anomalies are looked for the user's line."""
    where = user_location() if state.origin is None and active() is not None else None
    return state.origin if where is None else Origin((Span(*where),), made_by="eager")


class detect_anomaly:
    """Within the block, failing backwards name their forward's line; `check_nan` looks for nan."""

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self.before = state.modes
        state.modes = (AnomalyMode(self.check_nan), *self.before)

    def __exit__(self, *exc: object) -> None:
        state.modes = self.before


class set_detect_anomaly:
    """Turns anomaly detection on or off; as a context manager, until the block ends."""

    def __init__(self, mode: bool, check_nan: bool = True):
        self.before = state.modes
        rest = tuple(each for each in self.before if not isinstance(each, AnomalyMode))
        state.modes = (AnomalyMode(check_nan), *rest) if mode else rest

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        state.modes = self.before


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection looks for nan; True where nothing was said."""
    mode = active()
    return mode is None or mode.check_nan


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on in this thread."""
    return active() is not None
