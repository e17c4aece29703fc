"""What compiled functions leave behind when they are gone: nothing; and what many callers share."""

import gc
import linecache
import os
import subprocess
import sys
import threading
import weakref

import numpy
import pytest

import minitorch2 as torch
from minitorch2 import compiling
from minitorch2.jit.capture.program import capture
from minitorch2.kernels.runtime import compile
from minitorch2.kernels.runtime.compile import compile_kernel
from minitorch2.kernels.runtime.signature import KernelSignature

pytestmark = pytest.mark.numba
SOURCE = (
    "def scale(lo, hi, x, y, status):\n    for i in range(lo, hi):\n        y[i] = x[i] * f32({})\n"
)
SIGNATURE = KernelSignature(("f32", "f32"))


def scaled_by(number: float):
    """A function with a constant of its own, and so with a kernel of its own."""
    return lambda x: torch.sin(x * number) + number


def left() -> tuple[int, int, int, int]:
    """What is there of each kind."""
    gc.collect()
    return (
        len(gc.get_objects()),
        len(linecache.cache),
        len(compile._kernels),
        len(compiling._compiled),
    )


def test_functions_that_come_and_go_leave_nothing():
    x = torch.rand(50)

    def round_of(count: int) -> None:
        for number in range(count):
            compiled = torch.compile(scaled_by(number % 4 + 0.25), dynamic=False)
            assert torch.allclose(compiled(x), scaled_by(number % 4 + 0.25)(x))

    round_of(8)
    before = left()
    round_of(40)
    after = left()
    assert after[1:] == before[1:]
    assert after[0] < before[0] + 40


def test_machine_code_lives_as_long_as_a_launch_of_it():
    kernel = compile_kernel(SOURCE.format(1.375), SIGNATURE)
    launch, key, alive = kernel.direct(), kernel.key, weakref.ref(kernel)
    assert compile_kernel(SOURCE.format(1.375), SIGNATURE) is kernel
    del kernel
    gc.collect()
    assert alive() is not None and key in compile._kernels
    x, y = numpy.ones(9, "f4"), numpy.zeros(9, "f4")
    launch(9, (x, y), (), (), 1.0)
    assert (y == 1.375).all()
    del launch
    gc.collect()
    assert alive() is None and key not in compile._kernels


def test_a_gradient_keeps_the_code_of_its_backward():
    x = torch.rand(20, requires_grad=True)
    compiled = torch.compile(scaled_by(0.75))
    y = compiled(x)
    del compiled
    gc.collect()
    y.sum().backward()
    assert torch.allclose(x.grad, torch.cos(x.detach() * 0.75) * 0.75)


def test_eight_threads_call_the_same_and_other_functions():
    """Each thread compiles functions of its own while all of them call one that is shared, which
    recompiles for their sizes; nobody sees another one's numbers."""
    shared = torch.compile(lambda x, y: (x @ y).relu().sum(0) - x.mean())
    wrong: list[str] = []

    def work(number: int) -> None:
        torch.manual_seed(number)
        try:
            for turn in range(6):
                x = torch.randn(number + 2, 40)
                y = torch.randn(40, 33 + turn)
                expected = (x @ y).relu().sum(0) - x.mean()
                if not torch.allclose(shared(x, y), expected, atol=1e-4):
                    wrong.append(f"shared {number} {turn}")
                own = torch.compile(scaled_by(number + turn / 8))
                for _ in range(3):
                    if not torch.allclose(own(x), scaled_by(number + turn / 8)(x), atol=1e-5):
                        wrong.append(f"own {number} {turn}")
                weight = torch.randn(40, requires_grad=True)
                torch.compile(lambda w: (w * 2).exp().sum())(weight).backward()
                if not torch.allclose(weight.grad, (weight.detach() * 2).exp() * 2):
                    wrong.append(f"gradient {number} {turn}")
        except BaseException as error:
            wrong.append(repr(error))
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


FORKS = """
import os, threading, warnings
import minitorch2 as torch

warnings.simplefilter("ignore", DeprecationWarning)  # threads and forks: this very thing
shared = torch.compile(lambda x: (x * 2).exp().sum(0))
stop = False
activations = [torch.nn.functional.elu, torch.nn.functional.silu, torch.nn.functional.softplus]

def check(function, plain, *sizes):
    x = torch.rand(*sizes)
    assert torch.allclose(function(x), plain(x))

def work(start):
    number = start
    while not stop:
        number += 1
        plain = lambda x, c=number / 7: torch.sin(x * c) + c
        check(torch.compile(plain), plain, 40)
        check(shared, shared.original, number % 60 + 2, 7)
        shape = [1] * (number % 6) + [200] + [1] * (number // 6 % 6) + [100]  # a program for each
        activations[number // 36 % 3](torch.rand(shape))

workers = [threading.Thread(target=work, args=(1000 * k,)) for k in range(3)]
for each in workers:
    each.start()
for turn in range(6):
    child = os.fork()
    if child == 0:
        check(shared, shared.original, 200 + turn, 7)
        plain = lambda x: torch.cos(x * (turn + 0.3)) @ x.t()
        check(torch.compile(plain), plain, 30, 30)
        torch.nn.functional.leaky_relu(torch.rand(200, 100), 0.1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
stop = True
for each in workers:
    each.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_other_threads_compile(tmp_path):
    """The child finds no lock held by a thread that it does not have."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=200,
        env=os.environ | {"MT2_CACHE_DIR": str(tmp_path)},
    )  # fmt: skip
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "done\n")


def test_a_capture_leaves_nothing_to_the_collector():
    """Thousands of values and the machine that refer to each other are gone without it."""
    layers = torch.nn.Sequential(torch.nn.Linear(6, 6), torch.nn.ReLU(), torch.nn.LayerNorm(6))

    def step(x):
        total = {"loss": layers(x).sum(), "parts": [y * 2 for y in layers(x)]}
        return total["loss"], tuple(total["parts"])

    given = {"unit": "step", "resume": True}
    capture(step, (torch.rand(3, 6),), {}, **given)  # what is kept for all captures
    gc.collect()
    gc.disable()
    try:
        program = capture(step, (torch.rand(3, 6),), {}, **given)
        assert gc.collect() < 10 and program.graph.nodes
    finally:
        gc.enable()
