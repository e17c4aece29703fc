"""The body of a class statement: it runs like a function, but binds its names in a dict.

In: a frame with `names`, the dict of the class. Out: names bound and found there, then in the
enclosing functions, the globals and the builtins.

Source: Python's reference, "Class definitions"; CPython's Python/bytecodes.c.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.state import Frame
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.made_classes import stand_in
from minitorch2.jit.capture.values.mappings import DictValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@handles("LOAD_BUILD_CLASS")
def load_build_class(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(machine.trusted(builtins.__build_class__, "__build_class__"))


def names_of(machine: Machine, frame: Frame) -> DictValue:
    """The dict of a class body."""
    if frame.names is None:
        machine.stop("unhandled-opcode", "code of a module, run as if it were a function")
    return frame.names


@handles("LOAD_NAME")
def load_name(machine: Machine, frame: Frame, ins: Instruction) -> None:
    found = names_of(machine, frame).entries.get(ins.value)
    frame.stack.append(frame.globals.find(machine, ins.value) if found is None else found)


def through_space(machine: Machine, space: Any, name: str, value: Value) -> Value:
    """What the namespace of a metaclass makes of a value: an enum numbers its `auto()`s."""
    given = stand_in(machine, value)

    def bind() -> Any:
        space[name] = given
        return space.get(name, given)

    found = machine.guarded(bind)
    return value if found is given else machine.from_python(found)


@handles("STORE_NAME")
def store_name(machine: Machine, frame: Frame, ins: Instruction) -> None:
    value = frame.stack.pop()
    if frame.space is not None:
        value = through_space(machine, frame.space, ins.value, value)
    names_of(machine, frame).set_item(machine, Constant(ins.value), value)


@handles("DELETE_NAME")
def delete_name(machine: Machine, frame: Frame, ins: Instruction) -> None:
    names = names_of(machine, frame)
    if ins.value not in names.entries:
        machine.raise_(NameError, f"name '{ins.value}' is not defined", name=ins.value)
    names.delete_item(machine, Constant(ins.value))


@handles("SETUP_ANNOTATIONS")
def setup_annotations(machine: Machine, frame: Frame, ins: Instruction) -> None:
    names = names_of(machine, frame)
    if "__annotations__" not in names.entries:
        names.set_item(machine, Constant("__annotations__"), DictValue({}))


@handles("LOAD_LOCALS")
def load_locals(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(names_of(machine, frame))


@handles("LOAD_CLASSDEREF")
def load_classderef(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(_name_or_cell(machine, frame, ins, names_of(machine, frame)))


@handles("LOAD_FROM_DICT_OR_DEREF")
def load_from_dict_or_deref(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(_name_or_cell(machine, frame, ins, machine.real(frame.stack.pop())))


def _name_or_cell(machine: Machine, frame: Frame, ins: Instruction, names: Value) -> Value:
    """A variable of an enclosing function, unless the class binds the name too."""
    assert isinstance(names, DictValue)
    found = names.entries.get(frame.name_of(ins.argument))
    return frame.slots[ins.argument].load(machine) if found is None else found


@handles("LOAD_FROM_DICT_OR_GLOBALS")
def load_from_dict_or_globals(machine: Machine, frame: Frame, ins: Instruction) -> None:
    names = machine.real(frame.stack.pop())
    assert isinstance(names, DictValue)
    found = names.entries.get(ins.value)
    frame.stack.append(frame.globals.find(machine, ins.value) if found is None else found)
