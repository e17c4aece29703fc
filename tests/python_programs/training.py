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
        cls, made, result = self.fresh(), self.fresh(), self.fresh()
        base = self.choose("Box", "Crate")
        with self.block(f"class {cls}({base}):"):
            self.line(f"kind = {self.value('str', 0)}")
            with self.block("def add(self, n, *more, scale=1):"):
                self.line(f"self.extra = n + {self.choose('1', 'scale', 'len(more)')}")
                self.line("return super().add(n, *more, scale=scale)")
        self.line(f"{made} = {cls}({self.value('int', 0)})")
        self.line(f"{result} = {made}.add({self.value('int', 0)}, 1).count + {made}.extra")
        self.line(f"LOG.append(({made}.kind, isinstance({made}, Box), {made}.double))")
        self.names[result] = "int"
