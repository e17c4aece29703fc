"""The report of `mt2 explain`: every compiled function, stage by stage.

In: the Records of a run and a Page. Out: for each unit a title, what happened at a glance, then
each stage under the file that made it, with the user's lines at the left. Nothing is decided here
that the events do not say.

    write_report(page, collector.records)

Source: the order of stages is that of the house: capture, guards, autodiff, passes, loops, kernels.
"""

import itertools
from collections.abc import Sequence

from minitorch2.cli import bodies
from minitorch2.cli.line import Place, captured_places, never_captured
from minitorch2.cli.records import Record
from minitorch2.cli.render import Page, many
from minitorch2.cli.stages import order, stage_named

NOTHING = """\
Nothing was compiled: the script never called a function made by minitorch2.compile.

To compile something, wrap a function or a module, then call it:

    @torch.compile
    def loss_fn(model, x, y):
        return F.cross_entropy(model(x), y)

    model = torch.compile(model)
"""


def write_report(page: Page, records: Sequence[Record], chosen: Sequence[Record]) -> None:
    """The chosen records, unit by unit; a unit of which all is shown starts with its contents."""
    units, wanted = by_unit(records), by_unit(chosen)
    if len(wanted) > 1:
        page.blank()
        page.put(f"{len(wanted)} compiled functions", "bold")
        page.table([(unit, _glance(units[unit])) for unit in wanted])
    for unit, rows in wanted.items():
        page.title(unit, _glance(units[unit]))
        if rows == units[unit]:
            _stages(page, rows, rows)
        _body(page, units[unit], rows)


def write_life(page: Page, records: Sequence[Record], cut: Sequence[Record], place: Place) -> None:
    """What became of one line, in each function that has it; or which lines there are."""
    if not cut:
        said, near = never_captured(records, place)
        page.blank()
        page.write(said, "bold yellow")
        page.table(near)
        return
    units, source = by_unit(records), captured_places(records).get(place, "")
    for unit, rows in by_unit(cut).items():
        page.title(str(place), f"in {unit}")
        if source:
            page.write(source, "yellow", indent=2)
            page.blank()
        _stages(page, units[unit], rows)
        _body(page, units[unit], rows)


def _body(page: Page, records: Sequence[Record], chosen: Sequence[Record]) -> None:
    """The chosen records of a unit, compilation by compilation, stage by stage."""
    context = bodies.Context(records)
    for title, rows in _rounds(records, chosen):
        if title:
            page.subtitle(title)
        for stage, half, group in _sections(rows):
            _section(page, (stage, half), group, context)


def by_unit(records: Sequence[Record]) -> dict[str, list[Record]]:
    """The records of each unit, units in the order in which they appeared."""
    units: dict[str, list[Record]] = {}
    for record in records:
        units.setdefault(record.unit, []).append(record)
    return units


def write_contents(page: Page, records: Sequence[Record], chosen: Sequence[Record]) -> None:
    """Which functions and stages there are, and how large each is."""
    units = by_unit(records)
    for unit, rows in by_unit(chosen).items():
        page.title(unit, _glance(units[unit]))
        _stages(page, units[unit], rows)


def _stages(page: Page, rows: Sequence[Record], chosen: Sequence[Record]) -> None:
    for title, round_rows in _rounds(rows, chosen):
        if title:
            page.blank()
            page.put(f"  {title}", "bold blue")
        table = []
        for stage, half, group in _sections(round_rows):
            sizes = dict.fromkeys(bodies.size(record) for record in group)
            name = " ".join(filter(None, (stage, half)))
            table.append((name, "; ".join(sizes)))
        page.table(table, ("bold",))


def _rounds(rows: Sequence[Record], chosen: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """The chosen records of each compilation under its title; an only one has no title."""
    rounds: list[list[Record]] = [[]]
    for record in rows:
        if record.stage == "capture.recompile" and rounds[-1]:
            rounds.append([])
        if not record.stage.startswith("runtime."):
            rounds[-1].append(record)
    wanted = {record.id: record for record in chosen}
    kept = [[wanted[record.id] for record in each if record.id in wanted] for each in rounds]
    newest = {each.stage: each for each in chosen if each.stage.startswith("runtime.")}
    totals = list(newest.values())
    if len(rounds) == 1:
        return [("", kept[0] + totals)]
    titled = [(f"compilation {number}", each) for number, each in enumerate(kept, 1)]
    return [pair for pair in [*titled, ("all compilations", totals)] if pair[1]]


def _sections(rows: Sequence[Record]) -> list[tuple[str, str, list[Record]]]:
    """Neighbours of one stage and half together, as (stage, half, records).

    Loops that do not name their half belong to the one whose kernels come next.
    """
    found: list[tuple[str, str, list[Record]]] = []
    following = ""
    groups = itertools.groupby(reversed(rows), key=lambda each: (each.stage, each.part))
    for (stage, part), group in groups:
        is_loops = stage.startswith("loops.")
        following = part if stage == "kernel.source" else following if is_loops else ""
        found.append((stage, part or following, list(group)[::-1]))
    return found[::-1]


def _section(
    page: Page, heading: tuple[str, str], group: Sequence[Record], context: bodies.Context
) -> None:
    stage, half = stage_named(heading[0]), heading[1]
    title = f"{stage.title}: {half}" if half else stage.title
    made_by = stage.file or group[0].producer
    page.heading(title, f"{stage.name}   {made_by}", stage.says)
    for number, record in enumerate(group):
        if number:
            page.blank()
        bodies.write_body(page, record, stage.form, context)


def _glance(rows: Sequence[Record]) -> str:
    """What a reader wants to know first: did it compile, and what went wrong."""
    found = []
    for stage, word in (("capture.break", "graph break"), ("capture.recompile", "recompilation")):
        # A place that breaks is one, however often it is compiled; a recompilation has no place.
        kept = (record for record in rows if record.stage == stage)
        count = len({(record.facts.get("where") or record.id, record.text) for record in kept})
        if count:
            found.append(many(count, word))
    if not any(record.stage == "capture.break" for record in rows):
        furthest = max((record.stage for record in rows), key=order, default="")
        compiled = order(furthest) >= order("kernel.source")
        found.insert(0, "compiled" if compiled else f"up to {furthest}")
    return ", ".join(found)
