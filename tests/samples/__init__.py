"""Sample calls of the rows of the op table, by kind of row; `tests/op_samples.py` gathers them.

Files, in reading order:

specs       how a sample names a tensor before any library makes it
pointwise   derived from the rows: dtypes, shapes, layouts, special values
reductions  dimensions, keepdim, empty and 0-d tensors
shapes      views and copies of other shapes
movement    gather, scatter, index, concatenate, sort
neural      activations, normalizations, losses, products, creation
rearrangement   roll, repeat, draw
windows     convolutions
special     special functions, seldom arithmetic
statistics  accumulation, statistics, searching, picking, pooling
matrices    linear algebra
probability special functions of statistics, ranks, combinations by index
variations  other calls like a sample: layouts, dtypes, sizes, arguments
complexes   complex numbers, and complex samples made of real ones
whole_numbers   divisors, multiples, the next number
"""
