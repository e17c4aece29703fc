"""torch.utils.hooks: the handle that removes a hook.

Example: `handle = module.register_forward_hook(hook); handle.remove()`.
Source: torch.utils.hooks.
"""

from minitorch2.autograd.graph import RemovableHandle

__all__ = ["RemovableHandle"]
