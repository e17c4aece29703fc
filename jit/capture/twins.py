"""Two tensors over one memory in Python that are apart in the graph: a leaf and its data.

In: the two, when the leaf is made over data that somebody else looks at. Out: nothing, as long as
nobody can tell; when one of them is written, or both can be seen after the call, the graph ends
before the leaf was made, which Python then does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from minitorch2.jit.capture.picking import BreakEarlier
from minitorch2.jit.capture.source import MadeSource
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.state import CaptureState


@dataclass(frozen=True, slots=True)
class Twin:
    """The other tensor over some memory, and the step at which the two became two."""

    other: int  # id of its storage
    step: int


class Twins:
    """The twins of one capture."""

    def __init__(self, state: CaptureState):
        self.state = state
        self.by_storage: dict[int, Twin] = {}
        self.outside: set[int] = set()  # storages that can be seen after the call

    def add(self, leaf: Tensor, data: Tensor) -> None:
        """The two are one memory."""
        step = self.state.frames[0].step
        first, second = id(leaf.storage), id(data.storage)
        for known in map(self.by_storage.get, (first, second)):
            if known is not None:
                raise BreakEarlier("unknown-object", "two tensors made over one memory", known.step)
        self.by_storage[first] = Twin(second, step)
        self.by_storage[second] = Twin(first, step)
        for item in self.state.inputs:
            if item.fake is not None and item.fake.storage is data.storage:
                if not isinstance(item.source, MadeSource):
                    self.outside.add(second)

    def written(self, tensors: list[Tensor]) -> None:
        """Some tensors are about to be written."""
        for tensor in tensors:
            found = self.by_storage.get(id(tensor.storage))
            if found is not None:
                self._stop(found)

    def leaves(self, tensor: Tensor) -> None:
        """A tensor leaves the function."""
        found = self.by_storage.get(id(tensor.storage))
        if found is None:
            return
        self.outside.add(id(tensor.storage))
        if found.other in self.outside:
            self._stop(found)

    def _stop(self, found: Twin) -> NoReturn:
        text = "a tensor made over the memory of another one that is written or leaves too"
        raise BreakEarlier("unknown-object", text, found.step)
