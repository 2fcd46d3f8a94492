"""Training: against the closed-form flow, exact symmetries and limits."""

import itertools

import numpy as np
import pytest
import torch
from scipy import special
from superposition import receptive
from superposition.receptive import activations, training


def gaussian(n, batch, seed):
    covariances = [receptive.gaussian_covariance(n, xi) for xi in (1, 0.5)]
    return receptive.gaussian_batches(*covariances, batch, seed=seed)


def test_activations_are_the_functions_of_their_names():
    known = {"relu": lambda h: np.maximum(h, 0), "erf": lambda h: special.erf(h / np.sqrt(2)), "tanh": np.tanh}
    known |= {"sigmoid": special.expit}
    h = np.linspace(-3, 3, 13)
    for name, made in activations.ACTIVATIONS.items():
        np.testing.assert_allclose(made(torch.tensor(h)).numpy(), known[name](h), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("K", "lr"), [(1, 0.05), (3, 0.15)])
def test_training_follows_the_closed_form_flow(K, lr):
    C1, C0 = receptive.gaussian_covariance(12, 1), receptive.gaussian_covariance(12, 0.5)
    W0 = receptive.initial_weights(2, K, 12, seed=1)
    trials = [receptive.train_fields(W0, gaussian(12, 20_000, seed), steps=100, lr=lr).W for seed in range(4)]
    expected = W0.copy()
    for s, _ in itertools.product(range(2), range(100)):  # the same steps without noise
        expected[s] += lr * receptive.gaussian_flow(expected[s], C0, C1)
    mean, spread = np.mean(trials, axis=0), np.std(trials, axis=0, ddof=1)
    noise = np.sqrt(np.mean(spread**2) / 4)
    moved = np.linalg.norm(expected - W0)
    # all entries have about the same noise: a mean square over 24 K of them is within 60 % of its mean
    assert np.sqrt(np.mean((mean - expected) ** 2)) < 1.6 * noise
    assert noise * np.sqrt(W0.size) < 0.05 * moved


def test_loss_gives_each_label_half_the_weight():
    W = torch.zeros(1, 1, 2)
    pair = (torch.ones(3, 2), torch.ones(7, 2))
    losses = training._losses((W, torch.zeros(1, 1), torch.tensor([0.25])), pair, torch.relu)
    assert float(losses[0]) == pytest.approx((0.75**2 + 0.25**2) / 4)


def test_networks_side_by_side_do_not_disturb_each_other():
    W0 = receptive.initial_weights(3, 2, 12, seed=2)
    together = receptive.train_fields(W0, gaussian(12, 200, 0), steps=20, lr=0.5)
    alone = receptive.train_fields(W0[1:2], gaussian(12, 200, 0), steps=20, lr=0.5)
    np.testing.assert_allclose(together.W[1:2], alone.W, atol=1e-6)  # float32
    np.testing.assert_array_equal(receptive.initial_weights(1, 2, 12, seed=2)[0], W0[0])


def test_single_neurons_on_gaussian_batches_train_as_any_others():
    W0, covariances = (
        receptive.initial_weights(3, 1, 12, seed=2),
        [receptive.gaussian_covariance(12, xi) for xi in (1, 0.5)],
    )
    found = receptive.train_fields(W0, gaussian(12, 80, 5), steps=20, lr=0.5, keep_every=10)  # the same normal numbers
    done = []
    given = {"steps": 20, "lr": 0.5, "keep_every": 10, "seed": 5, "progress": lambda step, total: done.append(step)}
    kept = receptive.train_gaussian_fields(W0[:, 0], *covariances, 80, **given)
    np.testing.assert_allclose(kept, found.kept[:, :, 0], atol=1e-6)  # float32
    assert done == [*range(1, 21)]


def test_batches_have_the_law_they_promise():
    x1, x0 = next(receptive.nlgp_batches(12, 1.0, 0.5, 2.0, 60_000, seed=3))
    for x, xi in ((x1.numpy(), 1.0), (x0.numpy(), 0.5)):
        product = np.mean(x * np.roll(x, 1, axis=1), axis=1)
        error = product.std() / len(x) ** 0.5
        assert abs(product.mean() - receptive.nlgp_covariance(12, xi, 2.0)[0, 1]) < 4 * error
    assert len(next(receptive.nlgp_batches(12, 1.0, 0.5, 2.0, 5, seed=0))[0]) == 3
    again = next(receptive.nlgp_batches(12, 1.0, 0.5, 2.0, 60_000, seed=3))
    assert torch.equal(again[0], x1)


@pytest.mark.parametrize(("activation", "output"), [("erf", lambda b: 1 - b), ("sigmoid", lambda b: -b)])
def test_swapped_labels_and_flipped_signs_are_the_same_task(activation, output):
    generator = torch.Generator().manual_seed(0)
    W, b1 = torch.randn(1, 4, 6, generator=generator), torch.randn(1, 4, generator=generator)
    x1, x0 = torch.randn(9, 6, generator=generator), torch.randn(9, 6, generator=generator)
    act, b2 = activations.ACTIVATIONS[activation], torch.tensor([0.3])
    ours = training._losses((W, b1, b2), (x1, x0), act)
    theirs = training._losses((-W, -b1, output(b2)), (x0, x1), act)
    assert float(ours) == pytest.approx(float(theirs), rel=1e-5)
    relu = training._losses((W, b1, b2), (x1, x0), torch.relu)
    assert abs(float(relu - training._losses((-W, -b1, output(b2)), (x0, x1), torch.relu))) > 0.01


def test_biases_are_learned_only_if_asked_for():
    W0 = receptive.initial_weights(2, 3, 12, seed=0)
    without = receptive.train_fields(W0, gaussian(12, 100, 0), steps=5, lr=0.1)
    assert not without.bias.any() and not without.bias_out.any()
    assert (
        receptive.train_fields(W0, gaussian(12, 100, 0), steps=5, lr=0.1, activation="sigmoid", bias=-1).bias.std() > 0
    )


def test_kept_weights_flips_and_progress():
    seen = []
    W0 = receptive.initial_weights(1, 2, 12, seed=0)
    found = receptive.train_fields(
        W0, gaussian(12, 50, 0), steps=7, lr=0.1, keep_every=3, progress=lambda *pair: seen.append(pair)
    )
    assert found.kept_steps == (0, 3, 6) and found.kept.shape == (3, 1, 2, 12) and seen[-1] == (7, 7)
    np.testing.assert_allclose(found.kept[0], W0, atol=1e-7)
    x = np.array([[1.0, 0], [0, 1], [1, 1], [-1, 1]])
    step, final = receptive.gate_flips(np.array([[1.0, 0], [-1, 0.5], [1, 0]]), x)
    np.testing.assert_allclose(step, [0.75, 0.75])
    np.testing.assert_allclose(final, [0, 0.75, 0])


def test_a_length_without_a_covariance_is_refused():
    with pytest.raises(receptive.NotACovariance, match="xi = 5 is too large for n = 40"):
        next(receptive.nlgp_batches(40, 5, 1, 1, 10, seed=0))


def test_a_training_that_blows_up_says_so():
    W0 = receptive.initial_weights(1, 1, 12, seed=0)
    with pytest.raises(FloatingPointError, match="try lr = 25"):
        receptive.train_fields(W0, gaussian(12, 50, 0), steps=60, lr=100)
