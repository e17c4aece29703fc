"""Calls of functions with an `lru_cache`: the cache is state of the program, and is asked first.

In: such a function and its arguments. Out: the answer that its cache keeps, as any other object
from outside; else what the function gives when it is read through, under the guard that the cache
has no answer, or this very one. Python's own cache hears of every call, in order with the other
effects, so that it counts, keeps and drops answers as always.

What a cache holds can be seen without asking it: Python's collector of garbage is told of it.

    >>> import functools
    >>> double = functools.lru_cache(lambda n: n * 2)
    >>> double(4)
    8
    >>> kept_answer(double, (4,), {}), kept_answer(double, (5,), {}) is ABSENT
    (8, True)

An answer made inside, one after a side effect, and one that may have pushed another out are for
Python to get: a graph break, once; then the answer is there.

Source: CPython's Modules/_functoolsmodule.c, `lru_cache_make_key` and `lru_cache_tp_traverse`.
"""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.source import Call, ConstantSource, MadeSource, Render, Source, Step
from minitorch2.jit.capture.values.base import Arguments, Keywords, NotKnown, UserRaise, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.namespaces import is_trusted_module
from minitorch2.jit.capture.values.sequences import TupleValue

if TYPE_CHECKING:
    from minitorch2.jit.capture.interpreter import Machine

ABSENT: Any = object()  # what is kept under a key that a cache does not have


def kept_answer(function: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """What the cache of a function holds for a call, or ABSENT; the cache does not notice."""
    info = function.cache_info()
    held = gc.get_referents(function)[1:]  # behind its type
    count = 0 if info.maxsize is None else info.currsize
    table, _, mark = held[3 * count : 3 * count + 3]
    key = kept_key(function, mark, args, kwargs)
    if info.maxsize is not None:  # key, answer, the type of what links them; and so on
        table = dict(zip(held[: 3 * count : 3], held[1 : 3 * count : 3], strict=True))
    return table.get(key, ABSENT)


def kept_key(function: Any, mark: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """The key of a call; `mark` stands between arguments and keywords."""
    typed = function.cache_parameters()["typed"]
    if not typed and not kwargs and len(args) == 1 and type(args[0]) in (int, str):
        return args[0]
    named = [part for pair in kwargs.items() for part in pair]
    types = [type(value) for value in (*args, *kwargs.values())] if typed else []
    return (*args, *([mark] if kwargs else []), *named, *types)


def has_room(function: Any, wanted: int) -> bool:
    """Whether so many answers can be kept before one is dropped."""
    info = function.cache_info()
    return info.maxsize is None or info.currsize + wanted <= info.maxsize


KEPT = ConstantSource(kept_answer, "kept_answer")


@dataclass(frozen=True, slots=True, eq=False)
class KeptSource(Step):
    """What the cache of a function holds for a call; the last arguments bear the names."""

    args: tuple[Source, ...]
    names: tuple[str, ...]

    def fetch(self, call: Call) -> Any:
        found = [source.fetch(call) for source in self.args]
        count = len(found) - len(self.names)
        named = dict(zip(self.names, found[count:], strict=True))
        return kept_answer(self.origin.fetch(call), tuple(found[:count]), named)

    def expression(self, of: Render) -> str:
        texts = [of(source) for source in self.args]
        count = len(texts) - len(self.names)
        args = "".join(f"{text}, " for text in texts[:count])
        named = ", ".join(f"{n!r}: {t}" for n, t in zip(self.names, texts[count:], strict=True))
        return f"{of(KEPT)}({of(self.origin)}, ({args}), {{{named}}})"

    def __str__(self) -> str:
        names = [""] * (len(self.args) - len(self.names)) + [f"{name}=" for name in self.names]
        texts = [f"{name}{source}" for name, source in zip(names, self.args, strict=True)]
        return f"the kept {self.origin}({', '.join(texts)})"


class Asked:
    """The calls of one function with a cache in the captured program so far."""

    def __init__(self, function: Any):
        trusted = is_trusted_module(function.__module__ or "")
        self.function = function
        self.name = getattr(function, "__qualname__", "a function")
        self.source = ConstantSource(function, self.name.rpartition(".")[2], trusted)
        self.answers: dict[Any, Value] = {}
        self.absent = 0  # how many of them the cache did not have before

    def stop(self, machine: Machine) -> NoReturn:
        """Python makes the call."""
        machine.stop("kept-answer", f"{self.name}()")

    def operand(self, machine: Machine, value: Value) -> tuple[Any, Source]:
        """(an argument itself, where a guard finds it): plain data, or an object from outside that
        is hashed by what it is."""
        machine.key(value)  # raises for what has no hash
        try:
            known = machine.number(value).known()
            return known, ConstantSource(known, repr(known))
        except NotKnown:
            found, source = getattr(value, "object", None), value.source
        if found is None or source is None or isinstance(source, MadeSource):
            self.stop(machine)
        cls = type(found)
        if cls.__hash__ is not object.__hash__ and not cls.__module__.startswith("minitorch2."):
            self.stop(machine)
        return found, source

    def check_room(self, machine: Machine) -> None:
        """What was not there before pushes out no answer that the program asks for again."""
        if not self.absent or len(self.answers) < 2:
            return
        if not has_room(self.function, self.absent):
            self.stop(machine)
        guard = kinds.plain_guard(
            "value", (self.source,), f"not <ROOM>({{0}}, {self.absent})", "had room for answers",
            machine.state.span(), ROOM=has_room,
        )  # fmt: skip
        machine.state.add(guard)


def call_kept(machine: Machine, function: Any, args: Arguments, kwargs: Keywords) -> Value:
    """A call of a function with an lru_cache."""
    state = machine.state
    asked = state.asked.setdefault(function, Asked(function))
    given = [machine.real(value) for value in (*args, *kwargs.values())]
    operands = [asked.operand(machine, value) for value in given]
    count = len(args)
    plain = tuple(thing for thing, _ in operands[:count])
    named = {name: thing for name, (thing, _) in zip(kwargs, operands[count:], strict=True)}
    key = kept_key(function, ABSENT, plain, named)
    if key not in asked.answers:
        sources = tuple(source for _, source in operands)
        place = KeptSource(asked.source, sources, tuple(kwargs))
        held = kept_answer(function, plain, named)
        if held is not ABSENT:
            asked.answers[key] = machine.real(machine.wrap(held, place))
        else:
            asked.answers[key] = _read_through(machine, asked, args, kwargs, place)
            asked.absent += 1
    asked.check_room(machine)
    if not state.inside_asked:  # one that is read through makes its calls for real later
        places = [f"{{{number + 1}}}" for number in range(count)]
        places += [f"{name}={{{count + number + 1}}}" for number, name in enumerate(kwargs)]
        target = machine.trusted(function, asked.name)
        state.effects.record(target, f"{{0}}({', '.join(places)})", *given)
    return asked.answers[key]


def _read_through(
    machine: Machine, asked: Asked, args: Arguments, kwargs: Keywords, place: Source
) -> Value:
    """The answer of a call that the cache has none for yet, when it is the same in each call."""
    state, function = machine.state, asked.function
    before = len(state.effects.items), len(state.builder.nodes)
    state.inside_asked += 1
    try:
        found = machine.call(machine.wrap_function(function.__wrapped__), args, kwargs)
    except UserRaise:
        asked.stop(machine)
    finally:
        state.inside_asked -= 1
    found = machine.real(found)
    changed = (len(state.effects.items), len(state.builder.nodes)) != before
    if changed or function.cache_info().maxsize == 0 or not _is_fixed(machine, found):
        asked.stop(machine)
    test, sources, facts = "{0} is not <ABSENT>", [place], {"ABSENT": ABSENT}
    try:
        facts["SAME"] = kinds.Same(found.known())
        test += " and not <SAME>({0})"
    except NotKnown:
        if found.source is not None:
            test += " and {0} is not {1}"
            sources.append(found.source)
    meaning = "was nothing, or the same answer"
    state.add(kinds.plain_guard("value", tuple(sources), test, meaning, state.span(), **facts))
    return found


def _is_fixed(machine: Machine, value: Value) -> bool:
    """Whether nothing can change in a value and each call gives the same one: plain data, classes,
    what was there before, tuples of them."""
    value = machine.real(value)
    if isinstance(value, TupleValue):
        return all(_is_fixed(machine, item) for item in value.values)
    if value.source is not None:
        return not isinstance(value.source, MadeSource)
    return isinstance(value, Constant | ClassValue)
