"""The command line: `python -m tests.graphs N`, `--report LOG ...`, `--again LOG ...`."""

import argparse
import collections
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator

from tests.graphs.counting import (
    ALWAYS,
    CHUNK,
    Tally,
    Work,
    complaints,
    lines,
    logged,
    lowest_priority,
)
from tests.graphs.judging import Refused, differences

CHUNKS = 20  # that a process runs before it ends: each leaves some 3 MB of memory behind


def main() -> int:
    """Run N graphs; print failures as scripts, then what was exercised."""
    given = _arguments()
    if given.report:
        return _report_logs(given.report)
    if given.again:
        return _judge_again(given.again)
    start, total, end = time.monotonic(), Tally(), given.seed + given.count
    work = [
        Work(first, min(first + CHUNK, end), tuple(given.backends), given.native, given.thorough,
             given.show)
        for first in range(given.seed, end, CHUNK)
    ]  # fmt: skip
    before = logged(given.log, work) if given.log else {}
    for tally in before.values():
        total.add(tally)
    for each, tally in _results([w for w in work if w not in before], given.jobs):
        for text in tally.failures[: max(0, given.most - len(total.failures))]:
            print(text, flush=True)
        total.add(tally)
        if given.log:
            with open(given.log, "a", encoding="utf-8") as file:
                file.write(each.line(tally) + "\n")
        if time.monotonic() - start > given.seconds:
            break
    _report(total, f"{time.monotonic() - start:.0f} s")
    return bool(total.failures)


def _report_logs(paths: list[str]) -> int:
    """The totals of logs, work that several of them did counted once; 1 when they complain."""
    done: dict[Work, Tally] = {}
    for path in paths:
        done.update(lines(path))
    total = Tally()
    for tally in done.values():
        total.add(tally)
    for text in total.failures:
        print(text.partition("\n")[0])
    _report(total, f"{len(done)} lines")
    return bool(total.failures)


def _judge_again(paths: list[str]) -> int:
    """The complaints of logs with the code as it is; 1 when one is still right."""
    counts: collections.Counter[str] = collections.Counter()
    for head, case, backend in complaints(paths):
        try:
            found = differences(case, [backend])
        except Refused:
            counts["refused by eager"] += 1
            continue
        counts["wrong" if found else "right"] += 1
        if found:
            print(f"{head}\n  now: {found}", flush=True)
    print(", ".join(f"{name} {count}" for name, count in counts.items()) or "no complaints")
    return bool(counts["wrong"])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int, nargs="?")
    parser.add_argument("--report", nargs="+", metavar="LOG", help="what logs say, summed")
    parser.add_argument("--again", nargs="+", metavar="LOG",
                        help="judge what logs complain of, with the code as it is")  # fmt: skip
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", nargs="+", default=ALWAYS, help="for each graph")
    parser.add_argument("--native", type=int, default=1,
                        help="each such one as machine code too; 0: none")  # fmt: skip
    parser.add_argument("--thorough", type=int, default=10,
                        help="each such one on all backends, fully optimized")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=0, help="processes, at the lowest priority")
    parser.add_argument("--log", metavar="FILE", help="a line for each 50 seeds; those that it "
                        "has are not run again")  # fmt: skip
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="failures to print")
    given = parser.parse_args()
    if given.count is None and not (given.report or given.again):
        parser.error("say how many graphs, or --report or --again with logs")
    return given


def _results(work: list[Work], jobs: int) -> Iterator[tuple[Work, Tally]]:
    """What comes of each, in any order."""
    with tempfile.TemporaryDirectory() as folder:  # nobody wants these kernels again
        os.environ["MT2_CACHE_DIR"] = folder
        if not jobs:
            yield from map(Work.done, work)
            return
        context = multiprocessing.get_context("spawn")
        with context.Pool(jobs, lowest_priority, maxtasksperchild=CHUNKS) as processes:
            yield from processes.imap_unordered(Work.done, work)


def _report(total: Tally, of: str) -> None:
    """The totals."""
    graphs, refused = total.features["graphs"], total.features["refused by eager"]
    print(f"{graphs} graphs, {len(total.failures)} wrong, {refused} refused by eager, "
          f"{of}")  # fmt: skip
    print("features:", _counts(total.features))
    print("ops:", _counts(total.ops))
    print("graphs with the derivative of:", _counts(total.derivatives))
    print("not compiled:", _counts(total.reasons) or "none")


def _counts(counter: collections.Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


if __name__ == "__main__":
    sys.exit(main())
