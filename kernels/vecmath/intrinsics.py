"""The helpers as Numba intrinsics: what a kernel's names mean while Numba compiles it.

In: a helper's record. Out: an object that Numba types by the record and that writes the helper's
LLVM instructions where it is called. Numba never sees a helper's body, so a call costs it less
than a millisecond. This is the only file of vecmath that imports Numba.

Example: `intrinsics(["exp", "f32"])` is `{"exp": <intrinsic>, "f32": <intrinsic>}`.
"""

from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

from minitorch2.kernels.vecmath import scalars
from minitorch2.kernels.vecmath.helpers import HELPERS, Helper
from minitorch2.kernels.vecmath.lanes import LLVM_TYPES, Lane

NUMBA_TYPES: dict[str, types.Type] = {
    "f32": types.float32,
    "f64": types.float64,
    "bool": types.boolean,
    **{f"i{width}": getattr(types, f"int{width}") for width in (8, 16, 32, 64)},
    **{f"u{width}": getattr(types, f"uint{width}") for width in (8, 16, 32, 64)},
}
SHORT = {numba_type: short for short, numba_type in NUMBA_TYPES.items()}
LOCAL_PREFIX = "local_"


def _short(kind: types.Type, name: str) -> str:
    short = SHORT.get(types.unliteral(kind))
    if short is None:
        raise TypingError(f"{name} takes plain numbers, not {kind}")
    return short


def _typed(record: Helper, *arguments: types.Type) -> tuple[Any, Callable[..., Any]]:
    shorts = tuple(_short(argument, record.name) for argument in arguments)
    try:
        result = NUMBA_TYPES[record.result_type(shorts)]
    except TypeError as problem:
        raise TypingError(str(problem)) from None

    def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> ir.Value:
        lanes = [Lane(builder, value, short) for value, short in zip(values, shorts, strict=True)]
        return record.body(*lanes).value

    return result(*(NUMBA_TYPES[short] for short in shorts)), write


def _intrinsic(record: Helper) -> Any:
    """An intrinsic with the right number of parameters (Numba reads them from the signature)."""
    if record.arity == 1:

        def one(typing_context: Any, a: Any) -> Any:
            return _typed(record, a)

        return intrinsic(one)
    if record.arity == 2:

        def two(typing_context: Any, a: Any, b: Any) -> Any:
            return _typed(record, a, b)

        return intrinsic(two)

    def three(typing_context: Any, a: Any, b: Any, c: Any) -> Any:
        return _typed(record, a, b, c)

    return intrinsic(three)


def _local_array(short: str) -> Any:
    """`local_f32(n)`: an uninitialised array of n elements on the stack."""
    element = NUMBA_TYPES[short]

    def local(typing_context: Any, n: Any) -> Any:
        if not isinstance(n, types.IntegerLiteral):
            raise TypingError(f"{LOCAL_PREFIX}{short} takes a literal length")
        length = n.literal_value

        def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> ir.Value:
            data_type = context.get_data_type(element)
            with builder.goto_entry_block():
                space = builder.alloca(ir.ArrayType(data_type, length))
                space.align = 64
            return array_value(context, builder, sig.return_type, space, length)

        return types.Array(element, 1, "C")(n), write

    return intrinsic(prefer_literal=True)(local)


def array_value(
    context: Any, builder: ir.IRBuilder, kind: types.Array, address: ir.Value, length: int
) -> ir.Value:
    """A Numba array of `length` elements at an address that it does not own."""
    data_type = context.get_data_type(kind.dtype)
    item_size = context.get_abi_sizeof(data_type)
    array = context.make_array(kind)(context, builder)
    word = context.get_value_type(types.intp)
    array.data = builder.bitcast(address, data_type.as_pointer())
    array.itemsize = word(item_size)
    array.nitems = word(length)
    array.shape = ir.Constant(ir.ArrayType(word, 1), [length])
    array.strides = ir.Constant(ir.ArrayType(word, 1), [item_size])
    return array._getvalue()


_made: dict[str, Any] = {}


def intrinsics(names: Iterable[str]) -> dict[str, Any]:
    """The namespace for compiling a kernel that uses these names; unknown names are left out."""
    for name in names:
        if name in _made:
            continue
        if name in HELPERS and name in scalars.__all__:
            _made[name] = _intrinsic(HELPERS[name])
        elif name.removeprefix(LOCAL_PREFIX) in LLVM_TYPES and name.startswith(LOCAL_PREFIX):
            _made[name] = _local_array(name.removeprefix(LOCAL_PREFIX))
    return {name: _made[name] for name in names if name in _made}
