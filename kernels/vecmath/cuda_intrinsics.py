"""The helpers as numba-cuda intrinsics, and those that only a GPU has: threads, folds, vectors.

In: names that a kernel's source uses. Out: the namespace in which numba-cuda compiles it. The
scalar helpers are the same straight-line texts as on the CPU; Numba never sees their bodies.

    thread_index() lane_index() block_index() warp_index() grid_index()   this thread's numbers, u64
    block_count() warp_count() grid_size()      how many blocks, warps, threads the grid has
    load_4(pointer, i), store_4(pointer, i, a, b, c, d)     neighbours in one access (2, 4, 8, 16)
    warp_sum(x), block_sum_8(x), warp_argmax(best, at)      folds.py over a warp, over 8 warps
    takes_max(at, new_at, best, new)            whether argmax changes its mind
    block_barrier() warp_barrier()              all threads arrive before any goes on
    fail(status, code, index)                   the first failure of the launch is kept

Source: NVVM IR specification, https://docs.nvidia.com/cuda/nvvm-ir-spec/; PTX ISA, shfl.sync.
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.cuda import types
from numba.cuda.core.errors import TypingError
from numba.cuda.datamodel.cuda_models import PointerModel
from numba.cuda.extending import intrinsic, lower_builtin, register_model

from minitorch2.kernels.vecmath import scalars
from minitorch2.kernels.vecmath.folds import STEPS, WARP, Team, fold, takes
from minitorch2.kernels.vecmath.helpers import HELPERS, Helper
from minitorch2.kernels.vecmath.lanes import LLVM_TYPES, Lane

I32, I64 = ir.IntType(32), ir.IntType(64)
EVERYONE = ir.Constant(I32, 0xFFFFFFFF)
SHARED_SPACE, GLOBAL_SPACE = 3, 1
NUMBA_TYPES: dict[str, types.Type] = {
    "f32": types.float32,
    "f64": types.float64,
    "bool": types.boolean,
    **{f"i{width}": getattr(types, f"int{width}") for width in (8, 16, 32, 64)},
    **{f"u{width}": getattr(types, f"uint{width}") for width in (8, 16, 32, 64)},
}
SHORT = {numba_type: short for short, numba_type in NUMBA_TYPES.items()}
LIBRARY = ("fmod", "copysign", "rint", "fabs", "trunc")  # NVVM has them in libdevice only
Write = Callable[[ir.IRBuilder, list[Lane]], list[Lane]]


class CudaLane(Lane):
    """A value on a GPU: what NVVM has under another name."""

    __slots__ = ()

    def new(self, value: ir.Value, short: str | None = None) -> "CudaLane":
        return CudaLane(self.builder, value, short or self.type)

    def __neg__(self) -> "Lane":
        if self.type not in ("f32", "f64"):
            return super().__neg__()
        return -0.0 - self  # NVVM's dialect has no fneg

    def call(self, name: str, *others: Any) -> "Lane":
        if name not in LIBRARY:
            return super().call(name, *others)
        own, suffix = LLVM_TYPES[self.type], "f" if self.type == "f32" else ""
        values = [self.value, *(self.like(other).value for other in others)]
        kind = ir.FunctionType(own, [own] * len(values))
        function = _declared(self.builder, f"__nv_{name}{suffix}", kind)
        return self.new(self.builder.call(function, values))


def _declared(builder: ir.IRBuilder, name: str, kind: ir.FunctionType) -> ir.Function:
    found = builder.module.globals.get(name)
    return found if found is not None else ir.Function(builder.module, kind, name)


def _special(builder: ir.IRBuilder, name: str) -> ir.Value:
    """A special register."""
    function = _declared(builder, f"llvm.nvvm.read.ptx.sreg.{name}", ir.FunctionType(I32, ()))
    return builder.call(function, ())


def _barrier(builder: ir.IRBuilder) -> None:
    builder.call(_declared(builder, "llvm.nvvm.barrier0", ir.FunctionType(ir.VoidType(), ())), ())


class CudaTeam(Team):
    """The threads of a block at run time; values are CudaLanes."""

    def __init__(self, builder: ir.IRBuilder):
        self.builder = builder

    def shuffle(self, value: CudaLane, distance: int) -> CudaLane:
        """The value of the thread of this warp whose number differs by the bits of `distance`."""
        own = LLVM_TYPES[value.type]
        if value.type in ("f32", "f64"):
            whole = "i32" if value.type == "f32" else "i64"
            return self.shuffle(value.bitcast(whole), distance).bitcast(value.type)  # type: ignore
        if own.width < 32:
            wide = self.builder.zext(value.value, I32)
            return value.new(self.builder.trunc(self._shuffled(wide, distance), own))
        if own.width == 32:
            return value.new(self._shuffled(value.value, distance))
        low = self.builder.trunc(value.value, I32)
        high = self.builder.trunc(self.builder.lshr(value.value, I64(32)), I32)
        low, high = (self.builder.zext(self._shuffled(half, distance), I64) for half in (low, high))
        return value.new(self.builder.or_(low, self.builder.shl(high, I64(32))))

    def _shuffled(self, word: ir.Value, distance: int) -> ir.Value:
        kind = ir.FunctionType(I32, [I32] * 4)
        function = _declared(self.builder, "llvm.nvvm.shfl.sync.bfly.i32", kind)
        return self.builder.call(function, [EVERYONE, word, I32(distance), I32(WARP - 1)])

    def exchange(self, value: CudaLane, warps: int) -> CudaLane:
        """Every warp puts its value into shared memory; a thread gets that of warp (its number
        modulo `warps`, a power of two). Every thread of the block must come here.
        """
        builder, own = self.builder, LLVM_TYPES[value.type]
        stored = ir.IntType(8) if value.type == "bool" else own
        array = _shared(builder, stored, f"between_warps_{value.type}", WARP)
        thread = _special(builder, "tid.x")
        _barrier(builder)
        put = builder.gep(array, [I32(0), builder.lshr(thread, I32(5))])
        builder.store(builder.zext(value.value, stored) if stored is not own else value.value, put)
        _barrier(builder)
        got = builder.load(builder.gep(array, [I32(0), builder.and_(thread, I32(warps - 1))]))
        return value.new(builder.trunc(got, own) if stored is not own else got)


def _shared(builder: ir.IRBuilder, element: ir.Type, name: str, count: int) -> ir.Value:
    """An array in shared memory; the same one for every fold of a type."""
    found = builder.module.globals.get(name)
    if found is None:
        kind = ir.ArrayType(element, count)
        found = ir.GlobalVariable(builder.module, kind, name, SHARED_SPACE)
        found.linkage, found.initializer = "internal", ir.Constant(kind, ir.Undefined)
        found.align = 8
    return found


# Making intrinsics


def _short(kind: Any) -> str:
    short = SHORT.get(types.unliteral(kind))
    if short is None:
        raise TypingError(f"a helper takes plain numbers, not {kind}")
    return short


def _scalar(arity: int, result: Callable[[tuple[str, ...]], tuple[str, ...]], body: Write) -> Any:
    """An intrinsic over plain numbers: types by `result`, instructions by `body`."""

    def typed(typing_context: Any, *arguments: Any) -> Any:
        """A call's signature and what writes it, for Numba; TypingError for other types."""
        shorts = tuple(map(_short, arguments))
        try:
            found = [NUMBA_TYPES[short] for short in result(shorts)]
        except TypeError as problem:
            raise TypingError(str(problem)) from None
        kind = found[0] if len(found) == 1 else types.Tuple(found) if found else types.void

        def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> Any:
            pairs = zip(values, shorts, strict=True)
            made = body(builder, [CudaLane(builder, value, short) for value, short in pairs])
            if not made:
                return context.get_dummy_value()
            if len(made) == 1:
                return made[0].value
            return context.make_tuple(builder, sig.return_type, [each.value for each in made])

        return kind(*(NUMBA_TYPES[short] for short in shorts)), write

    return intrinsic(_with_arity(typed, arity))


def _with_arity(function: Callable[..., Any], arity: int) -> Callable[..., Any]:
    """The function with that many named parameters, which Numba reads from its signature."""
    names = ", ".join(["typing_context", *(f"a{number}" for number in range(arity))])
    return eval(f"lambda {names}: function({names})", {"function": function})


def _helper(record: Helper) -> Any:
    def body(builder: ir.IRBuilder, lanes: list[Lane]) -> list[Lane]:
        return [record.body(*lanes)]

    return _scalar(record.arity, lambda shorts: (record.result_type(shorts),), body)


def _number(formula: Callable[[Callable[[str], Lane]], Lane]) -> Any:
    """A number of this thread, from special registers, as u64."""

    def body(builder: ir.IRBuilder, lanes: list[Lane]) -> list[Lane]:
        return [formula(lambda name: CudaLane(builder, _special(builder, name), "u32")).cast("u64")]

    return _scalar(0, lambda shorts: ("u64",), body)


def _fold(reducer: str, warps: int) -> Any:
    def body(builder: ir.IRBuilder, lanes: list[Lane]) -> list[Lane]:
        return list(fold(CudaTeam(builder), reducer, tuple(lanes), warps))

    return _scalar(2 if reducer.startswith("arg") else 1, lambda shorts: shorts, body)


def _takes(largest: bool) -> Any:
    def body(builder: ir.IRBuilder, lanes: list[Lane]) -> list[Lane]:
        old_at, at, old, new = lanes
        return [takes(largest, (old, old_at), (new, at))]

    return _scalar(4, lambda shorts: ("bool",), body)


def _wait(name: str, *values: ir.Value) -> Any:
    def body(builder: ir.IRBuilder, lanes: list[Lane]) -> list[Lane]:
        kind = ir.FunctionType(ir.VoidType(), [value.type for value in values])
        builder.call(_declared(builder, name, kind), values)
        return []

    return _scalar(0, lambda shorts: (), body)


# Memory


class Pointer(types.CPointer):
    """A buffer: a pointer whose bools are bytes in memory and bits in registers."""


register_model(Pointer)(PointerModel)


@lower_builtin(operator.getitem, Pointer, types.Integer)
def _get(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> ir.Value:
    data = builder.load(builder.gep(values[0], [values[1]]))
    return context.data_model_manager[sig.return_type].from_data(builder, data)


@lower_builtin(operator.setitem, Pointer, types.Integer, types.Any)
def _set(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> None:
    data = context.data_model_manager[sig.args[0].dtype].as_data(builder, values[2])
    builder.store(data, builder.gep(values[0], [values[1]]))


@dataclass(frozen=True, slots=True)
class Vector:
    """How a vector travels: `count` words of a type, each with `share` elements of `bits` bits.

    Elements of fewer than 32 bits share words, since PTX has vectors of at most four.
    """

    word: ir.Type
    count: int
    share: int
    bits: int

    @classmethod
    def of(cls, context: Any, element: Any, width: int) -> "Vector":
        """The vector of `width` elements of a Numba type."""
        data = context.get_data_type(element)
        bits = 8 * context.get_abi_sizeof(data)
        if bits < 32 <= bits * width:
            return cls(I32, bits * width // 32, 32 // bits, bits)
        return cls(data, width, 1, bits)

    def place(self, builder: ir.IRBuilder, values: Any) -> tuple[ir.Value, int]:
        """Its address in global memory, and the alignment."""
        kind = ir.VectorType(self.word, self.count) if self.count > 1 else self.word
        first = builder.bitcast(builder.gep(values[0], [values[1]]), kind.as_pointer())
        size = self.count * self.share * self.bits // 8
        return builder.addrspacecast(first, kind.as_pointer(GLOBAL_SPACE)), min(size, 16)

    def apart(self, builder: ir.IRBuilder, loaded: ir.Value) -> list[ir.Value]:
        """Its elements."""
        words = [loaded]
        if self.count > 1:
            words = [builder.extract_element(loaded, I32(at)) for at in range(self.count)]
        if self.share == 1:
            return words
        small = ir.IntType(self.bits)
        return [
            builder.trunc(builder.lshr(word, I32(self.bits * part)), small)
            for word in words
            for part in range(self.share)
        ]

    def together(self, builder: ir.IRBuilder, parts: list[ir.Value]) -> ir.Value:
        """The vector of these elements."""
        words = parts
        if self.share > 1:
            words = []
            for first in range(0, len(parts), self.share):
                word: ir.Value = I32(0)
                for at, part in enumerate(parts[first : first + self.share]):
                    moved = builder.shl(builder.zext(part, I32), I32(self.bits * at))
                    word = builder.or_(word, moved)
                words.append(word)
        if self.count == 1:
            return words[0]
        vector: ir.Value = ir.Constant(ir.VectorType(self.word, self.count), ir.Undefined)
        for at, word in enumerate(words):
            vector = builder.insert_element(vector, word, I32(at))
        return vector


def _load(width: int) -> Any:
    def load(typing_context: Any, pointer: Any, index: Any) -> Any:
        def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> Any:
            vector = Vector.of(context, pointer.dtype, width)
            place, align = vector.place(builder, values)
            parts = vector.apart(builder, builder.load(place, align=align))
            model = context.data_model_manager[pointer.dtype]
            numbers = [model.from_data(builder, part) for part in parts]
            return context.make_tuple(builder, sig.return_type, numbers)

        return types.UniTuple(pointer.dtype, width)(pointer, types.uint64), write

    return intrinsic(load)


def _store(width: int) -> Any:
    def store(typing_context: Any, pointer: Any, index: Any, *numbers: Any) -> Any:
        def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> Any:
            vector = Vector.of(context, pointer.dtype, width)
            place, align = vector.place(builder, values)
            model = context.data_model_manager[pointer.dtype]
            parts = [model.as_data(builder, value) for value in values[2:]]
            builder.store(vector.together(builder, parts), place, align=align)
            return context.get_dummy_value()

        return types.void(pointer, types.uint64, *([pointer.dtype] * width)), write

    return intrinsic(_with_arity(store, width + 2))


def _fail() -> Any:
    def fail(typing_context: Any, status: Any, code: Any, index: Any) -> Any:
        def write(context: Any, builder: ir.IRBuilder, sig: Any, values: Any) -> Any:
            slot, code_value, index_value = values
            swap = builder.cmpxchg(slot, I64(0), code_value, "monotonic", "monotonic")
            with builder.if_then(builder.extract_value(swap, 1)):
                builder.store(index_value, builder.gep(slot, [I32(1)]))
            return context.get_dummy_value()

        return types.void(status, types.int64, types.int64), write

    return intrinsic(fail)


def _made() -> dict[str, Any]:
    """All helpers that only a GPU has, but for folds over blocks."""
    found: dict[str, Any] = {
        "thread_index": _number(lambda r: r("tid.x")),
        "lane_index": _number(lambda r: r("tid.x") & (WARP - 1)),
        "block_index": _number(lambda r: r("ctaid.x")),
        "block_count": _number(lambda r: r("nctaid.x")),
        "warp_index": _number(lambda r: r("ctaid.x") * (r("ntid.x") >> 5) + (r("tid.x") >> 5)),
        "warp_count": _number(lambda r: r("nctaid.x") * (r("ntid.x") >> 5)),
        "grid_index": _number(
            lambda r: r("ctaid.x").cast("u64") * r("ntid.x").cast("u64") + r("tid.x").cast("u64")
        ),
        "grid_size": _number(lambda r: r("nctaid.x").cast("u64") * r("ntid.x").cast("u64")),
        "takes_max": _takes(True),
        "takes_min": _takes(False),
        "block_barrier": _wait("llvm.nvvm.barrier0"),
        "warp_barrier": _wait("llvm.nvvm.bar.warp.sync", EVERYONE),
        "fail": _fail(),
    }
    for width in (2, 4, 8, 16):
        found |= {f"load_{width}": _load(width), f"store_{width}": _store(width)}
    return found | {f"warp_{reducer}": _fold(reducer, 0) for reducer in STEPS}


CACHE: dict[str, Any] = _made()
BLOCK_FOLD = re.compile(r"block_([a-z]+)_(\d+)")


def cuda_intrinsics(names: Iterable[str]) -> dict[str, Any]:
    """The namespace for compiling a kernel that uses these names; unknown names are left out."""
    wanted = list(names)
    for name in wanted:
        block_fold = BLOCK_FOLD.fullmatch(name)
        if name in CACHE:
            continue
        if block_fold:
            CACHE[name] = _fold(block_fold[1], int(block_fold[2]))
        elif name in HELPERS and name in scalars.__all__:
            CACHE[name] = _helper(HELPERS[name])
    return {name: CACHE[name] for name in wanted if name in CACHE}
