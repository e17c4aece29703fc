"""Small programs whose table of captured ops, breaks and fallbacks is kept (mt2 count)."""
