"""Pointwise rows as kernels of their own, for eager: one pass where numpy takes several.

In: the name of a row and, for each operand, whether it is an array and of which dtype. Out: a
function that computes the row's `expr` over whole arrays, on all threads; the same expression
that compiled code evaluates, hence the same bits.

    blend = kernel("lerp", ("f32", "f32", ""))
    blend((start, end), (0.1,), result)

Source: `minitorch2.backends.primitives` asks for this file by name.
"""

from collections.abc import Callable
from typing import cast

import numpy

from minitorch2.dtypes import from_short
from minitorch2.kernels.codegen.expressions import expression_text
from minitorch2.kernels.index import symbol
from minitorch2.kernels.loop_ir import Expression, Load, Name
from minitorch2.kernels.lower.expressions import Operand, lower_expression
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.ops.table import lookup

COST = 1.0  # nanoseconds an element: enough to decide when a second thread pays


def kernel(name: str, kinds: tuple[str, ...], writes_first: bool = False) -> Callable:
    """The row as a function (arrays, numbers, result).

    `kinds` has the dtype of each operand that is an array, and '' for those that are numbers.

    With `writes_first` the result goes into the first operand, and `result` is left out.
    """
    row = lookup(name)
    short = next(kind for kind in kinds if kind.startswith("f"))
    arrays: list[tuple[str, str]] = []
    scalars: list[str] = []
    operands: dict[str, Operand] = {}
    for index, (parameter, kind) in enumerate(zip(row.signature.parameters, kinds, strict=True)):
        if kind:
            arrays.append((f"x{index}", kind))
            operands[parameter.name] = Load(f"x{index}", symbol("i"), from_short(kind))
        else:
            scalars.append(f"s{index}")
            operands[parameter.name] = Name(f"s{index}", from_short(short))
    value = cast(Expression, lower_expression(row.expr, operands, from_short(short)))
    result = arrays[0][0] if writes_first else "result"
    names = [each for each, _ in arrays] + ([] if writes_first else [result]) + scalars
    source = (
        f"def row(lo, hi, {', '.join(names)}, status):\n"
        "    for i in range(lo, hi):\n"
        f"        {result}[i] = {expression_text(value)}\n"
    )
    types = tuple(kind for _, kind in arrays) + (() if writes_first else (short,))
    signature = KernelSignature(arrays=types, scalars=(short,) * len(scalars))
    built = compile_kernel(source, signature)
    launch = built.direct()

    def function(given: tuple, numbers: tuple, result: numpy.ndarray) -> None:
        block = given if writes_first else (*given, result)
        launch(result.size, block, (), numbers, COST)

    return function


def update(
    written: tuple[str, ...], read: tuple[str, ...], numbers: tuple[str, ...],
    statements: tuple[str, ...], short: str,
) -> Callable[[tuple, tuple, int], None]:  # fmt: skip
    """A function (arrays, numbers, elements) that changes the `written` arrays in one pass.

    `statements` set names from names, element by element; the names of arrays are their elements.
    """
    names = (*written, *read)
    parameters = ", ".join((*(f"{name}_" for name in names), *numbers))
    lines = [
        f"def update(lo, hi, {parameters}, status):",
        "    for i in range(lo, hi):",
        *(f"        {name} = {name}_[i]" for name in names),
        *(f"        {statement}" for statement in statements),
        *(f"        {name}_[i] = {name}" for name in written),
    ]
    signature = KernelSignature(arrays=(short,) * len(names), scalars=(short,) * len(numbers))
    built = compile_kernel("\n".join(lines) + "\n", signature)
    launch = built.direct()

    def function(arrays: tuple, values: tuple, elements: int) -> None:
        launch(elements, arrays, (), values, COST * len(names))

    return function
