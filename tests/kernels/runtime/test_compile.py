"""Kernels compile once, take every kind of argument, and do what their plain twin does."""

import numpy as np
import pytest

from minitorch2.config import config
from minitorch2.kernels.runtime import cache, compile
from minitorch2.kernels.runtime.build import build_object
from minitorch2.kernels.runtime.compile import canonical, compile_kernel, kernel_key, plain_kernel
from minitorch2.kernels.runtime.signature import KernelFailure, KernelSignature, KernelStatus
from minitorch2.kernels.runtime.translate import KernelSourceError
from minitorch2.kernels.vecmath.primitives import DTYPES

pytestmark = pytest.mark.numba

SCALE = """
def scale(lo, hi, x, y, s0, factor, offset, positive, status):
    for i in range(lo, hi):  # digits.py:12
        v = x[i * s0] * factor + f64(offset)
        y[i] = select(positive, absolute(v), v)
"""
SCALE_SIGNATURE = KernelSignature(("f64", "f64"), sizes=1, scalars=("f64", "i64", "bool"))
GATHER = """
def gather(lo, hi, index, x, y, n, status):
    for i in range(lo, hi):
        j = index[i]
        if (j < i64(0)) | (j >= i64(n)):
            status[u64(0)] = i64(1)
            status[u64(1)] = j
            return
        y[i] = x[u64(j)]
"""
BAD = "def bad(lo, hi, x, status):\n    x[lo] = nothing(x[lo])\n"
GATHER_SIGNATURE = KernelSignature(("i64", "f32", "f32"), sizes=1)


def run_both(source, signature, total, arrays, sizes=(), scalars=()):
    """Run the compiled kernel and the plain one, and return what each wrote to the last array."""
    results = []
    for launch in (compile_kernel(source, signature).launch, plain_kernel(source)):
        copies = [array.copy() for array in arrays]
        launch(total, copies, sizes, scalars)
        results.append(copies[-1])
    return results


def test_sizes_and_scalars_arrive():
    x, y = np.arange(-50.0, 50.0), np.zeros(50)
    got, plain = run_both(SCALE, SCALE_SIGNATURE, 50, (x, y), (2,), (1.5, -3, True))
    assert (got == np.abs(x[::2] * 1.5 - 3)).all()
    assert (got == plain).all()
    assert run_both(SCALE, SCALE_SIGNATURE, 50, (x, y), (2,), (1.5, -3, False))[0].min() < 0


@pytest.mark.parametrize("short", ["f32", "f64", "i64", "i32", "i16", "i8", "u8", "bool"])
def test_every_dtype_is_loaded_and_stored(short):
    source = "def copy(lo, hi, x, y, a, status):\n"
    source += "    for i in range(lo, hi):\n        y[i] = select(x[i] == a, x[i], a)\n"
    x = np.arange(100).astype(DTYPES[short])
    got, plain = run_both(
        source, KernelSignature((short,) * 2, scalars=(short,)), 100, (x, np.zeros_like(x)), (),
        (x.dtype.type(1),),
    )  # fmt: skip
    assert (got == 1).all() and (plain == 1).all()


def test_sixteen_bit_floats_are_widened_and_narrowed():
    source = "def double(lo, hi, x, y, status):\n    for i in range(lo, hi):\n"
    source += "        y[i] = narrow_f16(widen_f16(x[i]) * f32(2.0))\n"
    x = np.linspace(-3, 3, 100).astype(np.float16)
    y = np.zeros_like(x)
    kernel = compile_kernel(source, KernelSignature(("f16", "f16")))
    kernel.launch(100, (x, y))
    assert (y == x * 2).all()


def test_local_arrays_and_accumulators():
    source = """
def sums(lo, hi, x, y, s0, status):
    lanes = local_f32(8)
    for i in range(lo, hi):
        for k in range(u64(8)):
            lanes[k] = f32(0.0)
        for j in range(udiv(s0, u64(8))):
            for k in range(u64(8)):
                lanes[k] = lanes[k] + x[i * s0 + j * u64(8) + k]
        total = f32(0.0)
        for k in range(u64(8)):
            total = total + lanes[k]
        y[i] = total
"""
    x = np.random.default_rng(0).normal(size=(10, 64)).astype(np.float32)
    signature = KernelSignature(("f32", "f32"), sizes=1, grain=1)
    got, plain = run_both(source, signature, 10, (x.ravel(), np.zeros(10, np.float32)), (64,))
    assert (got == plain).all()
    assert np.allclose(got, x.sum(1), atol=1e-5)


def test_the_status_of_the_first_failing_chunk_is_raised():
    index = np.zeros(200_000, np.int64)
    index[[70_000, 150_000]] = 7, 9
    x, y = np.ones(5, np.float32), np.zeros(200_000, np.float32)
    for launch in (compile_kernel(GATHER, GATHER_SIGNATURE).launch, plain_kernel(GATHER)):
        with pytest.raises(KernelFailure) as failure:
            launch(index.size, (index, x, y), (5,))
        assert (failure.value.code, failure.value.index) == (KernelStatus.INDEX, 7)
    assert (y[:70_000] == 1).all() and y[70_000] == 0


def test_names_and_comments_do_not_count():
    renamed = SCALE.replace("def scale(", "def kernel_7(").replace("digits.py:12", "other.py:3")
    assert canonical(renamed) == canonical(SCALE)
    assert compile_kernel(renamed, SCALE_SIGNATURE) is compile_kernel(SCALE, SCALE_SIGNATURE)


def test_the_key_depends_on_text_and_signature():
    keys = {
        kernel_key(SCALE, SCALE_SIGNATURE),
        kernel_key(SCALE.replace("absolute", "negative"), SCALE_SIGNATURE),
        kernel_key(SCALE, KernelSignature(("f64", "f64"), 1, ("f64", "i64", "bool"), False)),
        kernel_key(SCALE, KernelSignature(("f64", "f64"), 1, ("f64", "i64", "i64"))),
    }
    assert len(keys) == 4


@pytest.mark.parametrize("level", [0, 1])
def test_a_lower_level_gives_the_same_bits_by_another_kernel(monkeypatch, level):
    source = "def kernel(lo, hi, x, y, status):\n    for i in range(lo, hi):\n"
    source += "        y[i] = tanh(x[i]) * exp(x[i]) + sin(x[i]) / x[i]\n"
    signature = KernelSignature(arrays=("f32", "f32"))
    x = np.linspace(-9, 9, 1001, dtype=np.float32)
    usual, other = np.empty_like(x), np.empty_like(x)
    full = compile_kernel(source, signature)
    full.launch(x.size, (x, usual))
    monkeypatch.setattr(config, "kernel_level", level)
    quick = compile_kernel(source, signature)
    quick.launch(x.size, (x, other))
    assert quick.key != full.key and usual.tobytes() == other.tobytes()


def test_a_source_that_does_not_type_says_so():
    source = "def bad(lo, hi, x, status):\n    for i in range(lo, hi):\n"
    source += "        x[i] = fma(x[i], f64(1.0), x[i])\n"
    with pytest.raises(KernelSourceError, match="cast the arguments first"):
        compile_kernel(source, KernelSignature(("f32",)))


def test_an_empty_range_runs_nothing():
    y = np.ones(1)
    compile_kernel(SCALE, SCALE_SIGNATURE).launch(0, (y, y), (1,), (0.0, 0, False))
    assert y[0] == 1


def test_it_prints_as_its_signature():
    assert "arrays(f64,f64) sizes(1)" in repr(compile_kernel(SCALE, SCALE_SIGNATURE))


def test_several_kernels_compile_side_by_side(monkeypatch, tmp_path):
    monkeypatch.setattr(config, "threads", 4)
    monkeypatch.setattr(compile, "_kernels", {})
    monkeypatch.setenv("MT2_CACHE_DIR", str(tmp_path / "together"))
    requests = [
        (SCALE.replace("offset)", f"offset) + f64({n})"), SCALE_SIGNATURE) for n in range(8)
    ]
    held = compile.compile_kernels([*requests, requests[0]])
    assert len(compile._kernels) == len(held) == 8
    for source, signature in requests:
        key = kernel_key(source, signature)
        assert compile._kernels[key] is compile_kernel(source, signature)
        assert cache.load(key) == build_object(source, signature, compile.symbol_of(key))
    with pytest.raises(KernelSourceError, match="nothing is no helper"):
        compile.compile_kernels([(GATHER, GATHER_SIGNATURE), (BAD, KernelSignature(("f32",)))])
