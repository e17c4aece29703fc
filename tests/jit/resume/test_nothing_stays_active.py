"""After a call that breaks while an exception is active, none is, however the call ended."""

import sys

import pytest

import minitorch2 as torch


def handled(x, how):
    try:
        raise KeyError("a")
    except KeyError:
        if how == "raise again":
            raise
        if how == "another":
            raise ValueError("b") from None
        if how == "in a Python function":
            x.item()
        if how == "in C":
            int("no number")
        if how == "after a break":
            print(end="")
            raise
        if how == "caught":
            try:
                x.item()
            except Exception:
                return 1
        print(end="")
        return 2
    finally:
        x.add_(1)


@pytest.mark.parametrize(
    "how",
    ["raise again", "another", "in a Python function", "in C", "after a break", "caught", "none"],
)
@pytest.mark.parametrize("calls", [1, 2])
def test_nothing_stays_active(how, calls):
    def outcome(function):
        x = torch.ones(2)
        found = []
        for _ in range(calls):
            assert sys.exc_info()[1] is None
            try:
                found.append(function(x, how))
            except Exception as error:
                before = error.__context__
                found.append((type(error), str(error), type(before), str(before)))
            assert sys.exc_info()[1] is None
        return found, x.tolist()

    assert outcome(torch.compile(handled, backend="eager")) == outcome(handled)
