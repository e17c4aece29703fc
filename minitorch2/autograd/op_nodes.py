"""Nodes of op rows: what is kept of a call, and the row's vjp run on it.

In: a row, the arguments that its vjp reads, the results. Out: a class of nodes for each row, named
as torch names them; `apply` unpacks what was kept and calls the vjp.

    >>> import minitorch2 as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * 3).grad_fn, (x.exp()).grad_fn._saved_result
    (<MulBackward0 object>, tensor([2.7183, 2.7183], grad_fn=<ExpBackward0>))

Source: PyTorch's generated autograd functions, which do the same for each op.
"""

from functools import cache
from typing import Any

from minitorch2.autograd.graph import (
    Edge,
    Node,
    SavedTensor,
    Spec,
    conjugate,
    fit_gradient,
    freed,
    spec_of,
)
from minitorch2.ops.table import POINTWISE
from minitorch2.tensors import Tensor


class Saved:
    """What a vjp receives as `s`: the op's arguments by name.

    Tensors that the row lists in `saves` are there whole; the others as Specs (shape, dtype).
    `result` (or `results`) is there when saved. `needs[i]` tells whether the i-th tensor
    parameter wants a gradient; `inputs[i]` is the Spec of the i-th tensor. A saved tensor is
    unpacked, and refused if it was written, only when the vjp asks for it.
    """

    def __init__(self, node: "OpNode"):
        self.node, self.needs = node, node.needs

    @property
    def inputs(self) -> "tuple[Spec | None, ...]":
        """The Spec of each tensor, None for numbers."""
        return self.node.inputs

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"the row's `saves` does not list {name!r}")


class _Argument:
    """One argument as an attribute of a row's Saved: unpacked when first asked for, then kept."""

    def __init__(self, name: str, index: int):
        self.name, self.index = name, index

    def __get__(self, saved: Saved, owner: type) -> Any:
        value = _unpacked(saved.node, saved.node.arguments[self.index], self.name)
        saved.__dict__[self.name] = value  # which is found before this the next time
        return value


def _unpacked(node: "OpNode", value: Any, name: str) -> Any:
    if type(value) is SavedTensor:
        return value.unpack(node, name)
    if type(value) is tuple and any(type(item) is SavedTensor for item in value):
        return tuple(_unpacked(node, item, name) for item in value)
    return value


class OpNode(Node):
    """The node of an op row: unpacks what was saved and calls the row's vjp.

    Each row has a class of its own, made by `node_class` when the row is first recorded. Its fields
    are set by autograd/record.py. `arguments` has one entry for each parameter of the row, and one
    for the result when that is saved: SavedTensors, Specs of tensors, and other values as they are.
    """

    __slots__ = ("arguments", "freed")
    arguments: tuple[Any, ...]
    freed: bool
    op: Any
    saved_as: type[Saved]
    keeps: tuple[tuple[int, bool | None], ...]  # the tensor parameters, and whether each is saved
    depends: tuple[tuple[int, int], ...]  # those saved if the n-th tensor wants a gradient, and n
    kept_names: tuple[str, ...]  # of the arguments, and of the result where it is saved
    may_save: bool  # whether a call may save a tensor
    keeps_result = ""  # or 'result' or 'results', whichever is saved

    @property
    def needs(self) -> tuple[bool, ...]:
        """Whether each tensor parameter of the row wants a gradient."""
        edges = self.edges
        if len(edges) == len(self.keeps):
            return tuple([edge is not None for edge in edges])
        found, at = [], 0
        for position, _ in self.keeps:  # a list of tensors has an edge for each
            value = self.arguments[position]
            count = len(value) if type(value) is tuple else 1
            found.append(any(edge is not None for edge in edges[at : at + count]))
            at += count
        return tuple(found)

    @property
    def inputs(self) -> tuple[Spec | None, ...]:
        """The Spec of each tensor, as many as there are edges."""
        found: list[Spec | None] = []
        for position, _ in self.keeps:
            value = self.arguments[position]
            items = value if type(value) is tuple else (value,)
            found += [_spec_in(item) for item in items]
        return tuple(found)

    def kept(self) -> tuple:
        """What is saved of the results, among others."""
        if not self.keeps_result or self.freed:
            return ()
        last = self.arguments[-1]
        return last if type(last) is tuple else (last,)

    def saved(self) -> Saved:
        """The arguments as the vjp wants them."""
        if self.freed:
            raise freed(f"the backward of {self.name()}()")
        return self.saved_as(self)

    def apply(self, grads: tuple) -> tuple:
        """Run the vjp; one gradient or None for each edge."""
        op = self.op
        turned = op.conjugates and any(g is not None and g.dtype.is_complex for g in grads)
        if turned:
            grads = tuple(map(conjugate, grads))
        found = op.vjp(self.saved(), *grads)
        if type(found) is not tuple:
            found = (found,)
        if turned:
            found = tuple([conjugate(grad) for grad in found])
        if op.kind == POINTWISE:
            return tuple(map(self._fitted, found, self.edges, self.keeps))
        if list not in map(type, found):
            return found
        flat: list[Any] = []
        for value in found:
            flat.extend(value) if type(value) is list else flat.append(value)
        return tuple(flat)

    def _fitted(self, grad: Any, edge: Edge | None, keep: tuple[int, bool | None]) -> Any:
        """Undo the broadcasting and the promotion of an operand."""
        if grad is None or edge is None:
            return grad
        value = self.arguments[keep[0]]
        if type(value) is SavedTensor and value.tensor is not None:
            layout = grad.layout
            same = layout is value.layout or layout.shape == value.layout.shape
            if same and grad.dtype is value.tensor.dtype:
                return grad
        spec = _spec_in(value)
        return grad if spec is None else fit_gradient(grad, spec)

    def release(self) -> None:
        """Drop the saved tensors; a node that has none can be run again."""
        if not self.may_save:
            return
        for value in self.arguments:
            if type(value) is SavedTensor:
                value.release()
        self.arguments, self.freed = (), True

    def __getattr__(self, name: str) -> Any:
        """`_saved_self`, `_saved_dim`: what was kept of an argument; `_raw_saved_self`: how."""
        raw, wanted = (
            name.startswith("_raw_saved_"),
            name.removeprefix("_raw").removeprefix("_saved_"),
        )
        names = self.kept_names
        if name.startswith("_saved_") and name.endswith("_sym_sizes"):
            of = wanted.removesuffix("_sym_sizes")
            if of in names and not self.freed:
                spec = _spec_in(self.arguments[names.index(of)])
                if spec is not None:
                    return tuple(spec.shape)
        if not name.startswith(("_saved_", "_raw_saved_")) or wanted not in names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if self.freed and raw:
            found = SavedTensor.nothing()
            found.release()
            return found
        if self.freed:
            raise freed(f"{self.name()}.{name}")
        value = self.arguments[names.index(wanted)]
        if type(value) is Spec:
            return None
        return value if raw else _unpacked(self, value, wanted)


def _spec_in(value: Any) -> Spec | None:
    """The Spec of an entry of `OpNode.arguments`; None for what is not of a tensor."""
    if type(value) is SavedTensor:
        return value.spec
    if isinstance(value, Tensor):
        return spec_of(value)
    return value if type(value) is Spec else None


@cache
def node_class(op: Any) -> type[OpNode]:
    """The class of a row's nodes, named as torch names them: MulBackward0."""
    name = "".join(part.capitalize() for part in op.name.split("_")) + "Backward0"
    result = next((each for each in ("result", "results", "result1") if each in op.saves), "")
    names = (*op.signature.names, result) if result else op.signature.names
    arguments = {each: _Argument(each, index) for index, each in enumerate(names)}
    tensors = [(at, op.signature.names[at]) for at in op.tensor_positions]
    order = [each for _, each in tensors]
    fields = {
        "__slots__": (),
        "__doc__": f"The backward of {op.name}.",
        "label": name,
        "op": op,
        "saved_as": type(f"Saved{name}", (Saved,), arguments),
        "keeps": tuple((at, None if n in op.saved_if else n in op.saves) for at, n in tensors),
        "depends": tuple(
            (at, order.index(op.saved_if[n])) for at, n in tensors if n in op.saved_if
        ),
        "keeps_result": result,
        "kept_names": names,
        "may_save": bool(op.saves),
    }
    return type(name, (OpNode,), fields)
