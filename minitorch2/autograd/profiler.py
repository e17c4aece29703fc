"""torch.autograd.profiler: the older place of torch.profiler's names.

Example: `with profile() as found: ...`, then `found.key_averages().table()`.

Source: torch.autograd.profiler.
"""

from minitorch2.profiler import profile, record_function

__all__ = ["profile", "record_function"]
