"""A graph of primitives in, running fused kernels out.

    graph -> lower/ -> nests -> schedule/ -> loop IR -> codegen/ -> source -> runtime/ -> results

The source of a kernel is Python that Numba can compile and that plain Python can run. On the CPU
neither of them does: runtime/translate.py turns it into LLVM in a millisecond or two, without
importing Numba. MT2_KERNEL_FRONTEND=numba has Numba compile the same source, to the same bits; the
tests compare the two. Sources for a GPU are compiled by numba-cuda.

Files, in reading order:

index.py        integer index expressions
positions.py    row-major positions
functions.py    the scalar functions and reducers kernels may call
loop_ir.py      the loop IR: its grammar and records
printer.py      loop IR to text
parser.py       text to loop IR
verify.py       the rules of the loop IR
vecmath         scalar functions that vectorize
runtime         compiling, caching, launching; memory
interpreter.py  what a kernel means: run it one element at a time
simulator.py    the same with the blocks and threads of a GPU
lower           a graph's nodes as loop nests
schedule        which nests become one kernel
codegen         kernels and host function as Python source
control.py      branches and loops: Python that calls compiled graphs
host.py         what generated host functions call
executors.py    a kernel compiled, as plain Python, or interpreted
native.py       what LLVM made of the kernels, as text, while somebody asks
meter.py        counts and times launches while somebody asks
gpu.py          the kernels of a graph for a GPU: simulated, and shown
program_parts.py  a compiled graph as plain data, to be kept on disk
backend.py      the whole way: compile_graph
programs.py     what a captured graph was compiled to, found again by the next process
eager_rows.py  a pointwise row as a kernel of its own, for eager
eager_composites.py  a composite row as a program of its own, for eager
eager_primitives.py  exp, tanh and the like for eager, from the same functions
eager_pooling.py  the largest elements of windows, for eager
eager_scans.py  running sums, for eager and compiled code
"""
