"""torch.return_types: the tuples with names that functions with several results return.

In: the results. Out: a tuple that prints them with their names and has them as attributes.

    >>> import minitorch2 as torch
    >>> found = torch.max(torch.tensor([[1.0, 4.0]]), 1)
    >>> found
    torch.return_types.max(
    values=tensor([4.]),
    indices=tensor([1]))
    >>> found.indices, torch.return_types.max((1, 2)).values
    (tensor([1]), 1)

Source: torch.return_types; Python's struct sequences, which torch's are.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, ClassVar

# The names of what functions return that are no rows; a row's signature says its own.
_NAMES = {
    "max": "values indices", "min": "values indices", "median": "values indices",
    "nanmedian": "values indices", "geqrf": "a tau", "histogram": "hist bin_edges",
    "histogramdd": "hist bin_edges", "linalg_cholesky_ex": "L info",
    "linalg_inv_ex": "inverse info", "linalg_ldl_factor": "LD pivots",
    "linalg_ldl_factor_ex": "LD pivots info",
    "linalg_lstsq": "solution residuals rank singular_values", "linalg_lu": "P L U",
    "linalg_lu_factor": "LU pivots", "linalg_lu_factor_ex": "LU pivots info",
    "linalg_solve_ex": "result info", "lu_unpack": "P L U", "qr": "Q R",
    "slogdet": "sign logabsdet", "svd": "U S V",
    "triangular_solve": "solution cloned_coefficient",
}  # fmt: skip


class Results(tuple):
    """Several results, each with a name; made from all of them, or from one sequence of them."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()
    _field_defaults: ClassVar[dict[str, Any]] = {}
    n_fields = n_sequence_fields = 0
    n_unnamed_fields = 0

    def __new__(cls, *parts: Any) -> Any:
        """TypeError where there are not as many results as names."""
        if len(parts) == 1:
            (given,) = parts
            if not isinstance(given, Iterable):
                raise TypeError("constructor requires a sequence")
            parts = tuple(given)
        if len(parts) != cls.n_fields:
            raise TypeError(
                f"{cls.__module__}.{cls.__name__}() takes a {cls.n_fields}-sequence "
                f"({len(parts)}-sequence given)"
            )
        return tuple.__new__(cls, parts)

    @classmethod
    def _make(cls, parts: Any) -> Any:
        return tuple.__new__(cls, parts)

    def __repr__(self) -> str:
        parts = zip(self._fields, self, strict=True)
        shown = ",\n".join(f"{name}={value!r}" for name, value in parts)
        return f"{type(self).__module__}.{type(self).__name__}(\n{shown})"

    def __reduce__(self) -> tuple:
        return _rebuilt, (type(self).__name__, tuple(self))


def _rebuilt(name: str, parts: tuple) -> Results:
    return TYPES[name](parts)


def _made(name: str, fields: tuple[str, ...]) -> Any:
    attributes = {each: property(itemgetter(at)) for at, each in enumerate(fields)}
    counts = {"n_fields": len(fields), "n_sequence_fields": len(fields), "_fields": fields}
    where = {
        "__module__": "torch.return_types",
        "__slots__": (),
        "__doc__": f"What {name} returns.",
    }
    return type(name, (Results,), {**attributes, **counts, **where})


TYPES: dict[str, Any] = {}
all_return_types: list[Any] = []
__all__ = ["all_return_types"]


def defined(name: str, fields: tuple[str, ...]) -> Any:
    """The class of what a function returns, by the names of its results: one more of this file."""
    made = TYPES[name] = globals()[name] = _made(name, fields)
    all_return_types.append(made)
    return made


def of(name: str) -> Any:
    """The class of what a function returns."""
    return TYPES[name]


for _name, _fields in _NAMES.items():
    defined(_name, tuple(_fields.split()))
