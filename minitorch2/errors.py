"""Every error raised on purpose: one class per kind of mistake, with a code and a remedy.

In: what was asked, what is wrong, what to do. Out: an exception whose text says those three
things and names the user's own line. Each class is also the builtin that torch raises for the
mistake, so `except RuntimeError` in a script written for torch keeps working.

    raise ShapeError("add(f32[2,3], f32[4])", "sizes 3 and 4 of the last dimension differ",
                     "make them equal, or make one of them 1 so that it is broadcast")

Source: the message form follows einops' and Equinox's errors.
"""

import contextlib
import difflib
import os
import sys
import types
from collections.abc import Callable
from typing import Any

_PACKAGE_FOLDERS = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), room) + os.sep
    for room in ("minitorch2", "jit", "kernels", "cli")
)


def is_own_file(filename: str) -> bool:
    """Whether a source file belongs to minitorch2 itself (and so is not the user's)."""
    return filename.startswith(_PACKAGE_FOLDERS) or filename.startswith("<minitorch2")


# The dispatcher's door and the function that describes a call there, `(op, args) -> text`: set by
# the files that define them (ops/infer.py), which stand above this one.
door: types.CodeType | None = None
describe_call: Callable[[Any, Any], str] | None = None


def name_calls(code: types.CodeType, describe: Callable[[Any, Any], str]) -> None:
    """Set the code of the dispatcher's door, whose frames hold `op` and `args`."""
    global door, describe_call
    door, describe_call = code, describe


def _user_frame() -> tuple[types.FrameType | None, list[types.FrameType]]:
    """The innermost frame outside minitorch2, and those of the dispatcher's door that it entered,
    innermost first.

    What minitorch2 decorates runs through frames of contextlib, which are not the user's either.
    """
    frame, doors = sys._getframe(1), []
    while frame is not None:
        filename = frame.f_code.co_filename
        if frame.f_code is door:
            doors.append(frame)
        elif not is_own_file(filename) and not filename.startswith(
            ("<frozen", contextlib.__file__)
        ):
            break
        frame = frame.f_back  # type: ignore[assignment]
    return frame, doors


def user_location() -> tuple[str, int] | None:
    """The (file, line) of the innermost frame outside minitorch2, or None."""
    frame, _ = _user_frame()
    return None if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def _called(asked: str, doors: list[types.FrameType]) -> str:
    """What was asked: the operation that the user called, where one inside of it refuses."""
    calls = [frame.f_locals for frame in doors if "args" in frame.f_locals]
    if not calls or describe_call is None:
        return asked
    outer, inner = calls[-1]["op"], calls[0]["op"]
    if asked and (outer is inner or asked.replace(".", "_").startswith(outer.name)):
        return asked
    return describe_call(outer, calls[-1]["args"])


class Mt2Error(Exception):
    """The base of all errors raised on purpose.

    `code` names the kind of mistake ('MT2-0101'), `remedy` what usually mends it.
    """

    code = "MT2-0000"
    remedy = "Read the message: it says what was asked, what is wrong and what to do."
    of_a_call = True  # says of an operation that the user called what is wrong with it

    def __init__(self, asked: str, wrong: str = "", fix: str = ""):
        frame, doors = _user_frame()
        asked = _called(asked, doors) if self.of_a_call else asked
        self.asked, self.wrong, self.fix = asked, wrong, fix
        self.location = None if frame is None else (frame.f_code.co_filename, frame.f_lineno)
        super().__init__(self._text())

    def move_to(self, file: str, line: int) -> None:
        """Name another place as the user's: code that runs for a line that is no longer there."""
        self.location = (file, line)
        self.args = (self._text(),)

    def _text(self) -> str:
        lines = [f"[{self.code}] {': '.join(filter(None, (self.asked, self.wrong)))}"]
        lines.append(f"  what to do: {self.fix or self.remedy}")
        if self.location is not None:
            lines.append(f"  at {self.location[0]}:{self.location[1]}")
        return "\n".join(lines)


class UnknownName(AttributeError):
    """A name that a module has not; the text names the nearest of those it has.

    Python itself looks for it in no more than 750 names, and the package has more.
    """

    def __init__(self, module: str, missing: str, names: Callable[[], list[str]]):
        super().__init__(module, missing, name=missing)
        self.module, self.names = module, names

    def __reduce__(self) -> tuple:
        return type(self), (self.module, self.name, self.names)

    def __str__(self) -> str:  # looked for when it is read: many programs only ask with hasattr
        near = difflib.get_close_matches(str(self.name), self.names(), 1)
        hint = f". Did you mean: {near[0]!r}?" if near else ""
        return f"module {self.module!r} has no attribute {self.name!r}{hint}"


class ShapeError(Mt2Error, RuntimeError):
    """Shapes that do not fit together or do not fit the operation."""

    code = "MT2-0101"
    remedy = "Print the `.shape` of each operand and compare it with what the operation needs."


class DimensionError(Mt2Error, IndexError):
    """A dimension number outside [-ndim, ndim)."""

    code = "MT2-0102"
    remedy = "Use a dimension between -ndim and ndim - 1."


class IndexOutOfRange(Mt2Error, IndexError, RuntimeError):
    """An index outside the size of the dimension it indexes."""

    code = "MT2-0103"
    remedy = "Check the largest index against the size of the dimension."


class DtypeError(Mt2Error, RuntimeError):
    """A dtype the operation cannot take, or two that cannot be combined."""

    code = "MT2-0201"
    remedy = "Convert with `.to(dtype)` first."


class UnsupportedDtype(DtypeError, NotImplementedError):
    """A dtype for which an operation has no meaning, or no kernel."""

    code = "MT2-0202"
    remedy = "Convert with `.to(dtype)` first."


class ArgumentTypeError(Mt2Error, TypeError):
    """An argument of a type, or a name, that the signature does not have."""

    code = "MT2-0301"
    remedy = "Compare the call with the signature in the message."


class ArgumentValueError(Mt2Error, ValueError):
    """An argument of the right type with a value that makes no sense here."""

    code = "MT2-0302"
    remedy = "Compare the value with the range in the message."


class OperationError(Mt2Error, RuntimeError):
    """A request that is well-formed but that no rule of torch allows."""

    code = "MT2-0303"


class NumberTooLarge(Mt2Error, OverflowError):
    """A whole number is larger than any integer dtype holds."""

    code = "MT2-0306"
    remedy = "Write a float (1e20), or a tensor of floats."


class LinearAlgebraError(Mt2Error, RuntimeError):
    """A matrix that is singular, or not positive definite, where it must not be."""

    code = "MT2-0305"


class DivisionByZero(Mt2Error, RuntimeError):
    """An integer division by zero (floating division gives inf or nan instead)."""

    code = "MT2-0304"
    remedy = "Guard the divisor, or convert to a floating dtype first."


class ViewError(Mt2Error, RuntimeError):
    """A view that no strides can describe, or a view of memory it does not own."""

    code = "MT2-0401"
    remedy = "Use `.reshape(...)`, which copies when it must, or `.contiguous()` first."


class InPlaceError(Mt2Error, RuntimeError):
    """A write into a tensor that may not be written this way."""

    code = "MT2-0402"
    remedy = "Work on a `.clone()`, or use the out-of-place form of the operation."


class DeviceError(Mt2Error, RuntimeError):
    """A device that is not there, or tensors of two devices in one operation."""

    code = "MT2-0501"
    remedy = "Move the tensors to one device with `.to(device)`."


class AutogradError(Mt2Error, RuntimeError):
    """A gradient asked for where none can be had."""

    code = "MT2-0601"
    remedy = "Check `requires_grad` of the inputs and that no `no_grad` or `detach` cuts the path."


class SavedTensorModified(AutogradError):
    """A tensor saved for the backward was overwritten in place before it was used."""

    code = "MT2-0602"
    remedy = "Use the out-of-place form of the operation that overwrote it, or write to a clone."


class GraphFreed(AutogradError):
    """A second backward through a graph whose saved tensors were freed by the first."""

    code = "MT2-0603"
    remedy = "Pass `retain_graph=True` to the first backward, or run the forward again."


class MissingDerivative(AutogradError, NotImplementedError):
    """A derivative asked for that nobody has written."""

    code = "MT2-0604"
    remedy = "Write the backward, or keep the operation out of what is differentiated."


class GradcheckError(AutogradError):
    """A derivative that differs from what finite differences give."""

    code = "MT2-0605"
    remedy = "Check the vjp, and that the function is smooth at this point; use float64."


class ModuleError(Mt2Error, RuntimeError):
    """A module's state that does not fit: missing or unexpected keys, uninitialised parts."""

    code = "MT2-0701"


class SerializationError(Mt2Error, RuntimeError):
    """A file that cannot be read back as tensors."""

    code = "MT2-0702"


class CompileError(Mt2Error, RuntimeError):
    """A request to `compile` that it cannot carry out."""

    code = "MT2-0801"
    of_a_call = False


class GraphBreakError(CompileError):
    """With `fullgraph=True`: a place that capture cannot follow, with its reason and hints."""

    code = "MT2-0802"
    remedy = "Move the line out of the compiled function, or drop `fullgraph=True`."


class VerificationError(CompileError):
    """An IR that breaks its own rules: the mistake is in a pass, not in the user's program."""

    code = "MT2-0803"


class ParseError(Mt2Error, ValueError):
    """IR text that the grammar does not accept."""

    code = "MT2-0804"


class KernelError(CompileError):
    """A kernel that could not be generated, compiled or loaded."""

    code = "MT2-0805"


FAULTS = (VerificationError, KernelError)  # what no program of a user's causes


def is_refusal(error: BaseException) -> bool:
    """Whether the compiler says that it cannot carry a program out, which then runs op by op."""
    return isinstance(error, Mt2Error) and not isinstance(error, FAULTS)


class BackendCompilerFailed(CompileError):
    """A backend of the user's own failed, or gave something else than a backend gives."""

    code = "MT2-0807"


class TraceError(CompileError, ValueError):
    """A symbolic trace (torch.fx) met a decision that depends on a value it does not have."""

    code = "MT2-0806"
    remedy = "Move the decision out of the traced function, or trace it with concrete_args."
