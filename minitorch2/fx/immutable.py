"""Lists and dicts inside a node's arguments: they cannot be changed in place.

In: a list or dict. Out: an equal one that refuses writes, because a write would pass by the
bookkeeping of who uses which node. Assign `node.args` as a whole instead.

    >>> immutable_list([1, 2])[0]
    1

Source: torch.fx.immutable_collections.
"""

from typing import Any

from minitorch2.errors import ArgumentTypeError


def _refuse(self: Any, *args: Any, **kwargs: Any) -> Any:
    raise ArgumentTypeError(
        f"a write into {type(self).__name__}",
        f"'{type(self).__name__}' object does not support mutation",
        "assign the node's args or kwargs as a whole: node.args = (...)",
    )


class immutable_list(list):
    """A list that cannot be changed."""

    append = extend = insert = pop = remove = clear = reverse = sort = _refuse
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))

    def __reduce__(self) -> tuple:
        return immutable_list, (tuple(self),)


class immutable_dict(dict):
    """A dict that cannot be changed."""

    clear = pop = popitem = setdefault = update = _refuse
    __setitem__ = __delitem__ = __ior__ = _refuse

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple:
        return immutable_dict, (dict(self),)
