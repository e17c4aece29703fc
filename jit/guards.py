"""Guards: what must be the same for captured code to be used again, as one Python function.

In: what capture read, each fact with its source and the user's line. Out: a `GuardSet`, compiled
to one readable function `guard(x, ...) -> bool` (its text is in `source_text` and in `linecache`).
When a guard does not hold, `changes` says in plain words what changed.

    def guard(x, /):
        try:
            if (x.key is not KEY_0 or type(x) is not Tensor) and not CHECK_0(x): return False
            v0 = FUNCTION.__closure__[0].cell_contents
            if v0 != 3 or type(v0) is not int: return False
        except Exception:
            return False
        return True

A tensor passes by the identity of its `key` (an interned tuple of all that may matter); a key not
seen yet is checked field by field once and then joins the accepted ones.

Source: TorchDynamo's guard functions.
"""

from __future__ import annotations

import builtins
import itertools
import keyword
import linecache
import re
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from minitorch2 import dispatch, dtypes
from minitorch2.artifacts import Span
from minitorch2.jit.capture.source import Call, ConstantSource, RootSource, Source
from minitorch2.jit.changes import Change, Words, changes_of, described, mode_now, without_memory
from minitorch2.jit.class_series import Alike
from minitorch2.layouts import contiguous_strides
from minitorch2.tensors import Tensor, key_of

MAX_KEYS = 8
LOCALS = re.compile(r"(?:v\d+|made\d+|out|COMPILED|FIRST_CALL|call|guard)_*")  # not for objects
_counter = itertools.count()


class TensorCheck:
    """The slow path for one tensor: compares fields, then accepts the key from then on.

    `shape` and `strides` hold None where a size may vary.
    """

    __slots__ = (
        "accepted", "cls", "dtype", "shape", "strides", "device", "requires_grad", "inference",
    )  # fmt: skip

    def __init__(self, tensor: Tensor, free: frozenset[int]):
        key = key_of(tensor)
        self.accepted = [key]
        self.cls = type(tensor)
        self.dtype, self.device = tensor.dtype, tensor.device
        self.requires_grad, self.inference = tensor.requires_grad, key.fields[-1]
        self.shape: tuple = tuple(
            None if i in free else size for i, size in enumerate(tensor.layout.shape)
        )
        self.strides: Any = None if free else tuple(tensor.layout.strides)

    def __call__(self, tensor: Any) -> bool:
        if not isinstance(tensor, Tensor):
            return False
        key = key_of(tensor)
        if any(key is other for other in self.accepted) and type(tensor) is self.cls:
            return True
        if self.difference(tensor) is not None:
            return False
        if len(self.accepted) < MAX_KEYS:
            self.accepted.append(key)
        return True

    def example(self) -> Tensor:
        """A tensor like the one it was made for, without memory."""
        return without_memory(*self.accepted[0].fields)

    def __str__(self) -> str:
        sizes = ",".join("any" if size is None else str(size) for size in self.shape)
        strides = "contiguous" if self.strides is None else f"strides {self.strides}"
        grad = "requires grad" if self.requires_grad else "no grad"
        made = ", made in inference mode" if self.inference else ""
        kind = f"{self.cls.__name__} {self.dtype.short}[{sizes}]"
        return f"{kind}, {strides}, {self.device}, {grad}{made}"

    def changed_sizes(self, tensor: Tensor) -> frozenset[int]:
        """The dimensions whose size differs, when everything else is comparable."""
        sizes = tensor.layout.shape
        if len(sizes) != len(self.shape) or tensor.dtype is not self.dtype:
            return frozenset()
        pairs = zip(self.shape, sizes, strict=True)
        return frozenset(
            i for i, (expected, got) in enumerate(pairs) if expected is not None and expected != got
        )

    def difference(self, tensor: Any) -> tuple[str, Any, Any] | None:
        """The first field that differs: (name, expected, got)."""
        return next(self.differences(tensor), None)

    def differences(self, tensor: Any) -> Iterator[tuple[str, Any, Any]]:
        """All fields that differ, as far as they can be compared."""
        if type(tensor) is not self.cls:
            yield "type", self.cls, type(tensor)
            return
        if tensor.dtype is not self.dtype:
            yield "dtype", self.dtype, tensor.dtype
        if tensor.device != self.device:
            yield "device", self.device, tensor.device
        if tensor.requires_grad != self.requires_grad:
            yield "requires_grad", self.requires_grad, tensor.requires_grad
        if key_of(tensor).fields[-1] != self.inference:
            yield "made in inference mode", self.inference, not self.inference
        layout = tensor.layout
        if len(layout.shape) != len(self.shape):
            yield "number of dimensions", len(self.shape), len(layout.shape)
            return
        for index, (expected, got) in enumerate(zip(self.shape, layout.shape, strict=True)):
            if expected is not None and expected != got:
                yield f"shape[{index}]", expected, got
            if expected is None and got < 2:
                yield f"shape[{index}]", Words("a size of 2 or more"), got
        if tuple(layout.shape) == self.accepted[0].fields[2] or self.strides is None:
            # Those of sizes 1 too: a program may read them.
            whole = contiguous_strides(layout.shape)
            strides = whole if self.strides is None else self.strides
            if tuple(layout.strides) != strides:
                yield "strides", "contiguous" if self.strides is None else strides, layout.strides


@dataclass(frozen=True, slots=True)
class Guard:
    """One fact. `test` is Python text that is true when it fails; {0}, {1} are the sources' text,
    other names in braces are bound objects. `meaning` says what was expected, in words."""

    kind: str
    sources: tuple[Source, ...]
    test: str
    meaning: str
    objects: tuple[tuple[str, Any], ...] = ()
    span: Span | None = None
    expected: Any = None

    def key(self) -> tuple:
        """Two guards with the same key are one."""
        return self.test, self.sources, tuple(id(thing) for _, thing in self.objects)

    def fails(self, call: Call) -> bool:
        """Evaluate the test on a call, for the explanation."""
        scope = dict(self.objects)
        for index, source in enumerate(self.sources):
            scope[f"_{index}"] = source.fetch(call)
        return self._evaluate(scope)

    def fails_with(self, call: Call, source: Source, value: Any) -> bool:
        """The same, with another value at a source."""
        scope = dict(self.objects)
        for index, each in enumerate(self.sources):
            scope[f"_{index}"] = value if each == source else each.fetch(call)
        return self._evaluate(scope)

    def _evaluate(self, scope: dict[str, Any]) -> bool:
        names = [f"_{index}" for index in range(len(self.sources))]
        test = _renamed(self.test, {name: name for name, _ in self.objects})
        return bool(eval(test.format(*names), scope))

    def subject(self) -> str:
        """What the guard is about."""
        return ", ".join(str(source) for source in self.sources) or self.kind

    def changes(self, call: Call) -> list[Change]:
        """What is no longer as it was, for a call on which the guard fails."""
        return changes_of(self, call)


@dataclass(eq=False)
class GuardSet:
    """The guards of one captured program, in the order in which they were made."""

    name: str
    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    function: Any
    guards: list[Guard] = field(default_factory=list)
    source_text: str = ""
    check: Callable[..., bool] | None = None
    _seen: set = field(default_factory=set)

    def add(self, guard: Guard) -> None:
        """Add a guard unless the same one is there."""
        key = guard.key()
        if key not in self._seen:
            self._seen.add(key)
            self.guards.append(guard)

    def call_of(self, args: tuple, kwargs: dict[str, Any]) -> Call:
        """The arguments under the names of the generated function."""
        named = dict(zip(self.positional, args, strict=True))
        return Call(self.function, named | kwargs)

    def compile(self) -> Callable[..., bool]:
        """Generate the guard function."""
        writer = FunctionWriter(self.function, (*self.positional, *self.keywords))
        body: list[str] = []
        for guard in self.guards:
            names = [writer.source(source, body) for source in guard.sources]
            objects = {name: writer.bind(thing, name) for name, thing in guard.objects}
            test = _renamed(guard.test, objects).format(*names)
            note = comment(guard.span) if guard.span is not None else ""
            body.append(f"if {test}: return False{note}")
        parameters = signature_text(self.positional, self.keywords)
        lines = [f"def guard({parameters}):", "    try:"]
        lines += [f"        {line}" for line in body or ["pass"]]
        lines += ["    except Exception:", "        return False", "    return True", ""]
        self.source_text = "\n".join(lines)
        scope = writer.namespace
        self.check = define_late(self.source_text, "guard", f"guards of {self.name}", scope)
        return self.check

    def facts(self) -> list[dict[str, str]]:
        """Each guard as plain data: what it looks at, what must hold, which line read it."""
        return [
            {"what": guard.subject(), "must": guard.meaning, "place": str(guard.span or "")}
            for guard in self.guards
        ]

    def __str__(self) -> str:
        return self.source_text or "\n".join(f"{g.subject()}: {g.meaning}" for g in self.guards)


class FunctionWriter:
    """Names for sources and objects while a function is generated.

    `reserved` are the function's parameters: nothing else may have their names.
    """

    def __init__(self, function: Any, reserved: tuple[str, ...]):
        self.reserved = frozenset(reserved)
        self.function = self.local("FUNCTION")
        self.namespace: dict[str, Any] = {self.function: function}
        self._names: dict[Source, str] = {}
        self._objects: dict[int, str] = {id(function): self.function}

    def local(self, name: str) -> str:
        """The name, changed when a parameter has it."""
        while name in self.reserved:
            name += "_"
        return name

    def bind(self, thing: Any, hint: str) -> str:
        """A name for an object in the generated function's globals."""
        if id(thing) in self._objects:
            return self._objects[id(thing)]
        hint = "".join(c if c.isalnum() else "_" for c in hint).strip("_") or "object"
        if hint[0].isdigit():
            hint = f"_{hint}"
        if LOCALS.fullmatch(hint) or keyword.iskeyword(hint):
            hint += "_object"
        name = hint
        for number in itertools.count(1):
            taken = name in self.namespace or name in self.reserved
            if not taken and not hasattr(builtins, name):
                break
            name = f"{hint}_{number}"
        self.namespace[name] = thing
        self._objects[id(thing)] = name
        return name

    def source(self, source: Source, body: list[str]) -> str:
        """The name of a local variable that holds a source, fetched on first use."""
        if isinstance(source, ConstantSource):
            return self.bind(source.object, source.label)
        if source in self._names:
            return self._names[source]
        if isinstance(source, RootSource):
            name = self.function
        elif source.base is None:
            name = source.expression(str)
        else:
            text = source.expression(lambda base: self.source(base, body))
            name = self.local(f"v{len(self._names)}")
            body.append(f"{name} = {text}{comment(source)}")
        self._names[source] = name
        return name


def _renamed(test: str, objects: dict[str, str]) -> str:
    for name, text in objects.items():
        test = test.replace(f"<{name}>", text)
    return test


def comment(said: Any) -> str:
    """A comment behind a statement; names of files and keys of dicts may have several lines."""
    return f"  # {' '.join(str(said).splitlines())}"


def signature_text(positional: tuple[str, ...], keywords: tuple[str, ...]) -> str:
    """`x, y, /, *, k`."""
    parts = list(positional)
    if parts:
        parts.append("/")
    if keywords:
        parts += ["*", *keywords]
    return ", ".join(parts)


def define(text: str, name: str, label: str, scope: dict[str, Any]) -> Callable:
    """Compile generated Python, with its text in linecache for tracebacks while it lives."""
    filename = _listed(text, label)
    exec(compile(text, filename, "exec"), scope)
    return _forgetful(scope[name], filename)


def define_late(text: str, name: str, label: str, scope: dict[str, Any]) -> Callable:
    """The same, but its first call compiles it: a program that is called once has no use for its
    guards, and Python takes longer over a thousand of them than over the call."""
    filename = _listed(text, label)
    found = FunctionType(_late.__code__, scope, name)

    def first_call(*args: Any, **kwargs: Any) -> Any:
        exec(compile(text, filename, "exec"), scope)
        found.__code__ = scope[name].__code__
        scope[name] = found
        return found(*args, **kwargs)

    scope["FIRST_CALL"] = first_call
    return _forgetful(found, filename)


def _late(*args: Any, **kwargs: Any) -> Any:
    return FIRST_CALL(*args, **kwargs)  # type: ignore[name-defined]  # noqa: F821


def _listed(text: str, label: str) -> str:
    filename = f"<minitorch2 {label} #{next(_counter)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    return filename


def _forgetful(function: Any, filename: str) -> Callable:
    weakref.finalize(function, linecache.cache.pop, filename, None).atexit = False
    return function


# ---- the kinds of guards ----------------------------------------------------------------------


def _plain(name: str) -> str:
    """A name made of letters, digits and underscores."""
    if name.isidentifier():
        return name
    return "".join(character if character.isalnum() else "_" for character in name)


def tensor_guard(
    source: Source, tensor: Tensor, free: frozenset[int], number: int, span: Span | None
) -> Guard:
    """Class, dtype, sizes, strides, device and requires_grad of a tensor."""
    check = TensorCheck(tensor, free)
    test = "({0}.key is not <KEY> or type({0}) is not <Tensor>) and not <CHECK>({0})"
    objects = ((f"KEY_{number}", check.accepted[0]), (type(tensor).__name__, type(tensor)),
               (f"CHECK_{number}", check))  # fmt: skip
    test = test.replace("<KEY>", f"<KEY_{number}>").replace("<CHECK>", f"<CHECK_{number}>")
    test = test.replace("<Tensor>", f"<{type(tensor).__name__}>")
    return Guard("tensor", (source,), test, str(check), objects, span, check)


def value_guard(source: Source, value: Any, span: Span | None) -> Guard:
    """A number, string, None or other plain value."""
    meaning = f"was {described(value)}"
    if value is None or value is True or value is False or value is Ellipsis:
        return Guard("value", (source,), f"{{0}} is not {value!r}", meaning, (), span, value)
    if type(value) in (int, str, bytes) or (type(value) is float and 0 < abs(value) < 1e300):
        text = repr(value).replace("{", "{{").replace("}", "}}")
        kind = type(value).__name__
        test = f"{{0}} != {text} or type({{0}}) is not {kind}"
        return Guard("value", (source,), test, meaning, (), span, value)
    if isinstance(value, float | complex | set | frozenset):
        objects: tuple = (("SAME", Same(value)),)
        return Guard("value", (source,), "not <SAME>({0})", meaning, objects, span, value)
    objects = (("EXPECTED", value), ("KIND", type(value)))
    test = "{0} is not <EXPECTED> and ({0} != <EXPECTED> or type({0}) is not <KIND>)"
    return Guard("value", (source,), test, meaning, objects, span, value)


class Same:
    """Equality that tells 1 from 1.0 and True, 0.0 from -0.0, in tuples and sets too, and takes nan
    as equal to itself."""

    __slots__ = ("parts",)

    def __init__(self, value: Any):
        self.parts = _parts(value)

    def __call__(self, value: Any) -> bool:
        return _parts(value) == self.parts


def _parts(value: Any) -> Any:
    """A value with the types of all its parts."""
    kind = type(value)
    if isinstance(value, float | complex):
        return kind, repr(value)
    if isinstance(value, tuple):
        return kind, tuple(map(_parts, value))
    if isinstance(value, set | frozenset):
        return kind, frozenset(map(_parts, value))
    return kind, value


def identity_guard(source: Source, thing: Any, span: Span | None, kind: str = "value") -> Guard:
    """The very same object."""
    name = str(getattr(thing, "__name__", type(thing).__name__))
    objects = ((f"OBJECT_{_plain(name)}", thing),)
    test = f"{{0}} is not <{objects[0][0]}>"
    return Guard(kind, (source,), test, f"was {name}", objects, span, thing)


def type_guard(source: Source, cls: type, span: Span | None) -> Guard:
    """An instance of exactly this class."""
    name = f"TYPE_{_plain(cls.__name__)}"
    objects = ((name, cls),)
    test = f"type({{0}}) is not <{name}>"
    return Guard("value", (source,), test, f"was a {cls.__name__}", objects, span, cls)


def alike_guard(source: Source, cls: type, span: Span | None) -> Guard:
    """A class that the same statement made."""
    name = f"ALIKE_{_plain(cls.__name__)}"
    test = f"not <{name}>({{0}})"
    meaning = f"was a class like {cls.__qualname__}"
    return Guard("value", (source,), test, meaning, ((name, Alike(cls)),), span, cls)


def code_guard(source: Source, code: Any, span: Span | None) -> Guard:
    """A Python function with this body."""
    name = f"CODE_{_plain(code.co_name)}"
    objects = ((name, code),)
    test = f"{{0}}.__code__ is not <{name}>"
    return Guard(
        "code", (source,), test, f"had the body of {code.co_qualname}", objects, span, code
    )


def plain_guard(
    kind: str, sources: tuple[Source, ...], test: str, meaning: str, span: Span | None, **facts: Any
) -> Guard:
    """A guard given by its test; objects are passed as keywords."""
    expected = facts.pop("expected", None)
    return Guard(kind, sources, test, meaning, tuple(facts.items()), span, expected)


def apart_guard(
    written: Sequence[Source | None], others: Sequence[Source | None], span: Span | None
) -> Guard | None:
    """Each of the first objects is one of its own; None where there is nothing to compare.

    One test for all of them: there are as many pairs as their number squared.
    """
    sources = tuple(source for source in (*written, *others) if source is not None)
    places = [f"id({{{place}}})" for place in range(len(sources))]
    own, rest = places[: len(written)], places[len(written) :]
    tests = []
    if len(own) > 1:
        tests.append(f"len({{{{{', '.join(own)}}}}}) != {len(own)}")
    if rest:
        tests.append(f"not {{{{{', '.join(own)}}}}}.isdisjoint(({', '.join(rest)},))")
    if not tests or not own:
        return None
    return plain_guard("alias", sources, " or ".join(tests), "were objects of their own", span)


def mode_guards(grad_enabled: bool) -> list[Guard]:
    """The modes that all operations depend on: grad mode, other modes, default dtype."""
    element, state = dtypes.get_default_dtype(), dispatch.state
    changed = f"<STATE>.grad_enabled is not {grad_enabled} or <STATE>.modes"
    return [
        plain_guard("grad-mode", (), f"{changed} or <STATE>.inference is not {state.inference}",
                    f"gradients were {'on' if grad_enabled else 'off'} and no mode was active",
                    None, STATE=state, expected=mode_now("grad-mode")),
        plain_guard("autocast", (), "<STATE>.autocast is not <DTYPE>",
                    f"autocast was {state.autocast or 'off'}", None, STATE=state,
                    DTYPE=state.autocast, expected=mode_now("autocast")),
        plain_guard("default-dtype", (), "<dtypes>._default is not <DTYPE>",
                    f"the default dtype was {element}", None, dtypes=dtypes, DTYPE=element,
                    expected=mode_now("default-dtype")),
    ]  # fmt: skip
