"""What is reduced twice is reduced once; along what does not change nothing is reduced."""

import pytest

import minitorch2 as torch
from minitorch2.jit.ir.interpreter import interpret
from minitorch2.jit.ir.parser import parse_graph
from minitorch2.jit.passes.notes import collected
from minitorch2.jit.passes.options import DEFAULT, PassOptions
from minitorch2.jit.passes.simplify_reductions import simplify_reductions
from tests.jit.passes.checking import check

FAST = PassOptions("fast")


def graph(*lines: str, inputs: str, returns: str) -> str:
    return f"graph f({inputs}) {{ {' '.join(lines)} return {returns} }}"


@pytest.mark.parametrize("op", ["amax", "amin", "sum"])
def test_one_with_and_one_without_keepdim_are_one(op):
    first, inputs = f"%0: f32[4] = {op}(%x, (1,))", "%x: f32[4,3]"
    before = graph(first, f"%1: f32[4,1] = {op}(%x, (1,), True)", inputs=inputs, returns="%0, %1")
    after = graph(first, "%1: f32[4,1] = view(%0, (4, 1))", inputs=inputs, returns="%0, %1")
    check(simplify_reductions, before, after)


def test_other_dimensions_and_other_dtypes_are_others():
    text = graph(
        "%0: f32[4] = sum(%x, (1,))", "%1: f32[3] = sum(%x, (0,))",
        "%2: f64[4] = sum(%x, (1,), dtype=f64)", inputs="%x: f32[4,3]", returns="%0, %1, %2",
    )  # fmt: skip
    check(simplify_reductions, text, text)


@pytest.mark.parametrize("kind, op", [("f32", "amax"), ("i32", "amin"), ("bool", "any_true")])
def test_one_element_each(kind, op):
    inputs = f"%x: {kind}[4,1]"
    before = graph(f"%0: {kind}[4] = {op}(%x, (1,))", inputs=inputs, returns="%0")
    after = graph(f"%0: {kind}[4] = view(%x, (4,))", inputs=inputs, returns="%0")
    check(simplify_reductions, before, after)


def test_whether_a_number_is_there_is_no_number():
    text = graph("%0: bool[4] = any_true(%x, (1,))", inputs="%x: f32[4,1]", returns="%0")
    check(simplify_reductions, text, text)


def test_an_extremum_of_a_broadcast_is_one_of_the_operand():
    inputs = "%x: f32[1,3,5]"
    wide = "%0: f32[4,3,5] = expand(%x, (4, 3, 5))"
    before = graph(wide, "%1: f32[5] = amax(%0, (0, 1))", inputs=inputs, returns="%1")
    after = graph(wide, "%1: f32[1,1,5] = amax(%x, (1,), True)", "%2: f32[5] = view(%1, (5,))",
                  inputs=inputs, returns="%2")  # fmt: skip
    check(simplify_reductions, before, after)


def test_a_sum_of_equal_bools_is_one_of_them():
    inputs = "%x: bool[2,1]"
    wide = "%0: bool[2,9] = expand(%x, (2, 9))"
    before = graph(wide, "%1: bool[2] = sum(%0, (1,), dtype=bool)", inputs=inputs, returns="%1")
    after = graph(wide, "%1: bool[2] = view(%x, (2,))", inputs=inputs, returns="%1")
    check(simplify_reductions, before, after)


@pytest.mark.parametrize("backend", ["interpreter", "eager", "aot_eager", "numba"])
@pytest.mark.parametrize(
    "name, same_as, dim",
    [
        (name, same_as, dim)
        for name, same_as in (("sum", "any"), ("prod", "all"), ("nansum", "any"))
        for dim in (None, 1, (0, 1))
        if name != "prod" or dim != (0, 1)  # prod takes one dimension
    ],
)
@pytest.mark.parametrize("kind", [torch.bool, torch.int64, torch.float32, torch.float16])
def test_reductions_into_bool(name, same_as, dim, kind, backend):
    def reduce(x, wide):
        first = getattr(x, name)(dim, dtype=torch.bool)
        return first, getattr(wide.expand(3, 4), name)(dim, dtype=torch.bool), first.sum()

    x = torch.tensor([[1, 2, 0, 1], [0, 0, 0, 0], [3, 1, 1, 2]]).to(kind)
    wide = x[:, 2:3]
    *found, count = torch.compile(reduce, backend=backend)(x, wide)
    places = dim if isinstance(dim, tuple) else (0, 1) if dim is None else (dim,)
    for result, given in zip(found, (x, wide.expand(3, 4)), strict=True):
        wanted = getattr(given.bool().numpy(), same_as)(places)
        assert result.dtype is torch.bool and result.tolist() == wanted.tolist()
    assert count.dtype is torch.int64 and count.item() == found[0].numpy().sum()


def test_what_stays_broadcast_is_broadcast_again():
    inputs, wide = "%x: i64[1,1]", "%0: i64[4,3] = expand(%x, (4, 3))"
    before = graph(wide, "%1: i64[4] = sum(%0, (1,))", inputs=inputs, returns="%1")
    after = graph(wide, "%1: i64[1,1] = mul(%x, 3)", "%2: i64[4,1] = expand(%1, (4, 1))",
                  "%3: i64[4] = view(%2, (4,))", inputs=inputs, returns="%3")  # fmt: skip
    check(simplify_reductions, before, after)


def test_a_broadcast_into_more_dimensions():
    inputs, spread = "%x: f32[3]", "%0: f32[2,4,3] = expand(%x, (2, 4, 3))"
    for call, then, result in (
        ("amax(%0, (0, 1))", (), "%x"),
        ("amin(%0, (0,), True)", ("%1: f32[1,1,3] = view(%x, (1, 1, 3))",
                                  "%2: f32[1,4,3] = expand(%1, (1, 4, 3))"), "%2"),
        ("amax(%0, (1, 2))", ("%1: f32[1,1,3] = view(%x, (1, 1, 3))",
                              "%2: f32[1,1,1] = amax(%1, (2,), True)",
                              "%3: f32[2,1,1] = expand(%2, (2, 1, 1))",
                              "%4: f32[2] = view(%3, (2,))"), "%4"),
    ):  # fmt: skip
        shape = {"%x": "3", "%2": "1,4,3", "%4": "2"}[result]
        before = graph(spread, f"%1: f32[{shape}] = {call}", inputs=inputs, returns="%1")
        check(simplify_reductions, before, graph(spread, *then, inputs=inputs, returns=result))


def test_an_extremum_of_one_number_everywhere():
    inputs, numbers = "%x: f32[3]", "%0: f32[4,3] = full((4, 3), 2.5)"
    before = graph(numbers, "%1: f32[4] = amax(%0, (1,))", inputs=inputs, returns="%1")
    after = graph(numbers, "%1: f32[4] = full((4,), 2.5)", inputs=inputs, returns="%1")
    check(simplify_reductions, before, after)
    total = graph(numbers, "%1: f32[4] = sum(%0, (1,))", inputs=inputs, returns="%1")
    check(simplify_reductions, total, total)


def test_a_sum_of_one_integer_each():
    for kind, changes in (("i64", True), ("i32", False), ("f32", False)):  # 0.0 + -0.0 is 0.0
        inputs, result = f"%x: {kind}[4,1]", "i64" if kind == "i32" else kind
        before = graph(f"%0: {result}[4] = sum(%x, (1,))", inputs=inputs, returns="%0")
        after = graph("%0: i64[4] = view(%x, (4,))", inputs=inputs, returns="%0")
        check(simplify_reductions, before, after if changes else before)


def test_two_extrema_in_a_row_are_one():
    inputs, first = "%x: f32[4,3,5]", "%0: f32[4,5] = amax(%x, (1,))"
    before = graph(first, "%1: f32[4] = amax(%0, (1,))", inputs=inputs, returns="%1")
    after = graph(first, "%1: f32[4,1,1] = amax(%x, (1, 2), True)", "%2: f32[4] = view(%1, (4,))",
                  inputs=inputs, returns="%2")  # fmt: skip
    check(simplify_reductions, before, after)


def test_a_factor_comes_out_of_a_sum_of_integers():
    inputs, scaled = "%x: i64[4,3], %c: i64[4,1]", "%0: i64[4,3] = mul(%x, %c)"
    before = graph(scaled, "%1: i64[4] = sum(%0, (1,))", inputs=inputs, returns="%1")
    after = graph(scaled, "%1: i64[4,1] = sum(%x, (1,), True)", "%2: i64[4,1] = mul(%1, %c)",
                  "%3: i64[4] = view(%2, (4,))", inputs=inputs, returns="%3")  # fmt: skip
    check(simplify_reductions, before, after)


@pytest.mark.parametrize(
    "lines, inputs, reason",
    [
        (("%0: f32[4,3] = expand(%x, (4, 3))", "%1: f32[4] = sum(%0, (1,))"), "%x: f32[4,1]",
         "a sum of equal elements"),
        (("%0: f32[4,3] = sum(%x, (2,))", "%1: f32[4] = sum(%0, (1,))"), "%x: f32[4,3,5]",
         "a sum of sums"),
        (("%0: f32[4,3] = mul(%x, 0.5)", "%1: f32[4] = sum(%0, (1,))"), "%x: f32[4,3]",
         "a factor outside of its sum"),
    ],
)  # fmt: skip
def test_sums_of_floats_change_under_fast_numerics_only(lines, inputs, reason):
    text = graph(*lines, inputs=inputs, returns="%1")
    with collected() as notes:
        check(simplify_reductions, text, text)
    assert any(reason in each.text and not each.did for each in notes)
    with collected() as notes:
        changed = simplify_reductions(parse_graph(text), FAST)
    assert str(changed) != str(parse_graph(text)) and notes[0].changes_bits


def test_sums_under_fast_numerics_are_the_same_sums():
    for lines, inputs in (
        (("%0: f64[4,3] = expand(%x, (4, 3))", "%1: f64[4] = sum(%0, (1,))"), "%x: f64[4,1]"),
        (("%0: f64[4,3] = sum(%x, (2,))", "%1: f64[4] = sum(%0, (1,))"), "%x: f64[4,3,5]"),
        (("%0: f64[4,3] = mul(%x, 0.5)", "%1: f64[4] = sum(%0, (1,))"), "%x: f64[4,3]"),
    ):
        text = graph(*lines, inputs=inputs, returns="%1")
        close_on_ordinary_numbers(text, simplify_reductions(parse_graph(text), FAST))


def close_on_ordinary_numbers(text, changed):
    torch.manual_seed(0)
    before = parse_graph(text)
    given = [torch.randn(each.value.type.shape, dtype=torch.float64) for each in before.inputs]
    first, second = interpret(before, given), interpret(changed, given)
    assert all(torch.allclose(a, b, rtol=1e-14) for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize(
    "text",
    [
        graph("%0: f32[4] = amax(%x, (1,))", "%1: f32[] = amax(%0, (0,))", inputs="%x: f32[4,3]",
              returns="%0, %1"),  # read elsewhere too: the first is made anyway
        graph("%0: f32[s0,3] = expand(%x, (s0, 3))", "%1: f32[s0] = amax(%0, (1,))",
              inputs="%x: f32[s0,1]", returns="%1"),
        graph("%0: f32[4,0] = expand(%x, (4, 0))", "%1: f32[4] = sum(%0, (1,))",
              inputs="%x: f32[4,1]", returns="%1"),
    ],
)  # fmt: skip
def test_what_is_left(text):
    check(simplify_reductions, text, text, DEFAULT)
