"""Random graphs whose sizes vary: one compiled artifact for several, each compared with eager.

    python -m tests.graphs.sizes 500 --seed 0

In: a case of making. Out: its calls as a Python function, compiled with `dynamic=True`, and run on
its inputs and on the same with one of their sizes changed: to 0, 1, 2, an odd one, a larger one.
What eager refuses at a size is left out there. Every other size must give eager's shapes, dtypes,
numbers and gradients. Compilations are few: one for 0, one for 1, and AGAIN for all others. The
last of these is for sizes that do not stand as the first ones did in what the calls compare (sizes
with each other, or with literal ones); nothing else about a size may be a reason.
"""

import argparse
import collections
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2.dtypes import dtype
from minitorch2.jit.cache import Entry
from minitorch2.jit.ir.graph import Value
from minitorch2.jit.recompiles import recompile_of
from minitorch2.ops.table import lookup
from tests.graphs.judging import BITS, GAPS
from tests.graphs.making import Case, make

SIZES = (0, 1, 2, 7, 33)
AGAIN = 2  # compilations for sizes of 2 and more


@dataclass(frozen=True)
class Varied:
    """A case as a function of arrays whose shapes hold `size` in some places."""

    case: Case
    function: Any
    size: int

    def arrays(self, size: int) -> list[numpy.ndarray]:
        """The inputs with another size in its place, their numbers repeated."""
        return [
            numpy.resize(array, tuple(size if n == self.size else n for n in array.shape))
            for array in self.case.arrays
        ]


def varied(case: Case) -> Varied | None:
    """The case with its most frequent size above 1 free; None where no size is."""
    sizes = collections.Counter(n for array in case.arrays for n in array.shape if n > 1)
    if not sizes:
        return None
    return Varied(case, function_of(case), sizes.most_common(1)[0][0])


def function_of(case: Case) -> Any:
    """The calls of a case as a Python function of its inputs."""
    known: dict[str, Any] = {}
    lines = [f"def f({', '.join(_name(i.value) for i in case.graph.inputs)}):"]
    for node in case.graph.nodes:
        row = lookup(node.op)
        known[f"op_{node.op}"] = row.public
        pairs = zip(row.signature.parameters, node.args, strict=True)
        given = ", ".join(
            f"{p.name}={_text(a, known)}" if p.keyword_only else _text(a, known) for p, a in pairs
        )
        results = ", ".join(map(_name, node.results))
        lines.append(f"    {results} = op_{node.op}({given})")
    outputs = ", ".join(_text(o.argument, known) for o in case.graph.outputs)
    lines.append(f"    return ({outputs},)")
    text = "\n".join(lines)
    exec(compile(text, f"<graph {case.seed}>", "exec"), known)
    known["f"].text = text
    return known["f"]


def _name(value: Value) -> str:
    return f"v{value.id}" if value.id.isdigit() else value.id


def _text(argument: Any, known: dict[str, Any]) -> str:
    match argument:
        case Value():
            return _name(argument)
        case tuple():
            return f"({''.join(_text(each, known) + ', ' for each in argument)})"
        case dtype():
            known[argument.short] = argument
            return argument.short
    return f"float({str(argument)!r})" if isinstance(argument, float) else repr(argument)


@dataclass(frozen=True)
class Outcome:
    """What a run gave, or that it was refused."""

    arrays: tuple[numpy.ndarray | None, ...] = ()
    facts: str = ""
    refused: str = ""


def outcome(function: Any, arrays: list[numpy.ndarray], flags: tuple[bool, ...]) -> Outcome:
    """Run forward and backward."""
    leaves, inputs = _tensors(arrays, flags)
    try:
        with numpy.errstate(all="ignore"):
            found = function(*inputs)
            live = [out for out in found if out.requires_grad]
            if live:
                sum((out.double() * 0.7).sum() for out in live).backward()
        results = [t.detach().numpy() for t in (*found, *inputs)]
    except Exception as error:  # whatever it is: the other side must refuse too
        return Outcome(refused=f"{type(error).__name__}: {str(error).splitlines()[0]}")
    results += [None if leaf.grad is None else leaf.grad.numpy() for leaf in leaves]
    facts = [f"{t.dtype} {tuple(t.shape)} {t.requires_grad}" for t in found]
    facts += [f"grad {leaf.grad is not None}" for leaf in leaves]
    return Outcome(tuple(results), "; ".join(facts))


def _tensors(arrays: list[numpy.ndarray], flags: tuple[bool, ...]) -> tuple[list, list]:
    """Leaves, and what may be written of them."""
    leaves = [torch.from_numpy(array.copy()).requires_grad_(flag)
              for array, flag in zip(arrays, flags, strict=True)]  # fmt: skip
    return leaves, [leaf.clone() for leaf in leaves]


def differences(varied: Varied, run: Any) -> Iterator[tuple[int, str]]:
    """For each size that eager takes: the size, and what is wrong there or nothing. `run` is the
    compiled function."""
    general: list[Entry] = []  # what was compiled for sizes of 2 and more
    for size in (varied.size, *SIZES):
        arrays, flags = varied.arrays(size), varied.case.flags
        eager = outcome(varied.function, arrays, flags)
        if eager.refused:
            continue
        wide = [a.astype(numpy.float64) if a.dtype == numpy.float32 else a for a in arrays]
        exact = outcome(varied.function, wide, flags)
        before = set(map(id, entries(run)))
        wrong = _compare(eager, outcome(run, arrays, flags), exact)
        made = [each for each in entries(run) if id(each) not in before]
        if made and size > 1:
            wrong = wrong or _needless(general, made, _tensors(arrays, flags)[1])
            general += made
        yield size, wrong


def entries(run: Any) -> list[Entry]:
    """All that was compiled for a function."""
    return [entry for each in run.cache.entries.values() for entry in each]


def _needless(general: list[Entry], made: list[Entry], inputs: list[Any]) -> str:
    """Why a compilation should not have been, beside those there are; nothing if it may be."""
    if len(general) + len(made) > AGAIN:
        return f"compiled {len(general) + len(made)} times for sizes of 2 and more"
    for entry in general:
        found = recompile_of("", 0, entry.guards, entry.guards.call_of(tuple(inputs), {}))
        for change in found.changes if found is not None else ():
            if change.kind == "tensor":
                return f"compiled again: {change}"
    return ""


def _compare(eager: Outcome, other: Outcome, exact: Outcome) -> str:
    if other.refused:
        return f"refused: {other.refused}"
    if eager.facts != other.facts:
        return f"eager gives {eager.facts}; this {other.facts}"
    count = len(eager.arrays)
    wides = exact.arrays if len(exact.arrays) == count else (None,) * count
    for place, (one, two, wide) in enumerate(zip(eager.arrays, other.arrays, wides, strict=True)):
        if one is None or two is None or one.tobytes() == two.tobytes():
            continue
        gap = _gap(one, two)
        bound = BITS * _step(one)
        if wide is not None and wide.shape == one.shape:
            between = _gap(one, wide)
            if not numpy.isfinite(between).all():
                continue
            bound += GAPS * between.max(initial=0.0)
        if not (gap <= bound).all():
            return f"array {place} differs by {gap.max()} (within {bound:.3g})"
    return ""


def _gap(one: numpy.ndarray, two: numpy.ndarray) -> numpy.ndarray:
    with numpy.errstate(all="ignore"):
        gap = numpy.abs(one.astype(numpy.float64) - two.astype(numpy.float64))
    same = (one == two) | (numpy.isnan(one) & numpy.isnan(two))
    return numpy.where(same, 0.0, numpy.where(numpy.isnan(gap), numpy.inf, gap))


def _step(array: numpy.ndarray) -> float:
    """The last bit of an array's largest number."""
    if array.dtype.kind != "f":
        return 0.0
    finite = numpy.abs(array[numpy.isfinite(array)])
    return float(numpy.finfo(array.dtype).eps) * (float(finite.max(initial=0.0)) + 1e-3)


def main() -> int:
    """Run N cases; 1 when one is wrong at some size."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backend", default="numba")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    judged: collections.Counter[str] = collections.Counter()
    for seed in range(given.seed, given.seed + given.count):
        free = varied(make(seed))
        if free is None:
            continue
        run = torch.compile(free.function, dynamic=True, backend=given.backend)
        found = list(differences(free, run))
        if not found:
            continue
        judged["graphs"] += 1
        judged[f"graphs that are {len(entries(run))} artifacts"] += 1
        for size, wrong in found:
            judged[f"size {size}" if size in SIZES else "as drawn"] += 1
            if wrong:
                judged["wrong"] += 1
                print(f"--- seed {seed}, size {size}: {wrong}\n{free.function.text}", flush=True)
        torch._dynamo.reset()
    print(", ".join(f"{name} {count}" for name, count in judged.items()))
    return bool(judged["wrong"])


if __name__ == "__main__":
    sys.exit(main())
