"""`mt2 count PATH ...`: how much of scripts was captured, as a table.

In: scripts, or folders of scripts; with `--call PATTERN` each function of that name is called and
counted by itself. Out: a line for each: ops captured, graphs, breaks with their reasons, what fell
back to Python, recompilations, and how it ended. Each script runs in a process of its own.

    mt2 count scripts/ --call 'case_*'

Source: torch._dynamo.explain, for many programs at once.
"""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click

from minitorch2.cli.render import many

HEAD = ("program", "ops", "graphs", "breaks", "fallbacks", "recompiles", "why, and how it ended")


@click.command()
@click.argument("paths", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option(
    "--call",
    "pattern",
    default="",
    metavar="PATTERN",
    help="Call and count each function of a script whose name fits, such as 'case_*'.",
)
@click.option(
    "--as-torch/--no-as-torch",
    default=True,
    help="Let `import torch` in the scripts give minitorch2 (the default).",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop a script, with all its functions, that runs longer (default: no limit).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line instead.")
def count(
    paths: tuple[Path, ...], pattern: str, as_torch: bool, timeout: float | None, as_json: bool
) -> None:
    """Count what was captured of scripts, and what was left to Python.

    The exit code is 1 when one of them failed, 2 when there is nothing to count.
    """
    rows: list[dict[str, Any]] = []
    scripts = scripts_of(paths)
    for script in scripts:
        rows += counted(script, pattern, as_torch, timeout)
    if not rows:
        fits = f"no function fits --call {pattern}" if scripts else "no Python file is there"
        raise click.UsageError(f"nothing to count in {', '.join(map(str, paths))}: {fits}")
    if as_json:
        for row in rows:
            click.echo(json.dumps(row))
    else:
        click.echo(table(rows))
    sys.exit(any(row["ended"] for row in rows))


def scripts_of(paths: tuple[Path, ...]) -> list[Path]:
    """The files, and the Python files of the folders."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.glob("*.py")) if path.is_dir() else [path]
    return found


def counted(
    script: Path, pattern: str, as_torch: bool, timeout: float | None = None
) -> list[dict[str, Any]]:
    """The rows of one script, counted in a process of its own, for at most `timeout` seconds."""
    command = [sys.executable, "-m", "minitorch2.cli.counting", str(script), pattern]
    ended, found, said = finished([*command, str(int(as_torch))], timeout)
    rows = [json.loads(line) for line in found.splitlines() if line.startswith("{")]
    if ended != 0:
        last = said.strip().splitlines()[-1:] or [f"exit code {ended}"]
        late = f"stopped: it ran longer than {timeout:g} s" if ended is None else last[0]
        rows.append({"name": script.name, "ops": 0, "graphs": 0, "breaks": {}, "fallbacks": {},
                     "recompiles": 0, "units": [], "ended": late})  # fmt: skip
    return rows


def finished(command: list[str], timeout: float | None) -> tuple[int | None, str, str]:
    """A process's exit code, output and errors; no code for one that ran too long, which is ended
    with all that it started."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            found, said = process.communicate(timeout=timeout)
            return process.returncode, found, said
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            found, said = process.communicate()
            return None, found, said
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as text, with a line of totals."""
    lines = [HEAD, *map(_cells, rows)]
    totals = [sum(_numbers(row)[place] for row in rows) for place in range(5)]
    reasons = Counter[str]()
    for row in rows:
        reasons.update(row["breaks"])
    lines.append((many(len(rows), "program"), *map(str, totals), _listed(reasons)))
    widths = [max(len(line[place]) for line in lines) for place in range(6)]
    return "\n".join(_line(line, widths) for line in lines)


def _numbers(row: dict[str, Any]) -> tuple[int, ...]:
    breaks, fallbacks = sum(row["breaks"].values()), sum(row["fallbacks"].values())
    return row["ops"], row["graphs"], breaks, fallbacks, row["recompiles"]


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    said = [_listed(row["breaks"])] if row["breaks"] else []
    said += [f"as Python: {_listed(row['fallbacks'])}"] if row["fallbacks"] else []
    said += [row["ended"]] if row["ended"] else []
    return row["name"], *map(str, _numbers(row)), "; ".join(said)


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {times}" if times > 1 else name for name, times in counts.items())


def _line(cells: tuple[str, ...], widths: list[int]) -> str:
    first, *numbers = zip(cells[:6], widths, strict=True)
    shown = [first[0].ljust(first[1]), *(text.rjust(width) for text, width in numbers)]
    return "  ".join([*shown, cells[6]]).rstrip()
