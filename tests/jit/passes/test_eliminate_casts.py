"""Conversions that lose nothing go; those that round stay, unless the options allow it."""

import itertools

import numpy
import pytest

from minitorch2 import dtypes
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.eliminate_casts import eliminate_casts, holds
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import PassOptions
from tests.jit.passes.checking import check

REAL = [each for each in dtypes.ALL if not each.is_complex]


def pair(first, middle, last):
    return (
        f"graph f(%x: {first}[9]) {{ %0: {middle}[9] = convert(%x, {middle}) "
        f"%1: {last}[9] = convert(%0, {last}) return %1: strides(1) }}"
    )


LOSSLESS = [("f32", "f64"), ("bf16", "f32"), ("f16", "f32"), ("i32", "f64"), ("u8", "i16"),
            ("bool", "i64")]  # fmt: skip
LOSSY = [("f32", "i32", "f32"), ("i64", "f64", "i64"), ("i32", "bool", "i32"),
         ("f64", "f32", "i32")]  # fmt: skip


@pytest.mark.parametrize("first, middle", LOSSLESS)
def test_there_and_back_is_nothing(first, middle):
    after = (
        f"graph f(%x: {first}[9]) {{ %0: {middle}[9] = convert(%x, {middle}) "
        "return %x: strides(1) }"
    )
    check(eliminate_casts, pair(first, middle, first), after)


def test_one_conversion_instead_of_two():
    after = (
        "graph f(%x: bf16[9]) { %0: f32[9] = convert(%x, f32) %1: f64[9] = convert(%x, f64) "
        "return %1: strides(1) }"
    )
    check(eliminate_casts, pair("bf16", "f32", "f64"), after)


@pytest.mark.parametrize("middle", ["bf16", "f16"])
def test_rounding_is_kept_and_said(middle):
    text = pair("f32", middle, "f32")
    with collected() as notes:
        check(eliminate_casts, text, text)
    assert "rounds, as eager does" in str(notes[0]) and not notes[0].did


def test_fast_numerics_drop_the_rounding_and_list_it():
    with collected() as notes:
        found = eliminate_casts(parse_graph(pair("f32", "bf16", "f32")), PassOptions("fast"))
    assert str(found.outputs[0].argument) == "%x"
    assert [note.changes_bits for note in notes] == [True]


@pytest.mark.parametrize("first, middle, last", LOSSY)
def test_other_losses_are_never_dropped(first, middle, last):
    for options in (PassOptions(), PassOptions("fast")):
        graph = parse_graph(pair(first, middle, last))
        assert eliminate_casts(graph, options) == graph


@pytest.mark.parametrize("narrow, wide", list(itertools.product(REAL, REAL)))
def test_holds_is_true_only_where_nothing_is_lost(narrow, wide):
    if not holds(wide, narrow):
        return
    if narrow.is_floating_point:
        values = numpy.array([0.0, -0.0, 1.5, -3e-5, 3e-8, 1e-39, 6e4, numpy.inf, -numpy.inf])
        values = numpy.concatenate([values, numpy.linspace(-9, 9, 999)]).astype(narrow.numpy)
    elif narrow is dtypes.bool:
        values = numpy.array([False, True])
    else:
        info = numpy.iinfo(narrow.numpy)
        values = numpy.array([info.min, info.max, info.max - 1, 0, 1], narrow.numpy)
    assert numpy.array_equal(values.astype(wide.numpy).astype(narrow.numpy), values)
