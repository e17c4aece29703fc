"""Lines and blocks of text, and the statements about modules, gradients, views, sizes, iterators.

In: the writer that they are part of. Out: lines of the program. A module of the world has a
parameter, a buffer and a counter, which are compared after each call.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any

from tests.python_programs.values import Values


class Training(Values):
    """The part of the writer that knows of tensors with histories."""

    lines: list[str]
    level: int

    # ---- text

    def line(self, text: str) -> None:
        """One line at the current depth."""
        self.lines.append("    " * self.level + text)

    @contextmanager
    def block(self, head: str) -> Any:
        """A block whose new names are gone afterwards."""
        self.line(head)
        before, at = dict(self.names), len(self.lines)
        self.level += 1
        yield
        if len(self.lines) == at:
            self.line("pass")
        self.level -= 1
        self.names = before

    # ---- statements

    def module_call(self) -> None:
        """A call of the module of the world, which counts."""
        self.note("module state")
        name, given = self.fresh(), self.value("tensor", 1)
        scale = self.choose("", f", scale={self.value('int', 1)} % 4", ", 3")
        self.line(f"{name} = NET({given}{scale}).detach()")
        self.names[name] = "tensor"
        if self.chance(0.3):
            self.line(
                self.choose("NET.calls += 10", "NET.seen.zero_()", "NET.train(not NET.training)")
            )

    def gradient(self) -> None:
        """A backward inside, and what it leaves."""
        self.note("backward")
        name = self.fresh()
        self.line(f"{name} = NET({self.value('tensor', 0)})")
        self.line(f"({name} * {self.choose('2', name, 'y')}).sum().backward()")
        if self.chance(0.4):
            self.line(
                self.choose("NET.weight.grad = None", "NET.zero_grad()", "NET.weight.grad *= 2")
            )
        self.line(f"{name} = {name}.detach()")
        self.names[name] = "tensor"

    def view_write(self) -> None:
        """A write through a view, seen in its base."""
        self.note("in-place view")
        base, view = self.fresh(), self.fresh()
        self.line(f"{base} = {self.value('tensor', 1)}.clone()")
        self.line(
            f"{view} = {base}{self.choose('.t()[1:]', '[1]', '.view(3, 2)', '[:, 1:]', '[None]')}"
        )
        self.line(f"{view}{self.choose(' += 1', '.mul_(2)', '[0] = 5', '.zero_()', ' -= ' + view)}")
        self.names[base] = "tensor"

    def sized(self) -> None:
        """Sizes that depend on numbers of the call."""
        self.note("dynamic size")
        count, made, result = self.fresh(), self.fresh(), self.fresh()
        self.line(f"{count} = abs({self.value('int', 1)}) % 4 + 2")
        self.line(f"{made} = {self.choose('torch.ones', 'torch.zeros')}({count}, 3)")
        self.line(f"{result} = ({made} + {made}.shape[0])[:2] * x")
        self.names |= {count: "int", result: "tensor"}

    def iterator_across(self) -> None:
        """An iterator that is alive while the graph may break."""
        self.note("iterator at a break")
        steps, first, rest = self.fresh(), self.fresh(), self.fresh()
        items = self.value("list", 1)
        made = self.choose(f"iter({items})", f"enumerate({items})", f"zip({items}, range(9))",
                           f"(i for i in {items})", f"reversed([*{items}])")  # fmt: skip
        self.line(f"{steps} = {made}")
        self.line(f"{first} = next({steps}, None)")
        self.line(self.choose("LOG.append(float(x.sum()))", "print(len(LOG))", "LOG.append(0)",
                              "LOG.append('many' if y.sum() > 3 else 'few')"))  # fmt: skip
        self.line(f"{rest} = [str(i) for i in {steps}]")
        self.line(f"LOG.append(({first}, {rest}))")

    def class_(self) -> None:
        """A class made here."""
        self.note("class made")
        form = self.random.choice(
            (self._subclass, self._closing_class, self._data_class, self._tuple_class, self._enum)
        )
        form(self.fresh(), self.fresh(), self.fresh())

    def _subclass(self, cls: str, made: str, result: str) -> None:
        base = self.choose("Box", "Crate")
        with self.block(f"class {cls}({base}):"):
            self.line(f"kind = {self.value('str', 0)}")
            with self.block("def add(self, n, *more, scale=1):"):
                self.line(f"self.extra = n + {self.choose('1', 'scale', 'len(more)')}")
                self.line("return super().add(n, *more, scale=scale)")
        self.line(f"{made} = {cls}({self.value('int', 0)})")
        self.line(f"{result} = {made}.add({self.value('int', 0)}, 1).count + {made}.extra")
        self.line(f"LOG.append(({made}.kind, isinstance({made}, Box), {made}.double))")
        if self.chance(0.3):
            self.line(f"LOG.append({self.choose(made, cls, f'[{made}, {cls}.of(3)]')})")
        self.names[result] = "int"

    def _closing_class(self, cls: str, made: str, result: str) -> None:
        self.note("class closes over")
        with self.block(f"class {cls}:"):
            self.line(f"held = {self.value(self.choose('list', 'tensor', 'dict', 'int'), 1)}")
            with self.block("def __init__(self, n):"):
                self.line("self.n = n")
            self.line(self.choose("@property", "@functools.cached_property"))
            with self.block("def found(self):"):
                self.line(f"return self.n + {self.value('int', 0)}")
            self.line("@classmethod")
            with self.block("def make(cls):"):
                self.line(f"return cls({self.value('int', 0)})")
            with self.block("def __eq__(self, other):"):
                self.line(f"return isinstance(other, {cls}) and self.n == other.n")
        self.line(f"{made} = {cls}.make()")
        if self.chance(0.2):
            self.line(self.choose("print(len(LOG))", "LOG.append(float(x.sum()))"))
        self.line(f"{result} = {made}.found + ({made} == {cls}.make())")
        if self.chance(0.3):
            self.line(f"LOG.append({self.choose(made, cls, cls + '.held')})")
        self.names[result] = "int"

    def _data_class(self, cls: str, made: str, result: str) -> None:
        self.note("data class made")
        options = self.choose("", "(order=True)", "(frozen=True)", "(eq=False)")
        self.line(f"@dataclasses.dataclass{options}")
        with self.block(f"class {cls}:"):
            self.line("p: int")
            self.line(f"q: object = {self.value(self.choose('int', 'str', 'tensor'), 0)}")
            self.line("items: list = dataclasses.field(default_factory=list)")
        self.line(f"{made} = {cls}({self.value('int', 0)})")
        self.line(f"{made}.items.append(1)")
        self.line(f"{result} = dataclasses.replace({made}, p=3).p + len({made}.items)")
        self.line(f"LOG.append({self.choose(made, f'{made} is {cls}(1)', made + '.q')})")
        self.names[result] = "int"

    def _tuple_class(self, cls: str, made: str, result: str) -> None:
        self.note("named tuple made")
        if self.chance(0.5):
            self.line(f"{cls} = collections.namedtuple('{cls}', 'p q', defaults=[2])")
        else:
            with self.block(f"class {cls}(typing.NamedTuple):"):
                self.line("p: int")
                self.line(f"q: object = {self.value('int', 0)}")
        self.line(f"{made} = {cls}({self.value('int', 0)})")
        self.line(f"{result} = {made}.p + sum({made}._replace(p=2)) % 7")
        self.line(f"LOG.append({made})")
        self.names[result] = "int"

    def _enum(self, cls: str, made: str, result: str) -> None:
        self.note("enum made")
        with self.block(f"class {cls}({self.choose('enum.Enum', 'enum.IntEnum')}):"):
            self.line("ONE = 1")
            self.line(f"TWO = {self.choose('2', 'enum.auto()')}")
            with self.block("def scaled(self):"):
                self.line(f"return self.value * {self.value('int', 0)}")
        self.line(f"{made} = {cls}({self.choose('1', '2')})")
        self.line(f"{result} = {made}.scaled() + ({made} is {cls}.TWO)")
        self.line(f"LOG.append(({made}.name, {made}, len({cls})))")
        self.names[result] = "int"
