"""`python -m tests.parity [--varied 6] [--rows PATTERN] [--workers 2]`: the parity run's totals.

Exit status 1 when something differs from torch that is not one of the documented differences.
"""

import argparse
import sys

from tests.parity.totals import report, run


def main() -> int:
    """Run and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.parity")
    parser.add_argument("--varied", type=int, default=6, help="samples of each row that are varied")
    parser.add_argument("--rows", default="", help="regular expression of row names")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    judgements = run(given.varied, given.rows, given.workers)
    print(report(judgements))
    return 1 if any(judgement.unexpected for judgement in judgements) else 0


if __name__ == "__main__":
    sys.exit(main())
