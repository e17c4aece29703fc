"""The short way of a pointwise row: from plain tensors straight to numpy, with nothing in between.

In: a row of one to three operands. Out: a function of the operands, made from the row as readable
text, that returns the result, or None where the call has to go through the dispatcher's door.

    >>> from minitorch2.ops.table import lookup
    >>> print(source_of(lookup("neg")))
    def neg(self):
        element, needs = None, False
        kind = type(self)
        if kind in PLAIN:
            element, self_array = self.dtype, self._array
            if self_array is None or not self.layout.row_major:
                self_array = row_major_array(self)
                if self_array is None:
                    return None
            if self._node is not None or self._requires_grad or self._view is not None:
                needs = needs or self.requires_grad
        else:
            return None
        if element is not float32 and element is not float64:
            return None
        token = silence()
        try:
            found = compute(self_array)
        except ValueError:
            return None
        finally:
            restore(token)
        if type(found) is not ndarray:
            found = asarray(found)
        result = fresh(found, element, CPU)
        if needs and state.grad_enabled:
            connect(op, (self,), (result,))
        return result
    <BLANKLINE>

# Note [The short way]
A small addition is 0.5 us of numpy's work; the door, the backend and the recorder, each general,
are ten times that. Nearly every call is the same simple one: tensors of class Tensor or Parameter,
float32 or float64 of one dtype, row-major, numbers beside them, no mode, autocast region, tracer or
saved-tensor hook in force, and the other parameters at their defaults. For it the door, the
promotion rules and the layout rules decide nothing: the row's numpy function is the operation, and
autograd's `connect` is all that follows. What is not that simple returns None before anything was
done, and takes the long way, which says everything that is to be said, errors included. The caller
has checked `state.direct`.

Source: PyTorch's TensorIterator has a fast set-up for the same case.
"""

import linecache
from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import dtypes
from minitorch2.autograd.record import connect
from minitorch2.backends.quiet import restore, silence
from minitorch2.backends.row_kernels import RowKernel
from minitorch2.devices import CPU
from minitorch2.dispatch import state
from minitorch2.ops.infer import LEAST, MOST
from minitorch2.ops.table import Op
from minitorch2.tensors import PLAIN, fresh, row_major_array, wrap

WITH_OUT = (numpy.ufunc, RowKernel)  # functions that can write into their first operand
_OPERAND = """
    kind = type({0})
    if kind in PLAIN:
{same}
        element, {0}_array = {0}.dtype, {0}._array
        if {0}_array is None or not {0}.layout.row_major:
            {0}_array = row_major_array({0})
            if {0}_array is None:
                return None
        if {0}._node is not None or {0}._requires_grad or {0}._view is not None:
            needs = needs or {0}.requires_grad
"""
_SAME = """
        if element is not None and {0}.dtype is not element:
            return None
"""
_APART = """
        if {0}.storage is self.storage and {0}.layout is not self.layout:
            return None
"""
_NUMBER = """
    elif kind is float:
        {0}_array = {0}
    elif kind is int and LEAST <= {0} <= MOST:
        {0}_array = float({0})
"""
_OTHERWISE = """
    else:
        return None
"""
_DTYPES = """
    if element is not float32 and element is not float64:
        return None
"""
_TYPED = """
    if type({0}_array) is float:
        {0}_array = element.numpy.type({0}_array)
"""
_CHECK = """
    row.check(row, ({args},))
"""
_COMPUTE = """
    token = silence()
    try:
        found = compute({arrays})
    except ValueError:
        return None
    finally:
        restore(token)
    if type(found) is not ndarray:
        found = asarray(found)
"""
_OWN = """
    elif found is self_array or found.base is not None:
        found = found.copy()
"""
_RESULT = """
    result = fresh(found, {element}, CPU)
"""
_CONNECT = """
    if needs and state.grad_enabled:
        connect(op, ({args},), (result,))
"""
_WRITE = """
    if state.grad_enabled and (needs or self._view is not None):
        return None
    version = self.storage.version + 1
    if version != version:
        return None
    token = silence()
    try:
        compute({arrays}, out=self_array)
    except ValueError:
        return None
    finally:
        restore(token)
    self.storage.version = version
    return self
"""
_SCOPE = {
    "PLAIN": PLAIN,
    "row_major_array": row_major_array,
    "float32": dtypes.float32,
    "float64": dtypes.float64,
    "bool_": dtypes.bool,
    "state": state,
    "silence": silence,
    "LEAST": LEAST,
    "MOST": MOST,
    "restore": restore,
    "ndarray": numpy.ndarray,
    "asarray": numpy.asarray,
    "fresh": fresh,
    "wrap": wrap,
    "CPU": CPU,
    "connect": connect,
}


def _compute(op: Op) -> Any:
    return op.usual or op.eager


def source_of(op: Op) -> str:
    """The text of a row's short way."""
    row = op.inplace_of or op
    names = [parameter.name for parameter in op.signature.parameters]
    operands = names[: row.plain]
    defaults = [repr(each.default) for each in op.signature.parameters[row.plain :]]
    args = ", ".join(operands + defaults)
    parts = [f"def {op.name}({', '.join(operands)}):", "    element, needs = None, False"]
    for index, name in enumerate(operands):
        number = _NUMBER if row.plain > 1 and (index or op is row) else ""
        same = _SAME.format(name) if index else ""
        if index and op is not row:
            same += _APART.format(name)  # the long way tells where a write may change what it reads
        parts += [part.format(name, same=same) for part in (_OPERAND, number, _OTHERWISE)]
    parts += [_DTYPES]
    if row.plain > 1 and not isinstance(_compute(row), WITH_OUT):
        parts += [_TYPED.format(name) for name in operands]
    arrays = [f"{name}_array" for name in operands]
    if row.usual is None:
        arrays += defaults
        parts += [_CHECK.format(args=args)] if row.check is not None else []
    if op is not row:
        return _text([*parts, _WRITE.format(arrays=", ".join(arrays))])
    parts += [_COMPUTE.format(arrays=", ".join(arrays))]
    if not isinstance(_compute(op), WITH_OUT):
        parts += [_OWN]
    parts += [_RESULT.format(element="bool_" if op.promote == "bool" else "element")]
    if op.vjp is not None:
        parts += [_CONNECT.format(args=args)]
    return _text([*parts, "    return result"])


def _text(parts: list[str]) -> str:
    return "".join(line + "\n" for part in parts for line in part.splitlines() if line)


def make(op: Op) -> Callable[..., Any]:
    """The short way of a row, compiled. Tracebacks and `inspect` find its text."""
    source, file = source_of(op), f"<minitorch2 short way of {op.name}>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    row = op.inplace_of or op
    scope = {**_SCOPE, "op": op, "row": row, "compute": _compute(row)}
    exec(compile(source, file, "exec"), scope)
    op.short = scope[op.name]
    return op.short


def install(op: Op) -> bool:
    """Let `op.short` be the row's short way, made when it is first called; False if it has none.

    Rows of usual operands have one, and those that write what a numpy function of such operands
    gives into the first of them.
    """
    row = op.inplace_of or op
    writes = op is not row
    if not row.plain or writes and not isinstance(_compute(row), WITH_OUT):
        op.short = _no_short_way
        return False
    op.short = lambda *operands: make(op)(*operands)
    return True


def has_one(op: Op) -> bool:
    """Whether the row has a short way."""
    return getattr(op, "short", _no_short_way) is not _no_short_way


def _no_short_way(*operands: Any) -> None:
    """There is none: the caller goes on to the dispatcher."""
