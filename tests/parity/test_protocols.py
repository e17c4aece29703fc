"""Tensors, results and schedules as Python objects beside torch's: copies, names, states."""

import copy
import io
import pickle

import pytest

torch = pytest.importorskip("torch")

import minitorch2  # noqa: E402
from tests.parity.both import check, numbers, same  # noqa: E402

# ---- copies ------------------------------------------------------------------------------------


def shared(t, copied):
    """Three tensors of one memory, one of another, copied together; then one is written."""
    base = t.arange(6.0)
    whole = [base, base[1:4], base.view(2, 3).t(), {"a": base[::2]}, base.clone(), base.data]
    made = copied(whole)
    made[0][2] = 99
    made[2][0, 1] = -1
    strides = [each.stride() for each in (made[0], made[1], made[2], made[3]["a"])]
    return made, whole, strides, made[1].storage_offset(), made[1].untyped_storage().nbytes()


def saved(t):
    def copied(value):
        file = io.BytesIO()
        t.save(value, file)
        file.seek(0)
        return t.load(file)

    return copied


def tied(t):
    """Parameters that see one memory still do in a copy of their module."""
    layer = t.nn.Linear(2, 2)
    layer.weight.data = numbers(t, 2, 2)
    layer.row = t.nn.Parameter(layer.weight.data[0])
    layer.again = layer.weight
    made = copy.deepcopy(layer)
    with t.no_grad():
        made.weight.fill_(7)
    return made.row, made.again, layer.row, made.again is made.weight


def with_gradients(t):
    x = numbers(t, 3).requires_grad_()
    (x * 2).sum().backward()
    x.note = [1, 2]
    made = copy.deepcopy(x)
    made.grad[0] = 5
    made.note.append(3)
    return made, made.grad, x.grad, x.note, made.is_leaf


def with_history(t):
    return copy.deepcopy(numbers(t, 3).requires_grad_() * 2)


def in_a_module(t):
    """Buffers that are views of one another, and what is no tensor."""
    made = t.nn.Module()
    made.register_buffer("a", t.arange(4.0))
    made.register_buffer("b", made.a[:2], persistent=False)
    other = copy.deepcopy(made)
    other.a[0] = 9
    return other.b, made.b, list(other.state_dict())


@pytest.mark.parametrize("how", ["deepcopy", "save"])
def test_memory_stays_shared(how):
    """Copies of tensors that shared memory share one copy of it."""
    check(lambda t: shared(t, copy.deepcopy if how == "deepcopy" else saved(t)))


@pytest.mark.parametrize("program", [tied, with_gradients, with_history, in_a_module])
def test_copies(program):
    """The same copies as torch's, or the same refusals."""
    check(program)


# ---- results with names ------------------------------------------------------------------------

MATRIX = [[2.0, 1.0], [1.0, 3.0]]
ALONG = ("max", "min", "sort", "median", "nanmedian", "mode", "cummax", "cummin", "aminmax")
FACTORS = (
    "qr", "svd", "eigh", "eig", "slogdet", "lu", "lu_factor", "lu_factor_ex", "inv_ex",
    "cholesky_ex", "ldl_factor", "ldl_factor_ex",
)  # fmt: skip


def along(name):
    return lambda t: getattr(t, name)(t.tensor(MATRIX), dim=1)


def factors(name):
    return lambda t: getattr(t.linalg, name)(t.tensor(MATRIX))


NAMED = {
    **{name: along(name) for name in ALONG},
    "topk": lambda t: t.topk(t.tensor(MATRIX), 1),
    "kthvalue": lambda t: t.kthvalue(t.tensor(MATRIX), 1),
    "frexp": lambda t: t.frexp(t.tensor(MATRIX)),
    "histogram": lambda t: t.histogram(t.tensor(MATRIX), 2),
    "qr": lambda t: t.qr(t.tensor(MATRIX)),
    "svd": lambda t: t.svd(t.tensor(MATRIX)),
    "lu_unpack": lambda t: t.lu_unpack(*t.linalg.lu_factor(t.tensor(MATRIX))),
    "triangular_solve": lambda t: t.triangular_solve(t.eye(2), t.tensor(MATRIX)),
    "lstsq": lambda t: t.linalg.lstsq(t.tensor(MATRIX), t.eye(2)),
    "solve_ex": lambda t: t.linalg.solve_ex(t.tensor(MATRIX), t.eye(2)),
    **{f"linalg.{name}": factors(name) for name in FACTORS},
}  # fmt: skip


@pytest.mark.parametrize("name", NAMED)
def test_names(name):
    """Their class, how they print, their fields, and that pickle knows them."""

    def program(t):
        found = NAMED[name](t)
        kind = type(found)
        fields = [each for each in dir(kind) if not each.startswith("_") and each != "all_return"]
        again = pickle.loads(pickle.dumps(found))
        rebuilt = kind(list(found))
        facts = kind.__name__, kind.__module__, repr(kind), fields, found.n_fields
        counts = found.n_sequence_fields, found.n_unnamed_fields, repr(found[0:1]), len(found)
        mapped = t.utils._pytree.tree_map(lambda each: each.shape, found)
        same = [repr(found) == repr(each) for each in (again, rebuilt)]
        return facts, counts, same, tuple(found), type(mapped).__name__, type(found + ()).__name__

    check(program)


@pytest.mark.parametrize("parts", [((1, 2),), ((1,),), ((1, 2, 3),), (5,)])
def test_made_by_hand(parts):
    """return_types.max((1, 2)); not of another number of results."""
    check(lambda t: repr(t.return_types.max(*parts)))


# ---- schedules ---------------------------------------------------------------------------------


class Scale:
    """A function of the cycle that keeps something."""

    def __init__(self):
        self.factor = 0.5

    def __call__(self, cycle):
        return self.factor


SCHEDULES = {
    "one": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=10),
    "one_phases": lambda s, o: s.OneCycleLR(
        o, [0.5, 0.2], epochs=2, steps_per_epoch=10, three_phase=True, anneal_strategy="linear"
    ),
    "one_without": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=10, cycle_momentum=False),
    "cycle": lambda s, o: s.CyclicLR(o, 0.1, 0.2, step_size_up=3),
    "cycle_each": lambda s, o: s.CyclicLR(
        o, [0.1, 0.05], [0.2, 0.3], 3, base_momentum=[0.1, 0.2], max_momentum=[0.5, 0.6]
    ),
    "cycle_function": lambda s, o: s.CyclicLR(o, 0.1, 0.2, 3, scale_fn=lambda x: 1 / (x + 1)),
    "cycle_object": lambda s, o: s.CyclicLR(o, 0.1, 0.2, 3, scale_fn=Scale()),
    "cycle_range": lambda s, o: s.CyclicLR(o, 0.1, 0.2, 3, mode="exp_range", gamma=0.9),
    "plateau": lambda s, o: s.ReduceLROnPlateau(o, patience=1, cooldown=1),
    "plateau_max": lambda s, o: s.ReduceLROnPlateau(o, "max", min_lr=[0.05, 0.02], patience=0),
    "restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, 2),
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 0.5**e]),
    "lambda_object": lambda s, o: s.LambdaLR(o, [Scale(), lambda e: 1.0]),
    "product": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.9),
    "steps": lambda s, o: s.StepLR(o, 2),
    "milestones": lambda s, o: s.MultiStepLR(o, [2, 4]),
    "constant": lambda s, o: s.ConstantLR(o),
    "line": lambda s, o: s.LinearLR(o),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.9),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5),
    "polynomial": lambda s, o: s.PolynomialLR(o),
    "sequence": lambda s, o: s.SequentialLR(o, [s.ConstantLR(o), s.ExponentialLR(o, 0.9)], [2]),
    "chain": lambda s, o: s.ChainedScheduler([s.ConstantLR(o), s.ExponentialLR(o, 0.9)]),
}


def plain(value):
    """A state with what is neither number nor text named by its class."""
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    is_plain = value is None or isinstance(value, (int, float, str))
    return value if is_plain else type(value).__name__


def scheduled(t, name, steps, state=None, kind="SGD"):
    """The states of a schedule after some steps; from another's state when one is given."""
    a, b = t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(3))
    options = {"momentum": 0.9} if kind == "SGD" else {}
    optimizer = getattr(t.optim, kind)(
        [{"params": [a]}, {"params": [b], "lr": 0.2}], 0.1, **options
    )
    schedule = SCHEDULES[name](t.optim.lr_scheduler, optimizer)
    if state is not None:
        schedule.load_state_dict(state)
    found = []
    for step in range(steps):
        optimizer.step()
        schedule.step(*([float(step % 4)] if "plateau" in name else []))
        rates = [group["lr"] for group in optimizer.param_groups]
        found.append((plain(schedule.state_dict()), rates))
    groups = [{k: plain(v) for k, v in g.items() if k != "params"} for g in optimizer.param_groups]
    return found, [dict(sorted(group.items())) for group in groups], schedule.state_dict()


@pytest.mark.parametrize("kind", ["SGD", "AdamW"])
@pytest.mark.parametrize("name", SCHEDULES)
def test_states_of_schedules(name, kind):
    """Keys in torch's order, with torch's values, and the keys of the parameter groups."""
    check(lambda t: scheduled(t, name, 6, kind=kind)[:2])


@pytest.mark.parametrize("name", SCHEDULES)
def test_torch_state_is_read(name):
    """What torch saved goes on here as it does there."""
    theirs = scheduled(torch, name, 4)[2]
    wanted = scheduled(torch, name, 4, copy.deepcopy(theirs))[0]
    same(scheduled(minitorch2, name, 4, theirs)[0], wanted)


# ---- refusals by their class --------------------------------------------------------------------

REFUSED = {
    "sizes": lambda t: t.utils.data.TensorDataset(t.ones(2), t.ones(3)),
    "empty file": lambda t: t.load(io.BytesIO(b"")),
    "float times": lambda t: t.ones(2) * 10**20,
    "times float": lambda t: 10**20 * t.ones(2),
    "integer plus": lambda t: t.ones(2, dtype=t.int64) + 2**64,
    "less": lambda t: t.ones(2) < -(10**20),
    "power": lambda t: t.ones(2) ** 10**20,
    "written": lambda t: t.ones(2).add_(10**20),
    "strided": lambda t: t.ones(2, 2).t() * 10**20,
    "recorded": lambda t: t.ones(2, requires_grad=True) * 10**20,
    "filled": lambda t: t.full((2,), 10**20),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name):
    """`except` clauses written for torch's class catch ours."""
    kinds = []
    for library in (torch, minitorch2):
        with pytest.raises(Exception) as caught:  # noqa: PT011
            REFUSED[name](library)
        kinds.append(caught.value)
    assert isinstance(kinds[1], type(kinds[0]))


def test_results_have_the_names_that_torch_gives_them():
    """Those of rows are in their signatures, the others in a list; none is ours alone."""
    ours = minitorch2.return_types.TYPES
    assert {"sort", "topk", "linalg_svd", "max"} <= set(ours) and len(ours) > 30
    for name, made in ours.items():
        assert made._fields == getattr(torch.return_types, name).__match_args__, name
    assert minitorch2.return_types.all_return_types == list(ours.values())
