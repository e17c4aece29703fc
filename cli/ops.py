"""`mt2 ops [NAME]`: the op table as a page, one row of it in full, or what of torch it covers.

In: the table. Out: each op's signature and meaning, by kind; for one op every field of its row,
functions by the file and line where they stand.

    mt2 ops gelu
    mt2 ops --kind view
    mt2 ops --coverage [gelu]

Source: `rustc --explain` and torch's native_functions.yaml.
"""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from minitorch2.cli.render import Page, many
from minitorch2.ops.short_ways import has_one, source_of
from minitorch2.ops.table import KINDS, Op, all_ops, lookup

MEANINGS = {
    "pointwise": "each element of the result comes from one element of each operand",
    "reduction": "many elements become one",
    "view": "the same memory under another shape or order",
    "product": "matrix products and convolutions, through a library",
    "gather": "elements picked or placed by an index",
    "inplace": "writes into its first operand",
    "random": "numbers from the generator",
    "creation": "new tensors from sizes and numbers",
    "composite": "defined by other operations",
    "library": "a call that stays whole: LAPACK, special functions, searching",
    "control": "a branch or loop, whose parts are functions of tensors",
}
FUNCTIONS = ("eager", "infer", "view", "inverse", "vjp", "decomp")


@click.command()
@click.argument("name", required=False)
@click.option("--kind", type=click.Choice(KINDS), help="Only ops of this kind.")
@click.option("--coverage", is_flag=True, help="Names in torch, dtypes, what was compared.")
def ops(name: str | None, kind: str | None, coverage: bool) -> None:
    """List the operations, or show the row of NAME in full."""
    page = Page(sys.stdout)
    one = _find(name) if name is not None else None
    if coverage:
        _coverage(page, [op for op in (all_ops() if one is None else [one])
                         if kind in (None, op.kind)])  # fmt: skip
        return
    if one is not None:
        _one(page, one)
        return
    for each in KINDS:
        rows = [op for op in all_ops() if op.kind == each]
        if rows and kind in (None, each):
            page.heading(f"{each} ({len(rows)})", "", MEANINGS.get(each, ""))
            for op in rows:
                _line(page, op)
    page.blank()
    page.write("One row in full: mt2 ops NAME", "dim")


def _find(name: str) -> Op:
    short = name.removeprefix("torch.").removeprefix("Tensor.").removeprefix("nn.functional.")
    try:
        return lookup(short)
    except KeyError as error:
        raise click.ClickException(str(error.args[0])) from None


def _line(page: Page, op: Op) -> None:
    """Signature and meaning side by side, or below each other where that is too wide."""
    text, column = op.signature.text, page.width // 2 + 2
    if len(text) + 4 <= column and column + len(op.doc) <= page.width:
        page.hanging(f"  {text:<{column - 2}}", op.doc, "dim")
        return
    page.write(text, indent=2, hang=4)
    page.write(op.doc, "dim", indent=8)


def compared() -> dict[str, tuple[str, str, str]]:
    """Row -> (dtypes, comparisons, what was compared), as the parity run wrote them."""
    lines = Path(__file__).with_name("coverage.tsv").read_text().splitlines()
    cells = [line.split("\t") for line in lines if not line.startswith("#")]
    return {row: (dtypes, count, what) for row, dtypes, count, what in cells}


def _status(op: Op) -> str:
    """How the row runs, and what has been derived from it."""
    derived = [
        "gradient" if op.vjp is not None or op.decomp is not None else "",
        "host step" if op.host else "kernels" if op.decomp is None else "",
        "in place" if op.inplace_of is not None else "",
    ]
    return ", ".join([op.kind, *filter(None, derived)])


def _coverage(page: Page, chosen: Sequence[Op]) -> None:
    """The torch name of each chosen row, how it runs, its dtypes, and how often it was compared."""
    found, total = compared(), 0
    published = [op for op in chosen if op.name in found]
    for op in published:
        dtypes, count, what = found[op.name]
        total += int(count)
        page.write(f"{op.torch}  {_status(op)}")
        page.write(f"{dtypes or 'no tensor operands'}; {count} comparisons: {what}", "dim", 4, 4)
    page.blank()
    page.write(
        f"{many(len(published), 'row')}, {total} comparisons with torch, no mismatch", "bold"
    )
    others = [op.name for op in chosen if op.name not in found]
    if others:
        page.write(f"not compared: {', '.join(others)}", "dim")


def _one(page: Page, op: Op) -> None:
    rows = [
        ("signature", op.signature.text),
        ("meaning", op.doc),
        ("kind", f"{op.kind}: {MEANINGS.get(op.kind, '')}"),
        ("torch", op.torch),
        ("promotes", op.promote if op.kind == "pointwise" else ""),
        ("one element", op.expr),
        ("effects", op.effects),
        ("saves", ", ".join(op.saves)),
    ]
    rows += [(field, _place(getattr(op, field))) for field in FUNCTIONS]
    page.table([row for row in rows if row[1]], ("bold", ""))
    if has_one(op):
        page.blank()
        page.write("its short way, made from the row (minitorch2/ops/short_ways.py):", "dim")
        page.write(source_of(op).rstrip())


def _place(function: Callable | None) -> str:
    """Where a function stands: 'minitorch2/ops/neural.py:41', or its name for a library's own."""
    if function is None:
        return ""
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{type(function).__module__}.{getattr(function, '__name__', '')}".strip(".")
    root = os.path.dirname(
        os.path.dirname(os.path.abspath(sys.modules["minitorch2"].__file__ or ""))
    )
    path = os.path.relpath(code.co_filename, root)
    return f"{path}:{code.co_firstlineno}"
