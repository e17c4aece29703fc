"""Trees: flattening and building again, maps, containers of one's own, prefixes."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

from minitorch2 import tensor
from minitorch2.trees import (
    broadcast_to_spec,
    register_pytree_node,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_map_only,
    tree_unflatten,
)

Point = namedtuple("Point", "x y")
TREES = [
    1,
    None,
    (1, [2, {"a": 3}], ()),
    {"b": 1, "a": [2, 3]},
    OrderedDict(b=1, a=(2,)),
    Point(1, [2]),
    deque([1, (2, 3)], 5),
    defaultdict(list, {"a": [1]}),
]


@pytest.mark.parametrize("tree", TREES, ids=str)
def test_a_tree_is_built_again(tree):
    leaves, spec = tree_flatten(tree)
    again = tree_unflatten(leaves, spec)
    assert again == tree and type(again) is type(tree)
    assert spec.num_leaves == len(leaves)
    with pytest.raises(ValueError):
        tree_unflatten([*leaves, 1], spec)


def test_maps_go_through_all_leaves():
    assert tree_map(lambda x: x + 1, {"a": [1, (2,)]}) == {"a": [2, (3,)]}
    assert tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)]) == [11, (22,)]
    assert tree_map_only(int, str, (1, "a", [2.0])) == ("1", "a", [2.0])
    values, indices = tree_map(lambda t: t + 1, tensor([3.0, 1.0]).sort())
    assert values.tolist() == [2.0, 4.0] and indices.tolist() == [2, 1]


def test_a_class_of_ones_own():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    register_pytree_node(
        Pair, lambda p: ((p.a, p.b), "context"), lambda parts, context: Pair(*parts)
    )
    assert tree_leaves([Pair(1, (2, 3))]) == [1, 2, 3]
    found = tree_map(lambda x: x * 2, Pair(1, 2))
    assert (found.a, found.b) == (2, 4)


def test_a_prefix_stands_for_all_below():
    spec = tree_flatten(({"a": 1, "b": (2, 3)}, 4))[1]
    assert broadcast_to_spec(0, spec) == [0, 0, 0, 0]
    assert broadcast_to_spec(({"a": None, "b": 1}, 2), spec) == [None, 1, 1, 2]
    assert broadcast_to_spec(({"b": (1, 2), "a": 3}, 4), spec) == [3, 1, 2, 4]
    assert broadcast_to_spec((0, 1, 2), spec) is None
    assert broadcast_to_spec(({"a": 1}, 2), spec) is None
