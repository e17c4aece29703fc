"""jacrev, jacfwd, hessian: whole Jacobians, by one batch of gradients or tangents.

In: a function of tensors. Out: a function that returns, for each output and each input, a tensor of
shape output.shape + input.shape.

    >>> import minitorch2 as torch
    >>> torch.func.jacrev(lambda x: x ** 2)(torch.tensor([1.0, 3.0]))
    tensor([[2., 0.],
            [0., 6.]])

Source: torch.func's documentation; Griewank and Walther, Evaluating Derivatives, for when forward
or reverse is the shorter way (few inputs, or few outputs).
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2.batching.batched import op
from minitorch2.errors import ArgumentValueError
from minitorch2.func.levels import check_differentiable, or_zeros, pull
from minitorch2.func.transforms import Pushed, Tracked, picked
from minitorch2.func.vmap import check_randomness, vmap
from minitorch2.tensors import Tensor
from minitorch2.trees import tree_flatten, tree_map, tree_unflatten


def basis(tensors: list[Tensor]) -> list[Tensor]:
    """For N elements in all, N unit vectors: one tensor [N, *shape] for each tensor."""
    counts = [tensor.numel() for tensor in tensors]
    total, start, found = sum(counts), 0, []
    for tensor, count in zip(tensors, counts, strict=True):
        row = op("range_", 0, total, 1, None, tensor.device).unsqueeze(1)
        column = op("range_", start, start + count, 1, None, tensor.device)
        unit = op("convert", row == column, tensor.dtype)
        found.append(op("reshape", unit, (total, *tensor.layout.shape)))
        start += count
    return found


def _split(stacked: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """[N, ...] cut into one piece for each tensor, the piece's first dimension as its shape."""
    counts = tuple(tensor.numel() for tensor in tensors)
    parts = op("split", stacked, counts, 0)
    return [
        op("reshape", part, (*tensor.layout.shape, *stacked.layout.shape[1:]))
        for part, tensor in zip(parts, tensors, strict=True)
    ]


def _check_chunk(chunk_size: Any) -> None:
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ArgumentValueError(
            f"chunk_size={chunk_size!r}", "`chunk_size` should be greater than 0"
        )


def jacrev(
    func: Callable, argnums: Any = 0, *, has_aux: bool = False, chunk_size: int | None = None
) -> Callable:
    """The Jacobian by reverse mode: one gradient for each element of the outputs.

    The result is nested like the outputs, each place like the inputs that `argnums` names.
    `chunk_size` limits how many gradients run at once. With `has_aux`, `func` returns (output,
    aux), and the result is (jacobian, aux).
    """
    _check_chunk(chunk_size)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        """The Jacobian at these arguments, [*output, *input]: a pullback for each row."""
        run = Tracked("jacrev", func, args, kwargs, argnums, has_aux)
        create = run.beyond([])

        def row(*starts: Tensor) -> tuple:
            found = pull(run.outputs, list(starts), run.inputs, True, create)
            return tuple(or_zeros(found, run.inputs))

        columns = _mapped(row, basis(run.outputs), chunk_size)  # [outputs' elements, *input]
        pieces = [_split(column, run.outputs) for column in columns]  # [input][output]
        nested = [
            run.settled([pieces[i][o] for i in range(len(pieces))], run.spec)
            for o in range(len(run.outputs))
        ]
        jacobian = tree_unflatten(nested, run.output_spec)
        aux = tree_map(run.level.settled, run.aux)
        run.level.close()
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _mapped(
    row: Callable, units: list[Tensor], chunk_size: int | None, randomness: str = "error"
) -> Any:
    """`row` of each unit vector, stacked; nothing to map over gives nothing."""
    if units and units[0].shape[0] == 0:
        return tuple(op("reshape", each, (0, *each.layout.shape)) for each in row(*units))
    return vmap(row, randomness=randomness, chunk_size=chunk_size)(*units)


def jacfwd(
    func: Callable,
    argnums: Any = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "error",
) -> Callable:
    """The Jacobian by forward mode: one tangent for each element of the inputs.

    Results as `jacrev`'s. `randomness` is vmap's: whether each tangent meets 'different' random
    numbers, all the 'same', or the function may draw none ('error').
    """
    _check_chunk(chunk_size)
    check_randomness("jacfwd", randomness)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        """The Jacobian at these arguments, [*output, *input]: tangents for each column."""
        primals, spec = tree_flatten(picked(args, argnums, "jacfwd")[0])
        for primal in primals:
            check_differentiable(primal, "jacfwd")
        kept: Any = None  # the nesting of the outputs, and what is passed on

        def pushed(*tangents: Tensor) -> tuple:
            nonlocal kept
            run = Pushed("jacfwd", func, args, kwargs, argnums, list(tangents), has_aux)
            found = run.filled()
            aux, aux_spec = tree_flatten(run.aux)
            tensors = [value for value in aux if isinstance(value, Tensor)]
            kept = len(found), run.output_spec, aux, aux_spec
            return (*found, *tensors)

        columns = _mapped(pushed, basis(primals), chunk_size, randomness)
        count, output_spec, aux, aux_spec = kept
        nested = []
        for column in columns[:count]:  # [inputs' elements, *output]
            order = tuple(range(1, column.ndim)) + (0,)
            turned = op("permute", column, order)
            nested.append(tree_unflatten(_last_split(turned, primals), spec))
        jacobian = tree_unflatten(nested, output_spec)
        if not has_aux:
            return jacobian
        firsts = (column[0] for column in columns[count:])  # of all tangents: the first one's
        return jacobian, tree_unflatten(
            [next(firsts) if isinstance(value, Tensor) else value for value in aux], aux_spec
        )

    return wrapper


def _last_split(turned: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """[*output, N] cut into one piece [*output, *shape] for each tensor."""
    counts = tuple(tensor.numel() for tensor in tensors)
    parts = op("split", turned, counts, turned.ndim - 1)
    return [
        op("reshape", part, (*turned.layout.shape[:-1], *tensor.layout.shape))
        for part, tensor in zip(parts, tensors, strict=True)
    ]


def hessian(func: Callable, argnums: Any = 0) -> Callable:
    """The second derivatives: forward mode over reverse mode, output.shape + input.shape twice."""
    return jacfwd(jacrev(func, argnums), argnums)
