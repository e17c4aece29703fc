"""`mt2 bisect SCRIPT`: which stage of the compiler makes the numbers wrong, and at which node.

In: a script with its arguments. Out: for every graph that it compiled, each stage on the inputs of
the first call, judged against float64; for the first stage that rounding cannot explain, the
node, the files of that stage, and a script that shows it by itself. The exit code is 1 when one is
wrong, 0 when none is, and 2 when nothing can be said (the script failed, or compiled no graph).

    mt2 bisect train.py --steps 3

Source: `git bisect`; torch's accuracy minifier.
"""

import sys
from collections import Counter

import click
import numpy

from minitorch2.artifacts import Event, subscribe
from minitorch2.cli.bisection import ERROR, WIDTH, Finding, bisect
from minitorch2.cli.render import Page, many
from minitorch2.cli.runner import Outcome, run_script
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments
from minitorch2.errors import Mt2Error
from minitorch2.jit.passes.pipeline import PIPELINE
from minitorch2.tensors import Tensor

INPUTS = "runtime.inputs"
UNKNOWN = 2  # the exit code where nothing can be said
PLACES = {
    "captured graph": "the rows of its ops: minitorch2/ops",
    "functional graph": "jit/autodiff/functionalize.py, jit/autodiff/tracer.py",
    "derivatives": "the vjp of its op's row: minitorch2/ops",
    "joint graph": "jit/autodiff/joint.py",
    "computed again": "jit/autodiff/rematerialize.py",
    "forward and backward": "jit/autodiff/partition.py",
    "loop IR": "kernels/lower, kernels/schedule",
    "kernels as Python": "kernels/codegen",
    "kernels compiled": "kernels/runtime, kernels/vecmath",
}
SCRIPT = '''"""{stage} is wrong here: {node}"""
import numpy
from numpy import inf, nan
from minitorch2.cli.bisection import {function}
from minitorch2.jit.ir.parser import parse_graph

graph = parse_graph("""
{graph}
""")
inputs = [
{inputs}
]
{rest}
'''
COMPARE = """interpreted, compiled = interpret_and_compile(graph, inputs, {executor!r})
for one, other in zip(interpreted, compiled, strict=True):
    print(one, other, sep="\\n")
    numpy.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)"""
STAGES = "assert_right(graph, inputs, {flags})"


@click.command(
    "bisect", context_settings=CONTEXT, short_help="Find the first stage that is wrong for SCRIPT."
)
@click.option(
    "--output",
    default="bisected.py",
    metavar="FILE",
    help="Where a script goes that shows the fault, if there is one.",
)
@as_torch_option
@script_arguments
def bisect_command(
    output: str, as_torch: bool, script: str, arguments: tuple[str, ...]
) -> None:  # fmt: skip
    """Run SCRIPT, then every stage of every graph it compiled; find the first wrong one.

    Exit code: 0 when nothing is wrong, 1 when something is, 2 when nothing can be said (the script
    failed, or compiled no graph). Options of mt2 stand before SCRIPT.
    """
    programs: list[Event] = []

    def keep(event: Event) -> None:
        if event.stage == INPUTS:
            programs.append(event)

    with subscribe(keep, also=(INPUTS,)):
        outcome = run_script(script, arguments, as_torch)
    if outcome.in_child:
        sys.exit(outcome.code)
    page, wrong, judged, refused = Page(sys.stdout), 0, 0, 0
    units = Counter(event.unit for event in programs)
    seen = Counter[str]()
    for event in programs:
        seen[event.unit] += 1
        page.title(event.unit, f"compilation {seen[event.unit]}" if units[event.unit] > 1 else "")
        page.write("Every stage on the inputs of the first call, by float64.", "dim", indent=2)
        page.blank()
        try:
            finding = bisect(event.payload, event.facts["inputs"], event.facts["flags"])
        except Mt2Error as refusal:  # bisect raises no other: what only a fault raises is a verdict
            refused += 1
            said = f"{refusal.asked}: {refusal.wrong}" if refusal.wrong else refusal.asked
            page.write(f"runs op by op, so no stage can be wrong: {said}", indent=2)
            continue
        judged += 1
        _table(page, finding)
        if finding.graph is not None:
            wrong += 1
            _show(page, finding, _numbered(output, wrong))
        else:
            equal = all(verdict.kind == "equal" for verdict in finding.verdicts)
            said = "there are no differences" if equal else "all differences are rounding"
            page.write(f"Nothing is wrong: {said}.", "bold", indent=2)
    page.blank()
    _conclude(page, outcome, judged, wrong, refused)
    failed = outcome.ending not in ("finished", "exited") or outcome.code != 0
    sys.exit(1 if wrong else UNKNOWN if failed or not judged else 0)


def _conclude(page: Page, outcome: Outcome, judged: int, wrong: int, refused: int) -> None:
    """What it comes to, in a line or two."""
    if outcome.code or outcome.ending not in ("finished", "exited"):
        named = f" ({outcome.detail})" if outcome.detail else ""
        how = f"exited with {outcome.code}" if outcome.ending == "exited" else outcome.ending
        before = (
            "; what it compiled before that is judged" if judged or refused else
            " before it compiled a graph: there is nothing to judge"
        )  # fmt: skip
        page.write(f"The script {how}{named}{before}.", "bold")
        if not judged and not refused:
            return
    if refused:
        page.write(f"{many(refused, 'captured graph')} not compiled but run op by op: "
                   "the reason stands above.", "bold")  # fmt: skip
    elif not judged:
        page.write("The script compiled no graph, so there is nothing to judge: is "
                   "torch.compile called, and the compiled function too?", "bold")  # fmt: skip
    if judged:
        good = f"{many(judged, 'compiled graph')} judged: "
        page.write(good + (f"{wrong} wrong." if wrong else "nothing is wrong."), "bold")


def _table(page: Page, finding: Finding) -> None:
    """Each stage with its verdict."""
    page.write(f"{'stage':{WIDTH}} {'verdict':10} {ERROR}", "dim", indent=2, hang=WIDTH + 12)
    for verdict in finding.verdicts:
        style = "bold red" if verdict.is_bug else ""
        page.write(str(verdict), style, indent=2, hang=WIDTH + 12)
    page.blank()


def _numbered(output: str, number: int) -> str:
    """The file for the script of the first wrong graph, the second, and so on."""
    stem, dot, suffix = output.rpartition(".")
    return output if number == 1 else f"{stem}_{number}{dot}{suffix}" if dot else (
        f"{output}_{number}")  # fmt: skip


def _show(page: Page, finding: Finding, output: str) -> None:
    """What is wrong, where to look, the node, and the script that shows it."""
    stage = finding.verdicts[-1].stage
    before = len(finding.verdicts) - 1
    right = f"; the {before} stages before it are right" if before > 1 else ""
    page.write(f"WRONG: {stage}{right}.", "bold red", indent=2)
    if finding.node:
        page.write(f"first at  {finding.node}", "bold", indent=2, hang=10)
    page.write(f"look in   {place_of(stage)}", "bold", indent=2, hang=10)
    if finding.executor or finding.flags:
        with open(output, "w", encoding="utf-8") as file:
            file.write(script_text(finding))
        page.put(f"  alone     python {output}", "bold")  # unfolded: it is there to be copied


def place_of(stage: str) -> str:
    """The files of a stage."""
    found = PLACES.get(stage, "")
    for function in PIPELINE:
        if stage == f"pass {function.__name__}":
            found = function.__module__.partition(".")[2].replace(".", "/") + ".py"
    return found


def script_text(finding: Finding) -> str:
    """A script that runs the smallest wrong graph by itself."""
    lines = []
    for value in finding.inputs:
        if isinstance(value, Tensor):
            array = numpy.asarray(value.array)
            wide = array.astype(numpy.float64) if array.dtype.name == "bfloat16" else array
            text = f"numpy.array({wide.tolist()!r}, dtype={array.dtype.name!r})"
        else:
            text = repr(value)
        lines.append(f"    {text},")
    if finding.executor:
        function, rest = "interpret_and_compile", COMPARE.format(executor=finding.executor)
    else:
        function, rest = "assert_right", STAGES.format(flags=finding.flags)
    return SCRIPT.format(stage=finding.verdicts[-1].stage, node=finding.node, graph=finding.graph,
                         inputs="\n".join(lines), function=function, rest=rest)  # fmt: skip
