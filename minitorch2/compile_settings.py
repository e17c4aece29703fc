"""What users ask of compiled calls: a thread's stance, errors for graph breaks, a limit.

In: nothing. Out: two objects, which torch.compiler writes and the cache of compiled functions
reads.

Source: torch.compiler.set_stance, torch._dynamo.config.
"""

import threading
from dataclasses import dataclass


class Settings(threading.local):
    """What this thread wants: `error_on_break` overrules what the compiled function was given."""

    error_on_break: bool | None = None
    stance: str = "default"  # see `compiler.set_stance`


@dataclass
class Limits:
    """How often one signature of a function is compiled before further calls run as Python."""

    recompilations: int = 8


settings, limits = Settings(), Limits()
