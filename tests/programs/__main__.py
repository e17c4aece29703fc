"""Judge many random programs: `python -m tests.programs COUNT [BACKEND [FIRST SEED]]`.

BACKEND is one of minitorch2's (numba unless said), or `torch`. The programs are dealt to the
processors; what differs is printed as it is found, then how many programs exercised each feature.
"""

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context

from tests.programs.judging import COMPILED, judge_seed


def main() -> int:
    """Judge COUNT programs; print what differs, then the histogram."""
    count, *rest = sys.argv[1:]
    backend = rest[0] if rest else "numba"
    first = int(rest[1]) if len(rest) > 1 else 0
    seeds = range(first, first + int(count))
    bad, compared, met = 0, 0, Counter[str]()
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        for found, exercised in pool.map(partial(judge_seed, backend), seeds, chunksize=20):
            bad += bool(found)
            compared += bool(exercised)
            met.update(exercised)
            for complaint in found:
                print(complaint, end="\n\n", flush=True)
    for name, times in met.most_common():
        print(f"{times:>8}  {name}")
    share = met[COMPILED] / max(compared, 1)
    print(f"{count} programs on {backend}, {compared} compared, {bad} differ; compiled kernels ran "
          f"in {met[COMPILED]} ({share:.0%})")  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
