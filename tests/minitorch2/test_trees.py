"""Trees: taken apart and put together, with classes of the user's."""

from collections import OrderedDict, namedtuple

from minitorch2 import trees

Point = namedtuple("Point", "x y")


class Box:
    def __init__(self, inside, label):
        self.inside, self.label = inside, label


def test_every_container_comes_back():
    tree = {"a": (1, [2, 3]), "b": OrderedDict(c=Point(4, 5)), "d": None, "e": ()}
    leaves, spec = trees.tree_flatten(tree)
    assert leaves == [1, 2, 3, 4, 5, None]
    back = trees.tree_unflatten(leaves, spec)
    assert back == tree
    assert type(back["b"]) is OrderedDict
    assert type(back["b"]["c"]) is Point


def test_classes_of_the_user():
    trees.register_pytree_node(
        Box, lambda box: ([box.inside], box.label), lambda parts, label: Box(parts[0], label)
    )
    doubled = trees.tree_map(lambda x: 2 * x, [Box((1, 2), "red"), 3])
    assert doubled[0].inside == (2, 4)
    assert doubled[0].label == "red"
    assert list(trees.tree_iter(doubled)) == [2, 4, 6]


def test_map_for_its_effect():
    seen = []
    tree = {"a": 1, "b": [2]}
    assert trees.tree_map_(seen.append, tree) is tree
    assert seen == [1, 2]
