"""torch._dynamo.exc: the compiler's errors by torch's names.

Example: `except torch._dynamo.exc.Unsupported` catches what `fullgraph=True` raises.
Source: torch._dynamo.exc.
"""

from minitorch2.errors import (
    ArgumentValueError,
    BackendCompilerFailed,
    CompileError,
    GraphBreakError,
)

TorchDynamoException = CompileError
Unsupported = GraphBreakError
InternalTorchDynamoError = CompileError
RecompileError = CompileError
RecompileLimitExceeded = CompileError
FailOnRecompileLimitHit = CompileError
UserError = CompileError
InvalidBackend = ArgumentValueError

__all__ = [
    "BackendCompilerFailed",
    "FailOnRecompileLimitHit",
    "InternalTorchDynamoError",
    "InvalidBackend",
    "RecompileError",
    "RecompileLimitExceeded",
    "TorchDynamoException",
    "Unsupported",
    "UserError",
]
