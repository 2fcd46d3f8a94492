"""The best JumpReLU: its loss by quadrature, and nothing near or far that is lower."""

import numpy as np
import pytest
from scipy import optimize
from scipy.special import ndtr
from superposition import features, rug
from superposition.rug import jumprelu, meanfield
from superposition.rug.bayes import bayes_loss

NODES, WEIGHTS = np.polynomial.legendre.leggauss(200)


def jump_loss(a, b, theta, sigma, p):
    """Mean squared error of y 1[y > theta], y = a (x + nu) + b: the noise in closed form, u by quadrature."""
    jump = (theta - b) / a

    def given(u):
        z = (jump - u) / sigma
        miss, density = u - a * u - b, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
        seen = miss**2 * ndtr(-z) - 2 * miss * a * sigma * density + (a * sigma) ** 2 * (ndtr(-z) + z * density)
        return u**2 * ndtr(z) + seen

    edges = np.unique(np.clip([0, jump - 12 * sigma, jump, jump + 12 * sigma, 1], 0, 1))
    on = sum(
        (high - low) / 2 * np.sum(WEIGHTS * given((low + high) / 2 + (high - low) / 2 * NODES))
        for low, high in zip(edges[:-1], edges[1:], strict=True)
    )
    return (1 - p) * given(0.0) + p * on


POINTS = [(0.05, 0.2), (0.05, 0.6), (1e-3, 0.1), (0.5, 0.9), (1e-6, 0.3), (1e-12, 0.2), (0.01, 0.001), (1.0, 0.5)]


@pytest.mark.parametrize(("p", "r"), POINTS)
def test_loss_is_that_of_the_decoder(p, r):
    best = jumprelu.jumprelu_optimum(p, r)
    direct = jump_loss(best.a, best.b, best.theta, best.sigma, p)
    assert best.loss == pytest.approx(direct, rel=1e-8, abs=0)  # the direct form cancels at p = 1e-12


@pytest.mark.parametrize(("p", "r"), [(0.05, 0.2), (0.05, 0.6), (1e-3, 0.1)])
def test_nothing_is_lower(p, r):
    best, rng = jumprelu.jumprelu_optimum(p, r), np.random.default_rng(0)
    lowest = min(
        optimize.minimize(
            lambda v: jump_loss(np.exp(v[0]), v[1] * best.sigma, v[2] * best.sigma, best.sigma, p) / best.loss,
            [rng.uniform(-0.5, 0.5), rng.uniform(-3, 1), rng.uniform(0, 4)],
            method="Nelder-Mead",
            options={"xatol": 1e-7, "fatol": 1e-12},
        ).fun
        for _ in range(4)
    )
    assert 1 - 1e-9 < lowest < 1 + 1e-3  # one of the four starts comes near it: the search itself is at fault otherwise


def test_between_bayes_and_relu_over_the_domain():
    p, r = 10.0 ** np.linspace(-12, 0, 7)[:, None], np.array([1e-9, 1e-3, 0.05, 0.2, 0.5, 0.9, 0.999])
    jump, relu = jumprelu.jumprelu_optimum(p, r), meanfield.optimum(p, r)
    bayes = bayes_loss(p, jump.sigma)
    assert np.all(jump.loss <= relu.loss * (1 + 1e-9)) and np.all(bayes <= jump.loss * (1 + 1e-9))
    assert np.all(jump.theta >= 0)
    assert np.max(jump.loss / bayes) < 1.2


def test_relu_is_the_best_jumprelu_until_the_jump_opens():
    r = np.linspace(0.02, 0.95, 60)
    jump, relu = jumprelu.jumprelu_optimum(0.05, r), meanfield.optimum(0.05, r)
    height = jump.theta / (jump.a * jump.sigma)
    closed = height == 0
    assert closed.any() and (~closed).any() and height[~closed].min() > 1  # it opens with a jump, not gradually
    assert np.all(jump.loss[~closed] < relu.loss[~closed])


def test_no_noise_and_shapes():
    best = jumprelu.jumprelu_optimum(0.05, 1)
    assert (best.a, best.b, best.theta, best.sigma, best.loss) == (1, 0, 0, 0, 0)
    assert jumprelu.jumprelu_optimum(np.array([0.1, 0.2])[:, None], [0.1, 0.5, 1.0]).loss.shape == (2, 3)
    assert jumprelu.jumprelu_optimum(0.05, 1e-9).loss == pytest.approx(features.variance(0.05), rel=1e-6)
    with pytest.raises(ValueError, match=r"r = 2 is out of range; allowed: \(0, 1\]"):
        rug.jumprelu_optimum(0.5, 2)
