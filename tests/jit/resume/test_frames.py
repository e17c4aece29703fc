"""What looks at frames at a break finds the user's: loggers, warnings, debuggers, tracebacks."""

import logging
import sys
import traceback
import warnings

from minitorch2.artifacts import subscribe
from tests.jit.capture.capturing import compiled
from tests.jit.resume.both import both, codes, is_captured, ones

LOGGER = logging.getLogger("tests.resume")


def logs(x):
    y = x * 2
    LOGGER.warning("sum %s", y.sum().item())
    y = y + 1
    LOGGER.error("after")
    return y


def test_log_records_name_the_function_and_its_lines():
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(
        (record.funcName, record.lineno, record.getMessage())
    )
    LOGGER.addHandler(handler)
    LOGGER.propagate = False
    try:
        cache = compiled(logs, fullgraph=False)
        for function in (logs, cache, cache):
            function(*ones())
    finally:
        LOGGER.removeHandler(handler)
    assert len(records) == 6 and records[:2] == records[2:4] == records[4:]
    assert records[0][0] == "logs" and is_captured(cache)


def warns(x):
    y = x * 2
    warnings.warn(f"value {y.sum().item()}", UserWarning, stacklevel=1)
    return helper(y)


def helper(y):
    z = y + 1
    warnings.warn("of the caller", UserWarning, stacklevel=2)
    return z


def test_warnings_name_the_line():
    cache = compiled(warns, fullgraph=False)
    found = []
    for function in (warns, cache, cache):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            function(*ones())
        found.append([(one.filename, one.lineno, str(one.message)) for one in caught])
    assert [one[0] for one in found[0]] == [__file__] * 2
    assert found[0][0] == found[1][0] == found[2][0]


def test_a_debugger_sees_the_frame_as_it_is(monkeypatch):
    def stops(x, scale):
        y = x * scale
        breakpoint()
        z = y + 1
        return z, scale

    seen = []

    def hook():
        frame = sys._getframe(1)
        seen.append((frame.f_code.co_name, frame.f_lineno, sorted(frame.f_locals)))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    cache = both(stops, lambda: (*ones(), 2))
    assert len(set(map(str, seen))) == 1 and seen[0][0] == "stops"
    assert seen[0][2] == ["scale", "x", "y"] and codes(cache) == ["debugger"]


def test_printed_tracebacks_point_at_the_operation():
    def fails(x):
        y = x * 2
        return [y, y.sum().item().missing, y]

    texts = []
    for function in (fails, compiled(fails, fullgraph=False)):
        try:
            function(*ones())
        except AttributeError as error:
            last = traceback.TracebackException.from_exception(error)
            texts.append(list(last.format())[-2:])
    assert texts[0] == texts[1] and "^^^^" in "".join(texts[0])


def test_what_runs_as_python_is_told():
    def key(v):
        return v.sum().item()

    def program(x):
        return sorted([x * 2, x], key=key), deep(x, 40)

    def deep(x, n):
        if n == 0 or x.sum() < 0:
            return x
        return deep(x + 1, n - 1) + 1

    said = []
    with subscribe(lambda event: said.append(event) if event.stage == "capture.break" else None):
        compiled(program, fullgraph=False)(*ones())
    texts = [event.text for event in said]
    assert any("return v.sum().item()" in text and "one operation" in text for text in texts)
    assert any("deep() is compiled by itself" in text for text in texts)
    assert any("25 such calls deep" in text for text in texts)
