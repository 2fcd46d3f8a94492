"""Forward passes that seldom come: in other units and precisions, without gradients, with a gate at its limit."""

import sys
from contextlib import nullcontext
from types import SimpleNamespace as Found

import numpy as np
import pytest
from superposition.diagnosis import (
    behaviour,
    measures,
    objects,
)
from superposition.diagnosis.weights import Weights

B = np.array([0.1, 0.2, 0.3])
X = np.random.default_rng(0).random((20, 3))


def relu(x):
    return np.maximum(x, 0)


@pytest.mark.parametrize(("activation", "stands"), [(relu, True), (lambda x: np.tanh(relu(x)), False)])
def test_a_model_by_its_responses_keeps_what_is_known_of_it(activation, stands):
    W = np.array([[1.0, -0.5, 0.2], [0.1, 0.9, 0], [0, -0.2, 0.8]])
    model = Found(ns=3, forward=lambda x: activation(x @ W.T - 20), eps=2.0**-52, told=("before",), is_sae=True)
    found, stood = behaviour._by_responses(model, 32 * X, 32.0, 0.001)
    assert stood is stands and found.is_sae and found.told[0] == "before" and len(found.told) == 2
    assert found.told[1].startswith("ReLU(W x + b) of" if stands else "ReLU(W_out W_in x + b) misses its forward pass")
    assert stands or " by 0.1 %, so all" in found.told[1]  # the least of all that were tried


@pytest.mark.parametrize(
    ("eps", "missed", "stands"),
    [(1e-16, 1e-4, True), (1e-16, 1.005e-4, False), (1e-3, 0.004, True), (1e-3, 0.0041, False)],
)
@pytest.mark.parametrize("gate", [{}, {"k": 2}, {"threshold": B}])
def test_weights_are_those_of_a_model_within_its_precision(monkeypatch, eps, missed, stands, gate):
    seen = []
    monkeypatch.setattr(behaviour, "_refuse_batches", lambda model, x: seen.append(x))
    taken = [Weights(B, W=np.eye(3), **gate)]
    monkeypatch.setattr(behaviour, "_of_steps", lambda model, x, unit: seen.append(x) or [taken])
    monkeypatch.setattr(behaviour, "_misses", lambda model, found, x: seen.append(x) or missed)
    monkeypatch.setattr(behaviour, "_pairs", lambda model, own, other: Weights(B, W=np.diag([1, 1, eps])))
    model = Found(steps=(1, 2), ns=3, eps=eps, told=("before",), is_sae=True)
    found, stood = behaviour.weights(model, X, 4.0)
    assert stood is stands and found.is_sae and all(np.array_equal(x, 4 * X) for x in seen)
    said = "ReLU(W_out W_in x + b)" + " with its gate" * bool(gate)
    if stands:
        assert found.told == ("before", f"{said} reproduces it to {missed:.1g}")
        by_responses, stood = behaviour._by_responses(model, X, 1.0, np.inf)
        assert stood and by_responses.W[2, 2] == 0  # below what such a precision resolves
    else:
        assert "misses its forward pass" in found.told[1]


@pytest.mark.parametrize(("by", "refused"), [(0.035, False), (0.045, True)])
def test_outputs_may_depend_on_their_batch_by_rounding(by, refused):
    model = Found(forward=lambda x: 7 * np.ones(x.shape) * (1 + by * (len(x) > 10)), eps=0.01)
    with pytest.raises(ValueError, match="depend on the other") if refused else nullcontext():
        behaviour._refuse_batches(model, X)


@pytest.mark.parametrize("eps", [1e-16, 1e-4])
@pytest.mark.parametrize("share", [0.98, 1.02])
def test_outputs_at_a_gate_are_left_out_within_a_precision(eps, share):
    near = 8 * share * max(1e-4, 4 * eps)  # of the largest drive
    for gate, drive, out in (
        (
            {"threshold": np.full(3, 4.0)},
            [4 + near, 8, 0],
            [0, 8, 0],
        ),  # the model's own rounding is below the threshold
        ({"k": 1}, [8, 8 - 2 * near, 0], [0, 8 - 2 * near, 0]),  # or takes the second for the largest
    ):
        model, found = Found(forward=lambda x, out=out: np.array([out]), eps=eps), Weights(0 * B, W=np.eye(3), **gate)
        assert (behaviour._misses(model, found, np.array([drive])) == 0) == (share < 1)


def test_responses_to_pairs_give_small_gains_and_the_bias_of_what_is_on():
    W = np.diag([0.01, 0.01, -1.0, 1.0, -1.0]) + 0.001 * np.arange(25).reshape(5, 5) * (1 - np.eye(5))
    b = np.array([-0.05, 0.05, 0.0, -0.3, 0.2])  # the last is on where nothing is
    found = behaviour._pairs(Found(ns=5, forward=lambda x: relu(x @ W.T + b)), 16.0, 0.25)
    np.testing.assert_allclose(found.b, [-0.05, 0.05, -16, -0.3, 0.2], atol=1e-12)
    np.testing.assert_allclose(found.W, np.where(np.diag(W)[:, None] < 0, 0, W), atol=1e-12)


def test_weights_too_large_to_be_tried_miss_everything():
    huge = np.full((3, 3), 1e308) * [1, -1, 1]
    for more, missed in (({}, np.inf), ({"k": 1}, 1)):  # of three outputs that are infinite none is the largest
        found = Weights(B, W=np.abs(huge) if more else huge, **more)
        assert behaviour._misses(Found(forward=lambda x: x, eps=1e-16), found, 9 * np.ones((2, 3))) == missed


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_rows_are_fitted_in_the_unit_of_what_is_hidden(unit):
    D = np.array([[1.0, 0.5], [-1, 2], [0.3, -0.7]])
    rows = behaviour._fit(lambda h: relu(h @ D.T - unit), unit * np.ones((4, 2)), 2)
    np.testing.assert_allclose(rows, D, rtol=1e-9)


def test_an_output_without_a_drive_has_its_shift_alone():
    scale, shift = behaviour._scaled_and_shifted(
        np.zeros((2, 1)), np.ones((1, 2)), np.zeros(1), 1.0, lambda h: np.full((len(h), 2), 0.7), np.ones((3, 1))
    )
    assert scale.tolist() == [1, 1] and shift.tolist() == pytest.approx([0.7, 0.7])


@pytest.mark.parametrize("unit", [1.0, 2.0**-40])
def test_scale_and_shift_do_not_depend_on_the_unit(unit):
    A, F = np.array([[1.0, 0], [0, 1], [1, 0], [-1, 0], [0, 1]]), np.array([[1.0, 0, 0, 0, 0], [0, 1, 1, 1, 1]])
    scale, shift = np.array([2.0, 3.0, 0.5, 2.5, 1.0]), unit * np.array([-5.0, 0.2, -0.05, -0.5, -20.0])
    nothing, low = np.array([0.5, 0.25]), -2.5 * 32.25 - 1  # the last is on at twice the strength alone
    for second, expected in (
        (lambda h: relu(scale * (h @ A.T) + shift), ([2, 3, 0.5, 2.5, 2.5], [-5, 0.2, -0.05, -1, low])),
        (lambda h: 0 * h @ A.T, ([1] * 5, [-33.5, -33.25, -1.5, -1, -33.25])),  # below what the own feature gives
    ):
        found = behaviour._scaled_and_shifted(A, F, unit * nothing, unit, second, unit * X[:, :2])
        np.testing.assert_allclose(found[0], expected[0])
        np.testing.assert_allclose(found[1], unit * np.array(expected[1]), atol=1e-12 * unit)


@pytest.mark.parametrize(("off", "linear"), [(0.5e-5, True), (1.5e-5, False)])
def test_a_first_step_is_linear_to_a_hundred_thousandth(off, linear):
    E = np.array([[1.0, 2.0, 0.5], [0.3, -1, 2]])
    steps = (lambda x: x @ E.T * (1 + off * (len(x) == len(X))), lambda h: relu(h @ E))
    model = Found(steps=steps, arrays=(), ns=3, k=None, eps=2.0**-52)
    assert bool(list(behaviour._of_steps(model, X, 1.0))) is linear


def test_blocks_have_a_row_at_least(monkeypatch):
    sizes = []
    for module in (behaviour, objects, measures):
        monkeypatch.setattr(module, "BLOCK", 2)
    behaviour._columns(lambda x: sizes.append(len(x)) or x, 3, 1.0, np.zeros(3))
    behaviour._diagonal(lambda x: sizes.append(len(x)) or x, np.eye(3))
    out = objects._batched(lambda x: sizes.append(len(x)) or x + 1)(X[:3])
    assert sizes == [1] * 9 and np.array_equal(out, X[:3] + 1)
    monkeypatch.setattr(objects, "BLOCK", 6)
    assert np.array_equal(objects._batched(lambda x: sizes.append(len(x)) or x[:, :1])(X[:5]), X[:5, :1])
    assert sizes[9:] == [2, 2, 1] and measures._blocks(3) == [(0, 1), (1, 2), (2, 3)]


def test_steps_are_taken_without_torch_and_without_gradients(monkeypatch):
    def refuse(x):
        raise TypeError("tensors alone")

    torch = pytest.importorskip("torch")
    assert objects._detached(lambda x: torch.is_grad_enabled(), X) is False and torch.is_grad_enabled()
    monkeypatch.delitem(sys.modules, "torch")
    assert objects._detached(lambda x: x, X) is X and objects._called(lambda x: x, X) is X
    with pytest.raises(TypeError, match="^tensors alone$"):
        objects._called(refuse, X)


def test_a_model_in_another_unit():
    model = objects.Model(lambda x: relu(x - 1), 3, None, None, (), None, None, False, 1e-16, ())
    np.testing.assert_allclose(model.scaled(4.0).forward(X), relu(4 * X - 1) / 4)


@pytest.mark.parametrize(
    ("bent", "eps", "affine"),
    [(0, 2.0**-52, True), (0.01, 2.0**-52, False), (0.01, 0.1, True), (1e-3, 1e-4, True), (0.1, 1e-4, False)],
)
@pytest.mark.parametrize("unit", [1.0, 1e6, 1e-6])
def test_an_affine_step_maps_sums_to_sums(bent, eps, affine, unit):
    assert objects._is_affine(lambda x: unit * (2 * x + 1 + bent * x**2), 3, eps) == affine


def test_arrays_of_a_module_are_those_of_an_instance_in_numbers_with_fractions():
    torch = pytest.importorskip("torch")
    module = torch.nn.Module()
    module.register_buffer("steps", torch.arange(24).reshape(4, 3, 2))
    module.register_buffer("W", torch.arange(30.0).reshape(3, 2, 5))
    for instance, chosen in ((None, 0), (2, 2)):
        [W], _ = objects._tools(module, instance)
        assert torch.equal(W, module.W[chosen])
    for instance in (-1, 3):
        with pytest.raises(ValueError, match=f"instance = {instance} is out of range"):
            objects._tools(module, instance)
    assert objects._sizes([np.zeros((2, 1)), np.zeros(5)]) == [5, 2]
    there = objects._tensor(np.ones(2), torch.zeros(1, device="meta", dtype=torch.float16))
    assert (there.device.type, there.dtype) == ("meta", torch.float16)


def test_what_a_model_of_any_size_is_taken_for_is_told_once():
    class Halves:
        def __init__(self):
            self.one, self.other = np.zeros(8), np.zeros(4)

        def encode(self, x):
            return x[:, : x.shape[1] // 2]

        def decode(self, h):
            return np.hstack([h, h])

    found = objects.of(Halves(), None, None, None, None)
    assert (found.ns, found.nd) == (8, 4) and found.told[0] == "taken for a toy model" and len(found.told) == 2
