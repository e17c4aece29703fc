"""One run of a script with a clock for each stage of compiling, in a process of its own.

    python -m minitorch2.cli.timing RESULT AS_TORCH SCRIPT [ARGUMENTS]...

In: a script and the name of a file. Out, in that file: JSON with the seconds of each phase, those
of the whole script, and the exit code. `mt2 times` starts it.

Source: cli/counting.py counts in the same way.
"""

import json
import sys
import time
from pathlib import Path

from minitorch2.cli.runner import run_script
from minitorch2.phases import measuring


def main(result: str, as_torch: str, script: str, *arguments: str) -> int:
    """Run the script and write down where the time went; its exit code."""
    start = time.perf_counter()
    with measuring() as seconds:
        outcome = run_script(script, arguments, as_torch == "1")
    if not outcome.in_child:
        row = {"phases": seconds, "script": time.perf_counter() - start, "code": outcome.code}
        Path(result).write_text(json.dumps(row), encoding="utf-8")
    return outcome.code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
