"""Every primitive row, on every sample: the compiled call is the eager call."""

import numpy
import pytest

from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.eager_primitives import ANGLES, LARGEST_ANGLE
from minitorch2.kernels.lower.lowering import HOST_REASONS, PRODUCT_RULES, RULES
from minitorch2.ops.table import (
    COMPOSITE,
    INPLACE,
    POINTWISE,
    PRODUCT,
    REDUCTION,
    VIEW,
    Op,
)
from minitorch2.tensors import wrap
from tests.kernels.graphs import assert_close, one_op_graph
from tests.op_samples import rows, samples

PRIMITIVES = [op for op in rows() if op.kind not in (COMPOSITE, INPLACE)]


def test_every_row_has_a_rule_or_a_reason():
    by_name = {op.name for op in PRIMITIVES if op.kind not in (POINTWISE, REDUCTION, VIEW)}
    products = {op.name for op in PRIMITIVES if op.kind == PRODUCT}
    known = RULES.keys() | HOST_REASONS.keys() | set(PRODUCT_RULES)
    assert by_name <= known, f"no rule and no reason: {sorted(by_name - known)}"
    assert set(PRODUCT_RULES) <= products
    assert known <= {op.name for op in PRIMITIVES}, "a rule for an op that is not in the table"


def check_row(op: Op, options: KernelOptions, limit: int | None = None) -> None:
    """Compare every sample that eager accepts, and every refusal of a value (a bad index)."""
    for sample in samples(op)[:limit]:
        try:
            graph, inputs = one_op_graph(op, sample)
        except (Mt2Error, TypeError, AttributeError):
            continue  # no graph holds such a call
        with numpy.errstate(all="ignore"):
            try:
                wanted = interpret(graph, inputs)
            except Mt2Error as refused:
                with pytest.raises(type(refused)):
                    compile_graph(graph, options)(inputs)
                continue
            except (TypeError, ValueError, IndexError):
                continue  # numpy refused it
            found = compile_graph(graph, options)(inputs)
        if op.name in ANGLES:
            found, wanted = without_large_angles(inputs, found, wanted)
        assert_close(found, wanted)


def without_large_angles(inputs, found, wanted):
    """The results where the operand is below LARGEST_ANGLE: beyond, kernels give nan."""
    keep = ~(numpy.abs(inputs[0].array.astype("f8")) >= LARGEST_ANGLE)
    return tuple([wrap(each.array[keep]) for each in results] for results in (found, wanted))


@pytest.mark.xfail(strict=True, reason="kernels reduce an angle to one turn only below 2**45")
@pytest.mark.parametrize("name", sorted(ANGLES))
def test_large_angles(name):
    graph = parse_graph(f"graph f(%x: f64[2]) {{ %0: f64[2] = {name}(%x) return %0 }}")
    inputs = [wrap(numpy.array([1e30, 2.0**50]))]
    found = compile_graph(graph, KernelOptions(executor="python"))(inputs)
    assert_close(found, interpret(graph, inputs))


@pytest.mark.slow
@pytest.mark.parametrize("op", PRIMITIVES, ids=lambda op: op.name)
def test_loops(op: Op):
    check_row(op, KernelOptions(executor="loops"))


@pytest.mark.slow
@pytest.mark.parametrize("op", PRIMITIVES, ids=lambda op: op.name)
def test_sim(op: Op):
    check_row(op, KernelOptions(executor="sim"), limit=6)


@pytest.mark.parametrize("op", PRIMITIVES, ids=lambda op: op.name)
def test_python(op: Op):
    check_row(op, KernelOptions(executor="python"))


@pytest.mark.slow
@pytest.mark.numba
@pytest.mark.parametrize("op", PRIMITIVES, ids=lambda op: op.name)
def test_numba(op: Op):
    check_row(op, KernelOptions(executor="numba"), limit=4)
