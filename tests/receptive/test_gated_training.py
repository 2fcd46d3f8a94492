"""The trainer against autograd and the exact solution; other marginals; what the named runs return."""

import numpy as np
import pytest
import torch
from superposition.receptive import (
    gated_experiments,
    gated_networks,
    gated_training,
    gates,
    least_squares,
    marginals,
    measures,
    ring,
)

RELU = gated_training.leaky(0)


def toy(seed=0, R=2, K=3, n=6):
    x, y = gated_training.task(n, 1.0 if n > 10 else 0.5, 0.3, 2.0, 25, seed=seed)
    return x, y, np.random.default_rng(seed).standard_normal((R, K, n))


def test_task_is_balanced_and_symmetric():
    x, y, _ = toy()
    assert x.shape == (100, 6) and y.sum() == 50
    for label in (0, 1):
        rows = {tuple(row.round(9)) for row in x[y == label]}
        assert rows == {tuple((-np.array(row)).round(9)) for row in rows}
    np.testing.assert_array_equal(x, gated_training.task(6, 0.5, 0.3, 2.0, 25, seed=0)[0])


@pytest.mark.parametrize("name", ["relu", "leaky", "pathway", "gates"])
@pytest.mark.parametrize("readout", [None, 0.7])
def test_one_step_is_the_gradient_that_autograd_finds(name, readout):
    x, y, w0 = toy()
    directions = gates.directions("random", 6, 3, seed=3)
    slopes, activation = {
        "relu": (RELU, torch.relu),
        "leaky": (gated_training.leaky(-0.4), lambda h: torch.where(h > 0, h, -0.4 * h)),
        "pathway": (
            gated_training.relu_with_linear_pathway,
            lambda h: torch.cat([torch.relu(h[..., :-1]), h[..., -1:]], dim=-1),
        ),
        "gates": (
            gated_training.half_spaces(directions),
            lambda h: h * torch.tensor(gates.opened(directions, x))[:, None, :],
        ),
    }[name]
    w = torch.tensor(w0, requires_grad=True)
    out = activation(torch.einsum("bn,rkn->brk", torch.tensor(x), w)).sum(-1) * (readout or 1 / 3)
    (((out - torch.tensor(y)[:, None]) ** 2).mean(0) / 2).sum().backward()
    stepped = gated_training.train(w0, x, y, slopes, steps=1, lr=1.0, batch=100, readout=readout)
    np.testing.assert_allclose(w0 - stepped, w.grad.numpy(), atol=3e-6)  # float32
    np.testing.assert_allclose(gated_training.outputs(w0, x, slopes, readout=readout), out.detach().numpy(), atol=1e-6)


def test_gated_network_follows_the_solution_in_time():
    x, y, w0 = toy(R=1)
    directions = gates.directions("random", 6, 3, seed=3)
    A, b = gated_networks.moments(gates.opened(directions, x), x, y)
    found = {}
    gated_training.train(
        w0, x, y, gated_training.half_spaces(directions), steps=4000, lr=0.01, batch=100,
        record=lambda step, w: found.update({step: w[0].copy()}) if step == 2000 else None,
    )  # fmt: skip
    # before step 2000 the rate is constant; Euler's error is of order lr times an eigenvalue
    np.testing.assert_allclose(found[2000], gated_networks.gdln_solution(A, b, w0[0], 20.0), atol=0.01)


def test_networks_of_one_call_do_not_see_each_other():
    x, y, w0 = toy()
    both = gated_training.train(w0, x, y, RELU, steps=20, lr=0.3, batch=50, seed=5)
    alone = gated_training.train(w0[1:], x, y, RELU, steps=20, lr=0.3, batch=50, seed=5)
    np.testing.assert_allclose(both[1:], alone, atol=1e-5)
    labels = np.stack([y, 1 - y], axis=1)
    mixed = gated_training.train(w0, x, labels, RELU, steps=20, lr=0.3, batch=50, seed=5)
    np.testing.assert_allclose(mixed[0], both[0], atol=1e-5)
    assert np.abs(mixed[1] - both[1]).max() > 0.05


def test_turning_and_progress():
    x, y, w0 = toy()
    seen = []
    options = {"steps": 200, "lr": 0.1, "batch": 50, "seed": 5}
    still = gated_training.train(w0, x, y, RELU, **options, progress=lambda done, total: seen.append((done, total)))
    turned = gated_training.train(w0, x, y, RELU, **options, turn=True)
    assert seen == [(100, 200), (200, 200)] and np.abs(still - turned).max() > 1e-3


def test_one_neuron_localises_at_large_gain_on_the_small_bump_field():
    x, y = gated_training.task(40, 2.0, 1.0, 10.0, 10_000, seed=0)
    start = np.random.default_rng(0).standard_normal((3, 1, 40)) * 0.2
    w = gated_training.train(start, x, y, RELU, steps=1500, lr=0.5, turn=True)[:, 0]
    # the field of its own pixel gate is the first round of a race that hardly moves at this gain
    assert np.all(least_squares.best_shift_cosine(w, least_squares.small_bump_field(40, 2.0, 1.0, 10.0, 0)) > 0.99)
    assert np.all(40 * measures.ipr(w) > 25)


@pytest.mark.parametrize(
    ("law", "strength"),
    [("erf", 0.5), ("tanh", 1.0), ("sine", 0.7), ("sinh", 0.5), ("power", 2.0), ("shrink", 0.7), ("cubic", -0.02)],
)
def test_hermite_ratio_against_quadrature(law, strength):
    from scipy.integrate import quad

    def moment(h):
        return quad(lambda z: np.exp(-(z**2) / 2) * marginals.LAWS[law](z, strength) * h(z), -12, 12, points=[0.0])[0]

    expected = moment(lambda z: z**3 - 3 * z) / 6 / moment(lambda z: z)
    assert marginals.hermite_ratio(law, strength) == pytest.approx(expected, rel=1e-5)


def test_hermite_ratio_in_closed_form():
    gain = 0.8
    q = 2 * gain**2 / (1 + 2 * gain**2)
    assert marginals.hermite_ratio("erf", gain) == pytest.approx(-q / 6, rel=1e-8)  # exact at any gain
    assert marginals.hermite_ratio("cubic", 0.03) == pytest.approx(0.03, rel=1e-8)
    assert marginals.hermite_ratio("elliptical", 1.0) == 0


def test_laws_have_unit_variance_and_the_right_sign_of_kurtosis():
    for law, strength, sign in [("erf", 3, -1), ("power", 2, 1), ("elliptical", 1, -1), ("elliptical", -1, 1)]:
        x = marginals.draw(law, strength, 40, 2.0, 5000, seed=0)
        assert np.mean(x**2) == pytest.approx(1) and sign * (np.mean(x**4) - 3) > 0.1
    z = ring.gaussian_sample(ring.gaussian_covariance(40, 2.0), 5, seed=3)
    np.testing.assert_allclose(marginals.draw("power", 1.0, 40, 2.0, 5, seed=3), z / np.sqrt(np.mean(z**2)))


def test_what_the_named_runs_return():
    common = {"n": 32, "xi1": 2.0, "xi2": 1.0, "samples": 300, "steps": 20, "seed": 0}
    found = gated_experiments.trained_fields(**common, gain=3.0, K=2)
    assert all(0 <= found[name] <= 1 for name in found if name != "device" and name != "n_ipr")
    assert gated_experiments.trained_fields(**common, gain=3.0, K=2) == found
    other = gated_experiments.other_marginal(**common, law="erf", strength=3.0, starts=2)
    assert other["n_ipr_low"] <= other["n_ipr"] <= other["n_ipr_high"] and other["c3_over_c1"] < 0
    still = gated_experiments.basin(**common, gain=3.0, noise=0.0, trials=3)
    assert still["predicted"] in (0.0, 1.0) and 0 <= still["agrees"] <= 1


def test_a_tiling_of_all_pixels_is_the_best_of_the_tilings():
    losses = [gated_experiments.tiled(12, 1.0, 0.5, 3.0, K)[1] for K in (1, 2, 4)]
    assert 0.5 > losses[0] > losses[1] > losses[2] > 0  # each tiling holds the one before
    field, loss = gated_experiments.tiled(12, 1.0, 0.5, 3.0, 1)
    np.testing.assert_allclose(field[0], least_squares.small_bump_field(12, 1.0, 0.5, 3.0, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gated_training.task(40, 2.0, 1.0, 0.0, 5, seed=0), "gain = 0 is out of range"),
        (lambda: gated_training.task(40, 2.0, 0.0, 1.0, 5, seed=0), "xi = 0 is out of range"),
        (lambda: gated_training.labelled(np.ones((2, 3)), np.ones((3, 3)), seed=0), "allowed: the same"),
        (lambda: gated_training.leaky(np.nan), "slope = nan is out of range"),
        (lambda: gated_training.half_spaces(np.zeros((1, 3))), "its gate never opens"),
        (lambda: train(w0=np.ones((1, 2))), "have shapes"),
        (lambda: train(w0=np.ones((1, 0, 2))), "have shapes"),
        (lambda: train(steps=0), "steps = 0 is out of range"),
        (lambda: train(lr=0), "lr = 0 is out of range"),
        (lambda: train(batch=4), "batch = 4 is out of range; allowed: whole numbers from 1 to 3"),
        (lambda: train(y=np.ones((3, 2))), r"y has shape \(3, 2\)"),
        (lambda: marginals.draw("cauchy", 1.0, 40, 1.0, 5, seed=0), "law = 'cauchy' is unknown"),
        (lambda: marginals.draw("erf", 0.0, 40, 1.0, 5, seed=0), "strength = 0 is out of range"),
        (lambda: marginals.hermite_ratio("cubic", 9.0), "strength = 9 is out of range"),
        (lambda: gated_experiments.tiled(12, 1.0, 0.5, 3.0, 0), "K = 0 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def train(**changes):
    options = {"w0": np.ones((1, 1, 2)), "y": np.ones(3), "steps": 1, "lr": 0.1, "batch": 3} | changes
    return gated_training.train(x=np.ones((3, 2)), slopes=RELU, **options)


def test_divergence_is_an_error():
    x, y, w0 = toy()
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError, match="grew without bound at lr = 1000"):
        gated_training.train(w0, 10 * x, y, gated_training.leaky(1.0), steps=60, lr=1000.0, batch=50)
