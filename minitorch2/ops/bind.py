"""Hangs the methods made from op rows on Tensor, with Python's operators.

In: the op table. Out: `Tensor.add`, `Tensor.__add__`, `Tensor.add_` and so on, and the functions
that `minitorch2/__init__.py` publishes. This is the one place where room 1 reaches upward from
Tensor to its operations.

Example: `Tensor.gelu` does not exist, as the row says `method=False`; `Tensor.exp` does.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy

from minitorch2 import dtypes, return_types
from minitorch2.dispatch import call, state
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError
from minitorch2.ops import (
    code_cache,
    derived_methods,
    fills,
    in_place_views,
    inplace,
    memory_methods,
    methods,
    ordering,
    outputs,
    overloads,
    segments,
    short_ways,
    tensor_copies,
    view_copies,
)
from minitorch2.ops.aliases import ALIASES, IN_PLACE_FUNCTIONS
from minitorch2.ops.indexing import get_item, set_item
from minitorch2.ops.infer import admit_argument, is_number
from minitorch2.ops.signature import make_function
from minitorch2.ops.table import Op, all_ops, lookup
from minitorch2.tensors import Tensor, wrap

functions: dict[str, Callable] = {}

_BINARY: dict[str, tuple] = {
    "add": ("add", 1),
    "sub": ("sub", 1),
    "mul": ("mul",),
    "truediv": ("true_divide",),
    "floordiv": ("floor_divide",),
    "mod": ("remainder",),
    "pow": ("pow",),
    "and": ("bitwise_and",),
    "or": ("bitwise_or",),
    "xor": ("bitwise_xor",),
    "lshift": ("bitwise_left_shift",),
    "rshift": ("bitwise_right_shift",),
}


def _operand(value: Any) -> bool:
    return isinstance(value, Tensor) or is_number(value)


def _binary(op: Op, extra: tuple, compares: bool = False) -> Callable:
    def operator(self: Tensor, other: Any) -> Any:
        if state.direct:
            found = op.short(self, other)
            if found is not None:
                return found
        if isinstance(other, numpy.generic):
            return operator(self, other.item())
        if compares and isinstance(other, numpy.ndarray):
            return operator(self, wrap(other))
        if not _operand(other):
            return NotImplemented  # an array of numpy's computes then, and __array_wrap__ follows
        return call(op, (self, other, *extra))

    return operator


def _reflected(op: Op, extra: tuple) -> Callable:
    def operator(self: Tensor, other: Any) -> Any:
        if state.direct:
            found = op.short(other, self)
            if found is not None:
                return found
        if isinstance(other, numpy.generic):
            return operator(self, other.item())
        if not _operand(other):
            return NotImplemented
        if self.dtype in (dtypes.float16, dtypes.bfloat16) and op.name in _TURNED:
            return _TURNED[op.name](self, other)
        return call(op, (other, self, *extra))

    return operator


# What `number * x` and `number / x` are in torch: where 16 bits are rounded, it shows.
_TURNED: dict[str, Callable] = {
    "mul": lambda x, number: call(lookup("mul"), (x, number)),
    "true_divide": lambda x, number: _TURNED["mul"](call(lookup("reciprocal"), (x,)), number),
}


def _unary(op: Op) -> Callable:
    def operator(self: Tensor) -> Any:
        if state.direct:
            found = op.short(self)
            if found is not None:
                return found
        return call(op, (self,))

    return operator


def _numbered(function: Callable) -> Callable:
    def operator(self: Tensor) -> Any:
        """The one element as a Python number; ArgumentValueError where there are others."""
        if self.numel() != 1:
            raise ArgumentValueError(
                f"{function.__name__}() of a tensor of shape {list(self.shape)}",
                "only one element tensors can be converted to Python scalars",
                "index one element, or reduce it first",
            )
        value = methods.item(self)
        if isinstance(value, complex) and function is not complex:
            raise OperationError(
                f"{function.__name__}() of a complex tensor",
                f"value cannot be converted to type {function.__name__} without overflow",
                "use x.real",
            )
        return function(value)

    return operator


def _inverted(self: Tensor) -> Any:
    if self.dtype.category > dtypes.INTEGER:
        raise ArgumentTypeError(
            f"~ of a tensor of dtype {self.dtype}",
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
        )
    return call(lookup("bitwise_not"), (self,))


def _matrix_product(self: Tensor, other: Any) -> Any:
    return call(lookup("matmul"), (self, other)) if isinstance(other, Tensor) else NotImplemented


def _reflected_product(self: Tensor, other: Any) -> Any:
    return call(lookup("matmul"), (other, self)) if isinstance(other, Tensor) else NotImplemented


def _cast(dtype: dtypes.dtype) -> Callable:
    def method(self: Tensor, *, memory_format: Any = None) -> Tensor:
        found = methods.to(self, dtype)
        return found if memory_format is None else ordering.ordered(found, memory_format)

    method.__doc__ = f"The tensor in {dtype}."
    return method


def _attach(name: str, value: Any, doc: str = "") -> None:
    if doc:
        value.__doc__ = doc
    if callable(value):
        value.__name__ = name
        value.__qualname__ = f"Tensor.{name}"
    setattr(Tensor, name, value)


def _bind_operators() -> None:
    for symbol, (name, *extra) in _BINARY.items():
        op = lookup(name)
        _attach(f"__{symbol}__", _binary(op, tuple(extra)), op.doc)
        _attach(f"__r{symbol}__", _reflected(op, tuple(extra)), op.doc)
        _attach(f"__i{symbol}__", _binary(lookup(name + "_"), tuple(extra)), op.doc)
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        _attach(f"__{name}__", _binary(lookup(name), (), True), lookup(name).doc)
    for symbol in ("neg", "abs"):
        _attach(f"__{symbol}__", _unary(lookup(symbol)), lookup(symbol).doc)
    _attach("__invert__", _inverted, lookup("bitwise_not").doc)
    _attach("__matmul__", _matrix_product, lookup("matmul").doc)
    _attach("__rmatmul__", _reflected_product, lookup("matmul").doc)
    _attach("__reversed__", methods.reversed_, "The elements of all dimensions in reverse order.")
    # numpy's own operators step back: `numpy.float64(2) * x` is a tensor.
    Tensor.__array_priority__ = 1000  # type: ignore[attr-defined]
    Tensor.__hash__ = object.__hash__  # type: ignore[method-assign]
    for symbol, convert in (("int", int), ("float", float), ("complex", complex)):
        _attach(f"__{symbol}__", _numbered(convert), f"The only element as {symbol}.")


_METHODS: dict[str, Any] = {
    "__getitem__": get_item,
    "__setitem__": set_item,
    "__len__": methods.length,
    "__bool__": methods.truth,
    "__index__": methods.index_number,
    "__iter__": methods.iterate,
    "__repr__": methods.text,
    "__format__": methods.formatted,
    "__deepcopy__": tensor_copies.deep_copy,
    "__reduce_ex__": lambda self, protocol: tensor_copies.reduced(self),
    "__array__": methods.array_protocol,
    "item": methods.item,
    "new": methods.new,
    "__array_wrap__": methods.array_wrap,
    "tolist": methods.tolist,
    "numpy": methods.to_numpy,
    "to": methods.to,
    "type": methods.type_,
    "size": methods.size,
    "stride": methods.stride,
    "numel": methods.numel,
    "nelement": methods.numel,
    "is_contiguous": methods.is_contiguous,
    "backward": methods.backward,
    "requires_grad_": methods.requires_grad_,
    "detach_": methods.detach_,
    "register_hook": methods.register_hook,
    "retain_grad": methods.retain_grad,
    "register_post_accumulate_grad_hook": methods.register_post_accumulate_grad_hook,
    "element_size": methods.element_size,
    "data_ptr": methods.data_ptr,
    "storage_offset": methods.storage_offset,
    "max": methods.extremum_method("amax", "max_dim", "maximum"),
    "min": methods.extremum_method("amin", "min_dim", "minimum"),
    "dim": lambda self: self.ndim,
    "ndimension": lambda self: self.ndim,
    "cpu": lambda self: self,
    "is_nonzero": methods.is_nonzero,
    "is_floating_point": lambda self: self.dtype.is_floating_point,
    "is_complex": lambda self: self.dtype.is_complex,
    "is_conj": lambda self: False,
    "is_neg": lambda self: False,
    "type_as": lambda self, other: methods.to(self, other.dtype),
    "zero_": lambda self: derived_methods.fill_(self, 0),
    "uniform_": fills.uniform_,
    "normal_": fills.normal_,
    "exponential_": fills.exponential_,
    "bernoulli_": fills.bernoulli_,
    "random_": fills.random_,
    "cauchy_": fills.cauchy_,
    "geometric_": fills.geometric_,
    "log_normal_": fills.log_normal_,
}


def _bind_methods() -> None:
    for name, value in _METHODS.items():
        _attach(name, value, value.__doc__ or f"{name} of the tensor, as torch's.")
    for kind in (in_place_views, derived_methods, memory_methods, ordering, overloads):
        for name, value in kind.METHODS.items():
            _attach(name, value)
    for name in ("zeros", "ones", "empty", "full"):
        _attach(f"new_{name}", methods.new_tensor_method(name))
    for dtype, names in (
        (dtypes.float32, ("float",)),
        (dtypes.float64, ("double",)),
        (dtypes.float16, ("half",)),
        (dtypes.complex64, ("cfloat",)),
        (dtypes.complex128, ("cdouble",)),
        (dtypes.bfloat16, ("bfloat16",)),
        (dtypes.int64, ("long",)),
        (dtypes.int32, ("int",)),
        (dtypes.int16, ("short",)),
        (dtypes.int8, ("char",)),
        (dtypes.uint8, ("byte",)),
        (dtypes.bool, ("bool",)),
    ):
        for name in names:
            _attach(name, _cast(dtype))
    for name, getter in (
        ("T", methods.permute_property),
        ("mT", methods.matrix_transpose),
        ("H", methods.matrix_hermitian),
        ("mH", methods.hermitian),
        ("is_cuda", lambda self: self.device.type == "cuda"),
        ("is_xpu", lambda self: False),
        ("is_sparse", lambda self: False),
        ("is_sparse_csr", lambda self: False),
        ("is_meta", lambda self: self.device.type == "meta"),
        ("itemsize", methods.element_size),
        ("nbytes", lambda self: self.numel() * self.itemsize),
    ):
        setattr(Tensor, name, property(getter))
    for name, getter in derived_methods.PROPERTIES.items():
        setattr(Tensor, name, property(getter))
    for name in ("real", "imag"):
        setattr(Tensor, name, property(*methods.part_of(name)))


def _named(function: Callable, kind: Any) -> Callable:
    """The function of a row with several results, which gives them their names."""

    @functools.wraps(function)
    def named(*args: Any, **kwargs: Any) -> Any:
        return kind(function(*args, **kwargs))

    return named


def bind() -> None:
    """Derive in-place rows and attach everything; called once, when the package is imported."""
    inplace.derive_all()
    check = Tensor, admit_argument
    for op in all_ops():
        short_if = state if short_ways.install(op) else None
        write_out = outputs.write_out if outputs.takes_out(op) else None
        name = "input" if op.function or op.torch.startswith("torch.special.") else None
        op.public = make_function(op, call, name, short_if, write_out, check)
        method = make_function(op, call, None, short_if, None, check) if op.method else None
        kind = return_types.TYPES.get(op.name)
        if op.function:
            functions[op.name] = op.public if kind is None else _named(op.public, kind)
        if method is not None:
            setattr(Tensor, op.name, method if kind is None else _named(method, kind))
    code_cache.functions.save()
    for alias, name in ALIASES.items():
        for suffix in ("", "_"):
            if name + suffix in functions:
                functions[alias + suffix] = functions[name + suffix]
            if hasattr(Tensor, name + suffix):
                setattr(Tensor, alias + suffix, getattr(Tensor, name + suffix))
    functions.update(overloads.FUNCTIONS)
    _bind_operators()
    _bind_methods()
    functions.update(view_copies.functions())
    functions["segment_reduce"] = functions["_segment_reduce"] = segments.segment_reduce
    functions.update(
        {name: getattr(Tensor, name) for name in IN_PLACE_FUNCTIONS if hasattr(Tensor, name)}
    )
