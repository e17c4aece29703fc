"""Exception groups and `except*`."""
# ruff: noqa: B007, B904, E701, E702, F821, F841, N818, SIM105 -- odd on purpose

import pytest

from tests.jit.language.judging import Programs

program = Programs()


@program
def except_star(x):
    log = []
    try:
        raise ExceptionGroup("g", [ValueError("a"), TypeError("b"), ValueError("c")])
    except* ValueError as eg:
        log.append((str(eg), [str(e) for e in eg.exceptions]))
    except* TypeError as eg:
        log.append(len(eg.exceptions))
    return x + 1, log


@program
def except_star_naked(x):
    log = []
    try:
        raise ValueError("q")
    except* ValueError as eg:
        log.append((type(eg).__name__, eg.message, len(eg.exceptions)))
    return x + 1, log


@program
def except_star_rest(x):
    log = []
    try:
        try:
            raise ExceptionGroup("g", [ValueError("a"), OSError("b")])
        except* ValueError:
            log.append(1)
    except ExceptionGroup as e:
        log.append((e.message, [type(z).__name__ for z in e.exceptions]))
    return x + 1, log


@program
def except_star_raise(x):
    try:
        try:
            raise ExceptionGroup("g", [ValueError("a"), OSError("b")])
        except* ValueError:
            raise KeyError("k")
    except ExceptionGroup as e:
        return x, e.message, [type(z).__name__ for z in e.exceptions]


@program
def group_methods(x):
    g = ExceptionGroup("m", [ValueError(1), ExceptionGroup("n", [TypeError(2)])])
    a, b = g.split(ValueError)
    return (
        x,
        str(g),
        a.message,
        len(b.exceptions),
        g.subgroup(TypeError).exceptions[0].message,
        g.derive([KeyError()]).message,
    )


@program
def except_star_nested(x):
    log = []
    try:
        raise ExceptionGroup(
            "g", [ValueError("a"), ExceptionGroup("h", [TypeError("b"), KeyError("c")])]
        )
    except* (TypeError, KeyError) as eg:
        log.append((eg.message, [type(e).__name__ for e in eg.exceptions], repr(eg)))
    except* Exception as eg:
        log.append(str(eg))
    else:
        log.append("else")
    finally:
        log.append("fin")
    return log, x


@program
def except_star_none(x):
    log = []
    try:
        log.append(1)
    except* ValueError:
        log.append(2)
    else:
        log.append(3)
    return log, x


@program
def except_star_reraise(x):
    log = []
    try:
        try:
            raise ExceptionGroup("g", [ValueError("a"), OSError("b"), KeyError(3)])
        except* ValueError:
            raise
        except* OSError as e:
            raise RuntimeError("r") from e
    except ExceptionGroup as e:
        log.append([(type(z).__name__, str(z)) for z in e.exceptions])
    return log, x


@program
def except_star_bad(x):
    try:
        try:
            raise ValueError(1)
        except* ExceptionGroup:
            pass
    except TypeError as e:
        return str(e), x


@program(breaks=True, again=True)
def except_star_break(x):
    log = []
    try:
        x.sum().item()
        raise ExceptionGroup("g", [ValueError("a"), OSError("b")])
    except* ValueError:
        log.append(x.sum().item())
    except* OSError as e:
        log.append(len(e.exceptions))
    return log, x


@program(raises=True, breaks=True, again=True)
def except_star_leaves(x):
    try:
        raise ExceptionGroup("g", [ValueError("a"), OSError("b")])
    except* ValueError:
        pass


class MyG(ExceptionGroup):
    def derive(self, excs):
        return MyG(self.message + "!", excs)


@program
def own_group(x):
    g = MyG("m", [ValueError(1), KeyError(2)])
    a, b = g.split(ValueError)
    return type(a).__name__, a.message, b.message, x


@pytest.mark.parametrize("name", program.names)
def test_programs(name):
    program.judge(name)
