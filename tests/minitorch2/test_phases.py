"""A clock for each stage of compiling: its parts add up, and one that is off costs nothing."""

import threading
import time

import minitorch2 as torch
from minitorch2.jit.passes.pipeline import PIPELINE
from minitorch2.phases import measuring, phase


def test_what_happens_inside_counts_for_itself():
    with measuring() as seconds:
        start = time.perf_counter()
        with phase("outer"):
            time.sleep(0.02)
            for _ in range(2):
                with phase("inner"):
                    time.sleep(0.03)
        whole = time.perf_counter() - start
    assert seconds["inner"] >= 0.06 and seconds["outer"] >= 0.02
    assert abs(seconds["outer"] + seconds["inner"] - whole) < 0.01


def test_an_error_ends_a_phase():
    with measuring() as seconds:
        for _ in range(2):
            try:
                with phase("outer"), phase("inner"):
                    raise ValueError
            except ValueError:
                pass
        with phase("next"):
            pass
    assert sorted(seconds) == ["inner", "next", "outer"]


def test_threads_do_not_take_each_other_s_time():
    def work():
        with phase("there"):
            time.sleep(0.05)

    with measuring() as seconds, phase("here"):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seconds["there"] >= 0.05 and seconds["here"] >= 0.05


def test_without_a_clock_nothing_is_kept():
    with phase("outer"):
        pass
    with measuring() as seconds:
        pass
    assert seconds == {}


def test_every_stage_of_compiling_has_its_phase(tmp_path, monkeypatch):
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path))
    step = torch.compile(lambda x, w: (x @ w).exp().sum())
    with measuring() as seconds:
        step(torch.ones(3, 5), torch.ones(5, 7, requires_grad=True)).backward()
    passes = {f"passes.{function.__name__}" for function in PIPELINE}
    expected = {"capture", "autodiff.functional", "autodiff.joint", "autodiff.partition",
                "loops.lowered", "loops.fused", "kernel.source", "machine code"}  # fmt: skip
    assert expected | passes <= seconds.keys()
