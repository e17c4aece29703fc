"""Every example in a docstring runs: one test a module, walking minitorch2's packages.

`pytest --doctest-modules jit` would import `jit` beside `minitorch2.jit`, a second copy of every
module, so the examples are run from here under the names users import.
"""

import doctest
import importlib

import pytest

from tests.house import source_files

MODULES = [file.module for file in source_files() if ">>>" in file.text()]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS, verbose=False)
    report: list[str] = []
    for example in finder.find(module, name):
        runner.run(example, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)
