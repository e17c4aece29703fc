"""A reason needed in several places is a `# Note [Title]`, written once; no mention may dangle."""

import re
from collections import Counter

from tests.house import source_files

DEFINITION = re.compile(r"^\s*# Note (\[[^\]\n]+\])\s*$", re.MULTILINE)
MENTION = re.compile(r"\bNote (\[[^\]\n]+\])")


def counts() -> tuple[Counter[str], Counter[str]]:
    """How often each note is defined, and how often it is mentioned (definitions included)."""
    defined: Counter[str] = Counter()
    mentioned: Counter[str] = Counter()
    for file in source_files():
        defined.update(DEFINITION.findall(file.text()))
        mentioned.update(MENTION.findall(file.text()))
    return defined, mentioned


def test_every_reference_has_its_note():
    defined, mentioned = counts()
    dangling = sorted(mentioned.keys() - defined.keys())
    assert not dangling, dangling


def test_every_note_is_written_once_and_referred_to():
    defined, mentioned = counts()
    twice = [note for note, times in defined.items() if times > 1]
    assert not twice, twice
    unused = [note for note in defined if mentioned[note] == 1]
    assert not unused, unused
