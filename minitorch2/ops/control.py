"""Control flow as ops: branches and loops whose parts are functions of tensors.

In: tensors and functions over them; in a graph the functions are graphs. Out: tensors. The decomp
is the definition: Python that calls the functions. Eager code runs it directly (control_flow.py);
captured code becomes one node with graphs among its arguments, which later stages differentiate
and compile as a whole.

    %1: f32[3] = cond(%p, graph then(%a: f32[3]) {...}, graph otherwise(%a: f32[3]) {...}, (%x,))

Source: torch.cond, torch.while_loop, torch._higher_order_ops.scan; JAX's lax.cond, lax.scan.
"""

from dataclasses import replace

from minitorch2.dispatch import call
from minitorch2.errors import ShapeError
from minitorch2.ops.table import CONTROL, defop, lookup

HOST = "Python calls the compiled graphs among its arguments"


def _cond(pred, then, otherwise, operands):
    return tuple(then(*operands) if bool(pred) else otherwise(*operands))


def _same_types(op, first, second, what):
    """Refuse results whose types differ."""
    shown = [
        ", ".join(f"{t.dtype.short}[{','.join(map(str, t.shape))}]" for t in types)
        for types in (first, second)
    ]
    if shown[0] != shown[1]:
        raise ShapeError(
            op, f"{what}: ({shown[0]}) and ({shown[1]})", "give both the same shapes and dtypes"
        )
    return tuple(first)


def _infer_cond(pred, then, otherwise, operands):
    return _same_types("cond()", then(*operands), otherwise(*operands), "the branches differ")


defop(
    "cond(Tensor pred, any then, any otherwise, Tensor[] operands) -> Tensor[]",
    CONTROL,
    decomp=_cond,
    infer=_infer_cond,
    host=HOST,
    method=False,
    function=False,
    doc="`then` of the operands where the predicate holds, `otherwise` of them where it does not.",
)


def _while_loop(condition, body, carried, operands):
    carried = tuple(carried)
    while bool(condition(*carried, *operands)[0]):
        carried = tuple(body(*carried, *operands))
    return carried


def _infer_while_loop(condition, body, carried, operands):
    condition(*carried, *operands)
    found = body(*carried, *operands)
    return _same_types("while_loop()", carried, found, "the body changes what it is given")


defop(
    "while_loop(any condition, any body, Tensor[] carried, Tensor[] operands) -> Tensor[]",
    CONTROL,
    decomp=_while_loop,
    infer=_infer_while_loop,
    host=HOST,
    method=False,
    function=False,
    doc="The carried tensors after `body` ran on them as long as `condition` holds.",
)


def _scan(body, init, xs, operands, length, reverse):
    carry, rows = tuple(init), []
    order = range(length)
    for at in reversed(order) if reverse else order:
        found = tuple(body(*carry, *(x[at] for x in xs), *operands))
        carry = found[: len(carry)]
        rows.append(found[len(carry) :])
    if reverse:
        rows.reverse()
    return (*carry, *(call(lookup("stack"), (column, 0)) for column in zip(*rows, strict=True)))


def _infer_scan(body, init, xs, operands, length, reverse):
    slices = [replace(x, shape=tuple(x.shape[1:])) for x in xs]
    found = body(*init, *slices, *operands)
    carry, rows = found[: len(init)], found[len(init) :]
    _same_types("scan()", init, carry, "the body changes what it carries")
    return (*carry, *(replace(row, shape=(length, *row.shape)) for row in rows))


defop(
    "scan(any body, Tensor[] init, Tensor[] xs, Tensor[] operands, int length, "
    "bool reverse=False) -> Tensor[]",
    CONTROL,
    decomp=_scan,
    infer=_infer_scan,
    host=HOST,
    method=False,
    function=False,
    torch="torch._higher_order_ops.scan",
    doc="`body(carry, rows)` gives the next carry and rows of results; the last carry, the rows.",
)
