"""The window on the other three rooms: the `mt2` command."""
