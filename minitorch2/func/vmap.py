"""vmap: a function of single samples becomes one of batches.

In: a function, and which dimension of each argument is the batch (None: the same for all). Out: a
function that takes batches and calls the given one once, with tensors that stand for all samples.

    >>> import minitorch2 as torch
    >>> rows = torch.arange(6.0).reshape(2, 3)
    >>> torch.func.vmap(torch.dot)(rows, rows)
    tensor([ 5., 50.])
    >>> torch.func.vmap(torch.dot, in_dims=(0, None))(rows, torch.ones(3))
    tensor([ 3., 12.])

Source: torch.func.vmap's documentation.
"""

import functools
from collections.abc import Callable
from typing import Any

from minitorch2.batching.mode import VmapMode
from minitorch2.errors import ArgumentValueError, OperationError
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor
from minitorch2.trees import TreeSpec, broadcast_to_spec, tree_flatten, tree_unflatten

RANDOMNESS = ("error", "different", "same")


def vmap(
    func: Callable,
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable:
    """Map a function over a dimension of its tensors.

    `in_dims`: an int, None, or a nesting of them like the arguments'. `out_dims`: where the batch
    is to stand in each output. `randomness`: whether samples draw 'different' random numbers, the
    'same', or none ('error'). `chunk_size`: at most so many samples at once. Keyword arguments are
    the same for all samples. Raises ArgumentValueError when the dimensions do not fit.
    """
    check_randomness("vmap", randomness)
    if chunk_size is not None and (not isinstance(chunk_size, int) or chunk_size < 1):
        raise ArgumentValueError(
            f"vmap(chunk_size={chunk_size!r})", "chunk_size should be None or greater than 0"
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return vmapped_call(func, in_dims, out_dims, randomness, chunk_size, args, kwargs)

    return wrapped


def check_randomness(name: str, randomness: str) -> None:
    """Refuse what is none of RANDOMNESS."""
    if randomness not in RANDOMNESS:
        raise OperationError(
            f"{name}(randomness={randomness!r})",
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}",
        )


def vmapped_call(
    func: Callable,
    in_dims: Any,
    out_dims: Any,
    randomness: str,
    chunk_size: int | None,
    args: tuple,
    kwargs: dict[str, Any],
) -> Any:
    """One call of what `vmap` returned."""
    if not args:
        raise ArgumentValueError(
            f"vmap({name_of(func)})()",
            "Got no inputs: the batch's size would be unknown",
            "give at least one tensor",
        )
    leaves, spec = tree_flatten(args)
    dims = checked_dims(func, in_dims, args, leaves, spec)
    size = batch_size(func, leaves, dims)

    def run(values: list[Any], count: int) -> tuple[list[Any], TreeSpec]:
        mode = VmapMode(count, randomness)
        seen = [
            value if dim is None else mode.wrapped(_first(value, dim))
            for value, dim in zip(values, dims, strict=True)
        ]
        with mode:
            output = func(*tree_unflatten(seen, spec), **kwargs)
        found, output_spec = tree_flatten(output)
        flags[:] = [mode.is_batched(value) for value in found]
        return [_result(func, mode, value) for value in found], output_spec

    flags: list[bool] = []  # which outputs differ between samples

    if chunk_size is None or chunk_size >= size:
        found, output_spec = run(leaves, size)
    else:
        found, output_spec = _in_chunks(run, leaves, dims, size, chunk_size)
    places = checked_out_dims(func, out_dims, output_spec)
    rows = zip(found, places, flags, strict=True)
    return tree_unflatten([_placed(func, *row) for row in rows], output_spec)


def _in_chunks(run: Callable, leaves: list, dims: list, size: int, chunk: int) -> tuple[list, Any]:
    columns: list[list[Any]] = []
    for start in range(0, size, chunk):
        count = min(chunk, size - start)
        part = [
            value if dim is None else value.narrow(dim, start, count)
            for value, dim in zip(leaves, dims, strict=True)
        ]
        found, spec = run(part, count)
        columns.append(found)
    joined = [
        lookup("cat").public(parts, 0) if isinstance(parts[0], Tensor) else parts[0]
        for parts in zip(*columns, strict=True)
    ]
    return joined, spec


def name_of(func: Callable) -> str:
    """A function as messages name it."""
    return getattr(func, "__name__", repr(func))


def _first(tensor: Tensor, dim: int) -> Tensor:
    return tensor if dim % tensor.ndim == 0 else tensor.movedim(dim, 0)


def _result(func: Callable, mode: VmapMode, value: Any) -> Any:
    if not isinstance(value, Tensor):
        if value is None:
            return None
        raise ArgumentValueError(
            f"vmap({name_of(func)}, ...)",
            f"`{name_of(func)}` must only return Tensors, got type {type(value).__name__}",
            "return tensors, or nested tuples, lists and dicts of them",
        )
    return mode.spread(value)


def _placed(func: Callable, tensor: Any, dim: Any, differs: bool) -> Any:
    if not isinstance(tensor, Tensor):
        return tensor
    if dim is None and differs:
        raise ArgumentValueError(
            f"vmap({name_of(func)}, out_dims=None)",
            "vmap can't return a tensor that differs between samples when out_dim=None",
            "give the dimension where the batch is to stand",
        )
    if dim is None:
        return tensor.select(0, 0)
    return tensor if dim == 0 else tensor.movedim(0, dim)


def checked_dims(func: Callable, in_dims: Any, args: tuple, leaves: list, spec: Any) -> list[Any]:
    """The batch dimension (or None) of each leaf of the arguments; ArgumentValueError."""
    asked = f"vmap({name_of(func)}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, (int, tuple, list)) or isinstance(in_dims, bool):
        raise ArgumentValueError(
            asked,
            "expected `in_dims` to be int or a (potentially nested) tuple matching the structure "
            f"of inputs, got: {type(in_dims).__name__}",
        )
    given = tuple(in_dims) if isinstance(in_dims, list) else in_dims
    dims = broadcast_to_spec(given, spec)
    if dims is None:
        raise ArgumentValueError(
            asked,
            "in_dims is not compatible with the structure of inputs",
            f"it is nested like the {len(args)} arguments, or a number for all",
        )
    return [_checked_dim(asked, value, dim) for value, dim in zip(leaves, dims, strict=True)]


def _checked_dim(asked: str, value: Any, dim: Any) -> Any:
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ArgumentValueError(
            asked, f"Got in_dim={dim} for an input but in_dim must be either an integer or None"
        )
    if not isinstance(value, Tensor):
        raise ArgumentValueError(
            asked,
            f"Got in_dim={dim} for an input but the input is of type {type(value).__name__}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim",
        )
    if not -value.ndim <= dim < value.ndim:
        raise ArgumentValueError(
            asked,
            f"Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
            f"{value.ndim} so expected in_dim to satisfy -{value.ndim} <= in_dim < {value.ndim}",
        )
    return dim % value.ndim


def batch_size(func: Callable, leaves: list, dims: list) -> int:
    """The size of the batch, on which all mapped tensors agree; ArgumentValueError."""
    sizes = [v.shape[d] for v, d in zip(leaves, dims, strict=True) if d is not None]
    if not sizes:
        raise ArgumentValueError(
            f"vmap({name_of(func)}, ...)(<inputs>)",
            "at least one in_dim must be an integer: no input has a batch dimension",
        )
    if len(set(sizes)) > 1:
        raise ArgumentValueError(
            f"vmap({name_of(func)}, ...)(<inputs>)",
            "Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension",
        )
    return sizes[0]


def checked_out_dims(func: Callable, out_dims: Any, spec: TreeSpec) -> list[Any]:
    """Where the batch goes in each output; ArgumentValueError."""
    asked = f"vmap({name_of(func)}, ..., out_dims={out_dims})"
    given = tuple(out_dims) if isinstance(out_dims, list) else out_dims
    if spec.is_leaf() and isinstance(given, tuple) and len(given) == 1:
        given = given[0]
    if spec.kind is list and isinstance(given, tuple):
        given = list(given)
    dims = broadcast_to_spec(given, spec)
    if dims is None:
        raise ArgumentValueError(
            asked,
            "out_dims is not compatible with the structure of outputs",
            f"there are {spec.num_leaves} outputs: give one number, or one for each",
        )
    for dim in dims:
        if dim is not None and not isinstance(dim, int):
            raise ArgumentValueError(
                asked, f"`out_dims` must be an int or a tuple of them, got {type(dim).__name__}"
            )
    return dims
