"""How rows run.

Files, in reading order:

primitives     transcendental functions of arrays, by name
numpy_backend  the CPU: rows on numpy arrays
meta           shapes, dtypes and layouts without memory
"""
