"""The bounds of Appendices B and D against mpmath, and that each sharp constant is one."""

from pathlib import Path

import jupytext
import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr
from superposition import features
from superposition.book import parameters
from superposition.rug import loss_bounds, meanfield
from superposition.rug.bayes import bayes_loss


def both(t, sigma):
    """E_r and E_nu of Appendix B by quadrature over u, 18 digits."""
    with mp.workdps(18):
        t, sigma = mp.mpf(t), mp.mpf(sigma)
        marks = sorted({mp.mpf(0), mp.mpf(1), *(m for m in ((t + s) * sigma for s in (-5, 0, 5, 10)) if 0 < m < 1)})
        relu = mp.quad(lambda u: u**2 * mp.ncdf(t - u / sigma), marks)

        def blur(u):
            low, power = t - u / sigma, (1 + t**2)
            return sigma**2 * (power * mp.ncdf(-low) + (low - 2 * t) * mp.npdf(low))

        return relu, mp.quad(blur, marks)


def test_blur_is_the_integral_over_the_noise():
    """What both routes above take as exact given u."""
    with mp.workdps(20):
        t, low = mp.mpf(2), mp.mpf("-0.7")
        direct = mp.quad(lambda z: (z - t) ** 2 * mp.npdf(z), [low, 0, 2, 5, 14])
        assert abs(direct - ((1 + t**2) * mp.ncdf(-low) + (low - 2 * t) * mp.npdf(low))) < 1e-15


@pytest.mark.parametrize(("t", "sigma"), [(2, 0.05), (0, 0.25), (6, 0.1), (3, 1e-3)])
def test_parts_of_the_on_term(t, sigma):
    found, (relu, noise) = loss_bounds.on_terms(t, sigma), both(t, sigma)
    assert found.relu == pytest.approx(float(relu), rel=1e-10, abs=0)
    assert found.noise == pytest.approx(float(noise), rel=1e-8, abs=0)
    assert found.mean + found.tail == pytest.approx(found.relu, rel=1e-14, abs=0)


@pytest.mark.parametrize("t", [0.0, 0.7, 3.0, 9.0])
@pytest.mark.parametrize("sigma", [1e-6, 0.01, 0.25, 1.0])
def test_parts_add_up_to_the_loss(t, sigma):
    assert loss_bounds.on_terms(t, sigma).total == pytest.approx(
        float(meanfield.loss(1, -t * sigma, sigma, 1.0)), rel=1e-11, abs=0
    )


def test_every_bound_of_appendix_b_holds_with_room():
    t, sigma = np.linspace(0, 8, 33)[:, None], np.geomspace(1e-6, 0.06, 12)
    found, bound = loss_bounds.on_terms(t, sigma), loss_bounds.on_term_bounds(t, sigma)
    for part in ("relu", "noise", "tail"):
        assert np.all(getattr(found, part) < getattr(bound, part)), part
    assert np.all(found.mean[1:] < bound.mean[1:]) and np.all(found.mean[0] == 0)  # strict only for mu > 0
    for p in (0.5, 1e-6):
        assert np.all(meanfield.loss(1, -t * sigma, sigma, p) < loss_bounds.loss_upper_bound(p, t, sigma))


def test_bounds_are_the_lines_of_the_text():
    t, sigma = np.array([0.0, 0.5, 3.0]), np.array([0.1, 0.2, 0.05])
    found, mu = loss_bounds.on_term_bounds(t, sigma), t * sigma
    line = (1 - 2 * mu) * ndtr(-t)  # what the tail's exponential bounds, equal at t = 0
    assert np.all(found.tail >= line) and found.tail[0] == pytest.approx(line[0], rel=1e-14)
    assert found.mean == pytest.approx([float(mp.quad(lambda u: u**2, [0, 2 * m])) for m in mu], rel=1e-12, abs=0)
    assert found.noise == pytest.approx(sigma**2 + mu**2, rel=1e-14)
    assert found.total == pytest.approx(found.noise + found.mean + found.tail, rel=1e-14)
    off = 0.75 * sigma**2 / 2 * np.exp([0.0, -1 / 8, -9 / 2])  # of the features that are off, at p = 1/4
    assert loss_bounds.loss_upper_bound(0.25, t, sigma) == pytest.approx(off + found.total / 4, rel=1e-14)


def test_cut_off_error_is_sharp():
    t, sigma = np.array([0.5, 2.0, 5.0])[:, None], np.array([1e-4, 0.01, 0.08])
    assert loss_bounds.cut_off_error(t, sigma) == pytest.approx(loss_bounds.on_terms(t, sigma).relu, rel=1e-5, abs=0)
    assert np.all(loss_bounds.on_terms(t, 1.0).relu < loss_bounds.cut_off_error(t, 1.0))


def mmse_by_fisher(sigma):
    """sigma^2 - sigma^4 J(y), J the Fisher information of y = u + nu: another route than the posterior."""
    with mp.workdps(40):
        s = mp.mpf(sigma)

        def information(y):
            mass = (mp.erfc((y - 1) / s / mp.sqrt(2)) - mp.erfc(y / s / mp.sqrt(2))) / 2
            return ((mp.npdf(y / s) - mp.npdf((y - 1) / s)) / s) ** 2 / mass if mass else mp.mpf(0)

        marks = [-11 * s, -4 * s, 0, min(4 * s, mp.mpf(1) / 2), mp.mpf(1) / 2]
        return s**2 - s**4 * 2 * mp.quad(information, sorted(set(marks)))


@pytest.mark.parametrize("sigma", [0.01, 0.1, 0.25, 1.0])
def test_mmse_by_another_route(sigma):
    assert loss_bounds.mmse(sigma) == pytest.approx(float(mmse_by_fisher(sigma)), rel=1e-9, abs=0)


def test_mmse_slope():
    with mp.workdps(30):
        c = 2 * mp.quad(lambda z: mp.npdf(z) ** 2 / (mp.erfc(-z / mp.sqrt(2)) / 2), [-20, -5, 0, 5, 20])
    assert loss_bounds.mmse_slope() == pytest.approx(float(c), rel=1e-12)
    sigma = np.array([1e-4, 0.01, 0.1])
    assert loss_bounds.mmse(sigma) == pytest.approx(sigma**2 * (1 - loss_bounds.mmse_slope() * sigma), rel=1e-9, abs=0)


def test_lower_bound_is_below_every_decoder():
    p, r = np.array([0.9, 0.05, 1e-9])[:, None], np.array([1e-4, 0.1, 0.5, 0.99])
    bayes = bayes_loss(p, meanfield.noise_std(p, r))
    assert np.all(loss_bounds.loss_lower_bound(p, r) < bayes * (1 + 1e-9))
    assert loss_bounds.loss_lower_bound(1e-12, 0.5) == pytest.approx(
        float(bayes_loss(1e-12, meanfield.noise_std(1e-12, 0.5))), rel=1e-3, abs=0
    )
    assert loss_bounds.loss_lower_bound(0.05, 1e-12) == pytest.approx(0.05 / 12, rel=1e-6)


def cut_normal(y, sigma):
    """Variance, and chance of |u - y| <= sigma, of a normal variable cut to [0, 1], by quadrature."""
    with mp.workdps(30):
        y, s = mp.mpf(y), mp.mpf(sigma)
        marks = sorted({mp.mpf(0), mp.mpf(1), *(m for m in (y + k * s for k in (-9, -1, 0, 1, 9)) if 0 < m < 1)})

        def moment(k, marks=marks):
            return mp.quad(lambda u: (u - y) ** k * mp.exp(-(((u - y) / s) ** 2) / 2), marks)

        inside = [m for m in marks if abs(m - y) <= s * (1 + mp.mpf(10) ** -20)]
        return moment(2) / moment(0) - (moment(1) / moment(0)) ** 2, moment(0, inside) / moment(0)


@pytest.mark.parametrize(("y", "sigma"), [(0.25, 0.25), (0.5, 0.1), (0.01, 0.01), (0.7, 0.05)])
def test_posterior(y, sigma):
    variance, inside = cut_normal(y, sigma)
    assert loss_bounds.posterior_variance(y, sigma) == pytest.approx(float(variance), rel=1e-9, abs=0)
    assert loss_bounds.inside_probability(y, sigma) == pytest.approx(float(inside), rel=1e-11)


@pytest.mark.parametrize("sigma", [1e-6, 0.05, 0.25, 0.4])
def test_window_constant_is_the_best_one(sigma):
    y = np.linspace(sigma, 1 - sigma, 401)
    ratio = loss_bounds.posterior_variance(y, sigma) / sigma**2
    assert loss_bounds.window_constant(sigma) == pytest.approx(ratio.min(), rel=1e-9)
    assert np.all(loss_bounds.inside_probability(y, sigma) >= loss_bounds.INSIDE_FLOOR * (1 - 1e-12))
    assert loss_bounds.PROOF_CONSTANT < loss_bounds.window_constant(sigma)


def test_constants_of_the_proof():
    with mp.workdps(30):
        inside = mp.erf(1 / mp.sqrt(2))
        variance = mp.quad(lambda z: z**2 * mp.npdf(z), [-1, 1]) / inside
    assert loss_bounds.INSIDE_FLOOR == pytest.approx(float(inside), rel=1e-15)
    assert loss_bounds.INSIDE_VARIANCE == pytest.approx(float(variance), rel=1e-13)


def test_window_probability_against_draws():
    rng = np.random.default_rng(0)
    for sigma in (0.25, 0.05):
        y = rng.random(400_000) + sigma * rng.standard_normal(400_000)
        hits = np.mean((y >= sigma) & (y <= 1 - sigma))
        assert abs(hits - loss_bounds.window_probability(sigma)) < 4 * (hits * (1 - hits) / 400_000) ** 0.5
    assert np.all(np.diff(loss_bounds.window_probability(np.geomspace(1e-6, 0.5, 40))) < 0)


def test_a_decoder_that_knows_is_no_better():
    """The conditional mean, applied to draws, has the error mmse; anything else has more."""
    rng = np.random.default_rng(1)
    u, sigma = rng.random(200_000), 0.2
    y = u + sigma * rng.standard_normal(len(u))
    centre = loss_bounds.posterior_mean(y, sigma)
    error = (u - centre) ** 2
    assert abs(error.mean() - loss_bounds.mmse(sigma)) < 4 * error.std() / len(u) ** 0.5
    assert np.mean((u - np.clip(y, 0, 1)) ** 2) > loss_bounds.mmse(sigma)
    assert features.variance(1.0) > loss_bounds.mmse(sigma)


def test_the_page_starts_from_the_defaults():
    cells = jupytext.read(Path(__file__).resolve().parents[2] / "book" / "ch3-bounds.md").cells
    namespace = {}
    exec(next(c.source for c in cells if "parameters" in c.metadata.get("tags", [])), namespace)
    assert parameters.check(namespace, parameters.Bounds).at_defaults
    with pytest.raises(parameters.ParameterError, match=r"sigma = 0\.3 is not allowed; allowed: numbers from 0\.0001"):
        parameters.check(namespace | {"sigma": 0.3}, parameters.Bounds)


def test_the_constant_of_the_lower_bound_ends_at_a_quarter():
    sigma = np.geomspace(1e-4, 0.25, 50)
    assert np.all(loss_bounds.mmse(sigma) > 0.5512 * sigma**2)
    assert loss_bounds.mmse(1.0) < 0.08
