"""Classes that are made anew between calls: used without recompiling, and never mixed up."""

import gc
import weakref

import pytest

import minitorch2 as torch
from minitorch2.compile_settings import limits
from minitorch2.jit.class_series import Alike, in_series, structure
from tests.jit.language.judging import forget, picture

X = torch.tensor([1.0, 2.0, 3.0])


def make(k, base=object, scale=1):
    class Local(base):
        number = k

        def __init__(self, own=0):
            self.own = own

        def closed(self, x):
            return x * k * scale

        def read(self, x):
            return x * self.number + self.own

        @staticmethod
        def still(x):
            return x + k

        @classmethod
        def named(cls, x):
            return x - cls.number

        @property
        def twice(self):
            return k * 2

        @twice.setter
        def twice(self, value):
            self.own = value * k

        def __eq__(self, other):
            return type(self) is type(other)

        __hash__ = None

    return Local


def stop():
    torch._dynamo.graph_break()


def behind_a_break(x):
    class Local:
        number = 2

        def run(self):
            return x * self.number

    one = Local()
    stop()
    one.result = one.run()
    stop()
    return one.result + Local.number, isinstance(one, Local), type(one) is Local


def subclasses_behind_a_break(x):
    class Base:
        def run(self, y):
            return y * x

    class Child(Base):
        def run(self, y):
            return super().run(y) + 1

    stop()
    return Child().run(x), issubclass(Child, Base), [Child, Base]


def raised_behind_a_break(x):
    class Trouble(Exception):
        pass

    stop()
    try:
        raise Trouble(3)
    except Trouble as error:
        return x + error.args[0]


def module_behind_a_break(x):
    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2

    net = Net()
    stop()
    return net(x)


def hooked_behind(x):
    class Base:
        def __init_subclass__(cls, **options):
            cls.options = options

    class Child(Base, by=3):
        pass

    return x * Child.options["by"]


@pytest.mark.parametrize(
    "fn",
    [behind_a_break, subclasses_behind_a_break, raised_behind_a_break, module_behind_a_break,
     hooked_behind],
)  # fmt: skip
def test_made_before_a_break(fn):
    run = torch.compile(fn, backend="interpreter")
    for _ in range(5):
        got, wanted = run(X), fn(X)
        forget()
        assert picture(got, {}) == picture(wanted, {})
    assert len(run.cache.recompiles) <= 1, "\n".join(map(str, run.cache.recompiles))


def closed(x, cls):
    return cls(1).closed(x)


def read(x, cls):
    return cls(1).read(x)


def still(x, cls):
    return cls.still(x)


def named(x, cls):
    return cls.named(x)


def twice(x, cls):
    one = cls(1)
    one.twice = 3
    return x * one.twice + one.own


def number(x, cls):
    return x * cls.number


def made(x, cls):
    return cls(1), x + 1


def equal(x, cls):
    return x + 1, cls() == cls()


USES = [closed, read, still, named, twice, number, made, equal]


@pytest.mark.parametrize("fn", USES)
def test_classes_of_a_factory(fn):
    """Equal but for identity: no more than one recompilation, for the discovery of the series."""
    run = torch.compile(fn, backend="interpreter")
    for _ in range(5):
        cls = make(2)
        got, wanted = run(X, cls), fn(X, cls)
        forget()
        assert picture(got, {}) == picture(wanted, {})
        if fn is made:
            assert type(got[0]) is cls
    assert len(run.cache.recompiles) <= 1, "\n".join(map(str, run.cache.recompiles))


@pytest.mark.parametrize("fn", USES)
@pytest.mark.parametrize("instances", [False, True])
def test_nothing_is_taken_from_another_class(fn, instances):
    def of_instance(x, one):
        return fn(x, type(one))

    run = torch.compile(of_instance if instances else fn, backend="interpreter")
    for k in (2, 2, 3, 5, 2, 7):
        cls = make(k)
        got, wanted = run(X, cls(4) if instances else cls), fn(X, cls)
        forget()
        assert picture(got, {}) == picture(wanted, {}), k


def related(x, one, other, cls):
    return (x + 1, type(one) is type(other), isinstance(one, cls), isinstance(other, cls),
            issubclass(type(other), type(one)))  # fmt: skip


def test_relations_are_those_of_this_call(monkeypatch):
    monkeypatch.setattr(limits, "recompilations", 64)
    run = torch.compile(related, backend="interpreter")
    for _ in range(3):
        a, b = make(1), make(1)
        child = make(1, a)
        for one, other, cls in (
            (a(), a(), a), (a(), b(), a), (b(), a(), a), (b(), b(), a), (a(), child(), a),
            (b(), child(), a), (child(), a(), b), (child(), child(), child), (a(), child(), b),
        ):  # fmt: skip
            got, wanted = run(X, one, other, cls), related(X, one, other, cls)
            assert got[1:] == wanted[1:]
    assert len(run.cache.recompiles) < 20  # nine relations, three times


def inherited(x, one):
    return one.read(x), super(type(one), one).read(x)


def test_bases_of_a_series():
    run = torch.compile(inherited, backend="interpreter")
    for k in (2, 2, 2, 3, 2, 4):
        base = make(k)
        child = type("Child", (base,), {"read": lambda self, x, k=k: x - k})
        got, wanted = run(X, child()), inherited(X, child())
        assert [one.tolist() for one in got] == [one.tolist() for one in wanted], k


def test_a_changed_method_is_seen():
    run = torch.compile(closed, backend="interpreter")
    for _ in range(3):
        cls = make(2)
        assert run(X, cls).tolist() == (X * 2).tolist()
    cls.closed = lambda self, x: x - 1
    assert run(X, cls).tolist() == (X - 1).tolist()


def test_relations_in_words():
    def same(x, one, other):
        return x + (type(one) is type(other))

    run = torch.compile(same, backend="interpreter")
    for cls, other in ((make(1),) * 2, (make(1),) * 2, (make(1), make(1))):
        run(X, cls(), other())
    text = str(run.cache.recompiles[-1])
    assert "type(other), type(one): were one object; now two of them" in text


def test_structure():
    assert structure(make(1)) == structure(make(2))
    assert structure(make(1)) != structure(make(1, Exception))
    assert structure(make(1, make(1))) == structure(make(2, make(3)))

    class Other:
        number = 1

    assert not in_series(Other) and not in_series(Other) and not in_series(int)
    assert in_series(make(1)) and Alike(make(1))(make(2)) and not Alike(make(1))(Other)


def test_classes_are_freed():
    run = torch.compile(read, backend="interpreter")
    seen = []
    for _ in range(4):
        cls = make(2)
        run(X, cls)
        seen.append(weakref.ref(cls))
    del cls
    gc.collect()
    assert sum(one() is not None for one in seen) <= 1  # the first pins the entry made for it
