"""What the history of an output says of its backward: where it leads, what it frees, what it lost.

In: a result of a captured program, traced with its autograd history. Out: the inputs that it leads
to; the nodes that a backward would free, by number; and the complaint of a backward that meets a
saved tensor which the program wrote into afterwards. A compiled program has one node for all
outputs, and this is how that node answers as the many would.

    reached(y), frees(y, numbers), lost(y)

Source: the engine's rules, minitorch2/autograd/engine.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from minitorch2.autograd.graph import Node, SavedTensor, spec_of, zeros_like_spec
from minitorch2.autograd.op_nodes import OpNode
from minitorch2.dispatch import state
from minitorch2.errors import SavedTensorModified
from minitorch2.tensors import Tensor


class InputNode(Node):
    """Stands for the history of an input outside the graph.

    An input is no leaf here: whether the program may write into it was settled when it was
    captured.
    """

    __slots__ = ("position",)

    def __init__(self, tensor: Tensor, position: int):
        super().__init__("Input", (), (spec_of(tensor),))
        self.position = position

    def apply(self, grads: tuple) -> tuple:
        """The gradient ends here; the engine hands it out as that of an input."""
        return ()


def history(tensor: Tensor) -> Iterator[Node]:
    """The nodes that a tensor's gradient passes, each once."""
    seen: set[Node] = set()
    stack = [tensor.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        stack += [e.target for e in node.edges if e is not None and isinstance(e.target, Node)]


def reached(tensor: Tensor) -> frozenset[int]:
    """The inputs that a tensor's history leads to."""
    return frozenset(node.position for node in history(tensor) if isinstance(node, InputNode))


def frees(tensor: Tensor, numbers: dict[Node, int]) -> frozenset[int]:
    """The nodes that a backward frees, so that no second one may pass them."""
    found = [node for node in history(tensor) if _is_freed_once(node)]
    return frozenset(numbers.setdefault(node, len(numbers)) for node in found)


def _is_freed_once(node: Node) -> bool:
    if isinstance(node, InputNode):
        return False
    return node.may_save if isinstance(node, OpNode) else True


def lost(tensor: Tensor) -> tuple[str, str, str] | None:
    """What a backward says of a saved tensor that was written since: (asked, wrong, fix)."""
    for node in history(tensor):
        if isinstance(node, OpNode) and any(map(_is_stale, node.arguments)):
            before, state.grad_enabled = state.grad_enabled, False
            try:
                node.apply(tuple(map(zeros_like_spec, node.outputs)))
            except SavedTensorModified as error:
                return error.asked, error.wrong, error.fix
            finally:
                state.grad_enabled = before
    return None


def _is_stale(value: object) -> bool:
    if type(value) is not SavedTensor or value.tensor is None:
        return False
    return value.tensor.storage.version != value.version
