"""What the commands that run a script have in common: SCRIPT, its arguments, `import torch`.

In: the command line. Out: click decorators. Whatever follows SCRIPT, options and `--` included,
reaches the script untouched.

    @click.command()
    @as_torch_option
    @script_arguments
    def run(as_torch, script, arguments): ...

Source: click's `allow_interspersed_args`, as `python` itself reads its command line.
"""

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
# Options end where the script's name stands.
CONTEXT = {"allow_interspersed_args": False}


def _existing(context: click.Context, parameter: click.Parameter, script: str) -> str:
    if script == "-" or (os.path.exists(script) and not os.path.isdir(script)):
        return script  # a pipe, such as <(...), is as good as a file
    if os.path.isdir(script):
        raise click.BadParameter(f"{script} is a folder; name the Python file to run")
    hint = f"; there is {script}.py" if os.path.isfile(f"{script}.py") else ""
    raise click.BadParameter(f"there is no file {script} (from {os.getcwd()}){hint}")


def script_arguments(command: Command) -> Command:
    """SCRIPT, which must exist (- is standard input), and everything after it."""
    command = click.argument("arguments", nargs=-1, type=click.UNPROCESSED)(command)
    return click.argument("script", callback=_existing)(command)


def as_torch_option(command: Command) -> Command:
    """Whether the script's `import torch` means minitorch2; it does unless told otherwise."""
    return click.option(
        "--as-torch/--no-as-torch",
        default=True,
        help="Let `import torch` in the script give minitorch2 (the default).",
    )(command)
