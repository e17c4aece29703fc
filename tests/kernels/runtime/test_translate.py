"""The translator gives the bits of Numba and of the plain twin, and refuses the rest by line."""

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.kernels.backend import compile_graph
from minitorch2.kernels.runtime.compile import compile_kernel, plain_kernel
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature
from minitorch2.kernels.runtime.translate import KernelSourceError, translate
from minitorch2.kernels.vecmath.primitives import DTYPES
from minitorch2.kernels.vecmath.scalars import HELPERS, plain_names
from tests.kernels.graphs import random_graph, random_inputs
from tests.kernels.vecmath.test_scalars import CASES, NOT_ZERO, argument_types, values_of

pytestmark = pytest.mark.numba
INTEGERS = ("i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8")
FLOATS = ("f32", "f64")


def outputs(launch, total, arrays, sizes=(), scalars=()):
    """The bytes of every array after a launch on copies, and the failure if there was one."""
    copies = [array.copy() for array in arrays]
    failure = None
    try:
        launch(total, copies, sizes, scalars)
    except KernelFailure as caught:
        failure = (caught.code, caught.index)
    return [copy.tobytes() for copy in copies], failure


def check(source, signature, total, arrays, sizes=(), scalars=(), numba=True):
    """Translated, by Numba and as plain Python, a kernel does the same."""
    given = (total, arrays, sizes, scalars)
    found = outputs(compile_kernel(source, signature, "direct").launch, *given)
    assert found == outputs(plain_kernel(source), *given)
    if numba:
        assert found == outputs(compile_kernel(source, signature, "numba").launch, *given)


def loop(*lines):
    """A kernel over x, y, z with these lines in its loop."""
    body = "".join(f"        {line}\n" for line in lines)
    return f"def kernel(lo, hi, x, y, z, status):\n    for i in range(lo, hi):\n{body}"


def pairs(short):
    """All pairs of telling values of a type."""
    values = values_of(short)
    grids = np.meshgrid(values, values)
    return [grid.ravel().copy() for grid in grids]


STATEMENTS = {
    "a variable of a loop": """
def kernel(lo, hi, x, y, s0, status):
    for i in range(lo, hi):
        total = f32(0.0)
        count = i64(0)
        for j in range(s0):
            for k in range(u64(1), j):
                total = total + x[k]
                count = count + i64(1)
        y[i] = total * f32(count)
""",
    "both ways of an if": """
def kernel(lo, hi, x, y, s0, status):
    for i in range(lo, hi):
        v = x[i]
        if v > f32(0.0):
            if v > f32(1.0):
                v = f32(1.0)
            w = v + f32(2.0)
            v = w
        else:
            v = -v
        if i == u64(3):
            pass
        y[i] = v
""",
    "names are set anew": """
def kernel(lo, hi, x, y, s0, status):
    a = f32(1.5)
    a = a + a
    for i in range(lo, hi):
        v = x[i]
        v = v * a
        for j in range(s0):
            w = v + f32(j)
        for j in range(u64(2), s0):
            w = v - f32(j)
            y[i] = w
""",
    "a loop variable is set": """
def kernel(lo, hi, x, y, s0, status):
    for i in range(lo, hi):
        last = u64(0)
        for last in range(u64(2), s0):
            last = last + last
        for never in range(u64(7), u64(3)):
            last = never
        y[i] = f32(last)
""",
    "an early return": """
def kernel(lo, hi, x, y, s0, status):
    for i in range(lo, hi):
        for j in range(s0):
            if x[i] + f32(j) > f32(9.0):
                status[u64(0)] = i64(17)
                status[u64(1)] = i64(i)
                return
                y[i] = f32(1.0)
        y[i] = x[i]
""",
    "arrays on the stack": """
def kernel(lo, hi, x, y, s0, status):
    for i in range(lo, hi):
        lanes = local_f32(8)
        marks = local_bool(4)
        words = local_i16(3)
        for k in range(u64(8)):
            lanes[k] = f32(k)
        marks[u64(1)] = x[i] > f32(0.5)
        words[u64(2)] = i16(x[i])
        lanes = local_f32(2)
        lanes[u64(1)] = f32(words[u64(2)])
        y[i] = select(marks[u64(1)], lanes[u64(1)], x[i])
""",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements(name):
    x, y = np.linspace(-3, 3, 10).astype("f4"), np.zeros(10, "f4")
    x[7] = 8.5
    check(STATEMENTS[name], KernelSignature(("f32", "f32"), 1), 10, (x, y), (4,))


@pytest.mark.parametrize("short", DTYPES)
def test_comparisons_and_memory(short):
    x, y = pairs(short)
    for sign in ("<", "<=", ">", ">=", "==", "!="):
        source = loop(f"z[i] = x[i] {sign} y[i]")
        signature = KernelSignature((short, short, "bool"))
        # Numba compares bools as integers, by the same order
        check(source, signature, x.size, (x, y, np.zeros(x.size, bool)), numba=sign in "<==")


@pytest.mark.parametrize("short", DTYPES)
def test_arithmetic(short):
    x, y = pairs(short)
    signs = {"f": "+-*/", "b": "&|^"}.get(short[0], "+-*&|^")
    narrow = "{}" if short in (*FLOATS, "bool") else f"{short}({{}})"  # Numba widens
    for sign in signs:
        source = loop("z[i] = " + narrow.format(f"x[i] {sign} y[i]"))
        check(source, KernelSignature((short,) * 3), x.size, (x, y, np.zeros_like(x)))


@pytest.mark.parametrize("short", INTEGERS)
def test_division_and_shifts_of_integers(short):
    """By zero, by the smallest, beyond the width: the plain twin's results."""
    x, y = pairs(short)
    zeros, signature = np.zeros_like(x), KernelSignature((short,) * 3)
    for sign in ("//", "%"):
        check(loop(f"z[i] = x[i] {sign} y[i]"), signature, x.size, (x, y, zeros), numba=False)
        check(loop(f"z[i] = x[i] {sign} {short}(7)"), signature, x.size, (x, y, zeros), numba=False)
    y = abs(y)
    for sign in ("<<", ">>"):
        check(loop(f"z[i] = x[i] {sign} y[i]"), signature, x.size, (x, y, zeros), numba=False)
        line = f"z[i] = {short}(x[i] {sign} {short}(3))"
        check(loop(line), signature, x.size, (x, y, zeros))


@pytest.mark.parametrize("short", (*INTEGERS, *FLOATS))
def test_signs(short):
    x, y = pairs(short)
    lines = ["z[i] = -x[i]"] if short in FLOATS else [f"z[i] = {short}(-x[i])",
                                                     f"z[i] = {short}(~x[i])"]  # fmt: skip
    for line in lines:
        check(loop(line), KernelSignature((short,) * 3), x.size, (x, y, np.zeros_like(x)))


LITERALS = ("f32(0.1)", "f32(-1e400)", "f64(1e400)", "f64(3)", "f32_bits(i32(0x7FC00000))",
            "u8(300)", "i64(-9223372036854775808)", "u64(18446744073709551615)", "i32(2.75)",
            "b1(1)", "b1(0)", "i8(-1)", "0.1", "7", "True")  # fmt: skip


@pytest.mark.parametrize("literal", LITERALS)
def test_literals(literal):
    plain = np.asarray(eval(literal, plain_names()))
    short = {np.dtype(dtype): name for name, dtype in DTYPES.items()}[plain.dtype]
    source = (
        f"def kernel(lo, hi, x, status):\n    for i in range(lo, hi):\n        x[i] = {literal}\n"
    )
    check(source, KernelSignature((short,)), 3, (np.ones(3, plain.dtype),))


def test_every_kind_of_argument():
    source = """
def kernel(lo, hi, x, y, s0, s1, a, b, c, d, e, status):
    for i in range(lo, hi):
        v = x[i * s0 % s1] * a + f64(b) + f64(c)
        y[i] = select(d, v, f64(e))
"""
    signature = KernelSignature(("f64", "f64"), 2, ("f64", "i64", "u8", "bool", "f32"))
    x, y = np.arange(50.0), np.zeros(50)
    for flag in (True, False):
        check(source, signature, 50, (x, y), (3, 50), (0.5, -7, 200, flag, 2.5))


@pytest.mark.slow
@pytest.mark.parametrize("short", sorted({short for _, short in CASES}))
def test_every_helper_as_numba_compiles_it(short):
    names = [name for name, own in CASES if own == short]
    columns = {name: _arguments(name, short) for name in names}
    for name in names:
        kinds = argument_types(name, short)
        values = ", ".join(f"x{at}[i]" for at in range(len(kinds)))
        inputs = ", ".join(f"x{at}" for at in range(len(kinds)))
        source = f"def kernel(lo, hi, {inputs}, y, status):\n    for i in range(lo, hi):\n"
        source += f"        y[i] = {name}({values})\n"
        returns = HELPERS[name].result_type(kinds)
        signature = KernelSignature((*kinds, returns))
        arrays = [*columns[name], np.zeros(columns[name][0].shape, DTYPES[returns])]
        found = [
            outputs(compile_kernel(source, signature, frontend).launch, arrays[0].size, arrays)
            for frontend in ("direct", "numba")
        ]
        assert found[0] == found[1], name


def _arguments(name, short):
    columns = [values_of(kind) for kind in argument_types(name, short)]
    if name in NOT_ZERO:
        columns[1] = columns[1][columns[1] != 0]
    if name == "shift_right_logical":
        columns[1] = np.arange(DTYPES[short].itemsize * 8, dtype=DTYPES[short])
    return [grid.ravel() for grid in np.meshgrid(*columns)]


def graph_bits(number, frontend, monkeypatch, symbolic):
    monkeypatch.setattr(config, "kernel_frontend", frontend)
    graph = random_graph(number, symbolic=symbolic)
    inputs = random_inputs(graph, number)
    results = compile_graph(graph)(inputs)
    return [each.array.tobytes() for each in [*results, *inputs]]


def check_random_graph(number, monkeypatch):
    for symbolic in (False, True):
        direct, numba = (
            graph_bits(number, each, monkeypatch, symbolic) for each in ("direct", "numba")
        )
        assert direct == numba


@pytest.mark.parametrize("number", range(6))
def test_random_graphs(number, monkeypatch):
    check_random_graph(number, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("number", range(6, 60))
def test_more_random_graphs(number, monkeypatch):
    check_random_graph(number, monkeypatch)


REFUSED = {
    "z[i] = x[i] + f64(1.0)": "f32 and f64 in one operation: cast first",
    "z[i] = fma(x[i], f64(1.0), x[i])": r"fma\(f32, f64, f32\): cast the arguments first",
    "z[i] = exp(x[i], x[i])": "cast the arguments first",
    "z[i] = exp()": "exp",
    "z[i] = sine(x[i])": "sine is no helper",
    "z[i] = f64(x[i])": "a value of f64 for an array of f32",
    "z[0] = x[i]": "the index is i64: indices are u64",
    "z[i] = x[i64(i)]": "the index is i64",
    "z[i] = x": "x is an array: take an element",
    "z[i] = w": "w is not set here",
    "z[i] = i[i]": "i is no array",
    "z[i] += x[i]": "write `a = a \\+ b`",
    "z[i] = x[i] if x[i] > y[i] else y[i]": "write select",
    "z[i] = select(x[i] > y[i] and x[i] > y[i], x[i], y[i])": "write & and |",
    "z[i] = select(not x[i] > y[i], x[i], y[i])": "write logical_not",
    "z[i] = select(~(x[i] > y[i]), x[i], y[i])": "write logical_not",
    "z[i] = x[i] // y[i]": "no such operation on f32",
    "z[i] = x[i] & y[i]": "no such operation on f32",
    "z[i] = f32(i / i)": "no such operation on u64",
    "z[i] = f32((x[i] > y[i]) + (x[i] > y[i]))": "no such operation on bool",
    "z[i] = x[i] ** y[i]": "no such operation on f32",
    "z[i] = 'text'": "not the kernel dialect",
    "z[i] = f32(x[i], x[i])": "cast the arguments first",
    "a = b = x[i]": "not the kernel dialect",
    "lo = u64(3)": "the parameter lo cannot be set",
    "x = local_f32(3)": "an array",
    "while x[i] > y[i]: pass": "the only loop is",
    "for j in x: pass": "a loop goes over range",
    "for j in range(u64(0), u64(9), u64(2)): pass": "a loop goes over range",
    "for j in range(9): pass": "a bound is i64: loops count in u64",
    "if x[i]: pass": "the condition is f32, not bool",
    "print(x[i])": "not the kernel dialect",
    "return x[i]": "not the kernel dialect",
}


@pytest.mark.parametrize("line", REFUSED)
def test_what_is_no_kernel_is_refused_with_its_line(line):
    with pytest.raises(KernelSourceError, match=REFUSED[line]) as caught:
        translate(loop("# a comment", line), KernelSignature(("f32",) * 3))
    assert f"line 4 of the kernel: {line}" in str(caught.value)


def test_a_name_keeps_its_type_and_ends_with_its_block():
    signature = KernelSignature(("f32",) * 3)
    lines = ("a = x[i]", "for j in range(u64(2)):", "    a = f64(1.0)")
    with pytest.raises(KernelSourceError, match="a was f32 and cannot become f64"):
        translate(loop(*lines), signature)
    with pytest.raises(KernelSourceError, match="b is not set here"):
        translate(loop("for j in range(i):", "    b = x[i]", "z[i] = b"), signature)


def test_a_kernel_is_one_function_with_the_signatures_parameters():
    with pytest.raises(KernelSourceError, match="is one function"):
        translate("x = 3\n", KernelSignature(()))
    with pytest.raises(KernelSourceError, match="kernel has 6 parameters, not 4"):
        translate(loop("pass"), KernelSignature(("f32",)))
