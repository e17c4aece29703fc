"""`python -m tests.parity [--varied 6] [--rows PATTERN] [--workers 2]`: the parity run's totals.

With --coverage it writes cli/coverage.tsv, which `mt2 ops --coverage` shows.

Exit status 1 when something differs from torch that is not one of the documented differences.
"""

import argparse
import sys
from pathlib import Path

from tests.parity.totals import coverage, report, run

COVERAGE = Path(__file__).parents[2] / "cli" / "coverage.tsv"


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("--varied", type=int, default=6, help="samples of each row that are varied")
    parser.add_argument("--rows", default="", help="regular expression of row names")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--coverage", action="store_true", help="write cli/coverage.tsv")
    given = parser.parse_args()
    judgements = run(given.varied, given.rows, given.workers)
    print(report(judgements))
    if given.coverage:
        COVERAGE.write_text(coverage(judgements))
    return 1 if any(judgement.unexpected for judgement in judgements) else 0


if __name__ == "__main__":
    sys.exit(main())
