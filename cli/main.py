"""The `mt2` command: one sub-command a file.

In: the command line. Out: what the sub-command prints, and its exit code.

    mt2 explain train.py      watch a script being compiled
    mt2 count scripts/        how much of them was captured, and what broke
    mt2 times train.py        how long each stage of compiling takes, cold and warm
    mt2 run train.py          run a torch script on minitorch2
    mt2 bisect train.py       find the stage and node that makes numbers wrong
    mt2 doctor                check this machine
    mt2 ops gelu              look up an operation
    mt2 opt < graph.ir        run passes on a graph, such as mt2 explain --ir prints
    mt2 bench                 measure kernels against this machine's limits
    mt2 cache                 see and clear the compiled kernels

Source: https://click.palletsprojects.com/
"""

import sys
from typing import Any

import click

import minitorch2
from minitorch2 import config
from minitorch2.cli.bench import bench
from minitorch2.cli.bisect import bisect_command
from minitorch2.cli.cache import cache
from minitorch2.cli.count import count
from minitorch2.cli.doctor import doctor
from minitorch2.cli.explain import explain
from minitorch2.cli.ops import ops
from minitorch2.cli.opt import opt
from minitorch2.cli.run import run
from minitorch2.cli.runner import BROKEN_PIPE, silence_output
from minitorch2.cli.times import times


class Commands(click.Group):
    """A group whose commands end quietly when nobody reads what they print any more."""

    def invoke(self, context: click.Context) -> Any:
        """Run the command that the context names."""
        try:
            result = super().invoke(context)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            silence_output()
            sys.exit(BROKEN_PIPE)


VARIABLES = "\b\nEnvironment:\n" + "\n".join(
    line[2:] for line in (config.__doc__ or "").splitlines() if line.startswith("    ")
)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"]}, epilog=VARIABLES
)
@click.version_option(minitorch2.__version__, prog_name="minitorch2")
def main() -> None:
    """minitorch2: the PyTorch 2 stack, small enough to read and watch."""


for command in (explain, count, times, bench, run, doctor, ops, opt, bisect_command, cache):
    main.add_command(command)

if __name__ == "__main__":
    main()
