"""Loop IR and plans as Python source.

Files, in reading order:

expressions.py  scalar and index expressions
writer.py       lines with their origins
reductions.py   folds in a fixed order that vectorizes
columns.py      folds down the slow axis
row_cache.py    slow functions of a row computed once
streams.py      results larger than the caches, written past them
tiles.py        loops that read one way and write the other
source.py       a whole kernel
unroll.py       the loops over a vector, written out
cuda.py         a whole kernel for a GPU
host.py         the function that launches the kernels of a graph
"""
