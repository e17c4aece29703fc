"""Tests, one folder a room; run them with a plain `pytest`."""
