"""Parameter and Buffer: tensors that register themselves when a Module is given them.

In: a tensor. Out: a tensor on the same memory whose class tells Module in which dict it belongs.

    layer.scale = Parameter(torch.ones(4))   # now in layer.parameters(), trained
    layer.count = Buffer(torch.zeros(()))    # now in layer.buffers(), saved but not trained

Those of lazy layers (lazy.py) have no shape until the first input comes.

Source: torch.nn.Parameter and torch.nn.Buffer.
"""

from typing import Any

from minitorch2.creation import empty
from minitorch2.errors import ArgumentTypeError, ModuleError
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

    def __deepcopy__(self, memo: dict) -> "Parameter":
        """One with memory of its own and nothing else: no gradient, no attributes."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]


class Buffer(Tensor):
    """A tensor that a Module keeps and moves, but does not train.

    It is part of the state dict unless `persistent` is False.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True, **given: Any) -> Any:
        """The buffer; what a subclass takes besides is its own."""
        made = object.__new__(cls)
        _share(made, data)
        made.persistent = persistent  # type: ignore[attr-defined]
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


class _Uninitialized:
    """What both kinds share: no shape until `materialize`."""

    becomes: type

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an ordinary tensor of this shape, with any numbers in it."""
        requires_grad = self.requires_grad
        self.data = empty(tuple(shape), device=device, dtype=dtype or self.dtype)
        self.__class__ = self.becomes
        if self.dtype.is_floating_point:
            self.requires_grad = requires_grad

    @property
    def shape(self) -> Any:
        """ModuleError: there is none yet."""
        raise ModuleError(
            "the shape of an uninitialized parameter",
            "Can't access the shape of an uninitialized parameter or buffer",
            "call the module once, or materialize() the parameter",
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self: Any, memo: dict) -> Any:
        """Another one without a shape."""
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]


class UninitializedParameter(_Uninitialized, Parameter):
    """A Parameter without a shape."""

    __slots__ = ()
    becomes = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        """One without a shape."""
        return super().__new__(cls, empty(0, device=device, dtype=dtype), requires_grad)


class UninitializedBuffer(_Uninitialized, Buffer):
    """A Buffer without a shape."""

    __slots__ = ()
    becomes = Buffer

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        """One without a shape."""
        return super().__new__(cls, empty(0, device=device, dtype=dtype), persistent=persistent)


def is_lazy(parameter: Any) -> bool:
    """Whether a parameter or buffer still has no shape."""
    return isinstance(parameter, _Uninitialized)
