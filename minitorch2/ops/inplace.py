"""In-place rows: one primitive, `copy_`, and forms derived from the out-of-place rows.

In: the tensor to write and what to write. Out: the same tensor. `add_` is `copy_(self, add(self,
other))`: there is no second definition of any op, and the compiler has one kind of write to undo.

Source: torch's in-place rules: the result must fit the shape and dtype of what is written.
"""

import numpy

from minitorch2 import dtypes
from minitorch2.autograd.graph import Spec, fit_gradient, spec_of, zeros_like_spec
from minitorch2.autograd.record import check_write, record_write
from minitorch2.autograd.tangents import note_write
from minitorch2.dispatch import call, run_backend, state, unrecorded
from minitorch2.errors import ArgumentTypeError, DtypeError, InPlaceError, ShapeError
from minitorch2.layouts import broadcast_shapes
from minitorch2.ops.conversions import for_cast
from minitorch2.ops.infer import describe_value, is_number
from minitorch2.ops.signature import Parameter, Signature
from minitorch2.ops.table import (
    COMPOSITE,
    INPLACE,
    POINTWISE,
    Meta,
    Op,
    add_row,
    all_ops,
    defop,
    lookup,
)
from minitorch2.tensors import Tensor


def _copy(a, src, non_blocking):
    numpy.copyto(a, for_cast(src, a.dtype), casting="unsafe")


def _infer_copy(self, src, non_blocking):
    broadcast_shapes(tuple(self.shape), tuple(src.shape))
    return Meta(tuple(self.shape), self.dtype)


def _copy_vjp(s, g):
    """What was overwritten counts no more: zeros reach it."""
    old = zeros_like_spec(spec_of(g)) if s.needs[0] else None
    return old, fit_gradient(g, Spec(s.src.shape, s.src.dtype, None)) if s.needs[1] else None


COPY = defop(
    "copy_(Tensor(a!) self, Operand src, bool non_blocking=False) -> Tensor(a!)",
    INPLACE,
    eager=_copy,
    infer=_infer_copy,
    effects="writes",
    function=False,
    vjp=_copy_vjp,
    doc="Overwrite the tensor with another, converted and broadcast.",
)


def write(target, source, *rest):
    """Carry out `copy_` below the modes: check, write, give the target its new history."""
    if not isinstance(source, Tensor):
        source = _number(target, source)
    check_write(target, source)
    check_overlap(target, source)
    if target.layout.overlaps_itself():
        raise InPlaceError(
            f"a write into {describe_value(target)}",
            "unsupported operation: more than one element of the written-to "
            "tensor refers to a single memory location. Please clone() the "
            "tensor before performing the operation",
            "clone() the expanded tensor first",
        )
    shape = tuple(source.layout.shape)
    whole = tuple(target.layout.shape)
    if shape != whole and broadcast_shapes(whole, shape) != whole:
        raise ShapeError(
            f"copy_({describe_value(target)}, {describe_value(source)})",
            f"output with shape {list(whole)} doesn't match the broadcast shape "
            f"{list(broadcast_shapes(whole, shape))}",
            "the source must broadcast to the target",
        )
    if source.storage is target.storage and source is not target and source._array is not None:
        with unrecorded():
            plain = call(lookup("clone"), (source,))
        run_backend(COPY, (target, plain, *rest))
    else:
        run_backend(COPY, (target, source, *rest))
    record_write(target, source)
    if state.duals:
        note_write(target, source)
    return target


def _number(target, value):
    """A number as a 0-d tensor of the target's dtype; of a complex one the real part, warned of."""
    if not is_number(value):
        raise ArgumentTypeError(
            f"copy_({describe_value(target)}, {describe_value(value)})",
            f"argument 'src' must be a Tensor or a number, not {type(value).__name__}",
            "make a tensor of it first: torch.tensor(value)",
        )
    return call(lookup("full"), ((), value, target.dtype, target.device))


def check_overlap(target, source):
    """InPlaceError where a write would change part of what it reads.

    As torch does, it looks at the memory of dense tensors only: finding out more would cost more
    than the write. What it cannot tell is read whole before anything is written.
    """
    if source.storage is not target.storage or source is target:
        return
    written, read = target.layout, source.layout
    if written.same_places(read) or not (written.is_dense() and read.is_dense()):
        return
    if written.offset < read.extent() and read.offset < written.extent():
        raise InPlaceError(
            f"a write into {describe_value(target)} that reads {describe_value(source)}",
            "unsupported operation: some elements of the input tensor and the written-to tensor "
            "refer to a single memory location. Please clone() the tensor before performing the "
            "operation.",
            "clone() the tensor that is read before the write",
        )


# Not a composite: the decomposition of the one primitive write is the write itself, which must
# check and record around the backend.
COPY.decomp = write


def _inplace_form(op: Op):
    """The decomposition of an op's in-place form."""
    first = op.signature.parameters[0].name
    at = op.signature.names.index("dtype") if "dtype" in op.signature.names else 0

    def inplace(self, *rest):
        """`self`, with the op's result written into it; InPlaceError where it does not fit."""
        source = self
        if op.name not in BUFFERED:
            for value in rest:
                if isinstance(value, Tensor):
                    check_overlap(self, value)
        if state.grad_enabled and (op.kind == COMPOSITE or first in op.saves):
            wanting = (self, *rest)
            if first in op.saved_if:
                wanting = (rest[op.signature.names.index(op.saved_if[first]) - 1],)
            if any(getattr(value, "requires_grad", False) for value in wanting):
                source = call(lookup("clone"), (self,))  # the vjp needs the value before the write
        if at and rest[at - 1] is None:  # computed in the dtype of what is written
            rest = (*rest[: at - 1], self.dtype, *rest[at:])
        result = call(op, (source, *rest))
        if result is self:
            return self
        if result.dtype is not self.dtype:
            if at or not dtypes.can_cast(result.dtype, self.dtype):
                raise DtypeError(
                    f"{op.name}_({describe_value(self)}, ...)",
                    f"result type {result.dtype} can't be cast to the desired output "
                    f"type {self.dtype}",
                    "convert self first, or use the out-of-place form",
                )
        if tuple(result.layout.shape) != tuple(self.layout.shape):
            raise ShapeError(
                f"{op.name}_({describe_value(self)}, ...)",
                f"output with shape {list(self.shape)} doesn't match the broadcast "
                f"shape {list(result.shape)}",
                "the other operand must broadcast to self",
            )
        return call(COPY, (self, result, False))

    return inplace


def derive(op: Op) -> Op:
    """Add the row of an op's in-place form, `name_`."""
    first, *rest = op.signature.parameters
    written = Parameter(first.name, "Tensor", False, first.default, False, "a!")
    text = op.signature.text.replace(op.name + "(", op.name + "_(", 1)
    text = text.replace(f"{first.type} {first.name}", f"Tensor(a!) {first.name}", 1)
    signature = Signature(op.name + "_", (written, *rest), ("Tensor(a!)",), text)
    return add_row(
        Op(
            signature.name,
            signature,
            COMPOSITE,
            decomp=_inplace_form(op),
            effects="writes",
            function=op.name in FUNCTIONS_TOO,
            inplace_of=op,
            numbers=op.numbers,
            doc=f"{op.doc} Written into self.",
            torch=f"torch.Tensor.{signature.name}",
        )
    )


FUNCTIONS_TOO = ("conj_physical", "relu", "exp", "sqrt", "abs", "neg", "tanh", "sigmoid", "clamp")
BUFFERED = ("masked_fill", "masked_scatter")  # torch reads their operands before it writes
WITHOUT = ("maximum", "minimum", "isnan", "isinf", "isfinite")
OTHERS = (
    "conj_physical",
    "masked_fill",
    "clamp",
    "div",
    "tril",
    "triu",
    "scatter_add",
    "scatter",
    "index_add",
    "index_put",
    "cumsum",
    "addcmul",
    "addcdiv",
    "square",
    "clamp_min",
    "clamp_max",
    "logical_not",
    "index_fill",
    "baddbmm",
    "addmm",
    "addmv",
    "addr",
    "addbmm",
    "clip",
    "cumprod",
    "masked_scatter",
    "index_copy",
    "scatter_reduce",
    "index_reduce",
    "put",
    "renorm",
    "erfc",
    "erfinv",
    "lgamma",
    "digamma",
    "polygamma",
    "xlogy",
    "sinc",
    "nan_to_num",
    "asinh",
    "acosh",
    "atanh",
    "logit",
    "deg2rad",
    "rad2deg",
    "copysign",
    "hypot",
    "frac",
    "heaviside",
    "ldexp",
    "i0",
    "igamma",
    "igammac",
    "mvlgamma",
)


def derive_all() -> None:
    """Add an in-place form for every pointwise method and for the movement ops that have one."""
    for op in all_ops():
        usual = op.kind == POINTWISE and op.method and op.name not in WITHOUT
        if usual or op.name in OTHERS:
            derive(op)
