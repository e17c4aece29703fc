"""THE op table: one row for each operation, from which everything else is derived.

In: `defop(signature, kind, ...)` in the files of this folder. Out: rows that the Tensor methods,
functions, meta tensors, the IR's verifier, the lowering to kernels, the docs and the generated
tests read. Nobody writes a second list of op names.

A row of a primitive says how it runs eagerly (`eager`, on numpy arrays), what it returns (`infer`)
and how gradients flow (`vjp`, in tensor ops). A composite has a `decomp` in tensor ops instead and
needs nothing else. For a pointwise row, `expr` is its definition for one element, which the kernels
compile:

    defop("mul(Operand self, Operand other) -> Tensor", POINTWISE, eager=numpy.multiply,
          expr="self * other", saves="self other", vjp=lambda s, g: (g * s.other, g * s.self))

Source: PyTorch's native_functions.yaml and derivatives.yaml, JAX autodidax's rule tables.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from minitorch2 import return_types
from minitorch2.dtypes import dtype
from minitorch2.errors import DtypeError, UnsupportedDtype
from minitorch2.ops.signature import Signature, make_function, parse_signature

POINTWISE = "pointwise"
REDUCTION = "reduction"
VIEW = "view"
PRODUCT = "product"
GATHER = "gather"
INPLACE = "inplace"
RANDOM = "random"
CREATION = "creation"
COMPOSITE = "composite"
LIBRARY = "library"  # a call that stays whole: LAPACK, special functions, searching
CONTROL = "control"  # branches and loops: functions of tensors among the arguments
KINDS = (
    POINTWISE, REDUCTION, VIEW, PRODUCT, GATHER, INPLACE, RANDOM, CREATION, COMPOSITE, LIBRARY,
    CONTROL,
)  # fmt: skip


PLAIN = ("promote", "float", "bool", "real", "real float")  # promotions that keep float32 as it is


class Meta(NamedTuple):
    """What `infer` says of a result: sizes (ints or symbolic) and dtype."""

    shape: tuple[int, ...]
    dtype: dtype


@dataclass(eq=False, slots=True)
class Op:
    """One row. Rows are compared by identity and looked up by name.

    eager      function of numpy arrays and numbers, one for each parameter
    infer      function of the same parameters (anything with shape, dtype, ndim) -> Meta or Metas
    view       for views: function of (Layout, other parameters) -> Layout, instead of both
    inverse    for views: (base, written view, other parameters) -> base with the view written
    vjp        (saved, *gradients) -> one gradient or None for each tensor parameter
    saves      which parameters (or 'result', 'results', or 'result1', the second) the vjp reads as
               tensors; 'self:other' says that self is read for the gradient of other only
    decomp     a composite's definition in tensor ops; its `vjp` is the derivative if it has one:
               where torch keeps the result, and the steps' derivatives would not. Graphs keep it
               whole until they are differentiated (jit/passes/decompose.py)
    expr       a pointwise op's definition for one element; a reduction's combining operation
    promote    pointwise: 'promote', 'float', 'bool' (result bool), 'real' (the result of a complex
               number is real), 'real float' (both), 'convert', 'stored' (as 'promote', but
               16-bit floats are not widened)
    numbers    pointwise: the operands that users may give as numbers; where nothing is said, all,
               if there are several
    wide       pointwise: the operand that keeps its digits, if it is one number or a tensor of
               one ('weight:number': a number), where the row computes in 16 bits; the others are
               rounded to them first, as torch's are
    accepts    categories the dtype it computes in may have ('b', 'i', 'f', 'c', 'e' for floats of
               eight bits, 'u' for uint16, uint32 and uint64, which are always taken by rows that
               make floats of integers); where no rule of its own asks for it, a row that says
               nothing takes all
    same       parameters that must have one dtype, where they are tensors
    element    for views that show other elements than the base has: (dtype, other parameters) ->
               dtype
    conjugates whether a complex gradient is conjugated before and after the vjp, which makes a
               formula for real numbers right; False where the vjp knows of complex numbers
    usual      pointwise: what `eager` does to floats when the parameters after the operands have
               their defaults and `check` has nothing to say, for rows where it is less
    check      pointwise: (op, arguments) -> None, raises where torch refuses further
    keeps      whether the result is laid out as the first tensor is (a copy of it)
    symmetric  whether it reads one triangle of its first tensor, which stands for both: its
               derivative is that of changes that keep the matrix symmetric
    columns    which results are matrices stored column by column, as LAPACK leaves them
    whole      composites and reductions: eager runs it as one program where its tensors are large
    unread     of a `whole` row: tensors that its backward leaves alone, as torch's does: callers
               may write into them
    lays       (layout of the first tensor, result's shape, other parameters) -> its Layout
    host       why kernels leave it to its eager rule, for those that do
    refuses    what torch says, in words of its own, of dtypes with these letters (as `accepts`)
    exact      whether out= has to be of the result's very dtype: 'always', 'numbers' (where no
               other tensor is among the arguments) or ''
    precision  what autocast does with its tensors: 'lower' (16 bits), 'full' (32) or ''
    effects    'random', 'may_fail', 'writes' or ''
    method     whether it is a Tensor method too; `function`: whether a function of the package
    """

    name: str
    signature: Signature
    kind: str
    eager: Callable | None = None
    infer: Callable | None = None
    view: Callable | None = None
    inverse: Callable | None = None
    vjp: Callable | None = None
    saves: tuple[str, ...] = ()
    saved_if: dict[str, str] = field(default_factory=dict)  # from 'self:other' in saves
    decomp: Callable | None = None
    expr: str = ""
    promote: str = "promote"
    numbers: str | None = None
    wide: str = ""
    same: tuple[str, ...] = ()
    accepts: str = "bif"
    element: Callable | None = None
    conjugates: bool = True
    usual: Callable | None = None
    check: Callable | None = None
    keeps: bool = False
    symmetric: bool = False
    columns: tuple[int, ...] = ()
    lays: Callable | None = None
    effects: str = ""
    refuses: dict[str, str] = field(default_factory=dict)
    exact: str = ""
    precision: str = ""
    whole: bool = False
    unread: tuple[str, ...] = ()
    host: str = ""
    method: bool = True
    function: bool = True
    doc: str = ""
    torch: str = ""
    inplace_of: "Op | None" = None
    tensor_positions: tuple[int, ...] = field(init=False)
    slope: bool = field(init=False)  # whether it is a composite with a derivative of its own
    device_position: int | None = field(init=False)  # of a row without tensors, where it has one
    plain: int = field(init=False)  # operands, 1 to 3, if that is all and floats stay as they are
    public: Callable = field(init=False)
    short: Callable = field(init=False)  # see ops/short_ways.py

    def __post_init__(self) -> None:
        self.tensor_positions = tuple(
            index for index, each in enumerate(self.signature.parameters) if each.is_tensor
        )
        self.slope = self.kind == COMPOSITE and self.vjp is not None
        names = self.signature.names
        asks = not self.tensor_positions and "device" in names
        self.device_position = names.index("device") if asks else None
        if self.kind == VIEW:
            self.conjugates = False
        if self.promote in ("float", "real float") and "i" in self.accepts:
            self.accepts += "u"
        usual = self.kind == POINTWISE and "f" in self.accepts
        operands = [each.type == "Operand" for each in self.signature.parameters]
        count = len(self.tensor_positions)
        plain = usual and self.promote in PLAIN and count in (1, 2, 3)
        self.plain = count if plain and all(operands[:count]) else 0

    def __repr__(self) -> str:
        return f"<op {self.signature.text}>"

    def bind(self, *args: Any, **kwargs: Any) -> tuple:
        """One argument for each parameter: defaults filled in, sequences made tuples."""
        binder = _binders.get(self.name)
        if binder is None:
            binder = _binders[self.name] = make_function(self, lambda op, args: args)
        return binder(*args, **kwargs)


_table: dict[str, Op] = {}
_binders: dict[str, Callable] = {}  # made when first asked for


def defop(signature: str, kind: str, **fields: Any) -> Op:
    """Add a row. `saves`, `same` and `unread` are written as one string of names each."""
    parsed = parse_signature(signature)
    assert kind in KINDS, kind
    assert parsed.name not in _table, f"op {parsed.name} is defined twice"
    saves, same, unread = (fields.pop(name, "") for name in ("saves", "same", "unread"))
    read = [each.partition(":") for each in saves.split()]
    op = Op(
        parsed.name,
        parsed,
        kind,
        saves=tuple(name for name, _, _ in read),
        saved_if={name: other for name, _, other in read if other},
        same=tuple(same.split()),
        unread=tuple(unread.split()),
        **fields,
    )
    if kind != POINTWISE:
        if "accepts" in fields or same:
            op.infer, op.decomp = _checked(op, op.infer), _checked(op, op.decomp)
        if "accepts" not in fields:
            op.accepts = "bifceu"
    op.torch = op.torch or ("torch." if op.function else "torch.Tensor.") + parsed.name
    public = op.torch.removeprefix("torch.").replace(".", "_") == op.name
    if parsed.result_names and public:
        return_types.defined(op.name, parsed.result_names)
    return add_row(op)


def _in_other_numbers(given: dtype, accepts: str) -> str:
    """What to do with a tensor whose dtype a row does not accept."""
    if given.is_complex:
        return "take .real, .imag or .abs()"
    if "f" in accepts:
        return "convert: x.float()"
    return "convert: x.long()" if "i" in accepts else "convert it first: x.to(dtype)"


def _checked(op: Op, rule: Callable | None) -> Callable | None:
    """The rule, for tensors of the categories that the row accepts, of one dtype where it asks."""
    if rule is None:
        return None

    def checked(*args: Any) -> Any:
        for position in op.tensor_positions:
            given = getattr(args[position], "dtype", None)
            if isinstance(given, dtype) and given.letter not in op.accepts:
                raise UnsupportedDtype(
                    f"{op.name}() of a tensor of dtype {given}",
                    f'{op.name} is not defined for {given}: "{op.name}" not implemented for '
                    f"'{given.title}'",
                    _in_other_numbers(given, op.accepts),
                )
        if op.same:
            check_same(op, args)
        return rule(*args)

    checked.__module__ = rule.__module__
    return checked


def check_same(op: Op, args: tuple) -> None:
    """DtypeError unless the tensors that must have one dtype have it."""
    given = dict(zip(op.signature.names, args, strict=True))
    found = {name: given[name].dtype for name in op.same if hasattr(given[name], "dtype")}
    if len(set(found.values())) > 1:
        raise DtypeError(
            f"{op.name}({', '.join(f'{name}: {each}' for name, each in found.items())})",
            f"{op.name} expects {', '.join(found)} to have the same dtype, but got "
            + " and ".join(map(str, found.values())),
            f"convert: {list(found)[-1]}.to({list(found)[0]}.dtype)",
        )


def add_row(op: Op) -> Op:
    """Put a finished row into the table."""
    assert op.doc, f"op {op.name} has no doc"
    _table[op.name] = op
    return op


def lookup(name: str) -> Op:
    """The row of an op; KeyError with the nearest names when there is none."""
    found = _table.get(name)
    if found is None:
        near = ", ".join(difflib.get_close_matches(name, _table, 3))
        raise KeyError(f"no op named {name!r}" + (f"; nearest: {near}" if near else ""))
    return found


def all_ops() -> tuple[Op, ...]:
    """All rows, in the order of their definition."""
    return tuple(_table.values())
