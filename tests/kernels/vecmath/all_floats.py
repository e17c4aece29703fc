"""The largest error of a function over every f32 there is, in ulps.

In: names of functions of one argument; all of them if there are none. Out: for each the largest
error over all 2^32 bit patterns (sin, cos, tan: of all up to 2^18, which a loop does not leave
out), and the bound that vecmath.accuracy states. What is exact is the f64 version, whose own error
is a 2^29th of an f32's ulp.

    python -m tests.kernels.vecmath.all_floats exp erf

Source: about a minute a function on two cores; the loop is a kernel itself.
"""

import sys

import numpy as np

from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature
from minitorch2.kernels.vecmath.accuracy import BOUNDS

BINARY = ("atan2", "pow")
BLOCK = 1 << 16
LAST = {"sin": 0x48800000, "cos": 0x48800000, "tan": 0x48800000}  # the bits of 2^18
NEVER = 1e300  # the error where infinities or nan do not agree
SOURCE = """def worst(lo, hi, largest, half, status):
    for block in range(lo, hi):
        most = f64(0.0)
        first = select(block < half, block, block - half + u64(32768)) * u64(65536)
        for k in range(u64(0), u64(65536)):
            x = f32_bits(i32(first + k))
            got = {name}(x)
            exact = {name}(f64(x))
            near = f32(exact)
            agree = (got == near) | ((got != got) & (near != near))
            exponent = maximum(i64(bits_f32(absolute(near)) >> i32(23)), i64(1))
            spacing = f64_bits((exponent + i64(873)) << i64(52))
            distance = absolute(f64(got) - exact) / spacing
            wrong = select(agree, f64(0.0), f64(1e300))
            most = maximum(most, select(distance < f64(1e300), distance, wrong))
        largest[block] = most
"""


def largest_error(name: str) -> float:
    """The largest error in ulps; NEVER if somewhere an infinity or nan is not one."""
    kernel = compile_kernel(SOURCE.format(name=name), KernelSignature(("f64",), 1, grain=1))
    half = LAST.get(name, 1 << 31) // BLOCK  # blocks of positive numbers
    largest = np.empty(2 * half)
    kernel.launch(largest.size, (largest,), (half,), cost=1e6)
    return float(largest.max())


if __name__ == "__main__":
    print("| function | all floats | bound |\n|---|---|---|")
    for each in sys.argv[1:] or [name for name in BOUNDS if name not in BINARY]:
        print(f"| `{each}` | {largest_error(each):.2f} | {BOUNDS[each].f32} |", flush=True)
