"""Random Python programs, run as they are and compiled.

- world: the classes, globals and arguments that every program finds
- values: expressions of each kind
- training: lines, and statements on modules, gradients, views, sizes, iterators, classes
- writing: statements, blocks, whole programs
- judging: run both ways, compare everything, count what was exercised
"""
