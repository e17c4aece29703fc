"""Samples of rows that slide a kernel: convolutions, pooling.

In: a row's name. Out: calls of one, two and three dimensions, with strides, padding, dilation,
groups, and calls that do not fit.
"""

from tests.samples.specs import Sample, call, refused, t

# (input, weight, stride, padding, dilation, groups)
SETTINGS = (
    ((2, 2, 5), (3, 2, 3), (1,), (0,), (1,), 1),
    ((1, 2, 4, 5), (2, 1, 2, 3), (2, 1), (1, 1), (1, 2), 2),
    ((2, 4, 3, 3), (3, 4, 1, 1), (1, 1), (0, 0), (1, 1), 1),
    ((1, 3, 4, 4), (6, 1, 3, 3), (1, 1), (1, 1), (1, 1), 3),
    ((1, 1, 3, 3, 4), (2, 1, 2, 2, 2), (1, 2, 1), (0, 1, 0), (1, 1, 1), 1),
)


def _places(setting: tuple) -> tuple[int, ...]:
    input, weight, stride, padding, dilation, _ = setting
    sizes = zip(input[2:], weight[2:], stride, padding, dilation, strict=True)
    return tuple((n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d in sizes)


def _convolution(op: object) -> list[Sample]:
    found = [call(t(s[0]), t(s[1], seed="w"), *s[2:]) for s in SETTINGS]
    for dtype in ("f32", "bf16"):
        found.append(call(t((1, 2, 4), dtype), t((2, 2, 2), dtype, seed="w"), (1,), (0,), (1,), 1))
    found += [call(t((0, 2, 4)), t((2, 2, 2)), (1,), (0,), (1,), 1)]
    found += [call(t((2, 2, 5), "f64", "transposed"), t((3, 2, 3)), (1,), (1,), (1,), 1)]
    found += [refused(t((2, 3, 5)), t((3, 2, 3)), (1,), (0,), (1,), 1)]
    found += [refused(t((2, 2, 2)), t((3, 2, 3)), (1,), (0,), (1,), 1)]
    return [*found, refused(t((2, 2, 5)), t((3, 2, 3), "f32"), (1,), (0,), (1,), 1)]


def _to_input(op: object) -> list[Sample]:
    found = []
    for s in SETTINGS:
        grad = t((s[0][0], s[1][0], *_places(s)), seed="g")
        found.append(call(grad, t(s[1], seed="w"), s[0][2:], *s[2:]))
    found += [refused(t((2, 2, 3)), t((3, 2, 3)), (5,), (1,), (0,), (1,), 1)]
    return found


def _to_weight(op: object) -> list[Sample]:
    found = []
    for s in SETTINGS:
        grad = t((s[0][0], s[1][0], *_places(s)), seed="g")
        found.append(call(grad, t(s[0]), s[1][2:], *s[2:]))
    return found


OWN = {
    "convolution": _convolution,
    "convolution_to_input": _to_input,
    "convolution_to_weight": _to_weight,
}
