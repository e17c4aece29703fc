"""The parity run: every row on its samples, their variations, in-place forms, out= and tangents.

In: how many samples of a row are varied. Out: what was compared, what differs, and which of the
differences are meant. `python -m tests.parity` prints it; the tests run a part of it.
"""

import re
import warnings
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context

import torch

from minitorch2.ops.table import RANDOM, Op, lookup
from tests.op_samples import Sample, rows, samples, specs_in
from tests.parity import outs, tangents
from tests.parity.differences import DIFFERENCES
from tests.parity.judge import complain, is_internal
from tests.samples.variations import variations

KINDS = ("samples", "variations", "in-place", "out=", "tangents")


@dataclass
class Judgement:
    """Of one row: comparisons of each kind, and the differences with the calls that show them."""

    name: str
    compared: Counter[str] = field(default_factory=Counter)
    meant: Counter[int] = field(default_factory=Counter)  # place in DIFFERENCES -> how often
    unexpected: list[str] = field(default_factory=list)
    dtypes: set[str] = field(default_factory=set)  # of the first tensor, where both had a result

    def note(self, kind: str, call: str, complaints: list[str]) -> None:
        """Count one comparison and sort its complaints."""
        self.compared[kind] += 1
        for complaint in complaints:
            for index, difference in enumerate(DIFFERENCES):
                if difference.covers(self.name, complaint):
                    self.meant[index] += 1
                    break
            else:
                self.unexpected.append(f"{self.name}{call}: {complaint}")


def is_random(op: Op) -> bool:
    """Whether the values are drawn, so that only their dtype and shape can be compared."""
    return op.kind == RANDOM or op.effects == "random"


def judge(name: str, varied: int, outputs: int = 2) -> Judgement:
    """Compare one row: all samples, variations of `varied` of them, out= of `outputs`."""
    op, found = lookup(name), Judgement(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of its own deprecations on some samples
        for kind, sample in _calls(op, varied):
            met = partial(found.dtypes.update, [s.dtype.short for s in specs_in(sample)[:1]])
            found.note(kind, repr(sample), complain(op, sample, is_random(op), met))
        if not is_random(op):
            for sample in _spread(samples(op), outputs):
                for form, complaints in outs.complaints(op, sample):
                    found.note("out=", f"{sample!r} with out= {form}", complaints)
    return found


def judge_tangents(name: str, found: Judgement | None = None) -> Judgement:
    """Compare the tangents of one row, on every sample that torch has tangents of."""
    op, found = lookup(name), found or Judgement(name)
    for sample in tangents.asked(op):
        complaints = tangents.complaints(op, sample)
        if complaints is not None:
            found.note("tangents", repr(sample), complaints)
    return found


def _calls(op: Op, varied: int) -> Iterator[tuple[str, Sample]]:
    if op.inplace_of is not None:
        for sample in samples(op):
            yield "in-place", sample
        for sample in _spread(samples(op), max(varied // 2, 1)):
            for variation in variations(op, sample):
                yield "in-place", variation
        return
    for sample in samples(op):
        yield "samples", sample
    if is_internal(op):  # called with what other rows give it, and nothing else
        return
    for sample in _spread(samples(op), varied):
        for variation in variations(op, sample):
            yield "variations", variation


def _spread(given: tuple[Sample, ...], count: int) -> tuple[Sample, ...]:
    """`count` of the samples that are no refusals, from all over the list."""
    good = tuple(sample for sample in given if not sample.fails)
    return good[:: max(len(good) // count, 1)][:count] if good and count else ()


def _judge_one(given: tuple[str, int]) -> Judgement:
    torch.set_num_threads(1)
    return judge_tangents(given[0], judge(*given))


def run(varied: int, pattern: str = "", workers: int = 2) -> list[Judgement]:
    """Judge every row whose name matches."""
    names = [op.name for op in rows() if re.search(pattern, op.name)]
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        return list(pool.map(_judge_one, [(name, varied) for name in names], chunksize=4))


DTYPES = "bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128".split()


def coverage(judgements: list[Judgement]) -> str:
    """What `mt2 ops --coverage` shows: a line for each row that was compared without mismatch."""
    lines = ["# row\tdtypes\tcomparisons\twhat is compared (python -m tests.parity --coverage)"]
    for judgement in judgements:
        if judgement.unexpected:
            continue
        listed = ",".join(short for short in DTYPES if short in judgement.dtypes)
        what = "shapes and dtypes" if is_random(lookup(judgement.name)) else "values"
        count = sum(judgement.compared.values())
        lines.append(f"{judgement.name}\t{listed}\t{count}\t{what}")
    return "\n".join(lines) + "\n"


def report(judgements: list[Judgement]) -> str:
    """The totals as text."""
    lines = [f"{'':<12}{'rows':>8}{'compared':>12}"]
    for kind in KINDS:
        counted = [j.compared[kind] for j in judgements if j.compared[kind]]
        lines.append(f"{kind:<12}{len(counted):>8}{sum(counted):>12}")
    total = sum(sum(j.compared.values()) for j in judgements)
    unexpected = [text for j in judgements for text in j.unexpected]
    lines.append(f"{'all':<12}{len(judgements):>8}{total:>12}")
    lines += ["", f"mismatches: {len(unexpected)}", *unexpected, ""]
    meant: Counter[int] = sum((j.meant for j in judgements), Counter())
    lines.append(f"documented differences: {len(DIFFERENCES)}")
    for index, difference in enumerate(DIFFERENCES):
        lines.append(f"{meant[index]:>8}  {difference.rows}: {difference.reason}")
    return "\n".join(lines)
