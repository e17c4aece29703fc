"""Pointwise rows without an expression for kernels: common divisors, multiples, the next number.

In: tensors that broadcast. Out: one tensor. Compiled code runs them on the host.

Source: torch's documentation of each function.
"""

import numpy

from minitorch2.ops.table import POINTWISE, defop
from minitorch2.ops.views import zeros_of

for _name, _function, _doc in (
    ("gcd", numpy.gcd, "The greatest common divisor of integers."),
    ("lcm", numpy.lcm, "The least common multiple of integers."),
):
    defop(
        f"{_name}(Operand self, Operand other) -> Tensor",
        POINTWISE,
        eager=_function,
        accepts="i",
        numbers="",
        doc=_doc,
    )


defop(
    "nextafter(Operand self, Operand other) -> Tensor",
    POINTWISE,
    eager=numpy.nextafter,
    promote="stored",
    accepts="f",
    numbers="",
    vjp=lambda s, g: (g, zeros_of(g, g)),
    doc="The number next to self in the direction of other.",
)
