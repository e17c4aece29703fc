"""A copy by stores that pass the caches by, written into a kernel.

In: two addresses and a number of elements, none of which overlap. Out: instructions that copy them:
whole cache lines by non-temporal stores, what lies before the first line and after the last one by
plain ones. A fence at the end of the kernel's function orders them before what comes next.

Source: Intel's optimization manual on streaming stores; LLVM's `!nontemporal`.
"""

from llvmlite import ir

BYTE, WORD = ir.IntType(8), ir.IntType(64)
LINE = 64
VECTOR = ir.VectorType(ir.IntType(64), LINE // 8)
NAME = "streamed_copy"


def write_copy(builder: ir.IRBuilder, to: ir.Value, start: ir.Value, count: ir.Value) -> None:
    """Write a copy of `count` elements."""
    places = [builder.ptrtoint(each, WORD) for each in (to, start)]
    end = builder.ptrtoint(builder.gep(start, [count]), WORD)
    builder.call(_function(builder.module), [*places, builder.sub(end, places[1])])


def fence(builder: ir.IRBuilder) -> None:
    """Write the end of a kernel: what was streamed is there before what comes next."""
    if NAME in builder.module.globals:
        builder.fence("seq_cst")


def _function(module: ir.Module) -> ir.Function:
    """`streamed_copy(to, start, bytes)`, in the module once."""
    if NAME in module.globals:
        return module.globals[NAME]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD] * 3), NAME)
    function.linkage = "internal"
    for attribute in ("noinline", "nounwind"):
        function.attributes.add(attribute)
    to, start, size = function.args
    builder = ir.IRBuilder(function.append_basic_block())
    before = builder.and_(builder.neg(to), WORD(LINE - 1))
    before = builder.select(builder.icmp_unsigned("<", before, size), before, size)
    _plain(module, builder, to, start, before)
    to, start = builder.add(to, before), builder.add(start, before)
    rest = builder.sub(size, before)
    whole = builder.and_(rest, WORD(-LINE))
    _lines(builder, to, start, whole)
    _plain(module, builder, builder.add(to, whole), builder.add(start, whole),
           builder.sub(rest, whole))  # fmt: skip
    builder.ret_void()
    return function


def _plain(
    module: ir.Module, builder: ir.IRBuilder, to: ir.Value, start: ir.Value, size: ir.Value
) -> None:
    """Write a copy of less than a line."""
    kinds = [BYTE.as_pointer(), BYTE.as_pointer(), WORD]
    copy = module.declare_intrinsic("llvm.memcpy", kinds)
    places = [builder.inttoptr(each, BYTE.as_pointer()) for each in (to, start)]
    builder.call(copy, [*places, size, ir.IntType(1)(0)])


def _lines(builder: ir.IRBuilder, to: ir.Value, start: ir.Value, size: ir.Value) -> None:
    """Write a loop over whole lines; `to` is the beginning of one."""
    function, before = builder.function, builder.block
    body, after = function.append_basic_block(), function.append_basic_block()
    builder.cbranch(builder.icmp_unsigned("==", size, WORD(0)), after, body)
    builder.position_at_end(body)
    done = builder.phi(WORD)
    done.add_incoming(WORD(0), before)
    places = [builder.inttoptr(builder.add(each, done), VECTOR.as_pointer())
              for each in (to, start)]  # fmt: skip
    store = builder.store(builder.load(places[1], align=1), places[0], align=LINE)
    store.set_metadata("nontemporal", builder.module.add_metadata([ir.IntType(32)(1)]))
    following = builder.add(done, WORD(LINE))
    done.add_incoming(following, body)
    builder.cbranch(builder.icmp_unsigned("<", following, size), body, after)
    builder.position_at_end(after)
