"""Compiles kernels, keeps them, runs them, and gives them memory.

Files, in reading order:
- signature.py   what a kernel takes and how its arguments lie in memory
- compile.py     source to CompiledKernel: dictionary, then disk, then Numba
- build.py       source to object code (the only file here that imports Numba)
- machine.py     the CPU, and loading object code
- cache.py       object code on disk
- launcher.py    chunks and threads
- buffers.py     output and temporary arrays
"""
