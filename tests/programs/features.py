"""What a random program exercises, by kind: its lines, its inputs, its modes.

In: a program. Out: names of features; `python -m tests.programs` counts them over all programs.

    >>> from tests.programs.writing import write
    >>> "input: float32" in features(write(3))
    True
"""

import re

from tests.programs.writing import Program

# (feature, what its text looks like)
LINES = (
    ("broadcasting of sizes and numbers", r"\.shape\[|\+ \d|\* \d"),
    ("arithmetic with Python numbers", r"[-+*/%] -?\d|-?\d\.?\d* [-+*/]"),
    ("division and remainders", r" / | // | % |fmod|remainder|rounding_mode"),
    ("powers", r"\*\*|square"),
    ("comparisons and logic", r" [<>=!]=? | [&|^] |logical_|isnan"),
    ("shifts", r"<<|>>"),
    ("where and masks", r"where\(|masked_fill"),
    ("promotion by conversion", r"\.to\(torch\."),
    ("rounding and sign", r"floor|ceil|trunc|round|sign\("),
    ("transcendental functions", r"tanh|sigmoid|sin\(|cos\(|erf|exp|log|atan|sqrt"),
    ("reductions", r"\.(sum|mean|prod|amax|amin|any|all|var|std)\("),
    ("running sums", r"cumsum"),
    ("extrema with places", r"argm|\.max\(|\.min\(|topk|sort\("),
    ("softmax and normalization", r"softmax|logsumexp|norm"),
    (
        "views by method",
        r"transpose|permute|squeeze|view|expand|narrow|select|diagonal|unbind|chunk",
    ),
    ("reshape and flatten", r"reshape|flatten|contiguous"),
    ("slices", r"\[[^\]]*:[^\]]*\]"),
    ("integer indices", r"\[-?\d+[,\]]"),
    ("new axes and ellipsis", r"\[[^\]]*(None|\.\.\.)"),
    ("tensor indices", r"\[v?\w+ % "),
    ("assignment to a part", r"^\s+\w+\[[^\]]*\] = "),
    ("in-place operators on a part", r"^\s+\w+\[[^\]]*\] [-+*]="),
    ("in-place operators", r"^\s+\w+ [-+*]="),
    ("in-place methods", r"\w_\("),
    ("writes through views", r"(transpose|view|detach)\([^)]*\)\.\w+_\(|\]\.\w+_\("),
    ("gather and scatter", r"gather|scatter|index_select|index_add|embedding|one_hot"),
    ("joining", r"cat\(|stack\(|repeat\("),
    ("matrix products", r" @ |linear\("),
    ("losses", r"_loss|cross_entropy"),
    ("creation", r"zeros|ones|full|arange|eye|linspace|torch\.tensor|empty"),
    ("detached tensors", r"detach"),
    ("Python loops and branches", r"for | if |lambda"),
    ("no_grad", r"no_grad"),
    ("enable_grad", r"enable_grad"),
)
_COMPILED = tuple((name, re.compile(pattern, re.MULTILINE)) for name, pattern in LINES)


def features(program: Program) -> set[str]:
    """The features that occur in a program."""
    found = {name for name, pattern in _COMPILED if pattern.search(program.text)}
    for spec in program.inputs:
        if spec.shares:
            found.add(f"inputs that share memory: {spec.how}")
            continue
        found |= {f"input: {spec.dtype}", f"layout: {spec.layout}", f"history: {spec.history}"}
        found |= {"a 0-d input"} if not spec.shape else set()
        found |= {"an empty input"} if 0 in spec.shape else set()
        found |= {"nan, inf and tiny numbers"} if spec.special else set()
    return found
