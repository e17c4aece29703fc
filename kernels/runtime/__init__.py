"""Compiles kernels, keeps them, runs them, and gives them memory.

Files, in reading order:
- signature.py   what a kernel takes and how its arguments lie in memory
- compile.py     source to CompiledKernel: dictionary, then disk, then LLVM
- translate.py   source to LLVM, statement by statement
- integers.py    division and shifts of integers
- streams.py     copies past the caches
- set_names.py   which names a source sets more than once, which arrays it writes over
- numba_frontend.py  the same by Numba, as judge (the only file here that imports it)
- line_info.py   which instruction comes from which line of the source, for texts
- build.py       source to object code
- native_text.py what LLVM made of a kernel, as text
- machine.py     the CPU, and loading object code
- cache.py       object code on disk
- launcher.py    in how many parts a kernel runs, and what it reports
- pool.py        the threads: when they start, stop, fork
- native.py      a writer for small native functions
- pool_code.py   the threads' native half: parts of a job, waiting, locks
- pool_blas.py   BLAS's jobs and batches of products on these threads
- built_in.py    native code as built-in functions; where things stand in Python's objects
- pool_launch.py a launch that Python calls without ctypes
- block_code.py  memory for arrays, native
- tensor_code.py arrays out of tensors and tensors around arrays, native
- planes.py      the channels of an image as planes, for convolutions
- windows.py     which elements of a kernel meet which places
- native_objects.py  kernels written straight in LLVM, compiled once
- convolution_code.py  the inner loops of convolutions with few channels in a group
- tiles.py       what the inner loops of products and of other convolutions share
- product_code.py  the inner loops of matrix products
- products.py    matrix products: which kernel, cut into pieces
- channel_code.py  the inner loops of convolutions with many
- channel_plans.py  what a unit of their work copies, and its tiles
- channel_convolutions.py  their launches
- convolutions.py  convolutions and their gradients: planes, tables, launches
- queue_pool.py  the same in Python alone, where there are no futexes
- roofline.py    the machine's bandwidth and arithmetic, measured
- cuda.py        source for a GPU to PTX, and what ptxas makes of it
- buffers.py     output and temporary arrays
"""
