"""Symbolic sizes: integers that are known only when a graph runs.

Files, in reading order:

    size_expression   integer expressions over s0, s1, ... in canonical form
    conditions        comparisons of sizes in canonical form
    ranges            bounds of expressions, conditions that ranges decide
    parser            text back to sizes and conditions
    example_sizes     values for symbols under given conditions
    binding           values for symbols from the sizes of actual tensors
    symbolic_size     the int-like object in the shapes of fake tensors
    environment       example values, answers and the guards they need
"""
