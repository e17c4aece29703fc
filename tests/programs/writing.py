"""A seed in, a random program out: the text of a function, its inputs, the sizes it is called for.

The program is written by running it: each line is tried eagerly for several batch sizes, and kept
where it works for all of them. So operands are chosen knowing their shapes and dtypes, and most
programs run to their end; a few end in a line that is refused.

    program = write(7)
    print(program.text)
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

import minitorch2
from tests.programs.inputs import BATCH, HISTORIES, LAYOUTS, SHARED, InputSpec, make_inputs
from tests.programs.rules import DTYPES, RULES, NothingFits

BATCHES = (4, 5, 3)
LIMIT = 400  # elements of a variable: programs stay small


@dataclass(frozen=True)
class Program:
    """A function's text, what it is called with, and which outputs are the same in any order."""

    seed: int
    text: str
    inputs: tuple[InputSpec, ...]
    random: bool
    exact: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The function's parameters."""
        return tuple(spec.name for spec in self.inputs)

    @property
    def coarsest(self) -> str:
        """The float dtype of the fewest digits that the program computes in."""
        whole = self.text + "".join(spec.dtype for spec in self.inputs)
        return next((name for name in ("bfloat16", "float16") if name in whole), "float32")


class Rejected(Exception):
    """A line that does not work for every batch size."""


class Writer:
    """Writes one program; what rules see of it is `pick`, `tensor`, `fresh` and `random`."""

    def __init__(self, seed: int, length: int):
        self.random = Random(seed)
        self.seed, self.length = seed, length
        self.special = self.random.random() < 0.15
        self.inputs = self._inputs()
        self.lines: list[tuple[str, str, bool]] = []  # (the `with` it stands under, text, exact)
        self.scopes: list[dict[str, Any]] = []
        self.inexact: set[int] = set()  # ids of the storages that inexact numbers are in
        self.kept: list[Any] = []  # those storages, so that the ids stay theirs
        self.count = 0
        self.restart()

    def _inputs(self) -> tuple[InputSpec, ...]:
        found: list[InputSpec] = []
        for name in "abcd"[: self.random.randint(1, 4)]:
            if found and self.random.random() < 0.15:
                source = self.random.choice(found)
                how = self.random.choice(SHARED)
                found.append(InputSpec(name, (), source.dtype, shares=source.name, how=how))
                continue
            shape = self.random.choice(
                [(BATCH, 3), (BATCH,), (3,), (), (2, BATCH, 3), (BATCH, 1), (1, 3), (3, 3),
                 (BATCH, BATCH), (0, 3), (1,), (BATCH, 2, 2)]
            )  # fmt: skip
            dtype = self.random.choice(DTYPES if self.random.random() < 0.4 else ("float32",))
            layout, history = self.random.choice(LAYOUTS), self.random.choice(HISTORIES)
            found.append(InputSpec(name, shape, dtype, layout, history, special=self.special))
        return tuple(found)

    def restart(self) -> None:
        """All scopes anew, from the lines kept so far."""
        self.scopes = []
        for batch in BATCHES:
            tensors, _ = make_inputs(minitorch2, self.inputs, batch, self.seed)
            self.scopes.append({**tensors, "torch": minitorch2})
        self.inexact, self.kept = set(), []
        for line in self.lines:
            self._run(*line)

    # ---- what rules use ----------------------------------------------------------------------

    def tensor(self, name: str) -> Any:
        """The variable's tensor for the first batch size."""
        return self.scopes[0][name]

    def fresh(self) -> str:
        """A new variable's name; sometimes one that is there already."""
        self.count += 1
        return f"v{self.count}"

    def pick(self, fits: Callable[[Any], bool] = lambda t: True, exact: bool = False) -> str:
        """A variable that fits, later ones more often."""
        names = [
            name
            for name, value in self.scopes[0].items()
            if isinstance(value, minitorch2.Tensor) and fits(value)
            and not (exact and self.is_inexact(name))
        ]  # fmt: skip
        if not names:
            raise NothingFits
        return self.random.choice(names[-4:] if self.random.random() < 0.5 else names)

    def is_inexact(self, name: str) -> bool:
        """Whether a variable was computed by something that rounds."""
        value = self.scopes[0].get(name)
        return isinstance(value, minitorch2.Tensor) and id(value.storage) in self.inexact

    # ---- lines -------------------------------------------------------------------------------

    def write(self) -> Program:
        """All lines, then the return."""
        mode = ""
        weights = [weight for _, weight, _ in RULES]
        for _ in range(self.length * 4):
            if len(self.lines) >= self.length:
                break
            if self.random.random() < 0.15:
                mode = self.random.choice(["", "", "torch.no_grad()", "torch.enable_grad()"])
            rule, _, exact = self.random.choices(RULES, weights)[0]
            try:
                line = rule(self)
            except NothingFits:
                continue
            if not self._try(mode, line, exact) and self.random.random() < 0.01:
                self.lines.append((mode, line, exact))
                break
        text = self._text()
        names = [name for name in self.scopes[0] if name != "torch"]
        random = any(word in text for word in ("rand", "dropout", "bernoulli"))
        return Program(self.seed, text, self.inputs, random, not any(map(self.is_inexact, names)))

    def _try(self, mode: str, line: str, exact: bool) -> bool:
        try:
            self._run(mode, line, exact)
        except Exception:
            self.restart()
            return False
        self.lines.append((mode, line, exact))
        return True

    def _run(self, mode: str, line: str, exact: bool) -> None:
        """Run a line for every batch size; note what it makes inexact."""
        before = dict(self.scopes[0])
        words = set(_names_in(line))
        rounds = not exact or any(map(self.is_inexact, words))
        for scope in self.scopes:
            run_line(mode, line, scope)
            tensors = [v for v in scope.values() if isinstance(v, minitorch2.Tensor)]
            if any(tensor.numel() > LIMIT for tensor in tensors):
                raise Rejected
        if not rounds:
            return
        changed = [n for n, v in self.scopes[0].items() if before.get(n) is not v]
        for name in [*changed, *(words if _writes(line) else ())]:
            value = self.scopes[0].get(name)
            if isinstance(value, minitorch2.Tensor):
                self.inexact.add(id(value.storage))
                self.kept.append(value.storage)

    def _text(self) -> str:
        body, current = [], ""
        for mode, line, _ in self.lines:
            if mode != current and mode:
                body.append(f"with {mode}:")
            current = mode
            body += [("    " if mode else "") + part for part in line.split("\n")]
        body.append(f"return {self._results()}")
        head = f"def program({', '.join(spec.name for spec in self.inputs)}):"
        return "\n".join([head, *("    " + line for line in body)]) + "\n"

    def _results(self) -> str:
        names = [n for n, v in self.scopes[0].items() if isinstance(v, minitorch2.Tensor)]
        count = min(len(names), self.random.randint(1, 4))
        chosen = [self.random.choice(names[-5:])] + self.random.sample(names, count - 1)
        form = self.random.choice(["({},)", "[{}]", "{}", "({},)"])
        if self.random.random() < 0.1:
            return "{" + ", ".join(f"'{name}': {name}" for name in chosen) + "}"
        if self.random.random() < 0.1:
            chosen.append(f"{chosen[0]}.shape")
        return chosen[0] if form == "{}" else form.format(", ".join(chosen))


def run_line(mode: str, line: str, scope: dict[str, Any]) -> None:
    """Run one line of a program under its mode."""
    body = line.replace("\n", "\n    ")
    exec(f"with {mode}:\n    {body}" if mode else line, scope)
    scope.pop("__builtins__", None)


def _names_in(line: str) -> list[str]:
    word, found = "", []
    for character in line + " ":
        if character.isalnum() or character == "_":
            word += character
            continue
        found.append(word)
        word = ""
    return [w for w in found if w]


def _writes(line: str) -> bool:
    return "_(" in line or "= " in line and "[" in line.partition("= ")[0] or "+=" in line \
        or "-=" in line or "*=" in line  # fmt: skip


def write(seed: int, length: int = 8) -> Program:
    """The program of a seed; `length` is about its number of lines."""
    return Writer(seed, 1 + seed % length).write()
