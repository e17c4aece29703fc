"""When each value of a plan has memory, how much, and whose memory it takes after it.

In: a Plan. Out: its Lifetimes: for each value that gets memory of its own the bytes, the step that
makes it, the last step that touches it (none: it is returned), and the value before it in the same
block; for each input that is written the step that writes it, and what it copies, if anything. The
host function takes and gives back memory at these steps; which block a value gets follows from how
the pool hands them out: the one of its size that became free last.

    %3 f32[1024,512] 2097152 bytes: kernel_2 to matmul_1, in the block of %0
    %w is written by kernel_7, which computes it
    6 values of 9437184 bytes in 4 blocks of 6291456; at most 4194304 at once, in kernel_2

Sizes that vary are counted at an example of them.

Source: linear-scan register allocation (Poletto, Sarkar, TOPLAS 1999), with blocks for registers.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from minitorch2.artifacts import Origin
from minitorch2.jit.ir.examples import environment_of
from minitorch2.jit.ir.graph import Value
from minitorch2.jit.ir.types import TensorType
from minitorch2.jit.shapes.size_expression import symbol
from minitorch2.kernels.index import Index, evaluate
from minitorch2.kernels.lower.nests import tensor_type
from minitorch2.kernels.runtime.buffers import rounded_size
from minitorch2.kernels.schedule.plan import KernelStep, Plan, step_origins


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A value from the step that makes it to the last that touches it, both by number and name."""

    value: Value
    size: Index  # bytes
    bytes: int  # the same, at an example
    born: int
    dies: int | None  # None: it is returned
    steps: tuple[str, str]
    block: int
    after: Value | None  # the value before it in its block
    origin: Origin
    taken: bool = False  # its last step writes over it: see in_place.py

    def __str__(self) -> str:
        first, last = self.steps
        block = "a new block" if self.after is None else f"the block of %{self.after.id}"
        last += ", which writes over it" if self.taken else ""
        return (f"%{self.value.id} {self.value.type} {self.size} bytes: {first} to {last}, "
                f"in {block}")  # fmt: skip

    def spans(self, step: int) -> bool:
        """Whether the value has memory while a step runs."""
        return self.born <= step and (self.dies is None or step <= self.dies - self.taken)

    def facts(self, fullest: int) -> dict[str, Any]:
        """The row as an event's fact."""
        return {
            "value": str(self.value), "type": str(self.value.type), "bytes": self.bytes,
            "born": self.steps[0], "dies": self.steps[1], "block": self.block,
            "after": None if self.after is None else str(self.after),
            "at_peak": self.spans(fullest),
            "lines": list(dict.fromkeys(map(str, self.origin.spans))),
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Written:
    """An input that gets a new value, the step that writes it there, and what that step copies."""

    value: Value
    step: str
    copied: Value | None  # None: the step computes the new value itself

    def __str__(self) -> str:
        how = "computes it" if self.copied is None else f"copies %{self.copied.id}"
        return f"%{self.value.id} is written by {self.step}, which {how}"

    def facts(self) -> dict[str, Any]:
        """The row as an event's fact."""
        copied = None if self.copied is None else str(self.copied)
        return {"value": str(self.value), "step": self.step, "copied": copied}


@dataclass(frozen=True, slots=True)
class Lifetimes:
    """All values of a plan that get memory, in the order in which they do, and the inputs that are
    written: an event's payload."""

    rows: tuple[Lifetime, ...]
    writes: tuple[Written, ...]
    names: tuple[str, ...]  # of the steps
    examples: dict[str, int]

    def level(self) -> list[int]:
        """The bytes that have an owner while each step runs."""
        steps = range(len(self.names))
        return [sum(each.bytes for each in self.rows if each.spans(step)) for step in steps]

    def fullest(self) -> tuple[int, int]:
        """The number of the step with the most bytes at once, and these bytes."""
        level = self.level()
        peak = max(level, default=0)
        return (level.index(peak) if level else 0), peak

    def total(self) -> int:
        """What all values would take without sharing."""
        return sum(each.bytes for each in self.rows)

    def blocks(self) -> list[int]:
        """The bytes of each block."""
        sizes = {each.block: rounded_size(each.bytes) for each in self.rows}
        return [sizes[block] for block in sorted(sizes)]

    def facts(self) -> dict[str, Any]:
        """The sums and the rows as an event's facts."""
        step, peak = self.fullest()
        return {"peak": peak, "sum": self.total(), "blocks": sum(self.blocks()),
                "fullest": self.names[step] if self.names else "", "examples": self.examples,
                "values": [each.facts(step) for each in self.rows],
                "writes": [each.facts() for each in self.writes]}  # fmt: skip

    def __str__(self) -> str:
        writes = [*map(str, self.writes)]
        if not self.rows:
            return "\n".join([*writes, "no value gets memory of its own"])
        (step, peak), blocks = self.fullest(), self.blocks()
        at = ", ".join(f"{name} = {size}" for name, size in self.examples.items())
        rows = [f"{each}  # {each.origin}" for each in self.rows]
        last = (f"{len(rows)} values of {self.total()} bytes in {len(blocks)} blocks of "
                f"{sum(blocks)}; at most {peak} at once, in {self.names[step]}")  # fmt: skip
        return "\n".join([*rows, *writes, last + (f" (with {at})" if at else "")])


@dataclass(slots=True)
class _Blocks:
    """The pool's blocks: which are free, by size."""

    free: dict[int, list[tuple[int, Value]]] = field(default_factory=dict)
    made: int = 0

    def take(self, bytes: int) -> tuple[int, Value | None]:
        """A block's number, and whose it was."""
        waiting = self.free.get(rounded_size(bytes))
        if waiting:
            return waiting.pop()
        self.made += 1
        return self.made - 1, None

    def give_back(self, each: Lifetime) -> None:
        """The block of a value that died."""
        self.free.setdefault(rounded_size(each.bytes), []).append((each.block, each.value))


def lifetimes_of(plan: Plan) -> Lifetimes:
    """The lifetimes of all values of a plan that get memory."""
    names, last, examples = plan.names(), last_uses(plan), _examples(plan)
    blocks = _Blocks()
    found: dict[Value, Lifetime] = {}
    inputs = {given.value for given in plan.program.graph.inputs}
    for number, step in enumerate(plan.steps):
        taken = dict(step.takes) if isinstance(step, KernelStep) else {}
        used = dict.fromkeys(step.uses())
        for value in used:
            if value in inputs or value in found or not isinstance(value.type, TensorType):
                continue
            size = plan.program.layout(value).size() * tensor_type(value).dtype.itemsize
            bytes = evaluate(size, examples)
            before = found.get(taken[value]) if value in taken else None
            if before is None:
                block, after = blocks.take(bytes)
            else:
                block, after = before.block, before.value
                found[before.value] = replace(before, taken=True)
            end = last.get(value)
            until = "the end" if end is None else names[end]
            found[value] = Lifetime(value, size, bytes, number, end, (names[number], until),
                                    block, after, step_origins(step))  # fmt: skip
        for value in used:
            if value in found and last.get(value) == number and not found[value].taken:
                blocks.give_back(found[value])
    return Lifetimes(tuple(found.values()), _written(plan, names), names, examples)


def _written(plan: Plan, names: tuple[str, ...]) -> tuple[Written, ...]:
    """For each input that is written, by whom: the last step that has its memory to write."""
    found = []
    for place, value in plan.program.graph.writes:
        target, source = plan.program.graph.inputs[place].value, plan.program.root(value)
        for name, step in reversed(list(zip(names, plan.steps, strict=True))):
            if isinstance(step, KernelStep) and target in step.buffers and step.writes(target):
                copied = source if source != target and source in step.uses() else None
                found.append(Written(target, name, copied))
                break
    return tuple(found)


def last_uses(plan: Plan) -> dict[Value, int]:
    """The last step that touches each value's memory; values that are returned have none."""
    last: dict[Value, int] = {}
    for number, step in enumerate(plan.steps):
        last.update(dict.fromkeys(step.uses(), number))
    for each in plan.program.returned:
        if each.value is not None:
            last.pop(plan.program.root(each.value), None)
    return last


def _examples(plan: Plan) -> dict[str, int]:
    """An example of each size that varies."""
    used: set[str] = set()
    for step in plan.steps:
        for value in step.uses():
            if isinstance(value.type, TensorType):
                used |= plan.program.layout(value).size().symbols()
    environment = environment_of(plan.program.graph)
    for name in used:
        environment.wrap(symbol(name))  # so that it has an example
    return {name: max(environment.hint(symbol(name)), 0) for name in sorted(used)}
