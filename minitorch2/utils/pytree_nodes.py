"""Containers one level at a time, for code that walks trees by itself.

In: a container's class. Out: how to take it apart and put it together.

    >>> parts, context = SUPPORTED_NODES[dict].flatten_fn({"a": 1})
    >>> SUPPORTED_NODES[dict].unflatten_fn([2], context)
    {'a': 2}

Source: torch.utils._pytree.SUPPORTED_NODES.
"""

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from minitorch2 import trees


class NodeDef(NamedTuple):
    """A container's two functions: value -> (parts, context), and back."""

    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Any, Any], Any]


_OWN = (dict, OrderedDict, defaultdict, deque, list, tuple, namedtuple)  # noqa: PYI024


class _Nodes(Mapping):
    """Python's containers and those that users registered."""

    def __getitem__(self, kind: Any) -> NodeDef:
        if kind not in _OWN and kind not in trees.registered():
            raise KeyError(kind)
        return NodeDef(_taken_apart, lambda parts, context: _joined(kind, parts, context))

    def __iter__(self) -> Iterator[Any]:
        return iter((*_OWN, *trees.registered()))

    def __len__(self) -> int:
        return len(_OWN) + len(trees.registered())


def _taken_apart(value: Any) -> tuple[list[Any], Any]:
    parts, spec = trees.tree_flatten(value, lambda each: each is not value)
    return parts, type(value) if _get_node_type(value) is namedtuple else spec.context


def _joined(kind: Any, parts: Any, context: Any) -> Any:
    kind, context = (context, None) if kind is namedtuple else (kind, context)
    spec = trees.TreeSpec(kind, context, tuple(trees.LEAF for _ in parts))
    return trees.tree_unflatten(parts, spec)


SUPPORTED_NODES = _Nodes()


def _dict_flatten(value: dict) -> tuple[list[Any], list[Any]]:
    """A dict's values, and its keys."""
    return list(value.values()), list(value)


def _dict_unflatten(values: Any, context: Any) -> dict:
    """The dict of these keys and values."""
    return dict(zip(context, values, strict=True))


class MappingKey(NamedTuple):
    """The place of a value in a dict."""

    key: Any


def _dict_flatten_with_keys(value: dict) -> tuple[list[tuple[MappingKey, Any]], list[Any]]:
    """A dict's values beside their places, and its keys."""
    return [(MappingKey(key), part) for key, part in value.items()], list(value)


def _list_flatten(value: list) -> tuple[list[Any], None]:
    """A list's parts."""
    return list(value), None


def _list_unflatten(values: Any, context: Any) -> list:
    """The list of these parts."""
    return list(values)


def _is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether a value is no container."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


def _get_node_type(tree: Any) -> Any:
    """A container's key in SUPPORTED_NODES: its class, `namedtuple` for all named tuples."""
    named = isinstance(tree, tuple) and isinstance(getattr(type(tree), "_fields", None), tuple)
    return namedtuple if named else type(tree)


def LeafSpec() -> trees.TreeSpec:
    """The nesting of a single value."""
    return trees.LEAF
