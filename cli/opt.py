"""`mt2 opt`: graph IR in, passes or single rules run on it, graph IR out.

In: a graph as text, from a file or from stdin, and names. Out: the graph after them, as text that
`mt2 opt` reads again. Names are those of passes or of rewrite rules (`--list` shows both, each with
what it means); without any, the whole pipeline runs.

    mt2 opt --list
    mt2 opt graph.ir
    mt2 opt -p apply_rules -p eliminate_dead_code --notes < graph.ir
    mt2 opt --why mul_one:3 < graph.ir        why the rule does not change %3

Source: LLVM's `opt`, MLIR's `mlir-opt`.
"""

import sys
from typing import TextIO

import click

from minitorch2.cli.render import Page
from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.graph import Graph
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.printer import print_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import NUMERICS, PassOptions
from minitorch2.jit.passes.pipeline import PIPELINE, run_pass
from minitorch2.jit.passes.rewrite import rewrite, why_not
from minitorch2.jit.passes.rules import RULES, rule

PASSES = {function.__name__: function for function in PIPELINE}
RULE_NAMES = tuple(each.name for each in RULES)


@click.command()
@click.argument("file", type=click.File(), default="-")
@click.option("-p", "--pass", "names", multiple=True, metavar="NAME", help="Run this; repeatable.")
@click.option("--numerics", type=click.Choice(NUMERICS), default="default")
@click.option("--notes", is_flag=True, help="Say on stderr what was done and what was not.")
@click.option("--origins", is_flag=True, help="Print where each node comes from.")
@click.option("--why", metavar="RULE:VALUE", help="Why a rule does not change a value.")
@click.option("--list", "show", is_flag=True, help="The passes and the rules.")
def opt(
    file: TextIO, names: tuple[str, ...], numerics: str, notes: bool, origins: bool,
    why: str | None, show: bool,
) -> None:  # fmt: skip
    """Run passes on a graph: IR text in, IR text out."""
    if show:
        return _list()
    options = PassOptions(numerics)
    try:
        graph = parse_graph(file.read())
        verify(graph)
        if why is not None:
            click.echo(explained(graph, why))
            return None
        with collected() as said:
            for name in names or PASSES:
                graph = changed(graph, name, options)
                verify(graph)
    except Mt2Error as error:
        click.echo(str(error), err=True)
        sys.exit(1)
    if notes:
        click.echo("\n".join(map(str, said)), err=True)
    click.echo(print_graph(graph, origins))
    return None


def changed(graph: Graph, name: str, options: PassOptions) -> Graph:
    """The graph after the pass or rule of that name; UsageError when there is none."""
    if name in PASSES:
        return run_pass(PASSES[name], graph, options)
    if name in RULE_NAMES:
        return rewrite(graph, (rule(name),))
    raise click.UsageError(f"no pass or rule is named {name!r}; see mt2 opt --list")


def explained(graph: Graph, question: str) -> str:
    """The answer to RULE:VALUE."""
    name, _, value = question.partition(":")
    if name not in RULE_NAMES or not value:
        raise click.UsageError(f"--why takes RULE:VALUE, as mul_one:3, not {question!r}")
    return why_not(rule(name), graph, value.removeprefix("%"))


def _list() -> None:
    page = Page(sys.stdout)
    page.heading("Passes, in the order they run", "", "")
    page.table([(n, (f.__doc__ or "").split("\n")[0]) for n, f in PASSES.items()], ("bold", ""))
    page.blank()
    page.heading("Rules of apply_rules", "", "")
    page.table([(each.name, each.text.partition(": ")[2]) for each in RULES], ("bold", ""))
