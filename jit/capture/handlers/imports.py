"""import statements inside functions: modules that are loaded already are just found."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING

from minitorch2.jit.capture.handlers.registry import handles
from minitorch2.jit.capture.instructions import Instruction
from minitorch2.jit.capture.source import ConstantSource, ItemSource
from minitorch2.jit.capture.state import Frame

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine


@handles("IMPORT_NAME")
def import_name(machine: Machine, frame: Frame, ins: Instruction) -> None:
    """`import name`, of modules that are loaded already: to load one is an effect."""
    names = machine.real(frame.stack.pop())
    level = machine.real(frame.stack.pop()).known()
    name = ins.value
    if level:
        package = frame.globals.table.get("__package__") or ""
        name = importlib.util.resolve_name("." * level + name, package)
    module = sys.modules.get(name)
    if module is None:
        machine.stop("input-output", f"import {name}, which is not loaded yet")
    if names.known() is None and not level:
        name = name.partition(".")[0]
        module = sys.modules[name]
    place = ItemSource(ConstantSource(sys.modules, "sys.modules", False), name)
    machine.state.guard_identity(place, module)
    frame.stack.append(machine.trusted(module, module.__name__))


@handles("IMPORT_FROM")
def import_from(machine: Machine, frame: Frame, ins: Instruction) -> None:
    frame.stack.append(machine.get_attribute(frame.stack[-1], ins.value))
