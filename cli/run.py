"""`mt2 run SCRIPT`: run a script written for torch, unchanged, on minitorch2.

In: a script with its arguments. Out: what the script does, and its exit code.

    mt2 run train.py --steps 3

Source: `python script.py`.
"""

import sys

import click

from minitorch2.cli.runner import run_script, silence_output
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments


@click.command(context_settings=CONTEXT)
@as_torch_option
@script_arguments
def run(as_torch: bool, script: str, arguments: tuple[str, ...]) -> None:
    """Run SCRIPT as python would; its `import torch` gives minitorch2."""
    outcome = run_script(script, arguments, as_torch)
    if outcome.ending == "interrupted":
        click.echo(f"interrupted at {outcome.detail or '?'}", err=True)
    if outcome.ending == "pipe closed":
        silence_output()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        silence_output()
    sys.exit(outcome.code)
