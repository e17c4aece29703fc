"""A number or one number for each dimension: the arguments of convolutions and pooling.

In: a number or a tuple. Out: a tuple of a known length.

    >>> pair(3), pair((1, 2))
    ((3, 3), (1, 2))

Source: torch.nn.modules.utils and torch.nn.common_types, which scripts import from.
"""

from collections.abc import Callable, Iterable
from itertools import repeat
from typing import Any, TypeAlias

from minitorch2.tensors import Tensor

_scalar_or_tuple_any_t: TypeAlias = int | tuple[int, ...]
_scalar_or_tuple_1_t: TypeAlias = int | tuple[int]
_scalar_or_tuple_2_t: TypeAlias = int | tuple[int, int]
_scalar_or_tuple_3_t: TypeAlias = int | tuple[int, int, int]
_size_any_t, _size_1_t = _scalar_or_tuple_any_t, _scalar_or_tuple_1_t
_size_2_t, _size_3_t = _scalar_or_tuple_2_t, _scalar_or_tuple_3_t
_size_any_opt_t: TypeAlias = tuple[int | None, ...] | int | None
_size_2_opt_t: TypeAlias = tuple[int | None, int | None] | int | None
_size_3_opt_t: TypeAlias = tuple[int | None, int | None, int | None] | int | None
_ratio_2_t: TypeAlias = float | tuple[float, float]
_ratio_3_t: TypeAlias = float | tuple[float, float, float]
_ratio_any_t: TypeAlias = float | tuple[float, ...]
_tensor_list_t: TypeAlias = Tensor | list[Tensor]


def ntuple(count: int, name: str = "parse") -> Callable[[Any], tuple]:
    """The function that makes a tuple of `count` numbers out of one."""

    def parse(value: Any) -> tuple:
        if isinstance(value, Iterable):
            return tuple(value)
        return tuple(repeat(value, count))

    parse.__name__ = name
    return parse


single, pair = ntuple(1, "_single"), ntuple(2, "_pair")
triple, quadruple = ntuple(3, "_triple"), ntuple(4, "_quadruple")


def reverse_repeat_tuple(value: Iterable[Any], count: int) -> tuple:
    """Each element `count` times, from the last to the first: the order of `pad`."""
    return tuple(item for item in reversed(tuple(value)) for _ in range(count))


def list_with_default(out_size: Any, defaults: list[int]) -> Any:
    """Sizes in which None means the default of its place, counted from the end."""
    if isinstance(out_size, int | Tensor):
        return out_size
    wanted = tuple(out_size)
    if len(defaults) <= len(wanted):
        raise ValueError(f"Input dimension should be at least {len(wanted) + 1}")
    last = defaults[len(defaults) - len(wanted) :]
    return [d if v is None else v for v, d in zip(wanted, last, strict=True)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take `prefix` off the keys of a state_dict, in place (checkpoints of wrapped models)."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: dict[str, Any] = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.removesuffix(".") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)


_ntuple, _single, _pair, _triple, _quadruple = ntuple, single, pair, triple, quadruple
_reverse_repeat_tuple, _list_with_default = reverse_repeat_tuple, list_with_default
