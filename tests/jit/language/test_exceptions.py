"""raise, except, else, finally; custom exceptions; what leaves the function."""
# ruff: noqa: B030, E501 -- odd on purpose

import contextlib

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()


class Trouble(Exception):
    """With data of its own."""

    def __init__(self, code, detail=None):
        super().__init__(f"trouble {code}")
        self.code = code
        self.detail = detail


class Worse(Trouble):
    def __str__(self):
        return f"worse: {self.code}"


@program
def caught(x, a, items, table):
    found = []
    for attempt in (
        lambda: items[9], lambda: table["none"], lambda: 1 / 0, lambda: int("z"), lambda: None + 1,
        lambda: x.nothing, lambda: [].pop(), lambda: next(iter([])), lambda: Worse(3) + 1,
    ):  # fmt: skip
        try:
            attempt()
        except (IndexError, KeyError) as error:
            found.append(("lookup", type(error).__name__, error.args, str(error)))
        except ArithmeticError as error:
            found.append(("arithmetic", repr(error)))
        except Exception as error:
            found.append(("other", str(error)))
        else:
            found.append("fine")
        finally:
            found.append("after")
    return x, found


@program
def raised_by_operations_while_another_is_handled(x, items, table):
    found = []
    for attempt in (
        lambda: items[9], lambda: table["none"], lambda: 1 / (x.dim() - 2), lambda: next(iter([])),
        lambda: x.nothing, lambda: x @ x, lambda: int("z"), lambda: [].pop(), lambda: Worse(1).none,
    ):  # fmt: skip
        try:
            raise Trouble(len(found))
        except Trouble as outer:
            try:
                attempt()
            except Exception as inner:
                found.append((type(inner).__name__, inner.__context__ is outer, inner.__cause__))
                try:
                    attempt()
                except Exception as last:
                    found.append((last.__context__ is inner, inner.__context__ is outer))
    return x, found


@program
def raised(x, a):
    found = []
    for error in (
        Trouble(1),
        Trouble,
        Worse(2, [x]),
        ValueError("v", 5),
        KeyError("k"),
        OSError(2, "no"),
    ):
        try:
            raise error
        except TypeError as wrong:
            found.append(str(wrong))
        except Trouble as trouble:
            found.append((trouble.code, trouble.detail, str(trouble), trouble.args))
        except Exception as other:
            found.append((type(other).__name__, str(other), other.args, repr(other)))
    return x, found


@program
def chains(x):
    found = []
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise Trouble(5) from error
    except Trouble as error:
        found.append(
            (error.__cause__.args, error.__suppress_context__, error.__context__ is error.__cause__)
        )
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise Trouble(6)  # noqa: B904
    except Trouble as error:
        found.append((error.__cause__, type(error.__context__).__name__))
    try:
        try:
            raise KeyError("first")
        except KeyError:
            raise Trouble(7) from None
    except Trouble as error:
        found.append((error.__cause__, error.__suppress_context__))
    try:
        try:
            raise Trouble(8)
        finally:
            found.append("finally")
    except Trouble as error:
        error.add_note("noted")
        found.append((error.code, error.__notes__))
    return x, found


@program
def again(x):
    found = []

    def inner(n):
        try:
            if n == 0:
                raise Trouble(n)
            return n
        except Trouble:
            found.append("inner")
            raise
        finally:
            found.append(n)

    for n in range(2):
        try:
            found.append(inner(n))
        except Trouble as error:
            found.append(error.code)
    try:
        raise  # noqa: PLE0704
    except RuntimeError as error:
        found.append(str(error))
    return x, found


@program
def finally_wins(x):
    found = []

    def returns():
        try:
            return "try"
        finally:
            found.append("finally")

    def overrides():
        try:
            raise ValueError
        finally:
            return "finally"  # noqa: B012

    def loops():
        for n in range(5):
            try:
                if n == 1:
                    continue
                if n == 3:
                    break
            finally:
                found.append(n)
        return n

    def nested():
        try:
            try:
                raise KeyError("a")
            finally:
                found.append("inner")
        except KeyError:
            return "caught"
        finally:
            found.append("outer")

    return x, returns(), overrides(), loops(), nested(), found


@program
def variable_is_gone(x):
    try:
        raise ValueError("v")
    except ValueError as error:
        kept = error
    try:
        error  # noqa: B018, F821
    except NameError as missing:
        return x, str(missing), kept.args, type(kept)


@program
def lookups_by_failure(x, table):
    def of(key):
        try:
            return table[key]
        except KeyError:
            return key

    class_error = None
    try:
        try:
            1 / 0  # noqa: B018
        except "not a class":
            pass
    except TypeError as error:
        class_error = str(error)
    return x, of("k"), of("zz"), class_error


@program
def exceptions_are_values(x):
    one, two = ValueError("a"), ValueError("a")
    kept = [one, two]
    return one == two, one is kept[0], isinstance(one, Exception), one.args, kept, ExceptionGroup, x


@program
def with_blocks_and_failures(x):
    log = []

    @contextlib.contextmanager
    def region(name, swallow=False):
        log.append(f"+{name}")
        try:
            yield name
        except ValueError as error:
            log.append(f"!{name} {error}")
            if not swallow:
                raise
        finally:
            log.append(f"-{name}")

    with region("a", swallow=True), region("b"):
        raise ValueError("v")
    with contextlib.suppress(KeyError), region("c"):
        raise KeyError("k")
    with region("d") as name:
        log.append(name)
    try:
        with region("e"):
            raise TypeError("t")
    except TypeError as error:
        log.append(str(error))
    return x, log


@program
def grad_mode_and_failures(x):
    found = []
    try:
        with torch.no_grad():
            found.append(torch.is_grad_enabled())
            raise ValueError
    except ValueError:
        found.append(torch.is_grad_enabled())
    with torch.no_grad():
        with torch.enable_grad():
            found.append(torch.is_grad_enabled())
        found.append(torch.is_grad_enabled())
    return x, found


@program
def errors_of_operations(x, y):
    found = []
    for attempt in (
        lambda: x @ y, lambda: x + torch.ones(7), lambda: x.view(5), lambda: torch.cat([x, y[0]]),
        lambda: x[5], lambda: x.sum(9), lambda: x.reshape(4, 4), lambda: x.permute(0),
        lambda: x[0, 0, 0],
        lambda: torch.stack([x, y[0]]), lambda: x.expand(3, 3), lambda: x.softmax(),
        lambda: x.split(0),
    ):  # fmt: skip
        try:
            attempt()
            found.append(None)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            found.append((type(error).__name__, str(error).partition(" at /")[0].splitlines()[0]))
    return found


@program(raises=True)
def leaves(x, a):
    if a == 1:
        raise Worse(a, [1, 2])
    return x


@program(raises=True)
def leaves_from_below(x, items):
    def inner(n):
        items.append(n)
        return items[n]

    y = x * 2
    return y + inner(50)


@program(raises=True)
def leaves_with_cause(x, table):
    try:
        return table["missing"]
    except KeyError as error:
        table["seen"] = 1
        raise Trouble("lost") from error


@program(raises=True)
def leaves_after_effects():
    log = []

    def fn(x):
        log.append("before")
        try:
            raise Trouble(1)
        finally:
            log.append("finally")

    return fn, (torch.ones(2),), lambda: log


@program(raises=True)
def leaves_by_assertion(x):
    if x.shape[0] != 3:
        raise AssertionError(f"bad shape {tuple(x.shape)}")
    return x


@program(raises=True)
def operation_fails(x, y):
    z = x + y
    return z @ z


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
