"""What capture makes of each language program is what it made before: ops, graphs, breaks."""

import pytest

from tests.jit.language.table import HEAD, areas, counted_apart, merged

OLDEST = f"{HEAD}\n1 1 0 0 - adds\n3 2 0 0 data-dependent a[0] + b"


@pytest.mark.parametrize("area", areas())
def test_table(area, golden):
    told = counted_apart(area)
    assert told
    golden(lambda kept: merged(kept, told))


def test_what_the_oldest_python_tells_is_for_all():
    assert merged("", {"adds": "1 1 0 0 -", "a[0] + b": "3 2 0 0 data-dependent"}, "3.11") == OLDEST
    assert merged(OLDEST, {"adds": "1 1 0 0 -"}, "3.11") == f"{HEAD}\n1 1 0 0 - adds"


def test_what_a_newer_one_tells_is_marked():
    told = {"adds": "1 1 0 0 -", "new": "2 1 0 0 -", "a[0] + b": "4 2 0 0 data-dependent"}
    text = merged(OLDEST, told, "3.13")
    assert text.splitlines()[1:] == [
        "1 1 0 0 - adds",
        "3.13 2 1 0 0 - new",
        "3.11+3.12 3 2 0 0 data-dependent a[0] + b",
        "3.13 4 2 0 0 data-dependent a[0] + b",
    ]
    assert merged(text, told, "3.13") == text
    older = {"adds": "1 1 0 0 -", "a[0] + b": "3 2 0 0 data-dependent"}
    assert merged(text, older, "3.11") == text
    assert merged(text, told | {"a[0] + b": "3 2 0 0 data-dependent"}, "3.13").count("a[0]") == 1
