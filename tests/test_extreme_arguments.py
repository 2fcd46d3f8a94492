"""Closed forms of a few numbers, at extreme legal arguments, against the same formula to fifty digits.

A row of `FORMS` has a function, the whole range of each argument, the exact value and how far float64 may be from it,
relative to the exact value or to the largest term of a difference: 1e-8 where a difference stands under a root, more
where the function itself is a quadrature of so many nodes. Sizes are drawn by seed, uniform in the logarithm,
with the ends of the range and numbers next to 1 among them. A call that is refused must be refused in one sentence.
The tolerances of `truth_loss` and `partner_loss` near r = 1, `kernel_row` and `two_neuron_coefficients` were set after
a miss had been seen and explained.
"""

import mpmath as mp
import numpy as np
import pytest
from sampled import sampled
from superposition import codes, correlated, decoders, frequencies, incidental, receptive, rug, toy
from test_fifty_digits import EVERY, power, ramp
from together import together

TINY = 1e-30  # the least size that is drawn where a range begins at 0 or has both signs
P, RATIO, POSITIVE, SIZE = (1e-30, 1.0), (TINY, 1.0), (1e-30, 1e30), (0.0, 1e30)
SIGNED, RARE = (-1e30, 1e30), (1e-280, 1.0)


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(400):
        yield


def drawn(low, high, count, rng):
    """Numbers of a range: both ends, sizes uniform in the logarithm, and, if it holds 1, numbers next to 1."""
    least = low if low > 0 else min(TINY, high)
    found = np.exp(rng.uniform(np.log(least), np.log(high), count))
    if least < 1 <= high:
        near = np.exp(rng.uniform(np.log(1e-16), 0, count))
        found = np.where(rng.random(count) < 0.3, 1 - near * (0.5 if high == 1 else rng.choice([-1, 1], count)), found)
    if low < 0:
        found = found * rng.choice([-1, 1], count)
    found[rng.integers(count)], found[rng.integers(count)] = low, high
    found = np.clip(found, low, high)
    return [round(one) for one in found] if isinstance(high, int) else found.tolist()


def variance(p):
    return p / 3 - p**2 / 4


def strength(start, importance, p, times):
    return 1 / (1 + (1 / start - 1) * mp.exp(-8 * variance(p) * importance * times))


def border(p):
    square, linear = p * (1 - p), p / 2 + 2 * (1 - p) ** 2
    beta = (mp.sqrt(linear**2 + square * p**2) - linear) / (2 * square) if p < 1 else p**2 / 4 / linear
    cost = p * (variance(p) + (beta - p / 2) ** 2 / 4) + (1 - p) * ((1 - p) * beta**2 + p * beta**3 / 3)
    return cost / variance(p)


def loss(a, b, sigma, p):
    s = a * sigma
    if s == 0:
        low = min(max(-b / a, mp.mpf(0)), mp.mpf(1))
        lost = low**3 / 3 + (((a - 1) + b) ** 3 - ((a - 1) * low + b) ** 3) / (3 * (a - 1)) if a != 1 else b**2
        return (1 - p) * max(b, mp.mpf(0)) ** 2 + p * lost
    return (1 - p) * power(2, b, s) + p * (mp.mpf(1) / 3 - 2 * ramp(1, 1, b, a, s) + ramp(0, 2, b, a, s))


def gradient(a, b, sigma, p):
    found = []
    for place in range(3):
        at, step = [a, b, sigma], [a, b, sigma][place] * mp.mpf(10) ** -60
        at[place] += step
        up = loss(*at, p)
        at[place] -= 2 * step
        found.append((up - loss(*at, p)) / (2 * step))
    return found


def best_gain(z, sigma, p):
    b = z * sigma
    overlap, square = p * ramp(1, 1, b, 1, sigma), (1 - p) * power(2, b, sigma) + p * ramp(0, 2, b, 1, sigma)
    least = p / 3 - overlap**2 / square if square else p / 3
    return least, max(p * mp.mpf(10) ** -21, least * 1e-8 * z**2)  # the gain and its product with the bias are rounded


def third_moment(p):
    m = p / 2
    return ((1 - p) * m**3 + p * (m**4 + (1 - m) ** 4) / 4) / variance(p) ** mp.mpf(1.5)


def cumulants(p):
    m = [p / (k + 1) for k in range(5)]
    third, fourth = m[3] - 3 * m[2] * m[1] + 2 * m[1] ** 3, 12 * m[2] * m[1] ** 2 - 6 * m[1] ** 4
    return [m[2] - m[1] ** 2, third, m[4] - 4 * m[3] * m[1] - 3 * m[2] ** 2 + fourth], [p] * 3


def on_terms(t, sigma):
    b = -t * sigma
    total = mp.mpf(1) / 3 - 2 * ramp(1, 1, b, mp.mpf(1), sigma) + ramp(0, 2, b, mp.mpf(1), sigma)
    cut = mp.mpf(1) / 3 - ramp(2, 0, b, mp.mpf(1), sigma)
    split = min(2 * t * sigma, mp.mpf(1))
    mean = split**3 * (mp.mpf(1) / 3 - ramp(2, 0, b, split, sigma)) if split else mp.mpf(0)
    return [total, cut, total - cut, mean, cut - mean], [total, cut, total, cut, cut]


def on_term_bounds(t, sigma):
    mu = t * sigma
    noise, mean, tail = sigma**2 + mu**2, (2 * mu) ** 3 / 3, (1 - 2 * mu) * mp.exp(-(t**2) / 2) / 2
    return [noise + mean + tail, mean + tail, noise, mean, tail]


def mass(low, high):
    return mp.ncdf(-low) - mp.ncdf(-high) if low > 0 else mp.ncdf(high) - mp.ncdf(low)


def posterior(y, sigma):
    with mp.workdps(900):  # squares of 1e130 cancel
        low, high = -y / sigma, (1 - y) / sigma
        inside, down, up = mass(low, high), mp.npdf(low), mp.npdf(high)
        shift = (down - up) / inside
        return inside, y + sigma * shift, sigma**2 * (1 + (low * down - high * up) / inside - shift**2)


def decoder(y, sigma, p):
    inside, mean, spread = posterior(y, sigma)
    seen = p * inside + (1 - p) * mp.npdf(y / sigma) / sigma
    on = p * inside / seen
    size = [1e8 * sigma, 2e9 * sigma**2] if max(-y, y - 1) > 30 * sigma else [1, 1]  # further out than is ever seen
    return [on * mean, on * spread + on * (1 - on) * mean**2], size


def inside(y, sigma):
    return mass(-min(y / sigma, mp.mpf(1)), min((1 - y) / sigma, mp.mpf(1))) / mass(-y / sigma, (1 - y) / sigma)


def window(sigma):
    below = lambda y: power(1, y, sigma) - power(1, y - 1, sigma)  # noqa: E731
    return below(1 - sigma) - below(sigma), 1


def threshold_of(p, bias_cost):
    if p == 1:
        return mp.mpf(0)
    with mp.workdps(60):
        start = float(rug.small_noise_threshold(float(p), float(bias_cost)))
        slope = lambda t: (1 - p) * power(1, -t, mp.mpf(1)) - bias_cost * p * t  # noqa: E731
        return mp.findroot(slope, (start * 0.999, start * 1.001))


def factor(p, bias_cost):
    t = threshold_of(p, bias_cost)
    return (1 - p) * power(2, -t, mp.mpf(1)) + p * (1 + bias_cost * t**2)


def skewness(ns, nd):
    perm = lambda n, k: mp.ff(n, k)  # noqa: E731
    inside = {k: perm(nd, k) / perm(ns - 1, k) for k in (3, 5, 6)}
    count, touching = (ns - 1) * (ns - 2) / mp.mpf(6), mp.mpf(3) * (ns - 4) / 2
    found = count * (inside[3] + touching * inside[5] + (count - 1 - touching) * inside[6] - count * inside[3] ** 2)
    return 6 * ns / nd**3 * mp.sqrt(abs(found))


def largest_root(lambda_):
    if lambda_ > 2 / (3 * mp.sqrt(3)):
        return mp.mpf(0)
    return 2 / mp.sqrt(3) * mp.cos(mp.acos(-lambda_ * 3 * mp.sqrt(3) / 2) / 3)


def by_chance(n, m):
    shared = m * (1 - 2 * (1 - 1 / (2 * m)) ** n + (1 - 1 / m) ** n)
    return [n * (n - 1) / (2 * m), n * (n - 1) / (4 * m), shared], [1e-300, 1e-300, mp.mpf(n) / m]


def malign(x0, y0, t):
    kept, x2, y2 = x0**2 - y0**2, x0**2, y0**2
    if kept == 0:
        return [x0 / mp.sqrt(1 + 2 * x2 * t)] * 2
    fall = mp.exp(-2 * kept * t) * y2 / x2
    return [mp.sqrt(kept / (1 - fall)), mp.sqrt(kept * fall / (1 - fall))]


def fourth_norm(m, kurtosis):
    f, s6 = mp.mpf(3) / (m + 2), mp.mpf(15) / ((m + 2) * (m + 4))
    square = mp.mpf(9 * m + 96) / ((m + 2) * (m + 4) * (m + 6))
    return f + 2 * kurtosis / (m + 2) * (f + 3 * square - 4 * s6), f


def free_share(n, m):
    o = -1 / (mp.mpf(n) - 1)
    alike, bent = o * ((m + 4) * o**2 - 3) / (m + 1), 3 * ((m + 4) * o**2 - 1) / (m + 1)
    outside = (m - n + 1) * (n - 1) * (1 - alike)
    turned = (n - 1) / mp.mpf(2) * ((n - 2) * (1 + (n - 1) * o * alike) - (n - 1) * bent * (1 - o**2))
    return (outside + turned) / (n * (m - 1)), 1


def push(n, sigma, length):
    t, a = length / sigma**2, (1 - 1 / mp.mpf(n - 1) ** 2) / 2
    return 1 - (1 + (t - 1) / length) * mp.exp(-a * t), 1 + 1 / length


def continuum(x):
    left = mp.sqrt(mp.pi / 2) * mp.exp(x**2 / 2) * mp.erfc(x / mp.sqrt(2))
    mean, square, density = 1 - x * left, (1 + x**2) * left - x, 2 * mp.npdf(x)
    return [mp.sqrt(density / square) * mean, density * left, square * left / mean**2 - 1]


def coefficients(rho_11, rho_kk, gamma):
    ratio = mp.sqrt(rho_kk / rho_11)
    alpha = ratio * mp.sqrt(1 - gamma**2) / (2 * mp.pi)
    return [alpha, (mp.pi - mp.acos(gamma)) / (2 * mp.pi)], [ratio, 1]


def louder(alpha, beta):
    L = mp.mpf(5) / 3
    both = (alpha + beta, L * alpha + beta / L, alpha / L + L * beta)
    first, *rest = [min(mp.mpf(1), (value / 2) ** 2) for value in both]
    return first / 2 + mp.fsum(rest) / 4


def conflict(alpha):
    return 1 / mp.mpf(3) - 1 / (6 * alpha) if alpha > 1 else alpha**2 * (1 / mp.mpf(3) - alpha / 6)


def rare_rug(p, r):
    bare = (4 / (p * mp.sqrt(2 * mp.pi))) ** (mp.mpf(2) / 3) / 3
    return p**2 / 3 * (1 / r - 1) * (1.5 + 3 * mp.lambertw(bare).real / 4), p**2 / r


def over(r):
    return 1 / r - 1, 1 / r


def partner(a, b, s, c, p):
    """Mean over the partner, off or on, of the loss with its weight -c, as an antiderivative in the bias."""

    def summed(bias):
        on = bias / 3 - raised(1, 2, bias, a, s) + raised(0, 3, bias, a, s) / 3
        return (1 - p) * raised(None, 3, bias, 0, s) / 3 + p * on

    off = (1 - p) * raised(None, 2, b, 0, s) + p * (mp.mpf(1) / 3 - 2 * raised(1, 1, b, a, s) + raised(0, 2, b, a, s))
    return (1 - p) * off + p * (summed(b) - summed(b - a * c)) / (a * c)


def raised(j, k, m, slope, s):
    """A mean of u^j ReLU(m + slope u + s Z)^k; of ReLU(m + s Z)^k if j is None."""
    return power(k, m, s) if j is None else ramp(j, k, m, slope, s) if s else level(j, k, m, slope)


def of_rug(weight, a, b, p, r):
    """Its size is its own, or by how much the rounding of 1 / r moves it."""
    spread = lambda inverse: a * mp.sqrt(variance(p) * max(inverse - 1 - weight**2, 0))  # noqa: E731
    at = lambda inverse: partner(a, b - a * weight * p / 2, spread(inverse), -weight, p)  # noqa: E731
    value = at(1 / r)
    return value, 2 * 64**2 * abs(at((1 + mp.mpf(2) ** -52) / r) - value)


def of_code(a, b, sigma, c, p):
    return partner(a, b, a * mp.sqrt(max(sigma**2 - c**2 * variance(p), 0)), c, p)


def ratios(p, r, G, s, slope):
    """The least noise by bisection on the multiplier of the rank."""
    rho = (s - p) / (mp.mpf(4) / 3 - p)
    levels = [variance(p) * (1 + (G - 1) * rho), variance(p) * (1 - rho)]
    parts, gains = [1 / mp.mpf(G), 1 - 1 / mp.mpf(G)], [1 + (G - 1) * slope, 1 - slope]
    loud = [abs(gain) * mp.sqrt(max(level, 0)) for gain, level in zip(gains, levels, strict=True)]
    best = None
    for fixed in (None, 0, 1):  # none of the ratios is 1, or one of them
        if fixed is None:
            found = [one * r / (parts[0] * loud[0] + parts[1] * loud[1]) for one in loud]
        else:
            found = [mp.mpf(1)] * 2
            found[1 - fixed] = (r - parts[fixed]) / parts[1 - fixed]
        if min(found) <= 0 or max(found) > 1 + mp.mpf(10) ** -100:
            continue
        noise = sum(part * one**2 * (1 / ratio - 1) for part, one, ratio in zip(parts, loud, found, strict=True))
        best = noise if best is None else min(best, noise)
    return mp.sqrt(max(best, 0)), 10 * max(loud)  # the root of a rounded difference: half of the digits


def wrapped(n, xi):
    """Sums over turns of the ring, by Poisson's formula where the kernel is wider than the ring."""
    with mp.workdps(60):
        wide, n = xi > n, int(n)
        width, turns = (n / (mp.pi * xi), int(12 * n / xi) + 3) if wide else (xi, int(12 * xi / n) + 3)
        angle = lambda d, k: mp.cos(2 * mp.pi * k * d / n) if wide else 1  # noqa: E731
        at = lambda d, k: mp.exp(-(((k if wide else d + n * k) / width) ** 2)) * angle(d, k)  # noqa: E731
        sums = [mp.fsum(at(d, k) for k in range(-turns, turns + 1)) for d in range(n)]
        return [one / sums[0] for one in sums]


def arcsine(n, xi, gain):
    q = 2 * gain**2 / (1 + 2 * gain**2)
    distances = [min(d, n - d) for d in range(int(n))]
    return [mp.asin(q * mp.exp(-((d / xi) ** 2))) / mp.asin(q) for d in distances], [1] * int(n)


def printed(rho_11, rho_kk, gamma):
    spread, ratio, cross = 1 - gamma**2, rho_kk / rho_11, 1 / mp.sqrt(rho_11 * rho_kk)
    one = (ratio * mp.acos(-gamma) - gamma**2 * mp.asin(gamma)) / (2 * mp.pi * spread)
    two = -gamma / (2 * mp.pi * spread) / mp.sqrt(ratio) * (ratio * mp.acos(gamma) - mp.asin(gamma))
    edge = 2 * mp.pi * mp.sqrt(spread)
    size = [
        (ratio + 1) / spread + (1 / abs(gamma * rho_11) + cross) / edge,
        (mp.sqrt(ratio) + 1 / mp.sqrt(ratio)) / spread + (1 / abs(gamma * rho_kk) + cross) / edge,
    ]
    return [one + (1 / (gamma * rho_11) - cross) / edge, two + (1 / (gamma * rho_kk) - cross) / edge], size


def coins(n):
    fired = lambda total: max(total - 1, 0)  # noqa: E731
    n = int(n)
    second = lambda k: fired(2 * k - n + 4) - 2 * fired(2 * k - n + 2) + fired(2 * k - n)  # noqa: E731
    toss = lambda n, each: mp.fsum(mp.binomial(n, k) * each(k) for k in range(n + 1)) / mp.mpf(2) ** n  # noqa: E731
    return [toss(n - 2, second) / 4 if n > 1 else mp.mpf(0), toss(n, lambda k: fired(2 * k - n) ** 2)]


def ends_of_power_law(ns, exponent, total):
    with mp.workdps(60):
        whole = mp.fsum(mp.mpf(i) ** -exponent for i in range(1, int(ns) + 1))
        return [total / whole, total * ns**-exponent / whole]


def swept_and_digons(r):
    level = {1: mp.mpf(0), 4: mp.mpf(25) / 162}
    fan = lambda B: (B - 3) / mp.mpf(6) - mp.mpf(2) / 81 * ((B - 2) // 2) / B  # noqa: E731
    if r > 0.4:
        low, high, one, two = (mp.mpf(2) / 5, mp.mpf(1) / 2, 5, 4) if r <= 0.5 else (mp.mpf(1) / 2, mp.mpf(1), 4, 1)
    else:
        B = int(mp.floor(2 / r))
        low, high, one, two = mp.mpf(2) / (B + 1), mp.mpf(2) / B, B + 1, B
    first, last = (level[B] if B < 5 else fan(B) for B in (one, two))
    return first + (last - first) * (r - low) / (high - low), 1


def truth(a, b, price, p, inverse):
    V, on_p = variance(p), p
    s, off = a * mp.sqrt(V * (inverse - 1)), b - a * p / 2
    at = lambda k: (1 - p) * power(k, off, s) + on_p * (ramp(0, k, off, a, s) if s else level(0, k, off, a))  # noqa: E731
    on, mean, square = at(0), at(1), at(2)
    own = p * (ramp(1, 1, off, a, s) if s else level(1, 1, off, a)) - p / 2 * mean
    k = -2 * a * on * (V - own) + (a * on) ** 2 * V * (inverse - 2)
    terms = [V, 2 * own, square, mean**2, (inverse - 1) * k, price * mean, (inverse - 1) * (a * on) ** 2 * V * inverse]
    return (V - 2 * own + square - mean**2 + (inverse - 1) * k) / 2 + price * mean, max(map(abs, terms))


def tied(a, b, price, p, r):
    """The size of its terms, or by how much the rounding of 1 / r moves it."""
    value, size = truth(a, b, price, p, 1 / r)
    return value, max(size, 1e8 * abs(truth(a, b, price, p, (1 + mp.mpf(2) ** -52) / r)[0] - value))


def level(j, k, m, slope):
    """Integral of u^j ReLU(m + slope u)^k over u from 0 to 1 by exact quadrature of a polynomial."""
    low = min(max(-m / slope, mp.mpf(0)), mp.mpf(1))
    if k == 0:
        return (1 - low ** (j + 1)) / (j + 1)
    expand = [mp.binomial(k, i) * m ** (k - i) * slope**i for i in range(k + 1)]
    return mp.fsum(c * (1 - low ** (i + j + 1)) / (i + j + 1) for i, c in enumerate(expand))


def in_pairs(a, b, price, p, r):
    v = variance(p) / r
    s = a * mp.sqrt(v)
    on, mean, square = (2 * power(k, b, s) for k in range(3))
    lines = (square + (1 / (2 * r) - 1) * (a * on) ** 2 * v) / 2 - a * on * v + price * mean
    return (r * v + lines) / 2, max(square, (a * on) ** 2 * v / r, a * on * v, price * mean, r * v)


def linear_border(p, r, G, loss):
    gap = 1 - loss / (variance(p) * (1 - r))
    scale = 1 + loss / (variance(p) * (1 - r))
    return (gap, scale) if r * G >= 1 else (gap * (1 - r) / (r * (G - 1)), scale / (r * G))


def turning(m, kurtosis, kappa6):
    square = 3 - 2 * (m + 8) * kurtosis / kappa6
    return mp.sqrt(square) if square >= 0 else mp.nan


FORMS = {
    "toy.strength_curve": (
        toy.strength_curve, {"start": (1e-30, 100.0), "importance": (1e-30, 1e40), "p": P, "times": SIZE}, strength,
        1e-13,
    ),
    "toy.continuous_border": (toy.continuous_border, {"p": P}, border, 1e-13),
    "rug.loss_grad": (rug.loss_grad, {"a": POSITIVE, "b": SIGNED, "sigma": POSITIVE, "p": P}, gradient, 1e-9),
    "rug.best_gain": (
        lambda **given: rug.best_gain(**given)[1],
        {"z": (-1e30, 1e8), "sigma": POSITIVE, "p": (1e-100, 1.0)},
        best_gain,
        1e-9,
    ),
    "rug.absolute_third_moment": (rug.absolute_third_moment, {"p": P}, third_moment, 1e-13),
    "rug.feature_cumulants": (rug.feature_cumulants, {"p": P}, cumulants, 1e-14),
    "rug.drop_ratio": (
        rug.drop_ratio,
        {"p": RARE, "kappa": POSITIVE},
        lambda p, kappa: (-kappa * p * mp.log(p), kappa * p),
        1e-13,
    ),
    "rug.drop_threshold": (
        rug.drop_threshold,
        {"kappa": POSITIVE},
        lambda kappa: min(mp.mpf(1), mp.sqrt(2 / (3 * kappa))),
        1e-14,
    ),
    "rug.off_moment": (rug.off_moment, {"t": (-1e30, 40.0)}, lambda t: power(2, -t, mp.mpf(1)), 1e-12),
    "rug.cut_off_error": (
        rug.cut_off_error,
        {"t": SIZE, "sigma": (0.0, 1.0)},
        lambda t, sigma: sigma**3 * power(3, t, mp.mpf(1)) / 3,
        1e-12,
    ),
    "rug.on_terms": (rug.on_terms, {"t": (0.0, 30.0), "sigma": (1e-6, 1.0)}, on_terms, 1e-9),
    "rug.on_term_bounds": (rug.on_term_bounds, {"t": (0.0, 30.0), "sigma": (0.0, 1.0)}, on_term_bounds, 1e-12),
    "rug.bayes_decoder": (rug.bayes_decoder, {"y": (-1e100, 1e100), "sigma": POSITIVE, "p": RARE}, decoder, 1e-9),
    "rug.inside_probability": (rug.inside_probability, {"y": (0.0, 1.0), "sigma": (1e-30, 1.0)}, inside, 1e-12),
    "rug.window_probability": (rug.window_probability, {"sigma": (1e-30, 0.5)}, window, 1e-14),
    "rug.window_constant": (
        rug.window_constant,
        {"sigma": (1e-30, 0.5)},
        lambda sigma: posterior(sigma, sigma)[2] / sigma**2,
        1e-9,
    ),
    "rug.small_noise_threshold": (rug.small_noise_threshold, {"p": RARE, "bias_cost": (1e-3, 1e3)}, threshold_of, 1e-9),
    "rug.small_noise_factor": (rug.small_noise_factor, {"p": RARE, "bias_cost": (1e-3, 1e3)}, factor, 1e-9),
    "rug.smallest_noise": (
        rug.smallest_noise,
        {"ns": (1, 2**53), "nd": (1, 2**53)},
        lambda ns, nd: (ns / mp.mpf(nd) - 1, ns / nd),
        1e-15,
    ),
    "rug.welch_bound": (
        rug.welch_bound,
        {"ns": (2, 2**53), "nd": (1, 2**53)},
        lambda ns, nd: mp.sqrt((ns / mp.mpf(nd) - 1) / (ns - 1)),
        1e-8,
    ),
    "rug.rate_at_shift": (
        rug.rate_at_shift,
        {"shift": POSITIVE, "ns": (1, 2**53), "nd": (1, 2**53), "p": P},
        lambda shift, ns, nd, p: mp.sqrt(2 * shift / (ns * nd * p)),
        1e-14,
    ),
    "rug.skewness_spread": (rug.skewness_spread, {"ns": (8, 2**24), "nd": (1, 2**24)}, skewness, 1e-12),
    "incidental.last_weight": (
        incidental.last_weight,
        {"lambda_": SIZE},
        lambda lambda_: largest_root(lambda_ / 4),
        3e-8,
    ),
    "incidental.resting_weight": (incidental.resting_weight, {"lambda_": SIZE}, largest_root, 3e-8),
    "incidental.freezing_sigma": (
        incidental.freezing_sigma,
        {"n": (2, 4096), "l1": POSITIVE},
        lambda n, l1: 1 / ((n - 1) * l1),
        1e-15,
    ),
    "incidental.expected": (
        lambda n, m: [*vars(incidental.expected(n, m)).values()][:3],
        {"n": (1, 2**53), "m": (1, 2**53)},
        by_chance,
        1e-13,
    ),
    "incidental.mean_benefit_and_interference": (
        incidental.mean_benefit_and_interference,
        {"n": (1, 2**53), "m": (1, 2**53), "scale": SIZE},
        lambda n, m, scale: (
            [scale**2 - scale**4 * (1 + mp.mpf(2) / m), (n - 1) * scale**4 / (2 * m)],
            [scale**2 + scale**4, 1e-300],
        ),
        1e-14,
    ),
    "incidental.malign_pair": (incidental.malign_pair, {"x0": POSITIVE, "y0": POSITIVE, "t": SIZE}, malign, 1e-12),
    "incidental.company_rates": (
        incidental.company_rates,
        {"q": (0.0, 1.0), "n": (2, 4096)},
        lambda q, n: [1 - q, 2 * q / (n - 1)],
        1e-15,
    ),
    "incidental.pair_company_rates": (
        incidental.pair_company_rates,
        {"q": (0.0, 1.0), "n": (2, 4096)},
        lambda q, n: [1 - q + 2 * q * (n - 2) / (n - 1), 2 * q / (n - 1)],
        1e-15,
    ),
    "incidental.curing_weight": (
        incidental.curing_weight,
        {"both": (0.0, 1000.0), "lambda_": POSITIVE},
        lambda both, lambda_: 1 / (1 + both / (2 * lambda_)),
        1e-15,
    ),
    "incidental.stationary_fourth_norm": (
        incidental.stationary_fourth_norm, {"m": (1, 10**6), "kurtosis": (-2.0, 1e30)}, fourth_norm, 1e-13,
    ),
    "incidental.threshold": (
        incidental.threshold,
        {"norm_squared": SIZE, "lambda_": SIZE},
        lambda norm_squared, lambda_: lambda_ / (1 - norm_squared) if norm_squared < 1 else mp.inf,
        1e-14,
    ),
    "incidental.balanced_norm": (
        incidental.balanced_norm,
        {"l1_norm": SIZE, "lambda_": SIZE},
        lambda l1_norm, lambda_: (
            mp.mpf(1) / 2 + mp.sqrt(mp.mpf(1) / 4 - l1_norm * lambda_) if l1_norm * lambda_ <= mp.mpf(1) / 4 else mp.nan
        ),
        3e-8,
    ),
    "incidental.balance_error": (
        incidental.balance_error,
        {"l1_norm": SIZE, "lambda_": SIZE, "relative_variance": SIZE},
        lambda l1_norm, lambda_, relative_variance: l1_norm * lambda_ * relative_variance / 2,
        1e-15,
    ),
    "incidental.tail_law": (
        lambda xi: [*vars(incidental.tail_law(xi)).values()],
        {"xi": (-1e30, 0.5 - 2**-54)},
        lambda xi: [1 - 2 * xi, (1 - 2 * xi) * (2 - 2 * xi), 1 / (1 - 2 * xi)],
        1e-14,
    ),
    "incidental.turning_depth": (
        incidental.turning_depth, {"m": (1, 10**6), "kurtosis": (-2.0, 1e30), "kappa6": SIGNED}, turning, 1e-13,
    ),
    "incidental.free_share": (incidental.free_share, {"n": (2, 4096), "m": (1, 10**6)}, free_share, 1e-12),
    "incidental.push_share": (
        incidental.push_share, {"n": (2, 4096), "sigma": (1e-30, 10.0), "length": (1e-6, 10.0)}, push, 1e-13,
    ),
    "incidental.continuum": (
        lambda x: [*vars(incidental.continuum(x)).values()][1:],
        {"x": (0.0, 50.0)},
        continuum,
        1e-8,
    ),
    "receptive.normalization": (
        receptive.normalization,
        {"gain": (1e-6, 1e6)},
        lambda gain: mp.sqrt(2 / mp.pi * mp.asin(2 * gain**2 / (1 + 2 * gain**2))),
        1e-14,
    ),
    "receptive.saturation": (
        receptive.saturation,
        {"gain": (1e-6, 1e6)},
        lambda gain: 2 * gain**2 / (1 + 2 * gain**2),
        1e-15,
    ),
    "receptive.half_line_mean": (
        receptive.half_line_mean,
        {"gain": (1e-6, 1e6), "r": (-1.0, 1.0)},
        lambda gain, r: mp.asin(mp.sqrt(2 * gain**2 / (1 + 2 * gain**2)) * r) / mp.pi,
        1e-8,
    ),
    "receptive.two_neuron_coefficients": (
        receptive.two_neuron_coefficients, {"rho_11": (1e-100, 1e100), "rho_kk": (1e-100, 1e100), "gamma": (-1.0, 1.0)},
        coefficients, 1e-8,
    ),
    "codes.antipodal_constant": (
        codes.antipodal_constant,
        {"r": (TINY, 0.5)},
        lambda r: ((1 / r - 2) / 6, 1 / r),
        1e-15,
    ),
    "codes.rug_constant": (codes.rug_constant, {"r": RATIO}, lambda r: ((1 / r - 1) / 6, 1 / r), 1e-15),
    "codes.hierarchical_bound": (codes.hierarchical_bound, {"r": RATIO}, lambda r: ((1 / r - 1) / 6, 1 / r), 1e-15),
    "codes.symmetrisable_bound": (
        codes.symmetrisable_bound,
        {"r": RATIO},
        lambda r: ((1 / r - 1) * 25 / 162, 1 / r),
        1e-15,
    ),
    "codes.two_loudness_share": (codes.two_loudness_share, {"alpha": (0.0, 1e6), "beta": (0.0, 1e6)}, louder, 1e-14),
    "codes.conflict_cost": (codes.conflict_cost, {"alpha": (0.0, 1e300)}, conflict, 1e-14),
    "codes.drop_bounds": (
        codes.drop_bounds,
        {"kappa": (TINY, 1e30)},
        lambda kappa: [max(mp.mpf(0), 1 - kappa / 2) ** 3, 1 + kappa / 2 * mp.expm1(-2 / kappa)],
        1e-11,
    ),
    "codes.rug_at_small_p": (codes.rug_at_small_p, {"p": (1e-30, 0.01), "r": RATIO}, rare_rug, 1e-13),
    "decoders.absorbed_angle": (
        decoders.absorbed_angle,
        {"price": SIZE},
        lambda price: mp.degrees(2 * mp.sqrt(price)),
        1e-14,
    ),
    "decoders.truth_loss": (
        decoders.truth_loss, {"a": (1e-6, 1e6), "b": (-1e6, 1e6), "price": (0.0, 1e6), "p": P, "r": (1e-6, 1.0)}, tied,
        1e-8,
    ),
    "decoders.pairs_loss": (
        decoders.pairs_loss, {"a": (1e-6, 1e6), "b": (-1e6, 1e6), "price": (0.0, 1e6), "p": P, "r": (1e-6, 0.5)},
        in_pairs, 1e-12,
    ),
    "correlated.partner_correlation": (
        correlated.partner_correlation,
        {"p": P, "s": (0.0, 1.0)},
        lambda p, s: (s - p) / (mp.mpf(4) / 3 - p),
        1e-14,
    ),
    "correlated.merged_bound": (
        correlated.merged_bound,
        {"p": P, "s": (0.0, 1.0)},
        lambda p, s: p * (mp.mpf(1) / 6 - s / 8),
        1e-14,
    ),
    "correlated.linear_border": (
        correlated.linear_border, {"p": P, "r": (1e-30, 1.0 - 2**-53), "G": (2, 32), "loss": SIZE}, linear_border,
        1e-13,
    ),
    "rug.loss_upper_bound": (
        rug.loss_upper_bound,
        {"p": P, "t": (0.0, 30.0), "sigma": (0.0, 1.0)},
        lambda p, t, sigma: (1 - p) * sigma**2 * mp.exp(-(t**2) / 2) / 2 + p * on_term_bounds(t, sigma)[0],
        1e-13,
    ),
    "rug.partner_loss": (
        rug.partner_loss, {"weight": (-1000.0, 1000.0), "a": POSITIVE, "b": SIGNED, "p": P, "r": (1e-30, 1.0)}, of_rug,
        1 / 64**2,
    ),
    "codes.partner_loss": (
        codes.partner_loss, {"a": POSITIVE, "b": SIGNED, "sigma": SIZE, "c": (1e-6, 1e6), "p": P}, of_code, 1e-9,
    ),
    "codes.best_known_constant": (codes.best_known_constant, {"r": (1e-6, 1.0)}, swept_and_digons, 1e-13),
    "correlated.rug_ratios": (
        lambda **given: correlated.rug_ratios(**given)[0],
        {"p": P, "r": RATIO, "G": (2, 32), "s": (0.0, 1.0), "slope": (-100.0, 100.0)},
        ratios,
        1e-9,
    ),
    "receptive.kernel_row": (
        lambda n, xi: receptive.kernel_row(n, xi, "wrapped"),
        {"n": (3, 24), "xi": (1e-3, 100.0)},
        wrapped,
        2e-13,
    ),
    "receptive.nlgp_covariance": (
        lambda n, xi, gain: receptive.nlgp_covariance(n, xi, gain)[0],
        {"n": (3, 24), "xi": (1e-3, 100.0), "gain": (1e-6, 1e6)},
        arcsine,
        1e-8,
    ),
    "receptive.printed_coefficients": (
        receptive.printed_coefficients, {"rho_11": (1e-100, 1e100), "rho_kk": (1e-100, 1e100), "gamma": (-1.0, 1.0)},
        printed, 1e-13,
    ),
    "decoders.sign_moments": (decoders.sign_moments, {"n": (0, 1024)}, coins, 1e-11),
    "frequencies.power_law": (
        lambda ns, exponent, total: frequencies.power_law(ns, exponent, total=total)[[0, -1]],
        {"ns": (1, 3000), "exponent": (0.0, 10.0), "total": (1e-30, 3000.0)},
        ends_of_power_law,
        1e-12,
    ),
    "incidental.uniform.characteristic": (
        lambda sigma, t: incidental.uniform(sigma).characteristic(t),
        {"sigma": SIZE, "t": SIGNED},
        lambda sigma, t: (mp.sinc(mp.sqrt(3) * sigma * t), 1),
        1e-14,
    ),
    "incidental.laplace.characteristic": (
        lambda sigma, t: incidental.laplace(sigma).characteristic(t),
        {"sigma": SIZE, "t": SIGNED},
        lambda sigma, t: 1 / (1 + (sigma * t) ** 2 / 2),
        1e-13,
    ),
    "incidental.normal.characteristic": (
        lambda sigma, t: incidental.normal(sigma).characteristic(t),
        {"sigma": SIZE, "t": SIGNED},
        lambda sigma, t: (mp.exp(-((sigma * t) ** 2) / 2), 1),
        1e-14,
    ),
    "incidental.laplace.moment": (
        lambda sigma: [incidental.laplace(sigma).moment(k) for k in (2, 4, 6, 10)],
        {"sigma": SIZE},
        lambda sigma: [mp.factorial(k) * (sigma**2 / 2) ** (k // 2) for k in (2, 4, 6, 10)],
        1e-14,
    ),
    "incidental.discrete.moment": (
        lambda kurtosis: [incidental.discrete(1.0, kurtosis).moment(k) for k in (2, 4, 6)],
        {"kurtosis": (-2.0, 1e49)},
        lambda kurtosis: [(kurtosis + 3) ** k for k in range(3)],
        1e-14,
    ),
    "correlated.least_noise_gain": (
        correlated.least_noise_gain,
        {"G": (16, 10**6)},
        lambda G: mp.hypot(1, 1 / (mp.sin(mp.pi / G) * mp.tan(2 * mp.pi / G))),
        1e-13,
    ),
}  # fmt: skip


def flat(value):
    """The numbers of a result: one, several, or the fields of one."""
    value = list(vars(value).values()) if hasattr(value, "__dataclass_fields__") else value
    return [float(one) for one in np.ravel(value)]


@pytest.mark.filterwarnings("ignore:m = .* the text assumes m >= n")
@pytest.mark.filterwarnings(
    "ignore:(overflow|invalid value) encountered in (power|multiply)"
)  # of a branch that is not taken
@pytest.mark.parametrize("count", sampled([25, 500]))
@pytest.mark.parametrize("name", FORMS)
def test_forms_agree_with_fifty_digits_or_refuse_in_a_sentence(name, count):
    function, ranges, exact, rtol = FORMS[name]
    rng, tried = np.random.default_rng([count, *name.encode()]), 0
    for values in zip(*(drawn(*ends, count, rng) for ends in ranges.values()), strict=True):
        try:
            found = flat(function(**dict(zip(ranges, values, strict=True))))
        except ValueError as refusal:
            assert "; allowed: " in str(refusal)
            continue
        right, size = right if isinstance(right := exact(*map(mp.mpf, values)), tuple) else (right, 0)
        right = right if isinstance(right, list) else [right]
        size = size if isinstance(size, list) else [size] * len(right)
        for one, other, least in zip(found, right, size, strict=True):
            if mp.isfinite(other):
                assert abs(one - other) <= rtol * (max(abs(other), abs(least)) + EVERY), (values, one, other)
            else:
                assert str(one) == str(float(other)), (values, one, other)
        tried += 1
    assert tried > count / 4


@together("name", [name for name in FORMS if FORMS[name][0].__name__ != "<lambda>"])
def test_draws_reach_the_upper_end_of_each_range(name):
    function, ranges, *_ = FORMS[name]
    inner = {key: low + 1 if isinstance(high, int) else min(high, 1) / 4 for key, (low, high) in ranges.items()}
    for key, (_, high) in ranges.items():
        beyond = high + 1 if isinstance(high, int) else 1.01 * high
        if high < 1e300:
            with pytest.raises(ValueError, match=f"^{key} = .* is out of range; allowed: "):
                function(**inner | {key: beyond})
