"""Judge many random programs: `python -m tests.python_programs COUNT [BACKEND [FIRST SEED]]`.

Prints what differs, then how many programs ran compiled graphs, how often they broke and why, and a
histogram of what they exercised.
"""

import sys
from collections import Counter

from tests.python_programs.judging import judge
from tests.python_programs.writing import write


def main() -> None:
    """Judge COUNT programs."""
    count, *rest = sys.argv[1:]
    backend = rest[0] if rest else "eager"
    first = int(rest[1]) if len(rest) > 1 else 0
    features: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    bad = compiled = whole = raised = 0
    for seed in range(first, first + int(count)):
        program = write(seed)
        features.update(program.features.keys())
        verdict = judge(program, backend)
        compiled += verdict.nodes > 0
        whole += not verdict.breaks
        raised += verdict.raised
        reasons.update(set(verdict.breaks))
        if verdict.differences:
            bad += 1
            print(f"seed {seed}: {verdict.differences[0][:600]}\n", flush=True)
    print(f"{count} programs on {backend}: {bad} differ")
    print(f"{compiled} ran compiled graphs with operations, {whole} in one graph each time, "
          f"{raised} ended in an exception")  # fmt: skip
    print("breaks:", ", ".join(f"{name} {n}" for name, n in reasons.most_common()))
    print("features:", ", ".join(f"{name} {n}" for name, n in features.most_common()))


if __name__ == "__main__":
    main()
