"""What the language tests share: small programs, run eagerly and compiled, compared in everything.

In: a program: a function whose parameters say by name what it is given (see `GIVEN`), or one
without parameters, which makes its own world and returns (function, arguments or what makes them,
observe). Out: nothing, or an AssertionError that says what differs: the result, what became of the
arguments and the world, the exception (type, text, lines, cause, context), which objects are one
object, a graph break, or a second compilation.

    program = Programs()

    @program
    def adds(x, a): return x + a

    @pytest.mark.parametrize("backend", BACKENDS)
    @pytest.mark.parametrize("name", program.names)
    def test_programs(name, backend): program.judge(name, backend)
"""

import contextlib
import inspect
import io
import linecache
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import minitorch2 as torch
from minitorch2.tensors import Tensor

GIVEN: dict[str, Callable[[], Any]] = {
    "x": lambda: torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]),
    "y": lambda: torch.tensor([[2.0, 1.0, 0.0], [1.0, 3.0, 5.0]]),
    "w": lambda: torch.tensor([[0.5, -1.0, 2.0], [1.0, 1.5, 3.0]], requires_grad=True),
    "v": lambda: torch.tensor([3.0, 1.0, 2.0]),
    "a": lambda: 1,
    "b": lambda: 3,
    "f": lambda: 0.5,
    "items": lambda: [3, 1, 2],
    "table": lambda: {"k": 1, "other": [2]},
    "names": lambda: ["b", "a", "c"],
    "text": lambda: "some text",
    "flag": lambda: True,
    "none": lambda: None,
}
BACKENDS = ("interpreter", "eager", "aot_eager", "numba")
# Compiled sums are then added up in the order in which eager ones are.
OPTIONS = {"numba": {"numerics": "eager"}}
PLAIN = (int, float, complex, bool, str, bytes, type(None), range, type(Ellipsis))


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _nested(inner)


class Programs:
    """The programs of one area."""

    def __init__(self) -> None:
        self.known: dict[str, tuple[Callable, dict[str, Any]]] = {}

    def __call__(self, fn: Callable | None = None, **options: Any) -> Any:
        """Register a program."""
        if fn is None:
            return lambda found: self(found, **options)
        self.known[fn.__name__] = fn, options
        return fn

    def lines(self, text: str, scope: dict[str, Any]) -> None:
        """Register each line of a text as a program that returns the value of that expression.

        A line that raises is a program that returns what was raised. What is indented goes on from
        the line before.
        """
        for line in filter(None, text.replace("\n    ", " ").splitlines()):
            code = compile(line, "line", "eval")
            used = {name for part in _nested(code) for name in part.co_names}
            given = ", ".join(name for name in GIVEN if name in used) or "x"
            body = f"    try:\n        return {line}\n"
            self.text(
                f"def program({given}):\n{body}    except Exception as error:\n"
                "        return error\n", scope, line,
            )  # fmt: skip

    def text(self, source: str, scope: dict[str, Any], name: str = "") -> None:
        """Register a program given as text: what pytest must not rewrite, newer syntax."""
        own = source.partition("def ")[2].partition("(")[0].partition("[")[0]
        file = f"<program {name or own}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        found: dict[str, Any] = {}
        exec(compile(source, file, "exec"), scope, found)
        self.known[name or own] = found[own], {}

    @property
    def names(self) -> list[str]:
        """The names of the programs."""
        return list(self.known)

    def judge(self, name: str, backend: str = "interpreter") -> None:
        """Compare a program, compiled, with itself."""
        fn, options = self.known[name]
        judge(fn, backend=backend, **options)


def judge(
    program: Callable,
    calls: int = 2,
    breaks: bool = False,
    raises: bool = False,
    again: bool = False,
    backend: Any = "interpreter",
) -> None:
    """Run a program `calls` times both ways.

    `breaks`: it must break; `raises`: an exception must leave it; `again`: it may be compiled more
    than once.
    """
    wanted = _run(program, calls, lambda fn: fn)
    compiled, got = compiled_calls(program, calls, backend)
    for number, (want, have) in enumerate(zip(wanted, got, strict=True)):
        for what, expected in want.items():
            assert have[what] == expected, (
                f"call {number}, {what}: {difference(have[what], expected)}"
            )
    assert raises == (wanted[0]["error"] is not None), wanted[0]["error"]
    cache = getattr(compiled, "_compiled", compiled).cache
    leaving = ["exception-lives-on"]  # one that goes on as a value is raised by Python
    if wanted[0]["error"]:
        leaving.append("exception-escapes")
    stopped = [one.text() for one in cache.breaks if one.row.code not in leaving]
    assert bool(stopped) == breaks, "\n".join(stopped) or "no graph break"
    if not again and not breaks:
        assert not cache.recompiles, cache.recompiles[0]


def compiled_calls(program: Callable, calls: int, backend: Any) -> tuple[Any, list[dict[str, Any]]]:
    """A program compiled, and what each of its calls did."""
    kept: list[Any] = []

    def compiling(fn: Any) -> Any:
        kept.append(torch.compile(fn, backend=backend, options=OPTIONS.get(backend)))
        return kept[-1]

    done = _run(program, calls, compiling)
    return kept[0], done


def difference(got: Any, want: Any) -> str:
    """The innermost place where two pictures differ."""
    if isinstance(got, (tuple, list)) and type(got) is type(want) and len(got) == len(want):
        for index, (mine, other) in enumerate(zip(got, want, strict=True)):
            if mine != other:
                return f"[{index}]{difference(mine, other)}"
    return f"\n  compiled {got}\n  eager    {want}"


def _run(program: Callable, calls: int, compiling: Callable) -> list[dict[str, Any]]:
    """What each call did."""
    names = tuple(inspect.signature(program).parameters)
    observe: Callable = lambda: None  # noqa: E731
    fn: Any = program
    arguments: tuple = ()
    if not names:
        fn, arguments, observe = program()
    fn = compiling(fn)
    done = []
    for _ in range(calls):
        made = arguments() if callable(arguments) else arguments
        given = tuple(GIVEN[name]() for name in names) or made
        torch.manual_seed(0)
        done.append(_call(fn, given, observe))
    return done


def _call(fn: Callable, given: tuple, observe: Callable) -> dict[str, Any]:
    error: Any = None
    result: Any = None
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        try:
            result = fn(*given)
        except Exception as raised:
            error = raised
    seen: dict[int, int] = {}
    forget()
    return {
        "error": described_error(error, seen, True),
        "arguments": picture(given, seen),
        "result": picture(result, seen),
        "world": picture(observe(), seen),
        "output": out.getvalue(),
        "grad mode": torch.is_grad_enabled(),
        "warnings": [(one.category, str(one.message)) for one in caught],
    }


def described_error(error: BaseException | None, seen: dict[int, int], raised: bool = False) -> Any:
    """An exception in plain data: what it says, where it was raised, what led to it."""
    if error is None:
        return None
    lines = []
    step = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        if "/tests/jit/language/test_" in file or file.startswith("<program"):
            lines.append((step.tb_frame.f_code.co_name, step.tb_lineno))
        step = step.tb_next
    own = {name: picture(value, seen) for name, value in error.__dict__.items()}
    if not raised:
        lines = []  # capture keeps no traceback of an exception that is only a value
    return (
        type(error).__name__, str(error), lines, own,
        described_error(error.__cause__, seen), type(error.__context__).__name__,
    )  # fmt: skip


def picture(value: Any, seen: dict[int, int]) -> Any:
    """A value as plain data; an object met before is the number under which it was met."""
    if isinstance(value, PLAIN) and type(value) in PLAIN:
        return type(value).__name__, repr(value)
    if id(value) in seen:
        return "again", seen[id(value)]
    if type(value) is not tuple:
        seen[id(value)] = len(seen)
        _alive.append(value)
    name = type(value).__name__
    if isinstance(value, Tensor):
        facts = value.dtype.name, tuple(value.shape), tuple(value.stride()), value.requires_grad
        numbers = repr(value.detach().tolist())
        gradient = value.grad if value.is_leaf else None  # asking others warns
        return name, facts, numbers, picture(gradient, seen), picture(value.__dict__, seen)
    if isinstance(value, dict):
        pairs = [(picture(k, seen), picture(v, seen)) for k, v in value.items()]
        factory = getattr(value, "default_factory", None)
        return name, pairs, str(factory), own_attributes(value, seen)
    if isinstance(value, (set, frozenset)):
        return name, sorted((picture(item, seen) for item in value), key=repr)
    if isinstance(value, (list, tuple)) or name == "deque":
        inside = [picture(item, seen) for item in value]
        return name, inside, getattr(value, "maxlen", None), own_attributes(value, seen)
    if isinstance(value, type) and "<locals>" in value.__qualname__:
        return name, class_picture(value, seen)
    if isinstance(value, (types.FunctionType, type, types.BuiltinFunctionType)):
        return name, value.__name__
    if isinstance(value, BaseException):
        return described_error(value, seen), picture(value.args, seen)
    if isinstance(value, types.MethodType):
        return name, value.__name__, picture(value.__self__, seen)
    return name, own_attributes(value, seen), slots_of(value, seen)


def class_picture(cls: type, seen: dict[int, int]) -> Any:
    """A class of a function: its names, what it extends, what it holds."""
    held = [(key, picture(held, seen)) for key, held in sorted(vars(cls).items())
            if key not in UNTOLD]  # fmt: skip
    return cls.__qualname__, cls.__module__, [base.__name__ for base in cls.__mro__], held


UNTOLD = ("__dict__", "__weakref__", "_abc_impl", "__firstlineno__", "__static_attributes__")
_alive: list[Any] = []  # an address seen is not given to another object


def forget() -> None:
    """Begin pictures anew."""
    _alive.clear()


def own_attributes(value: Any, seen: dict[int, int]) -> Any:
    """The instance dict, in order."""
    held = getattr(value, "__dict__", None) or {}
    return [(key, picture(item, seen)) for key, item in dict(held).items()]


def slots_of(value: Any, seen: dict[int, int]) -> Any:
    """The slots that are set."""
    names = [n for cls in type(value).__mro__ for n in getattr(cls, "__slots__", ())]
    return [(n, picture(getattr(value, n), seen)) for n in names if hasattr(value, n)]
