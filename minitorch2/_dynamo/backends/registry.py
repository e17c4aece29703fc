"""torch._dynamo.backends.registry: backends by name.

Example: `from torch._dynamo.backends.registry import register_backend`.
Source: torch._dynamo.backends.registry.
"""

from minitorch2.custom_backends import list_backends, lookup_backend, register_backend

__all__ = ["list_backends", "lookup_backend", "register_backend"]
