"""A functional graph of primitives as loop nests, views, products and host steps.

Files, in reading order:

nests.py        the records that lowering makes, and how they are walked
expressions.py  an op row's `expr` text as a typed expression
pointwise.py    nodes computed element by element
reductions.py   nodes that fold dimensions
split.py        a reduction to one number as two, for all threads
views.py        views as index maps
gathers.py      nodes that move elements: gather, cat, scatter
creation.py     full, range_, random numbers
lowering.py     the tables of rules, and what runs on the host instead
"""
