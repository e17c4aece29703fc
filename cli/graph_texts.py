"""The graphs of a run as text that `mt2 opt` reads: what `mt2 explain --ir` prints.

In: Records, the chosen ones. Out: the graphs in them, one behind the other, user lines as comments.
A stage that makes two graphs gives both; one that makes none is refused by name.

    mt2 explain --ir --stage autodiff.functional train.py | mt2 opt cse dce

Source: `opt -S` of LLVM prints what `opt` reads.
"""

from collections.abc import Iterator, Sequence

import click

from minitorch2.cli.records import Record
from minitorch2.cli.stages import STAGES, matching

FORMS = ("graph", "partition", "diff")  # of stages whose text is graphs
GRAPH = "graph "


def check_stages(queries: Sequence[str]) -> None:
    """UsageError unless stages are named and each of them makes graphs."""
    having = [stage.name for stage in STAGES if stage.form in FORMS]
    if not queries:
        raise click.UsageError(f"--ir needs --stage NAME, one of {', '.join(having)}")
    for query in queries:
        if not any(stage.form in FORMS for stage in matching(query)):
            raise click.UsageError(f"{query} is no graph; --ir shows {', '.join(having)}")


def graph_texts(records: Sequence[Record]) -> Iterator[str]:
    """The text of each graph in the records."""
    for record in records:
        for part in record.text.split("\n\n"):
            if part.startswith(GRAPH):
                yield part
