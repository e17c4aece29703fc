"""Results that take the memory of an operand nobody reads afterwards.

In: a Plan. Out: the same Plan in which a kernel writes a result into the very array that it reads
for the last time, and a line about each result: whose memory it takes, or why it takes no other
one. Fewer bytes are in use at once, and the caches hold one array where there were two:

    kernel_0 reads %0, writes %1; %0 dies            kernel_0(t0: %0 inout)
    v_1 = empty(...); kernel_0(v_0, v_1); del v_0    kernel_0(v_0); v_1 = v_0; del v_0

Each element must be read at the place where the result's element is written, and not after that.

Source: Inductor's buffer reuse; the copy-insertion problem read backwards (Hudak, Bloss, 1985).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from minitorch2.jit.ir.graph import Value
from minitorch2.kernels.functions import RARE
from minitorch2.kernels.loop_ir import Buffer, Kernel, Loop, Reduce, Statement, Store
from minitorch2.kernels.lower.nests import functions_in, tensor_type
from minitorch2.kernels.schedule.frames import Refused
from minitorch2.kernels.schedule.hazards import check_places, places_of
from minitorch2.kernels.schedule.lifetimes import last_uses
from minitorch2.kernels.schedule.plan import EagerStep, KernelStep, Plan, PlanStep
from minitorch2.kernels.schedule.rewrite import expressions_of, loads_of

LATER = "it is read at other places, or after a part of the result is written"
TWICE = "functions with rare cases do a part twice, which reads it again"


@dataclass(frozen=True, slots=True)
class Taken:
    """A result that takes the memory of an operand, or why it does not (then `reason` says it)."""

    result: Value
    operand: Value
    reason: str = ""

    def __str__(self) -> str:
        if self.reason:
            return (
                f"%{self.result.id} does not take the memory of %{self.operand.id}: {self.reason}"
            )
        return f"%{self.result.id} takes the memory of %{self.operand.id}"


def take_over(plan: Plan) -> tuple[Plan, tuple[Taken, ...]]:
    """The plan with as many results as can in the memory of operands."""
    last = last_uses(plan)
    closed = {given.value for given in plan.program.graph.inputs}
    for step in plan.steps:
        if isinstance(step, EagerStep):  # the dispatcher's memory, perhaps a part of another one
            closed |= set(step.node.results)
    steps: list[PlanStep] = []
    found: list[Taken] = []
    for number, step in enumerate(plan.steps):
        if isinstance(step, KernelStep):
            read = [v for v in step.buffers if v not in step.makes and v not in closed]
            dying = [v for v in read if last.get(v) == number]
            step, told = _taken(plan, step, dying, closed)
            found += told
        steps.append(step)
    return replace(plan, steps=tuple(steps)), tuple(found)


def _taken(
    plan: Plan, step: KernelStep, dying: list[Value], closed: set[Value]
) -> tuple[KernelStep, list[Taken]]:
    """A step whose results take the memory of what dies there, where that is possible."""
    told: list[Taken] = []
    for result in [value for value in step.makes if value not in closed]:
        refused: list[Taken] = []
        for operand in dying:
            if operand not in step.buffers or not _alike(plan, result, operand):
                continue
            buffers = dict(zip(step.buffers, step.kernel.buffers, strict=True))
            reason = hindrance(step.kernel, buffers[operand], buffers[result])
            if reason:
                refused.append(Taken(result, operand, reason))
                continue
            step = _merged(step, operand, result)
            told.append(Taken(result, operand))
            dying = [value for value in dying if value != operand]
            break
        else:
            told += refused[:1]
    return step, told


def _alike(plan: Plan, result: Value, operand: Value) -> bool:
    """Whether two values have elements of one kind at the same places of their memory."""
    same = tensor_type(result).dtype is tensor_type(operand).dtype
    return same and plan.program.layout(result) == plan.program.layout(operand)


def hindrance(kernel: Kernel, operand: Buffer, result: Buffer) -> str:
    """Why a kernel cannot write a result into the buffer of an operand; empty if it can."""
    if operand.mode != "in" or result.mode != "out":
        return "it is written too" if operand.mode != "in" else "the kernel reads it"
    if RARE & {name for part in expressions_of(kernel.body) for name in functions_in(part)}:
        return TWICE
    stores, loads = places_of(kernel)
    try:
        check_places({"": stores[result.name]}, {"": loads.get(operand.name, set())})
    except Refused:
        return LATER
    return LATER if _reads_afterwards(kernel.body, operand.name, result.name) else ""


def _reads_afterwards(body: tuple[Statement, ...], operand: str, result: str) -> bool:
    """Whether in some body a statement reads the operand behind one that stores the result."""
    stored = False
    for each in body:
        if stored and operand in set(_read(each)):
            return True
        if isinstance(each, Loop | Reduce) and _reads_afterwards(each.body, operand, result):
            return True
        stored = stored or result in set(_stored(each))
    return False


def _read(statement: Statement) -> Iterator[str]:
    yield from (load.buffer for load in loads_of(statement))
    if isinstance(statement, Loop | Reduce):
        for part in expressions_of((statement,)):
            yield from (load.buffer for load in loads_of(part))


def _stored(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Store):
        yield statement.buffer
    if isinstance(statement, Loop | Reduce):
        for each in statement.body:
            yield from _stored(each)


def _merged(step: KernelStep, operand: Value, result: Value) -> KernelStep:
    """The step with one buffer for both."""
    kernel = step.kernel
    names = dict(zip(step.buffers, (each.name for each in kernel.buffers), strict=True))
    buffers = tuple(
        replace(each, mode="inout") if each.name == names[operand] else each
        for each in kernel.buffers
        if each.name != names[result]
    )
    body = _stored_in(kernel.body, names[result], names[operand])
    return replace(
        step,
        kernel=replace(kernel, buffers=buffers, body=body),
        buffers=tuple(value for value in step.buffers if value != result),
        makes=tuple(value for value in step.makes if value != result),
        takes=(*step.takes, (result, operand)),
    )


def _stored_in(body: tuple[Statement, ...], old: str, new: str) -> tuple[Statement, ...]:
    """The statements with the stores into one buffer going to another one."""
    found: list[Statement] = []
    for each in body:
        if isinstance(each, Store) and each.buffer == old:
            each = replace(each, buffer=new)
        elif isinstance(each, Loop | Reduce):
            each = replace(each, body=_stored_in(each.body, old, new))
        found.append(each)
    return tuple(found)
