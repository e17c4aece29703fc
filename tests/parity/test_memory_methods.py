"""Methods about memory and small methods made of others: the same programs in torch and here."""

from typing import Any

import numpy
import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402


def resized(t: Any) -> Any:
    x = t.arange(6)
    x.resize_(2, 2)
    y = t.arange(4).resize_as_(x)
    z = t.arange(3)
    z.resize_(2, 3).zero_()
    return x, y, z, t.arange(3).resize_([3])


def grown_under_views(t: Any) -> Any:
    x = t.arange(4.0)
    view = x[1:3]
    x.resize_(5)
    view.fill_(7)
    return x[:4], view


def set_to_others(t: Any) -> Any:
    x, y = t.zeros(2), t.arange(4.0)
    x.set_(y)
    x[0] = 9
    z = t.zeros(1).set_(y.untyped_storage(), 1, (3,), (1,))
    w = t.zeros(1)
    w.set_()
    return x, y, z, w, x.is_set_to(y), z.is_set_to(y), x.is_same_size(y)


def storages(t: Any) -> Any:
    x = t.arange(4, dtype=t.int16)
    memory = x.untyped_storage()
    memory[0] = 5
    other = memory.clone().fill_(1)
    x[2:].untyped_storage().copy_(other)
    same = x[1:].untyped_storage().data_ptr() == memory.data_ptr()
    return x, memory.nbytes(), len(memory), memory.tolist(), memory[1:3].tolist(), same


def diagonals(t: Any) -> Any:
    shapes = [(7, 3), (5, 3), (3, 5), (4, 3), (4, 4), (9, 2)]
    wrapped = [t.zeros(*shape).fill_diagonal_(1.5, wrap=True) for shape in shapes]
    turned = t.zeros(3, 5).t().fill_diagonal_(2)
    return *wrapped, turned, t.zeros(2, 2, 2).fill_diagonal_(3)


def diagonal_errors(t: Any) -> Any:
    return t.zeros(2, 3, 2).fill_diagonal_(1)


def diagonal_of_a_vector(t: Any) -> Any:
    return t.zeros(3).fill_diagonal_(1)


def diagonal_gradient(t: Any) -> Any:
    x = t.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 2
    y.fill_diagonal_(0)
    (y * t.arange(6.0).reshape(2, 3)).sum().backward()
    return y.detach(), x.grad


def mapped(t: Any) -> Any:
    x = t.arange(3.0)
    x.apply_(lambda value: value * 2 + 1)
    x.map_(t.tensor([1.0, 2.0, 3.0]), lambda a, b: a - b)
    return x


def mapped_with_gradient(t: Any) -> Any:
    return t.ones(2, requires_grad=True).apply_(float)


def facts(t: Any) -> Any:
    x = t.zeros(2, 3).t()
    return (
        x.dim_order(),
        x.is_cpu,
        x.is_signed(),
        t.zeros(1, dtype=t.uint8).is_signed(),
        x.get_device(),
        x.is_pinned(),
        x.is_quantized,
        x.is_nested,
        x.is_inference(),
        t.typename(x),
        t.typename(3),
        t.is_nonzero(t.tensor([0.0])),
    )


def contained(t: Any) -> Any:
    x = t.tensor([[1, 2], [3, 4]])
    return 3 in x, 5 in x, 2.0 in x, t.tensor([2, 9]) in x, t.tensor(3) in x


def contained_text(t: Any) -> Any:
    return "a" in t.ones(2)


def older_names(t: Any) -> Any:
    with t.cuda.amp.autocast(enabled=False):
        x = t.nn.init.constant_(t.empty(2), 3)
    scaler = t.cuda.amp.GradScaler(enabled=False)
    return x, scaler.scale(x), scaler.is_enabled()


def retained(t: Any) -> Any:
    x = t.ones(2, requires_grad=True)
    y = x * 2
    before = y.retains_grad
    y.retain_grad()
    return before, y.retains_grad, x.retains_grad


def functions_in_place(t: Any) -> Any:
    x = t.tensor([0.5, -0.25])
    return t.sin_(x.clone()), t.square_(x.clone()), t.clamp_(x.clone(), 0, 1), t.zero_(x.clone())


def strided(t: Any) -> Any:
    x = t.empty_strided((2, 3), (1, 2), dtype=t.float64).zero_()
    y = t.ones(2).new_empty_strided((2, 2), (1, 2)).fill_(1)
    z = t.arange(6.0)
    z.as_strided_((2, 2), (3, 1))
    return x, x.stride(), y, z


def parts(t: Any) -> Any:
    x = t.arange(6)
    return (*x.split_with_sizes([2, 4]), x.where(x > 2, t.tensor(-1)), x.isclose(x))


def buffers(t: Any) -> Any:
    memory = bytearray(range(8))
    x = t.frombuffer(memory, dtype=t.int16, count=2, offset=2)
    x[0] = 0
    return x, bytes(memory), t.frombuffer(memory, dtype=t.uint8)[:3]


def buffer_too_short(t: Any) -> Any:
    return t.frombuffer(bytearray(7), dtype=t.int32)


def arrays(t: Any) -> Any:
    array = numpy.arange(3.0)
    shared, copied = t.asarray(array), t.asarray(array, copy=True)
    array[0] = 7
    back = numpy.from_dlpack(t.ones(2, 2))
    taken = t.from_dlpack(numpy.arange(3))
    capsule = t.from_dlpack(t.utils.dlpack.to_dlpack(t.ones(2)))
    made = t.asarray([1, 2]), t.asarray(t.ones(2), dtype=t.float64)
    return shared, copied, *made, back, taken, capsule


def not_aliased(t: Any) -> Any:
    return t.asarray([1, 2], copy=False)


def scalars(t: Any) -> Any:
    return t.scalar_tensor(2), t.scalar_tensor(2, dtype=t.int64)


def forked_generator(t: Any) -> Any:
    t.manual_seed(3)
    with t.random.fork_rng():
        inside = t.rand(2)
    return bool((inside == t.rand(2)).all())


def printed(t: Any) -> Any:
    x = t.arange(20.0).reshape(4, 5) / 7
    texts = []
    try:
        t.set_printoptions(precision=2, sci_mode=True)
        texts.append(repr(x))
        t.set_printoptions(profile="short")
        texts.append(repr(t.arange(2000)))
        t.set_printoptions(profile="default", linewidth=40)
        texts.append(repr(x))
        t.set_printoptions(threshold=5, edgeitems=1)
        texts.append(repr(x))
    finally:
        t.set_printoptions(profile="default")
    return texts


def sizes_given(t: Any) -> Any:
    written = t.empty(0)
    t.ones(3, out=written)
    drawn = t.empty(1, dtype=t.float64)
    t.rand(2, out=drawn)
    shapes = [f.shape for f in (t.zeros(2, 3), t.zeros((2, 3)), t.zeros(size=(2,)), t.zeros(()))]
    unborn = [f(2, device="meta") for f in (t.zeros, t.rand, t.randn)] + [
        t.rand_like(written, device="meta"),
        t.randint(0, 5, (2,), device="meta"),
    ]
    triangles = [
        function(rows, columns, offset, dtype=t.int32)
        for function in (t.tril_indices, t.triu_indices)
        for rows, columns, offset in ((3, 4, 0), (3, 2, 1), (2, 4, -1), (0, 2, 0))
    ]
    like = t.randint_like(t.zeros(2, 2, dtype=t.int16), 3)
    facts = [(str(each.dtype), tuple(each.shape), str(each.device)) for each in unborn]
    return (
        written,
        tuple(drawn.shape),
        list(map(tuple, shapes)),
        facts,
        triangles,
        like.dtype == t.int16,
    )


def unknown_keyword(t: Any) -> Any:
    return t.zeros(2, bogus=1)


def no_size(t: Any) -> Any:
    return t.ones()


def other_dtype_than_written(t: Any) -> Any:
    return t.zeros(2, out=t.empty(2), dtype=t.int32)


def settings(t: Any) -> Any:
    t.use_deterministic_algorithms(True, warn_only=True)
    found = (
        t.are_deterministic_algorithms_enabled(),
        t.is_deterministic_algorithms_warn_only_enabled(),
        t.get_deterministic_debug_mode(),
    )
    t.set_deterministic_debug_mode("default")
    t.set_default_tensor_type(t.DoubleTensor)
    double = t.zeros(1).dtype
    t.set_default_tensor_type("torch.FloatTensor")
    return *found, t.get_deterministic_debug_mode(), str(double), str(t.zeros(1).dtype)


def fused_normalization(t: Any) -> Any:
    conv, norm = t.nn.Conv2d(2, 3, 3), t.nn.BatchNorm2d(3)
    with t.no_grad():
        for at, each in enumerate([*conv.parameters(), *norm.parameters(), *norm.buffers()]):
            if each.is_floating_point():
                each.copy_((t.arange(each.numel(), dtype=t.float32).reshape(each.shape) + at) / 50)
    fused = t.nn.utils.fuse_conv_bn_eval(conv.eval(), norm.eval())
    x = t.arange(2 * 25.0).reshape(1, 2, 5, 5) / 25
    return fused(x), (fused(x) - norm(conv(x))).abs().max() < 1e-5


def fused_in_training(t: Any) -> Any:
    return t.nn.utils.fuse_conv_bn_eval(t.nn.Conv2d(1, 1, 1), t.nn.BatchNorm2d(1))


def distributed_samples(t: Any) -> Any:
    kind = t.utils.data.distributed.DistributedSampler
    parts = []
    for drop in (False, True):
        for rank in range(3):
            made = kind(range(8), num_replicas=3, rank=rank, shuffle=False, drop_last=drop)
            parts.append((list(made), len(made)))
    shuffled = [i for rank in range(2) for i in kind(range(4), num_replicas=2, rank=rank)]
    return parts, sorted(shuffled)


PROGRAMS = [
    resized,
    set_to_others,
    storages,
    diagonals,
    diagonal_gradient,
    mapped,
    contained,
    facts,
    retained,
    functions_in_place,
    strided,
    parts,
    buffers,
    arrays,
    scalars,
    forked_generator,
    printed,
    settings,
    sizes_given,
    fused_normalization,
    distributed_samples,
]
REFUSED = [
    diagonal_errors,
    diagonal_of_a_vector,
    contained_text,
    no_size,
    mapped_with_gradient,
    buffer_too_short,
    not_aliased,
    fused_in_training,
]


def plain(value: Any) -> Any:
    """Tensors and arrays as (dtype, shape, elements), nested values as they are."""
    if hasattr(value, "detach"):
        text = [format(each, ".5g") for each in value.detach().reshape(-1).tolist()]
        return str(value.dtype), tuple(value.shape), text
    if isinstance(value, numpy.ndarray):
        return str(value.dtype), value.tolist()
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    return value


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_same(program):
    assert plain(program(minitorch2)) == plain(program(torch))


@pytest.mark.filterwarnings("ignore:`torch.cuda.amp")
def test_older_names():
    assert plain(older_names(minitorch2)) == plain(older_names(torch))


def test_views_keep_their_memory_when_the_base_grows():
    grown, view = grown_under_views(minitorch2)
    assert grown.tolist() == [0, 7, 7, 3]
    assert view.tolist() == [7, 7]


@pytest.mark.parametrize("program", REFUSED, ids=lambda program: program.__name__)
def test_both_refuse(program):
    with pytest.raises((RuntimeError, ValueError, TypeError, AssertionError)) as theirs:
        program(torch)
    with pytest.raises(minitorch2.errors.Mt2Error) as ours:
        program(minitorch2)
    wrong = str(theirs.value).split("\n")[0].split(".")[0]
    assert wrong and wrong[:30].lower() in str(ours.value).lower()


def test_unknown_keywords_and_absent_devices_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'bogus'"):
        unknown_keyword(minitorch2)
    for library in (torch, minitorch2):
        with pytest.raises(RuntimeError, match="does not match dtype of out"):
            other_dtype_than_written(library)
    for function in (minitorch2.rand, minitorch2.randn, minitorch2.zeros):
        with pytest.raises(RuntimeError, match="CPU only"):
            function(2, device="cuda")
    with pytest.raises(RuntimeError, match="CPU only"):
        minitorch2.randn_like(minitorch2.ones(2), device="cuda")
