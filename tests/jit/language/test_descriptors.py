"""`property`, `staticmethod` and `classmethod` called by name: their parts, texts and refusals."""

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
# Each is an expression of two functions, `first` and `second`, which are made inside.
EXPRESSIONS = """
property(first, doc="own").__doc__
property(first, None, None, "own").__doc__
property(first, doc=None).__doc__
property(first).__doc__
property(first).getter(second).__doc__
property(first).setter(second).__doc__
property(first, doc="own").getter(second).__doc__
property(first, doc="own").setter(second).__doc__
property(first, doc="own").deleter(second).fdel is second
property(fset=second).fset is second, property(fset=second).fget
property(fset=second).getter(first).__doc__
property().__doc__, property().fget, property().fset, property().fdel
property(None, second, doc="own").__doc__
property(first).fget is first
property(foo=1)
property(first, fget=first)
property(1, 2, 3, 4, 5)
property(first, dog="d")
staticmethod(first).__doc__, staticmethod(first).__func__ is first
staticmethod(first)(1)
staticmethod(first, a=1)
staticmethod()
staticmethod(first, second)
classmethod(first).__func__ is first, classmethod(first).__doc__
classmethod(f=first)
classmethod()
classmethod(first, second)
""".split("\n")[1:-1]
FUNCTIONS = """
def program(x):
    def first(self):
        "the first"
        return x
    def second(self, value=None):
        "the second"
        self.held = value
"""
PROGRAM = (
    FUNCTIONS
    + """\
    try:
        return {expression}
    except TypeError as error:
        return str(error)
"""
)
MADE = (
    FUNCTIONS
    + """\
    made = {expression}
    class Local:
        attribute = made
    found = Local.__dict__["attribute"]
    return Local, found is made, found.__doc__, getattr(Local(), "attribute", None)
"""
)
for _text in EXPRESSIONS:
    program.text(PROGRAM.format(expression=_text), {}, _text)
LEAVING = [
    "property(first, doc='own')", "property(first)", "property(first, second, second)",
    "property(first, doc='own').setter(second)", "property(first).getter(second)", "property()",
    "property(fset=second, doc='own')", "staticmethod(first)", "classmethod(first)",
]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)


@pytest.mark.parametrize("expression", LEAVING)
def test_it_leaves_as_it_is(expression):
    scope: dict = {}
    exec(MADE.format(expression=expression), scope)
    fn = scope["program"]
    run = torch.compile(fn, backend="interpreter")
    for _ in range(2):
        wanted, got = fn(torch.ones(2)), run(torch.ones(2))
        assert got[1:3] == wanted[1:3]
        mine, theirs = (found[0].__dict__["attribute"] for found in (got, wanted))
        for name in ("fget", "fset", "fdel", "__func__", "__doc__"):
            parts = getattr(mine, name, None), getattr(theirs, name, None)
            assert [getattr(part, "__name__", part) for part in parts[:1]] == [
                getattr(part, "__name__", part) for part in parts[1:]
            ]
    assert not run.cache.breaks
