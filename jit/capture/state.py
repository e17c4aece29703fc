"""What one capture knows: the graph so far, guards, effects, values by identity, and frames.

In: nothing but the call's own arguments. Out: everything a `CapturedProgram` is made of. A `Frame`
is one activation of a Python function: its instructions, stack, locals and cells; it can be left
at a yield and entered again.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from minitorch2.artifacts import Span
from minitorch2.errors import is_own_file
from minitorch2.jit import guards as kinds
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.instructions import Instruction, Program, decode
from minitorch2.jit.capture.picking import Picking
from minitorch2.jit.capture.side_effects import Effects
from minitorch2.jit.capture.source import (
    AttributeSource,
    ClassAttributeSource,
    ClassSource,
    ConstantSource,
    ItemSource,
    Source,
)
from minitorch2.jit.capture.twins import Twins
from minitorch2.jit.capture.values.base import Value
from minitorch2.jit.capture.values.keys import Key, ObjectKey, key_object
from minitorch2.jit.class_series import in_series, is_local, structure
from minitorch2.jit.guards import Guard, GuardSet
from minitorch2.jit.ir.graph import GraphBuilder
from minitorch2.jit.ir.graph import Value as GraphValue
from minitorch2.jit.shapes.environment import ShapeEnvironment
from minitorch2.jit.shapes.symbolic_size import SymbolicSize
from minitorch2.tensors import Tensor

if TYPE_CHECKING:
    from minitorch2.jit.capture.values.namespaces import GlobalsValue

NOTHING: Any = object()  # what no place holds
TOO_LARGE = 1 << 63  # for a number of a graph


class Frame:
    """One activation of a function."""

    __slots__ = (
        "program", "code", "index", "stack", "slots", "globals", "function", "keywords",
        "result", "started", "current", "step", "names", "space", "snapshot", "is_user",
    )  # fmt: skip

    def __init__(self, code: CodeType, globals: GlobalsValue, function: Value | None):
        self.program: Program = decode(code)
        self.code = code
        self.index = 0
        self.stack: list[Any] = []
        self.is_user = not is_own_file(code.co_filename)  # code outside of minitorch2
        own_cells = sum(1 for name in code.co_cellvars if name not in code.co_varnames)
        size = len(code.co_varnames) + own_cells + len(code.co_freevars)
        self.slots: list[Any] = [None] * size  # locals, then cells, then free variables
        self.globals = globals
        self.function = function
        self.keywords: tuple[str, ...] = ()  # set by KW_NAMES for the next call
        self.result: Value | None = None
        self.names: Any = None  # a class body: the dict in which it binds names
        self.space: Any = None  # and what its metaclass prepared, when that is no dict
        self.snapshot: Any = None  # what `locals()` gave
        self.started = False
        self.step = 0  # of the whole capture, when the current instruction began
        self.current: Instruction = self.program.instructions[0]

    def name_of(self, slot: int) -> str:
        """The variable that lives in a slot."""
        return self.code._varname_from_oparg(slot)  # type: ignore[attr-defined]


@dataclass(slots=True, eq=False)
class InputTensor:
    """What is fetched from the call as an input of the graph: a tensor, or an int that varies."""

    value: GraphValue
    source: Source
    fake: Tensor | None  # None for an int
    object: Any

    def size_place(self, name: str) -> str | None:
        """Text behind the source that reads the size `name` from this input, if it is there."""
        if self.fake is None:
            return "" if str(self.value.type.size) == name else None  # type: ignore[union-attr]
        for index, size in enumerate(self.fake.layout.shape):
            if isinstance(size, SymbolicSize) and str(size.expression) == name:
                return f".layout.shape[{index}]"
        return None


@dataclass(frozen=True, slots=True)
class ClassWrite:
    """What the captured program put into a class, where a raw attribute would be found."""

    value: Value


class CaptureState:
    """The state of one capture."""

    def __init__(self, name: str, guards: GuardSet):
        self.environment = ShapeEnvironment()
        self.asked: dict[Any, Any] = {}  # functions with an lru_cache that were called
        self.keyed: dict[int, Value] = {}  # keys of dicts and sets that are hashed by identity
        self.inside_asked = 0  # calls of such functions that are being read through
        self.builder = GraphBuilder(name, self.environment)
        self.guards = guards
        self.effects = Effects()
        self.picking = Picking(self)
        self.twins = Twins(self)
        self.inputs: list[InputTensor] = []
        self.by_id: dict[int, Value] = {}
        self.generators: list[Any] = []
        self.kept: list[Any] = []  # keeps the objects of `by_id` alive
        self.graph_values: dict[int, GraphValue] = {}
        self.tensor_values: dict[int, Any] = {}  # fake -> TensorValue
        self.fakes: list[Tensor] = []
        self.frames: list[Frame] = []
        self.step = 0
        self.class_writes: dict[tuple[type, str], ClassWrite] = {}
        self.function_writes: dict[FunctionType, dict[str, Value | None]] = {}  # None: deleted
        self.class_sources: dict[type, Source] = {}  # where classes of a series are found
        self.fixed_classes: set[type] = set()  # other classes of functions that were met
        self.made_classes: dict[type, Any] = {}  # classes made inside, see values.made_classes
        self.stand_ins: dict[int, Any] = {}  # value -> the object in its place in such a class
        self.written: set[int] = set()  # storages of fakes that were written
        self.copied: dict[int, Any] = {}  # storage of a fake: the tensor that was copied deeply
        self.leaf_hooks: dict[int, Any] = {}  # leaf -> the hooks that were registered on it here
        self.seeded: Any = None  # the default generator, once it was seeded here
        self.same: set[tuple[Source, int]] = set()  # sources whose very object is guarded
        self.named: set[tuple[int, str]] = set()  # names that are guarded, see `guard_name`
        self.counted = False  # whether a number of a counter from outside is a key
        self.names: dict[str, int] = {}
        self.last_span: Span | None = None  # of the user's frame that was left last
        self.exception: Value | None = None  # what a bare `raise` raises

    # ---- places

    def span(self) -> Span | None:
        """The user's place: the innermost frame of code outside of minitorch2."""
        for frame in reversed(self.frames):
            if frame.is_user:
                return frame.current.span
        return self.last_span

    def offset(self) -> int | None:
        """The bytecode offset at that place."""
        for frame in reversed(self.frames):
            if frame.is_user:
                return frame.current.offset
        return None

    def may_fail(self, name: str) -> None:
        """An operation that fails for some numbers is recorded: nobody here may want to know."""
        for frame in self.frames:
            handler = frame.program.handler_at(frame.index - 1)
            if handler is None:
                continue
            first, second = frame.program.instructions[handler.target : handler.target + 2]
            if first.name == "PUSH_EXC_INFO" and second.name != "WITH_EXCEPT_START":
                raise GraphBreak("may-fail", f"{name}() inside a try statement", self.span())

    def is_written(self, item: InputTensor) -> bool:
        """Whether the captured program writes into an input, or copies all of its memory."""
        if item.fake is None:
            return False
        return id(item.fake.storage) in self.written or id(item.fake.storage) in self.copied

    def remember(self, object: Any, value: Value) -> None:
        """`object` is `value` wherever it is met again."""
        self.by_id[id(object)] = value
        self.kept.append(object)

    def input_name(self, source: Source) -> str:
        """A name for a graph input, made from what the user calls it."""
        text = "".join(c if c.isalnum() else "_" for c in str(source)).strip("_") or "input"
        while "__" in text:
            text = text.replace("__", "_")
        if text[0].isdigit():
            text = f"in_{text}"
        count = self.names.get(text, 0)
        self.names[text] = count + 1
        return f"{text}_{count}" if count else text

    # ---- guards

    def add(self, guard: Guard) -> None:
        """Add a guard, unless what it looks at cannot change."""
        if all(source is None or source.trusted for source in guard.sources) and guard.sources:
            return
        self.guards.add(guard)

    def guard_value(self, source: Source | None, value: Any) -> None:
        if source is not None and not source.trusted:
            self.add(kinds.value_guard(source, value, self.span()))

    def guard_symbolic_int(self, source: Source) -> None:
        test = f"type({{0}}) is not int or not 2 <= {{0}} < {TOO_LARGE}"
        self._plain("value", source, test, "was an int of 2 or more")

    def guard_identity(self, source: Source | None, thing: Any) -> None:
        if source is None or source.trusted or (source, id(thing)) in self.same:
            return
        self.same.add((source, id(thing)))
        self.add(kinds.identity_guard(source, thing, self.span()))

    def guard_not_this(self, source: Source, thing: Any) -> None:
        """Another object than this one."""
        self._plain("alias", source, "{0} is <THING>", "was another object", THING=thing)

    def guard_type(self, source: Source | None, cls: type) -> None:
        """An instance of this very class, or of one of the same series."""
        if source is None or self._guard_series(ClassSource(source), cls):
            return
        self.add(kinds.type_guard(source, cls, self.span()))

    def guard_name(self, owner: Any, label: str, name: str, found: Any) -> None:
        """A public module or class of minitorch2's or Python's still has this under a name: the
        program may put its own there. Once for each name."""
        if (id(owner), name) in self.named or vars(owner).get(name) is not found:
            return
        self.named.add((id(owner), name))
        base = ConstantSource(owner, label, False)
        raw = getattr(owner, name, None) is not found  # what is bound when it is read
        step = ClassAttributeSource if raw else AttributeSource  # which is quicker
        self.add(kinds.identity_guard(step(base, name), found, self.span()))

    def guard_class(self, source: Source, cls: type) -> None:
        """This very class, or one of the same series."""
        if not self._guard_series(source, cls):
            self.guard_identity(source, cls)

    def _guard_series(self, source: Source, cls: type) -> bool:
        """Any class of a series is read through this source from now on; False: it is no series.
        Which of the classes met are one, and which extend which, is guarded."""
        if source.trusted or not is_local(cls):
            return False
        if not in_series(cls):
            for base in filter(is_local, cls.__mro__):
                self.fixed_classes.add(base)
                for other, place in self.class_sources.items():
                    self._guard_relation(other, place, base, ConstantSource(base, base.__name__))
            return False
        if cls in self.class_sources:
            self.guard_same(self.class_sources[cls], source)
            return True
        self.add(kinds.alike_guard(source, cls, self.span()))
        others: dict[type, Source] = {one: ConstantSource(one, one.__name__)
                                      for one in self.fixed_classes}  # fmt: skip
        others |= self.class_sources
        order = AttributeSource(source, "__mro__")
        for number, base in enumerate(cls.__mro__):
            place = ItemSource(order, number) if number else source
            if is_local(base):
                self.class_sources.setdefault(base, place)
                for other, where in others.items():
                    self._guard_relation(base, place, other, where)
        return True

    def _guard_relation(self, cls: type, place: Source, other: type, where: Source) -> None:
        """Two classes are one, or they are two although they could be one."""
        if cls is other:
            self.guard_same(where, place)
        elif structure(cls) == structure(other):
            self.add(kinds.plain_guard("alias", (place, where), "{0} is {1}", "were two classes",
                                       self.span()))  # fmt: skip

    def guard_code(self, source: Source | None, code: CodeType) -> None:
        if source is not None and not is_own_file(code.co_filename):
            self.add(kinds.code_guard(source, code, self.span()))

    def guard_length(self, source: Source | None, length: int) -> None:
        self._plain("value", source, f"len({{0}}) != {length}", f"had {length} items",
                    expected=length)  # fmt: skip

    def guard_truth(self, source: Source | None, truth: bool) -> None:
        meaning = "was not empty" if truth else "was empty"
        self._plain("keys", source, "not {0}" if truth else "{0}", meaning)

    def guard_no_attribute(self, source: Source | None, name: str) -> None:
        self._plain("keys", source, f"{name!r} in {{0}}.__dict__", f"had no own attribute {name}")

    def guard_attribute(self, source: Source | None, name: str, there: bool) -> None:
        word, meaning = ("not ", "an") if there else ("", "no")
        self._plain("keys", source, f"{word}hasattr({{0}}, {name!r})",
                    f"had {meaning} attribute {name}")  # fmt: skip

    def guard_bare(self, source: Source | None, bare: bool) -> None:
        """Whether a partial has no dict of attributes; to ask for it would make one."""
        word = "is not" if bare else "is"
        self._plain("keys", source, f"{{0}}.__reduce__()[2][3] {word} None",
                    f"had {'no' if bare else 'some'} attributes")  # fmt: skip

    def guard_there(self, source: Source) -> None:
        """Something that may be taken away is still there; of items, their container says so."""
        if source.base is not None and not isinstance(source, ItemSource):
            self._plain("keys", source, "{0} is <NOTHING>", "was there", NOTHING=NOTHING)

    def guard_in_context(self, source: Source | None, there: bool, unset: Any) -> None:
        """Whether a context variable was set."""
        word, meaning = ("is", "was set") if there else ("is not", "was not set")
        self._plain("value", source, f"{{0}}.get(<UNSET>) {word} <UNSET>", meaning, UNSET=unset)

    def guard_slot(self, source: Source, name: str, slot: Any, there: bool) -> None:
        test, meaning = ("not <HOLDS>", "something") if there else ("<HOLDS>", "nothing")
        self._plain("keys", source, f"{test}({{0}})", f"had {meaning} in {name}",
                    HOLDS=Holds(slot))  # fmt: skip

    def guard_class_lacks(self, source: Source, names: frozenset[str]) -> None:
        """A class that holds none of these names itself: what it inherits is not hidden."""
        self._plain("keys", source, "not {0}.__dict__.keys().isdisjoint(<NAMES>)",
                    f"had no own {', '.join(sorted(names))}", NAMES=names)  # fmt: skip

    def guard_subclass(self, source: Source, wanted: tuple[type, ...], found: bool) -> None:
        """What abstract classes answer, which may be told otherwise later."""
        names = " or ".join(one.__name__ for one in wanted)
        meaning = f"was {'' if found else 'not '}a kind of {names}"
        self._plain("value", source, f"issubclass({{0}}, <WANTED>) is not {found}", meaning,
                    WANTED=wanted)  # fmt: skip

    def guard_no_leaf_hooks(self, source: Source | None) -> None:
        self._plain("keys", source, "{0}._hooks", "had no hooks")

    def guard_no_node_hooks(self, source: Source | None) -> None:
        test = "{0}.grad_fn is None or {0}.grad_fn.hooks"
        self._plain("keys", source, test, "was a result without hooks")

    def guard_no_hooks(self, source: Source, tables: tuple[str, ...]) -> None:
        test = " or ".join(f"{{0}}.{name}" for name in tables)
        self._plain("keys", source, test, "had no hooks")

    def guard_keys(self, source: Source | None, keys: tuple) -> None:
        """All keys of a dict, in order."""
        if any(isinstance(key, Key) for key in keys):
            same = SameKeys([key_object(key) for key in keys])
            self._plain("keys", source, "not <SAME_KEYS>({0})", "had other keys", SAME_KEYS=same)
            return
        meaning = f"had the keys {list(keys)}"
        if all(type(key) is str for key in keys):
            text = repr(list(keys)).replace("{", "{{").replace("}", "}}")
            self._plain("keys", source, f"list({{0}}) != {text}", meaning)
        else:  # 1 is no 1.0
            self._plain("keys", source, "not <SAME>((*{0},))", meaning, SAME=kinds.Same(keys))

    def guard_same_items(self, source: Source, base: type, items: Any) -> None:
        """What a set of a user class holds."""
        test = f"not <{base.__name__}>.__eq__({{0}}, <ITEMS>)"
        self._plain("value", source, test, "held other items", ITEMS=base(items),
                    **{base.__name__: base})  # fmt: skip

    def guard_native_value(self, source: Source, base: type, value: Any) -> None:
        """The number or text that an instance of a user class is."""
        name = base.__name__
        self._plain("value", source, f"<{name}>.__eq__({{0}}, <VALUE>) is not True",
                    f"was {value!r}", VALUE=value, **{name: base})  # fmt: skip

    def guard_size_between(self, source: Source, place: int, low: int, high: int | None) -> None:
        """The bounds that the user gave for a size."""
        size = f"{{0}}.layout.shape[{place}]"
        test = f"not {low} <= {size}" if high is None else f"not {low} <= {size} <= {high}"
        self._plain("size", source, test, f"had a size between {low} and {high or 'any'}")

    def guard_order(self, source: Source | None, items: list) -> None:
        """The items of a set in the order in which it is gone through."""
        self._plain("keys", source, "list({0}) != <ITEMS>", "had another order", ITEMS=items)

    def guard_end(self, source: Source, ended: bool, marks: tuple[Any, Any]) -> None:
        """Whether an iterator has an item at a place; `marks` say that it has none, or that nobody
        knows."""
        meaning = "was its end" if ended else "was there"
        test = "{0} is not <END>" if ended else "{0} is <END> or {0} is <UNKNOWN>"
        self._plain("value", source, test, meaning, END=marks[0], UNKNOWN=marks[1])

    def guard_other(self, source: Source, numbers: frozenset) -> None:
        """A number that is none of these."""
        self._plain("value", source, "{0} in <NUMBERS>", "was another number", NUMBERS=numbers)

    def guard_key(self, source: Source | None, key: Any, there: bool) -> None:
        """Whether a dict has a key."""
        word = "not in" if there else "in"
        meaning = f"had a key {key!r}" if there else f"had no key {key!r}"
        if isinstance(key, Key) and (key.value.source is None or not isinstance(key, ObjectKey)):
            raise GraphBreak("unknown-operation", "this key in a dict from outside", self.span())
        if isinstance(key, ObjectKey):
            if source is None or key.value.source is None:
                return
            guard = kinds.plain_guard("keys", (source, key.value.source), f"{{1}} {word} {{0}}",
                                      "had this key" if there else "had no such key",
                                      self.span())  # fmt: skip
            self.add(guard)
        elif type(key) in (str, int, bool):
            text = repr(key).replace("{", "{{").replace("}", "}}")
            self._plain("keys", source, f"{text} {word} {{0}}", meaning)
        else:
            self._plain("keys", source, f"<KEY> {word} {{0}}", meaning, KEY=key)

    def guard_same(self, first: Source | None, second: Source | None) -> None:
        """Two sources are one object."""
        if first is not None and second is not None and first != second:
            self.add(kinds.plain_guard("alias", (second, first), "{0} is not {1}",
                                       "were one object", self.span()))  # fmt: skip

    def guard_distinct(self, first: Value, second: Value) -> None:
        """Two sources are two objects."""
        if first.source is not None and second.source is not None:
            self.add(kinds.plain_guard("alias", (second.source, first.source), "{0} is {1}",
                                       "were two objects", self.span()))  # fmt: skip

    def _plain(
        self, kind: str, source: Source | None, test: str, meaning: str, **facts: Any
    ) -> None:
        if source is not None:
            self.add(kinds.plain_guard(kind, (source,), test, meaning, self.span(), **facts))


class Holds:
    """Whether a slot of an object has a value; its `__getattr__` is not asked."""

    __slots__ = ("slot",)

    def __init__(self, slot: Any):
        self.slot = slot

    def __call__(self, owner: Any) -> bool:
        try:
            self.slot.__get__(owner)
        except AttributeError:
            return False
        return True


class SameKeys:
    """Whether a dict has these very objects as keys, in this order."""

    __slots__ = ("keys",)

    def __init__(self, keys: list[Any]):
        self.keys = keys

    def __call__(self, table: dict) -> bool:
        return len(table) == len(self.keys) and all(map(operator.is_, table, self.keys))
