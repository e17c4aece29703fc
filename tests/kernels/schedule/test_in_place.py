"""Results in the memory of operands: which are, why others are not, and that all are equal."""

import numpy
import pytest

import minitorch2 as torch
from minitorch2.artifacts import subscribe
from minitorch2.dtypes import FLOATING, float32
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.codegen.source import generate_source
from minitorch2.kernels.functions import FUNCTIONS, RARE, SECOND, result_dtype
from minitorch2.kernels.index import constant, symbol
from minitorch2.kernels.loop_ir import Buffer, Call, Kernel, Let, Load, Loop, Name, Store
from minitorch2.kernels.parser import parse_kernel
from minitorch2.kernels.runtime.translate import WHOLE, translate
from minitorch2.kernels.schedule.in_place import LATER, TWICE, hindrance
from minitorch2.kernels.schedule.plan import KernelStep
from minitorch2.kernels.verify import verify_kernel

HEAD = "graph f(%x: f32[64,32], %w: f32[32,32]) {\n  %0: f32[64,32] = matmul(%x, %w)\n"


def kernel_steps(compiled):
    return [step for step in compiled.plan.steps if isinstance(step, KernelStep)]


def told(body, executor="loops", head=HEAD, **options):
    """The results of a graph, what the interpreter gives, and what was said about memory."""
    graph = parse_graph(head + body + "\n}")
    events = []
    with subscribe(events.append):
        compiled = compile_graph(graph, KernelOptions(executor=executor, **options))
    for step in kernel_steps(compiled):
        verify_kernel(step.kernel)
    random = numpy.random.default_rng(0)
    arrays = [random.standard_normal(given.value.type.shape) for given in graph.inputs]
    kinds = [given.value.type.dtype.numpy for given in graph.inputs]
    inputs = [torch.tensor(a.astype(k)) for a, k in zip(arrays, kinds, strict=True)]
    before = [each.clone() for each in inputs]
    expected = interpret(graph, [each.clone() for each in inputs])
    found = compiled(inputs)
    assert all(torch.equal(a, b) for a, b in zip(inputs, before, strict=True))
    said = [text for e in events if e.stage == "loops.fused" for text in e.facts["taken"]]
    return found, expected, said, compiled


def close(found, expected):
    for a, b in zip(found, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)


TAKEN = {
    "pointwise": ("  %1: f32[64,32] = relu(%0)\n  return %1: strides(32,1)",
                  ["%1 takes the memory of %0"]),
    "a row, read whole before it is written": (
        "  %1: f32[64,1] = amax(%0, (1,), True)\n  %2: f32[64,32] = sub(%0, %1)\n"
        "  %3: f32[64,32] = exp(%2)\n  %4: f32[64,1] = sum(%3, (1,), True)\n"
        "  %5: f32[64,32] = true_divide(%3, %4)\n  return %5: strides(32,1)",
        ["%5 takes the memory of %0"]),
    "read twice at one place": (
        "  %1: f32[64,32] = mul(%0, %0)\n  return %1: strides(32,1)",
        ["%1 takes the memory of %0"]),
    "one of two results": (
        "  %1: f32[64,32] = relu(%0)\n  %2: f32[64,32] = exp(%0)\n"
        "  return %1: strides(32,1), %2: strides(32,1)", ["%2 takes the memory of %0"]),
    "one after the other": (
        "  %1: f32[64,32] = relu(%0)\n  %2: f32[64,32] = matmul(%1, %w)\n"
        "  %3: f32[64,32] = add(%2, %1)\n  return %3: strides(32,1)",
        ["%1 takes the memory of %0", "%3 takes the memory of %2"]),
}  # fmt: skip


@pytest.mark.parametrize("case", TAKEN)
@pytest.mark.parametrize("executor", ["python", pytest.param("numba", marks=pytest.mark.numba)])
def test_results_take_the_memory_of_operands_that_die(case, executor):
    body, notes = TAKEN[case]
    found, expected, said, compiled = told(body, executor)
    assert sorted(said) == sorted(notes)
    close(found, expected)
    apart, _, nothing, _ = told(body, executor, reinplace=False)
    assert not nothing
    assert all(torch.equal(a, b) for a, b in zip(found, apart, strict=True))  # the same bits


APART = {
    "read at other places": (
        "  %1: f32[64,32] = flip(%0, (0,))\n  %2: f32[64,32] = add(%0, %1)\n"
        "  return %2: strides(32,1)", [f"%2 does not take the memory of %0: {LATER}"]),
    "read again later": (
        "  %1: f32[64,32] = relu(%0)\n  %2: f32[64,32] = matmul(%1, %w)\n"
        "  %3: f32[64,32] = matmul(%0, %w)\n  return %2: strides(32,1), %3: strides(32,1)", []),
    "returned": ("  %1: f32[64,32] = relu(%0)\n  return %0: strides(32,1), %1: strides(32,1)", []),
    "an input": ("  %1: f32[64,32] = relu(%x)\n  return %1: strides(32,1)", []),
    "of another dtype": (
        "  %1: i32[64,32] = convert(%0, i32)\n  return %1: strides(32,1)", []),
    "a rare case": (
        "  %1: f32[64,32] = sin(%0)\n  return %1: strides(32,1)",
        [f"%1 does not take the memory of %0: {TWICE}"]),
    "in another order": (
        "  %1: f32[64,32] = relu(%0)\n  return %1: strides(1,64)", []),
}  # fmt: skip


@pytest.mark.parametrize("case", APART)
@pytest.mark.parametrize("executor", ["python", pytest.param("numba", marks=pytest.mark.numba)])
def test_others_have_memory_of_their_own(case, executor):
    body, notes = APART[case]
    found, expected, said, compiled = told(body, executor)
    assert said == notes
    assert not any(step.takes for step in kernel_steps(compiled))
    close(found, expected)


ORDERS = {
    # behind the loop that stores, another one reads what the operand was
    """kernel k(t0: f32[64] in, t1: f32[64] out, t2: f32[8] out) {
      for i in 8 parallel {
        for j in 8 {
          v0: f32 = t0[8*i + j]
          t1[8*i + j] = v0
        }
        reduce l in 8 {
          v1: f32 = t0[8*i + l]
        } into r0: f32 = sum(v1)
        t2[i] = r0
      }
    }""": LATER,
    """kernel k(t0: f32[64] in, t1: f32[64] out, t2: f32[8] out) {
      for i in 8 parallel {
        reduce l in 8 {
          v1: f32 = t0[8*i + l]
        } into r0: f32 = sum(v1)
        t2[i] = r0
        for j in 8 {
          v0: f32 = t0[8*i + j]
          t1[8*i + j] = v0
        }
      }
    }""": "",
    # every turn reads the first element of the row, which the first turn writes
    """kernel k(t0: f32[64] in, t1: f32[64] out) {
      for i in 8 parallel {
        for j in 8 {
          v0: f32 = t0[8*i]
          v1: f32 = t0[8*i + j]
          v2: f32 = add(v0, v1)
          t1[8*i + j] = v2
        }
      }
    }""": LATER,
    """kernel k(t0: f32[64] in, t1: f32[64] out) {
      for i in 64 parallel {
        t1[i] = f32(1.0)
        v0: f32 = t0[i]
        t1[i] = v0
      }
    }""": LATER,
}


@pytest.mark.parametrize("text", ORDERS)
def test_an_operand_is_read_before_its_element_is_written(text):
    kernel = parse_kernel(text)
    assert hindrance(kernel, kernel.buffers[0], kernel.buffers[1]) == ORDERS[text]


OF_FLOATS = [name for name, (_, rule, kinds) in FUNCTIONS.items()
             if FLOATING in kinds and rule != SECOND]  # fmt: skip


def one_call(function):
    """A kernel that calls one function of floats."""
    count = FUNCTIONS[function][0]
    args = tuple(Load(f"t{at}", symbol("i"), float32) for at in range(count))
    value = Call(function, args, result_dtype(function, [float32] * count))
    size = constant(64)
    buffers = [Buffer(f"t{at}", float32, size, "in") for at in range(count)]
    out = Buffer(f"t{count}", value.dtype, size, "out")
    body = (Let("v", value), Store(out.name, symbol("i"), Name("v", value.dtype)))
    return Kernel("k", (*buffers, out), (), (), (Loop("i", size, body, True),))


@pytest.mark.parametrize("function", OF_FLOATS)
def test_the_rare_functions_are_those_that_do_a_part_twice(function):
    source = generate_source(one_call(function))
    module, _ = translate(source.text, source.signature)
    names = [each.name for each in module.functions]
    assert (WHOLE in names) == (function in RARE)
