"""Parameter and Buffer: tensors that register themselves when a Module is given them.

In: a tensor. Out: a tensor on the same memory whose class tells Module in which dict it belongs.

    layer.scale = Parameter(torch.ones(4))   # now in layer.parameters(), trained
    layer.count = Buffer(torch.zeros(()))    # now in layer.buffers(), saved but not trained

Source: torch.nn.Parameter and torch.nn.Buffer.
"""

from typing import Any

from minitorch2.creation import empty
from minitorch2.errors import ArgumentTypeError
from minitorch2.printing import tensor_text
from minitorch2.tensors import PLAIN, Tensor


class Parameter(Tensor):
    """A tensor that a Module trains. It shares the memory of `data`."""

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True, *rest: Any, **given: Any) -> Any:
        """The parameter; what a subclass takes besides is its own."""
        made = object.__new__(cls)
        _share(made, data)
        made.requires_grad = requires_grad
        return made

    def __init__(self, *args: Any, **given: Any):
        """Nothing is left to do after `__new__`, which a subclass may replace."""

    def __repr__(self) -> str:
        return "Parameter containing:\n" + tensor_text(self)


class Buffer(Tensor):
    """A tensor that a Module keeps and moves, but does not train.

    It is part of the state dict unless `persistent` is False.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True, **given: Any) -> Any:
        """The buffer; what a subclass takes besides is its own."""
        made = object.__new__(cls)
        _share(made, data)
        made.persistent = persistent
        return made

    def __init__(self, *args: Any, **given: Any):
        """Nothing is left to do after `__new__`, which a subclass may replace."""


PLAIN.update((Parameter, Buffer))


def _share(made: Tensor, data: Any) -> None:
    if data is None:
        data = empty(0)
    if not isinstance(data, Tensor):
        raise ArgumentTypeError(
            f"{type(made).__name__}({type(data).__name__})",
            f"the data must be a Tensor, not {type(data).__name__}",
            "make one first: torch.tensor(value)",
        )
    Tensor.__init__(made, data.storage, data.layout, data.dtype, data._array)
