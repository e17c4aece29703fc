"""Expressions of each kind: numbers, text, containers, tensors, objects.

In: a writer with the names that are there, by kind. Out: the text of an expression. Each notes what
it exercises. Tensors all have the shape [2, 3] and hold small whole numbers, so that every backend
computes them exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

KINDS = ("int", "bool", "str", "list", "dict", "set", "tuple", "tensor", "box", "point")


class Values:
    """Writes expressions; `names` are the variables that are there now, with their kinds."""

    def __init__(self, seed: int):
        self.random = Random(seed)
        self.names: dict[str, str] = {}
        self.features: Counter[str] = Counter()
        self.fresh_count = 0

    # ---- choosing

    def note(self, feature: str) -> None:
        """Count a feature."""
        self.features[feature] += 1

    def chance(self, share: float) -> bool:
        """True in that share of cases."""
        return self.random.random() < share

    def choose(self, *texts: str) -> str:
        """One of several texts."""
        return self.random.choice(texts)

    def fresh(self) -> str:
        """A new name."""
        self.fresh_count += 1
        return f"v{self.fresh_count}"

    def some(self, kind: str) -> str | None:
        """A variable of a kind, if there is one."""
        found = [name for name, own in self.names.items() if own == kind]
        return self.random.choice(found) if found else None

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind."""
        name = self.some(kind)
        if name is not None and (depth <= 0 or self.chance(0.35)):
            return name
        return self._made(kind, depth)

    def _made(self, kind: str, depth: int) -> str:
        makers: dict[str, Callable[[int], str]] = {
            "int": self.int_, "bool": self.bool_, "str": self.str_, "list": self.list_,
            "dict": self.dict_, "set": self.set_, "tuple": self.tuple_, "tensor": self.tensor_,
            "box": self.box_, "point": self.point_,
        }  # fmt: skip
        return makers[kind](depth - 1)

    def either(self, depth: int, *makers: tuple[str, Callable[[], str]]) -> str:
        """One of several forms, with the feature it exercises."""
        feature, make = self.random.choice(makers if depth >= 0 else makers[:2])
        self.note(feature)
        return make()

    # ---- kinds

    def int_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("number", lambda: str(self.random.randint(-3, 9))),
            ("shape", lambda: c("x.shape[0]", "y.dim()", "x.size(1)", "x.numel()")),
            ("arithmetic", lambda: f"({v('int', d)} {c('+', '-', '*')} {v('int', d)}) % 17"),
            ("division", lambda: f"{v('int', d)} {c('//', '%')} {c('3', 'm')}"),
            ("bits", lambda: f"({v('int', d)} {c('&', '|', '^')} {v('int', d)})"),
            ("len", lambda: f"len({v(c('list', 'str', 'dict', 'set', 'box'), d)})"),
            ("min max", lambda: f"{c('min', 'max')}({v('int', d)}, {v('int', d)})"),
            ("sum", lambda: f"sum({v('list', d)}) % 19"),
            ("conditional", lambda: f"({v('int', d)} if {v('bool', d)} else {v('int', d)})"),
            ("attribute", lambda: f"{v('box', d)}.count % 23"),
            ("property", lambda: f"{v('box', d)}.double % 29"),
            ("method", lambda: f"{v('box', d)}.add({v('int', d)}, 1, scale=2).count % 31"),
            ("__call__", lambda: f"{v('box', d)}({v('int', d)}) % 37"),
            ("call", lambda: f"helper({v('int', d)}, 1, k={v('int', d)}, z=0) % 41"),
            ("star call", lambda: f"helper(*{v('list', d)}, **{{'w': 1}}) % 43"),
            ("lambda", lambda: f"(lambda a, b=2: a + b)({v('int', d)})"),
            ("dict get", lambda: f"{v('dict', d)}.get({v('str', d)}, 0)"),
            ("dict item", lambda: f"{v('dict', d)}['k']"),
            ("list item", lambda: f"{v('list', d)}[{c('0', '-1', 'n')}]"),
            ("tuple item", lambda: f"{v('tuple', d)}[0]"),
            ("global", lambda: c("COUNT", "TABLE['a']", "LIMITS[1]", "len(LOG)")),
            ("generator sum", lambda: f"sum(i * 2 for i in {v('list', d)}) % 47"),
            ("next", lambda: f"next(iter({v('list', d)}), 0)"),
            ("reduce", lambda: f"functools.reduce(operator.add, {v('list', d)}, 1) % 53"),
            ("partial", lambda: f"functools.partial(helper, {v('int', d)}, k=3)() % 59"),
            ("decorated", lambda: f"wrapped({v('int', d)})"),
            ("dataclass", lambda: f"{v('point', d)}.moved({v('int', d)}).p % 61"),
            ("classmethod", lambda: f"Box.of({v('int', d)}).count"),
            ("staticmethod", lambda: f"Box.twice({v('int', d)})"),
            ("__getattr__", lambda: "box.automatic"),
            ("named tuple", lambda: f"Pair({v('int', d)}, 2).left"),
            ("math", lambda: f"math.floor(abs({v('int', d)}) / 2)"),
            ("walrus", self._walrus),
            ("list method", lambda: f"{v('list', d)}.{c('count(1)', 'index(1)')}"),
            ("int of bool", lambda: f"int({v('bool', d)})"),
            ("item of tensor", lambda: f"int({v('tensor', d)}.sum().item()) % 7")
            if self.chance(0.06) else ("ord", lambda: f"ord({v('str', d)}[0])"),
        )  # fmt: skip

    def _walrus(self) -> str:
        return f"({self.fresh()} := {self.value('int', 0)})"

    def bool_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("comparison", lambda: f"({v('int', d)} {c('<', '<=', '==', '!=')} {v('int', d)})"),
            ("is None", lambda: f"({v('box', d)}.tensor is {c('', 'not ')}None)"),
            ("chained", lambda: f"({v('int', d)} < {v('int', d)} <= {v('int', d)})"),
            ("not", lambda: f"(not {v(c('bool', 'list', 'box', 'str'), d)})"),
            ("and or", lambda: f"({v('bool', d)} {c('and', 'or')} {v('bool', d)})"),
            ("in list", lambda: f"({v('int', d)} in {v(c('list', 'set', 'tuple', 'box'), d)})"),
            ("in dict", lambda: f"({v('str', d)} {c('', 'not ')}in {v('dict', d)})"),
            ("isinstance", self._isinstance),
            ("any all", lambda: f"{c('any', 'all')}(i > 1 for i in {v('list', d)})"),
            ("compare lists", lambda: f"({v('list', d)} {c('==', '<', '!=')} {v('list', d)})"),
            ("compare boxes", lambda: f"({v('box', d)} {c('==', '<', '!=')} {v('box', d)})"),
            ("identity", lambda: f"({v('list', d)} is {v('list', d)})"),
            ("shape test", lambda: f"({v('tensor', d)}.shape == {v('tensor', d)}.shape)"),
            ("hasattr", lambda: c("hasattr(box, 'count')", "hasattr(box, 'nope')")),
            ("str test", lambda: v("str", d) + c(".isalpha()", ".startswith('w')")),
            ("set test", lambda: f"({v('set', d)} {c('<=', '==', '>')} {v('set', d)})"),
            ("tensor branch", lambda: f"bool({v('tensor', d)}.sum() > 0)")
            if self.chance(0.06) else ("truth", lambda: f"bool({v('dict', d)})"),
        )  # fmt: skip

    def _isinstance(self) -> str:
        cls = self.choose("int", "Crate", "dict", "(list, str)", "torch.Tensor")
        return f"isinstance({self.value(self.random.choice(KINDS), 1)}, {cls})"

    def str_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("text", lambda: c("'k'", "'word'", "'ab'", "'l'")),
            ("text name", lambda: c("word", "box.kind", "box.name")),
            ("f-string", lambda: f"f'{{{v('int', 0)}}}-{{{v('int', 0)}:03d}}'"),
            ("f-string of a list", lambda: f"f'{{{v('list', 0)}}}'"),
            ("str of int", lambda: f"str({v('int', d)})"),
            ("join", lambda: f"'-'.join(str(i) for i in {v('list', d)})"),
            ("slice of text", lambda: f"({v('str', d)} + 'pad')[{c('1:', ':2', '::-1')}]"),
            ("text method", lambda: v("str", d) + c(".upper()", ".title()", ".replace('w', 'v')")),
            ("percent", lambda: f"'%s:%d' % ({v('str', d)}, {v('int', d)})"),
            ("concatenation", lambda: f"({v('str', d)} + {v('str', d)})[:9]"),
            ("format", lambda: f"'{{}} {{a}}'.format({v('int', d)}, a={v('str', d)})"),
        )  # fmt: skip

    def list_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("list", lambda: f"[{v('int', d)}, {v('int', d)}]"),
            ("range", lambda: f"list(range({self.random.randint(0, 4)}))"),
            ("comprehension", lambda: f"[i + {v('int', 0)} for i in {v('list', d)}]"),
            ("filtered", lambda: f"[i for i in {v('list', d)} if i % 2]"),
            ("nested comprehension", lambda: f"[i * j for i in {v('list', d)} for j in range(2)]"),
            ("slice", lambda: f"{v('list', d)}[{c('1:', ':2', '::-1', '-2:')}]"),
            ("sorted", lambda: f"sorted({v(c('list', 'set'), d)}, reverse={v('bool', 0)})"),
            ("sorted by key", lambda: f"sorted({v('list', d)}, key=lambda i: -i)"),
            ("list sum", lambda: f"({v('list', d)} + {v('list', d)})[:6]"),
            ("star list", lambda: f"[*{v('list', d)}, *{v('tuple', d)}][:6]"),
            ("map", lambda: f"list(map(lambda i: i * 2, {v('list', d)}))"),
            ("filter", lambda: f"list(filter(None, {v('list', d)}))"),
            ("enumerate", lambda: f"[i + j for i, j in enumerate({v('list', d)})]"),
            ("zip", lambda: f"[i - j for i, j in zip({v('list', d)}, {v('tuple', d)})]"),
            ("reversed", lambda: f"list(reversed({v('list', d)}))"),
            ("chain", lambda: f"list(itertools.chain({v('list', d)}, {v('list', d)}))[:6]"),
            ("islice", lambda: f"list(itertools.islice({v('list', d)}, 2))"),
            ("accumulate", lambda: f"list(itertools.accumulate({v('list', d)}))"),
            ("generator", lambda: f"list(counting({c('0', '2', '3')}))"),
            ("dict values", lambda: f"[i for i in {v('dict', d)}.values() if isinstance(i, int)]"),
            ("copy", lambda: f"{v('list', d)}.copy()"),
            ("attribute list", lambda: f"{v('box', d)}.items"),
            ("deque", lambda: f"list(collections.deque({v('list', d)}, maxlen=2))"),
        )  # fmt: skip

    def dict_(self, d: int) -> str:
        v = self.value
        return self.either(
            d,
            ("dict", lambda: f"{{'k': {v('int', d)}, {v('str', d)}: {v('int', d)}}}"),
            ("dict()", lambda: f"dict(k={v('int', d)}, z=1)"),
            ("dict comprehension", lambda: f"{{'k': 0, **{{str(i): i for i in {v('list', d)}}}}}"),
            ("dict merge", lambda: f"({v('dict', d)} | {{'k': {v('int', d)}}})"),
            ("star dict", lambda: f"{{**{v('dict', d)}, 'k': {v('int', d)}}}"),
            ("dict copy", lambda: f"dict({v('dict', d)})"),
            ("Counter", lambda: f"collections.Counter(k=1, **{{'w': {v('int', d)}}})"),
            ("OrderedDict", lambda: f"collections.OrderedDict(k={v('int', d)}, b=1)"),
            ("defaultdict", lambda: f"collections.defaultdict(int, k={v('int', d)})"),
            ("vars", lambda: f"{{'k': 1, **vars({v('point', d)})}}"),
        )  # fmt: skip

    def set_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("set", lambda: f"{{{v('int', d)}, {v('int', d)}}}"),
            ("set()", lambda: f"set({v('list', d)})"),
            ("set comprehension", lambda: f"{{i % 3 for i in {v('list', d)}}}"),
            ("set operator", lambda: f"({v('set', d)} {c('|', '&', '-', '^')} {v('set', d)})"),
            ("set method", lambda: f"{v('set', d)}.{c('union', 'difference')}({v('list', d)})"),
        )  # fmt: skip

    def tuple_(self, d: int) -> str:
        v = self.value
        return self.either(
            d,
            ("tuple", lambda: f"({v('int', d)}, {v('int', d)})"),
            ("LIMITS", lambda: "LIMITS"),
            ("tuple()", lambda: f"(0, *{v('list', d)})"),
            ("divmod", lambda: f"divmod({v('int', d)}, 4)"),
            ("named", lambda: f"Pair({v('int', d)}, {v('int', d)})"),
            ("dataclass tuple", lambda: f"dataclasses.astuple({v('point', d)})"),
            ("tuple sum", lambda: f"({v('tuple', d)} + (1,))"),
        )  # fmt: skip

    def box_(self, d: int) -> str:
        v, c = self.value, self.choose
        return self.either(
            d,
            ("argument object", lambda: c("box", "box.child")),
            ("new object", lambda: f"{c('Box', 'Crate')}({v('int', d)})"),
            ("object with parts", lambda: f"Box({v('int', d)}, {v('tensor', d)}, {v('list', d)})"),
            ("__add__", lambda: f"({v('box', d)} + {v(c('int', 'box'), d)})"),
            ("object method", lambda: f"{v('box', d)}.add({v('int', d)})"),
            ("classmethod object", lambda: f"{c('Box', 'Crate')}.of({v('int', d)})"),
            ("conditional object", lambda: f"({v('box', d)} if {v('bool', d)} else Crate(1))"),
        )  # fmt: skip

    def point_(self, d: int) -> str:
        v = self.value
        return self.either(
            d,
            ("dataclass made", lambda: f"Point({v('int', d)})"),
            ("dataclass keyword", lambda: f"Point(q={v('int', d)})"),
            ("dataclass replaced", lambda: f"{v('point', d)}.moved({v('int', d)})"),
        )  # fmt: skip

    def tensor_(self, d: int) -> str:
        v, c = self.value, self.choose

        def t() -> str:
            return self.value("tensor", d)

        return self.either(
            d,
            ("tensor argument", lambda: c("x", "y", "box.tensor", "table['t']")),
            ("tensor of numbers", lambda: f"torch.full((2, 3), float({v('int', 0)}))"),
            ("tensor arithmetic", lambda: f"({t()} {c('+', '-', '*')} {t()}).clamp(-9, 9)"),
            ("tensor and int", lambda: f"({t()} {c('+', '*')} {v('int', d)}).clamp(-9, 9)"),
            ("int and tensor", lambda: f"({v('int', d)} - {t()}).clamp(-9, 9)"),
            ("relu", lambda: f"torch.relu({t()})"),
            ("negation", lambda: f"(-{t()})"),
            ("broadcast", lambda: f"({t()} + {t()}.sum(0)).clamp(-9, 9)"),
            ("tensor reshape", lambda: f"{t()}.reshape(3, 2).t().reshape(2, 3)"),
            ("cat", lambda: f"torch.cat([{t()}[:1], {t()}[1:]])"),
            ("stack", lambda: f"torch.stack([{t()}[0], {t()}[1]])"),
            ("where", lambda: f"torch.where({t()} > 0, {t()}, {t()})"),
            ("clone", lambda: f"{t()}.clone()"),
            ("rows", lambda: f"torch.stack([row * 2 for row in {t()}]).clamp(-9, 9)"),
            ("tensor sum()", lambda: f"sum([{t()}, {t()}]).clamp(-9, 9)"),
            ("view", lambda: f"{t()}.view(2, 3)"),
            ("conditional tensor", lambda: f"({t()} if {v('bool', d)} else {t()})"),
            ("tensor data", lambda: "torch.tensor([[1.0, 2.0, 3.0], [0.0, 1.0, 2.0]])"),
            ("getattr", lambda: f"getattr({v('box', d)}, 'other', {t()})"),
        )  # fmt: skip
