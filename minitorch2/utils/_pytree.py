"""torch.utils._pytree: nested values; the functions stand in minitorch2/trees.py.

Example: `tree_map(lambda x: x + 1, {"a": [1, 2]})` is `{"a": [2, 3]}`.
Source: torch.utils._pytree.
"""

from minitorch2.trees import (
    TreeSpec,
    _register_pytree_node,
    register_pytree_node,
    tree_all,
    tree_any,
    tree_flatten,
    tree_iter,
    tree_leaves,
    tree_map,
    tree_map_,
    tree_map_only,
    tree_structure,
    tree_unflatten,
)
from minitorch2.utils.pytree_nodes import (
    SUPPORTED_NODES,
    LeafSpec,
    MappingKey,
    NodeDef,
    _dict_flatten,
    _dict_flatten_with_keys,
    _dict_unflatten,
    _get_node_type,
    _is_leaf,
    _list_flatten,
    _list_unflatten,
)

PyTree = object

__all__ = [
    "SUPPORTED_NODES",
    "LeafSpec",
    "NodeDef",
    "MappingKey",
    "_dict_flatten",
    "_dict_flatten_with_keys",
    "_dict_unflatten",
    "_get_node_type",
    "_is_leaf",
    "_list_flatten",
    "_list_unflatten",
    "PyTree",
    "TreeSpec",
    "_register_pytree_node",
    "register_pytree_node",
    "tree_all",
    "tree_any",
    "tree_flatten",
    "tree_iter",
    "tree_leaves",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_structure",
    "tree_unflatten",
]
