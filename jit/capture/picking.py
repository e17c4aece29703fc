"""What `tensor[i]` gives for an integer tensor i: a view whose place only i knows.

In: results of such operations, in the graph copies of what they would show. Out: a copy is taken
for the view as long as nobody can tell: what is written through it, or beside it into the tensor
before it is read again, makes the graph end before the operation, which Python then does. One that
leaves the function is picked anew, from the real tensor, by the host function.

Source: PyTorch's documentation of indexing and views.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch2.dispatch import state as dispatch_state
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.ops.table import Op
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.emit import Emitter
    from minitorch2.jit.capture.state import CaptureState


class BreakEarlier(GraphBreak):
    """A break that is found late: the graph must end before an earlier step of the root frame."""

    def __init__(self, code: str, detail: str, step: int):
        super().__init__(code, detail)
        self.step = step


@dataclass(eq=False, slots=True)
class Picked:
    """A copy that stands for a view: of which tensor, by which indices, made at which step."""

    fake: Tensor
    base: Tensor
    # One for each dimension of the base, None: all of it. No tuple: nobody knows which part it is.
    indices: tuple[Tensor | None, ...] | None
    step: int
    stale: bool = False  # the tensor was written since
    dirty: bool = False  # the copy was written since, and the tensor not yet
    moved: bool = False  # an index was written since

    def strides(self) -> tuple:
        """Those of the view."""
        if self.indices is None:
            return tuple(self.fake.layout.strides)
        pairs = zip_longest(self.base.layout.strides, self.indices)
        return tuple(stride for stride, index in pairs if index is None)

    def stop(self) -> NoReturn:
        """End the graph before the operation."""
        raise BreakEarlier("data-dependent", "a view at a place that a tensor tells", self.step)


class Picking:
    """The copies of one capture that stand for views."""

    def __init__(self, state: CaptureState) -> None:
        self.state = state
        self.by_storage: dict[int, Picked] = {}
        self.barred: dict[int, int] = {}  # views that a user's Function returned -> step
        self.put: dict[int, Picked] = {}  # storage of a tensor with a copy put back -> the copy
        self.left: dict[int, Picked] = {}  # storage of a tensor -> what left as a copy of its part

    def bar(self, fake: Tensor) -> None:
        """A view that a user's Function returned: Python refuses to write it, at the write."""
        self.barred[id(fake.storage)] = self.state.frames[0].step

    def copied(self, fake: Tensor, base: Tensor) -> None:
        """`fake` is a copy where Python would give a view of `base`, by a function of its own."""
        self.by_storage[id(fake.storage)] = Picked(fake, base, None, self.state.frames[0].step)

    def bases(self, storage: Any) -> list[int]:
        """The memory of which a tensor shows a part: its own, that of the tensor out of which it
        was picked, and so on."""
        places = [id(storage)]
        while (picked := self.by_storage.get(places[-1])) is not None:
            places.append(id(picked.base.storage))
        return places

    def recorded(self, op: Op, args: tuple, fakes: tuple, written: list[Tensor]) -> None:
        """An operation that reads `args`, writes some tensors and gives `fakes`."""
        for tensor in written:
            if id(tensor.storage) in self.barred:
                text = "a write into a view that an autograd.Function returned"
                raise BreakEarlier("gradient-machinery", text, self.barred[id(tensor.storage)])
        if self.by_storage:
            back = self._put_back(op, args)
            if back is not None and not written:
                self.put[id(fakes[0].storage)] = back
            for argument in args:
                for tensor in argument if type(argument) is tuple else (argument,):
                    if not isinstance(tensor, Tensor):
                        continue
                    if written or tensor.storage is not fakes[0].storage:  # a view reads nothing
                        self._read(tensor, back)
            for tensor in written:
                self._write(tensor, back)
        if op.name == "index" and all(one is None or one.ndim == 0 for one in args[1]):
            made = Picked(fakes[0], args[0], args[1], self.state.frames[0].step)
            self.by_storage[id(fakes[0].storage)] = made

    def _put_back(self, op: Op, args: tuple) -> Picked | None:
        """The copy that `index_put` and then `copy_` put where it was picked, as `base[key] += 1`
        does at its end: what else they read of that place does not count."""
        if op.name == "copy_":
            back = self.put.get(id(getattr(args[1], "storage", None)))
            return back if back is not None and self._same(back.base, args[0]) else None
        if op.name != "index_put" or args[3] or not isinstance(args[2], Tensor):
            return None
        picked = self.by_storage.get(id(args[2].storage))
        if picked is None or picked.indices is None:
            return None
        if picked.moved or picked.fake.shape != args[2].shape:
            return None
        same = self._same(picked.base, args[0]) and len(picked.indices) == len(args[1])
        pairs = zip(picked.indices, args[1], strict=False)
        return picked if same and all(self._same(*pair) for pair in pairs) else None

    def _same(self, one: Tensor | None, other: Tensor | None) -> bool:
        """Whether two tensors see the same elements, or are made of the same by the same cast."""
        if one is None or other is None or one is other:
            return one is other
        if one.storage is other.storage:
            mine, theirs = one.layout, other.layout
            return (mine.shape, mine.strides, mine.offset) == (
                theirs.shape, theirs.strides, theirs.offset,
            )  # fmt: skip
        values = [self.state.graph_values[id(each)] for each in (one, other)]
        made = [node for node in self.state.builder.nodes if set(node.results) & set(values)]
        casts = len(made) == 2 and made[0].op == "convert" == made[1].op
        return casts and made[0].args == made[1].args

    def _read(self, tensor: Tensor, back: Picked | None) -> None:
        place = id(tensor.storage)
        found = self.by_storage.get(place)
        if found is not None and found.stale:
            found.stop()
        for picked in self.by_storage.values():
            if picked.dirty and picked is not back and place in self.bases(picked.base.storage):
                picked.stop()

    def _write(self, tensor: Tensor, back: Picked | None) -> None:
        root = self.bases(tensor.storage)[-1]
        found = self.by_storage.get(id(tensor.storage))
        if found is not None:
            found.dirty = True
            self.put = {at: picked for at, picked in self.put.items() if picked is not found}
        if back is not None:
            back.dirty = False
        for picked in self.by_storage.values():
            if picked is not found and picked is not back:
                picked.stale |= self.bases(picked.base.storage)[-1] == root
            indices = [one for one in picked.indices or () if one is not None]
            picked.moved |= any(self.bases(one.storage)[-1] == root for one in indices)

    def settle(self) -> None:
        """The graph ends: what was written into a copy only never came to its tensor."""
        for picked in self.by_storage.values():
            if picked.dirty:
                picked.stop()

    def leaving(self, emitter: Emitter, value: TensorValue) -> str | None:
        """The text of one that leaves, or None: it may leave as it is, itself or as a copy that
        nobody can tell from the view, since nothing else that is seen shows the same memory."""
        bases = self.bases(value.fake.storage)
        left = self.left.get(bases[-1])
        if left is not None and left.fake is not value.fake:
            left.stop()
        picked = self.by_storage.get(bases[0])
        if picked is None or left is not None:
            return None
        records = picked.base.requires_grad and dispatch_state.grad_enabled
        if (
            picked.stale
            or picked.dirty
            or picked.fake is not value.fake
            or records != value.fake.requires_grad
        ):
            picked.stop()
        seen = [one.fake for one in self.state.inputs if one.fake is not None] + emitter.outputs
        alone = all(self.bases(fake.storage)[-1] != bases[-1] for fake in seen)
        if alone and picked.strides() == tuple(picked.fake.layout.strides):
            self.left[bases[-1]] = picked
            return None
        if picked.moved or picked.indices is None:
            picked.stop()
        base = self._text(emitter, picked.base)
        indices = [self._text(emitter, one) if one is not None else ":" for one in picked.indices]
        return emitter.assign(value, f"{base}[{', '.join(indices)}]")

    def _text(self, emitter: Emitter, fake: Tensor) -> str:
        known = self.state.tensor_values.setdefault(id(fake), TensorValue(fake))
        return emitter.value(known)
