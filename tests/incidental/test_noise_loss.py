"""The expected loss under noise against brute force, quadrature, draws and differences."""

import itertools

import numpy as np
import pytest
from incidental.laws import DENSITIES, LAWS, NAMES
from scipy.integrate import quad
from superposition import incidental
from superposition.incidental import noise_laws


def weights(n, m, seed=0):
    return np.random.default_rng(seed).standard_normal((n, m)) / np.sqrt(m)


def brute_force(W, law):
    """Expected loss over all combinations of a discrete law, in plain loops."""
    total = 0.0
    choices = list(zip(law.points, law.probabilities, strict=True))
    for combination in itertools.product(choices, repeat=W.shape[1]):
        xi = law.sigma * np.array([point for point, _ in combination])
        y = np.maximum((W + xi) @ W.T, 0)
        total += np.prod([p for _, p in combination]) * ((y - np.eye(len(W))) ** 2).sum()
    return total


def differences(W, law, h=1e-5):
    gradient = np.zeros_like(W)
    for at in np.ndindex(W.shape):
        up, down = W.copy(), W.copy()
        up[at] += h
        down[at] -= h
        gradient[at] = (incidental.expected_loss(up, law) - incidental.expected_loss(down, law)) / (2 * h)
    return gradient


@pytest.mark.parametrize("law", [law for law in LAWS if law.points], ids=lambda law: f"{law.excess_kurtosis:g}")
def test_discrete_loss_is_that_of_brute_force(law):
    W = weights(3, 5)
    assert incidental.expected_loss(W, law) == pytest.approx(brute_force(W, law), rel=1e-13, abs=0)


def test_bipolar_loss_is_that_of_enumeration_at_sixteen_neurons():
    W = weights(8, 16, seed=2)
    values, p = incidental.noise_sums(incidental.bipolar(0.1), 16)
    assert values.shape == (2**16, 16) and p.sum() == pytest.approx(1)
    y = W @ W.T + (0.1 * values @ W.T)[:, None, :]
    expected = ((np.maximum(y, 0) - np.eye(8)) ** 2).sum(axis=(1, 2)) @ p
    assert incidental.expected_loss(W, incidental.bipolar(0.1)) == pytest.approx(expected, rel=1e-12, abs=0)


@pytest.mark.parametrize("name", ["uniform", "normal", "laplace"])
def test_continuous_loss_of_a_single_neuron_is_a_quadrature(name):
    W, law = np.array([[0.8], [-0.5]]), getattr(noise_laws, name)(0.4)
    total = 0.0
    for i, j in np.ndindex(2, 2):

        def error(x, i=i, j=j):
            return (max(W[j, 0] * (W[i, 0] + 0.4 * x), 0) - (i == j)) ** 2 * DENSITIES[name](x)

        kinks = sorted({-W[i, 0] / 0.4, -(3**0.5), 3**0.5, 0.0})
        total += quad(error, -40, 40, points=kinks, limit=400, epsabs=1e-12)[0]
    # one uniform or Laplace noise has the slowest characteristic function there is
    assert incidental.expected_loss(W, law) == pytest.approx(total, rel=1e-7)


@pytest.mark.parametrize(
    "law", [incidental.uniform(0.1), incidental.laplace(0.1), incidental.normal(0.1)], ids=lambda law: law.name
)
@pytest.mark.parametrize("rows", ["dense", "near the axes"])
def test_continuous_loss_is_that_of_draws(law, rows):
    W = weights(4, 6) if rows == "dense" else 0.98 * np.eye(4, 6) - 0.1
    xi = law.sample((400_000, 6), np.random.default_rng(3))
    losses = ((np.maximum(W @ W.T + (xi @ W.T)[:, None, :], 0) - np.eye(4)) ** 2).sum(axis=(1, 2))
    se = losses.std() / np.sqrt(len(xi))
    assert incidental.expected_loss(W, law) == pytest.approx(losses.mean(), abs=4 * se)


def test_three_points_of_small_steps_are_nearly_uniform():
    # a sum of 2 k + 1 point laws would be; here: the discrete law with the kurtosis of the uniform, m large
    W = weights(3, 14, seed=4)
    gauss, flat = (incidental.expected_loss(W, law) for law in (incidental.normal(0.2), incidental.uniform(0.2)))
    three = incidental.expected_loss(W, incidental.discrete(0.2, -1.2))
    assert three - gauss == pytest.approx(flat - gauss, rel=0.15)  # equal up to sixth cumulants
    assert abs(flat - gauss) > 1e-5


@pytest.mark.parametrize("law", LAWS, ids=NAMES)
@pytest.mark.parametrize("rows", ["dense", "near the axes"])
def test_gradient_is_that_of_differences(law, rows):
    W = weights(3, 5, seed=5) if rows == "dense" else 0.98 * np.eye(3, 5) - 0.1
    np.testing.assert_allclose(incidental.expected_loss_grad(W, law), differences(W, law), rtol=0, atol=1e-8)


@pytest.mark.parametrize("law", [LAWS[0], *LAWS[4:]], ids=[NAMES[0], *NAMES[4:]])
def test_gradients_of_many_weights_are_those_of_each(law):
    many = np.stack([weights(3, 5, seed=seed) for seed in range(4)])
    each = [incidental.expected_loss_grad(W, law) for W in many]
    np.testing.assert_allclose(incidental.expected_loss_grad_each(many, law), each, rtol=0, atol=1e-13)


def test_a_step_of_training_is_a_step_along_the_gradient_on_average():

    W, law, eta = weights(3, 4, seed=6), incidental.laplace(0.3), 0.01
    start = np.repeat(W[None], 100_000, axis=0)
    found = incidental.train_with_noise(start, law, eta=eta, steps=1, record=[1], noise="independent", seed=0).W[0]
    se = found.std(axis=0) / np.sqrt(len(found))
    assert np.all(abs(found.mean(axis=0) - (W - eta * incidental.expected_loss_grad(W, law))) < 4.5 * se)


def test_without_noise_the_loss_is_plain():
    W = weights(4, 6)
    plain = ((np.maximum(W @ W.T, 0) - np.eye(4)) ** 2).sum()
    for law in (incidental.bipolar(0), incidental.laplace(0)):
        assert incidental.expected_loss(W, law) == pytest.approx(plain, rel=1e-14)
    assert incidental.expected_loss(np.zeros((3, 4)), incidental.uniform(0.1)) == 3


def test_only_gaussian_noise_is_rotationally_symmetric():
    W = weights(5, 8, seed=7)
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((8, 8)))[0]
    change = [incidental.expected_loss(W @ rotation, law) - incidental.expected_loss(W, law) for law in LAWS[:4]]
    assert abs(change[2]) < 1e-13
    assert min(abs(change[i]) for i in (0, 1, 3)) > 1e-5


def test_descent_is_steps_along_the_gradient_and_lowers_the_loss():
    W, law, seen = weights(4, 6, seed=9), incidental.bipolar(0.15), []
    found = incidental.descend_expected_loss(
        W, law, eta=0.1, steps=200, record=[0, 1, 200], progress=lambda *a: seen.append(a)
    )
    np.testing.assert_array_equal(found[0], W)
    np.testing.assert_allclose(found[1], W - 0.1 * incidental.expected_loss_grad(W, law), rtol=1e-14)
    losses = [incidental.expected_loss(w, law) for w in found]
    assert losses[0] > losses[1] > losses[2]
    assert seen == [(100, 200), (200, 200)]


def test_slope_of_the_fourth_norm_is_that_of_a_small_step():
    W, law = weights(4, 6, seed=10), incidental.bipolar(0.2)
    after = incidental.descend_expected_loss(W, law, eta=1e-6, steps=1, record=[1])[0]

    def direction(W):
        return np.mean(np.sum(W**4, axis=1) / np.sum(W**2, axis=1) ** 2)

    change = (direction(after) - direction(W)) / 1e-6
    assert incidental.fourth_norm_slope(W, law) == pytest.approx(change, rel=1e-4)  # second order in the step


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: incidental.expected_loss([1.0, 2.0], incidental.normal(0.1)),
            r"W has shape \(2,\); allowed: \(n, m\)",
        ),
        (
            lambda: incidental.expected_loss(np.ones((2, 34)), incidental.bipolar(0.1)),
            r"m = 34 gives 2\^17 = 131072 sums in each half; allowed: up to 65536",
        ),
        (lambda: incidental.expected_loss_grad(np.ones((2, 22)), incidental.discrete(0.1, 1)), r"3\^11 = 177147 sums"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
