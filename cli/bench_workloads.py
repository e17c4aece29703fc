"""What `mt2 bench` measures: functions of every kind, on awkward shapes, types and layouts too.

In: nothing. Out: WORKLOADS, each with a name and a function that makes the function to compile and
its arguments, the same numbers on every run.

    [softmax] = [each for each in WORKLOADS if each.name == "softmax f32 2000x1000"]
    function, arguments = softmax.make()

Source: kinds of kernels that training and inference are made of.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import minitorch2 as torch
import minitorch2.nn.functional as F

Function = Callable[..., Any]
BIG, ODD, LONG = (2000, 1000), (1543, 777), (24, 100_000)


@dataclass(frozen=True, slots=True)
class Workload:
    """A function to compile and what to call it with: shapes, a type, a layout of the first."""

    name: str
    function: Function
    shapes: tuple[tuple[int, ...], ...]
    dtype: str = "f32"
    layout: str = ""

    def make(self) -> tuple[Function, tuple[Any, ...]]:
        """The function and its arguments."""
        torch.manual_seed(0)
        arguments = [self.operand(shape) for shape in self.shapes]
        if self.layout:
            arguments = [_laid_out(each, self.layout) for each in arguments]
        return self.function, tuple(arguments)

    def operand(self, shape: tuple[int, ...]) -> Any:
        """Numbers of about 1; integers up to 100, truths at random."""
        if self.dtype in ("i64", "i32", "u8"):
            return torch.randint(1, 100, shape, dtype=_DTYPES[self.dtype])
        if self.dtype == "bool":
            return torch.rand(shape) < 0.5
        return torch.randn(shape).to(_DTYPES[self.dtype])


_DTYPES = {each.short: each for each in (
    torch.float32, torch.float64, torch.bfloat16, torch.float16, torch.int64, torch.int32,
    torch.uint8,
)}  # fmt: skip


def _laid_out(tensor: Any, layout: str) -> Any:
    """The same numbers with other strides: the shape stays."""
    if layout == "transposed":
        return tensor.t().contiguous().t()
    wide = torch.empty((*tensor.shape[:-1], 2 * tensor.shape[-1]), dtype=tensor.dtype)
    wide[..., ::2] = tensor
    return wide[..., ::2]


def _rms_norm(x: Any, w: Any) -> Any:
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w


def _adam(p: Any, g: Any, m: Any, v: Any) -> Any:
    m, v = torch.lerp(m, g, 0.1), torch.lerp(v, g * g, 0.001).abs()
    return p - 1e-3 * m / (v.sqrt() + 1e-8), m, v


def _rope(x: Any, angle: Any) -> Any:
    a, b = x[..., ::2], x[..., 1::2]
    sine, cosine = torch.sin(angle), torch.cos(angle)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), -1)


def _heads(q: Any, k: Any, v: Any) -> Any:
    return torch.cat([each.reshape(8, 250, 10, 100).transpose(1, 2) for each in (q, k, v)], 1)


def _pairs(name: str, function: Function, *shapes: tuple[int, ...], **how: str) -> Workload:
    """A workload named after its function, type, shape and layout."""
    size = "x".join(map(str, shapes[0]))
    kind = how.get("dtype", "f32")
    return Workload(" ".join(filter(None, (name, kind, size, how.get("layout")))), function,
                    shapes, **how)  # fmt: skip


def _elementwise() -> list[Workload]:
    return [
        _pairs("copy", lambda x: x.clone(), BIG),
        _pairs("add", lambda x, y: x + y, BIG, BIG),
        _pairs("gelu", lambda x: F.gelu(x), BIG),
        _pairs("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), ODD),
        _pairs("silu gate", lambda x, y: F.silu(x) * y, ODD, ODD),
        _pairs("mish chain", lambda x, y: F.mish(x) + torch.atan2(x, y), ODD, ODD),
        _pairs("sin cos", lambda x: torch.sin(x) * torch.cos(x), BIG),
        _pairs("pow log", lambda x: torch.log1p(x.abs()) ** 1.5, BIG),
        _pairs("fmod", lambda x, y: torch.fmod(x, y) + torch.remainder(x, 0.7), BIG, BIG),
        _pairs("where clamp", lambda x, y: torch.where(x > y, x, y).clamp(-1, 1), BIG, BIG),
        _pairs("bias", lambda x, b: torch.relu(x + b), ODD, (777,)),
        _pairs("adam", _adam, BIG, BIG, BIG, BIG),
        _pairs("dropout", lambda x: F.dropout(x, 0.1), BIG),
    ]


def _rows() -> list[Workload]:
    row, odd_row = (1000,), (777,)
    return [
        _pairs("softmax", lambda x: torch.softmax(x, -1), BIG),
        _pairs("softmax", lambda x: torch.softmax(x, -1), ODD),
        _pairs("softmax", lambda x: torch.softmax(x, -1), LONG),
        _pairs("softmax of columns", lambda x: torch.softmax(x, 0), BIG),
        _pairs("log_softmax", lambda x: torch.log_softmax(x, -1), BIG),
        _pairs("layer_norm", lambda x, w, b: F.layer_norm(x, (1000,), w, b), BIG, row, row),
        _pairs("layer_norm", lambda x, w, b: F.layer_norm(x, (777,), w, b), ODD, odd_row, odd_row),
        _pairs("rms_norm", _rms_norm, BIG, row),
        _pairs("group_norm", lambda x: F.group_norm(x, 8), (32, 64, 31, 33)),
        _pairs("sum", lambda x: x.sum(), BIG),
        _pairs("sum of rows", lambda x: x.sum(-1), ODD),
        _pairs("sum of columns", lambda x: x.sum(0), BIG),
        _pairs("max and argmax", lambda x: (x.amax(-1), x.argmax(-1)), BIG),
        _pairs("var", lambda x: x.var(-1), BIG),
        _pairs("norm", lambda x: (x * x).sum().sqrt(), BIG),
        _pairs("argmax", lambda x: x.argmax(-1), ODD),
        _pairs("argmax of columns", lambda x: x.argmax(0), BIG),
        _pairs("cumsum", lambda x: x.cumsum(-1), BIG),
        _pairs("cumsum of columns", lambda x: x.cumsum(0), BIG),
    ]


def _movements_and_products() -> list[Workload]:
    return [
        _pairs("transpose", lambda x: x.t().contiguous(), BIG),
        _pairs("transpose", lambda x: x.t().contiguous(), ODD),
        _pairs("transpose add", lambda x, y: x.t() + y, BIG, (1000, 2000)),
        _pairs("permute", lambda x: x.permute(2, 0, 1).contiguous(), (100, 200, 96)),
        _pairs("heads", _heads, BIG, BIG, BIG),
        _pairs("rope", _rope, BIG, (2000, 500)),
        _pairs("pad", lambda x: F.pad(x, (3, 5, 1, 1)), BIG),
        _pairs("roll", lambda x: torch.roll(x, 7, -1), BIG),
        _pairs("cross_entropy",
               lambda x: F.cross_entropy(x, torch.zeros(2000, dtype=torch.int64)), BIG),
        _pairs("max_pool", lambda x: F.max_pool2d(x, 2), (16, 32, 64, 64)),
        _pairs("max_pool", lambda x: F.max_pool2d(x, 3, 2, 1), (16, 32, 63, 65)),
        _pairs("avg_pool", lambda x: F.avg_pool2d(x, 3, 2, 1), (16, 32, 63, 65)),
        _pairs("batch_norm", lambda x, m, v: F.batch_norm(x, m, v.abs() + 1), (16, 32, 64, 64),
               (32,), (32,)),
        _pairs("matmul", lambda x, y: x @ y, BIG, (1000, 512)),
        _pairs("linear gelu", lambda x, w, b: F.gelu(F.linear(x, w, b)), BIG, (512, 1000), (512,)),
        _pairs("attention", lambda q, k, v: F.scaled_dot_product_attention(q, k, v),
               (8, 4, 200, 64), (8, 4, 200, 64), (8, 4, 200, 64)),
        _pairs("conv 3x3", lambda x, w: F.conv2d(x, w, padding=1),
               (16, 32, 31, 33), (48, 32, 3, 3)),
    ]  # fmt: skip


def _types_and_layouts() -> list[Workload]:
    found = []
    for kind in ("f64", "bf16", "f16"):
        found += [
            _pairs("add", lambda x, y: x + y, BIG, BIG, dtype=kind),
            _pairs("gelu", lambda x: F.gelu(x), BIG, dtype=kind),
            _pairs("softmax", lambda x: torch.softmax(x, -1), BIG, dtype=kind),
            _pairs("softmax", lambda x: torch.softmax(x, -1), ODD, dtype=kind),
            _pairs("sum of columns", lambda x: x.sum(0), BIG, dtype=kind),
            _pairs("layer_norm", lambda x: F.layer_norm(x, (777,)), ODD, dtype=kind),
        ]
    for kind in ("i64", "i32", "u8"):
        found.append(_pairs("integer", lambda x, y: (x * 3 + y) // 7, BIG, BIG, dtype=kind))
    found.append(_pairs("any", lambda x, y: (x & y).any(-1), BIG, BIG, dtype="bool"))
    for layout in ("transposed", "strided"):
        found += [
            _pairs("gelu", lambda x: F.gelu(x), BIG, layout=layout),
            _pairs("add", lambda x, y: x + y, BIG, BIG, layout=layout),
            _pairs("softmax", lambda x: torch.softmax(x, -1), BIG, layout=layout),
            _pairs("sum of rows", lambda x: x.sum(-1), BIG, layout=layout),
        ]
    return found


WORKLOADS = (*_elementwise(), *_rows(), *_movements_and_products(), *_types_and_layouts())
