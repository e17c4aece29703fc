"""Faults planted into capture, guards and side effects, one at a time: does the suite find each?

    python -m tests.planted_faults [NAME ...]

In: nothing, or names of faults. Out: a line for each, with the test that found it; the exit status
is 1 when one was missed. Each fault replaces a function of `jit` in this process, and the tests of
capture and of the language run until one fails. Without names they run once before, with no fault:
a test that fails by itself finds nothing.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from minitorch2.jit import class_series, guards
from minitorch2.jit.capture import attempt, picking, protocols, side_effects, state
from minitorch2.jit.capture.emit import Emitter
from minitorch2.jit.capture.handlers import HANDLERS
from minitorch2.jit.capture.interpreter import Machine
from minitorch2.jit.capture.rules import copying
from minitorch2.jit.capture.values import (
    base,
    classes,
    constants,
    contexts,
    floats,
    functions,
    iterators,
    keys,
    mappings,
    namespaces,
    objects,
    sequences,
    sets,
    tensors,
    views,
)
from minitorch2.jit.capture.values.constants import Constant

LANGUAGE = ("guarding", "effects", "exceptions", "containers", "control_flow", "classes",
            "functions", "builtins", "breaks")  # fmt: skip
SUITE = (*(f"tests/jit/language/test_{area}.py" for area in LANGUAGE), "tests/jit/capture",
         "tests/jit/language")  # fmt: skip
NOTHING = "no fault"
Fault = Callable[[pytest.MonkeyPatch], None]
FAULTS: dict[str, Fault] = {}


def fault(plant: Fault) -> Fault:
    """Register a fault under the name of its function."""
    FAULTS[plant.__name__] = plant
    return plant


def silent(owner: Any, name: str) -> Fault:
    """The method does nothing."""
    return lambda patch: patch.setattr(owner, name, lambda *args, **kwargs: None)


def around(owner: Any, name: str, change: Callable) -> Fault:
    """The method is called through `change(original, *args)`."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        if isinstance(owner, dict):
            held = owner[name]
            patch.setitem(owner, name, lambda *args, **kwargs: change(held, *args, **kwargs))
            return
        original = getattr(owner, name)
        patch.setattr(owner, name, lambda *args, **kwargs: change(original, *args, **kwargs))

    return plant


def unrecorded(owner: Any, name: str) -> Fault:
    """What the method changes is not recorded as an effect."""

    def change(original: Any, self: Any, machine: Any, *args: Any) -> Any:
        effects = machine.state.effects
        before = list(effects.items)
        found = original(self, machine, *args)
        effects.items[:] = before
        return found

    return around(owner, name, change)


FAULTS |= {
    # ---- guards
    "no guard on lengths": silent(state.CaptureState, "guard_length"),
    "no guard on numbers and text": silent(state.CaptureState, "guard_value"),
    "no guard on types": silent(state.CaptureState, "guard_type"),
    "no guard on keys": silent(state.CaptureState, "guard_keys"),
    "no guard on one key": silent(state.CaptureState, "guard_key"),
    "no guard on identity": silent(state.CaptureState, "guard_identity"),
    "no guard on code": silent(state.CaptureState, "guard_code"),
    "no guard on two names of one object": silent(state.CaptureState, "guard_same"),
    "no guard on two objects": silent(state.CaptureState, "guard_distinct"),
    "no guard on the absence of an attribute": silent(state.CaptureState, "guard_no_attribute"),
    "no guard on the order of a set": silent(state.CaptureState, "guard_order"),
    "no guard on hooks": silent(state.CaptureState, "guard_no_hooks"),
    "no guard on a varying int": silent(state.CaptureState, "guard_symbolic_int"),
    "no guard on the comparison of a varying float": around(
        floats.FloatValue, "decide",
        lambda f, self, symbol, other: floats.COMPARE[symbol][0](
            self.number, other.number if isinstance(other, floats.FloatValue) else other),
    ),
    "tensors are not compared": silent(guards.TensorCheck, "difference"),
    "0.0 is -0.0": around(
        guards.Same, "__call__", lambda f, self, v: float(self.parts[1]) == v
    ),
    "shared memory is not seen": around(attempt, "written_apart", lambda f, *args: True),
    "any class is like any other": around(class_series.Alike, "__call__", lambda f, *args: True),
    "classes of a series are not told apart": silent(state.CaptureState, "_guard_relation"),
    # ---- side effects
    "the class of the capture leaves": around(
        Emitter, "made_class", lambda f, self, made: self.writer.bind(made.cls, made.cls.__name__)
    ),
    "a copy that is written stays a copy": silent(picking.Picking, "used"),
    "a picked view leaves as a copy": silent(picking.Picking, "leaving"),
    "items of lists unrecorded": unrecorded(sequences.ListValue, "set_item"),
    "items of dicts unrecorded": unrecorded(mappings.DictValue, "set_item"),
    "deleted items unrecorded": unrecorded(mappings.DictValue, "delete_item"),
    "globals unrecorded": unrecorded(namespaces.GlobalsValue, "store"),
    "closure variables unrecorded": unrecorded(namespaces.CellValue, "store"),
    "attributes unrecorded": unrecorded(objects.ObjectValue, "store"),
    "classes unrecorded": unrecorded(classes.ClassValue, "set_attribute"),
    "attributes of tensors unrecorded": unrecorded(tensors.TensorValue, "set_attribute"),
    "sets unrecorded": unrecorded(sets.CHANGING, "add"),
    "tuples are made anew at each use": around(
        sequences.TupleValue, "emit", lambda f, self, emitter: self.text(emitter)
    ),
    "defaults are copied": around(
        functions.FunctionValue, "default",
        lambda f, self, machine, i: copying.shallow(machine, None, [f(self, machine, i)], {}),
    ),
    # ---- language
    "what was handled is forgotten": silent(Machine, "_link_context"),
    "a set is gone through as it was filled": around(
        sets.SetValue, "ordered", lambda f, self, machine: list(self.keys.values())
    ),
    "equal hash is equal": around(keys.HashedKey, "__eq__", lambda f, self, other: True),
    "views do not follow": around(
        views.DictView, "length", lambda f, self, machine: len(self.owner.original)
    ),
    "close leaves finally out": around(
        iterators.GeneratorValue, "_close", lambda f, self, machine: machine.from_python(None)
    ),
    "deepcopy copies an object twice": around(
        copying, "_deep", lambda f, machine, value, memo: f(machine, value, {})
    ),
    "subclasses have no __missing__": around(
        mappings.DictValue, "get_item", lambda f, *args: _forgetting(f, *args)
    ),
}  # fmt: skip


def _forgetting(original: Any, self: Any, machine: Any, key: Any) -> Any:
    outer, self.outer = self.outer, None
    try:
        return original(self, machine, key)
    finally:
        self.outer = outer


@fault
def effects_in_reverse(patch: pytest.MonkeyPatch) -> None:
    original = side_effects.Effects.emit

    def emit(self: Any, emitter: Any) -> list[str]:
        self.items.reverse()
        return original(self, emitter)

    patch.setattr(side_effects.Effects, "emit", emit)


@fault
def grad_mode_stays_after_an_exception(patch: pytest.MonkeyPatch) -> None:
    original = contexts.GradModeValue.call_method

    def call_method(self: Any, machine: Any, name: str, args: Any, kwargs: Any) -> Any:
        if name == "__exit__" and machine.real(args[0]).python_type() is not type(None):
            return machine.from_python(None)
        return original(self, machine, name, args, kwargs)

    patch.setattr(contexts.GradModeValue, "call_method", call_method)


@fault
def modes_are_not_guarded(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(guards, "mode_guards", lambda grad_enabled: [])


@fault
def negative_zero_loses_its_sign(patch: pytest.MonkeyPatch) -> None:
    original = Emitter.constant

    def constant(self: Any, value: Any) -> str:
        return original(self, abs(value) if value == 0 else value)

    patch.setattr(Emitter, "constant", constant)


@fault
def handled_exceptions_stay_active(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(HANDLERS, "POP_EXCEPT", lambda machine, frame, ins: frame.stack.pop() and None)


@fault
def starred_names_are_swapped(patch: pytest.MonkeyPatch) -> None:
    original = HANDLERS["UNPACK_EX"]

    def unpack(machine: Any, frame: Any, ins: Any) -> None:
        original(machine, frame, ins)
        frame.stack[-1], frame.stack[-2] = frame.stack[-2], frame.stack[-1]

    patch.setitem(HANDLERS, "UNPACK_EX", unpack)


@fault
def sorting_in_reverse_turns_equals_around(patch: pytest.MonkeyPatch) -> None:
    original = protocols.sort

    def sort(machine: Any, values: list, kwargs: dict) -> list:
        reverse = "reverse" in kwargs and machine.truth(kwargs["reverse"])
        plain = {name: value for name, value in kwargs.items() if name != "reverse"}
        found = original(machine, values, plain)
        return found[::-1] if reverse else found

    patch.setattr(protocols, "sort", sort)


@fault
def true_is_one(patch: pytest.MonkeyPatch) -> None:
    def same_as(self: Any, machine: Any, other: Any) -> bool:
        return isinstance(other, Constant) and bool(self.value == other.value)

    patch.setattr(constants.Constant, "same_as", same_as)


@fault
def contains_takes_identity_only(patch: pytest.MonkeyPatch) -> None:
    def contains(self: Any, machine: Any, item: Any) -> bool:
        return any(protocols.identical(machine, other, item) for other in machine.items(self))

    patch.setattr(base.Value, "contains", contains)


@contextlib.contextmanager
def planted(name: str) -> Iterator[None]:
    """The process with a fault in it."""
    with pytest.MonkeyPatch.context() as patch:
        FAULTS[name](patch)
        yield


def finder(name: str) -> str | None:
    """The first test that fails with the fault planted (NOTHING: without one)."""
    failures: list[str] = []

    class Listener:
        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                failures.append(report.nodeid)

    others = "not eager and not numba"  # one backend is enough: the faults lie before backends
    options = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--no-header", "-k", others, *SUITE]
    plant = planted(name) if name != NOTHING else contextlib.nullcontext()
    with plant, contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main(options, [Listener()])
    return failures[0] if failures else None if status == 0 else f"status {status}"


def alone(name: str) -> str | None:
    """The same in a process of its own: a test that failed may leave something behind."""
    command = [sys.executable, "-m", "tests.planted_faults", name]
    told = subprocess.run(command, capture_output=True, text=True).stdout.partition("\n")[0]
    found = told.partition(": ")[2]
    return found if found != "MISSED" else None


def main() -> None:
    """Plant each fault and tell who found it."""
    missed = []
    failing = None if sys.argv[1:] else alone(NOTHING)
    if failing:
        sys.exit(f"without a fault fails {failing}: mend it first")
    for name in sys.argv[1:] or FAULTS:
        found = finder(name) if len(sys.argv) == 2 else alone(name)
        print(f"{name}: {found or 'MISSED'}", flush=True)
        missed += [] if found else [name]
    print(f"{len(sys.argv[1:] or FAULTS)} faults, {len(missed)} missed")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
