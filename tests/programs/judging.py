"""A program compiled and not: every difference in words.

In: a seed and a backend. Out: complaints, each with the program's text; none when all is equal.
"""

import importlib
import re
import warnings
from collections import Counter
from random import Random
from typing import Any

import minitorch2
from tests.programs.features import features
from tests.programs.running import differences, function_of, run
from tests.programs.writing import Program, write

DIFFER = r" \d+: \d+ of \d+ differ, at "
WRITE = r"(\[[^\n]*\] [-+*]?= |\.\w+_\(| [-+*]= )"  # behind the name of what is written

# What torch alone does: (what the complaint says, what the program has, why it is no mismatch).
# A program's text is followed by its inputs, one a line.
TORCH_ALONE = (
    (
        "^(error|backward) None, expected NotImplementedError.* not implemented for",
        "",
        "torch lacks the function for a dtype; here it is computed",
    ),
    (
        "^backward None, .*derivative for aten::floor_divide is not implemented",
        " // ",
        "a slope of zero is a gradient here",
    ),
    (
        "^backward None, .*modified by an inplace op",
        "",
        "less is saved here: nothing was lost",
    ),
    (
        "^error None, .*A view was created in no_grad mode",
        "no_grad",
        "here such a view has no history",
    ),
    (
        r"^(input|result) \d+: requires_grad False, expected True",
        "no_grad",
        "nor does it speak of its base's gradients",
    ),
    (
        "^result" + DIFFER,
        r"(?s)no_grad.*\.requires_grad [*+-]",
        "nor is what follows from that the same",
    ),
    (
        "^(input|result)" + DIFFER,
        r"(?s)(layer_norm|normalize)\(.*special=True",
        "squares of 1e30 overflow in float32 here, elsewhere on the way in torch",
    ),
    (
        "^(input|result)" + DIFFER,
        r"(?s)\.(var|std)\(.*special=True",
        "the variance of equal numbers near 1e30 is what their mean was rounded by",
    ),
    (
        "^(input|result)" + DIFFER + r".*\[inf(, inf)*\], expected \[nan(, nan)*\]",
        r"(?s)gelu\(.*special=True",
        "gelu of infinity is infinity here",
    ),
    (
        "^gradient" + DIFFER + r".*: \[.*nan.*\], expected",
        r"(?s)\.prod\(.*(special=True|float16)",
        "products gather in float32 here; beside a zero what overflows or is infinite is nan",
    ),
    (
        r"^(input|result) \d+: strides",
        r"\[\w+ % |gather",
        "elements picked by indices are row-major here",
    ),
    (
        r"(?s)^gradient \d+: None, .*?array\([-\[\]0., \n]*(, dtype=\w+)?\)",
        "",
        "zeros are None",
    ),
    (
        r"^input \d+: requires_grad False, expected True"
        "|^(error|backward) None, .*Autograd not support dtype",
        r"dtype='(int|uint|bool)|torch\.(arange|randint)",
        "integers that a number with a history was written into have none here",
    ),
    (
        "^error None, expected .*a (view of a )?leaf Variable that requires grad",
        rf"(?s)\b([a-d]){WRITE}.*name='\1'[^\n]*"
        r"(layout='(offset|expanded|transposed)', history='none'|shares='\w)",
        "no leaf: what is shared has a history",
    ),
    (
        "^(input|result)" + DIFFER,
        r"(?s)transpose\(0, -1\)\.add_\(\w\)|"
        r"(?P<part>v\d+) = (?P<whole>\w+)\.(unbind|select|mT).*"
        r"(\b(?P=whole)|(?P<view>v\d+) = (?P=whole)\.\w+\(.*\b(?P=view))"
        r"\S*(\[[^\n]*\])?( [-+*]= |\.\w+_\()(?P=part)\b",
        "what a write reads of itself has no order",
    ),
    (
        "differ",
        r"(?s)\b([a-d])\.stride\(\)\[.*name='\1', shape=\((1, |-1, 1\)|-1, -1)[^\n]*"
        "layout='transposed'",
        "a dimension of one element has the stride of a row-major tensor here",
    ),
    (
        "^backward None, .*more than one element of the written-to tensor",
        rf"(?s)\b([a-d]){WRITE}.*name='\1'[^\n]*layout='expanded'|"
        rf"(v\d+) = \S*\.expand\(.*\b\3{WRITE}",
        "torch has no gradients of a number written into an expanded tensor",
    ),
    (
        "^error InPlaceError.*more than one element of the written-to tensor",
        r"(?s)\b([a-d])(\[v\d+\S*( % [^\n]*)?\] = |\.masked_fill_|\.index_fill_|\.index_put_)"
        r".*name='\1'[^\n]*layout='expanded'",
        "torch deprecates these writes into expanded tensors; here they are refused",
    ),
    (
        "^gradient" + DIFFER,
        r"(?s)(hardtanh|relu6|softshrink|hardshrink|elu|hardswish)\(.*special=True",
        "the slope at nan depends on where in a vector register the element lies",
    ),
    (
        "^gradient" + DIFFER,
        rf"(?s)\b([a-d]){WRITE}.*name='(\w)'[^\n]*layout='expanded', history='leaf'"
        r".*name='\1'[^\n]*shares='\3', how='(tail|turned)'",
        "a written view of a leaf that overlaps itself: evenly spread over what shares a place",
    ),
    (
        "^(input|result)" + DIFFER,
        r"(?s)^(?=.* % )(?=.*shape=\(\), dtype='float32').*dtype='bfloat16'[^\n]*special=True",
        "a 0-d float32 beside bfloat16 keeps its digits here",
    ),
    (
        "^error None, .*some elements of the input tensor",
        r"(?s)(v\d+)\[(\.\.\., )?(0|-1)\] = \1\b|"
        r"(v\d+) = (v\d+)[.\[].*\b\5\[(\.\.\., )?(0|-1)\] = \4\b",
        "one element seen with other sizes is written to itself here",
    ),
    (
        "^backward SavedTensorModified.*MatmulBackward0",
        r"(?s)(v\d+) = \S*\.expand\(.*(\b\1\S* @ | @ \1\b)",
        "torch multiplies copies of these",
    ),
    (
        "^gradient" + DIFFER,
        r"torch\.topk\(",
        "which of several equal elements is picked is open",
    ),
)

COMPILED, BROKEN = "(compiled kernels ran)", "(the graph broke)"
BACKENDS = ("eager", "aot_eager", "interpreter", "numba")
CALLS = (4, 4, 6, 5, 1, 0)  # batch sizes, one call each
LENGTH = 14


def complaints(
    seed: int, backend: str, length: int = LENGTH, totals: Counter[str] | None = None
) -> list[str]:
    """What a seed's program does otherwise when compiled; its totals are added to `totals`."""
    program = write(seed, length)
    dynamic = Random(seed).choice([None, None, True, False])
    calls = CALLS[:3] if dynamic is False else CALLS  # each size is another program then
    want = run(program, minitorch2, function_of(program, minitorch2), calls)
    function = function_of(program, minitorch2)
    compiled = minitorch2.compile(function, backend=backend, dynamic=dynamic)
    got = run(program, minitorch2, compiled, calls)
    if totals is not None:
        totals.update(compiled.totals())
    internal = [text for text in map(str, compiled.cache.breaks) if "[internal]" in text]
    if internal:
        return [_report(program, backend, dynamic, 0, internal)]
    bitwise = backend in ("eager", "aot_eager") or program.exact
    for batch, expected, found in zip(calls, want, got, strict=True):
        wrong = differences(expected, found, bitwise)
        if wrong:
            return [_report(program, backend, dynamic, batch, wrong)]
    return []


def torch_complaints(seed: int, torch: Any, length: int = LENGTH) -> list[str]:
    """What a seed's program does otherwise in torch."""
    program = write(seed, length)
    if program.random:
        return []
    want = run(program, torch, function_of(program, torch), CALLS)
    got = run(program, minitorch2, function_of(program, minitorch2), CALLS)
    for batch, expected, found in zip(CALLS, want, got, strict=True):
        wrong = differences(expected, found, False, torch=True, coarsest=program.coarsest)
        if wrong and not _is_known(program, wrong):
            return [_report(program, "torch", None, batch, wrong)]
    return []


def judge_seed(backend: str, seed: int) -> tuple[list[str], set[str]]:
    """The complaints of a seed's program, and its features (none where it was not compared)."""
    warnings.simplefilter("ignore")
    program = write(seed)
    if backend != "torch":
        totals: Counter[str] = Counter()
        found = complaints(seed, backend, totals=totals)
        met = features(program)
        met |= {COMPILED} if totals["kernels"] else set()
        return found, met | ({BROKEN} if totals["breaks"] else set())
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    return torch_complaints(seed, torch), set() if program.random else features(program)


def _is_known(program: Program, wrong: list[str]) -> bool:
    """Whether each of the differences is one that torch alone makes."""
    whole = program.text + "\n".join(map(str, program.inputs))
    refusal = wrong[0].startswith(("error", "backward"))  # the rest follows from it
    return all(
        any(re.search(said, text) and re.search(has, whole) for said, has, _ in TORCH_ALONE)
        for text in (wrong[:1] if refusal else wrong)
    )


def _report(
    program: Program, backend: str, dynamic: bool | None, batch: int, wrong: list[str]
) -> str:
    inputs = "\n".join(map(str, program.inputs))
    what = "\n  ".join(wrong)
    return (
        f"seed {program.seed}, {backend}, dynamic={dynamic}, batch {batch}:\n  {what}\n"
        f"{program.text}{inputs}"
    )
