"""Every primitive row, on every sample: the compiled call is the eager call."""

import numpy
import pytest

from minitorch2.errors import Mt2Error
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.kernels.backend import KernelOptions, compile_graph
from minitorch2.kernels.lower.lowering import HOST_REASONS, PRODUCT_RULES, RULES
from minitorch2.ops.table import (
    COMPOSITE,
    INPLACE,
    POINTWISE,
    PRODUCT,
    REDUCTION,
    VIEW,
    Op,
    all_ops,
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
    assert known <= {op.name for op in all_ops()}, "a rule for an op that is not in the table"


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
        assert_close(found, wanted)


LARGE_ANGLES = [1e30, 2.0**50, -(2.0**45), 1.7e308, 6381956970095103 * 2.0**797, 3.0,
                2.0**18, -4028876.75, 262143.97, 2.0**30 + 128]  # fmt: skip


@pytest.mark.parametrize("executor", ["python", "loops", "numba"])
@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles(name, element, executor):
    """An angle of any size: kernels give the bits that eager gives, also in place."""
    graph = parse_graph(f"""graph f(%x: {element}[600], %y: {element}[600]) {{
      %0: {element}[600] = {name}(%x)
      %1: {element}[600] = {name}(%0)
      return %0, %1 writes(%x <- %1)
    }}""")
    numbers = numpy.ones(600)
    numbers[[0, 1, 300, 500, 598, 599, 40, 41, 90, 301]] = LARGE_ANGLES
    with numpy.errstate(over="ignore"):
        array = numpy.minimum(numbers.astype({"f32": "f4", "f64": "f8"}[element]), 3e38)
    given = [[wrap(array.copy()), wrap(array)] for _ in range(2)]
    wanted = interpret(graph, given[0])
    found = compile_graph(graph, KernelOptions(executor=executor))(given[1])
    assert numpy.isfinite(wanted[0].array).all()
    for left, right in zip([*found, given[1][0]], [*wanted, given[0][0]], strict=True):
        assert left.array.tobytes() == right.array.tobytes()


@pytest.mark.numba
@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles_in_place(name):
    """A kernel that writes over the angles it reads cannot do a chunk twice."""
    graph = parse_graph(f"""graph f(%x: f32[600]) {{
      %0: f32[600] = {name}(%x)
      return writes(%x <- %0)
    }}""")
    array = numpy.linspace(0, 3e38, 600, dtype="f4")
    wanted = interpret(parse_graph(str(graph)), [wanted_input := wrap(array.copy())])
    found = compile_graph(graph, KernelOptions())([found_input := wrap(array.copy())])
    assert wanted == found == []
    assert found_input.array.tobytes() == wanted_input.array.tobytes()


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
