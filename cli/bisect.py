"""`mt2 bisect SCRIPT`: which stage of the compiler makes the numbers wrong, and at which node.

In: a script with its arguments. Out: for every graph that it compiled, each stage on the inputs of
the first call, judged against float64; for the first stage that rounding cannot explain, the node
and a script that shows it by itself. The exit code is 1 when there is one.

    mt2 bisect train.py --steps 3

Source: `git bisect`; torch's accuracy minifier.
"""

import sys

import click
import numpy

from minitorch2.artifacts import Event, subscribe
from minitorch2.cli.bisection import Finding, bisect
from minitorch2.cli.render import Page
from minitorch2.cli.runner import run_script
from minitorch2.cli.script import CONTEXT, as_torch_option, script_arguments
from minitorch2.errors import Mt2Error
from minitorch2.tensors import Tensor

INPUTS = "runtime.inputs"
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


@click.command("bisect", context_settings=CONTEXT)
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
    """Run a script, then every stage of every graph it compiled; find the first wrong one."""
    programs: list[Event] = []

    def keep(event: Event) -> None:
        if event.stage == INPUTS:
            programs.append(event)

    with subscribe(keep, also=(INPUTS,)):
        run_script(script, arguments, as_torch)
    page, wrong = Page(sys.stdout), False
    for event in programs:
        page.heading(event.unit, "", "")
        try:
            finding = bisect(event.payload, event.facts["inputs"], event.facts["flags"])
        except Mt2Error as refusal:
            page.write(f"runs op by op: {refusal.wrong}", indent=2)
            continue
        for verdict in finding.verdicts:
            page.write(str(verdict), "bold red" if verdict.is_bug else "", indent=2)
        if finding.graph is not None:
            wrong = True
            _show(page, finding, output)
        page.blank()
    if not programs:
        page.write("The script compiled nothing.", indent=2)
    sys.exit(int(wrong))


def _show(page: Page, finding: Finding, output: str) -> None:
    """The node, and the script that shows it."""
    if finding.node:
        page.write(f"first at {finding.node}", "bold", indent=2)
    if finding.executor or finding.flags:
        with open(output, "w", encoding="utf-8") as file:
            file.write(script_text(finding))
        page.write(f"by itself: python {output}", "bold", indent=2)


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
