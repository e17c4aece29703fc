"""Judge many random programs: `python -m tests.programs COUNT BACKEND [FIRST SEED]`.

BACKEND is one of minitorch2's, or `torch`.
"""

import importlib
import sys
import warnings

from tests.programs.judging import complaints, torch_complaints


def main() -> None:
    """Judge COUNT programs; print what differs."""
    count, backend, *rest = sys.argv[1:]
    first = int(rest[0]) if rest else 0
    warnings.simplefilter("ignore")
    judge = importlib.import_module("torch") if backend == "torch" else None
    bad = 0
    for seed in range(first, first + int(count)):
        found = complaints(seed, backend) if judge is None else torch_complaints(seed, judge)
        bad += bool(found)
        for complaint in found:
            print(complaint, end="\n\n")
    print(f"{count} programs, {bad} differ")


if __name__ == "__main__":
    main()
