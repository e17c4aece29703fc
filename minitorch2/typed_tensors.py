"""torch.FloatTensor and its like: names of element types, from before tensors had a dtype.

In: sizes or data. Out: a tensor of that dtype. `isinstance(x, torch.FloatTensor)` asks for the
dtype of a tensor, which is no matter of its class: so these are the classes of one metaclass.

    >>> isinstance(FloatTensor([1, 2]), FloatTensor), FloatTensor(2, 3).shape
    (True, torch.Size([2, 3]))

Source: torch.Tensor's table of types.
"""

from typing import Any

from minitorch2 import dtypes
from minitorch2.creation import full, tensor
from minitorch2.tensors import Tensor


class TensorType(type):
    """The class of these names: calling one makes a Tensor, and instances are told by dtype."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any) -> Any:
        """From sizes, zeros; from data, a tensor of it."""
        if len(args) == 1 and not isinstance(args[0], int):
            return tensor(args[0], dtype=cls.dtype)
        return full(tuple(args) or (0,), 0, dtype=cls.dtype)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype


def _named(name: str, element: dtypes.dtype) -> Any:
    return TensorType(
        name,
        (),
        {"dtype": element, "__module__": "torch", "__doc__": f"A tensor of {element}."},
    )


FloatTensor = _named("FloatTensor", dtypes.float32)
DoubleTensor = _named("DoubleTensor", dtypes.float64)
LongTensor = _named("LongTensor", dtypes.int64)
IntTensor = _named("IntTensor", dtypes.int32)
BoolTensor = _named("BoolTensor", dtypes.bool)
ByteTensor = _named("ByteTensor", dtypes.uint8)
HalfTensor = _named("HalfTensor", dtypes.float16)
BFloat16Tensor = _named("BFloat16Tensor", dtypes.bfloat16)
ShortTensor = _named("ShortTensor", dtypes.int16)
CharTensor = _named("CharTensor", dtypes.int8)
