"""Trees are built by one thread at a time."""

import gc
import threading

from minitorch2.jit.syntax import expression

TEXT = " + ".join(f"f(a * {n}, (b - {n}) if c else -d)" for n in range(200))


class Junk:
    """What the collector has to finalize, in Python, wherever it runs."""

    def __init__(self):
        self.own = self

    def __del__(self):
        sum(range(200))


def test_threads_that_parse_at_once():
    errors = []

    def work():
        for _ in range(20):
            for _ in range(20):
                Junk()
            try:
                expression(TEXT)
            except SystemError as error:
                errors.append(error)

    before = gc.get_threshold()
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        gc.set_threshold(*before)
    assert not errors
