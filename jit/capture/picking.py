"""What `tensor[i]` gives for an integer tensor i: a view whose place only i knows.

In: results of such operations, in the graph copies of what they would show. Out: a copy is taken
for the view as long as nobody can tell: what is written through it, or beside it into the tensor
before it is read again, makes the graph end before the operation, which Python then does. One that
leaves the function is picked anew, from the real tensor, by the host function.

Source: PyTorch's documentation of indexing and views.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minitorch2 import dtypes
from minitorch2.dispatch import state as dispatch_state
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.sequences import SliceValue, TupleValue
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.interpreter import Machine


class BreakEarlier(GraphBreak):
    """A break that is found late: the graph must end before an earlier step of the root frame."""

    def __init__(self, code: str, detail: str, step: int):
        super().__init__(code, detail)
        self.step = step


@dataclass(eq=False, slots=True)
class Picked:
    """A copy that stands for a view: of which tensor, by which index, made at which step."""

    fake: Tensor
    base: Any
    key: Value
    step: int
    stale: bool = False  # the tensor was written since
    dirty: bool = False  # the copy was written since, and the tensor not yet

    def stop(self) -> None:
        """End the graph before the operation."""
        raise BreakEarlier("data-dependent", "a view at a place that a tensor tells", self.step)


class Picking:
    """The copies of one capture that stand for views."""

    def __init__(self) -> None:
        self.by_storage: dict[int, Picked] = {}
        self.barred: dict[int, int] = {}  # views that a user's Function returned -> step
        self.left: dict[int, Picked] = {}  # storage of a tensor -> what left as a copy of its part

    def note(self, machine: Machine, base: Any, key: Value, found: Value) -> None:
        """`base[key]` gave `found`."""
        fake = getattr(found, "fake", None)
        if fake is None or fake.storage is base.fake.storage or not is_view(machine, key):
            return
        made = Picked(fake, base, key, machine.state.frames[0].step)
        self.by_storage[id(fake.storage)] = made

    def bar(self, machine: Machine, fake: Tensor) -> None:
        """A view that a user's Function returned: Python refuses to write it, at the write."""
        self.barred[id(fake.storage)] = machine.state.frames[0].step

    def used(self, args: tuple, written: list[Tensor]) -> None:
        """An operation reads `args` and writes some tensors."""
        for tensor in written:
            if id(tensor.storage) in self.barred:
                text = "a write into a view that an autograd.Function returned"
                raise BreakEarlier("gradient-machinery", text, self.barred[id(tensor.storage)])
        if not self.by_storage:
            return
        for argument in args:
            for tensor in argument if type(argument) is tuple else (argument,):
                self._read(id(getattr(tensor, "storage", None)))
        for tensor in written:
            place = id(tensor.storage)
            found = self.by_storage.get(place)
            if found is not None:
                found.dirty = True
                place = id(found.base.fake.storage)
            for picked in self.by_storage.values():
                if picked is not found and id(picked.base.fake.storage) == place:
                    picked.stale = True

    def _read(self, place: int) -> None:
        found = self.by_storage.get(place)
        if found is not None and found.stale:
            found.stop()
        for picked in self.by_storage.values():
            if picked.dirty and id(picked.base.fake.storage) == place:
                picked.stop()

    def put_back(self, base: Any, key: Value, value: Value) -> Picked | None:
        """`base[key] = value` at the end of `base[key] += ...`: what was written into the copy
        comes to the tensor. The copy, to be marked as fresh when that is done."""
        picked = self.by_storage.get(id(getattr(getattr(value, "fake", None), "storage", None)))
        if picked is None or picked.base is not base or not same_key(picked.key, key):
            return None
        picked.dirty = False
        return picked

    def settle(self) -> None:
        """The graph ends: what was written into a copy only never came to its tensor."""
        for picked in self.by_storage.values():
            if picked.dirty:
                picked.stop()

    def leaving(self, emitter: Emitter, value: Any) -> str | None:
        """The text of one that leaves, or None: it may leave as it is."""
        place = id(value.fake.storage)
        if place in self.left:
            self.left[place].stop()
        picked = self.by_storage.get(place)
        if picked is None:
            return None
        records = picked.base.fake.requires_grad and dispatch_state.grad_enabled
        if (
            picked.stale
            or picked.dirty
            or picked.fake is not value.fake
            or records != value.fake.requires_grad
        ):
            picked.stop()
        if picked.base.source is None and not emitter.is_output(picked.base.fake):
            self.left[id(picked.base.fake.storage)] = picked
            return None
        return emitter.assign(value, f"{emitter.value(picked.base)}[{emitter.value(picked.key)}]")


def same_key(one: Value, other: Value) -> bool:
    """Whether two indices are one and the same."""
    if isinstance(one, TupleValue) and isinstance(other, TupleValue):
        pairs = zip(one.values, other.values, strict=False)
        return len(one.values) == len(other.values) and all(same_key(*pair) for pair in pairs)
    if isinstance(one, Constant) and isinstance(other, Constant):
        return one.value == other.value
    return one is other


def is_view(machine: Machine, key: Value) -> bool:
    """Whether an index that holds an integer tensor without dimensions selects a view."""
    key = machine.real(key)
    parts = [machine.real(one) for one in key.values] if isinstance(key, TupleValue) else [key]
    chosen = [part.fake for part in parts if hasattr(part, "fake")]
    plain = all(isinstance(part, (Constant, SliceValue)) or hasattr(part, "fake") for part in parts)
    return bool(chosen) and plain and all(map(_is_number, chosen))


def _is_number(fake: Tensor) -> bool:
    kind = fake.dtype
    return fake.ndim == 0 and not kind.is_floating_point and kind not in (dtypes.bool, dtypes.uint8)
