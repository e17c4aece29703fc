"""Sources: equal and hashed by what they say, however they were made."""

import copy

import pytest

from minitorch2.jit.capture.source import (
    ArgumentSource,
    AttributeSource,
    CellContents,
    CellSource,
    ClassAttributeSource,
    ClassSource,
    ConstantSource,
    GlobalSource,
    ItemSource,
    KeyedSource,
    NativeItemSource,
)
from minitorch2.jit.capture.values.outside import AheadSource

START = ArgumentSource("x")
MADE = {
    "attribute": lambda base: AttributeSource(base, "w"),
    "another": lambda base: AttributeSource(base, "v"),
    "item": lambda base: ItemSource(base, "w"),
    "another item": lambda base: ItemSource(base, 1),
    "native": lambda base: NativeItemSource(base, "w", dict),
    "native of another": lambda base: NativeItemSource(base, "w", list),
    "keyed": lambda base: KeyedSource(base, ArgumentSource("w")),
    "global": lambda base: GlobalSource(base, "w"),
    "cell": lambda base: CellSource(base, 0, "w"),
    "contents": lambda base: CellContents(base, "w"),
    "class": ClassSource,
    "class attribute": lambda base: ClassAttributeSource(base, "w"),
    "ahead": lambda base: AheadSource(base, 1),
    "constant": lambda base: ConstantSource(base, "w"),
}


@pytest.mark.parametrize("name", MADE)
def test_sources_are_what_they_say(name):
    make = MADE[name]
    base = AttributeSource(START, "part")
    one, other = make(base), make(base if name == "constant" else AttributeSource(START, "part"))
    assert one == other and hash(one) == hash(other) and len({one, other}) == 1
    assert AttributeSource(one, "end") == AttributeSource(other, "end")
    assert repr(one) == repr(other) and "_hash" not in repr(one)
    assert one != make(AttributeSource(START, "other part"))
    assert all(one != MADE[each](base) for each in MADE if each != name)
    assert one != str(one)


def test_a_key_that_has_no_hash_is_refused_only_when_a_hash_is_asked_for():
    one, other = (ItemSource(START, [slice(None)]) for _ in range(2))
    assert one == other and copy.copy(one) == one
    with pytest.raises(TypeError):
        hash(one)
