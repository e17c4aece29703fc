"""Python's own parser, for one thread at a time.

In: the text of an expression or of a module. Out: its syntax tree.

    >>> expression("a + 1").op
    <ast.Add object at ...>

CPython 3.11 counts the depth of the trees it builds for all threads together: when a finalizer
runs while one thread builds its tree and lets another thread build too, both may fail with
`SystemError: AST constructor recursion depth mismatch`. Kernels are compiled by several threads.

Source: https://github.com/python/cpython/issues/106905
"""

import ast

from minitorch2 import forks

_lock = forks.lock()


def expression(text: str) -> ast.expr:
    """The tree of one expression; SyntaxError where it is none."""
    with _lock:
        return ast.parse(text, mode="eval").body


def module(text: str) -> ast.Module:
    """The tree of a module's text."""
    with _lock:
        return ast.parse(text)
