"""Cutting apart and joining again is nothing."""

from itertools import pairwise
from random import Random

import pytest

from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.ir.verify import verify
from minitorch2.jit.passes.join_slices import join_slices
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import DEFAULT
from minitorch2.layouts import contiguous_strides
from tests.jit.passes.checking import check, same_numbers

CUT = (
    "%0: f32[4,2] = slice(%x, 1, 0, 2) %1: f32[4,3] = slice(%x, 1, 2, 5) "
    "%2: f32[4,1] = slice(%x, 1, 5, 6)"
)
START = f"graph f(%x: f32[4,6], %y: f32[4,2]) {{ {CUT} "


def test_all_parts_are_the_whole():
    before = START + "%3: f32[4,6] = cat((%0, %1, %2), 1) return %3: strides(6,1) }"
    check(join_slices, before, START + "return %x: strides(6,1) }")


def test_neighbours_become_one_part():
    before = START + "%3: f32[4,6] = cat((%1, %2, %y), 1) return %3: strides(6,1) }"
    after = START + (
        "%3: f32[4,4] = slice(%x, 1, 2, 6) %4: f32[4,6] = cat((%3, %y), 1) "
        "return %4: strides(6,1) }"
    )
    check(join_slices, before, after)


def test_another_order_is_left():
    before = START + "%3: f32[4,6] = cat((%1, %0, %2), 1) return %3: strides(6,1) }"
    check(join_slices, before, before)


def test_another_dimension_is_left():
    text = (
        "graph f(%x: f32[4,6]) { "
        "%0: f32[4,3] = slice(%x, 1, 0, 3) %1: f32[4,3] = slice(%x, 1, 3, 6) "
        "%2: f32[8,3] = cat((%0, %1), 0) return %2: strides(3,1) }"
    )
    check(join_slices, text, text)


def test_a_part_of_a_cat_is_a_part_of_its_operand():
    before = (
        "graph f(%x: f32[4,6], %y: f32[4,2]) { %0: f32[4,8] = cat((%x, %y), 1) "
        "%1: f32[4,2] = slice(%0, 1, 6, 8) %2: f32[4,3] = slice(%0, 1, 1, 4) "
        "%3: f32[4,3] = slice(%0, 1, 4, 7) "
        "return %1: strides(2,1), %2: strides(3,1), %3: strides(3,1) }"
    )
    after = (
        "graph f(%x: f32[4,6], %y: f32[4,2]) { %0: f32[4,8] = cat((%x, %y), 1) "
        "%1: f32[4,3] = slice(%x, 1, 1, 4) %2: f32[4,3] = slice(%0, 1, 4, 7) "
        "return %y: strides(2,1), %1: strides(3,1), %2: strides(3,1) }"
    )
    check(join_slices, before, after)


def test_symbolic_sizes_and_other_dtypes_are_left():
    for text in (
        "graph f(%x: f32[s0]) { %0: f32[s0] = slice(%x, 0, 0, s0) "
        "%1: f32[s0*2] = cat((%0, %x)) return %1 }",
        "graph f(%x: f32[2], %y: f64[2]) { %0: f64[4] = cat((%x, %y)) "
        "%1: f64[2] = slice(%0, 0, 0, 2) return %1 }",
    ):
        graph = parse_graph(text)
        assert join_slices(graph, DEFAULT) == graph


def test_a_cat_of_cats_is_one():
    start = "graph f(%x: f32[4,2], %y: f32[4,3]) { %0: f32[4,5] = cat((%x, %y), 1) "
    before = start + "%1: f32[4,7] = cat((%0, %x), 1) return %1: strides(7,1) }"
    check(join_slices, before, before.replace("cat((%0, %x)", "cat((%x, %y, %x)"))
    for other in (  # read twice; joined along another dimension
        before.replace("return", "return %0: strides(5,1),"),
        "graph f(%x: f32[4,2], %y: f32[4,3]) { %0: f32[8,2] = cat((%x, %x), 0) "
        "%1: f32[8,4] = cat((%0, %0), 1) return %1: strides(4,1) }",
    ):
        check(join_slices, other, other)


def test_a_part_of_another_number_of_dimensions_is_left():
    """cat takes an empty part of one dimension beside parts of any."""
    before = (
        "graph f(%z: f32[0], %x: f32[4,6]) { %0: f32[4,3] = slice(%x, 1, 0, 3) "
        "%1: f32[4,3] = slice(%x, 1, 3, 6) %2: f32[4,6] = cat((%z, %0, %1), 1) "
        "%3: f32[4,2] = slice(%2, 1, 1, 3) return %2: strides(6,1), %3: strides(2,1) }"
    )
    check(join_slices, before, before)


def test_nothing_joined_is_nothing():
    before = (
        "graph f(%x: f32[4,2], %n: f32[4,0]) { %0: f32[4,2] = cat((%n, %x, %n), 1) "
        "%1: f32[4,0] = cat((%n, %n), 1) return %0: strides(2,1), %1: strides(0,1) }"
    )
    after = "graph f(%x: f32[4,2], %n: f32[4,0]) { return %x: strides(2,1), %n: strides(0,1) }"
    check(join_slices, before, after)


STACK = (
    "graph f(%x: f32[4,3], %y: f32[4,3]) { %0: f32[4,1,3] = unsqueeze(%x, 1) "
    "%1: f32[4,1,3] = unsqueeze(%y, -2) %2: f32[4,2,3] = cat((%0, %1), 1) "
)


def test_an_element_of_a_stack_is_what_was_stacked():
    before = STACK + (
        "%3: f32[4,3] = select(%2, 1, 0) %4: f32[4,3] = select(%2, -2, -1) "
        "return %3: strides(3,1), %4: strides(3,1) }"
    )
    check(join_slices, before, STACK + "return %x: strides(3,1), %y: strides(3,1) }")


def test_an_element_of_a_cat_is_one_of_an_operand():
    start = "graph f(%x: f32[4,2], %y: f32[4,3]) { %0: f32[4,5] = cat((%x, %y), 1) "
    before = start + "%1: f32[4] = select(%0, 1, -2) return %1: strides(1) }"
    after = start + "%1: f32[4] = select(%y, 1, 1) return %1: strides(1) }"
    check(join_slices, before, after)
    other = start + "%1: f32[5] = select(%0, 0, 1) return %1: strides(1) }"
    check(join_slices, other, other)


def test_all_elements_stacked_again_are_the_whole():
    start = (
        "graph f(%x: f32[2,3]) { %0: f32[3] = select(%x, 0, 0) %1: f32[3] = select(%x, 0, -1) "
        "%2: f32[1,3] = unsqueeze(%0, 0) %3: f32[1,3] = unsqueeze(%1, 0) "
    )
    before = start + "%4: f32[2,3] = cat((%2, %3), 0) return %4: strides(3,1) }"
    check(join_slices, before, start + "return %x: strides(3,1) }")
    turned = start + "%4: f32[2,3] = cat((%3, %2), 0) return %4: strides(3,1) }"
    check(join_slices, turned, turned)
    aside = start.replace("unsqueeze(%0, 0)", "unsqueeze(%0, 1)").replace("f32[1,3]", "f32[3,1]")
    aside = aside.replace("unsqueeze(%1, 0)", "unsqueeze(%1, 1)")
    aside += "%4: f32[3,2] = cat((%2, %3), 1) return %4: strides(2,1) }"
    check(join_slices, aside, aside)  # the matrix turned over


def test_a_part_over_several_operands_is_a_smaller_cat():
    start = "graph f(%x: f32[2], %y: f32[3], %z: f32[4]) { %0: f32[9] = cat((%x, %y, %z)) "
    before = start + "%1: f32[5] = slice(%0, 0, 2, 7) return %1: strides(1) }"
    after = start + (
        "%1: f32[2] = slice(%z, 0, 0, 2) %2: f32[5] = cat((%y, %1)) return %2: strides(1) }"
    )
    check(join_slices, before, after)
    for other in (
        start + "%1: f32[8] = slice(%0, 0, 1, 9) return %1: strides(1) }",  # of all operands
        start + "%1: f32[5] = slice(%0, 0, 2, 7) return %1: strides(1), %0: strides(1) }",
    ):
        check(join_slices, other, other)


JOINED = "graph f(%x: f32[{n}], %y: {kind}[3], %z: f32[4]) {{ %0: f32[{m}] = cat((%x, %y, %z)) "


@pytest.mark.parametrize(
    "sizes, call, reason",
    [
        (("2", "9", "f32"), "slice(%0, 0, 2, 7)", "several operands, and the cat is made anyway"),
        (("2", "9", "f16"), "slice(%0, 0, 2, 7)", "several dtypes are joined"),
        (("s0", "s0+7", "f32"), "slice(%0, 0, 2, 7)", "its bounds vary, or it leaves elements out"),
        (("2", "9", "f32"), "slice(%0, 0, 0, 9, 2)", "its bounds vary, or it leaves elements out"),
    ],
)
def test_what_is_left_is_told(sizes, call, reason):
    n, m, kind = sizes
    text = JOINED.format(n=n, m=m, kind=kind) + f"%1: f32[5] = {call} "
    with collected() as notes:
        join_slices(parse_graph(text + "return %1: strides(1), %0: strides(1) }"), DEFAULT)
    assert [reason in str(each) for each in notes] == [True]


def random_graph(seed):
    """Slices, elements, stacks and cats of three tensors, one after the other."""
    random = Random(seed)
    shapes = {"x": (3, 4), "y": (3, 2), "z": (4, 3)}
    head = ", ".join(f"%{name}: f32[{a},{b}]" for name, (a, b) in shapes.items())
    lines, number = [], 0

    def add(shape, call):
        nonlocal number
        name, number = str(number), number + 1
        shapes[name] = shape
        lines.append(f"  %{name}: f32[{','.join(map(str, shape))}] = {call}")
        return name

    def cat(dim, parts):
        shape = list(shapes[parts[0]])
        shape[dim] = sum(shapes[part][dim] for part in parts)
        return add(tuple(shape), f"cat(({', '.join('%' + p for p in parts)}), {dim})")

    for _ in range(14):
        base = random.choice(list(shapes))
        shape = shapes[base]
        dim = random.randrange(len(shape))
        kind = random.choice(["slice", "slice", "select", "unsqueeze", "cat", "cat", "split"])
        fits = [
            n
            for n, other in shapes.items()
            if len(other) == len(shape)
            and all(a == b for at, (a, b) in enumerate(zip(shape, other, strict=True)) if at != dim)
        ]
        if kind == "cat" and shape[dim] < 12:
            cat(dim, random.choices(fits[-6:], k=random.randint(2, 3)))
        elif kind == "slice":
            first = random.randint(0, shape[dim])
            last = random.randint(first, shape[dim])
            part = (*shape[:dim], last - first, *shape[dim + 1 :])
            add(part, f"slice(%{base}, {dim}, {first}, {last})")
        elif kind == "select" and len(shape) > 1 and shape[dim]:
            place = random.randrange(-shape[dim], shape[dim])
            add((*shape[:dim], *shape[dim + 1 :]), f"select(%{base}, {dim}, {place})")
        elif kind == "unsqueeze" and len(shape) < 3:
            add((*shape[:dim], 1, *shape[dim:]), f"unsqueeze(%{base}, {dim})")
        elif kind == "split" and shape[dim] >= 2:
            cuts = sorted({0, random.randint(1, shape[dim] - 1), shape[dim]})
            pieces = []
            for a, b in pairwise(cuts):
                part = (*shape[:dim], b - a, *shape[dim + 1 :])
                pieces.append(add(part, f"slice(%{base}, {dim}, {a}, {b})"))
            if random.random() < 0.3:
                random.shuffle(pieces)
            cat(dim, pieces)
    made = [name for name in shapes if name not in ("x", "y", "z")][-3:]
    steps = {name: ",".join(map(str, contiguous_strides(shapes[name]))) for name in made}
    results = ", ".join(f"%{name}: strides({each})" for name, each in steps.items())
    return "graph f(" + head + ") {\n" + "\n".join(lines) + f"\n  return {results}\n}}"


@pytest.mark.parametrize("seed", range(200))
def test_random_cuts_and_joins_compute_the_same(seed):
    graph = parse_graph(random_graph(seed))
    verify(graph)
    found = join_slices(graph, DEFAULT)
    verify(found)
    same_numbers(graph, found)
