"""torch._dynamo.backends: where backends are registered.

Files, in reading order:

registry  register_backend, lookup_backend, list_backends

Source: torch._dynamo.backends.
"""
