"""Subclasses of Tensor: how they are made, and what their operations return.

In: `class Mine(torch.Tensor)`. Out: every operation on a Mine returns a Mine, or whatever its
`__torch_function__` decides; attributes stay on the object they were set on.

    class Mine(torch.Tensor):
        pass

    torch.ones(2).as_subclass(Mine) + 1     # a Mine

The first subclass opens the doors of overrides.py, and gives Tensor a `__new__` that takes data:
until then, tensors are made without one.

Source: torch's "Extending PyTorch" notes.
"""

from collections.abc import Callable
from typing import Any

from minitorch2 import overrides
from minitorch2.devices import as_device
from minitorch2.dispatch import call
from minitorch2.dtypes import get_default_dtype
from minitorch2.errors import ArgumentTypeError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor, fake_tensor

_plain_init = Tensor.__init__


def torch_function(
    cls: type, func: Callable, types: tuple, args: tuple = (), kwargs: Any = None
) -> Any:
    """Call the function, and return its tensors as tensors of this class."""
    kwargs = kwargs or {}
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with overrides.DisableTorchFunctionSubclass():
        found = func(*args, **kwargs)
        if func in _keeps_class():
            return found
        given = {id(value) for value in (*args, *kwargs.values())}
        return converted(found, cls, given)


def _keeps_class() -> tuple:
    methods: Any = Tensor
    return (methods.backward, methods.numpy, methods.tolist, methods.item)


def converted(value: Any, cls: Any, given: set[int]) -> Any:
    """Results as tensors of a class; those that were arguments are left as they are or aliased."""
    if cls is Tensor or isinstance(value, cls):
        return value
    if isinstance(value, Tensor):
        made = call(lookup("alias"), (value,)) if id(value) in given else value
        made.__class__, made.key = cls, None
        return made
    if isinstance(value, (tuple, list)):
        parts = [converted(item, cls, given) for item in value]
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return type(value)(parts)
    return value


def as_subclass(self: Tensor, cls: type) -> Any:
    """The same memory and history as a tensor of a subclass."""
    with overrides.DisableTorchFunction():
        made = call(lookup("alias"), (self,))
    made._view = self._view if self._node is None else made._view
    return _of_class(made, cls)


def make_subclass(cls: type, data: Tensor, require_grad: bool = False, **ignored: Any) -> Any:
    """`Tensor._make_subclass(cls, data)`: the memory without history as a tensor of the class."""
    with overrides.DisableTorchFunction():
        made = call(lookup("detach"), (data,))
    _of_class(made, cls)
    made._requires_grad = bool(require_grad)
    return made


def make_wrapper_subclass(
    cls: type,
    size: Any,
    strides: Any = None,
    storage_offset: Any = None,
    *,
    dtype: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    **ignored: Any,
) -> Any:
    """A tensor of the class with a shape and a dtype but no elements: a wrapper around others.

    Its `__torch_function__` gives it meaning; `__torch_dispatch__` is not called.
    """
    made = fake_tensor(tuple(size), dtype or get_default_dtype(), None, as_device(device))
    _of_class(made, cls)
    made._requires_grad = bool(requires_grad)
    return made


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Any:
    """What load_state_dict exchanges this tensor with, when torch.__future__ has it exchange."""
    target: Any = self
    return other.detach() if assign else target.detach().copy_(other)


def _of_class(made: Any, cls: Any) -> Any:
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(
            f"as_subclass({cls!r})", "cls must be a type that inherits from Tensor", "pass a class"
        )
    made.__class__, made.key = cls, None
    return made


def _new(cls: type, *args: Any, **kwargs: Any) -> Any:
    """A tensor of a user's class from data: `super().__new__(cls, data)`."""
    made: Any = object.__new__(cls)
    user = cls is not Tensor and not cls.__module__.startswith("minitorch2.")
    if user and (not args or isinstance(args[0], (Tensor, list, tuple))):
        kept = {key: kwargs[key] for key in ("device",) if key in kwargs}
        _plain_init(made, *args[:1], **kept)
        if args and isinstance(args[0], Tensor):
            made._requires_grad = False
    return made


def _init(self: Any, *args: Any, **kwargs: Any) -> None:
    """Tensor's constructor, unless `__new__` has done its work."""
    if type(self) is Tensor or not hasattr(self, "storage"):
        _plain_init(self, *args, **kwargs)


def _init_subclass(cls: Any, **kwargs: Any) -> None:
    """Called for each new subclass; the first of a user's that takes part opens the doors."""
    global _opened
    object.__init_subclass__(**kwargs)
    if cls.__module__.startswith("minitorch2."):
        cls.__torch_function__ = classmethod(overrides.disabled_torch_function_impl)
        return
    Tensor.__new__ = staticmethod(_new)  # type: ignore[method-assign]
    Tensor.__init__ = _init  # type: ignore[method-assign]
    own = getattr(cls.__torch_function__, "__func__", cls.__torch_function__)
    if own is not overrides.disabled_torch_function_impl and not _opened:
        _opened = True
        overrides.activate()


_opened = False


def install() -> None:
    """Give Tensor what subclasses need; called once, when the package is imported."""
    methods: Any = Tensor
    methods.__torch_function__ = classmethod(torch_function)
    methods.as_subclass = as_subclass
    methods.module_load = module_load
    methods._make_subclass = staticmethod(make_subclass)
    methods._make_wrapper_subclass = staticmethod(make_wrapper_subclass)
    methods.__init_subclass__ = classmethod(_init_subclass)
    for cls in methods.__subclasses__():  # Parameter, Buffer and Batched take no part
        cls.__torch_function__ = classmethod(overrides.disabled_torch_function_impl)
