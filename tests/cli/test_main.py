"""The `mt2` command itself."""

import importlib.metadata

import pytest
from click.testing import CliRunner

import minitorch2
from minitorch2.cli.main import main

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
