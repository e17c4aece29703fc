"""torch.func's transforms as rows: what captured code calls with a graph as the function.

In: a function of tensors, all of them flat. Out: flat results. Compiled code records one node
`vmapped(graph f(%a: f32[3]) {...}, (%x,), ...)`; whoever replays it runs the transform of this
folder on the graph, so there is no second definition.

Source: torch.func's documentation.
"""

from dataclasses import replace

from minitorch2.batching.batched import op
from minitorch2.func.jacobians import jacfwd, jacrev
from minitorch2.func.transforms import jvp, vjp
from minitorch2.func.vmap import vmap
from minitorch2.ops.table import COMPOSITE, defop


def _ones(like):
    return op("full", tuple(like.layout.shape), 1, like.dtype, like.device)


def _only(function, inputs, wrt, count):
    """The function of the inputs `wrt`: (the first `count` results, the others)."""

    def only(*wanted):
        values = list(inputs)
        for place, value in zip(wrt, wanted, strict=True):
            values[place] = value
        found = tuple(function(*values))
        return found[:count], found[count:]

    return only


def _picked(inputs, wrt):
    return [inputs[place] for place in wrt]


def _vmapped(function, inputs, dims, randomness, chunk_size):
    return tuple(vmap(lambda *each: tuple(function(*each)), tuple(dims), 0, randomness,
                      chunk_size=chunk_size)(*inputs))  # fmt: skip


def _infer_vmapped(function, inputs, dims, randomness, chunk_size):
    samples, size = [], 0
    for given, dim in zip(inputs, dims, strict=True):
        if dim is None:
            samples.append(given)
            continue
        shape = list(given.shape)
        size = shape.pop(dim)
        samples.append(replace(given, shape=tuple(shape)))
    return tuple(replace(each, shape=(size, *each.shape)) for each in function(*samples))


defop(
    "vmapped(any function, Tensor[] inputs, any dims, str randomness, any chunk_size=None) -> "
    "Tensor[]",
    COMPOSITE,
    decomp=_vmapped,
    infer=_infer_vmapped,
    method=False,
    function=False,
    torch="torch.func.vmap",
    doc="The results of `function` for all samples along the dimensions `dims`, stacked.",
)


def _pulled_back(function, inputs, starts, wrt, count):
    only = _only(function, inputs, wrt, count)
    outputs, pullback, rest = vjp(only, *_picked(inputs, wrt), has_aux=True)
    return (*outputs, *rest, *pullback(tuple(starts) or tuple(map(_ones, outputs))))


def _infer_pulled_back(function, inputs, starts, wrt, count):
    return (*function(*inputs), *_picked(inputs, wrt))


defop(
    "pulled_back(any function, Tensor[] inputs, Tensor[] starts, any wrt, int count) -> Tensor[]",
    COMPOSITE,
    decomp=_pulled_back,
    infer=_infer_pulled_back,
    method=False,
    function=False,
    torch="torch.func.vjp",
    doc="The results of `function`, then the gradients of its inputs `wrt` from those of its first "
    "`count` results, `starts`: ones when there are none.",
)


def _pushed_forward(function, inputs, tangents, wrt, count):
    only = _only(function, inputs, wrt, count)
    given = tuple(_picked(inputs, wrt))
    outputs, pushed, rest = jvp(only, given, tuple(tangents), has_aux=True)
    return (*outputs, *rest, *pushed)


def _infer_pushed_forward(function, inputs, tangents, wrt, count):
    found = tuple(function(*inputs))
    return (*found, *found[:count])


defop(
    "pushed_forward(any function, Tensor[] inputs, Tensor[] tangents, any wrt, int count) -> "
    "Tensor[]",
    COMPOSITE,
    decomp=_pushed_forward,
    infer=_infer_pushed_forward,
    method=False,
    function=False,
    torch="torch.func.jvp",
    doc="The results of `function`, then the tangents of its first `count` results from those of "
    "its inputs `wrt`.",
)


def _jacobian(function, inputs, wrt, count, forward, chunk_size):
    only = _only(function, inputs, wrt, count)
    places = tuple(range(len(wrt)))
    transform = jacfwd if forward else jacrev
    rows, rest = transform(only, places, has_aux=True, chunk_size=chunk_size)(*_picked(inputs, wrt))
    return (*(each for row in rows for each in row), *rest)


def _infer_jacobian(function, inputs, wrt, count, forward, chunk_size):
    found = tuple(function(*inputs))
    rows = [
        replace(given, shape=(*output.shape, *given.shape))
        for output in found[:count]
        for given in _picked(inputs, wrt)
    ]
    return (*rows, *found[count:])


defop(
    "jacobian(any function, Tensor[] inputs, any wrt, int count, bool forward, "
    "any chunk_size=None) -> Tensor[]",
    COMPOSITE,
    decomp=_jacobian,
    infer=_infer_jacobian,
    method=False,
    function=False,
    torch="torch.func.jacrev",
    doc="The derivatives of the first `count` results of `function` with respect to its inputs "
    "`wrt`, by tangents when `forward`; then its other results.",
)
