"""Branches and loops over tensors as calls, which compiled code keeps whole.

In: functions of tensors (or of nested tuples, lists and dicts of tensors) and their arguments. Out:
what the functions return. Eager code runs them as the Python they stand for; `compile` captures
each function as a graph of its own, so that data decides at run time and nothing is captured again.

    >>> from minitorch2 import tensor
    >>> cond(tensor(True), lambda x: x + 1, lambda x: x - 1, (tensor(2.0),))
    tensor(3.)
    >>> while_loop(lambda i: i < 5, lambda i: (i * 2,), (tensor(1),))
    (tensor(8),)
    >>> scan(lambda total, x: (total + x, total * x), tensor(0.0), tensor([1.0, 2.0, 3.0]))
    (tensor(6.), tensor([0., 2., 9.]))

Source: torch.cond, torch.while_loop, torch._higher_order_ops.
"""

from collections.abc import Callable
from typing import Any

from minitorch2.errors import ArgumentTypeError, ArgumentValueError, ShapeError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor
from minitorch2.trees import TreeSpec, tree_flatten, tree_unflatten

CAT = lookup("cat").public


def cond(
    pred: Any, true_fn: Callable, false_fn: Callable, operands: tuple | list = ()
) -> Any:  # fmt: skip
    """One of two functions of the operands; `pred` is a bool or a tensor of one element."""
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise ShapeError(
            f"cond() with a predicate of shape {list(pred.shape)}",
            "Expected pred to be bool or tensor of one element",
            "reduce it with any() or all()",
        )
    check_operands("cond", operands)
    return true_fn(*operands) if bool(pred) else false_fn(*operands)


def while_loop(cond_fn: Callable, body_fn: Callable, carried_inputs: tuple | list) -> tuple:
    """`carried = body_fn(*carried)` as long as `cond_fn(*carried)` holds; the last `carried`."""
    check_operands("while_loop", carried_inputs)
    carried = tuple(carried_inputs)
    while bool(cond_fn(*carried)):
        found = body_fn(*carried)
        carried = tuple(found) if isinstance(found, (tuple, list)) else (found,)
    return carried


def scan(
    combine_fn: Callable, init: Any, xs: Any, *, dim: int = 0, reverse: bool = False
) -> tuple[Any, Any]:
    """`carry, y = combine_fn(carry, x)` for each slice of `xs` along `dim`; the last carry, and the
    ys stacked along their first dimension. `reverse` goes from the last slice to the first."""
    packed = ScanPacking(init, xs, dim)

    def body(*values: Any) -> tuple:
        return packed.flat_result(combine_fn(*packed.arguments(values)))

    run = lookup("scan").decomp
    assert run is not None
    return packed.results(run(body, packed.init, packed.xs, (), packed.length, reverse))


def map(f: Callable, xs: Any, *args: Any) -> Any:
    """`f(x, *args)` for each slice of `xs` along its first dimension; the results stacked."""
    return scan(lambda carry, x: (carry, f(x, *args)), (), xs)[1]


def associative_scan(
    combine_fn: Callable, xs: Any, dim: int, reverse: bool = False, combine_mode: str = "pointwise"
) -> Any:
    """All prefixes of `xs` along `dim`, combined by an associative function of two slices.

    log2(n) rounds, each on whole tensors: `combine_fn` gets many slices at once, stacked along
    `dim`, and must treat them alone, as pointwise functions do.
    """
    if combine_mode not in ("pointwise", "generic"):
        raise ArgumentValueError(
            f"associative_scan(combine_mode={combine_mode!r})",
            f"Combine_mode must be 'pointwise' or 'generic', not {combine_mode}",
        )
    leaves, spec = tree_flatten(xs)
    if not leaves or any(not isinstance(leaf, Tensor) for leaf in leaves):
        raise ArgumentTypeError("associative_scan()", "xs must be tensors", "pass tensors")
    leaves = [leaf.movedim(dim, 0) for leaf in leaves]
    if reverse:
        leaves = [leaf.flip((0,)) for leaf in leaves]
    length, step = leaves[0].shape[0], 1
    while step < length:
        early = tree_unflatten([leaf[:-step] for leaf in leaves], spec)
        late = tree_unflatten([leaf[step:] for leaf in leaves], spec)
        combined = tree_flatten(combine_fn(early, late))[0]
        leaves = [CAT((leaf[:step], new), 0) for leaf, new in zip(leaves, combined, strict=True)]
        step *= 2
    if reverse:
        leaves = [leaf.flip((0,)) for leaf in leaves]
    return tree_unflatten([leaf.movedim(0, dim) for leaf in leaves], spec)


class ScanPacking:
    """The trees of a scan as flat tensors: `init` and `xs` going in, carry and ys coming out."""

    def __init__(self, init: Any, xs: Any, dim: int):
        self.init, self.init_spec = tree_flatten(init)
        leaves, self.xs_spec = tree_flatten(xs)
        if not leaves:
            raise ArgumentTypeError("scan()", "xs has no tensor", "pass at least one")
        self.xs = [leaf.movedim(dim, 0) if dim else leaf for leaf in leaves]
        self.length = self.xs[0].shape[0]
        if any(x.shape[0] != self.length for x in self.xs):
            raise ShapeError(
                f"scan() over {[list(x.shape) for x in self.xs]}",
                "All xs leaves must have the same scan dimension",
                "cut them to one length",
            )
        self.row_spec: TreeSpec | None = None

    def arguments(self, values: Any) -> tuple[Any, Any]:
        """carry and x of one step, from flat tensors."""
        count = len(self.init)
        carry = tree_unflatten(list(values[:count]), self.init_spec)
        return carry, tree_unflatten(list(values[count : count + len(self.xs)]), self.xs_spec)

    def flat_result(self, found: Any) -> tuple:
        """What one step returns, flat."""
        carry, row = found
        leaves, self.row_spec = tree_flatten(row)
        carried, spec = tree_flatten(carry)
        if spec != self.init_spec:
            raise ArgumentValueError(
                "scan()", "The carry of combine_fn and init differ in their structure",
                "return the carry as it was given",
            )  # fmt: skip
        return (*carried, *leaves)

    def results(self, flat: tuple) -> tuple[Any, Any]:
        """The last carry and the stacked ys, as trees."""
        count = len(self.init)
        assert self.row_spec is not None
        rows = tree_unflatten(list(flat[count:]), self.row_spec)
        return tree_unflatten(list(flat[:count]), self.init_spec), rows


def check_operands(name: str, operands: Any) -> None:
    """Operands are a tuple or list of trees of tensors and numbers."""
    if not isinstance(operands, (tuple, list)):
        raise ArgumentTypeError(
            f"{name}()",
            f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists "
            f"of tensor leaves, but got {type(operands).__name__}",
            "put them into a tuple",
        )
