"""Exception groups and `except*`: the parts of Python's own code that split and join them.

In: groups of the captured program. Out: groups. These functions are read through like the user's;
they do what CPython does in C.

    >>> group = ExceptionGroup("g", [ValueError(1), TypeError(2)])
    >>> [None if part is None else part.exceptions for part in split(group, ValueError)]
    [(ValueError(1),), (TypeError(2),)]

Source: PEP 654; CPython's Objects/exceptions.c.
"""

from typing import Any


def split(error: Any, wanted: Any) -> tuple[Any, Any]:
    """What of an error matches (a class, a tuple of classes or a function), and the rest."""
    is_class = isinstance(wanted, (type, tuple))
    if isinstance(error, wanted) if is_class else wanted(error):
        return error, None
    if not isinstance(error, BaseExceptionGroup):
        return None, error
    pairs = [split(inner, wanted) for inner in error.exceptions]
    matching = [pair[0] for pair in pairs if pair[0] is not None]
    rest = [pair[1] for pair in pairs if pair[1] is not None]
    return _derived(error, matching), _derived(error, rest)


def _derived(group: Any, errors: list) -> Any:
    if not errors:
        return None
    made = group.derive(errors)
    made.__cause__ = group.__cause__
    made.__context__ = group.__context__
    notes = getattr(group, "__notes__", None)
    if notes is not None:
        made.__notes__ = list(notes)
    return made


def matched(error: Any, wanted: Any) -> tuple[Any, Any]:
    """(what an `except*` clause gets, what is left for the next)."""
    if error is None:
        return None, None
    if isinstance(error, wanted) and not isinstance(error, BaseExceptionGroup):
        return BaseExceptionGroup("", [error]), None
    return split(error, wanted)


def to_raise(caught: Any, errors: list) -> Any:
    """What is raised behind the clauses: what they raised, and of the rest one group again."""
    errors = [error for error in errors if error is not None]
    if not errors or not isinstance(caught, BaseExceptionGroup):
        return errors[0] if errors else None
    kept = [error for error in errors if _is_part(error, caught)]
    raised = [error for error in errors if not _is_part(error, caught)]
    if kept:
        leaves = [leaf for error in kept for leaf in _leaves(error)]
        again = split(caught, lambda error: any(error is leaf for leaf in leaves))[0]
        if not raised:
            return again
        raised.append(again)
    return raised[0] if len(raised) == 1 else BaseExceptionGroup("", raised)


def _is_part(error: Any, caught: Any) -> bool:
    """Whether an error is a part of the group that was caught, and no new one."""
    return (
        isinstance(error, BaseExceptionGroup)
        and error.__cause__ is caught.__cause__
        and error.__context__ is caught.__context__
    )


def _leaves(error: Any) -> list:
    if not isinstance(error, BaseExceptionGroup):
        return [error]
    return [leaf for inner in error.exceptions for leaf in _leaves(inner)]
