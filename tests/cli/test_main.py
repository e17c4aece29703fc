"""The `mt2` command itself."""

import fcntl
import importlib.metadata
import os
import pty
import re
import struct
import subprocess
import termios

import pytest
from click.testing import CliRunner

import minitorch2
from minitorch2.cli.main import main
from minitorch2.cli.runner import BROKEN_PIPE
from tests.cli.commands import COMMAND, environment, started

pytestmark = pytest.mark.pure


def test_every_command_says_what_it_does():
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    for name, command in main.commands.items():
        assert name in done.output and command.help
    assert not re.search(r"[a-z]\.\.\.", done.output)  # no sentence is cut
    assert all(len(line) < 80 for line in done.output.splitlines())


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("name", sorted(main.commands))
def test_help(name, flag):
    done = CliRunner().invoke(main, [name, flag])
    assert done.exit_code == 0 and done.output.startswith("Usage: ")


@pytest.mark.parametrize("wide", [66, 120])
def test_what_a_pager_shows_is_as_wide_as_its_terminal(wide):
    """A pipe has no width; the terminal that errors go to has."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, wide, 0, 0))
    done = subprocess.run(
        [*COMMAND, "opt", "--list"], stdout=subprocess.PIPE, stderr=terminal, text=True,
        env=environment(), check=True,
    )  # fmt: skip
    os.close(terminal)
    os.close(master)
    longest = max(len(line) for line in done.stdout.splitlines())
    assert wide - 20 < longest <= wide


def test_version():
    assert minitorch2.__version__ in CliRunner().invoke(main, ["--version"]).output


def test_the_entry_point():
    [point] = importlib.metadata.entry_points(group="console_scripts", name="mt2")
    assert point.load() is main


@pytest.mark.parametrize("arguments", [["ops"], ["opt", "--list"], ["doctor"], ["cache"]])
def test_a_reader_that_goes_away_ends_a_command_quietly(arguments):
    process = started(*arguments)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.wait(timeout=120) == BROKEN_PIPE
    assert process.stderr.read() == ""
    process.stderr.close()
