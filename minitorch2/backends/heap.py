"""Freed memory of arrays stays with the process, to be used again.

A training step makes and frees the same large arrays again and again. By default glibc gives what
is freed at the top of the heap back to the system at once, and every page of the next array has to
be asked for and cleared anew, which can take as long as what is computed. Here it keeps up to
`KEPT` bytes. Peak memory does not change. MALLOC_TRIM_THRESHOLD_, glibc's own variable, is
respected; other C libraries are left as they are.

Source: mallopt(3).
"""

import ctypes
import os

KEPT = 256 << 20  # bytes
LARGEST = 32 << 20  # larger arrays are mapped by themselves, and given back
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # mallopt's names for the two


def keep_freed_memory() -> bool:
    """Tell the C library; whether it could be told."""
    if "MALLOC_TRIM_THRESHOLD_" in os.environ or os.name != "posix":
        return False
    tell = getattr(ctypes.CDLL(None), "mallopt", None)
    if tell is None:
        return False
    return bool(tell(_TRIM_THRESHOLD, KEPT) and tell(_MMAP_THRESHOLD, LARGEST))


keep_freed_memory()
