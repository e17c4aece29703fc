"""Programs in which Python needs what capture does not have: each break is forced, and named."""

import logging

import torch

from tests.counted.whole import pair, same

LOG = logging.getLogger("counted")


def case_item():
    same(lambda x, y: x / x.max().item() + y, pair)


def case_branch_on_a_tensor():
    def fn(x, y):
        if x.sum() > y.sum():
            return x - y
        return x + y

    same(fn, pair, lambda: pair()[::-1])


def case_print():
    def fn(x, y):
        x = x + 1
        print("sum", x.sum())
        return x * y

    same(fn, pair)


def case_logging():
    def fn(x, y):
        LOG.warning("called")
        return x * y

    LOG.addHandler(logging.NullHandler())
    LOG.propagate = False
    same(fn, pair)


def case_break_in_a_loop():
    def fn(x, y):
        for _ in range(5):
            x = x * 2
            if float(x.sum()) > 40:
                break
        return x + y

    same(fn, pair)


def case_break_in_a_callee():
    def clip(x):
        largest = x.abs().max().item()
        return x / largest if largest > 1 else x

    same(lambda x, y: clip(x + 1) * clip(y), pair)


def case_break_inside_with_and_try():
    def fn(x, y):
        try:
            with torch.no_grad():
                x = x * 2
                count = int(x.sum())
            return y * count
        finally:
            x += 1

    same(fn, pair)


def case_exception_that_leaves():
    def fn(x, y):
        x = x * 2
        raise KeyError("left")

    compiled = torch.compile(fn, backend="aot_eager")
    for _ in range(2):
        try:
            compiled(*pair())
        except KeyError:
            continue
        raise AssertionError("nothing was raised")


def case_disabled():
    @torch.compiler.disable
    def outside(x):
        return x + 1

    same(lambda x, y: outside(x * 2) * y, pair)


def case_inputs_that_share_memory():
    def make():
        x = torch.arange(6.0)
        return x[:4], x[2:]

    same(lambda x, y: (x.mul_(2), y.add(1)), make)
