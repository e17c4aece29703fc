"""An int that changes from call to call answers whatever it is asked as the number does."""
# ruff: noqa: E501, F401 -- the programs need the import

import pytest

import minitorch2 as torch
from tests.jit.language.judging import BACKENDS, Programs

program = Programs()
FORMS = """
n + o
n - o
n * o
n // o
n % o
n / o
divmod(n, o)
n & o
n | o
n ^ o
n << o
n >> o
o << n
o >> n
o & n
o + n
o - n
o * n
o // n
o % n
divmod(o, n)
n == o
n != o
n < o
n <= o
o > n
o >= n
pow(n, 2)
round(n, o)
-n
+n
~n
abs(n)
bool(n)
float(n)
complex(n)
int(n)
str(n)
repr(n)
f"{n} {n:03d}"
"%d" % n
hash(n)
[0, 1] * n
"ab" * n
(1,) * n
[1, 2, 3, 4, 5, 6][n]
"abcdef"[n]
list(range(n))
n.bit_length()
n.real
n.nothing
n.to_bytes(2, "big")
isinstance(n, int)
type(n)
n is None
n[0]
len(n)
n()
{n: 1}
{n, 1}
{3: "three", 4: "four", 5: "five"}[n]
n in (3, 4)
n in {5}
min(n, 4)
max(n, 2)
sum([n, n])
sorted([n, 2])
n if n > 3 else -n
n and 1
n or 1
not n
1 <= n <= 4
int(n / 2)
n.__class__
getattr(n, "imag")
bin(n)
chr(n)
x[: n - 2]
x.repeat(n, 1)
x * n
x + n / 2
torch.zeros(n)
torch.full((n, 2), n)
x.sum() + n
"""


def _other(kind):
    return {
        "int": 3,
        "zero": 0,
        "float": 2.5,
        "text": "s",
        "none": None,
        "list": [1],
        "bool": True,
    }[kind]


def _register():
    for line in filter(None, map(str.strip, FORMS.splitlines())):
        kinds = (
            ("int", "zero", "float", "text", "none", "list", "bool")
            if "o" in line.split()
            else ("int",)
        )
        for kind in kinds:
            source = (
                "def made():\n"
                "    given = iter([3, 4, 5, 3])\n"
                f"    o = _other({kind!r})\n"
                "    def fn(x, n):\n"
                "        try:\n"
                f"            return {line}\n"
                "        except Exception as error:\n"
                "            return error\n"
                "    return fn, lambda: (torch.ones(2, 3), next(given)), lambda: None\n"
            )
            program.text(source, globals(), f"{line}  # {kind}")
            program.known[f"{line}  # {kind}"][1].update(calls=4, again=True)


_register()


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", program.names)
def test_programs(name, backend):
    program.judge(name, backend)
