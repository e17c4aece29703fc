"""Expressions over known values: numbers, text, containers and their methods."""
# ruff: noqa: E501, F401 -- one line, one program

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

EXPRESSIONS = r"""
slice(None, 4, 2).indices(10)
bytearray(b"ab")[0]
len(5)
getattr(1)
isinstance(1, 2)
issubclass(1, int)
zip(1)
map(abs, 1)
enumerate(1)
filter(None, 1)
min(1)
min(1, "a")
all(1)
len(len)
reversed(5)
next(5)
iter(5)
sum(["a"])
sorted([1, "a"])
{[]: 1}
{[]}
hash([])
hash((1, 2))
hash("a")
[1].index(2)
[1, 2, 1].index(1, 1)
[1, 2, 1].index(1, 1, 2)
(1, 2).index(3)
(1, 2, 3).count(1)
[].pop()
[1].pop(3)
[].remove(1)
set().pop()
{1}.pop()
{1, 2} & {2}
{1, 2} - {2}
{1, 2} ^ {2, 3}
{1, 2} <= {1, 2, 3}
{1, 2} == {2, 1}
{1, 2} != {2, 1}
{1}.isdisjoint({2})
{1}.issubset([1, 2])
{1, 2}.issuperset({1})
{1, 2}.union([3], [4])
{1, 2}.intersection([2])
{1, 2}.difference([2])
{1, 2}.symmetric_difference([2, 5])
frozenset([1, 2]) | {3}
{1} | frozenset([2])
frozenset([1]) in {frozenset([1])}
dict(a=1) | {"b": 2}
{**table, "z": 1}
table.get("k"), table.get("nope"), table.get("nope", 4)
table.pop("k"), table
table.popitem()
table.setdefault("q", []), table
table.keys() & {"k"}
table.keys() | {"z"}
table.items() == {"k": 1, "other": [2]}.items()
"k" in table.keys(), 1 in table.values(), ("k", 1) in table.items()
len(table.keys()), len(table.values())
list(reversed(table))
list(reversed(table.items()))
table == {"k": 1, "other": [2]}
table.copy() is table
table.update({"k": 2}, z=1), table
table.clear(), table
table.fromkeys("ab", 1)
dict.fromkeys([1, 2])
{1: 2}.items() <= {1: 2, 3: 4}.items()
[1, 2] < [1, 3], [1] < [1, 2], (1, 2) >= (1, 2)
[1, 2] == (1, 2)
[1, 2] * 2, 2 * (1,), [[]] * 2
items + [5], items, items.copy()
items.sort(), items
items.sort(reverse=True), items
items.sort(key=lambda n: -n), items
items.reverse(), items
items.insert(1, "z"), items
items.insert(-1, "z"), items
items.extend((4, 5)), items
items.extend(items), items
items.clear(), items
items.remove(1), items
items.count(1)
items[1:], items[::-1], items[-2:], items[5:], items[:100], items[1:2][0]
items.__len__(), items.__contains__(3)
items.__add__([1])
items.__getitem__(0)
[*items, *range(2), *"ab"]
(*items,), {*items}, {**table}
[i for i in items if i > 1], {i for i in items}, {i: str(i) for i in items}
[(i, j) for i in items for j in items if i != j]
[[j for j in range(i)] for i in items]
list(i * 2 for i in items)
sum(i for i in items)
dict((i, i) for i in items)
{k: v for k, v in table.items()}
max((i for i in items), default=0)
" ".join(names)
",".join(str(i) for i in items)
"".join(reversed("abc"))
text.split(), text.upper(), text.title(), text.replace("some", "any"), text.find("t"),
    text.count("e")
text.startswith("some"), text.endswith(("x", "t")), text.partition(" "), text.rpartition("e")
text.center(20, "*"), text.ljust(12), text.rjust(12, "."), text.zfill(12), text.strip("s")
text.index("z")
text.encode(), b"ab".decode(), text.encode("utf-8").hex()
text.isalpha(), "12".isdigit(), "a1".isalnum(), " ".isspace(), "A".isupper(), "a".islower()
text[0], text[-1], text[1:4], text[::-1], text * 2, "s" in text, text + "!"
text.splitlines(), "a\nb".splitlines(True), "a,b,,c".split(","), "a b c".rsplit(" ", 1)
text.capitalize(), text.swapcase(), text.casefold(), text.expandtabs()
text.translate(str.maketrans("se", "ES"))
text.format(), "{} {}".format(1, "a"), "{1} {0}".format(1, 2), "{a}".format(a=5),
    "{0[1]}".format([1, 2])
"{:.2f} {:>5} {!r}".format(1.234, "a", "b")
"{0.real}".format(5)
"%s and %d and %.2f and %r and %%" % ("a", 5, 1.5, "q")
"%(a)s" % {"a": 1}
f"{a} {b:03d} {f:.2f} {text!r:>15} {items} {a + b = }"
f"{text:{a + b}}"
f"{x.shape} {x.dtype} {x.dim()}"
f"{'nested ' + f'{a}'}"
"abc" < "abd", "a" == "a", "a" != "b"
"abc".removeprefix("a"), "abc".removesuffix("c")
bytes([1, 2]) + b"a", b"ab"[0], b"ab".hex(), bytes.fromhex("0aff")
int.to_bytes(5, 2, "big")
(5).to_bytes(2, "little"), (255).bit_count()
1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 == True
not items, not [], items and 1, [] or "x", None or 0
1 if a else 2, (a, b)[a > 0]
a + b, a - b, a * b, a / b, a // b, a % b, a ** b, a << b, a >> 1, a & b, a | b, a ^ b, -a, +a, ~a
f + a, f * f, f // 0.2, f % 0.3, f ** 2, -f, f < 1, divmod(f, 0.2)
1j * 2, abs(3 + 4j), (1 + 2j).conjugate(), (1 + 2j).real
a is None, none is None, a is not None, x is x, items is items, [] is []
a in (1, 2), a not in [5], "k" in table, x.shape[0] in {2, 3}
(lambda q: q + 1)(2), (lambda *r, **k: (r, k))(1, z=2)
(lambda q, /, r=2, *, s=3: q + r + s)(1, s=5)
[n for n in names if (m := len(n)) == 1], (k := 5) + k
max(items) - min(items), sum(items) / len(items)
type(x), type(x).__name__, type(items)(), type(a)("5")
x.__class__.__name__, a.__class__, items.__class__
x.shape == (2, 3), x.shape[0], x.shape[-1], x.size(), x.size(0), len(x.shape), tuple(x.shape),
    list(x.shape)
x.shape + (1,), x.shape[1:], x.shape.numel(), (*x.shape,)
x.dtype == torch.float32, x.dtype is torch.float32, x.dtype.is_floating_point, x.device.type,
    x.device
x.ndim, x.dim(), x.numel(), x.requires_grad, x.is_leaf, x.is_contiguous(), x.stride(),
    x.storage_offset(), x.element_size(), x.nbytes
x.T.shape, x.mT.shape, x.is_floating_point(), x.is_complex(), x.grad, x.grad_fn, x.itemsize
"""
program = Programs()
program.lines(EXPRESSIONS, globals())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
