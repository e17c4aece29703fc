"""Recurrent layers: RNN, LSTM, GRU, and the cells that take one step.

In: input [T, N, input_size] (or with the batch first, or without it) and first states. Out: the
last layer's states at every step, and every layer's last states.

The products with the inputs need no previous state, so they are made for all steps at once.

Source: Hochreiter & Schmidhuber 1997; Cho et al. 2014; torch.nn.LSTM for names and layouts.
"""

import math
from collections.abc import Callable
from typing import Any

from minitorch2 import dispatch
from minitorch2.creation import empty, zeros
from minitorch2.errors import ArgumentTypeError, ArgumentValueError, OperationError, ShapeError
from minitorch2.nn import functional as F
from minitorch2.nn import init
from minitorch2.nn.module import Module
from minitorch2.nn.parameter import Parameter
from minitorch2.nn.utils.rnn import PackedSequence
from minitorch2.ops.table import lookup
from minitorch2.tensors import Tensor

_stack, _cat = lookup("stack").public, lookup("cat").public


def _lstm_step(inner: Any, h: Any, states: tuple, weight: Any, bias: Any) -> tuple:
    """Gates i, f, g, o; the cell keeps f of itself and takes i of g."""
    gates = inner + F.linear(h, weight, bias)
    i, f, g, o = gates.chunk(4, -1)
    cell = f.sigmoid() * states[1] + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru_step(inner: Any, h: Any, states: tuple, weight: Any, bias: Any) -> tuple:
    """Gates r, z, n; the state keeps z of itself."""
    r, z, n = inner.chunk(3, -1)
    from_r, from_z, from_n = F.linear(h, weight, bias).chunk(3, -1)
    keep = (z + from_z).sigmoid()
    new = (n + (r + from_r).sigmoid() * from_n).tanh()
    return ((1 - keep) * new + keep * h,)


def _rnn_step(function: Callable) -> Callable:
    def step(inner: Any, h: Any, states: tuple, weight: Any, bias: Any) -> tuple:
        return (function(inner + F.linear(h, weight, bias)),)

    return step


_STEPS = {
    "LSTM": (_lstm_step, 4),
    "GRU": (_gru_step, 3),
    "RNN_TANH": (_rnn_step(F.tanh), 1),
    "RNN_RELU": (_rnn_step(F.relu), 1),
}


class _Rows:
    """The states of a packed batch: sequences end (or, backwards, begin) from step to step."""

    def __init__(self, first: tuple, backwards: bool):
        self.first, self.backwards, self.started = first, backwards, False
        self.ended: list[tuple] = []

    def of(self, states: tuple, count: int) -> tuple:
        """The states of the `count` sequences that have the next step."""
        have = states[0].shape[0] if self.started or not self.backwards else 0
        self.started = True
        if count < have:
            self.ended.append(tuple(each[count:] for each in states))
            return tuple(each[:count] for each in states)
        if count > have:
            fresh = tuple(each[have:count] for each in self.first)
            pairs = zip(states, fresh, strict=True)
            return tuple(_cat([old, new], 0) for old, new in pairs) if have else fresh
        return states

    def all(self, states: tuple) -> tuple:
        """The last states of all sequences, in order."""
        parts = zip(*[states, *reversed(self.ended)], strict=True)
        return tuple(_cat(list(column), 0) for column in parts) if self.ended else states


def _check_settings(mode: str, input_size: int, hidden_size: int, proj_size: int) -> None:
    asked, wrong = f"{mode}({input_size}, {hidden_size}, proj_size={proj_size})", ""
    if not isinstance(hidden_size, int):
        kind = type(hidden_size).__name__
        raise ArgumentTypeError(asked, f"hidden_size should be of type int, got: {kind}")
    if input_size <= 0:
        wrong = "input_size must be greater than zero"
    elif proj_size < 0:
        wrong = "proj_size should be a positive integer or zero to disable projections"
    elif proj_size and mode != "LSTM":
        wrong = "proj_size argument is only supported for LSTM, not RNN or GRU"
    elif proj_size >= hidden_size > 0:
        wrong = "proj_size has to be smaller than hidden_size"
    if wrong:
        raise ArgumentValueError(asked, wrong)


def _no_pair(name: str) -> OperationError:
    """The error for states of an LSTM that are not two."""
    wrong = f"{name.lower().replace('cell', '_cell')} expects two hidden states"
    return OperationError(f"{name}(input, states)", wrong, "give (hidden, cell)")


class RNNBase(Module):
    """Layers of one kind above each other; each may also run backwards."""

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        F.check_probability(dropout)
        _check_settings(mode, input_size, hidden_size, proj_size)
        if hidden_size <= 0 or num_layers <= 0:
            raise ArgumentValueError(
                f"{mode}({input_size}, {hidden_size}, num_layers={num_layers})",
                "hidden_size and num_layers must be greater than zero",
            )
        self.mode, self.input_size, self.hidden_size = mode, input_size, hidden_size
        self.num_layers, self.bias, self.batch_first = num_layers, bias, batch_first
        self.dropout, self.bidirectional, self.proj_size = float(dropout), bidirectional, proj_size
        rows, given = _STEPS[mode][1] * hidden_size, {"device": device, "dtype": dtype}
        width = proj_size or hidden_size
        directions = 2 if bidirectional else 1
        for layer in range(num_layers):
            size = input_size if layer == 0 else width * directions
            for suffix in self._suffixes(layer):
                shapes: dict[str, tuple[int, ...]] = {
                    "weight_ih": (rows, size),
                    "weight_hh": (rows, width),
                }
                if bias:
                    shapes |= {"bias_ih": (rows,), "bias_hh": (rows,)}
                if proj_size:
                    shapes["weight_hr"] = (proj_size, hidden_size)
                for name, shape in shapes.items():
                    setattr(self, name + suffix, Parameter(empty(*shape, **given)))
        self.reset_parameters()

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: 2 if self.bidirectional else 1]

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform in +-1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    @property
    def all_weights(self) -> list[list[Any]]:
        """The parameters of each layer and direction."""
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
        return [
            [getattr(self, n + suffix) for n in names if n + suffix in self._parameters]
            for layer in range(self.num_layers)
            for suffix in self._suffixes(layer)
        ]

    def flatten_parameters(self) -> None:
        """Nothing to do: each weight has memory of its own."""

    def _run(
        self, input: Any, first: list[Any], counts: list[int] | None = None
    ) -> tuple[Any, list[Any]]:
        """Input [T, N, F] and first states [layers * directions, N, *] -> output, last states.

        With `counts`, the input is packed: [sum of counts, F], count after count a step.
        """
        last: list[list[Any]] = [[] for _ in first]
        at = 0
        for layer in range(self.num_layers):
            found = []
            for suffix in self._suffixes(layer):
                states = tuple(each[at] for each in first)
                output, states = self._direction(input, states, suffix, counts)
                found.append(output)
                for kept, state in zip(last, states, strict=True):
                    kept.append(state)
                at += 1
            input = found[0] if len(found) == 1 else _cat(found, -1)
            if self.dropout and layer < self.num_layers - 1:
                input = F.dropout(input, self.dropout, self.training)
        return input, [_stack(kept) for kept in last]

    def _direction(
        self, input: Any, states: tuple, suffix: str, counts: list[int] | None
    ) -> tuple[Any, tuple]:
        step = _STEPS[self.mode][0]
        bias = [
            getattr(self, f"bias_{part}{suffix}") if self.bias else None for part in ("ih", "hh")
        ]
        inner = F.linear(input, getattr(self, "weight_ih" + suffix), bias[0])
        weight = getattr(self, "weight_hh" + suffix)
        steps = list(inner.unbind(0) if counts is None else inner.split(counts))
        backwards = suffix.endswith("reverse")
        outputs = []
        rows = _Rows(states, backwards)
        for part in reversed(steps) if backwards else steps:
            if counts is not None:
                states = rows.of(states, part.shape[0])
            states = step(part, states[0], states, weight, bias[1])
            if self.proj_size:
                states = (F.linear(states[0], getattr(self, "weight_hr" + suffix)), *states[1:])
            outputs.append(states[0])
        ordered = outputs[::-1] if backwards else outputs
        if counts is not None:
            return _cat(ordered, 0), rows.all(states)
        return _stack(ordered), states

    def _packed(self, input: PackedSequence, hx: Any) -> tuple[Any, Any]:
        """A packed batch: at each step only the sequences that have it."""
        pair = self.mode == "LSTM"
        counts = input.batch_sizes.tolist()
        if hx is None:
            first = self._first(input.data.new_empty(0, counts[0], 0))
        else:
            if pair and len(hx) != 2:
                raise _no_pair("LSTM")
            first = self._given(hx, counts[0])
            if input.sorted_indices is not None:
                first = [each.index_select(1, input.sorted_indices) for each in first]
        output, last = self._run(input.data, first, counts)
        if input.unsorted_indices is not None:
            last = [each.index_select(1, input.unsorted_indices) for each in last]
        return input._with(output), tuple(last) if pair else last[0]

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The last layer's outputs [T, N, H], and each layer's last state [layers, N, H] (an LSTM's
        with its cells). `input` is [T, N, input_size], [T, input_size], batches first where asked
        for, or packed; states begin at `hx`, or at zero. ShapeError where sizes do not fit."""
        if isinstance(input, PackedSequence):
            return self._packed(input, hx)
        if input.ndim not in (2, 3):
            raise ArgumentValueError(
                f"{type(self).__name__}(input of shape {list(input.shape)})",
                f"Expected input to be 2D or 3D, got {input.ndim}D instead",
                "give [T, N, input_size]",
            )
        if input.shape[-1] != self.input_size:
            raise ShapeError(
                f"{type(self).__name__}(input of shape {list(input.shape)})",
                "input.size(-1) must be equal to input_size. Expected "
                f"{self.input_size}, got {input.shape[-1]}",
                "change input_size or the input",
            )
        weight = self.weight_ih_l0.dtype
        if input.dtype is not weight and dispatch.state.autocast is None:
            raise ArgumentValueError(
                f"{type(self).__name__}(input of dtype {input.dtype})",
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight})",
                f"Convert input: input.to({weight}), or convert model: model.to({input.dtype})",
            )
        single = input.ndim == 2
        if single:
            input = input.unsqueeze(1)
        elif self.batch_first:
            input = input.transpose(0, 1)
        pair = self.mode == "LSTM"
        batch = input.shape[1]
        first = self._first(input) if hx is None else self._given(hx, batch, single)
        output, last = self._run(input, first)
        if single:
            output, last = output.squeeze(1), [each.squeeze(1) for each in last]
        elif self.batch_first:
            output = output.transpose(0, 1)
        return output, tuple(last) if pair else last[0]

    def _shapes(self, batch: Any) -> list[tuple]:
        """The shapes of the states, for every layer and direction."""
        count = self.num_layers * (2 if self.bidirectional else 1)
        sizes = [self.proj_size or self.hidden_size]
        sizes += [self.hidden_size] if self.mode == "LSTM" else []
        return [(count, batch, size) for size in sizes]

    def _first(self, input: Any) -> list[Any]:
        """Zeros for every layer and direction."""
        given = {"dtype": input.dtype, "device": input.device}
        return [zeros(*shape, **given) for shape in self._shapes(input.shape[1])]

    def _given(self, hx: Any, batch: Any, single: bool = False) -> list[Any]:
        """The caller's states, with the dimension of samples; ShapeError where they do not fit."""
        pair = self.mode == "LSTM"
        states = [hx[0], hx[1]] if pair else [hx]
        ranks = [each.dim() for each in states]
        asked = f"{type(self).__name__}(states of shapes {[list(each.shape) for each in states]})"
        rank = 2 if single else 3
        if ranks != [rank] * len(states):
            what = "unbatched 2-D input, hx" if single else "batched 3-D input, hx"
            found = ", ".join(f"{each}-D" for each in ranks)
            raise ShapeError(
                asked,
                f"For {what}{' and cx' if pair else ''} should also be {rank}-D but got "
                f"({found}) tensors"
                if pair
                else f"For {what} should also be {rank}-D but got {found} tensor",
            )
        states = [each.unsqueeze(1) for each in states] if single else states
        for at, (state, shape) in enumerate(zip(states, self._shapes(batch), strict=True)):
            if tuple(state.shape) != shape:
                name = f"hidden[{at}]" if pair else "hidden"
                wrong = f"Expected {name} size {shape}, got {list(state.shape)}"
                raise ShapeError(asked, wrong, "give a state for each layer and sample")
        if pair and len(hx) != 2:
            raise _no_pair("LSTM")
        return states

    def extra_repr(self) -> str:
        parts = [f"{self.input_size}, {self.hidden_size}"]
        parts += [f"proj_size={self.proj_size}"] if self.proj_size else []
        parts += [f"num_layers={self.num_layers}"] if self.num_layers != 1 else []
        parts += [] if self.bias else ["bias=False"]
        parts += ["batch_first=True"] if self.batch_first else []
        parts += [f"dropout={self.dropout}"] if self.dropout else []
        parts += ["bidirectional=True"] if self.bidirectional else []
        return ", ".join(parts)


class RNN(RNNBase):
    """h = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu of it (`nonlinearity='relu'`)."""

    def __init__(self, *args: Any, **kwargs: Any):
        nonlinearity = args[3] if len(args) > 3 else kwargs.pop("nonlinearity", "tanh")
        args = args[:3] + args[4:]
        if nonlinearity not in ("tanh", "relu"):
            raise ArgumentValueError(
                f"RNN(nonlinearity={nonlinearity!r})",
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.",
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A cell state beside the hidden one, which gates read and write."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """One state, of which a gate keeps a share."""

    def __init__(self, *args: Any, **kwargs: Any):
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """One step of a recurrent layer: input [N, input_size], states [N, hidden_size]."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows, given = num_chunks * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(empty(rows, input_size, **given))
        self.weight_hh = Parameter(empty(rows, hidden_size, **given))
        if bias:
            self.bias_ih = Parameter(empty(rows, **given))
            self.bias_hh = Parameter(empty(rows, **given))
        else:
            self.register_parameter("bias_ih", None)
            self.register_parameter("bias_hh", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew, uniform in +-1 / sqrt(hidden_size)."""
        bound = 1 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def _check(self, input: Any, states: Any) -> None:
        """ArgumentValueError or ShapeError where input and states do not fit the cell."""
        name = type(self).__name__
        asked = f"{name}(input of shape {list(input.shape)})"
        if input.ndim not in (1, 2):
            wrong = f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead"
            raise ArgumentValueError(asked, wrong)
        if input.shape[-1] != self.input_size:
            raise ShapeError(
                asked,
                f"input has inconsistent input_size: got {input.shape[-1]} expected "
                f"{self.input_size}",
            )
        for at, state in enumerate(() if states is None else states):
            if state.ndim not in (1, 2):
                wrong = f"{name}: Expected hidden to be 1D or 2D, got {state.ndim}D instead"
                raise ArgumentValueError(asked, wrong)
            if input.ndim == 2 and state.ndim == 2 and input.shape[0] != state.shape[0]:
                raise ShapeError(
                    asked,
                    f"Input batch size {input.shape[0]} doesn't match hidden{at} batch size "
                    f"{state.shape[0]}",
                )
            if state.ndim != input.ndim or state.shape[-1] != self.hidden_size:
                raise ShapeError(
                    asked,
                    f"hidden{at} has inconsistent hidden_size: got {state.shape[-1]}, expected "
                    f"{self.hidden_size}",
                )

    def _step(self, mode: str, input: Any, states: Any) -> tuple:
        self._check(input, states)
        if states is None:
            shape = (*input.shape[:-1], self.hidden_size)
            states = (zeros(*shape, dtype=input.dtype, device=input.device),) * 2
        inner = F.linear(input, self.weight_ih, self.bias_ih)
        return _STEPS[mode][0](inner, states[0], states, self.weight_hh, self.bias_hh)

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")


class RNNCell(RNNCellBase):
    """One step of an RNN."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        if self.nonlinearity not in ("tanh", "relu"):
            wrong = f"Unknown nonlinearity: {self.nonlinearity}"
            raise OperationError(f"RNNCell(nonlinearity={self.nonlinearity!r})", wrong)
        mode = f"RNN_{self.nonlinearity.upper()}"
        return self._step(mode, input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        if isinstance(hx, Tensor):
            raise ArgumentTypeError(
                f"LSTMCell(input, hx of shape {list(hx.shape)})",
                "argument 'hx' (position 2) must be tuple of Tensors, not Tensor",
                "give (hidden, cell)",
            )
        if hx is not None and len(hx) != 2:
            raise _no_pair("LSTMCell")
        return self._step("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """One step of a GRU."""

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        return self._step("GRU", input, None if hx is None else (hx,))[0]
