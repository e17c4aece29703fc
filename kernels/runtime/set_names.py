"""Which names of a kernel's source are set more than once, and which arrays are written over.

In: the syntax tree of a kernel function or of a block in it. Out: names.

>>> tree = ast.parse('''
... def add(lo, hi, x, y, status):
...     total = f32(0.0)
...     for i in range(lo, hi):
...         total = total + x[i]
...         y[i] = y[i] + total
... ''').body[0]
>>> list(set_again(tree.body, frozenset())), read_and_written(tree)
(['total'], {'y'})

Source: minitorch2.kernels.runtime.translate asks.
"""

import ast
from collections.abc import Iterator


def set_again(body: list[ast.stmt], outer: frozenset[str]) -> Iterator[str]:
    """The names that a block sets although blocks around it have set them before."""
    own: set[str] = set()
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]):
                if name in outer:
                    yield name
                own.add(name)
            case ast.For(target=ast.Name(id=name)):
                around = outer | own
                if name in around:
                    yield name
                yield from set_again(node.body, around | {name})
            case ast.If():
                yield from set_again(node.body, outer | own)
                yield from set_again(node.orelse, outer | own)


def read_and_written(definition: ast.FunctionDef) -> set[str]:
    """The parameters whose elements a kernel both reads and writes."""
    places = [node for node in ast.walk(definition) if isinstance(node, ast.Subscript)]
    read, written = (
        {place.value.id for place in places
         if isinstance(place.value, ast.Name) and isinstance(place.ctx, context)}
        for context in (ast.Load, ast.Store)
    )  # fmt: skip
    return read & written & {each.arg for each in definition.args.args}
