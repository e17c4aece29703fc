"""Settings that come from the environment, read once and in one place.

    MT2_CACHE_DIR        folder of compiled kernels (else in the user's cache)
    MT2_CACHE_MB         the most it may hold, in megabytes (default: 1024)
    MT2_CHECK=1          verify the graph around every pass
    MT2_PRIMITIVES       'numpy': eager takes numpy's exp, sin and their like
    MT2_KERNEL_FRONTEND  'direct' (default) or 'numba': who writes the LLVM
    MT2_KERNEL_LEVEL     LLVM's effort: 0, 1 or 2 (default); 0 compiles in a
                         third of the time, to the same bits and slower code
    MT2_CUDA=sim         run compiled kernels as a GPU would, in the simulator

Example: `config.check` is True when MT2_CHECK=1 was set before the import.
"""

import os
from dataclasses import dataclass

from minitorch2.errors import ArgumentValueError


def chosen(name: str, default: str, *others: str) -> str:
    """The value of a variable: the default when it is unset, else one of those there are."""
    value = os.environ.get(name, "") or default
    if value not in (default, *others):
        there_are = ", ".join(repr(each) for each in (default, *others) if each)
        raise ArgumentValueError(
            f"{name}={value} in the environment",
            f"the values are {there_are}",
            "choose one of them, or unset it",
        )
    return value


@dataclass(slots=True)
class Config:
    """The settings in force; tests change the fields, nothing else does."""

    check: bool = os.environ.get("MT2_CHECK", "") not in ("", "0")
    primitives: str = chosen("MT2_PRIMITIVES", "", "numpy")
    kernel_frontend: str = chosen("MT2_KERNEL_FRONTEND", "direct", "numba")
    kernel_level: int = int(chosen("MT2_KERNEL_LEVEL", "2", "0", "1"))
    cuda: str = chosen("MT2_CUDA", "", "sim")
    threads: int = 0  # 0: as many as the machine has


config = Config()
