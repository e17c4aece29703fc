"""`mt2 explain SCRIPT`: run a script and show what the compiler did, stage by stage.

In: a script with its arguments. Out: the script's own output, then the report (or JSON, or a list),
and the script's exit code. Options of mt2 stand before SCRIPT, everything after it is the script's.

    mt2 explain --stage kernel train.py --steps 3

Source: `python -m trace` and `TORCH_LOGS` are the models.
"""

import sys
from typing import TextIO

import click

from minitorch2.artifacts import subscribe
from minitorch2.cli.records import Collector, Record, select, write_json
from minitorch2.cli.render import Page
from minitorch2.cli.report import NOTHING, write_contents, write_report
from minitorch2.cli.runner import INTERRUPTED, Outcome, run_script, silence_output
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments
from minitorch2.cli.stages import STAGES, matching, nearest
from minitorch2.kernels.gpu import CUDA

LESS = (
    "To see less: mt2 explain --list SCRIPT names the stages, --stage NAME shows only one, "
    "--function NAME only one function. It pages well: | less"
)


@click.command(context_settings=CONTEXT)
@click.option(
    "--stage",
    "stages",
    multiple=True,
    metavar="NAME",
    help="Show only this stage (repeatable): kernel.source, kernel, passes, fold_constants ...",
)
@click.option("--function", metavar="NAME", help="Show only this compiled function.")
@click.option(
    "--json",
    "json_file",
    type=click.File("w", encoding="utf-8", lazy=False),
    metavar="FILE",
    help="Write the events there instead: one document, or one a line if FILE ends in .jsonl.",
)
@click.option(
    "--device",
    type=click.Choice(("cpu", "cuda")),
    default="cpu",
    help="cuda: show the kernels for a GPU too, as schedule, source and PTX. None is needed.",
)
@click.option("--list", "listed", is_flag=True, help="Show which functions and stages there are.")
@as_torch_option
@script_arguments
def explain(
    stages: tuple[str, ...],
    function: str | None,
    json_file: TextIO | None,
    device: str,
    listed: bool,
    as_torch: bool,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT and show how each compiled function becomes kernels.

    Options of mt2 stand before SCRIPT; everything after SCRIPT is the script's own. The exit code
    is the script's.
    """
    for query in stages:
        _check_stage(query)
    output = sys.stdout
    collector = Collector()
    with subscribe(collector, also=[CUDA] if device == "cuda" else []):
        outcome = run_script(script, arguments, as_torch)
        if not outcome.in_child:
            _emit_totals()
    if outcome.in_child:
        sys.exit(outcome.code)
    try:
        output.flush()
        records = select(collector.records, stages, function)
        if json_file is not None:
            write_json(json_file, records, script, outcome.code)
            click.echo(f"{len(records)} events written to {json_file.name}", err=True)
        else:
            _show(Page(output), collector.records, records, outcome, listed)
        output.flush()
    except BrokenPipeError:
        silence_output()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(outcome.code)


def _emit_totals() -> None:
    """Ask for the totals, unless the script never came near the compiler."""
    compiling = sys.modules.get("minitorch2.compiling")
    if compiling is not None:
        compiling.emit_totals()


def _check_stage(query: str) -> None:
    if matching(query):
        return
    near = nearest(query)
    hint = f"did you mean {' or '.join(near)}?" if near else "there are:"
    names = "" if near else "\n  " + "\n  ".join(stage.name for stage in STAGES)
    raise click.BadParameter(f"no stage is called {query!r}; {hint}{names}", param_hint="--stage")


def _show(
    page: Page, everything: list[Record], records: list[Record], outcome: Outcome, listed: bool
) -> None:
    """The report, under a line that says how the script ended unless it just finished."""
    if outcome.ending == "pipe closed":
        return
    _ending(page, outcome, everything)
    if not everything:
        page.blank()
        page.write(NOTHING)
    elif not records:
        page.blank()
        page.write("Nothing here fits --stage and --function. There is:")
        write_contents(page, everything, everything)
    elif listed:
        write_contents(page, everything, records)
    else:
        write_report(page, everything, records)
        if len(records) == len(everything):
            page.blank()
            page.write(LESS, "dim")


def _ending(page: Page, outcome: Outcome, everything: list[Record]) -> None:
    reached = " Below: the stages reached until then." if everything else ""
    said = {
        "exited": f"The script ended itself with exit code {outcome.detail}.",
        "raised": f"The script ended with {outcome.detail} (traceback above).{reached}",
        "interrupted": f"The script was interrupted at {outcome.detail or '?'}.{reached}",
    }
    if outcome.ending in said:
        page.blank()
        page.alert(said[outcome.ending], "bold red")
