"""The trainer against autograd and the exact solution."""

import numpy as np
import pytest
import torch
from superposition import receptive

RELU = receptive.leaky_slope(0)


def toy(seed=0, R=2, K=3, n=6):
    x, y = receptive.labelled_sample(n, 1.0 if n > 10 else 0.5, 0.3, 2.0, 25, seed=seed)
    return x, y, np.random.default_rng(seed).standard_normal((R, K, n))


def train(**changes):
    options = {"w0": np.ones((1, 1, 2)), "y": np.ones(3), "steps": 1, "lr": 0.1, "batch": 3} | changes
    return receptive.train_gated(x=np.ones((3, 2)), slopes=RELU, **options)


def test_task_is_balanced_and_symmetric():
    x, y, _ = toy()
    assert x.shape == (100, 6) and y.sum() == 50
    for label in (0, 1):
        rows = {tuple(row.round(9)) for row in x[y == label]}
        assert rows == {tuple((-np.array(row)).round(9)) for row in rows}
    np.testing.assert_array_equal(x, receptive.labelled_sample(6, 0.5, 0.3, 2.0, 25, seed=0)[0])


@pytest.mark.parametrize("name", ["relu", "leaky", "pathway", "gates"])
@pytest.mark.parametrize("readout", [None, 0.7])
def test_one_step_is_the_gradient_that_autograd_finds(name, readout):
    x, y, w0 = toy()
    directions = receptive.gate_directions("random", 6, 3, seed=3)
    slopes, activation = {
        "relu": (RELU, torch.relu),
        "leaky": (receptive.leaky_slope(-0.4), lambda h: torch.where(h > 0, h, -0.4 * h)),
        "pathway": (
            receptive.relu_with_linear_pathway,
            lambda h: torch.cat([torch.relu(h[..., :-1]), h[..., -1:]], dim=-1),
        ),
        "gates": (
            receptive.half_space_slopes(directions),
            lambda h: h * torch.tensor(receptive.opened_gates(directions, x))[:, None, :],
        ),
    }[name]
    w = torch.tensor(w0, requires_grad=True)
    out = activation(torch.einsum("bn,rkn->brk", torch.tensor(x), w)).sum(-1) * (readout or 1 / 3)
    (((out - torch.tensor(y)[:, None]) ** 2).mean(0) / 2).sum().backward()
    stepped = receptive.train_gated(w0, x, y, slopes, steps=1, lr=1.0, batch=100, readout=readout)
    np.testing.assert_allclose(w0 - stepped, w.grad.numpy(), atol=3e-6)  # float32
    np.testing.assert_allclose(receptive.gated_outputs(w0, x, slopes, readout=readout), out.detach().numpy(), atol=1e-6)


def test_gated_network_follows_the_solution_in_time():
    x, y, w0 = toy(R=1)
    directions = receptive.gate_directions("random", 6, 3, seed=3)
    A, b = receptive.gated_moments(receptive.opened_gates(directions, x), x, y)
    found = {}
    receptive.train_gated(
        w0, x, y, receptive.half_space_slopes(directions), steps=4000, lr=0.01, batch=100,
        record=lambda step, w: found.update({step: w[0].copy()}) if step == 2000 else None,
    )  # fmt: skip
    # before step 2000 the rate is constant; Euler's error is of order lr times an eigenvalue
    np.testing.assert_allclose(found[2000], receptive.gdln_solution(A, b, w0[0], 20.0), atol=0.01)


def test_networks_of_one_call_do_not_see_each_other():
    x, y, w0 = toy()
    both = receptive.train_gated(w0, x, y, RELU, steps=20, lr=0.3, batch=50, seed=5)
    alone = receptive.train_gated(w0[1:], x, y, RELU, steps=20, lr=0.3, batch=50, seed=5)
    np.testing.assert_allclose(both[1:], alone, atol=1e-5)
    labels = np.stack([y, 1 - y], axis=1)
    mixed = receptive.train_gated(w0, x, labels, RELU, steps=20, lr=0.3, batch=50, seed=5)
    np.testing.assert_allclose(mixed[0], both[0], atol=1e-5)
    assert np.abs(mixed[1] - both[1]).max() > 0.05


def test_turning_and_progress():
    x, y, w0 = toy()
    seen = []
    options = {"steps": 200, "lr": 0.1, "batch": 50, "seed": 5}
    still = receptive.train_gated(w0, x, y, RELU, **options, progress=lambda done, total: seen.append((done, total)))
    turned = receptive.train_gated(w0, x, y, RELU, **options, turn=True)
    assert seen == [(100, 200), (200, 200)] and np.abs(still - turned).max() > 1e-3


def test_one_neuron_localises_at_large_gain_on_the_small_bump_field():
    x, y = receptive.labelled_sample(40, 2.0, 1.0, 10.0, 10_000, seed=0)
    start = np.random.default_rng(0).standard_normal((3, 1, 40)) * 0.2
    w = receptive.train_gated(start, x, y, RELU, steps=1500, lr=0.5, turn=True)[:, 0]
    # the field of its own pixel gate is the first round of a race that hardly moves at this gain
    assert np.all(receptive.best_shift_cosine(w, receptive.small_bump_field(40, 2.0, 1.0, 10.0, 0)) > 0.99)
    assert np.all(40 * receptive.ipr(w) > 25)


@pytest.mark.parametrize("gain", [0.001, 100.0])
def test_students_recover_their_teachers_at_any_gain_and_from_the_opposite_side(gain):
    x, _ = receptive.labelled_sample(20, 1.0, 0.5, gain, 5000, seed=5)
    pixel = np.eye(20)[3]
    teachers = np.stack([pixel, -pixel, np.full(20, 0.05), np.where(np.arange(20) % 2, 0.2, -0.2)])
    start = receptive.initial_weights(4, 1, 20, seed=5)
    for w0 in (start, 0.01 * start - 0.5 * teachers[:, None]):
        student = receptive.train_gated(w0, x, np.maximum(x @ teachers.T, 0), RELU, steps=3000, lr=0.5)[:, 0]
        assert np.all(np.linalg.norm(student - teachers, axis=1) < 1e-5 * np.linalg.norm(teachers, axis=1))


def test_divergence_is_an_error():
    x, y, w0 = toy()
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="grew without bound at lr = 1000"):
        receptive.train_gated(w0, 10 * x, y, receptive.leaky_slope(1.0), steps=60, lr=1000.0, batch=50)


@pytest.mark.parametrize("neurons", ["relu", "linear pathway", 0.2, "gates"])
def test_the_training_on_a_device_is_the_same_training(neurons):
    x, y, w0 = toy()
    directions = receptive.gate_directions("random", 6, 3, seed=3)
    named, slopes = {
        "relu": ("relu", RELU),
        "linear pathway": ("linear pathway", receptive.relu_with_linear_pathway),
        0.2: (0.2, receptive.leaky_slope(0.2)),
        "gates": (directions, receptive.half_space_slopes(directions)),
    }[neurons]
    for labels in (y, np.stack([y, 1 - y], axis=1)):
        how = {"steps": 30, "lr": 0.3, "batch": 50, "turn": True, "seed": 5}
        here = receptive.train_gated(w0, x, labels, slopes, **how)
        there = receptive.train_gated_on_device(w0, x, labels, named, **how)
        np.testing.assert_allclose(there, here, atol=1e-5)  # float32, summed in another order
        assert np.abs(there - w0).max() > 0.1


def test_the_training_on_a_device_says_what_does_not_fit_and_what_grew():
    x, y, w0 = toy()
    how = {"steps": 60, "lr": 0.3, "batch": 50}
    with pytest.raises(
        ValueError, match=r"w0, x and y have shapes \(2, 3, 6\), .*; allowed: \(R, K, n\), \(N, n\) and"
    ):
        receptive.train_gated_on_device(w0, x, y[:-1], "relu", **how)
    with pytest.raises(ValueError, match=r"neurons has shape \(2, 6\); allowed: \(3, 6\), as of one network"):
        receptive.train_gated_on_device(w0, x, y, np.ones((2, 6)), **how)
    with pytest.raises(ValueError, match=r"neurons has shape \(6,\); allowed: a number, or directions of shape"):
        receptive.train_gated_on_device(w0, x, y, np.ones(6), **how)
    with pytest.raises(FloatingPointError, match="the weights grew without bound at lr = 1000; a smaller"):
        receptive.train_gated_on_device(w0, 10 * x, y, 1.0, steps=60, lr=1000.0, batch=50)
