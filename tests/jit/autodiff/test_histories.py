"""One node for a compiled program answers as the steps of the program would, one by one."""

import pytest

import minitorch2 as torch
from minitorch2.errors import GraphFreed, SavedTensorModified

BACKENDS = ("eager", "aot_eager", "interpreter", "numba")


def leaves():
    return torch.ones(3), torch.tensor([1.0, 2.0, 3.0], requires_grad=True)


def outcome(function, use):
    """The gradient, or the kind of error and its text without places."""
    x, w = leaves()
    try:
        use(function(x, w), w)
    except (GraphFreed, SavedTensorModified) as error:
        return type(error).__name__
    return w.grad.tolist()


def two_apart(x, w):
    return x * w, w.exp()


def two_over_one(x, w):
    y = w.exp()
    return y * x, y + x


def nothing_saved(x, w):
    return x + w, w - x


def some_of_each(x, w):
    y = w.sin()
    return y * w, x + w, (y + 1).cos(), x * w


def each(found, w):
    for tensor in found:
        tensor.sum().backward()


def first_twice(found, w):
    found[0].sum().backward()
    found[0].sum().backward()


def second_twice(found, w):
    found[1].sum().backward()
    found[0].sum().backward()
    found[1].sum().backward()


def together_then_apart(found, w):
    (found[0] + found[1]).sum().backward()
    found[1].sum().backward()


def retained(found, w):
    found[0].sum().backward(retain_graph=True)
    found[0].sum().backward()
    found[1].sum().backward()


def of_gradients(found, w):
    (grad,) = torch.autograd.grad(found[0].sum(), w, create_graph=True)
    (grad.sum() + found[1].sum()).backward()


USES = [each, first_twice, second_twice, together_then_apart, retained, of_gradients]
PROGRAMS = [two_apart, two_over_one, nothing_saved, some_of_each]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.__name__)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_backwards_of_several_outputs(program, use, backend):
    found, wanted = (outcome(f, use) for f in (torch.compile(program, backend=backend), program))
    same = isinstance(wanted, str) or isinstance(found, str)
    assert found == (wanted if same else pytest.approx(wanted, 1e-6))


def writes_a_result(x, w):
    y = w.exp()
    y.mul_(2)
    return y


def writes_an_operand(x, w):
    y = x * 1
    z = y * w
    y.add_(1)
    return z


def writes_an_input(x, w):
    z = x * w
    x.mul_(2)
    return z


def writes_through_a_view(x, w):
    y = x * 1
    z = y * w
    y[0] = 5
    return z


def writes_what_is_not_read(x, w):
    y = w * 3
    z = y + x
    y.mul_(2)
    return z + y


def writes_what_one_output_reads(x, w):
    y = x * 1
    z = y * w
    y.add_(1)
    return w * 2, z


WRITES = [writes_a_result, writes_an_operand, writes_an_input, writes_through_a_view,
          writes_what_is_not_read]  # fmt: skip


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("program", WRITES, ids=lambda program: program.__name__)
def test_saved_tensors_that_the_program_writes(program, backend):
    wanted = outcome(program, lambda found, w: found.sum().backward())
    assert (wanted == "SavedTensorModified") == (program is not writes_what_is_not_read)
    compiled = torch.compile(program, backend=backend, fullgraph=True)
    for _ in range(2):
        assert outcome(compiled, lambda found, w: found.sum().backward()) == wanted


@pytest.mark.parametrize("backend", BACKENDS)
def test_only_the_output_that_reads_it_is_refused(backend):
    compiled = torch.compile(writes_what_one_output_reads, backend=backend)
    for place in (0, 1):

        def use(found, w, place=place):
            found[place].sum().backward()

        assert outcome(compiled, use) == outcome(writes_what_one_output_reads, use)


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_input_that_is_written_after_the_call(backend):
    def use(x, y, w):
        x.mul_(2)
        y.sum().backward()

    for function in (lambda x, w: x * w, torch.compile(lambda x, w: x * w, backend=backend)):
        x, w = leaves()
        with pytest.raises(SavedTensorModified):
            use(x, function(x, w), w)
