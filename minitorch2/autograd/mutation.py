"""allow_mutation_on_saved_tensors: writes into saved tensors that do not spoil the backward.

In: a block in which forward and backward run. Out: the context, whose `cloned` holds the copies
that were made: what a backward still needs is copied just before it is written.

    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        out = (b ** 2).sum()
        b.sin_()
        out.backward()

Source: torch.autograd.graph's documentation.
"""

import weakref
from typing import Any

from minitorch2.autograd.graph import saved_tensors_hooks
from minitorch2.dispatch import Mode, call, state
from minitorch2.errors import OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


class _Handle:
    """Stands for one saved tensor of one version, however often it is saved."""

    def __init__(self, original: Tensor):
        self.original: Tensor | None = original


class _Context:
    """What is saved inside one block, and the copies made of it."""

    def __init__(self) -> None:
        # storage, version and layout of what is saved -> its handle, as long as a graph needs it
        self.tid_to_weakhandle: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
        self.cloned: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
        self.open = True

    def pack(self, tensor: Tensor) -> _Handle:
        """The handle of a tensor."""
        storage, layout = tensor.storage, tensor.layout
        key = id(storage), storage.version, layout.shape, layout.strides, layout.offset
        handle = self.tid_to_weakhandle.get(key)
        if handle is None or handle.original is None:
            handle = self.tid_to_weakhandle[key] = _Handle(tensor)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        """The tensor as it was saved."""
        assert self.open, (
            "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in which "
            "the graph was originally recorded."
        )
        found = self.cloned.get(handle, handle.original)
        assert found is not None
        return found

    def before_write(self, target: Tensor) -> None:
        """Copy what is saved of the memory that is about to be written."""
        for key, handle in list(self.tid_to_weakhandle.items()):
            original = handle.original
            if key[:2] != (id(target.storage), target.storage.version) or original is None:
                continue
            before, state.grad_enabled = state.grad_enabled, False
            try:
                self.cloned[handle] = call(lookup("clone"), (original,))
            finally:
                state.grad_enabled = before
            handle.original = None


class _BeforeWrites(Mode):
    """Tells the context of each write."""

    def __init__(self, context: _Context):
        self.context = context

    def handle(self, op: Any, args: tuple) -> Any:
        """Carry out an operation, after the context has seen what it writes."""
        if op.effects == "writes" and isinstance(args[0], Tensor):
            self.context.before_write(args[0])
        return call(op, args)


class allow_mutation_on_saved_tensors:
    """Within the block, tensors that a backward needs may be written; it sees the old values."""

    def __enter__(self) -> _Context:
        if any(isinstance(mode, _BeforeWrites) for mode in state.modes):
            raise OperationError(
                "allow_mutation_on_saved_tensors",
                "allow_mutation_on_saved_tensors contexts cannot be nested",
                "one block around all is enough",
            )
        self.context = _Context()
        self.hooks = saved_tensors_hooks(self.context.pack, self.context.unpack)
        self.mode = _BeforeWrites(self.context)
        self.hooks.__enter__()
        self.mode.__enter__()
        return self.context

    def __exit__(self, *exc: object) -> None:
        self.mode.__exit__(*exc)
        self.hooks.__exit__(*exc)
        self.context.open = False
        self.context.cloned.clear()
        self.context.tid_to_weakhandle.clear()
