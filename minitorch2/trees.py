"""Trees: values inside nested tuples, lists and dicts, taken apart and put together again.

In: any Python value. Out: its leaves in order, and a TreeSpec that makes the same nesting of
others. Named tuples and ordered dicts keep their class; a dict's leaves come in insertion order.

    >>> leaves, spec = tree_flatten({"a": 1, "b": (2, [3])})
    >>> leaves
    [1, 2, 3]
    >>> tree_unflatten([10, 20, 30], spec)
    {'a': 10, 'b': (20, [30])}

Source: JAX's pytrees; torch.utils._pytree has the same names.
"""

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TreeSpec:
    """One level of nesting: the container's class, its keys (of a dict), the parts' specs.

    `kind` is None for a leaf; `num_leaves` counts the leaves below.
    """

    kind: Any
    context: Any
    children: tuple["TreeSpec", ...]
    num_leaves: int = -1

    def __post_init__(self) -> None:
        object.__setattr__(self, "children", tuple(self.children))
        if self.num_leaves < 0:  # as torch's constructor is called
            count = sum(each.num_leaves for each in self.children)
            object.__setattr__(self, "num_leaves", count)

    def is_leaf(self) -> bool:
        """Whether this is a single value."""
        return self.kind is None

    def unflatten(self, leaves: Any) -> Any:
        """The nesting with other leaves."""
        return tree_unflatten(leaves, self)


LEAF = TreeSpec(None, None, (), 1)

_registered: dict[type, tuple[Callable, Callable]] = {}


def register_pytree_node(
    cls: type, flatten_fn: Callable, unflatten_fn: Callable, **options: Any
) -> None:
    """Let a class of the user's be a container.

    flatten_fn(value) gives (parts, context); unflatten_fn(parts, context) makes the value again.
    """
    _registered[cls] = flatten_fn, unflatten_fn


def registered() -> dict[type, tuple[Callable, Callable]]:
    """The users' containers, each with its two functions."""
    return _registered


_register_pytree_node = register_pytree_node  # the name it had before


def _is_named(value: Any) -> bool:
    return isinstance(value, tuple) and isinstance(getattr(type(value), "_fields", None), tuple)


def _parts(value: Any) -> tuple[Any, list[Any]] | None:
    """The context and the parts of a container; None for a leaf."""
    kind = type(value)
    if kind in _registered:
        parts, context = _registered[kind][0](value)
        return context, list(parts)
    if kind in (dict, OrderedDict):
        return tuple(value), list(value.values())
    if kind is defaultdict:
        return (value.default_factory, tuple(value)), list(value.values())
    if kind is deque:
        return value.maxlen, list(value)
    if kind in (tuple, list) or _is_named(value):
        return None, list(value)
    # what sort, max and svd return: a tuple of ours with names for its parts
    if isinstance(value, tuple) and kind.__module__.startswith("minitorch2."):
        return None, list(value)
    return None


def tree_flatten(tree: Any, is_leaf: Callable | None = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the nesting."""
    leaves: list[Any] = []

    def visit(value: Any) -> TreeSpec:
        found = None if is_leaf is not None and is_leaf(value) else _parts(value)
        if found is None:
            leaves.append(value)
            return LEAF
        children = tuple(visit(part) for part in found[1])
        return TreeSpec(type(value), found[0], children, sum(c.num_leaves for c in children))

    spec = visit(tree)
    return leaves, spec


def tree_unflatten(leaves: Any, spec: TreeSpec) -> Any:
    """The nesting `spec` with these leaves; ValueError when their number differs."""
    given = list(leaves)
    if len(given) != spec.num_leaves:
        raise ValueError(f"{len(given)} leaves for a tree of {spec.num_leaves}")
    rest = iter(given)
    return _built(spec, rest)


def _built(spec: TreeSpec, rest: Any) -> Any:
    if spec.kind is None:
        return next(rest)
    parts = [_built(child, rest) for child in spec.children]
    kind = spec.kind
    if kind in _registered:
        return _registered[kind][1](parts, spec.context)
    if kind in (dict, OrderedDict):
        return kind(zip(spec.context, parts, strict=True))
    if kind is defaultdict:
        factory, keys = spec.context
        return defaultdict(factory, zip(keys, parts, strict=True))
    if kind is deque:
        return deque(parts, spec.context)
    if kind in (tuple, list):
        return kind(parts)
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def tree_leaves(tree: Any, is_leaf: Callable | None = None) -> list[Any]:
    """The leaves in order."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: Any, is_leaf: Callable | None = None) -> TreeSpec:
    """The nesting without its leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(function: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """The same nesting with `function` of each leaf (and of the other trees' leaves beside it)."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves] + [tree_flatten(rest, is_leaf)[0] for rest in rests]
    return tree_unflatten([function(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_only(kind: Any, function: Callable, tree: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map` over the leaves of one class; the others stay."""
    return tree_map(lambda x: function(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_all(predicate: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether the predicate holds of every leaf."""
    return all(predicate(leaf) for leaf in tree_leaves(tree, is_leaf))


def tree_any(predicate: Callable, tree: Any, is_leaf: Callable | None = None) -> bool:
    """Whether the predicate holds of some leaf."""
    return any(predicate(leaf) for leaf in tree_leaves(tree, is_leaf))


def broadcast_to_spec(tree: Any, spec: TreeSpec, is_leaf: Callable | None = None) -> list | None:
    """One value for each leaf of `spec`: a leaf of `tree` stands for all below its place.

    None when the two do not have the same nesting.
    """
    if spec.kind is None:
        return [tree] if _parts(tree) is None or (is_leaf is not None and is_leaf(tree)) else None
    found = None if is_leaf is not None and is_leaf(tree) else _parts(tree)
    if found is None:
        return [tree] * spec.num_leaves
    if type(tree) is not spec.kind or len(found[1]) != len(spec.children):
        return None
    if spec.kind in (dict, OrderedDict) and set(found[0]) != set(spec.context):
        return None
    values: list[Any] = []
    parts = [tree[key] for key in spec.context] if spec.kind in (dict, OrderedDict) else found[1]
    for part, child in zip(parts, spec.children, strict=True):
        below = broadcast_to_spec(part, child, is_leaf)
        if below is None:
            return None
        values += below
    return values


def tree_map_(function: Callable, tree: Any, *rests: Any, is_leaf: Callable | None = None) -> Any:
    """`tree_map` for what the function does; returns the tree itself."""
    tree_map(function, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_iter(tree: Any, is_leaf: Callable | None = None) -> Any:
    """An iterator over the leaves."""
    return iter(tree_leaves(tree, is_leaf))
