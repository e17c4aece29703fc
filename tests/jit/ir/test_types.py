"""Types of values: what they hold and how they print."""

from minitorch2 import dtypes
from minitorch2.devices import device
from minitorch2.jit.ir.types import ScalarType, TensorType, substitute_type
from minitorch2.jit.shapes.parser import parse_size


def test_text():
    assert str(TensorType(dtypes.bool, ())) == "bool[]"
    assert str(TensorType(dtypes.bfloat16, (2,), device("cuda", 1))) == "bf16[2]@cuda:1"
    assert str(ScalarType("int", parse_size("s0+1"))) == "int(s0+1)"


def test_types_are_values():
    assert TensorType(dtypes.float32, (parse_size("s0*2"),)) == TensorType(
        dtypes.float32, (parse_size("s0+s0"),), device("cpu")
    )
    assert len({ScalarType("int"), ScalarType("int"), ScalarType("float")}) == 2


def test_symbols_and_substitution():
    type = TensorType(dtypes.float32, (parse_size("s1*2"), 4, parse_size("s0+s1")))
    assert type.symbols() == ("s1", "s0")
    assert str(substitute_type(type, {"s1": 3})) == "f32[6,4,s0+3]"
    assert substitute_type(ScalarType("float"), {"s1": 3}) == ScalarType("float")
    assert ScalarType("int", parse_size("s0")).symbols() == ("s0",)
