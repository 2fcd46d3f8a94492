"""The mean-field loss of a sparse autoencoder with Gaussian interference.

Source: The Persian Rug (Cowsik, Dolev and Infanger), sections 4 and 5, Appendices A, B and D.
One output sees ``ReLU(a (x + nu) + b)`` with interference ``nu ~ N(0, sigma^2)``, and is to
reproduce the feature ``x = c u``, ``c ~ Bernoulli(p)``, ``u ~ U[0, 1]``.

Everything is built from the moments M_k(m, s) = E[ReLU(m + s Z)^k], Z standard normal, and
from their averages over ``u``, the ramp integrals of ``_ramp``.
"""

from dataclasses import dataclass
from functools import cache
from math import factorial

import numpy as np
from scipy.special import ndtr

from superposition import checks, features


@dataclass(frozen=True)
class Gradient:
    """Partial derivatives of the loss with respect to a, b and sigma (same shape each); unpacks in that order."""

    a: np.ndarray
    b: np.ndarray
    sigma: np.ndarray

    def __iter__(self):
        """Give the three in order, as in ``da, db, dsigma = loss_grad(...)``."""
        return iter((self.a, self.b, self.sigma))


@dataclass(frozen=True)
class Optimum:
    """The best gain ``a`` and bias ``b`` at the smallest ``sigma``, and their ``loss``."""

    a: np.ndarray
    b: np.ndarray
    sigma: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True)
class JumpOptimum:
    """The best gain ``a``, bias ``b`` and threshold ``theta`` at the smallest ``sigma``, and their ``loss``."""

    a: np.ndarray
    b: np.ndarray
    theta: np.ndarray
    sigma: np.ndarray
    loss: np.ndarray


def loss(a, b, sigma, p):
    """Mean squared error of one feature, L(a, b, sigma).

    Parameters
    ----------
    a : array_like
        Gain (the diagonal of W), a > 0.
    b : array_like
        Effective bias, any real number.
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 5 and the split into on and off terms below it; the closed
    form is ours. Tested to 1e-10 relative against 30-digit quadrature for 1e-12 <= p <= 1,
    sigma of every 0 < r <= 1, 1e-3 <= a <= 5 and |b| <= 5, optima included.
    """
    a, b, sigma, p = _arguments(a, b, sigma, p)
    s = a * sigma
    below, base = _arrangement(a, b, s)
    side = np.where(below, -1.0, 1.0)
    on = base - 2 * _ramp(1, 1, side * b, side * a, s) + side * _ramp(0, 2, side * b, side * a, s)
    return (1 - p) * _moment(2, b, s) + p * on


def loss_grad(a, b, sigma, p):
    """Gradient of `loss` with respect to a, b and sigma.

    Parameters
    ----------
    a : array_like
        Gain, a > 0.
    b : array_like
        Effective bias, any real number.
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    Gradient
        Fields ``a``, ``b``, ``sigma``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: derivative of The Persian Rug, eq. 5, by d/dm M_k = k M_{k-1} and
    d/ds^2 M_k = k (k-1)/2 M_{k-2}.
    """
    a, b, sigma, p = _arguments(a, b, sigma, p)
    s = a * sigma
    below, _ = _arrangement(a, b, s)
    side = np.where(below, -1.0, 1.0)

    def ramp(j, k):
        return _ramp(j, k, side * b, side * a, s)

    density = s * ramp(1, -1)  # E[u phi((a u + b) / s)], the derivative of E[u M_1] in s
    on_a = -2 * (side * ramp(2, 0) + sigma * density) + 2 * ramp(1, 1) + 2 * side * a * sigma**2 * ramp(0, 0)
    on_b = -2 * side * ramp(1, 0) + 2 * ramp(0, 1)
    on_sigma = -2 * a * density + 2 * side * a * s * ramp(0, 0)
    on_a = on_a + np.where(below, -2 * (1 - a) / 3 + b + 2 * a * sigma**2, 0)
    on_b = on_b + np.where(below, a - 1 + 2 * b, 0)
    on_sigma = on_sigma + np.where(below, 2 * a * s, 0)
    off = _moment(0, b, s)
    return Gradient(
        a=(1 - p) * 2 * a * sigma**2 * off + p * on_a,
        b=(1 - p) * 2 * _moment(1, b, s) + p * on_b,
        sigma=(1 - p) * 2 * a * s * off + p * on_sigma,
    )


def noise_std(p, r):
    """Smallest interference at ratio r: sigma^2 = (4 p - 3 p^2) / 12 (1/r - 1).

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1].

    Returns
    -------
    numpy.ndarray
        sigma, 0 at r = 1.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 6 at equality.
    """
    r = _ratio(r)
    return np.sqrt(features.variance(p) * (1 - r) / r)


def linear_loss(p, r):
    """Loss per feature of the best linear autoencoder, Var[x] (1 - r).

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1].

    Returns
    -------
    numpy.ndarray

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, section 2 ("closely related to principal component analysis").
    """
    r = _ratio(r)
    return features.variance(p) * (1 - r)


def optimum(p, r):
    """Gain and bias that minimise the loss at the smallest interference.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on; tested for 1e-12 <= p <= 1.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    Optimum
        Fields ``a``, ``b``, ``sigma``, ``loss``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, section 4.2 ("we do this numerically") with eq. 9 and 16 for the
    gain. The gain is known for every ``b / a``, so the search runs along one line: a grid of
    ``b / (a sigma)``, then every local minimum of the grid is refined.
    """
    p, r = np.broadcast_arrays(features.probability(p), _ratio(r))
    sigma = noise_std(p, r)
    noisy = np.where(sigma > 0, sigma, 1.0)
    grid_loss = _profile(_GRID, noisy[..., None], p[..., None])[1]
    inner = grid_loss[..., 1:-1]
    is_minimum = (inner <= grid_loss[..., :-2]) & (inner <= grid_loss[..., 2:])
    order = np.argsort(np.where(is_minimum, inner, np.inf), axis=-1) + 1
    best = Optimum(np.ones(p.shape), np.zeros(p.shape), sigma, np.full(p.shape, np.inf))
    for rank in range(max(1, int(is_minimum.sum(axis=-1).max(initial=1)))):
        best = _better(best, _refine(order[..., rank], noisy, p))
    exact = sigma == 0
    return Optimum(
        *(
            np.where(exact, free, found)[()]
            for free, found in zip((1.0, 0.0, 0.0, 0.0), (best.a, best.b, sigma, best.loss), strict=True)
        )
    )


def bayes_loss(p, sigma):
    """Loss of the best element-wise decoder, E[Var(x | x + nu)].

    No function of the pre-activation alone does better while the interference is Gaussian.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    sigma : array_like
        Standard deviation of the interference, sigma >= 0.

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: The Persian Rug, eq. 23 to 26, without the text's restriction to features that are
    on. The posterior variance is a sum of positive terms, integrated over the pre-activation
    by Gauss-Legendre quadrature; tested against 30-digit quadrature.
    """
    p, sigma = np.broadcast_arrays(features.probability(p), checks.real("sigma", sigma, 0, open_high=True))
    s = np.where(sigma > 0, sigma, 1.0)[..., None]
    edge = np.minimum(_REACH * s, 0.5)
    total, (nodes, weights) = np.zeros(p.shape), _gauss_legendre(300)
    for low, high in (
        (-_REACH * s, 0 * s),
        (0 * s, edge),
        (edge, 1 - edge),
        (1 - edge, 1 + 0 * s),
        (1 + 0 * s, 1 + _REACH * s),
    ):
        y = low + (high - low) * nodes
        total = total + np.sum((high - low) * weights * _posterior_error(y, s, p[..., None]), axis=-1)
    return np.where(sigma > 0, p * total, 0.0)[()]


def jumprelu_optimum(p, r):
    """Gain, bias and threshold that minimise the loss of a JumpReLU at the smallest interference.

    The output is the pre-activation ``y = a (x + nu) + b`` where it exceeds ``theta``, and 0 elsewhere;
    ``theta = 0`` is the ReLU.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on; tested for 1e-12 <= p <= 1.
    r : array_like
        Compression ratio nd / ns, in (0, 1]; r = 1 is sigma = 0, solved exactly.

    Returns
    -------
    JumpOptimum
        Fields ``a``, ``b``, ``theta``, ``sigma``, ``loss``, each of the broadcast shape. Where no jump
        helps, it is the ReLU of `optimum`, with ``theta`` 0.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: our answer to The Persian Rug, abstract and section 5.2.1 ("gating"), which rule out a gain.
    At a fixed place of the jump gain and height are a linear regression, so the search runs along one line.
    """
    from scipy.optimize.elementwise import find_minimum

    p, r = np.broadcast_arrays(features.probability(p), _ratio(r))
    sigma = noise_std(p, r)
    noisy = np.where(sigma > 0, sigma, 1.0)
    grid_loss = _jump_profile(_JUMPS, noisy[..., None], p[..., None])[2]
    inner = grid_loss[..., 1:-1]
    is_minimum = (inner <= grid_loss[..., :-2]) & (inner <= grid_loss[..., 2:])
    order = np.argsort(np.where(is_minimum, inner, np.inf), axis=-1) + 1
    jump, lowest = _JUMPS[np.argmin(grid_loss, axis=-1)], grid_loss.min(axis=-1)
    for rank in range(int(is_minimum.sum(axis=-1).max(initial=0))):
        bracket = tuple(_JUMPS[order[..., rank] + step] for step in (-1, 0, 1))
        found = find_minimum(lambda z, s, q: _jump_profile(z, s, q)[2], bracket, args=(noisy, p))
        wins = found.f_x < lowest
        jump, lowest = np.where(wins, found.x, jump), np.where(wins, found.f_x, lowest)
    a, theta, lowest = _jump_profile(jump, noisy, p)
    relu = optimum(p, r)
    helps = lowest < relu.loss * (1 - 1e-9)
    with_jump, without = (a, theta - a * jump * noisy, theta, lowest), (relu.a, relu.b, 0.0, relu.loss)
    a, b, theta, lowest = (np.where(helps, f, g)[()] for f, g in zip(with_jump, without, strict=True))
    return JumpOptimum(a, b, theta, sigma[()], lowest)


_REACH = 13.0  # standard deviations beyond which the normal density is below 1e-36
# b / (a sigma): thresholds on the negative side, nearly linear decoders on the positive one
_GRID = np.concatenate([-np.geomspace(40, 0.05, 120), np.linspace(-0.04, 0.04, 5), np.geomspace(0.05, 1e8, 120)])

_JUMPS = np.concatenate([-np.geomspace(12, 0.05, 40), np.linspace(-0.04, 0.04, 5), np.geomspace(0.05, 40, 100)])


@cache
def _gauss_legendre(n):
    """Nodes and weights on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    return (nodes + 1) / 2, weights / 2


def _ratio(r):
    return checks.real("r", r, 0, 1, open_low=True)


def _arguments(a, b, sigma, p):
    return np.broadcast_arrays(
        checks.real("a", a, 0, open_low=True, open_high=True),
        checks.real("b", b, open_low=True, open_high=True),
        checks.real("sigma", sigma, 0, open_high=True),
        features.probability(p),
    )


def _arrangement(a, b, s):
    """Where to start from E(u - y)^2 and not from E u^2, and that starting value."""
    # With y = a (u + nu) + b, the error (u - ReLU y)^2 is u^2 - 2 u y+ + y+^2, and also
    # (u - y)^2 - 2 u y- - y-^2. The one whose parts are small does not cancel.
    below = b > -a / 2
    return below, np.where(below, (1 - a) ** 2 / 3 - (1 - a) * b + b**2 + s**2, 1 / 3)


def _moment(k, m, s):
    """M_k(m, s) = E[ReLU(m + s Z)^k] for k = -1 ... 3; M_{-1} = phi(m/s)/s is M_0's derivative."""
    m, s = np.broadcast_arrays(m, s)
    positive = np.where(s > 0, s, 1.0)
    z = np.clip(np.where(s > 0, m / positive, np.copysign(np.inf, m)), -40, 40)
    if k == -1:
        return np.where(s > 0, np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) / positive, 0)
    return _where(z < -2.5, _moment_tail, _moment_direct, k, m, s, z)


def _where(mask, yes, no, order, *arrays):
    """``np.where(mask, yes(...), no(...))``, each computed only where it is wanted."""
    arrays = np.broadcast_arrays(mask, *arrays)
    result = np.empty(mask.shape)
    for chosen, function in ((mask, yes), (~mask, no)):
        if chosen.any():
            result[chosen] = function(order, *(array[chosen] for array in arrays[1:]))
    return result


def _moment_direct(k, m, s, z):
    cdf, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    if k == 0:
        return cdf
    if k == 1:
        return m * cdf + s * density
    if k == 2:
        return (m**2 + s**2) * cdf + m * s * density
    return m * (m**2 + 3 * s**2) * cdf + s * (m**2 + 2 * s**2) * density


def _moment_tail(k, m, s, z):
    """s^k E[ReLU(Z + z)^k] for z <= -2.5, without cancellation (3e-14 relative)."""
    # With t = -z, T_{k+1} = k T_{k-1} - t T_k is unstable upwards, so the ratios
    # T_k / T_{k-1} = k / (t + next) come from their continued fraction, started near its limit.
    depth = 50
    ratio = (np.sqrt(z**2 + 4 * depth) + z) / 2
    product = s**k * ndtr(z)
    for order in range(depth, 0, -1):
        ratio = order / (ratio - z)
        if order <= k:
            product = product * ratio
    return product


def _ramp(j, k, m, slope, s):
    """Integral of u^j M_k(m + slope u, s) over u in [0, 1]."""
    m, slope, s = np.broadcast_arrays(m, slope, s)
    return _where(np.abs(slope) < 0.1 * s, _ramp_series, _ramp_by_parts, (j, k), m, slope, s)


def _ramp_by_parts(order, m, slope, s):
    j, k = order
    step = max(k + 1, 1) * slope  # the antiderivative of M_k is M_{k+1} / (k + 1), that of M_{-1} is M_0
    if j == 0:
        return (_moment(k + 1, m + slope, s) - _moment(k + 1, m, s)) / step
    return _moment(k + 1, m + slope, s) / step - j / step * _ramp_by_parts((j - 1, k + 1), m, slope, s)


def _ramp_series(order, m, slope, s):
    """The same by Taylor expansion in slope / s, where the integration by parts cancels."""
    j, k = order
    z, x = np.clip(m / s, -40, 40), slope / s
    below = {i: _moment(i, m, s) * s ** -float(i) for i in range(-1, k + 1)}
    hermite = [np.ones_like(z), z]
    total = 0.0
    for n in range(15):
        if n <= k + 1:
            derivative = below[k - n] / factorial(max(k - n, 0))
        else:
            while len(hermite) <= n - k - 1:
                hermite.append(z * hermite[-1] - (len(hermite) - 1) * hermite[-2])
            derivative = (-1) ** (n - k - 1) * hermite[n - k - 1] * below[-1]
        total = total + x**n * derivative / (factorial(n) * (n + j + 1))
    return factorial(max(k, 0)) * s ** float(k) * total


def _profile(z, sigma, p):
    """Best gain at b = z a sigma, and the loss there (The Persian Rug, eq. 9 and 16)."""
    z, sigma, p = np.broadcast_arrays(z, sigma, p)
    shift = z * sigma
    overlap = p * _ramp(1, 1, shift, np.ones_like(shift), sigma)
    power = (1 - p) * _moment(2, shift, sigma) + p * _ramp(0, 2, shift, np.ones_like(shift), sigma)
    alive = (power > 0) & (overlap > 1e-150)
    a = np.where(alive, overlap / np.where(alive, power, 1), 1.0)
    value = loss(a, a * shift, sigma, p)
    return a, np.where(alive, value, features.second_moment(p))


def _refine(index, sigma, p):
    """The local minimum between the grid's neighbours of ``index``."""
    from scipy.optimize.elementwise import find_root

    def slope(z, sigma, p):  # on the line of best gains dL/dz is a sigma dL/db
        a, _ = _profile(z, sigma, p)
        return loss_grad(a, a * z * sigma, sigma, p).b

    index = np.clip(index, 1, _GRID.size - 2)
    found = find_root(slope, (_GRID[index - 1], _GRID[index + 1]), args=(sigma, p))
    z = np.where(found.success, found.x, _GRID[index])
    a, value = _profile(z, sigma, p)
    return Optimum(a, a * z * sigma, sigma, value)


def _better(one, other):
    wins = other.loss < one.loss
    return Optimum(*(np.where(wins, getattr(other, f), getattr(one, f)) for f in ("a", "b", "sigma", "loss")))


def _jump_profile(z, sigma, p):
    """Best gain and height of a decoder that jumps at x + nu = z sigma, and the loss there."""
    z, sigma, p = np.broadcast_arrays(z, sigma, p)
    place, one = z * sigma, np.ones_like(sigma)

    def ramp(j, k):
        return _ramp(j, k, -place, one, sigma)

    passed = (1 - p) * _moment(0, -place, sigma) + p * ramp(0, 0)
    alive = passed > 1e-290
    share = np.where(alive, passed, 1)
    mean = ((1 - p) * _moment(1, -place, sigma) + p * ramp(0, 1)) / share  # of what lies above the jump, once passed
    power = ((1 - p) * _moment(2, -place, sigma) + p * ramp(0, 2)) / share
    alive = alive & (power > mean**2)
    overlap = p * (ramp(1, 1) / share - ramp(1, 0) / share * mean)
    a = np.where(alive, overlap / np.where(alive, power - mean**2, 1), 1.0)
    alive = alive & (a > 0)
    a = np.where(alive, a, 1.0)
    missing = p * _missing_at_the_jump(a, place, sigma) - a * (1 - p) * _moment(1, -place, sigma)
    value = loss(a, -a * place, sigma, p) - missing * (missing / share)
    return a, np.where(alive, missing / share, 0), np.where(alive, value, features.second_moment(p))


def _missing_at_the_jump(a, place, sigma):
    """E[u - a ReLU(u + nu - place)] over those above the jump: how much higher the output should be."""
    direct = _ramp(1, 0, -place, np.ones_like(a), sigma) - a * _ramp(0, 1, -place, np.ones_like(a), sigma)
    below = _ramp(1, 0, place, -np.ones_like(a), sigma) + a * _ramp(0, 1, place, -np.ones_like(a), sigma)
    return np.where(place < 0.5, (1 - a) / 2 + a * place - below, direct)


def _posterior_error(y, sigma, p):
    """Density of y given that the feature is on, times Var(x | y) / P(on | y)."""
    density, centre, spread = _uniform_posterior(y, sigma)
    off = np.exp(-((y / sigma) ** 2) / 2) / np.sqrt(2 * np.pi) / sigma
    seen = p * density + (1 - p) * off
    doubt = np.where(seen > 0, (1 - p) * off / np.where(seen > 0, seen, 1), 0)
    return density * (spread + doubt * centre**2)


def _uniform_posterior(y, sigma):
    """Density of y = u + nu, and mean and variance of u given y (The Persian Rug, eq. 26)."""
    u, weights = _gauss_legendre(24)
    weight = np.exp(-(((y[..., None] - u) / sigma[..., None]) ** 2) / 2) * weights
    mass = weight.sum(axis=-1)
    mass = np.where(mass > 0, mass, 1)
    centre = (weight * u).sum(axis=-1) / mass
    spread = (weight * (u - centre[..., None]) ** 2).sum(axis=-1) / mass
    wide = (mass / np.sqrt(2 * np.pi) / sigma, centre, spread)

    left, right = -y / sigma, (1 - y) / sigma  # a truncated normal, where it is narrow
    flip = y > 0.5
    density = ndtr(np.where(flip, right, -left)) - ndtr(np.where(flip, left, -right))
    safe = np.where(density > 0, density, 1)
    height = np.exp(-(np.stack([left, right]) ** 2) / 2) / np.sqrt(2 * np.pi) / safe
    lean = height[0] - height[1]
    narrow = (density, y + sigma * lean, sigma**2 * (1 + left * height[0] - right * height[1] - lean**2))
    return tuple(np.where(sigma < 0.25, n, w) for n, w in zip(narrow, wide, strict=True))


def antipodal_loss(a, b, sigma, p):
    """Mean squared error of one feature of an antipodal rug, L(a, b, sigma).

    The output sees ``ReLU(a (x - x' + nu) + b)``: its feature, one partner with weight -1, and
    Gaussian interference ``nu`` of all other features.

    Parameters
    ----------
    a : array_like
        Gain (the diagonal of W), a > 0.
    b : array_like
        Bias, any real number. The mean of ``nu`` is in it, that of the partner is not: the
        effective bias, as `loss` has it, is b - a p/2.
    sigma : array_like
        Standard deviation of all off-diagonal noise, as in `loss`. The partner is part of it, so
        that ``nu`` has variance sigma^2 - Var[x], which must not be negative.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        The loss per feature, shape of the broadcast arguments.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours; The Persian Rug, eq. 5, has no partner. Tested against 30-digit quadrature.
    """
    from superposition import pairs  # which uses the moments above

    return pairs.loss(a, b, sigma, 1.0, p)


def antipodal_optimum(p, r):
    """Gain and bias that minimise the loss of an antipodal rug.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].
    r : array_like
        Compression ratio nd / ns, in (0, 1/2]. At r = 1/2 the rug falls apart into digons.

    Returns
    -------
    Optimum
        Fields ``a``, ``b`` (as in `antipodal_loss`), ``sigma`` (the same as that of `optimum`)
        and ``loss``, each of the broadcast shape.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. The matrix is a scaled projector with constant diagonal, like the text's rug,
    and saturates The Persian Rug's eq. 6; only the law of the interference differs.
    """
    from superposition import pairs  # which uses the moments above

    p, r = np.broadcast_arrays(features.probability(p), checks.real("r", r, 0, 0.5, open_low=True))
    return pairs.optimum(noise_std(p, r), 1.0, p)
