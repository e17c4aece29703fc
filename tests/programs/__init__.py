"""Random programs over tensors: written from a seed, run in every way, compared.

inputs.py    the tensors a program is called with: dtypes, layouts, histories, shared memory
rules.py     what a line of a program may be, by kind
writing.py   a seed in, a Program out: a function's text, its inputs, whether it rounds
running.py   one run: results, gradients, what became of the inputs, errors, random state
features.py  what a program exercises, by kind
judging.py   compiled beside eager, eager beside torch: every difference in words
__main__.py  thousands of them, by hand
"""
