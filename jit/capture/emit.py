"""The host function: fetch inputs, run the compiled graph, replay effects, build the result.

In: a finished capture. Out: readable Python text and the values it needs, for instance

    def call(x, /):
        v0 = FUNCTION.scale  # fn.scale
        out = COMPILED([x, v0])
        FUNCTION.calls = 1
        return (out[0], 'done')

Everything that comes from the call is fetched before the graph runs and before the first effect.
"""

from __future__ import annotations

import enum
import re
import types
import typing
from collections import defaultdict, deque
from collections.abc import Collection
from typing import Any

from minitorch2.creation import tensor
from minitorch2.dispatch import state as dispatch_state
from minitorch2.dispatch import without_autocast
from minitorch2.dtypes import float64
from minitorch2.jit.capture.graph_break import GraphBreak
from minitorch2.jit.capture.resume.splice import Rest
from minitorch2.jit.capture.resume.suspend import finished_generator, generator_place
from minitorch2.jit.capture.side_effects import is_generic
from minitorch2.jit.capture.source import ConstantSource, MadeSource, Source
from minitorch2.jit.capture.state import CaptureState, InputTensor
from minitorch2.jit.capture.values.base import Lazy, Value
from minitorch2.jit.capture.values.classes import ClassValue
from minitorch2.jit.capture.values.constants import Constant
from minitorch2.jit.capture.values.containers import FIXED, ContainerObject
from minitorch2.jit.capture.values.functions import FunctionValue, MethodValue
from minitorch2.jit.capture.values.iterators import GeneratorValue
from minitorch2.jit.capture.values.keys import Key
from minitorch2.jit.capture.values.made_classes import MadeClass, check_parts
from minitorch2.jit.capture.values.mappings import DictValue
from minitorch2.jit.capture.values.namespaces import CellValue
from minitorch2.jit.capture.values.objects import HEAP, ObjectValue
from minitorch2.jit.capture.values.sequences import ListValue, TupleValue
from minitorch2.jit.capture.values.tensors import TensorValue
from minitorch2.jit.guards import FunctionWriter, signature_text
from minitorch2.jit.shapes.symbolic_size import SymbolicSize, as_size
from minitorch2.storages import NO_VERSION, count_births
from minitorch2.tensors import Tensor

PLAIN = (int, float, bool, str, bytes, type(None))
SHARED = (TupleValue, MethodValue)  # built by an expression, but one object each


def set_version(version: Any, *tensors: Tensor) -> None:
    """Some memory was written so often; views of it that were made meanwhile know of it."""
    memory = tensors[0].storage
    if memory.version != version:
        memory.version = version
        for tensor in tensors:
            if tensor._view is not None:
                tensor._view.version = version


class Emitter:
    """Writes the host function of one capture."""

    def __init__(self, state: CaptureState, function: Any):
        self.state = state
        guards = state.guards
        self.writer = FunctionWriter(function, (*guards.positional, *guards.keywords))
        self.out = self.writer.local("out")
        self.compiled = self.writer.local("COMPILED")
        self.prelude: list[str] = []
        self.lines: list[str] = []
        self.outputs: list[Tensor] = []
        self.refused: list[Value] = []  # what cannot be built, the innermost first
        self.raised: Collection[int] = ()  # ids of exceptions that only Python can have raised
        self.shares = False  # whether what is built twice must be one object
        self.waiting: list[tuple[str, Value]] = []  # cells, and what they will hold
        self._names: dict[int, str] = {}
        self._busy: set[int] = set()
        self._memory: set[int] = set()
        self._count = 0

    # ---- what values ask for

    def value(self, value: Value) -> str:
        """The text of an expression that gives the value."""
        if isinstance(value, Lazy) and value.real is not None:
            value = value.real
        name = self._names.get(id(value))
        if name is not None:
            return name
        if id(value) in self._busy and isinstance(value, ListValue | DictValue):
            return self.assign(value, value.empty(self))  # it contains itself
        if id(value) in self._busy:
            raise GraphBreak("unknown-object", f"{value.describe()} contains itself")
        self._busy.add(id(value))
        try:
            if id(value) in self.raised:
                raise GraphBreak("unknown-object", f"{value.describe()} has a traceback")
            text = value.emit(self)
            if self.shares and not text.isidentifier() and isinstance(value, SHARED):
                return self.assign(value, text)
            return text
        except GraphBreak:
            self.refused.append(value)
            raise
        finally:
            self._busy.discard(id(value))

    def fetch(self, source: Source) -> str:
        """A local variable with what stands at a source, fetched before the graph runs."""
        root = source
        while root.base is not None:
            root = root.base
        if isinstance(root, ConstantSource):
            made = self._made(root.object)
            if made is not None:
                return self._inside(source, made)
            alias = self._alias(root.object, str(source)) if source is root else None
            if alias is not None:
                return alias
            if not isinstance(root.object, type):
                check_parts(self.state, root.object, str(source))
        return self.writer.source(source, self.prelude)

    def object(self, thing: Any, hint: str) -> str:
        """The name of an object that is the same in every call, or of a class made in this one."""
        if isinstance(thing, type) and thing in self.state.class_sources:
            return self.fetch(self.state.class_sources[thing])
        made = self._made(thing)
        if made is not None:
            return self.made_class(made)
        member_of = self._made(type(thing)) if isinstance(thing, enum.Enum) else None
        if member_of is not None and type(thing).__members__.get(thing.name) is thing:
            return f"{self.made_class(member_of)}[{thing.name!r}]"
        if member_of is not None and isinstance(thing, enum.Flag):
            return f"{self.made_class(member_of)}({thing.value!r})"
        alias = self._alias(thing, hint)
        if alias is not None:
            return alias
        check_parts(self.state, thing, hint)
        return self.writer.bind(thing, hint)

    def _alias(self, thing: Any, hint: str) -> str | None:
        """`Made[int]` or `list[Made]`, for a class made inside."""
        origin, parts = typing.get_origin(thing), typing.get_args(thing)
        listed = type(thing) is types.GenericAlias and any(map(self._made, parts))
        if self._made(origin) is None and not listed:
            return None
        given = ", ".join(self.object(part, hint) for part in parts)
        return f"{self.object(origin, hint)}[{given}]"

    def _made(self, thing: Any) -> MadeClass | None:
        """How something is made, when it is a class made inside."""
        return self.state.made_classes.get(thing) if isinstance(thing, type) else None

    def _inside(self, source: Source, made: MadeClass) -> str:
        """What a class made inside holds."""
        if source.base is None:
            return self.made_class(made)
        return source.expression(lambda base: self._inside(base, made))

    def made_class(self, made: MadeClass) -> str:
        """A class of the program, made anew."""
        name = self._names.get(id(made))
        if name is not None:
            return name
        if id(made) in self._busy:
            raise GraphBreak("unknown-object", f"class {made.cls.__name__} holds itself")
        self._busy.add(id(made))
        try:
            given = self._given(made)
        finally:
            self._busy.discard(id(made))
        make = self.object(made.make, made.make.__name__)
        name = self.assign(made, f"{make}({', '.join(given)})")
        self._fill_cells(made.cls, name)
        for function, more in made.after:
            parts = ", ".join([name, *(self.value(value) for value in more)])
            called = self.object(function, getattr(function, "__name__", "decorate"))
            self.lines.append(f"{called}({parts})")
        return name

    def _given(self, made: MadeClass) -> list[str]:
        """The arguments of what makes a class."""
        pairs = []
        if made.cell is not None:  # first of all: the methods refer to it
            cell = self.assign(made.cell, f"{self.object(types.CellType, 'CellType')}()")
            pairs.append(f"'__classcell__': {cell}")
        given = []
        for value in made.args:
            if value is made.names:
                held = [f"{key!r}: {self.value(item)}" for key, item in made.names.entries.items()]
                given.append(f"{{{', '.join([*held, *pairs])}}}")
            else:
                given.append(self.value(value))
        return [*given, *(f"{key}={self.value(value)}" for key, value in made.kwargs.items())]

    def _fill_cells(self, content: Any, text: str) -> None:
        """What could not be put into a cell because it was not there yet: the thing itself."""
        waiting, self.waiting = self.waiting, []
        for name, value in waiting:
            if value is content or getattr(value, "cls", None) is content:
                self.lines.append(f"{name}.cell_contents = {text}")
            else:
                self.waiting.append((name, value))

    def constant(self, value: Any) -> str:
        """A constant as a literal, or by name."""
        if isinstance(value, SymbolicSize):
            return self._size(value)
        if type(value) in PLAIN and not (isinstance(value, float) and value != value):
            text = repr(value)
            return f"float({text!r})" if text in ("inf", "-inf") else text
        return self.object(value, type(value).__name__)

    def _size(self, size: SymbolicSize) -> str:
        """A symbolic size in terms of the inputs' shapes."""
        expression = as_size(size)
        if isinstance(expression, int):
            return str(expression)
        text = str(expression)
        return "(" + re.sub(r"\bs\d+\b", lambda found: self._symbol(found[0]), text) + ")"

    def _symbol(self, name: str) -> str:
        for item in self.state.inputs:
            where = item.size_place(name)
            if where is not None:
                return f"{self.fetch(item.source)}{where}"
        raise GraphBreak("internal", f"size {name} belongs to no input")

    def assign(self, value: Value | MadeClass, text: str) -> str:
        """Put an expression into a local variable, so that the object is made once."""
        name = self.writer.local(f"made{self._count}")
        self._count += 1
        self.lines.append(f"{name} = {text}")
        self._names[id(value)] = name
        return name

    def tensor(self, value: TensorValue) -> str:
        """An input tensor itself, or an output of the graph."""
        self.state.twins.leaves(value.fake)
        if value.source is not None:
            return self.fetch(value.source)
        picked = self.state.picking.leaving(self, value)
        if picked is not None:
            return picked
        for index, fake in enumerate(self.outputs):
            if fake is value.fake:
                return f"{self.out}[{index}]"
        self.outputs.append(value.fake)
        return f"{self.out}[{len(self.outputs) - 1}]"

    def new_object(self, value: ObjectValue) -> str:
        """Build an instance that was made inside, in its final state."""
        cls = self.object(value.cls, value.cls.__name__)
        native = next(base for base in value.cls.__mro__ if not base.__flags__ & HEAP)
        make = self.object(native.__new__, f"{native.__name__}_new")
        name = self.assign(value, f"{make}({cls})")
        return self._attributes(value, name)

    def new_container(self, value: ContainerObject) -> str:
        """The same for one that extends a native class."""
        base = value.native.python_type()
        make = f"{self.object(base, base.__name__)}.__new__"
        cls = self.object(value.cls, value.cls.__name__)
        if base in FIXED:
            name = self.assign(value, f"{make}({cls}, {self.value(value.native)})")
            return self._attributes(value, name)
        name = self.assign(value, f"{make}({cls})")
        method = "extend" if base in (list, deque) else "update"
        content = self.value(value.native)
        self.lines.append(f"{self.object(base, base.__name__)}.{method}({name}, {content})")
        if base is defaultdict:
            self.lines.append(f"{name}.default_factory = {content}.default_factory")
        return self._attributes(value, name)

    def _attributes(self, value: ObjectValue, name: str) -> str:
        plain = is_generic(value.cls.__setattr__)
        for attribute, held in value.attributes.items():
            if held is None:
                continue
            text = self.value(held)
            if plain:
                self.lines.append(f"{name}.{attribute} = {text}")
            else:
                setter = self.object(object.__setattr__, "object_setattr")
                self.lines.append(f"{setter}({name}, {attribute!r}, {text})")
        return name

    def with_attributes(self, value: Value, text: str, attributes: dict[str, Value]) -> str:
        """An object made by an expression, and then some attributes."""
        name = self.assign(value, text)
        for attribute, held in attributes.items():
            self.lines.append(f"{name}.{attribute} = {self.value(held)}")
        return name

    def cell(self, value: CellValue) -> str:
        """A closure cell made inside."""
        name = self.assign(value, f"{self.object(types.CellType, 'CellType')}()")
        held = self._content(value)
        if self._is_busy(held):
            self.waiting.append((name, held))
        elif value.contents is not None:
            self.lines.append(f"{name}.cell_contents = {self.value(value.contents)}")
        return name

    def _content(self, value: CellValue) -> Any:
        held = value.contents
        return held.real if isinstance(held, Lazy) and held.real is not None else held

    def _is_busy(self, value: Any) -> bool:
        """Whether a function or class is being built right now."""
        if isinstance(value, ClassValue):
            return id(self.state.made_classes.get(value.cls)) in self._busy
        return isinstance(value, FunctionValue) and id(value) in self._busy

    def function(self, value: FunctionValue) -> str:
        """A function made inside."""
        if len(value.cells) != len(value.code.co_freevars):
            raise GraphBreak("unknown-object", f"{value.describe()} is half made")
        make = self.object(types.FunctionType, "FunctionType")
        code = self.object(value.code, f"CODE_{value.code.co_name}")
        scope = self.value(value.globals)
        defaults = ", ".join(self.value(default) for default in value.defaults)
        defaults = f"({defaults},)" if defaults else "None"
        cells = ", ".join(self.value(cell) for cell in value.cells)
        cells = f"({cells},)" if cells else "None"
        text = f"{make}({code}, {scope}, {value.code.co_name!r}, {defaults}, {cells})"
        name = self.assign(value, text)
        self._fill_cells(value, name)
        if value.keyword_defaults:
            pairs = [f"{k!r}: {self.value(v)}" for k, v in value.keyword_defaults.items()]
            self.lines.append(f"{name}.__kwdefaults__ = {{{', '.join(pairs)}}}")
        for attribute, held in value.attributes.items():
            self.lines.append(f"{name}.{attribute} = {self.value(held)}")
        return name

    def generator(self, value: GeneratorValue) -> str:
        """A generator of an inlined function, where it stands now: Python's own, made of the rest
        of its code."""
        if value.finished:
            text = f"{self.object(finished_generator, 'finished_generator')}()"
            return self.assign(value, text)
        place, held = generator_place(value.frame)
        if place is None or value.running:
            raise GraphBreak("generator", f"{value.describe()} leaves the captured function")
        rest = self.object(Rest(place), f"rest_of_{value.frame.code.co_name}")
        given = ", ".join(self.value(item) for item in held)
        name = self.assign(value, f"{rest}({given})")
        if value.frame.started:
            self.lines.append(f"next({name})")
        return name

    def has(self, value: Value) -> bool:
        """Whether the value was built."""
        return id(value) in self._names

    def leaves_once(self, memory: Any) -> bool:
        """Whether this is the first object over some memory that leaves."""
        seen = id(memory) in self._memory
        self._memory.add(id(memory))
        return not seen

    def called(self, value: Value, method: str) -> str:
        """A call of a method of a native class, of the instance of which the value is a part."""
        outer = getattr(value, "outer", None)
        if outer is None:
            return f"{self.value(value)}.{method}()"
        base = value.python_type()
        return f"{self.object(base, base.__name__)}.{method}({self.value(outer)})"

    def key(self, key: Any) -> str:
        """The key of a dict entry."""
        return self.value(key.value if isinstance(key, Key) else Constant(key))

    def content(self, value: Value, text: str, method: str) -> str:
        """A list or dict with its items; one that contains itself has a name by now."""
        name = self._names.get(id(value))
        if name is None:
            return self.assign(value, text)
        self.lines.append(f"{name}.{method}({text})")
        return name

    def take_lines(self) -> list[str]:
        """The statements so far, which then start anew."""
        lines, self.lines = self.lines, []
        return lines

    # ---- the whole

    def finish(self, result: Value, modes: dict[str, tuple[Any, Any]]) -> str:
        """The text of the function, and the graph's outputs declared."""
        body = self.state.effects.emit(self)
        plain = isinstance(result, TupleValue) and result.source is None
        known = id(result) in self._names
        if plain and not known:
            returned = result.text(self)  # type: ignore[attr-defined]
        else:
            returned = self.value(result)
        body += self.take_lines()
        for name, (before, after) in modes.items():
            if before != after and name == "births":
                body.append(f"{self.object(count_births, 'count_births')}({after})")
            elif before != after:
                state = self.object(dispatch_state, "STATE")
                body.append(f"{state}.{name} = {self.object(after, name)}")
        inputs = [self._input(item) for item in self.state.inputs]
        if self.outputs or self.state.builder.nodes:
            prefix = f"{self.out} = " if self.outputs else ""
            run = f"{self.compiled}("
            if modes["autocast"][0] is not None:  # the casts are in the graph
                run = f"{self.object(without_autocast, 'without_autocast')}({self.compiled}, "
            body[:0] = [f"{prefix}{run}[{', '.join(inputs)}])", *self._versions()]
        guards = self.state.guards
        lines = [f"def call({signature_text(guards.positional, guards.keywords)}):"]
        lines += [f"    {line}" for line in [*self.prelude, *body, f"return {returned}"]]
        self.declare_outputs()
        return "\n".join([*lines, ""])

    def _versions(self) -> list[str]:
        """Memory has the versions that it has where each operation is run by itself: a compiled
        graph writes an input once, a result never, and fills what is a leaf from here on."""
        places: dict[int, list[str]] = {}  # of memory: an input, outputs
        texts: dict[int, str] = {}
        for item in self.state.inputs:
            if item.fake is None:
                continue
            memory, place = item.fake.storage, self.fetch(item.source)
            places[id(memory)] = [place]
            if isinstance(item.source, MadeSource):
                texts[id(memory)] = self._number(memory.version - 1)
            elif memory.version > 1:
                self._count += 1
                name = self.writer.local(f"made{self._count}")
                self.prelude.append(f"{name} = {place}.storage.version")
                texts[id(memory)] = f"{name} + {memory.version}"
        for index, fake in enumerate(self.outputs):
            memory = fake.storage
            if id(memory) not in places and memory.version != 0:
                texts[id(memory)] = self._number(memory.version)
            places.setdefault(id(memory), []).append(f"{self.out}[{index}]")
        return [f"{self.object(set_version, 'set_version')}({text}, {', '.join(places[memory])})"
                for memory, text in texts.items()]  # fmt: skip

    def _number(self, version: Any) -> str:
        return str(version) if version == version else self.object(NO_VERSION, "NO_VERSION")

    def _input(self, item: InputTensor) -> str:
        """What is handed to the graph: a float that varies goes in as a 0-d tensor."""
        text = self.fetch(item.source)
        if not isinstance(item.object, float):
            return text
        return f"{self.object(tensor, 'tensor')}({text}, dtype={self.object(float64, 'float64')})"

    def declare_outputs(self) -> None:
        """Tell the graph what it returns, with layouts and aliases of inputs."""
        state = self.state
        inputs = {
            id(item.fake.storage): index
            for index, item in enumerate(state.inputs)
            if item.fake is not None
        }
        for fake in self.outputs:
            layout = fake.layout
            alias = None
            if id(fake.storage) in inputs:
                place = inputs[id(fake.storage)]
                alias = (place, layout.offset)  # the fakes of inputs start at offset 0
            value = state.graph_values[id(fake)]
            state.builder.output(value, tuple(layout.strides), alias)
