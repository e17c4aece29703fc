"""What is no longer as a guard found it: which value, what it was, what it is, at which line.

In: a guard that does not hold, and the call for which it does not. Out: a `Change`, whose text is
one line. What it keeps of the values is plain data: numbers and short texts as they are, a tensor
as one without memory, anything else as words.

    n: was 3; now 4 (read at train.py:12)
    x: shape[0] was 8; now 9 (read at train.py:12)

Source: TORCH_LOGS=recompiles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from minitorch2.artifacts import Span
from minitorch2.devices import device
from minitorch2.dispatch import state
from minitorch2.dtypes import dtype, get_default_dtype
from minitorch2.jit.capture.source import Call, Source
from minitorch2.layouts import Layout, contiguous_strides
from minitorch2.storages import NO_VERSION
from minitorch2.tensors import Tensor, fake_tensor, key_of

if TYPE_CHECKING:
    from minitorch2.jit.guards import Guard

PLAIN = (int, float, complex, bool, str, bytes, type(None))
CONTAINERS = (list, tuple, dict, set, frozenset)
SIZE = re.compile(r"\{0\}\.layout\.shape\[(\d+)\]")
LONGEST = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True)
class Words:
    """What is left of a value that is not kept."""

    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One value that is not what the compiled code needs. `source` is None for modes."""

    kind: str
    source: Source | None
    subject: str
    what: str
    old: Any
    new: Any
    condition: str  # what had to hold, where that is more than to be `old`
    span: Span | None
    before: Any = None  # all that stood at the source, and stands there
    after: Any = None
    items: Tensor | None = None  # what the items of a list are like, when they are like tensors

    def words(self) -> str:
        """`n: was 3; now 4`."""
        name = f" {self.what}" if self.what not in ("value", "identity") else ""
        needed = f" ({self.condition})" if self.condition else ""
        old, new = described(self.old), described(self.new)
        if isinstance(self.old, Words) and old.startswith(("had ", "held ")):
            ending = "now there is one" if old.startswith("had no ") else "no longer"
            return f"{self.subject}: {old}; {ending}"
        now = new if new != old else "another one"
        verb = "were" if self.what in ("sizes", "values", "identity") else "was"
        return f"{self.subject}:{name} {verb} {old}{needed}; now {now}"

    def __str__(self) -> str:
        where = f" (read at {self.span})" if self.span is not None else ""
        return f"{self.words()}{where}"


def changes_of(guard: Guard, call: Call) -> list[Change]:
    """What changed, for a guard that does not hold for a call."""
    source = guard.sources[0] if guard.sources else None
    subject = ", ".join(map(str, guard.sources)) or guard.kind.replace("-", " ")
    try:
        found = _found(guard, call)
    except Exception as error:
        unread = Words(f"unreadable ({type(error).__name__}: {error})")
        found = [("value", Words(guard.meaning.removeprefix("was ")), unread)]
    condition = guard.meaning if guard.kind == "size" and "==" not in guard.test else ""
    changes = []
    for what, old, new in found:
        before, after, items = _standing(guard, call, old, new)
        changes.append(Change(guard.kind, source, subject, what, kept(old), kept(new), condition,
                              guard.span, kept(before), kept(after), items))  # fmt: skip
    return changes


def _standing(guard: Guard, call: Call, old: Any, new: Any) -> tuple[Any, Any, Tensor | None]:
    """What stood at the first source, what stands there, and what a list there holds."""
    try:
        now = guard.sources[0].fetch(call)
    except Exception:
        return old, new, None
    if guard.kind == "tensor":
        return guard.expected.example(), now, None
    if guard.kind == "size" and isinstance(now, Tensor) and guard.expected:
        return resized(now, guard.expected[0]), now, None
    if isinstance(now, list | tuple) and now and all(isinstance(item, Tensor) for item in now):
        shapes = {(tuple(item.layout.shape), item.dtype) for item in now}
        return old, new, sketch(now[0]) if len(shapes) == 1 else None
    return old, new, None


def resized(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """A tensor without memory of another shape, otherwise like this one."""
    made = sketch(tensor)
    made.layout = Layout(shape, contiguous_strides(shape), 0)
    return made


def _found(guard: Guard, call: Call) -> list[tuple[str, Any, Any]]:
    """(what, old, new), as they are."""
    if not guard.sources:
        return [("value", Words(guard.expected), Words(mode_now(guard.kind)))]
    values = [source.fetch(call) for source in guard.sources]
    now = values[0]
    if guard.kind == "alias":
        was = guard.meaning.removeprefix("were ")
        return [("identity", Words(was), Words("two of them" if "one" in was else "one of them"))]
    if guard.kind == "tensor":
        return list(guard.expected.differences(now))
    if guard.kind == "size" and guard.expected:
        return [_sizes(guard, values)]
    if guard.test.startswith("len("):
        return [("length", guard.expected, len(now))]
    if guard.kind == "code":
        return [("function", guard.expected, now)]
    if guard.test.startswith("{0} is not <OBJECT_"):
        return [("object", guard.expected, now)]
    if isinstance(guard.expected, type) and guard.test.startswith("type("):
        return [("type", guard.expected, type(now))]
    if guard.kind == "value" and "<END>" in guard.test:
        return [("value", Words(guard.meaning.removeprefix("was ")), _item(guard, now))]
    if guard.expected is None and "is not None" not in guard.test:
        return [("value", Words(guard.meaning.removeprefix("was ")), now)]
    return [("value", guard.expected, now)]


def _item(guard: Guard, found: Any) -> Words:
    """What an iterator has at a place."""
    marks = dict(guard.objects)
    end, unknown = marks["END"], marks["UNKNOWN"]
    return ITS_END if found is end else NOT_KNOWN if found is unknown else THERE


def mode_now(kind: str) -> str:
    """A mode in words: what it is in this thread."""
    if kind == "grad-mode":
        word = "inference" if state.inference else "on" if state.grad_enabled else "off"
        return f"{word}, under a dispatch mode" if state.modes else word
    if kind == "autocast":
        return str(state.autocast or "off")
    return str(get_default_dtype())


def _sizes(guard: Guard, values: list[Any]) -> tuple[str, Any, Any]:
    """The size that a condition is about, or the sizes of all tensors in it."""
    places = SIZE.findall(guard.test)
    if len(values) == 1 and len(set(places)) == 1 and isinstance(values[0], Tensor):
        place = int(places[0])
        return f"shape[{place}]", guard.expected[0][place], values[0].layout.shape[place]
    now = [tuple(v.layout.shape) if isinstance(v, Tensor) else v for v in values]
    what = "shape" if isinstance(values[0], Tensor) else "value"
    if len(now) == 1:
        return what, guard.expected[0], now[0]
    what = "sizes" if any(isinstance(value, Tensor) for value in values) else "values"
    return what, Words(", ".join(map(str, guard.expected))), Words(", ".join(map(str, now)))


def kept(value: Any) -> Any:
    """A value as plain data, without what it would keep alive."""
    if isinstance(value, Words) or type(value) in PLAIN:
        return value
    if isinstance(value, Tensor):
        return sketch(value)
    if type(value) is tuple and all(type(item) in PLAIN for item in value):
        return value
    return Words(described(value))


def sketch(tensor: Tensor) -> Tensor:
    """A tensor like this one, without memory."""
    return without_memory(*key_of(tensor).fields)


def without_memory(
    cls: type, element: dtype, shape: tuple[int, ...], strides: tuple[int, ...], where: device,
    requires_grad: bool, inference: bool,
) -> Tensor:  # fmt: skip
    """A tensor of which only these facts are there."""
    made = fake_tensor(shape, element, Layout(shape, strides, 0), where)
    if inference:
        made.storage.version = NO_VERSION
    if requires_grad:
        made.requires_grad = True
    if cls is not Tensor:
        made.__class__ = cls
    return made


def described(value: Any) -> str:
    """A value in a message: short, and without addresses."""
    if isinstance(value, Words):
        return value.text
    if isinstance(value, Tensor):
        return f"a tensor {value.dtype.short}[{','.join(map(str, value.layout.shape))}]"
    if isinstance(value, dtype | device):
        return str(value)
    if isinstance(value, FunctionType | CodeType):
        code = value if isinstance(value, CodeType) else value.__code__
        name = code.co_name if code.co_name == "<lambda>" else f"{code.co_name}()"
        return f"{name} of {Span(code.co_filename, code.co_firstlineno)}"
    if isinstance(value, CONTAINERS) and len(value) > 3:
        return f"a {type(value).__name__} of {len(value)} items"
    if isinstance(value, (*PLAIN, *CONTAINERS)):
        text = repr(value)
        if len(text) < LONGEST and " at 0x" not in text and "\n" not in text:
            return text
        if isinstance(value, str | bytes):
            return f"{text[: LONGEST - 4]}...{text[-1]}"
        return f"another {type(value).__name__}"
    own = getattr(value, "__name__", None)
    return own if isinstance(own, str) else f"a {type(value).__name__}"


THERE, NOT_KNOWN = Words("there"), Words("an iterator that cannot be looked into")
ITS_END = Words("the end of the loop")

# What to do, by what changed or by the kind of the guard.
ADVICE = {
    "number of dimensions": "reshape it outside to one number of dimensions, or compile a function "
    "for each",
    "length": "call it with one length, or with one tensor instead of the container",
    "tensor": "keep dtype, layout and requires_grad of this tensor the same from call to call",
    "shape": "unless dynamic=False, a size that changed once is symbolic from then on; mark it with"
    " torch.compiler.mark_dynamic to have it so from the first call on",
    "small": "sizes 0 and 1 are compiled for themselves, each once",
    "attribute": "set the attribute before the first call",
    "hooks": "register hooks before the first call",
    "size": "keep the size in one range, or write the line that asks for it so that any will do",
    "grad-mode": "call it always inside, or always outside of no_grad",
    "autocast": "call it always inside, or always outside of autocast",
    "default-dtype": "set the default dtype once, before the first call",
    "code": "define the function once, outside of the loop that calls the compiled one",
    "object": "make it once, outside of the loop that calls the compiled one",
    "keys": "fill the container before the first call",
    "alias": "pass tensors that do not share memory, and the same object in the same places",
    "number": "where the number decides what is done, compile that part for itself; elsewhere pass "
    "it as a tensor",
    "text": "decide by the text outside, and pass what follows from it",
    "end": "nothing can be done, nor need be: a loop that is cut by a break is compiled once for "
    "its turns and once for its end",
    "value": "keep it the same from call to call, or compile a function for each",
}


def advice_on(change: Change) -> str:
    """What to do about a change, in general."""
    if change.kind == "size" and type(change.after) in (int, float):
        return ADVICE["number"]
    if change.kind == "tensor" and change.what.startswith("shape["):
        return ADVICE["small" if change.new in (0, 1) or change.old in (0, 1) else "shape"]
    if change.kind == "keys" and isinstance(change.old, Words):
        told = [word for word in ("attribute", "hooks") if word in change.old.text]
        return ADVICE[told[0] if told else "keys"]
    if change.new is ITS_END:
        return ADVICE["end"]
    named = {int: "number", float: "number", str: "text"}.get(type(change.new), "value")
    by_kind = ADVICE[named if change.kind == "value" else change.kind]
    return (ADVICE.get(change.what) if change.what != "value" else None) or by_kind
