"""Scalar functions that LLVM vectorizes, each one text that both computes and compiles.

Files, in reading order:
- primitives.py      the few operations everything is written in, on numbers or on LLVM values
- lanes.py           the LLVM side of them
- helpers.py         the register: which names kernels may call, with their types
- casts.py           f32(x), i64(x) ...
- arithmetic.py      choices, rounding, division, bits
- exponential.py     exp, exp2, expm1, sigmoid
- hyperbolic.py      tanh, sinh, cosh
- logarithm.py       log, log2, log10, log1p
- error_function.py  erf, erfc
- large_angles.py    a very large number modulo pi / 2
- trigonometric.py   sin, cos, tan
- inverse_trigonometric.py  asin, acos, atan, atan2
- power.py           pow
- halves.py          16-bit floats to f32 and back
- philox.py          random bits by counter
- accuracy.py        the error bound of every function, which the tests enforce
- scalars.py         all helpers as plain Python, to import in a debugger
- intrinsics.py      all helpers as Numba intrinsics
- folds.py           reductions across the threads of a GPU
- cuda_intrinsics.py  all helpers for numba-cuda, with what only a GPU has
"""
