"""Closed forms at five hundred extreme legal arguments each, against the same quantities to fifty digits.

The forms here are integrated by another route than the library's: by repeated integrals of the normal distribution,
in 400 digits, of which cancellation leaves at least fifty.
"""

import mpmath as mp
import numpy as np
import pytest
from sampled import sampled
from superposition import codes, correlated, features, frequencies, moments, rug

DRAWS = 500
THIRDS = sampled([slice(first, None, 3) for first in range(3)])  # of the draws of what takes seconds
EVERY = np.float64(2.0**-1000)  # what is smaller may be rounded to 0


def drawn(low, high, seed, signed=False):
    """Numbers whose logarithms are uniform, the ends of the range among them."""
    rng = np.random.default_rng(seed)
    size = np.r_[low, high, np.exp(rng.uniform(np.log(low), np.log(high), DRAWS - 2))]
    return (np.clip(rng.permutation(size), low, high) * (rng.choice([-1, 1], DRAWS) if signed else 1)).tolist()


def repeated(k, z):
    """E ReLU(Z + z)^k / k! of a standard normal Z, the k-th repeated integral of its distribution; 0 far below."""
    if z < -60:
        return mp.mpf(0)
    before, here = mp.npdf(z), mp.ncdf(z)
    for order in range(1, k + 1):
        before, here = here, (z * here + before) / order
    return here


def power(k, m, s):
    return mp.factorial(k) * s**k * repeated(k, m / s) if s else (max(m, mp.mpf(0)) ** k if k else mp.mpf(m > 0))


def ramp(j, k, m, slope, s):
    """Integral of u^j E ReLU(m + slope u + s Z)^k over u from 0 to 1, by parts."""
    at = [(m + slope * u) / s for u in (0, 1)]
    step, total = s / slope, mp.mpf(0)
    for i in range(j + 1):  # u^j and its derivatives at 1; at 0 the last alone is left
        sign = (-1) ** i * mp.factorial(j) / mp.factorial(j - i) * step ** (i + 1)
        total += sign * (repeated(k + i + 1, at[1]) - (repeated(k + i + 1, at[0]) if i == j else 0))
    return mp.factorial(k) * s**k * total


def exact_loss(a, b, sigma, p):
    s = a * sigma
    on = mp.mpf(1) / 3 - 2 * ramp(1, 1, b, a, s) + ramp(0, 2, b, a, s)
    return (1 - p) * power(2, b, s) + p * on


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(400):
        yield


def agree(found, exact, rtol, least=EVERY):
    """Each within a share of the exact value, or smaller than the least that counts."""
    exact = np.array([float(value) for value in exact])
    off = np.abs(found - exact) / (rtol * np.abs(exact) + least)
    assert np.isfinite(found).all() and off.max() <= 1, (int(off.argmax()), off.max(), found[off.argmax()])


def numbers(*lists):
    return [tuple(map(mp.mpf, values)) for values in zip(*lists, strict=True)]


@pytest.mark.parametrize("third", THIRDS)
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_moments_of_a_rectified_gaussian(k, third):
    m, s = drawn(1e-75, 1e75, 1, signed=True), drawn(1e-75, 1e75, 2)
    near = np.random.default_rng(3).uniform(-38, 38, DRAWS // 2)  # where neither sign nor size decides
    m[: len(near)] = (near * s[: len(near)]).tolist()
    m, s = np.clip(m, -1e75, 1e75).tolist()[third], s[third]
    exact = [power(k, *one) for one in numbers(m, s)]
    agree(moments.moment(k, m, s), exact, 1e-12, least=EVERY * np.maximum(1, np.array(s) ** k))


@pytest.mark.parametrize(("j", "k"), sampled([(0, 0), (1, 1), (0, 2), (1, 0), (2, 0), (0, 1)], kept=3))
def test_moments_of_a_ramp(j, k):
    m, slope, s = drawn(1e-20, 1e20, 4, signed=True), drawn(1e-20, 1e20, 5, signed=True), drawn(1e-20, 1e20, 6)
    rng = np.random.default_rng(7)
    m[:200] = (-rng.uniform(-0.2, 1.2, 200) * np.array(slope[:200])).tolist()
    legal = (np.abs(slope) < 0.1 * np.array(s)) | (np.array(m) <= 10.0 ** (4 - j) * np.abs(slope))
    m, slope, s = (np.array(values)[legal].tolist() for values in (m, slope, s))
    assert 300 < len(m) < DRAWS
    exact = [ramp(j, k, *one) for one in numbers(m, slope, s)]
    agree(moments.ramp_moment(j, k, m, slope, s), exact, 1e-9)
    with pytest.raises(ValueError, match="m = .* is out of range; allowed: up to .* times the slope"):
        moments.ramp_moment(j, k, 1.97e4, 9.5e-5, 2.6e-13)


@pytest.mark.parametrize("third", THIRDS)
def test_the_loss_of_the_closed_form(third):
    a, b, sigma, p = (
        drawn(1e-30, 1e30, 8),
        drawn(1e-30, 1e30, 9, signed=True),
        drawn(1e-30, 1e30, 10),
        drawn(1e-30, 1, 11),
    )
    rng = np.random.default_rng(12)
    a[:300], sigma[:300] = rng.uniform(0.5, 2, 300).tolist(), np.exp(rng.uniform(-20, 1, 300)).tolist()
    b[:300] = (-rng.uniform(0, 30, 300) * np.array(a[:300]) * sigma[:300]).tolist()
    a, b, sigma, p = (values[third] for values in (a, b, sigma, p))
    agree(rug.loss(a, b, sigma, p), [exact_loss(*one) for one in numbers(a, b, sigma, p)], 1e-9)


def test_noise_and_linear_loss():
    p, r = drawn(1e-280, 1, 13), drawn(1e-300, 1, 14)
    variance = [p / 3 - p**2 / 4 for p in map(mp.mpf, p)]
    agree(features.variance(p), variance, 1e-14)
    lost = [v * (1 - mp.mpf(r)) for v, r in zip(variance, r, strict=True)]
    agree(rug.linear_loss(p, r), lost, 1e-14)
    agree(rug.noise_std(p, r), [mp.sqrt(x / mp.mpf(r)) for x, r in zip(lost, r, strict=True)], 1e-14)


def test_the_posterior_of_a_feature_that_is_on():
    y, sigma = np.random.default_rng(15).uniform(-3, 4, DRAWS), np.array(drawn(1e-3, 1e30, 16))
    y = np.where(np.abs(y - 0.5) > 0.5 + 30 * sigma, 0.5, y).tolist()
    mean, variance = [], []
    for one, s in numbers(y, sigma.tolist()):
        low, high = -one / s, (1 - one) / s
        mass, down, up = mp.ncdf(high) - mp.ncdf(low), mp.npdf(low), mp.npdf(high)
        mean.append(one + s * (down - up) / mass)
        variance.append(s**2 * (1 + (low * down - high * up) / mass - ((down - up) / mass) ** 2))
    agree(rug.posterior_mean(y, sigma), mean, 1e-9)
    agree(rug.posterior_variance(y, sigma), variance, 1e-6)


@pytest.mark.parametrize("third", THIRDS)
def test_the_optimum_has_its_loss_and_no_other_bias_a_lower_one(third):
    p, r = drawn(1e-30, 1, 17)[:40], np.random.default_rng(18).uniform(0.01, 0.99, 40)
    for one, ratio in zip(p[third], r[third], strict=True):
        best, sigma = rug.optimum(one, ratio), float(rug.noise_std(one, ratio))
        near = lambda a, b: exact_loss(*map(mp.mpf, (a, b, sigma, one)))  # noqa: B023, E731
        least = near(float(best.a), float(best.b))
        assert abs(float(best.loss / least) - 1) < 1e-9
        tries = [near(float(best.a) * x, float(best.b) * y) for x in (0.99, 1, 1.01) for y in (0.8, 0.98, 1.02, 1.25)]
        assert min(tries) > least * (1 - mp.mpf(10) ** -9)


@pytest.mark.parametrize("B", [4, 5, 10, 70])
def test_fans_and_swept_fans(B):
    p = drawn(1e-30, 1, 19)
    hiders, fans, swept = [0, *range(B - 2), B - 3], [], []
    for one in map(mp.mpf, p):
        q = 1 - one
        whole = one / (3 * B) * (len(hiders) - mp.fsum(q**k for k in hiders))
        fans.append(whole)
        swept.append(whole - mp.mpf(2) / 81 * one**2 / B * mp.fsum(q ** (2 * j) for j in range((B - 2) // 2)))
    agree(codes.fan_loss(p, B), fans, 1e-11)
    agree(codes.swept_loss(p, B), swept, 1e-11)


def test_losses_of_linear_codes_on_groups():
    p, r, s = drawn(1e-30, 1, 20), drawn(1e-6, 1, 21), drawn(1e-30, 1, 22)
    for one, ratio, partner in zip(p, r, s, strict=True):
        if partner < one and 4 * one > 1:
            continue  # exclusive groups need p G up to 1
        P, R, S = map(mp.mpf, (one, ratio, partner))
        rho, V = (S - P) / (mp.mpf(4) / 3 - P), P / 3 - P**2 / 4
        levels = sorted([V * (1 + 3 * rho), *[V * (1 - rho)] * 3])
        room, lost = 4 * (1 - R), mp.mpf(0)
        for level in levels:
            lost += level * min(room, 1)
            room -= min(room, 1)
        agree(np.array([correlated.linear_loss(one, ratio, 4, partner)]), [lost / 4], 1e-9, least=1e-16 * one)


def test_even_and_tied_shares_of_rates_far_apart():
    rng = np.random.default_rng(23)
    for _ in range(DRAWS):
        n = int(rng.integers(2, 12))
        p, nd = np.exp(rng.uniform(np.log(1e-30), 0, n)), int(rng.integers(1, n + 1))
        for shares in (frequencies.even_shares, frequencies.tied_shares):
            found = shares(p, nd)
            assert found.shape == (n,) and np.all((found >= 0) & (found <= 1)) and abs(found.sum() - nd) < 1e-9 * nd
        even, V = frequencies.even_shares(p, nd), features.variance(p)
        inner = (even > 1e-12) & (even < 1 - 1e-9)
        assert not inner.any() or np.ptp(np.log((V * (1 / even - 1))[inner])) < 1e-3


def test_other_decoders_lie_in_their_order():
    """The best element-wise decoder, the JumpReLU, the ReLU and silence; no loss is negative."""
    p, r = drawn(1e-30, 1, 24), np.random.default_rng(25).uniform(0.02, 0.98, DRAWS)
    relu, jump = rug.optimum(p, r), rug.jumprelu_optimum(p, r)
    bayes = rug.bayes_loss(p, rug.noise_std(p, r))
    assert np.all(bayes > 0) and np.all(bayes <= jump.loss * (1 + 1e-6)) and np.all(jump.loss <= relu.loss * (1 + 1e-6))
    assert np.all(relu.loss <= features.variance(p) * (1 + 1e-12))


@pytest.mark.parametrize("third", THIRDS)
def test_the_loss_in_the_drop_is_that_of_the_optimum(third):
    p, kappas = drawn(1e-30, 1e-2, 26)[:60], np.random.default_rng(27).uniform(0.2, 2, 60)
    for one, kappa in zip(p[third], kappas[third], strict=True):
        r = float(rug.drop_ratio(one, kappa))
        assert rug.loss_in_the_drop(one, kappa) == pytest.approx(float(rug.optimum(one, r).loss) / one, rel=1e-6)
