"""Tensor methods that give the tensor itself another shape: unsqueeze_, transpose_, as_strided_.

In: a tensor. Out: the same object, which from now on sees its memory as the view would. Nothing is
written, so these are no rows: each is its view, after which the tensor takes the view's place. A
mode that keeps tensors by identity (capture) is told by its `replaced(tensor, view)`.

Source: torch.Tensor's documentation of these methods.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.autograd.record import check_write
from minitorch2.dispatch import call, state
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor


def _become(self: Tensor, name: str, args: tuple) -> Tensor:
    """Make `self` what the view op `name` returns."""
    check_write(self, None)
    base = self
    if self._view is None and self._node is not None:
        base = _twin(self)  # keeps the history that `self` had so far
    seen = call(lookup(name), (base, *args))
    for mode in state.modes:
        replaced = getattr(mode, "replaced", None)
        if replaced is not None:
            replaced(self, seen)
    self.layout, self._array, self.key = seen.layout, None, None
    if self._view is not None or base is not self:
        self._view, self._node, self._output = seen._view, seen._node, seen._output
    return self


def _twin(self: Tensor) -> Tensor:
    """Another tensor with the same memory and the same history."""
    twin = Tensor(self.storage, self.layout, self.dtype, self._array)
    twin._requires_grad, twin._node, twin._output = self._requires_grad, self._node, self._output
    for mode in state.modes:
        replaced = getattr(mode, "replaced", None)
        if replaced is not None:
            replaced(twin, self)
    return twin


def _method(name: str, doc: str) -> Callable[..., Tensor]:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        return _become(self, name, lookup(name).bind(self, *args, **kwargs)[1:])

    method.__doc__ = doc
    return method


METHODS: dict[str, Callable[..., Tensor]] = {
    f"{name}_": _method(name, f"{name}, done to the tensor itself.")
    for name in ("unsqueeze", "squeeze", "transpose", "t", "swapaxes", "as_strided")
}
METHODS["swapdims_"] = METHODS["swapaxes_"]
