"""The `mt2` command itself."""

import importlib.metadata

import pytest
from click.testing import CliRunner

import minitorch2
from minitorch2.cli.main import main
from minitorch2.cli.runner import BROKEN_PIPE
from tests.cli.commands import started

pytestmark = pytest.mark.pure


def test_every_command_says_what_it_does():
    done = CliRunner().invoke(main, ["--help"])
    assert done.exit_code == 0
    for name, command in main.commands.items():
        assert name in done.output and command.help


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("name", sorted(main.commands))
def test_help(name, flag):
    done = CliRunner().invoke(main, [name, flag])
    assert done.exit_code == 0 and done.output.startswith("Usage: ")


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
