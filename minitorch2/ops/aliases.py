"""Other names of rows: `multiply` is `mul`, `arccos` is `acos`.

In: a row's name. Out: the names torch has for it besides, as functions, methods and in-place forms
where the row has them. They are the same functions, so nothing else knows of these names.

Source: torch's documentation ("Alias for torch.abs()").
"""

ALIASES = {
    "absolute": "abs",
    "negative": "neg",
    "multiply": "mul",
    "subtract": "sub",
    "divide": "div",
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
    "fix": "trunc",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "arctan2": "atan2",
    "arccosh": "acosh",
    "arcsinh": "asinh",
    "arctanh": "atanh",
    "concat": "cat",
    "concatenate": "cat",
    "swapdims": "swapaxes",
    "moveaxis": "movedim",
    "ger": "outer",
    "clip": "clamp",
}
