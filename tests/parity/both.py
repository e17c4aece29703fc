"""One program, run by minitorch2 and by torch: values, shapes, dtypes, classes and errors agree.

    check(lambda t: t.func.grad(t.sin)(numbers(t, ())))

The program takes the library. It returns tensors, numbers, texts, nested as it likes; when it
raises in one library it must raise in the other, and `except` clauses written for torch catch ours.
"""

import warnings

import numpy
import torch

import minitorch2

LIBRARIES = (minitorch2, torch)


def numbers(library, *shape, seed=0, low=-1.0, high=1.0, dtype="float32"):
    """A tensor of the same uniform numbers in either library."""
    random = numpy.random.RandomState(seed)
    values = random.uniform(low, high, shape)
    return library.tensor(values.tolist(), dtype=getattr(library, dtype))


def leaf(t, *values, g=True):
    """A vector of the given values, which requires a gradient."""
    return t.tensor(values, requires_grad=g)


def filled(t, module):
    """A module with parameters that are the same in both libraries."""
    for place, each in enumerate(module.parameters()):
        each.data = (
            t.arange(each.numel()).reshape(each.shape).float() % 7 - 3
        ) * 0.1 + place * 0.01
    return module


def builtin(error):
    """The builtin class that an error is of."""
    return next(each for each in type(error).__mro__ if each.__module__ == "builtins")


def kind(error):
    """The name of the builtin class that an error is of."""
    return builtin(error).__name__


def alike(mine, theirs, words=None):
    """Whether what catches torch's error catches ours, and ours has torch's words (or `words`)."""
    said = str(theirs) if words is None else words
    return isinstance(mine, builtin(theirs)) and said in str(mine)


def same(mine, theirs, where="result", tolerance=1e-5):
    """Compare two results, through tuples, lists and dicts."""
    if isinstance(theirs, torch.Tensor):
        assert isinstance(mine, minitorch2.Tensor), f"{where}: {mine!r}"
        assert str(mine.dtype) == str(theirs.dtype), f"{where}: {mine.dtype}, torch {theirs.dtype}"
        assert tuple(mine.shape) == tuple(theirs.shape), (
            f"{where}: {tuple(mine.shape)}, torch {tuple(theirs.shape)}"
        )
        assert mine.requires_grad == theirs.requires_grad, (
            f"{where}: requires_grad {mine.requires_grad}, torch {theirs.requires_grad}"
        )
        a, b = mine.detach().numpy(), theirs.detach().resolve_conj().numpy()
        close = numpy.isclose(a, b, tolerance, tolerance, equal_nan=True)
        assert close.all(), f"{where}: {a}, torch {b}"
        return
    if isinstance(theirs, dict):
        assert list(mine) == list(theirs), f"{where}: {list(mine)}, torch {list(theirs)}"
        for key in theirs:
            same(mine[key], theirs[key], f"{where}[{key!r}]", tolerance)
        return
    if isinstance(theirs, (tuple, list)):
        assert type(mine).__mro__[-2] is type(theirs).__mro__[-2], f"{where}: {type(mine)}"
        assert len(mine) == len(theirs), f"{where}: {len(mine)}, torch {len(theirs)}"
        for index, (a, b) in enumerate(zip(mine, theirs, strict=True)):
            same(a, b, f"{where}[{index}]", tolerance)
        return
    if isinstance(theirs, float):
        near = abs(mine - theirs) <= tolerance * max(1, abs(theirs))
        assert mine == theirs or near, f"{where}: {mine}, {theirs}"
        return
    assert mine == theirs, f"{where}: {mine!r}, torch {theirs!r}"


def check(program, tolerance=1e-5):
    """Run a program in both libraries and compare what it gives or raises."""
    found = []
    for library in LIBRARIES:
        try:
            with warnings.catch_warnings():
                if library is torch:
                    warnings.simplefilter("ignore")
                found.append((program(library), None))
        except Exception as error:  # torch's refusals count as answers
            found.append((None, error))
    (mine, wrong), (theirs, refused) = found
    if refused is None:
        if wrong is not None:
            raise AssertionError(f"torch accepts it; we raise {wrong!r}") from wrong
        same(mine, theirs, tolerance=tolerance)
        return
    assert wrong is not None, f"torch raises {refused!r}; we return {mine!r}"
    unspoken = isinstance(refused, (NotImplementedError, AssertionError))
    wanted = RuntimeError if unspoken else builtin(refused)
    assert isinstance(wrong, wanted), f"we raise {wrong!r}, torch {refused!r}"
