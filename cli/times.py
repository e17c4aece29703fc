"""`mt2 times SCRIPT`: how long each stage of compiling takes, cold and warm.

In: a script. Out: its own output, then a line for each stage with its seconds in a first process,
whose cache on disk is empty, and in a second one that finds what the first one left there. The
lines add up: what a stage has done inside another counts for itself. The last lines are everything
that was compiling, and the whole script.

    mt2 times train.py

Both processes run the whole script; a few steps of training show all there is to see.

Source: -ftime-report of gcc.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from minitorch2.cli.costs import columns
from minitorch2.cli.render import Page
from minitorch2.cli.runner import read_script
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments
from minitorch2.cli.stages import order, stage_named

HEAD = ("", "stage", "cold, s", "", "warm, s")
OTHERS = {  # phases that are no stage: their title, and the stage they are listed before
    "capture": ("capture and guards", "capture.source"),
    "imports": ("imports of the compiler", "autodiff.functional"),
    "between stages": ("between the stages", "autodiff.functional"),
    "machine code": ("machine code", "kernel.llvm"),
    "disk": ("programs on disk", "runtime.inputs"),
}
Timing = dict[str, Any]


@click.command(
    context_settings=CONTEXT, short_help="Say how long each stage of compiling SCRIPT takes."
)
@as_torch_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of the table.")
@script_arguments
def times(as_torch: bool, as_json: bool, script: str, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT twice, cold and warm, and say how long each stage of compiling took.

    The exit code is the script's.
    """
    with tempfile.TemporaryDirectory() as folder:
        if not os.path.isfile(script):  # two processes read it
            kept = Path(folder) / "script.py"
            kept.write_bytes(read_script(script))
            script = str(kept)
        cold = timed(Path(folder), script, arguments, as_torch, quiet=as_json)
        warm = timed(Path(folder), script, arguments, as_torch, quiet=True)
    if as_json:
        click.echo(json.dumps({"cold": cold, "warm": warm}))
    else:
        page = Page(sys.stdout)
        page.blank()
        columns(page, HEAD, rows(cold, warm))
    sys.exit(cold["code"] or warm["code"])


def timed(
    folder: Path, script: str, arguments: tuple[str, ...], as_torch: bool, quiet: bool
) -> Timing:
    """One run with its cache in a folder; what the script prints is shown unless `quiet`."""
    result = folder / "times.json"
    result.unlink(missing_ok=True)
    command = [sys.executable, "-m", "minitorch2.cli.timing", str(result), str(int(as_torch))]
    done = subprocess.run(
        [*command, script, *arguments],
        stdout=subprocess.DEVNULL if quiet else None,
        env=os.environ | {"MT2_CACHE_DIR": str(folder / "cache")},
        check=False,
    )
    if not result.exists():
        click.echo(f"{script} ended its process (exit code {done.returncode})", err=True)
        sys.exit(done.returncode or 1)
    found: Timing = json.loads(result.read_text(encoding="utf-8"))
    return found


def rows(cold: Timing, warm: Timing) -> list[tuple[str, ...]]:
    """The table's lines: stages in order, then compiling as a whole and the script."""
    names = sorted({*cold["phases"], *warm["phases"]}, key=place)
    totals = [sum(run["phases"].values()) for run in (cold, warm)]
    lines: list[tuple[str, ...]] = []
    for name in names:
        seconds = cold["phases"].get(name)
        share = "" if seconds is None else f"{100 * seconds / totals[0]:.0f} %"
        lines.append((title(name), _stage(name), _short(seconds), share,
                      _short(warm["phases"].get(name))))  # fmt: skip
    lines.append(("compiling", "", _short(totals[0]), "", _short(totals[1])))
    lines.append(("the whole script", "", _short(cold["script"]), "", _short(warm["script"])))
    return lines


def place(name: str) -> tuple[float, str]:
    """Where a phase stands in the table."""
    if name in OTHERS:
        return order(OTHERS[name][1]) - 0.5, name
    return order(name), name


def title(name: str) -> str:
    """A phase in words."""
    return OTHERS[name][0] if name in OTHERS else stage_named(name).title


def _stage(name: str) -> str:
    return "" if name in OTHERS else name


def _short(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds:.3f}"
