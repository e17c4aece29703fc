"""The command line: `python -m tests.graphs N`."""

import argparse
import collections
import multiprocessing
import sys
import time

from tests.graphs.counting import ALWAYS, CHUNK, Tally, Work, lowest_priority


def main() -> int:
    """Run N graphs; print failures as scripts, then what was exercised."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", nargs="+", default=ALWAYS, help="for each graph")
    parser.add_argument("--native", type=int, default=10,
                        help="run each such one on numba and the rest too; 0: none")  # fmt: skip
    parser.add_argument("--jobs", type=int, default=1, help="processes, at the lowest priority")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--most", type=int, default=10, help="failures to print")
    given = parser.parse_args()
    start, total, end = time.monotonic(), Tally(), given.seed + given.count
    work = [Work(first, min(first + CHUNK, end), tuple(given.backends), given.native, given.show)
            for first in range(given.seed, end, CHUNK)]  # fmt: skip
    processes = multiprocessing.get_context("spawn").Pool(given.jobs, lowest_priority) if (
        given.jobs > 1) else None  # fmt: skip
    tallies = processes.imap_unordered(Work.done, work) if processes else map(Work.done, work)
    for tally in tallies:
        for text in tally.failures[: max(0, given.most - len(total.failures))]:
            print(text, flush=True)
        total.add(tally)
        if time.monotonic() - start > given.seconds:
            break
    if processes:
        processes.terminate()
    _report(total, time.monotonic() - start)
    return bool(total.failures)


def _report(total: Tally, seconds: float) -> None:
    """The totals."""
    graphs, refused = total.features["graphs"], total.features["refused by eager"]
    print(f"{graphs} graphs, {len(total.failures)} wrong, {refused} refused by eager, "
          f"{seconds:.0f} s")  # fmt: skip
    print("features:", _counts(total.features))
    print("ops:", _counts(total.ops))
    print("not compiled:", _counts(total.reasons) or "none")


def _counts(counter: collections.Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counter.most_common())


if __name__ == "__main__":
    sys.exit(main())
