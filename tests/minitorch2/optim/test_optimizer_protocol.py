"""Optimizers: their groups, hooks, states and errors."""

import copy

import pytest

import minitorch2 as torch
from minitorch2 import optim
from minitorch2.optim import optimizer as module


def parameter(*sizes):
    return torch.nn.Parameter(torch.ones(*(sizes or (2,))))


def with_gradient(*sizes):
    p = parameter(*sizes)
    p.grad = torch.ones_like(p)
    return p


# ---- groups -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "group, error, text",
    [
        ([1], TypeError, "param_group must be a dict"),
        ({"params": [1]}, TypeError, "can only optimize Tensors"),
        ({"params": {parameter()}}, TypeError, "ordered collections"),
        ({"params": [parameter() * 2]}, ValueError, "non-leaf"),
        ({"params": [("a", parameter()), parameter()]}, ValueError, "names are missing"),
        ({"params": [("a", parameter())]}, ValueError, "groups should be with/without names"),
    ],
)
def test_groups_that_are_refused(group, error, text):
    optimizer = optim.SGD([parameter()])
    with pytest.raises(error, match=text):
        optimizer.add_param_group(group)


def test_a_parameter_is_in_one_place():
    p = parameter()
    with pytest.raises(ValueError, match="more than one parameter group"):
        optim.SGD([{"params": [p]}, {"params": [p]}])
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p])


def test_settings_that_each_group_gives():
    class Plain(optim.Optimizer):
        def __init__(self, params, lr=module.required):
            super().__init__(params, {"lr": lr})

    with pytest.raises(ValueError, match="required optimization parameter lr"):
        Plain([parameter()])
    assert Plain([{"params": [parameter()], "lr": 1}]).param_groups[0]["lr"] == 1


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda p: optim.SGD(p, lr=torch.ones(2)), "Tensor lr must be 1-element"),
        (lambda p: optim.Adam(p, lr=torch.ones(()), foreach=True), "capturable=False and foreach"),
        (lambda p: optim.Adam(p, betas=(torch.ones(()), 0.9)), "both floats or both Tensors"),
        (lambda p: optim.Adam(p, betas=(1.0, 0.9)), "Invalid beta parameter at index 0: 1.0"),
        (lambda p: optim.SGD(p, lr=-1.0), "Invalid learning rate: -1.0"),
        (lambda p: optim.Rprop(p, etas=(1.0, 0.5)), "Invalid eta values: 1.0, 0.5"),
        (lambda p: optim.NAdam(p, momentum_decay=-1.0), "Invalid momentum_decay value"),
        (lambda p: optim.Adafactor(p, d=0.5), "Clipping threshold d should be >= 1"),
    ],
)
def test_settings_that_are_refused(make, text):
    with pytest.raises(ValueError, match=text):
        make([parameter()])
    with pytest.raises(RuntimeError, match="cannot be `True` together"):
        optim.SGD([parameter()], fused=True, foreach=True)


# ---- hooks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["SGD", "Adam", "LBFGS", "own"])
def test_hooks_around_every_step(kind):
    class Own(optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {})

        def step(self, closure=None):
            log.append("step")

    log = []
    p = with_gradient()
    optimizer = Own([p]) if kind == "own" else getattr(optim, kind)([p])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("after"))
    handles = [
        module.register_optimizer_step_pre_hook(lambda *args: log.append("before every")),
        module.register_optimizer_step_post_hook(lambda *args: log.append("after every")),
    ]
    optimizer.step(lambda: p.sum()) if kind == "LBFGS" else optimizer.step()
    for handle in handles:
        handle.remove()
    expected = ["before every", "before", "after", "after every"]
    assert [each for each in log if each != "step"] == expected


def test_hooks_before_a_step_may_change_its_arguments():
    optimizer = optim.SGD([with_gradient()])
    optimizer.register_step_pre_hook(lambda o, args, kwargs: ((lambda: 5,), kwargs))
    assert optimizer.step() == 5
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="None or a tuple of"):
        optimizer.step()


def test_hooks_around_states():
    log = []
    optimizer = optim.SGD([with_gradient()], momentum=0.9)
    optimizer.register_state_dict_pre_hook(lambda o: log.append("collect"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: log.append(state["more"]))
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded"))
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("first"), prepend=True)
    optimizer.load_state_dict(optimizer.state_dict())
    assert log == ["collect", 1, "first", "loaded"]


# ---- states -------------------------------------------------------------------------------------


def test_states_of_other_groups_are_refused():
    one, other = optim.SGD([parameter()]), optim.SGD([parameter(), parameter()])
    with pytest.raises(ValueError, match="doesn't match the size of optimizer's group"):
        one.load_state_dict(other.state_dict())
    other.add_param_group({"params": [parameter()]})
    with pytest.raises(ValueError, match="different number of parameter groups"):
        one.load_state_dict(other.state_dict())


def test_loading_leaves_the_given_state_alone_and_keeps_names():
    named = optim.SGD([("w", with_gradient())], momentum=0.9)
    plain = optim.SGD([with_gradient()], momentum=0.9)
    plain.step()
    state = plain.state_dict()
    named.load_state_dict(state)
    named.param_groups[0]["lr"] = 7
    assert state["param_groups"][0]["lr"] == 1e-3
    assert named.param_groups[0]["param_names"] == ["w"]


def test_copies_have_states_and_no_hooks():
    optimizer = optim.Adam([with_gradient()])
    optimizer.register_step_pre_hook(print)
    optimizer.step()
    other = copy.deepcopy(optimizer)
    assert not other._step_pre_hooks and len(other.state) == 1
    other.step()


def test_steps_that_are_differentiated():
    start = torch.ones(2, requires_grad=True)
    rate = torch.tensor(0.5, requires_grad=True)
    p = start.clone()
    optimizer = optim.SGD([p], lr=rate, differentiable=True)
    p.grad = p.detach() * 3
    optimizer.step()
    p.sum().backward()
    assert rate.grad.item() == -6.0 and start.grad.tolist() == [1.0, 1.0]


# ---- SparseAdam ---------------------------------------------------------------------------------


def test_sparse_adam_moves_what_has_gradients():
    dense, sparse = parameter(4, 2), parameter(4, 2)
    adam = optim.Adam([dense], lr=0.1)
    rows = optim.SparseAdam([sparse], lr=0.1)
    for _ in range(3):
        dense.grad = torch.zeros(4, 2)
        dense.grad[1] = 2.0
        sparse.grad = torch.sparse_coo_tensor(
            torch.tensor([[1, 1]]), torch.ones(2, 2), (4, 2)
        )  # twice one row: it is added up
        adam.step()
        rows.step()
    assert torch.allclose(sparse[1], dense[1], atol=1e-6)
    assert sparse[0].tolist() == [1.0, 1.0]
    sparse.grad = torch.ones(4, 2)
    with pytest.raises(RuntimeError, match="does not support dense gradients"):
        rows.step()
