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

# What torch alone does: (what the complaint says, what the program has, why it is no mismatch).
TORCH_ALONE = (
    ("NotImplementedError", "", "torch lacks the function for a dtype; here it is computed"),
    ("derivative for aten", "", "a slope of zero is a gradient here"),
    ("backward None, .*modified by an inplace op", "", "less is saved here: nothing was lost"),
    ("A view was created in no_grad mode", "", "here such a view has no history"),
    ("requires_grad False, expected True", "no_grad", "nor does it speak of its base's gradients"),
    (
        r"^result \d+: \d+ of \d+ differ",
        r"(?s)no_grad.*\.requires_grad [*+-]",
        "nor is what follows from that the same",
    ),
    (r"differ, at .*(inf|nan|e\+\d\d)", "special=True", "squares of 1e30 overflow in float32 here"),
    ("strides", r"\[\w+ % |gather", "elements picked by indices are row-major here"),
    (r"(?s)gradient \d+: None, .*?array\([-\[\]0., \n]*(, dtype=\w+)?\)", "", "zeros are None"),
    (
        r"input \d+: requires_grad False, expected True|Autograd not support dtype",
        r"dtype='(int|uint|bool)|torch\.(arange|randint)",
        "integers that a number with a history was written into have none here",
    ),
    (
        "a leaf Variable that requires grad",
        "shares='a'|offset|layout='(expanded|transposed)', history='none'",
        "no leaf: what is shared has a history",
    ),
    (
        r"^(input|result) \d+: \d+ of \d+ differ",
        r"(?s)transpose\(0, -1\)\.add_\(\w\)|"
        r"(v\d+) = (\w)\.(unbind|select|mT).*\b\2\S*( [-+*]= |\.\w+_\()\1\b",
        "what a write reads of itself has no order",
    ),
    (
        "differ",
        r"(?s)\.stride\(\)\[.*shape=\((1, |-1, 1\)|-1, -1)[^\n]*layout='transposed'",
        "a dimension of one element has the stride of a row-major tensor here",
    ),
    (
        "^backward None, .*more than one element of the written-to tensor",
        r"layout='expanded'|\.expand\(",
        "torch has no gradients of a number written into an expanded tensor",
    ),
    (
        "^error InPlaceError.*more than one element of the written-to tensor",
        r"(?s)(\[v\d+\] = |masked_fill_|index_fill_|index_put_).*layout='expanded'",
        "torch deprecates these writes into expanded tensors; here they are refused",
    ),
    (
        "gradient",
        r"(?s)(hardtanh|relu6|softshrink|hardshrink|elu|hardswish)\(.*special=True",
        "the slope at nan depends on where in a vector register the element lies",
    ),
    (
        "gradient",
        r"(?s)\.add_\(.*layout='expanded', history='leaf'.*shares='\w', how='(tail|turned)'",
        "a written view of a leaf that overlaps itself: evenly spread over what shares a place",
    ),
    (
        r"^gradient \d+: \d+ of \d+ differ",
        r"(?s)\] = .*layout='expanded', history='leaf'",
        "a written view of a leaf that overlaps itself, as above",
    ),
    (
        r"^result \d+: \d+ of \d+ differ",
        r"(?s)normalize\(.*special=True",
        "squares of 1e30 overflow in float32 here",
    ),
    (
        "differ",
        r"(?s)^(?=.* % )(?=.*shape=\(\), dtype='float32').*dtype='bfloat16'[^\n]*special=True",
        "a 0-d float32 beside bfloat16 keeps its digits here",
    ),
    ("gradient .*nan", r"(?s)\.prod\(.*float16", "products of float16 gather in float32 here"),
    (
        "^error None, .*some elements of the input tensor",
        r"(v\d+)\[(\.\.\., )?(0|-1)\] = (v|\1)",
        "one element seen with other sizes is written to itself here",
    ),
    (
        "^backward SavedTensorModified.*MatmulBackward0",
        r"(?s)\.expand\(.* @ ",
        "torch multiplies copies of these",
    ),
    ("gradient", "topk", "which of several equal elements is picked is open"),
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
    whole = program.text + " ".join(map(str, program.inputs))
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
