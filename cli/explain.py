"""`mt2 explain SCRIPT`: run a script and show what the compiler did, stage by stage.

In: a script with its arguments. Out: the script's own output, then the report (or JSON, or a list),
and the script's exit code. Options of mt2 stand before SCRIPT, everything after it is the script's.

    mt2 explain --stage kernel train.py --steps 3

Source: `python -m trace` and `TORCH_LOGS` are the models.
"""

import contextlib
import os
import sys
from typing import TextIO

import click

from minitorch2.artifacts import subscribe
from minitorch2.cli.graph_texts import check_stages, graph_texts
from minitorch2.cli.line import Place, life_of, place_of
from minitorch2.cli.records import Collector, Record, select, write_json
from minitorch2.cli.render import Page
from minitorch2.cli.report import NOTHING, write_contents, write_life, write_report
from minitorch2.cli.runner import INTERRUPTED, Outcome, run_script, silence_output
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments
from minitorch2.cli.stages import STAGES, matching, nearest
from minitorch2.kernels.gpu import CUDA
from minitorch2.kernels.native import ASSEMBLY, LLVM

UNFIT = 2  # the exit code where nothing fits what was asked for
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
    help="Write the events there instead: one document, or one a line if FILE ends in .jsonl. "
    "With - for FILE, what SCRIPT prints goes to stderr.",
)
@click.option(
    "--device",
    type=click.Choice(("cpu", "cuda")),
    default="cpu",
    help="cuda: show the kernels for a GPU too, as schedule, source and PTX. None is needed.",
)
@click.option(
    "--line",
    metavar="FILE:N",
    help="Show only what became of one line of the source (N alone: of SCRIPT).",
)
@click.option("--llvm", is_flag=True, help="Show each kernel's optimized LLVM too.")
@click.option("--asm", is_flag=True, help="Show each kernel's machine code too.")
@click.option(
    "--ir", is_flag=True, help="Print the graphs of --stage, nothing else, as mt2 opt reads them."
)
@click.option("--list", "listed", is_flag=True, help="Show which functions and stages there are.")
@as_torch_option
@script_arguments
def explain(
    stages: tuple[str, ...],
    function: str | None,
    json_file: TextIO | None,
    device: str,
    line: str | None,
    llvm: bool,
    asm: bool,
    ir: bool,
    listed: bool,
    as_torch: bool,
    script: str,
    arguments: tuple[str, ...],
) -> None:
    """Run SCRIPT and show how each compiled function becomes kernels.

    Options of mt2 stand before SCRIPT; everything after SCRIPT is the script's own. The exit code
    is the script's, or 2 when it has none and nothing fits --stage, --function and --line.
    """
    for query in stages:
        _check_stage(query)
    if ir:
        check_stages(stages)
    place = _checked_place(line, script)
    output = sys.stdout
    collector = Collector()
    apart = ir or (json_file is not None and _is_stdout(json_file))
    aside = contextlib.redirect_stdout(sys.stderr) if apart else contextlib.nullcontext()
    with aside, subscribe(collector, also=_costly(stages, llvm, asm, device)):
        outcome = run_script(script, arguments, as_torch)
        if not outcome.in_child:
            _emit_totals()
    if outcome.in_child:
        sys.exit(outcome.code)
    try:
        output.flush()
        records = select(collector.records, stages, function)
        if place is not None:
            records = life_of(collector.records, place, stages, records)
        misses = not records and (bool(stages) or function is not None or place is not None)
        if ir and misses:
            _show(Page(sys.stderr), collector.records, records, listed, stages, function)
        elif ir:
            click.echo("\n\n".join(graph_texts(records)), output)
        elif json_file is not None:
            write_json(json_file, records, script, outcome.code)
            click.echo(f"{len(records)} events written to {json_file.name}", err=True)
        else:
            page = Page(output)
            _ending(page, outcome, collector.records)
            if place is not None and collector.records and not listed:
                write_life(page, collector.records, records, place)
            elif outcome.ending != "pipe closed":
                _show(page, collector.records, records, listed, stages, function)
        output.flush()
    except BrokenPipeError:
        silence_output()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    sys.exit(outcome.code or (UNFIT if misses else 0))


def _costly(stages: tuple[str, ...], llvm: bool, asm: bool, device: str) -> list[str]:
    """The stages to ask for, because they are made for nobody who does not."""
    asked = {LLVM: llvm, ASSEMBLY: asm, CUDA: device == "cuda"}
    named = {stage for query in stages for stage in asked if query in (stage, stage[7:])}
    return ["runtime.launches", *(stage for stage in asked if asked[stage] or stage in named)]


def _is_stdout(file: TextIO) -> bool:
    """Whether a file is what standard output writes to, whatever it was called by."""
    return os.path.sameopenfile(file.fileno(), sys.stdout.fileno())


def _checked_place(line: str | None, script: str) -> Place | None:
    place = place_of(line, script) if line is not None else None
    if line is not None and place is None:
        raise click.BadParameter(
            f"{line!r} names no line; write FILE:N, such as {os.path.basename(script)}:12",
            param_hint="--line",
        )
    return place


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
    page: Page, everything: list[Record], records: list[Record], listed: bool,
    stages: tuple[str, ...], function: str | None,
) -> None:  # fmt: skip
    """The report, or the list of what there is."""
    if not everything:
        page.blank()
        page.write(NOTHING)
    elif not records:
        page.blank()
        asked = [f"--stage {stage}" for stage in stages]
        asked += [f"--function {function}"] if function is not None else []
        page.write(f"Nothing here fits {' '.join(asked) or '--line'}. There is:")
        if any(stage.name == "passes.ledger" for query in stages for stage in matching(query)):
            page.write('(passes.ledger is there with options={"numerics": "fast"}.)', "dim")
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
