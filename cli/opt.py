"""`mt2 opt`: graph IR in, passes or single rules run on it, graph IR out.

In: graphs as text, from a file or from stdin, and names. Out: the graphs after them, as text that
`mt2 opt` reads again. Names are those of passes or of rewrite rules (`--list` shows both, each with
what it means) and run in the order given; without any, the whole pipeline runs. Where a graph comes
from: `mt2 explain --ir` prints those of a script.

    mt2 opt --list
    mt2 explain --ir --stage autodiff.functional train.py | mt2 opt cse dce
    mt2 opt graph.ir
    mt2 opt apply_rules eliminate_dead_code --notes < graph.ir
    mt2 opt --why mul_one:3 < graph.ir        why the rule does not change %3

Source: LLVM's `opt`, MLIR's `mlir-opt`.
"""

import difflib
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from minitorch2.artifacts import Origin, Span
from minitorch2.cli.records import split_origin
from minitorch2.cli.render import Page
from minitorch2.errors import Mt2Error, VerificationError
from minitorch2.jit.ir.graph import Graph, Node, map_graphs
from minitorch2.jit.ir.parser import parse_graphs
from minitorch2.jit.ir.printer import print_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import NUMERICS, PassOptions
from minitorch2.jit.passes.pipeline import PIPELINE, REQUIRES, run_pass
from minitorch2.jit.passes.rewrite import rewrite, why_not
from minitorch2.jit.passes.rules import RULES, rule

PASSES = {function.__name__: function for function in PIPELINE}
RULE_NAMES = tuple(each.name for each in RULES)
SHORT = {"cse": "eliminate_common_subexpressions", "dce": "eliminate_dead_code"}
STDIN = "-"
HOW = "pipe one in, as `mt2 explain --ir --stage autodiff.functional SCRIPT | mt2 opt`"


@click.command()
@click.argument("arguments", nargs=-1, metavar="[FILE] [NAME]...")
@click.option("-p", "--pass", "named", multiple=True, metavar="NAME", help="Run this; repeatable.")
@click.option("--numerics", type=click.Choice(NUMERICS), default="default", help="The contract.")
@click.option("--notes", is_flag=True, help="Say on stderr what was done and what was not.")
@click.option(
    "--origins", is_flag=True, help="Print where each node comes from, as the input's comments say."
)
@click.option("--why", metavar="RULE:VALUE", help="Why a rule does not change a value.")
@click.option("--list", "show", is_flag=True, help="The passes and the rules.")
def opt(
    arguments: tuple[str, ...], named: tuple[str, ...], numerics: str, notes: bool, origins: bool,
    why: str | None, show: bool,
) -> None:  # fmt: skip
    """Run passes on graphs: IR text in (FILE or stdin), IR text out.

    NAMEs are passes, rules, or cse and dce; without any, all passes run. `mt2 explain --ir` prints
    the graphs of a script.
    """
    if show:
        return _list()
    file, names = file_and_names(arguments)
    names = [*map(known, named), *names]
    try:
        graphs = read_graphs(file)
        if why is not None:
            click.echo("\n".join(explained(graph, why) for graph in graphs))
            return None
        with collected() as done:
            graphs = [optimized(graph, names, PassOptions(numerics)) for graph in graphs]
    except Mt2Error as error:
        click.echo(
            str(error).partition("\n  at ")[0], err=True
        )  # no line of a script's is at fault
        sys.exit(1)
    if notes:
        click.echo("\n".join(map(str, done)), err=True)
    click.echo("\n\n".join(print_graph(graph, origins) for graph in graphs))
    return None


def file_and_names(arguments: tuple[str, ...]) -> tuple[str, list[str]]:
    """The file among the arguments (stdin if there is none), and what is to run."""
    files = [each for each in arguments if each == STDIN or os.path.isfile(each)]
    if len(files) > 1:
        raise click.UsageError(f"one file at a time, not {' and '.join(files)}")
    others = [known(each, ", and there is no such file") for each in arguments if each not in files]
    return files[0] if files else STDIN, others


def known(name: str, beside: str = "") -> str:
    """The pass or rule of that name; UsageError where there is none, with what else it is not."""
    full = SHORT.get(name, name)
    if full in PASSES or full in RULE_NAMES:
        return full
    near = difflib.get_close_matches(name, [*PASSES, *RULE_NAMES, *SHORT], 2)
    meant = f"; did you mean {' or '.join(near)}?" if near else "."
    raise click.UsageError(f"no pass or rule is named {name!r}{beside}{meant} See mt2 opt --list.")


def read_graphs(file: str) -> list[Graph]:
    """The graphs of a file, checked. Raises ParseError, VerificationError."""
    if file == STDIN and sys.stdin.isatty():
        raise click.UsageError(f"there is no graph to work on: name a file, or {HOW}")
    try:
        text = sys.stdin.read() if file == STDIN else Path(file).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{file} cannot be read: {error}") from error
    if not text.strip():
        raise click.UsageError(f"there is no graph in {'stdin' if file == STDIN else file}: {HOW}")
    lines = text.splitlines()
    graphs = [with_origins(graph, lines) for graph in parse_graphs(text)]
    for graph in graphs:
        verify(graph)
    return graphs


def with_origins(graph: Graph, lines: Sequence[str]) -> Graph:
    """The graph whose nodes come from the user lines that their comments name; from their line of
    the text where there is no comment."""

    def inner(graph: Graph) -> Graph:
        return with_origins(graph, lines)

    def told(node: Node) -> Origin | None:
        assert node.origin is not None
        places = split_origin(lines[node.origin.spans[0].line - 1])[1]
        pairs = [each.rpartition(":") for each in places.split(", ") if ":" in each]
        spans = tuple(Span(file, int(line), int(line)) for file, _, line in pairs)
        return Origin(spans) if spans else node.origin

    nodes = (replace(n, args=map_graphs(n.args, inner), origin=told(n)) for n in graph.nodes)
    return replace(graph, nodes=tuple(nodes))


def optimized(graph: Graph, names: list[str], options: PassOptions) -> Graph:
    """The graph after these passes and rules, after all passes if there is none."""
    for predicate in REQUIRES:
        if not predicate(graph):
            raise VerificationError(
                f"graph {graph.name}", f"{predicate.__name__} does not hold",
                "passes take graphs of primitives without writes in place, as they are after the "
                "stage autodiff.functional",
            )  # fmt: skip
    for name in names or PASSES:
        if name in PASSES:
            graph = run_pass(PASSES[name], graph, options)
        else:
            graph = rewrite(graph, (rule(name),))
        verify(graph)
    return graph


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
