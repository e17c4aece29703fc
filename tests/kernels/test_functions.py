"""Every scalar function is defined for the interpreter and for the generated source."""

import numpy
import pytest

from minitorch2 import dtypes
from minitorch2.kernels.codegen.expressions import FUNCTION_TEXTS
from minitorch2.kernels.functions import EXPENSIVE, FUNCTIONS, result_dtype
from minitorch2.kernels.interpreter import function_named
from minitorch2.kernels.runtime.compile import plain_kernel


def test_the_tables_have_the_same_keys():
    assert FUNCTION_TEXTS.keys() == FUNCTIONS.keys()
    assert FUNCTIONS.keys() >= EXPENSIVE
    assert all(callable(function_named(name)) for name in FUNCTIONS)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_source_and_interpreter_agree(name):
    count, _, categories = FUNCTIONS[name]
    element = dtypes.float32 if dtypes.FLOATING in categories else dtypes.int64
    numbers = [element.numpy.type(value) for value in (0.7, 0.2, 0.4)][:count]
    if element is dtypes.int64:
        numbers = [numpy.int64(value) for value in (6, 2, 3)][:count]
    types = [element] * count
    if name == "select":
        numbers[0], types[0] = numpy.bool_(True), dtypes.bool
    wanted = function_named(name)(*numbers)
    result = result_dtype(name, types)
    names = ", ".join("abc"[:count])
    text = FUNCTION_TEXTS[name].format(*"abc")
    source = f"def k(lo, hi, y, {names}, status):\n    y[lo] = {text}\n"
    found = numpy.zeros(1, result.numpy)
    plain_kernel(source)(1, [found], (), numbers)
    assert found[0] == wanted
