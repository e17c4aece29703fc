"""Each test leaves torch without a default device, which is a mode that changes its calls."""

from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def no_default_device() -> Iterator[None]:
    """Undo what a test chose."""
    yield
    pytest.importorskip("torch").set_default_device(None)
