"""Starts `mt2` as a process of its own: running a script changes the process that runs it."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen
from typing import Any

COMMAND = [sys.executable, "-m", "minitorch2.cli.main"]


def environment(**changes: str) -> dict[str, str]:
    """This process's environment without what changes colours and widths."""
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")}
    return kept | changes


def mt2(*arguments: Any, folder: Path | None = None, **changes: str) -> CompletedProcess[str]:
    """Run `mt2` with arguments and wait for it."""
    command = [*COMMAND, *map(str, arguments)]
    env = environment(**changes)
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=env, check=False, timeout=300
    )


def started(*arguments: Any, folder: Path | None = None) -> Popen[str]:
    """Start `mt2` and do not wait."""
    command = [*COMMAND, *map(str, arguments)]
    return Popen(
        command, stdout=PIPE, stderr=PIPE, text=True, cwd=folder, env=environment(),
        preexec_fn=listen_to_interrupts,
    )  # fmt: skip


def listen_to_interrupts() -> None:
    """A shell starts jobs in the background with Ctrl-C ignored, and children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def python(*arguments: Any, folder: Path | None = None) -> CompletedProcess[str]:
    """Run plain Python, as the judge of what a script does by itself."""
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment(), check=False
    )
