"""How rows run.

Files, in reading order:

blas           matrix products, small ones on one thread
primitives     transcendental functions of arrays, by name
quiet          no floating-point warnings around a numpy call
numpy_backend  the CPU: rows on numpy arrays
meta           shapes, dtypes and layouts without memory
"""
