"""Where a value of the captured call came from, and how to fetch it again in the next call.

In: the arguments of a call and the function called. Out: a Source, which knows three forms of
one thing: `fetch(call)` gets the object, `expression(of)` is the Python text by which generated
guards and host functions get it, and `str(source)` is what the user would write.

    >>> source = AttributeSource(AttributeSource(ArgumentSource("self"), "fc1"), "weight")
    >>> str(source)
    'self.fc1.weight'
    >>> source.expression(str)
    'self.fc1.weight'

A source is *trusted* when it starts at something that belongs to minitorch2 or to Python itself:
nobody expects those to be rebound between two calls, so reading them makes no guard.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

MODULE_TABLES = ("_parameters", "_buffers", "_modules", "__dict__")
Render = Callable[["Source"], str]


@dataclass(frozen=True, slots=True)
class Call:
    """One call: the arguments by the names that the generated functions give them."""

    function: Any
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Source(ABC):
    """The abstract place; each kind below adds how one step is taken."""

    @property
    def base(self) -> "Source | None":
        """The source that this one is reached through, if any."""
        return None

    @property
    def trusted(self) -> bool:
        """Whether nobody rebinds this between two calls."""
        return self.base is not None and self.base.trusted

    @abstractmethod
    def fetch(self, call: Call) -> Any:
        """The object that stands there in this call."""

    @abstractmethod
    def expression(self, of: Render) -> str:
        """Python text for it, where `of(base)` is the text of the base."""


@dataclass(frozen=True, slots=True)
class ArgumentSource(Source):
    """An argument of the call, by the parameter name of the generated functions."""

    name: str
    label: str = field(default="", compare=False)  # what the user calls it, when that is no name

    def fetch(self, call: Call) -> Any:
        return call.arguments[self.name]

    def expression(self, of: Render) -> str:
        return self.name

    def __str__(self) -> str:
        return self.label or self.name


@dataclass(frozen=True, slots=True)
class RootSource(Source):
    """The compiled function or module itself."""

    label: str = "fn"

    def fetch(self, call: Call) -> Any:
        return call.function

    def expression(self, of: Render) -> str:
        return "FUNCTION"

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True, eq=False)
class ConstantSource(Source):
    """An object that is the same in every call: a class, a module of minitorch2, a globals dict."""

    object: Any
    label: str
    is_trusted: bool = True

    @property
    def trusted(self) -> bool:
        return self.is_trusted

    def fetch(self, call: Call) -> Any:
        return self.object

    def expression(self, of: Render) -> str:
        raise AssertionError("the generator binds constants to names of its namespace")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConstantSource) and other.object is self.object

    def __hash__(self) -> int:
        return id(self.object)

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True, slots=True, eq=False)
class Step(Source):
    """A source reached from another by one step. It remembers its hash: chains of steps are long,
    and they are keys of many tables."""

    origin: Source
    _hash: int = field(default=0, init=False, repr=False, compare=False)  # 0: not asked for yet

    def __hash__(self) -> int:
        if self._hash == 0:
            parts = [getattr(self, name) for name in self.__match_args__]
            object.__setattr__(self, "_hash", hash((type(self), *parts)) or 1)
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return False
        if self._hash and other._hash and self._hash != other._hash:
            return False
        names = self.__match_args__
        return all(getattr(self, name) == getattr(other, name) for name in names)

    @property
    def base(self) -> Source:
        return self.origin


@dataclass(frozen=True, slots=True, eq=False)
class AttributeSource(Step):
    """`base.name`."""

    name: str

    def fetch(self, call: Call) -> Any:
        return getattr(self.origin.fetch(call), self.name)

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}.{self.name}"

    def __str__(self) -> str:
        return f"{self.origin}.{self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class ItemSource(Step):
    """`base[key]` with a key whose repr is Python text."""

    key: Any

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call)[self.key]

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}[{self.key!r}]"

    def __str__(self) -> str:
        table = self.origin
        if isinstance(table, AttributeSource) and table.name in MODULE_TABLES:
            return f"{table.origin}.{self.key}"  # what the user writes for a part of a module
        return f"{self.origin}[{self.key!r}]"


@dataclass(frozen=True, slots=True, eq=False)
class NativeItemSource(Step):
    """`base[key]` by the method of a native class, past what a subclass puts in its place."""

    key: Any
    cls: type

    def fetch(self, call: Call) -> Any:
        return self.cls.__getitem__(self.origin.fetch(call), self.key)  # type: ignore[index]

    def expression(self, of: Render) -> str:
        return f"{self.cls.__name__}.__getitem__({of(self.origin)}, {self.key!r})"

    def __str__(self) -> str:
        return f"{self.origin}[{self.key!r}]"


@dataclass(frozen=True, slots=True, eq=False)
class KeyedSource(Step):
    """`base[key]` where the key is itself an object of the call."""

    key: Source

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call)[self.key.fetch(call)]

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}[{of(self.key)}]"

    def __str__(self) -> str:
        return f"{self.origin}[{self.key}]"


@dataclass(frozen=True, slots=True, eq=False)
class GlobalSource(Step):
    """A global name; the base is the dict of globals."""

    name: str

    @property
    def trusted(self) -> bool:
        return self.origin.trusted

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call)[self.name]

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}[{self.name!r}]"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class CellSource(Step):
    """The cell number `index` of a function's closure; the cell itself, not its contents."""

    index: int
    name: str

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call).__closure__[self.index]

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}.__closure__[{self.index}]"

    def __str__(self) -> str:
        return f"cell {self.name}"


@dataclass(frozen=True, slots=True, eq=False)
class CellContents(Step):
    """What a closure cell holds: a variable of an enclosing function."""

    name: str

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call).cell_contents

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}.cell_contents"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class ClassSource(Step):
    """The class of an object."""

    def fetch(self, call: Call) -> Any:
        return type(self.origin.fetch(call))

    def expression(self, of: Render) -> str:
        return f"type({of(self.origin)})"

    def __str__(self) -> str:
        return f"type({self.origin})"


@dataclass(frozen=True, slots=True, eq=False)
class ClassAttributeSource(Step):
    """What a class itself holds under a name, before any binding: `Class.__dict__[name]`."""

    name: str

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call).__dict__[self.name]

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}.__dict__[{self.name!r}]"

    def __str__(self) -> str:
        return f"{self.origin}.{self.name}"


def instance_dict(instance: Any) -> dict[str, Any]:
    """The `__dict__` of an instance whose class has a `__getattribute__`, which is not asked."""
    return object.__getattribute__(instance, "__dict__")


INSTANCE_DICT = ConstantSource(instance_dict, "instance_dict")


@dataclass(frozen=True, slots=True, eq=False)
class InstanceDictSource(Step):
    """The `__dict__` of such an instance."""

    def fetch(self, call: Call) -> Any:
        return instance_dict(self.origin.fetch(call))

    def expression(self, of: Render) -> str:
        return f"{of(INSTANCE_DICT)}({of(self.origin)})"

    def __str__(self) -> str:
        return f"{self.origin}.__dict__"


@dataclass(frozen=True, slots=True, eq=False)
class ReferentSource(Step):
    """What a weak reference refers to: None when it is no more."""

    def fetch(self, call: Call) -> Any:
        return self.origin.fetch(call)()

    def expression(self, of: Render) -> str:
        return f"{of(self.origin)}()"

    def __str__(self) -> str:
        return f"{self.origin}()"


@dataclass(frozen=True, slots=True, eq=False)
class MadeSource(ReferentSource):
    """What the base, a function without arguments, makes anew in each call."""

    def __str__(self) -> str:
        return str(self.origin)


def argument_names(positional: int, keywords: tuple[str, ...], hints: tuple[str, ...]) -> list[str]:
    """Names for the positional arguments, taken from the signature where they do not clash.

    >>> argument_names(3, ("k",), ("x", "k"))
    ['x', 'arg1', 'arg2']
    """
    taken = set(keywords)
    names = []
    for index in range(positional):
        name = hints[index] if index < len(hints) else ""
        if not name.isidentifier() or name in taken:
            name = f"arg{index}"
        while name in taken:
            name += "_"
        taken.add(name)
        names.append(name)
    return names
