"""What users ask of compiled calls: a thread's stance, errors for graph breaks, a limit.

In: nothing. Out: three objects: two that torch.compiler writes and the cache of compiled functions
reads, and counters, which it writes and users read.

Source: torch.compiler.set_stance, torch._dynamo.config.
"""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass


class Settings(threading.local):
    """What this thread wants: `error_on_break` overrules what the compiled function was given."""

    error_on_break: bool | None = None
    stance: str = "default"  # see `compiler.set_stance`; changed by `take_stance` only


@dataclass
class Limits:
    """What holds for all threads, as torch._dynamo.config says it.

    recompilations        how often one signature of a function is compiled before further calls run
                          as Python
    fail_at_the_limit     they raise CompileError instead
    fail_on_recompile     already the second compilation does
    automatic_dynamic     a size, an int or a float that changed is symbolic from then on
    stances_taken         some thread has ever asked for a stance, so that calls look for theirs
    """

    recompilations: int = 8
    fail_at_the_limit: bool = False
    fail_on_recompile: bool = False
    automatic_dynamic: bool = True
    stances_taken: bool = False


settings, limits = Settings(), Limits()
counters: defaultdict[str, Counter[str]] = defaultdict(Counter)  # torch._dynamo.utils.counters


def take_stance(stance: str) -> str:
    """This thread's stance from now on; the one before."""
    limits.stances_taken = True
    before, settings.stance = settings.stance, stance
    return before
