"""What the machine does at each bytecode instruction, by kind.

- registry: instruction name -> handler
- loads_stores: locals, globals, cells, attributes, constants, the stack itself
- arithmetic: operators, comparisons, truth, text
- naming: how Python's messages call things
- containers: building, unpacking, subscripts, pattern matching
- control_flow: jumps, loops, return, yield
- calls: calls and function objects
- exceptions: raise, except, with
- class_bodies: names in the body of a class statement
- imports: import statements
- intrinsics: the functions behind CALL_INTRINSIC
"""

from minitorch2.jit.capture.handlers import (
    arithmetic,
    calls,
    class_bodies,
    containers,
    control_flow,
    exceptions,
    imports,
    intrinsics,
    loads_stores,
)
from minitorch2.jit.capture.handlers.intrinsics import INTRINSICS
from minitorch2.jit.capture.handlers.registry import HANDLERS, RETURNED, YIELDED

__all__ = [
    "HANDLERS",
    "INTRINSICS",
    "RETURNED",
    "YIELDED",
    "arithmetic",
    "calls",
    "class_bodies",
    "containers",
    "control_flow",
    "exceptions",
    "imports",
    "intrinsics",
    "loads_stores",
]
