"""Anomaly detection: it names the node at fault, and the line of its forward."""

import warnings

import pytest

import minitorch2 as torch


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0), requires_grad=True)


def fails_in_the_backward():
    a = leaf()
    middle = a + 1
    out = middle**2
    middle += 1
    out.sum().backward()


def test_anomalies_name_the_node_and_its_forward(capsys):
    with pytest.warns(UserWarning) as seen, pytest.raises(RuntimeError, match="inplace operation"):
        with torch.autograd.detect_anomaly():
            fails_in_the_backward()
    assert "Error detected in PowBackward0" in str(seen[-1].message)
    assert "out = middle**2" in str(seen[-1].message)
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        watched = torch.autograd.detect_anomaly()
    with pytest.raises(RuntimeError, match="inplace operation"), watched:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fails_in_the_backward()
    assert "Error detected in PowBackward0" in capsys.readouterr().err
    y = leaf(-1.0).sqrt()
    with pytest.warns(UserWarning) as seen, pytest.raises(RuntimeError, match="returned nan"):
        with torch.autograd.detect_anomaly():
            y.backward(torch.tensor([0.0]) / 0)
    assert "No forward pass information" in str(seen[-1].message)
