"""The symbolic machine: runs bytecode on values instead of objects.

In: a function value and its arguments. Out: the value it returns, with the graph, the guards and
the effects of getting there in `machine.state`. Handlers (one for each instruction, in `handlers/`)
and values call back into the machine for everything that needs more than themselves.

User functions and modules are inlined: a call runs another frame. An exception of the captured
program travels as `UserRaise` through the frames and their exception tables; a graph break travels
past all of them.

Source: CPython's Python/bytecodes.c and Objects/exception_handling_notes.txt.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from minitorch2 import dispatch
from minitorch2.errors import Mt2Error, OperationError
from minitorch2.jit.capture import binding, protocols, texts, wrapping
from minitorch2.jit.capture.gradients import capture_backward
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.handlers import HANDLERS, RETURNED, YIELDED
from minitorch2.jit.capture.inputs import Inputs
from minitorch2.jit.capture.leaves import Leaves
from minitorch2.jit.capture.members import Members
from minitorch2.jit.capture.mode import CaptureMode, capture_origin
from minitorch2.jit.capture.opcodes import break_reason
from minitorch2.jit.capture.resume.suspend import Suspended
from minitorch2.jit.capture.rules.dispatching import call_native, class_rule, function_rule
from minitorch2.jit.capture.rules.transforms import BY_CODE
from minitorch2.jit.capture.rules.watching import register_hook
from minitorch2.jit.capture.source import Source
from minitorch2.jit.capture.state import CaptureState, Frame
from minitorch2.jit.capture.trace import Trace
from minitorch2.jit.capture.values.base import Arguments, Keywords, Lazy, NotKnown, UserRaise, Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.exceptions import ExceptionValue, LastInstruction
from minitorch2.jit.capture.values.floats import lowered_operands
from minitorch2.jit.capture.values.functions import FunctionValue
from minitorch2.jit.capture.values.iterators import (
    LIST_ITERATOR,
    GeneratorValue,
    IteratorValue,
    Passed,
    Walk,
)
from minitorch2.jit.capture.values.mappings import DictValue, pairs_of
from minitorch2.jit.capture.values.namespaces import GlobalsValue
from minitorch2.jit.capture.values.objects import ObjectValue
from minitorch2.jit.capture.values.sequences import SequenceValue, SliceValue, TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.shapes.symbolic_size import SymbolicSize

MAX_STEPS = 400_000
MAX_DEPTH = 90


class Machine(Inputs, Leaves, Members):
    """One capture in progress. `Inputs`, `Leaves` and `Members` hold the parts on what enters, on
    leaves made inside, and on attributes."""

    def __init__(self, state: CaptureState, trace: Trace, free_sizes: Any):
        self.state = state
        self.trace = trace
        self.free_sizes = free_sizes
        self.in_place: Mapping[str, Any] = {}  # in a trial: what stands at a source instead
        self.mode = CaptureMode(state, self.lift)
        self.may_break = False  # whether a break is followed by more of the function
        self.root: Frame | None = None  # the frame of the compiled function itself
        self.left: Frame | None = None  # the frame called from the root that was left last
        self.left_step = 0  # what the root was doing then
        self.stop_step = 2 * MAX_STEPS  # where to stop, when an earlier run broke there
        self.made_at: dict[int, tuple[int, Any]] = {}  # the step of the root that made each value
        self.raised_at: dict[int, tuple[int, Value]] = {}  # where the root saw each exception first
        self.absent: dict[type, set[str]] = {}  # what classes were asked for and did not have
        self.asked: set[type] = set()  # the classes whose line was gone along

    # ---- running frames

    def call_function(self, function: FunctionValue, args: Arguments, kwargs: Keywords) -> Value:
        """Call a Python function: by a rule, directly on fakes, or inlined."""
        of_code = BY_CODE.get(function.code)
        if of_code is not None:
            return of_code(self, function, args, kwargs)
        rule = function_rule(function.object) if function.object is not None else None
        if rule is not None:
            found = rule(self, function.object, args, kwargs)
            if found is not None:
                return found
        flags = function.code.co_flags
        if flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
            self.stop("generator", f"async function {function.code.co_name}()")
        frame = self.enter(function, args, kwargs)
        if flags & inspect.CO_GENERATOR:
            made = GeneratorValue(frame)
            self.state.generators.append(made)
            if self.state.frames:
                self.made_at[id(made)] = self.state.frames[0].step, made
            return made
        return self.run(frame)

    def enter(self, function: FunctionValue, args: Arguments, kwargs: Keywords) -> Frame:
        """A frame with its parameters bound."""
        frame = Frame(function.code, function.globals, function)
        bound = binding.bind(self, function, args, kwargs)
        names = function.code.co_varnames
        for name, value in bound.items():
            frame.slots[names.index(name)] = value
        if function.cells:
            frame.slots[-len(function.cells) :] = function.cells
        return frame

    def run(self, frame: Frame) -> Value:
        """Run a frame to its return."""
        if self.advance(frame) is YIELDED:
            self.stop("generator", "a yield outside of a generator")
        assert frame.result is not None
        return frame.result

    def resume(self, frame: Frame, value: Value, error: UserRaise | None) -> Value | None:
        """Resume a generator's frame; what it yields, or None when it returns."""
        if not frame.started:
            if error is not None:
                raise error
            frame.stack.clear()
        else:
            frame.stack.append(value)
        if self.advance(frame, error) is YIELDED:
            return frame.stack.pop()
        return None

    def advance(self, frame: Frame, error: UserRaise | None = None) -> Any:
        """Run until the frame returns or yields."""
        state = self.state
        if len(state.frames) > MAX_DEPTH:
            self.stop("too-long", f"{len(state.frames)} calls deep")
        frame.started = True
        is_root = not state.frames
        if is_root:
            self.root = frame
        state.frames.append(frame)
        instructions = frame.program.instructions
        trace = self.trace if self.trace.on and frame.is_user else None
        try:
            while True:
                if error is None:
                    current = instructions[frame.index]
                    frame.current = current
                    frame.index += 1
                    state.step += 1
                    frame.step = state.step
                    if is_root and state.step >= self.stop_step:
                        raise Suspended(frame)
                    if state.step > MAX_STEPS:
                        self.stop("too-long", f"{MAX_STEPS} instructions")
                    handler = HANDLERS.get(current.name)
                    if handler is None:
                        self.stop("unhandled-opcode", break_reason(current.name))
                    if trace is not None:
                        trace.before(frame, current)
                    try:
                        found = handler(self, frame, current)
                    except UserRaise as raised:
                        error = raised
                        self._link_context(raised.value)
                        if is_root:
                            place = frame.step, raised.value
                            self.raised_at.setdefault(id(raised.value), place)
                        continue
                    if trace is not None:
                        trace.after(frame, current)
                    if is_root and frame.stack:
                        made = frame.stack[-1]
                        self.made_at.setdefault(id(made), (frame.step, made))
                    if found is RETURNED or found is YIELDED:
                        return found
                    continue
                self._unwind(frame, error)
                error = None
        finally:
            state.frames.pop()
            if len(state.frames) == 1:
                self.left, self.left_step = frame, state.frames[0].step
            if frame.is_user:
                state.last_span = frame.current.span

    def _link_context(self, error: Value) -> None:
        """What is raised while another exception is handled, by whatever operation, says so."""
        handled = self.state.exception
        if handled is not None and handled is not error and isinstance(error, ExceptionValue):
            error.attributes.setdefault("__context__", handled)

    def _unwind(self, frame: Frame, error: UserRaise) -> None:
        """Go to the handler that covers the current instruction, or out of the frame."""
        place = frame.index - 1
        handler = frame.program.handler_at(place)
        if handler is None:
            raise error
        del frame.stack[handler.depth :]
        if handler.lasti:
            frame.stack.append(LastInstruction(frame.current.offset))
        frame.stack.append(error.value)
        frame.index = handler.target

    # ---- stopping and raising

    def stop(self, code: str, detail: str) -> NoReturn:
        """A graph break at the user's place."""
        raise GraphBreak(code, detail, self.state.span())

    def raise_(self, cls: type, *args: Any, **fields: Any) -> NoReturn:
        """Raise an exception in the captured program; its `fields` are plain data or values."""
        made = self.exception(cls, [self.from_python(argument) for argument in args])
        for name, held in fields.items():
            made.set_attribute(self, name, held if isinstance(held, Value) else
                               self.from_python(held))  # fmt: skip
        raise UserRaise(made)

    def raise_real(self, error: BaseException) -> NoReturn:
        """Raise in the captured program what an operation raised during capture."""
        span = self.state.span()
        if isinstance(error, Mt2Error) and span is not None:
            error.move_to(span.file, span.line)
        raise UserRaise(self.from_python(error)) from error

    def type_error(self, text: str) -> NoReturn:
        """Raise a TypeError in the captured program."""
        self.raise_(TypeError, text)

    def exception(self, cls: type, args: Arguments) -> Value:
        """An exception instance."""
        return ExceptionValue(cls, args)

    def exception_group(self, args: Arguments) -> Value:
        """`BaseExceptionGroup(message, errors)`: an ExceptionGroup when all errors are ordinary."""
        errors = [self.real(error) for error in self.items(args[1])] if len(args) == 2 else []
        kinds = [error.python_type() for error in errors]
        if not kinds or not all(issubclass(kind, BaseException) for kind in kinds):
            self.stop("unknown-call", "a group of something but exceptions")
        ordinary = all(issubclass(kind, Exception) for kind in kinds)
        return self.exception(ExceptionGroup if ordinary else BaseExceptionGroup, args)

    def as_exception(self, value: Value) -> Value:
        """What `raise value` raises: an instance, made when a class was given."""
        value = self.real(value)
        if issubclass(value.python_type(), type):
            value = self.call(value, [], {})
        if not issubclass(value.python_type(), BaseException):
            self.type_error("exceptions must derive from BaseException")
        return value

    def guarded(self, function: Callable, *args: Any) -> Any:
        """Run plain Python; what it raises is raised in the captured program."""
        try:
            with dispatch.origin_scope(capture_origin(self.state)):
                return function(*args)
        except (GraphBreak, UserRaise, NotKnown, RecursionError):
            raise
        except Exception as error:
            self.raise_real(error)

    # ---- Python run on fakes

    def run_python(self, function: Callable, args: Arguments, kwargs: Keywords) -> Value:
        """Call a Python function of ours on known values and fake tensors."""
        name = getattr(function, "__name__", type(function).__name__)
        try:
            op = getattr(function, "op", None)
            given = [self.real(argument) for argument in args]
            plain = lowered_operands(self, op, given) if op is not None else None
            if plain is None:
                plain = [argument.lower(self) for argument in given]
            named = {key: self.real(value).lower(self) for key, value in kwargs.items()}
        except NotKnown as unknown:
            value = unknown.args[0]
            self.stop("unknown-operation", f"{name}() of {value.describe()}")
        return self.from_python(self.run_lowered(function, plain, named))

    def run_lowered(self, function: Callable, args: list, kwargs: dict[str, Any]) -> Any:
        """The same for arguments that are lowered already; the plain result."""
        try:
            with self.mode, dispatch.origin_scope(capture_origin(self.state)):
                return function(*args, **kwargs)
        except (GraphBreak, UserRaise, NotKnown, RecursionError):
            raise
        except AssertionError as error:
            if "no memory" in str(error):
                name = getattr(function, "__name__", "operation")
                self.stop("data-dependent", f"{name}() needs the numbers")
            self.raise_real(error)
        except OperationError as error:
            if "the tensor has no data" in str(error):
                name = getattr(function, "__name__", "operation")
                self.stop("data-dependent", f"{name}() needs the numbers")
            self.raise_real(error)
        except Exception as error:
            if any(isinstance(argument, SymbolicSize) for argument in args):
                numbers = [int(a) if isinstance(a, SymbolicSize) else a for a in args]
                return self.run_lowered(function, numbers, kwargs)  # which says "int"
            self.raise_real(error)

    # ---- values

    def real(self, value: Value) -> Value:
        """The value itself, read from its source if nobody has read it yet."""
        if isinstance(value, Lazy):
            if value.real is None:
                assert value.source is not None
                value.real = wrapping.wrap(self, value.object, value.source)
            return value.real
        return value

    def lazy(self, object: Any, source: Source) -> Value:
        """An object that is guarded when it is used."""
        return Lazy(object, source, self)

    def wrap(self, object: Any, source: Source) -> Value:
        """An object that is used now."""
        return wrapping.wrap(self, object, source)

    def from_python(self, object: Any) -> Value:
        """The value of something computed during capture."""
        return wrapping.from_python(self, object)

    def globals_value(self, table: dict[str, Any]) -> GlobalsValue:
        """The globals of a module."""
        return wrapping.globals_value(self, table)

    def tuple_of(self, values: list[Value]) -> Value:
        """A tuple of values."""
        return TupleValue(values)

    def dict_of(self, entries: dict[Any, Value]) -> Value:
        """A dict with plain keys."""
        return DictValue(entries)

    # ---- protocols

    def call(self, function: Value, args: Arguments, kwargs: Keywords) -> Value:
        """`function(*args, **kwargs)`."""
        return self.real(function).call(self, args, kwargs)

    def call_native(self, function: Any, args: Arguments, kwargs: Keywords) -> Value:
        """A call of native code, by the rules for it."""
        return call_native(self, function, args, kwargs)

    def backward(self, loss: TensorValue, args: Arguments, kwargs: Keywords) -> Value:
        """`loss.backward(...)`."""
        return capture_backward(self, loss, args, kwargs)

    def register_hook(self, value: TensorValue, args: Arguments, kwargs: Keywords) -> Value:
        """`value.register_hook(hook)`."""
        return register_hook(self, value, args, kwargs)

    def class_rule(self, cls: type) -> Any:
        """The rule for calling a builtin class, if there is one."""
        return class_rule(cls)

    def method(self, owner: Value, name: str, args: Arguments) -> Value:
        """`owner.name(*args)`."""
        return self.call(self.get_attribute(owner, name), args, {})

    def get_item(self, value: Value, key: Value) -> Value:
        """`value[key]`."""
        return self.real(value).get_item(self, self.real(key))

    def truth(self, value: Value) -> bool:
        """`bool(value)`."""
        return self.real(value).truth(self)

    def items(self, value: Value) -> list[Value]:
        """All items of an iterable."""
        value = self.real(value)
        if isinstance(value, (SequenceValue,)):
            return list(value.values)
        iterator = self.iterator(value)
        found = []
        while (item := self.advance_iterator(iterator)) is not None:
            found.append(item)
        return found

    def iterator(self, value: Value) -> Value:
        """`iter(value)`."""
        return self.real(self.real(value).iterator(self))

    def advance_iterator(self, iterator: Value) -> Value | None:
        """The next item, or None at the end."""
        step = getattr(self.real(iterator), "advance", None)
        if step is None:
            self.type_error(f"'{iterator.python_type().__name__}' object is not an iterator")
        return step(self)

    def next(self, iterator: Value) -> Value:
        """`next(iterator)`."""
        found = self.advance_iterator(iterator)
        if found is None:
            result = iterator.frame.result if isinstance(iterator, GeneratorValue) else None
            self.stop_iteration(result)
        return found

    def stop_iteration(self, value: Value | None) -> NoReturn:
        """Raise StopIteration in the captured program."""
        known = isinstance(value, Constant) and value.value is None
        raise UserRaise(self.exception(StopIteration, [] if value is None or known else [value]))

    def until_stop(self, step: Callable[[], Value]) -> Value | None:
        """The result of a step, or None when it raised StopIteration."""
        try:
            return step()
        except UserRaise as raised:
            if issubclass(raised.value.python_type(), StopIteration):
                return None
            raise

    def iterate_over(self, items: Any, cls: type | None = None, base: Value | None = None) -> Value:
        """An iterator over a list of values, or over a sequence value that may still grow. `base`
        is what gives the same items when it is gone through again."""
        if isinstance(items, SequenceValue):
            cls = cls or (type(iter(())) if items.cls is tuple else LIST_ITERATOR)
            return IteratorValue(Walk(items), cls)
        steps = iter(items) if base is None else Passed(iter(items), base)
        return IteratorValue(steps, cls or LIST_ITERATOR)

    def iterate_by_index(self, value: Value) -> Value:
        """An iterator for an object with `__getitem__` only."""

        def steps() -> Any:
            """Ask for 0, 1, 2 ... until IndexError."""
            index = 0
            while True:
                try:
                    item = value.get_item(self, Constant(index))
                except UserRaise as raised:
                    if issubclass(raised.value.python_type(), (IndexError, StopIteration)):
                        return
                    raise
                yield item
                index += 1

        return IteratorValue(steps())

    def index_of(self, value: Value, what: str = "") -> int:
        """`operator.index(value)`; `what` is the sequence that it is an index of."""
        value = self.real(value)
        if isinstance(value, TensorValue):
            self.stop("data-dependent", "a tensor used as an index of a Python sequence")
        if isinstance(value, ObjectValue):
            found = value.special(self, "__index__")
            value = self.real(found) if found is not None else value
            if found is not None and not issubclass(value.python_type(), int):
                kind = value.python_type()
                self.type_error(f"__index__ returned non-int (type {kind.__name__})")
        kind = value.python_type()
        if hasattr(kind, "__index__"):
            return self.guarded(lambda: value.known().__index__())
        if what:
            self.type_error(f"{what} indices must be integers or slices, not {kind.__name__}")
        return self.type_error(f"'{kind.__name__}' object cannot be interpreted as an integer")

    def number(self, value: Value) -> Value:
        """A value whose text is wanted: a symbolic size becomes the number it is."""
        value = self.real(value)
        if isinstance(value, Constant) and isinstance(value.value, SymbolicSize):
            return Constant(int(value.value))
        if isinstance(value, TupleValue):
            return TupleValue([self.number(item) for item in value.values], value.cls)
        if isinstance(value, SliceValue):
            return SliceValue([self.number(part) for part in value.parts])
        return value

    filled_in = texts.filled_in
    percent = texts.percent

    def equal(self, left: Value, right: Value) -> bool:
        """`left == right` as containers ask it."""
        return protocols.equal(self, left, right)

    def compare(self, symbol: str, left: Value, right: Value) -> Value:
        """`left symbol right`."""
        return protocols.compare(self, symbol, left, right)

    def key(self, value: Value) -> Any:
        """The dict key of a value."""
        return protocols.plain_key(self, value)

    def sort(self, values: list[Value], kwargs: Keywords) -> list[Value]:
        """Sorted values."""
        return protocols.sort(self, values, kwargs)

    def pairs(self, args: Arguments, kwargs: Keywords) -> list[tuple[Value, Value]]:
        """Key-value pairs, as `dict(...)` takes them."""
        return pairs_of(self, args, kwargs)
