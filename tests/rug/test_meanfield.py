"""The mean-field loss against 30-digit arithmetic, its optimum and the Bayes decoder against independent routes."""

import mpmath as mp
import numpy as np
import pytest
from sampled import sampled
from scipy import optimize
from superposition import features, rug
from superposition.rug import bayes, meanfield, rugs
from superposition.rug.bayes import bayes_loss

DOMAIN_P = [1e-12, 1e-9, 1e-6, 1e-3, 0.05, 0.5, 1.0]
DOMAIN_R = [1e-12, 1e-6, 0.01, 0.2, 0.5, 0.99, 1 - 1e-9]


def quadrature_loss(a, b, sigma, p):
    """Eq. 5 by 30-digit quadrature over the noise; given the noise, that over u is exact (two Simpson pieces)."""
    with mp.workdps(30):
        a, b, sigma, p = map(mp.mpf, (a, b, sigma, p))

        def squared_error(z):
            def at(u):
                return (u - max(0, a * (u + sigma * z) + b)) ** 2

            kink = min(max(-b / a - sigma * z, mp.mpf(0)), mp.mpf(1))
            pieces = ((mp.mpf(0), kink), (kink, mp.mpf(1)))
            on = sum((high - low) * (at(low) + 4 * at((low + high) / 2) + at(high)) / 6 for low, high in pieces)
            return ((1 - p) * at(mp.mpf(0)) + p * on) * mp.npdf(z)

        edges = {mp.mpf(-14), mp.mpf(0), mp.mpf(14), -b / (a * sigma), -(a + b) / (a * sigma)}
        return mp.quad(squared_error, sorted(z for z in edges if abs(z) <= 14))


def closed_form_loss(a, b, sigma, p):
    """The textbook arrangement, in 200 digits, so that nothing it cancels matters."""
    with mp.workdps(200):
        a, b, sigma, p = map(mp.mpf, (a, b, sigma, p))
        s = a * sigma

        def moments(m):
            z = m / s
            cdf, density = mp.erfc(-z / mp.sqrt(2)) / 2, mp.npdf(z)
            return (m**2 + s**2) * cdf + m * s * density, (m**3 + 3 * m * s**2) * cdf + (m**2 * s + 2 * s**3) * density

        (off, b3), (top2, top3) = moments(b), moments(a + b)
        return (1 - p) * off + p * (mp.mpf(1) / 3 - top2 / a + (1 + a) / (3 * a**2) * (top3 - b3))


def relative_error(value, reference):
    return abs(float((mp.mpf(float(value)) - reference) / reference))


@pytest.mark.parametrize(
    ("a", "b", "sigma", "p"), [(1, 0, 0.25, 0.05), (1.2, -0.4, 0.1, 0.3), (0.6, 0.2, 2, 0.9), (2, -1.5, 0.5, 1e-3)]
)
def test_reference_is_the_integral(a, b, sigma, p):
    assert relative_error(closed_form_loss(a, b, sigma, p), quadrature_loss(a, b, sigma, p)) < 1e-12


@pytest.mark.parametrize("p", DOMAIN_P)
@pytest.mark.parametrize("r", DOMAIN_R)
def test_loss_to_1e10_over_the_domain(p, r):
    sigma = float(meanfield.noise_std(p, r))
    best = meanfield.optimum(p, r)
    rng = np.random.default_rng(0)
    points = [(float(best.a), float(best.b))]
    points += [(10 ** rng.uniform(-3, 0.7), rng.choice([-1, 1]) * 10 ** rng.uniform(-8, 0.7)) for _ in range(6)]
    points += [(a, -t * a * sigma) for a in (0.5, 1.0) for t in (-3, 2.4999, 2.5001, 7, 30) if t * a * sigma < 5]
    points += [
        (a, -a * fraction) for a in (0.099 * sigma, 0.101 * sigma) for fraction in (0.1, 0.49, 0.51) if 1e-3 < a < 5
    ]
    for a, b in points:
        assert relative_error(meanfield.loss(a, b, sigma, p), closed_form_loss(a, b, sigma, p)) < 1e-10, (a, b, sigma)


def test_noiseless_limit():
    a, b, p = 1.3, -0.2, 0.1
    u = (np.arange(200_000) + 0.5) / 200_000  # midpoint rule: error below 1e-10
    by_hand = p * np.mean((u - np.maximum(a * u + b, 0)) ** 2)
    assert meanfield.loss(a, b, 0.0, p) == pytest.approx(by_hand, rel=1e-9)
    assert meanfield.loss(a, b, 1e-14, p) == pytest.approx(by_hand, rel=1e-9)
    assert meanfield.loss(1, 0, 0, p) == 0


@pytest.mark.parametrize("p", [1e-6, 0.05, 1.0])
@pytest.mark.parametrize("r", [1e-4, 0.2, 0.9])
def test_gradient_is_the_derivative(p, r):
    sigma = float(meanfield.noise_std(p, r))
    for a, b in [(1.2, -1.6 * sigma), (0.7, 0.3), (0.05 * sigma, -0.01 * sigma), (1.0, -0.8)]:
        gradient = meanfield.loss_grad(a, b, sigma, p)
        with mp.workdps(60):  # central difference of the 200-digit form: truncation 1e-20
            for name, i in (("a", 0), ("b", 1), ("sigma", 2)):
                plus, minus = [mp.mpf(a), mp.mpf(b), mp.mpf(sigma)], [mp.mpf(a), mp.mpf(b), mp.mpf(sigma)]
                h = mp.mpf(10) ** -15 * max(abs(plus[i]), sigma)
                plus[i], minus[i] = plus[i] + h, minus[i] - h
                slope = (closed_form_loss(*plus, p) - closed_form_loss(*minus, p)) / (2 * h)
                scale = float(closed_form_loss(a, b, sigma, p)) / min(abs(a), sigma)
                assert float(getattr(gradient, name)) == pytest.approx(float(slope), rel=1e-9, abs=1e-11 * scale)


@pytest.mark.thorough
def test_optimum_beats_every_start():
    rng = np.random.default_rng(1)
    for p, r in [
        (0.05, 0.2),
        (0.05, 0.02),
        (1e-3, 0.01),
        (1e-3, 0.004),
        (0.01, 0.05),
        (1e-5, 1e-3),
        (0.5, 0.7),
        (1.0, 0.3),
    ]:
        best = meanfield.optimum(p, r)
        scale = features.variance(p)
        lowest = min(
            optimize.minimize(
                lambda v, best=best, p=p, scale=scale: float(meanfield.loss(np.exp(v[0]), v[1], best.sigma, p)) / scale,
                [rng.uniform(-4, 1), rng.uniform(-2, 0.5)],
                method="Nelder-Mead",
                options={"xatol": 1e-9, "fatol": 1e-15},
            ).fun
            for _ in range(4)
        )
        assert best.loss / scale <= lowest * (1 + 1e-9), (p, r)
        assert best.loss == pytest.approx(float(meanfield.loss(best.a, best.b, best.sigma, p)), rel=1e-14)


def test_optimum_is_stationary_and_ordered_over_the_domain():
    p = 10.0 ** np.linspace(-12, 0, 7)[:, None]
    r = np.array([1e-12, 1e-6, 0.003, 0.03, 0.2, 0.6, 0.9, 0.9999])
    best = meanfield.optimum(p, r)
    gradient = meanfield.loss_grad(best.a, best.b, best.sigma, p)
    # a is known to rounding only, and a^2 L_aa = 2 E[y+^2] <= p: more of a slope cannot be asked for
    assert np.all(np.abs(gradient.a) * best.a <= 1e-9 * best.loss + 10 * np.finfo(float).eps * p)
    assert np.all(np.abs(gradient.b) * np.minimum(best.a * best.sigma, 1) <= 1e-9 * best.loss)
    bayes = bayes_loss(p, best.sigma)
    rounding = 1e-9
    assert np.all(bayes <= best.loss * (1 + rounding))
    assert np.all(best.loss <= meanfield.linear_loss(p, r) * (1 + rounding))
    assert np.all(np.diff(best.loss, axis=1) <= rounding * best.loss[:, :-1])  # falls with r


def test_optimum_keeps_the_lower_of_two_valleys():
    """Where a threshold and an almost linear decoder compete, the loss has a kink but no jump in r."""
    r = np.geomspace(1e-5, 1e-2, 150)
    best = meanfield.optimum(1e-3, r)
    assert np.any(best.b > 0) and np.any(best.b < 0)
    assert np.max(np.abs(np.diff(np.log(best.loss)))) < 0.1


def test_no_noise_at_ratio_1():
    best = meanfield.optimum(0.05, 1)
    assert (best.a, best.b, best.sigma, best.loss) == (1, 0, 0, 0)
    assert bayes.bayes_loss(0.05, 0) == 0 and meanfield.linear_loss(0.05, 1) == 0


def test_shapes_broadcast():
    assert meanfield.optimum(np.array([0.1, 0.2])[:, None], np.array([0.1, 0.5, 1.0])).loss.shape == (2, 3)
    assert meanfield.loss(1, np.zeros((4, 1)), 0.1, [0.1, 0.2]).shape == (4, 2)
    assert bayes.bayes_loss([0.1, 0.2], 0.3).shape == (2,)


@pytest.mark.parametrize(
    ("p", "sigma"),
    sampled(
        [(0.05, 0.249), (1e-6, 1e-3), (0.05, 0.25331), (0.3, 2.0), (1e-3, 0.05), (1e-12, 1e-6), (1, 0.1), (0.2, 300.0)],
        kept=2,
    ),
)
def test_bayes_loss_against_30_digits(p, sigma):
    with mp.workdps(60):  # of which the difference of two erfc cancels up to 30 at five standard deviations
        P, s = mp.mpf(p), mp.mpf(sigma)

        def posterior_mean_squared(y):
            top, bottom = y / s, (y - 1) / s
            mass = (mp.erfc(-top / mp.sqrt(2)) - mp.erfc(-bottom / mp.sqrt(2))) / 2
            seen = (1 - P) * mp.npdf(top) / s + P * mass
            return 0 if seen == 0 else (P * (y * mass + s * (mp.npdf(top) - mp.npdf(bottom)))) ** 2 / seen

        edges = sorted(
            {
                -12 * s,
                -5 * s,
                mp.mpf(0),
                3 * s,
                5 * s,
                7 * s,
                10 * s,
                mp.mpf("0.5"),
                1 - 5 * s,
                mp.mpf(1),
                1 + 5 * s,
                1 + 9 * s,
            }
        )
        reference = P / 3 - mp.quad(posterior_mean_squared, edges, maxdegree=6)
        assert relative_error(bayes.bayes_loss(p, sigma), reference) < 1e-10


def test_noise_std_is_equation_6():
    assert meanfield.noise_std(0.05, 0.2) ** 2 == pytest.approx((4 * 0.05 - 3 * 0.05**2) / 12 * 4, rel=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rug.loss(0, 0, 1, 0.5), r"a = 0 is out of range; allowed: \[1e-30, 1e\+30\]"),
        (lambda: rug.loss(1, np.nan, 1, 0.5), "b = nan is out of range"),
        (lambda: rug.loss(1, 0, -1, 0.5), r"sigma = -1 is out of range; allowed: \[0, 1e\+30\]"),
        (lambda: rug.loss_grad(1, 0, 1, [0.5, 1.5]), r"p = 1\.5 is out of range; allowed: \(0, 1\]"),
        (lambda: rug.noise_std(0.5, 0), r"r = 0 is out of range; allowed: \(0, 1\]"),
        (lambda: rug.optimum(0.5, 1.01), r"r = 1\.01 is out of range"),
        (lambda: rug.bayes_loss(0, 1), "p = 0 is out of range"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("a", [1e-3, 0.4, 1.0, 1.13, 5.0])
def test_without_noise_to_the_bit(a):
    b = np.r_[np.random.default_rng(0).uniform(-6, 6, 2000), np.geomspace(1e-300, 1, 30), 0.0, -0.0, -a, -a / 2]
    for p in (1e-9, 0.05, 1.0):
        assert np.array_equal(rugs._noiseless_loss(a, b, p), meanfield.loss(a, b, 0, p))


def test_the_gain_of_the_best_activation_passes_the_bound_only_next_to_one():
    p, r = np.meshgrid([0.05, 0.1, 0.5, 1], [1e-4, 0.01, 0.2, 0.9, 0.98, 0.999])
    gain = rug.optimum(p, r).loss / rug.bayes_loss(p, rug.noise_std(p, r))
    assert gain[:-1].max() < 1.7 < gain[-1].max()
