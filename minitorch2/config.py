"""Settings that come from the environment, read once and in one place.

    MT2_CACHE_DIR     folder of compiled kernels (default: the user's cache folder)
    MT2_CACHE_MB      the most that folder may hold, in megabytes (default: 1024)
    MT2_CHECK=1       verify the graph around every pass
    MT2_PRIMITIVES    'numpy' keeps eager on numpy's own transcendental functions
    MT2_KERNEL_FRONTEND  'direct' (default) or 'numba': who turns kernel source into LLVM
    MT2_KERNEL_LEVEL  0, 1 or 2 (default): LLVM's effort; 0 compiles in a third of the time, to
                      the same bits and slower code
    MT2_CUDA=sim      run compiled kernels as a GPU would, in the simulator

Example: `config.check` is True when MT2_CHECK=1 was set before the import.
"""

import os
from dataclasses import dataclass


@dataclass(slots=True)
class Config:
    """The settings in force; tests change the fields, nothing else does."""

    check: bool = os.environ.get("MT2_CHECK", "") not in ("", "0")
    primitives: str = os.environ.get("MT2_PRIMITIVES", "")
    kernel_frontend: str = os.environ.get("MT2_KERNEL_FRONTEND", "") or "direct"
    kernel_level: int = int(os.environ.get("MT2_KERNEL_LEVEL", "") or 2)
    cuda: str = os.environ.get("MT2_CUDA", "")
    threads: int = 0  # 0: as many as the machine has


config = Config()
