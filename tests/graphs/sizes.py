"""Random graphs whose sizes vary: one compiled artifact for several, each compared with eager.

    python -m tests.graphs.sizes 500 --seed 0

In: a case of making. Out: its calls as a Python function, compiled with `dynamic=True`, and run on
its inputs and on the same with one of their sizes changed: to 0, 1, 2, an odd one, a larger one.
What eager refuses at a size is left out there. Every other size must give eager's shapes, dtypes,
numbers and gradients, by the bounds of judging. Compilations are few: one for 0, one for 1, and
AGAIN for all others. The last of these is for sizes that do not stand as the first ones did in what
the calls compare (sizes with each other, or with literal ones); nothing else about a size may be a
reason.
"""

import argparse
import collections
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy

import minitorch2 as torch
from minitorch2.dtypes import dtype
from minitorch2.jit.cache import Entry
from minitorch2.jit.ir.graph import Value
from minitorch2.jit.recompiles import recompile_of
from minitorch2.ops.table import lookup
from tests.graphs.judging import Bounds, Refused, difference, eager_result
from tests.graphs.making import Case, make, tensors
from tests.graphs.running import Run, live_inputs

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


def differences(varied: Varied, run: Any) -> Iterator[tuple[int, str]]:
    """For each size that eager takes: the size, and what is wrong there or nothing. `run` is the
    compiled function."""
    general: list[Entry] = []  # what was compiled for sizes of 2 and more
    for size in (varied.size, *SIZES):
        case = replace(varied.case, arrays=tuple(varied.arrays(size)))
        try:
            eager = eager_result(case, _on_list(varied.function))
        except Refused:
            continue
        except Exception as error:  # not one of ours: a finding too
            yield size, f"eager raises {type(error).__name__}: {error}"
            continue
        bounds = Bounds(case, eager, lambda other: _on_list(function_of(other)))
        before = set(map(id, entries(run)))
        wrong = difference(case, "compiled", _on_list(run), bounds)
        made = [each for each in entries(run) if id(each) not in before]
        if made and size > 1:
            wrong = wrong or _needless(general, made, live_inputs(tensors(case), case.flags)[1])
            general += made
        yield size, wrong


def _on_list(function: Any) -> Run:
    return lambda inputs: list(function(*inputs))


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
