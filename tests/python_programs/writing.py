"""Statements and whole programs, written so that most of them run to their end.

In: a seed. Out: the text of a function `program` over the arguments of `world`, and what it
exercises. Names are used where they are known to be bound; a few lines fail on purpose, most of
them inside a `try`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from tests.python_programs.training import Training
from tests.python_programs.world import PARAMETERS

ASSIGNED = ("int", "bool", "str", "list", "dict", "set", "tuple", "tensor", "box", "point")
START = {"x": "tensor", "y": "tensor", "n": "int", "m": "int", "items": "list", "table": "dict",
         "box": "box", "word": "str"}  # fmt: skip


@dataclass(frozen=True)
class Program:
    """The text of the function and the features it was written with."""

    seed: int
    text: str
    features: Counter[str]


class Writer(Training):
    """Writes one program."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.names = dict(START)
        self.lines: list[str] = []
        self.level = 1
        self.loops = 0
        self.nested = 0
        self.left = self.random.randint(4, 14)  # statements still to write

    def body(self, most: int = 3) -> None:
        """A few statements."""
        for _ in range(self.random.randint(1, most)):
            if self.left > 0:
                self.statement()

    def statement(self) -> None:
        """One statement of some kind."""
        self.left -= 1
        deep = self.level > 3
        makers: list[Callable[[], None]] = [
            self.assign, self.assign, self.assign, self.augmented, self.list_change,
            self.dict_change, self.set_change, self.object_change, self.tensor_change,
            self.global_change, self.alias, self.unpack, self.expression, self.module_call,
            self.view_write, self.sized,
        ]  # fmt: skip
        if not deep:
            makers += [
                self.if_, self.for_, self.while_, self.try_, self.with_, self.function,
                self.closure, self.match_, self.generator, self.raise_caught, self.local_state,
                self.gradient,
            ]  # fmt: skip
        if self.chance(0.04):
            makers = [self.break_graph]
        if not deep and self.chance(0.03):
            makers = [self.class_]
        if not deep and self.chance(0.01):
            makers = [self.iterator_across]  # which breaks the graph, so seldom
        if self.chance(0.01):
            makers = [self.fail]
        self.random.choice(makers)()

    # ---- plain statements

    def assign(self) -> None:
        """`name = value`."""
        kind = self.random.choice(ASSIGNED)
        text = self.value(kind)
        name = self.fresh() if self.chance(0.7) else (self.some(kind) or self.fresh())
        self.line(f"{name} = {text}")
        self.names[name] = kind

    def augmented(self) -> None:
        """`name op= value`."""
        kind = self.random.choice(("int", "list", "str", "set", "tensor", "tuple"))
        name = self.some(kind)
        if name is None:
            return self.assign()
        self.note(f"augmented {kind}")
        if kind == "int":
            self.line(f"{name} {self.choose('+=', '-=', '*=', '%= 5 +', '//= 1 +', '|=')} "
                      f"abs({self.value('int', 1)}) % 5")  # fmt: skip
        elif kind == "list":
            self.line(f"{name} += {self.value('list', 1)}[:2]")
        elif kind == "str":
            self.line(f"{name} += {self.value('str', 0)}[:2]")
        elif kind == "set":
            self.line(f"{name} {self.choose('|=', '&=', '-=')} {self.value('set', 1)}")
        elif kind == "tuple":
            self.line(f"{name} += (7,)")
        else:
            self.line(f"{name} {self.choose('+=', '-=')} {self.value('tensor', 1)}")
        return None

    def list_change(self) -> None:
        """A method or item of a list."""
        name = self.value("list", 0) if self.chance(0.3) else self.some("list")
        v = self.value
        self.note("list written")
        self.line(self.choose(
            f"{name}.append({v('int', 1)})", f"{name}.insert({v('int', 0)}, {v('int', 1)})",
            f"{name}.extend({v('list', 1)}[:2])", f"{name}.sort()", f"{name}.reverse()",
            f"{name}[0:1] = [{v('int', 0)}, 4]", f"{name}[-1:] = []", f"{name}.clear()",
            f"if {name}: {name}.pop()", f"if {name}: {name}[0] = {v('int', 1)}",
            f"if {name}: del {name}[-1]", f"{name}.sort(key=lambda i: i % 3)",
            f"if 1 in {name}: {name}.remove(1)", f"changes({name}, table)",
        ))  # fmt: skip

    def dict_change(self) -> None:
        """A method or item of a dict."""
        name, v = self.some("dict"), self.value
        self.note("dict written")
        self.line(self.choose(
            f"{name}[{v('str', 1)}] = {v('int', 1)}", f"{name}['k'] = {v('int', 1)}",
            f"{name}.update(k={v('int', 1)}, u=1)", f"{name}.setdefault('s', {v('int', 0)})",
            f"{name}.pop({v('str', 0)}, None)", f"{name}['k'] += {v('int', 1)}",
            f"{name}.update({v('dict', 1)})", f"if 'u' in {name}: del {name}['u']",
            f"for key in list({name}): {name}[key] = {name}[key]",
        ))  # fmt: skip

    def set_change(self) -> None:
        """A method of a set."""
        name, v = self.some("set"), self.value
        if name is None:
            return self.assign()
        self.note("set written")
        self.line(self.choose(
            f"{name}.add({v('int', 1)})", f"{name}.discard({v('int', 1)})",
            f"{name}.update({v('list', 1)})", f"{name}.clear()",
        ))  # fmt: skip
        return None

    def object_change(self) -> None:
        """An attribute or item of an object."""
        name, v = self.some("box"), self.value
        self.note("object written")
        self.line(self.choose(
            f"{name}.count = {v('int', 1)}", f"{name}.count += {v('int', 1)}",
            f"{name}.items.append({v('int', 1)})", f"{name}.name = {v('str', 1)}",
            f"{name}.double = {v('int', 1)}", f"{name}.fresh = {v('list', 0)}",
            f"{name}.tensor = {v('tensor', 1)}", f"setattr({name}, 'late', {v('int', 0)})",
            f"if len({name}): {name}[0] = {v('int', 1)}", f"{name}.add({v('int', 1)})",
            f"{name}.items = {v('list', 1)}", f"{name}.child = {v('box', 1)}",
            f"Box.made = {v('int', 1)}", f"type({name}).kind = {v('str', 0)}",
            f"{name}.__dict__['direct'] = {v('int', 0)}", f"{name}.me = {name}.items",
        ))  # fmt: skip

    def tensor_change(self) -> None:
        """A write into a tensor."""
        name, v = self.some("tensor"), self.value
        self.note("tensor written")
        self.line(self.choose(
            f"{name}.add_({v('int', 1)})", f"{name}[0] = {v('int', 1)}", f"{name}.clamp_(-9, 9)",
            f"{name}[:, 1] = {v('tensor', 1)}[:, 0]", f"{name}.mul_(2).clamp_(-9, 9)",
            f"{name}[0, 1] += 1", f"{name}.copy_({v('tensor', 1)})", f"{name}.zero_()",
            f"{name}.view(-1)[2] = {v('int', 0)}", f"torch.add({name}, 1, out={name})",
        ))  # fmt: skip

    def global_change(self) -> None:
        """A global, written."""
        v = self.value
        self.note("global written")
        self.line(self.choose(
            f"COUNT = ({v('int', 1)}) % 9", "COUNT += 1", f"TABLE['a'] = {v('int', 1)}",
            f"LOG.append({v('int', 1)})", f"TABLE[{v('str', 0)}] = {v('int', 0)}",
        ))  # fmt: skip

    def alias(self) -> None:
        """A second name for something that can be changed."""
        kind = self.random.choice(("list", "dict", "box", "tensor", "set"))
        name = self.some(kind)
        if name is None:
            return self.assign()
        self.note("alias")
        other = self.fresh()
        self.line(f"{other} = {name}")
        self.names[other] = kind
        return None

    def unpack(self) -> None:
        """Several names at once."""
        self.note("unpacking")
        first, second, rest = self.fresh(), self.fresh(), self.fresh()
        v = self.value
        form = self.random.randint(0, 4)
        if form == 0:
            self.line(f"{first}, {second} = {v('int', 1)}, {v('int', 1)}")
        elif form == 1:
            self.line(f"{first}, {second}, *{rest} = [*{v('list', 1)}, 1, 2]")
            self.names[rest] = "list"
        elif form == 2:
            self.line(f"({first}, {second}), *{rest} = [(1, {v('int', 0)}), 3]")
            self.names[rest] = "list"
        elif form == 3:
            self.line(f"{first} = {second} = {v('int', 1)}")
        else:
            self.line(f"{first}, {second} = Pair({v('int', 1)}, 2)")
        self.names[first] = self.names[second] = "int"

    def expression(self) -> None:
        """Something computed for its effects."""
        self.line(self.choose("changes(items, table)", self.value("int"), "box.add(1)",
                              "LOG.append(word)", "wrapped(2)"))  # fmt: skip

    def break_graph(self) -> None:
        """What only a graph break can do."""
        self.note("graph break")
        tensor = self.value("tensor", 1)
        form = self.random.randint(0, 3)
        if form == 0:
            self.line(f"print({self.value('int', 1)}, word)")
        elif form == 1:
            name = self.fresh()
            self.line(f"{name} = int(({tensor}).max().item())")
            self.names[name] = "int"
        elif form == 2:
            with self.block(f"if ({tensor}).sum() > 0:"):
                self.body(2)
            with self.block("else:"):
                self.body(2)
        else:
            name = self.fresh()
            self.line(f"{name} = [int(i) for i in ({tensor})[0].tolist()]")
            self.names[name] = "list"

    def fail(self) -> None:
        """Something that raises."""
        self.note("failure")
        self.line(self.choose("items[99]", "table['missing']", "fails(3)", "1 // (n - n)",
                              "box.nope.x", "raise Worse(5)", "x.view(7)", "[].pop()",
                              "undefined_name"))  # fmt: skip

    # ---- blocks

    def if_(self) -> None:
        """if, elif, else."""
        self.note("if")
        with self.block(f"if {self.value('bool')}:"):
            self.body()
        if self.chance(0.3):
            with self.block(f"elif {self.value('bool', 1)}:"):
                self.body(2)
        if self.chance(0.6):
            with self.block("else:"):
                self.body()

    def for_(self) -> None:
        """A loop over something short."""
        self.note("for")
        name, kind = self.fresh(), "int"
        other = self.fresh()
        head = f"{name} in {self.choose('range(3)', self.value('list', 1) + '[:3]')}"
        form = self.random.randint(0, 4)
        if form == 1:
            head = f"{other}, {name} in enumerate({self.value('list', 0)}[:3])"
        elif form == 2:
            head = f"{name} in {self.value('tensor', 0)}.unbind(0)"
            kind = "row"
        elif form == 3:
            head = f"{name}, {other} in list({self.value('dict', 0)}.items())[:3]"
            kind = "str"
        elif form == 4:
            head = f"{name}, {other} in zip({self.value('list', 0)}[:3], counting(2))"
        with self.block(f"for {head}:"):
            self.names[name] = kind
            self._loop_body()
        if self.chance(0.2):
            self.note("for else")
            with self.block("else:"):
                self.body(1)

    def _loop_body(self) -> None:
        self.loops += 1
        self.body(2)
        if self.chance(0.25):
            self.note("break continue")
            self.line(f"if {self.value('bool', 1)}: {self.choose('break', 'continue')}")
        if self.chance(0.5):
            self.body(1)
        self.loops -= 1

    def while_(self) -> None:
        """A loop that counts down."""
        self.note("while")
        name = self.fresh()
        self.line(f"{name} = {self.random.randint(0, 3)}")
        with self.block(f"while {name} > 0:"):
            self.line(f"{name} -= 1")  # and nothing else may write it
            self._loop_body()

    def try_(self) -> None:
        """try, except, else, finally."""
        self.note("try")
        with self.block("try:"):
            self.body(2)
            if self.chance(0.6):
                self.fail()
        form = self.random.randint(0, 3)
        if form < 3:
            kinds = self.choose("(IndexError, KeyError)", "Trouble", "Exception", "ArithmeticError")
            with self.block(f"except {kinds} as error:"):
                self.line("LOG.append((type(error).__name__, str(error)))")
                self.body(2)
                if self.chance(0.15):
                    self.line("raise")
            if self.chance(0.5):
                with self.block("except Exception:"):
                    self.body(1)
            if self.chance(0.3):
                with self.block("else:"):
                    self.body(1)
        if form >= 2:
            self.note("finally")
            with self.block("finally:"):
                self.body(1)

    def raise_caught(self) -> None:
        """An exception of the program's own, caught further out."""
        self.note("raise")
        with self.block("try:"):
            self.line(f"fails({self.value('int', 1)})")
            self.body(1)
        with self.block("except Worse as error:"):
            self.line("LOG.append(error.code)")
        with self.block("except Trouble:"):
            if self.chance(0.3):
                with self.block("try:"):
                    self.line("raise ValueError('again') from None")
                with self.block("except ValueError as other:"):
                    self.line("LOG.append(str(other))")
            self.body(1)

    def with_(self) -> None:
        """A context manager."""
        self.note("with")
        head = self.choose("with box:", "with Box(1) as inner:", "with torch.no_grad():",
                           "with box, box.child:")  # fmt: skip
        with self.block(head):
            self.body(2)
            if self.chance(0.15) and "box" in head.lower():
                self.line("raise Worse(8)")

    def match_(self) -> None:
        """A match statement."""
        self.note("match")
        kind = self.random.choice(("int", "list", "dict", "tuple", "point", "str"))
        with self.block(f"match {self.value(kind, 1)}:"):
            cases = ["0 | 1", "int(a) if a > 2", "[a]", "[a, *rest]", "{'k': a, **rest}",
                     "Point(p=1)", "Point(a, b)", "str(a)", "(a, b)", "[]"]  # fmt: skip
            for case in self.random.sample(cases, 3):
                with self.block(f"case {case}:"):
                    self.body(1)
            with self.block("case _:"):
                self.body(1)

    # ---- functions

    def function(self) -> None:
        """A function defined here and called."""
        if self.nested >= 2:
            return self.assign()
        self.note("function")
        name = self.fresh()
        outer = dict(self.names)
        with self.block(f"def {name}(a, b=2, *rest, c=3, **named):"):
            self.nested += 1
            self.names = {key: kind for key, kind in outer.items() if self.chance(0.6)}
            self.names |= {"a": "int", "b": "int", "rest": "tuple"} | (
                {"items": "list", "table": "dict", "box": "box", "x": "tensor", "y": "tensor",
                 "n": "int", "m": "int", "word": "str"})  # fmt: skip
            self._keep_outer(outer)
            if self.chance(0.2):
                self.line(f"if a > {self.random.randint(0, 4)}: return {self.value('int', 1)}")
            self.line(f"return {self.value('int', 1)}")
            self.nested -= 1
        self.names = outer
        result = self.fresh()
        call = self.choose(f"{name}({self.value('int', 1)})", f"{name}(1, 2, 3, c=4, z=5)",
                           f"{name}(*[1, 2], **{{'c': 1}})", f"{name}(a={self.value('int', 0)})",
                           f"wrap({name})(2)", f"sum(map({name}, [1, 2]))")  # fmt: skip
        self.line(f"{result} = ({call}) % 67")
        self.names[result] = "int"
        return None

    def _keep_outer(self, outer: dict[str, str]) -> None:
        """What stands in the function: it may read the outer names, and change what they name."""
        saved = dict(self.names)
        for _ in range(self.random.randint(0, 2)):
            if self.left <= 0:
                break
            self.left -= 1
            self.random.choice((self.list_change, self.dict_change, self.object_change))()
        name = self.fresh()
        self.line(f"{name} = {self.value('int', 1)}")
        self.names = saved | {name: "int"}

    def closure(self) -> None:
        """Functions that share a variable."""
        if self.nested >= 2:
            return self.assign()
        self.note("closure")
        cell, change, read = self.fresh(), self.fresh(), self.fresh()
        self.line(f"{cell} = {self.value('int', 1)}")
        with self.block(f"def {change}(by=1):"):
            self.line(f"nonlocal {cell}")
            self.line(f"{cell} = ({cell} + by) % 71")
            self.line(f"return {cell}")
        self.line(f"{read} = lambda: {cell} * 2")
        self.line(f"{change}({self.value('int', 0)})")
        if self.chance(0.5):
            with self.block("for _ in range(2):"):
                self.line(f"{change}()")
        result = self.fresh()
        self.line(f"{result} = {read}() + {change}()")
        self.names |= {cell: "int", result: "int"}
        return None

    def generator(self) -> None:
        """A generator, consumed here."""
        self.note("generator function")
        name, result = self.fresh(), self.fresh()
        with self.block(f"def {name}(k):"):
            with self.block("try:"):
                with self.block("for i in range(k):"):
                    self.line("sent = yield i")
                    self.line("LOG.append(sent)")
                if self.chance(0.5):
                    self.line("yield from [7, 8]")
            with self.block("finally:"):
                self.line("LOG.append('done')")
        self.line(self.choose(f"{result} = list({name}(3))", f"{result} = [*{name}(2), *{name}(0)]",
                              f"{result} = [a + b for a, b in zip({name}(2), range(9))]",
                              f"{result} = sorted({name}(3), reverse=True)"))  # fmt: skip
        self.names[result] = "list"
        if self.chance(0.4):
            self.note("send")
            running = self.fresh()
            self.line(f"{running} = {name}(3)")
            self.line(f"{result}.append(next({running}))")
            self.line(f"{result}.append({running}.send(5))")
            self.line(f"{running}.close()")

    def local_state(self) -> None:
        """A deque, a Counter or a defaultdict that is filled here."""
        self.note("collections")
        name, v = self.fresh(), self.value
        form = self.random.randint(0, 2)
        if form == 0:
            self.line(f"{name} = collections.deque({v('list', 1)}, maxlen=4)")
            self.line(f"{name}.append({v('int', 1)})")
            self.line(f"{name}.rotate({v('int', 0)})")
            self.line(f"{name} = list({name})")
        elif form == 1:
            self.line(f"{name} = collections.defaultdict(list)")
            with self.block(f"for key in {v('list', 1)}:"):
                self.line(f"{name}[key % 2].append(key)")
            self.line(f"{name} = sorted({name}) + [len(i) for i in {name}.values()]")
        else:
            self.line(f"{name} = collections.Counter({v('list', 1)})")
            self.line(f"{name}.update({v('list', 1)})")
            self.line(f"{name} = [i for _, i in {name}.most_common(2)]")
        self.names[name] = "list"


def write(seed: int) -> Program:
    """The program of a seed."""
    writer = Writer(seed)
    while writer.left > 0:
        writer.statement()
    kept = [name for name, kind in writer.names.items() if kind in ASSIGNED]
    parts = ", ".join([*kept, "COUNT"])
    head = [f"def program({', '.join(PARAMETERS)}):", "    global COUNT"]
    text = "\n".join([*head, *writer.lines, f"    return {parts}", ""])
    return Program(seed, text, writer.features)
