"""Hooks on modules, on every module, on their state; paths into the tree."""

import copy
import io

import pytest

import minitorch2 as torch
from minitorch2 import nn
from minitorch2.nn import hooks


def test_hooks_around_the_state_of_a_module():
    log = []
    model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    model.register_state_dict_pre_hook(lambda *args: log.append(("before", args[1:])))
    model[0].register_state_dict_post_hook(
        lambda module, state, prefix, metadata: state.update({prefix + "more": 1})
    )
    model[1]._register_state_dict_hook(lambda module, state, prefix, metadata: {**state, "new": 2})
    state = model.state_dict()
    assert log == [("before", ("", False))] and state["0.more"] == 1
    assert list(state._metadata) == ["", "0", "1"]
    assert state._metadata["1"] == {"version": 2}
    model[0].register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        model.state_dict()


def test_hooks_around_loading():
    log = []
    model = nn.Sequential(nn.Linear(2, 2))
    state = model.state_dict()

    def before(module, state, prefix, metadata, strict, missing, unexpected, errors):
        log.append((type(module).__name__, prefix, metadata.get("version"), strict))
        state.pop("0.old", None)

    model[0].register_load_state_dict_pre_hook(before)
    model[0]._register_load_state_dict_pre_hook(lambda state, prefix, *rest: log.append(prefix))
    model.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    model.load_state_dict({"0.weight": state["0.weight"], "0.old": 3})
    del state["0.bias"]
    assert not model.load_state_dict(state, strict=False).missing_keys
    assert log == [("Linear", "0.", None, True), "0.", ("Linear", "0.", 1, True), "0."]
    model.register_load_state_dict_post_hook(lambda module, keys: keys)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        model.load_state_dict(state)


def test_the_version_of_a_state_is_saved_with_it():
    state = nn.BatchNorm1d(2).state_dict()
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    for again in (torch.load(file), copy.deepcopy(state)):
        assert again._metadata[""] == {"version": 2}


def test_hooks_on_every_module():
    log = []
    handles = [
        hooks.register_module_forward_pre_hook(lambda m, args: log.append(("before", m))),
        hooks.register_module_forward_hook(lambda m, args, out: log.append(("after", m))),
        hooks.register_module_full_backward_pre_hook(lambda m, out: log.append(("start", m))),
        hooks.register_module_full_backward_hook(lambda m, i, o: log.append(("end", m))),
    ]
    model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    try:
        model(torch.ones(1, 2, requires_grad=True)).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    whole, linear, tanh = model, model[0], model[1]
    forward = [("before", whole), ("before", linear), ("after", linear)]
    forward += [("before", tanh), ("after", tanh), ("after", whole)]
    backward = [("start", whole), ("start", tanh), ("end", tanh), ("start", linear)]
    assert log == forward + backward + [("end", linear), ("end", whole)]
    log.clear()
    model(torch.ones(1, 2))
    assert not log


def test_the_older_backward_hook_is_on_the_last_operation():
    seen = []
    layer = nn.Linear(2, 3)
    layer.register_backward_hook(lambda module, inputs, outputs: seen.append(outputs[0].shape))
    layer(torch.ones(4, 2)).sum().backward()
    assert seen == [(4, 3)]
    with pytest.raises(RuntimeError, match="both regular backward hooks and full"):
        layer.register_full_backward_hook(print)


@pytest.mark.parametrize(
    "register, hook, text",
    [
        ("register_full_backward_hook", lambda m, i, o: (i[0], i[0]), "number of grad_input"),
        ("register_full_backward_pre_hook", lambda m, o: (o[0], o[0]), "number of grad_output"),
    ],
)
def test_backward_hooks_return_as_many_gradients(register, hook, text):
    layer = nn.Linear(2, 3)
    getattr(layer, register)(hook)
    with pytest.raises(RuntimeError, match=text):
        layer(torch.ones(4, 2, requires_grad=True)).sum().backward()


def test_a_full_hook_without_gradients_of_inputs_is_warned_of():
    layer = nn.Linear(2, 3)
    layer.register_full_backward_hook(lambda module, inputs, outputs: None)
    out = layer(torch.ones(4, 2)).sum()
    with pytest.warns(UserWarning, match="no inputs require gradients"):
        out.backward()


def test_hooks_before_forward_return_pairs_when_they_see_keywords():
    layer = nn.Linear(2, 3)
    layer.register_forward_pre_hook(lambda m, args, kwargs: 3, with_kwargs=True)
    with pytest.raises(RuntimeError, match="None or a tuple of"):
        layer(torch.ones(1, 2))


def test_a_hook_that_always_runs_does_not_hide_the_first_error():
    class Fails(nn.Module):
        def forward(self, x):
            raise ValueError("first")

    def also_fails(module, args, output):
        raise KeyError("second")

    module = Fails()
    module.register_forward_hook(also_fails, always_call=True)
    with (
        pytest.warns(UserWarning, match="silenced as another error was raised"),
        pytest.raises(ValueError, match="first"),
    ):
        module(1)


def test_modules_are_put_at_paths():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    model.set_submodule("0.0", nn.Tanh())
    assert isinstance(model[0][0], nn.Tanh)
    with pytest.raises(AttributeError, match="has no attribute `5`"):
        model.set_submodule("0.5", nn.Tanh(), strict=True)
    with pytest.raises(ValueError, match="without a target name"):
        model.set_submodule("", nn.Tanh())


def test_several_bases_may_be_initialized():
    class Other:
        def __init__(self, value):
            self.value = value

    class Both(nn.Module, Other):
        call_super_init = True

    assert Both(3).value == 3
