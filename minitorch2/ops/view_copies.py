"""Views that are copied at once: torch.expand_copy and its like.

In: what the view of that name takes. Out: a new tensor (or several) with the view's elements, which
shares no memory; `out=` is written instead.

    >>> import minitorch2 as torch
    >>> torch.squeeze_copy(torch.ones(1, 2))
    tensor([1., 1.])

Source: torch's native functions, "view copies".
"""

from collections.abc import Callable
from typing import Any

from minitorch2.ops.outputs import into
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

VIEWS = """
as_strided detach diagonal expand narrow permute select slice split split_with_sizes squeeze t
transpose unbind unfold unsqueeze view view_as_complex view_as_real
""".split()


def _copied(name: str, view: Callable) -> Callable:
    def copy(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        found = view(*args, **kwargs)
        if isinstance(found, Tensor):
            return into(name, out, found.clone().contiguous())
        if out is not None:
            into(name, out, tuple(found))
            return None
        return tuple(each.clone().contiguous() for each in found)

    copy.__name__ = copy.__qualname__ = name
    copy.__module__ = "minitorch2"
    copy.__doc__ = f"{name.removesuffix('_copy')}, whose elements are copied."
    return copy


def functions() -> dict[str, Callable]:
    """The copying form of each view."""
    found = {}
    for name in VIEWS:
        view = getattr(Tensor, name, None) or lookup(name).public
        found[f"{name}_copy"] = _copied(f"{name}_copy", view)
    found["alias_copy"] = _copied("alias_copy", lambda input: input)
    return found
