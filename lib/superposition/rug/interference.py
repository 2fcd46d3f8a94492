"""The law of the interference beyond its variance: what a finite rug costs over the theory.

Source: The Persian Rug, sections 3.2 and 4.1, which call the interference Gaussian. It is a sum
of independent terms, so its cumulants are known exactly from the weights, and the first two
terms of the Edgeworth expansion give the loss. The expansion and the counts behind it are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import checks, features
from superposition.rug import meanfield, ranges, rugs

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.checks import Floats


@dataclass(frozen=True)
class Excess:
    """Loss per feature above that of Gaussian interference of the same variance, in two parts."""

    kurtosis: np.ndarray
    skewness: np.ndarray

    @property
    def total(self) -> Floats:
        """Sum of both parts."""
        return self.kurtosis + self.skewness


def feature_cumulants(p: ArrayLike) -> Float[np.ndarray, "3 ..."]:
    """Second, third and fourth cumulant of one feature.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (3, ...)

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, section 2 (data): E x^k = p / (k + 1).
    """
    m1, m2, m3, m4 = (features.probability(p) / (k + 1) for k in range(1, 5))
    return np.array(
        [m2 - m1**2, m3 - 3 * m2 * m1 + 2 * m1**3, m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4]
    )


def absolute_third(p: ArrayLike) -> Floats:
    """Third absolute moment of a feature about its mean, in units of its standard deviation.

    Parameters
    ----------
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray
        E|x - p/2|^3 / Var[x]^(3/2), close to 1.30 / sqrt(p) for small p.

    Raises
    ------
    ValueError
        If any ``p`` is outside (0, 1].

    Notes
    -----
    Source: the factor that The Persian Rug, eq. 3, leaves out of Lyapunov's condition.
    """
    m = features.mean(p)
    return ((1 - 2 * m) * m**3 + m * (m**4 + (1 - m) ** 4) / 2) / features.variance(p) ** 1.5


def lyapunov(off_diagonal: ArrayLike) -> float:
    """Lyapunov ratio of one row of weights, sum |w|^3 / (sum w^2)^(3/2).

    Parameters
    ----------
    off_diagonal : array_like, shape (n,)
        Weights of the other features, not all zero.

    Returns
    -------
    float
        Between 1 / sqrt(n) and 1; the text's Lambda is the largest over the rows.

    Raises
    ------
    ValueError
        If the weights are not finite, or all zero.

    Notes
    -----
    Source: The Persian Rug, eq. 3.
    """
    w = np.abs(ranges.off_diagonal(off_diagonal))
    if not w.any():
        raise ValueError("off_diagonal = 0 everywhere; allowed: at least one other weight")
    return float(np.sum(w**3) / np.sum(w**2) ** 1.5)


def row_cumulants(power_sums: ArrayLike, p: float) -> Float[np.ndarray, " 3"]:
    """Second, third and fourth cumulant of the interference of one row.

    Parameters
    ----------
    power_sums : array_like, shape (4,)
        Sums over j != i of (W_ij / W_ii)^k for k = 1 to 4, as from ``Rug.power_sums``.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    numpy.ndarray, shape (3,)
        The first is sigma^2.

    Raises
    ------
    ValueError
        If there are not four sums or `p` is outside (0, 1].

    Notes
    -----
    Source: The Persian Rug, eq. 4: cumulants of independent terms add.
    """
    return feature_cumulants(features.one_probability(p)) * checks.of_shape("power_sums", power_sums, (4,))[1:]


def mean_power_sums(ns: int, nd: int, *, antipodal: bool = False) -> Float[np.ndarray, " 4"]:
    """Power sums of a rug, averaged over all index sets of its size without the constant row.

    Parameters
    ----------
    ns : int
        Number of features, a power of two from 8.
    nd : int
        Rank, from 1 to ns - 1; up to ns / 2 for antipodal rugs.
    antipodal : bool
        Whether index sets are taken from an odd coset.

    Returns
    -------
    numpy.ndarray, shape (4,)
        Means of sum_{j != i} R_ij^k for k = 1 to 4. The second is ns / nd - 1 for every index
        set, the first -1. So is the third for antipodal ones; else it is (1 - 3 / nd + ...) - 1.

    Raises
    ------
    ValueError
        If `ns` is no power of two from 8 or `nd` is out of range.

    Notes
    -----
    Source: ours. ns^-1 sum_j R_ij^k is nd^-k times the number of k-tuples of indices with XOR
    zero. Random sets hold nd (nd - 1) (nd - 2) / (ns - 3) ordered triples of that kind on average.
    """
    ns = checks.whole("ns", ns, 8)
    if ns & (ns - 1):
        raise ValueError(f"ns = {ns} is out of range; allowed: powers of two from 8")
    nd = checks.whole("nd", nd, 1, ns // 2 if checks.flag("antipodal", antipodal) else ns - 1)
    pool = ns // 2 if antipodal else ns  # the XOR of three members is one of so many
    falling = nd * (nd - 1) * (nd - 2)
    triples = 0 if antipodal else falling / (ns - 3)
    quadruples = 3 * nd**2 - 2 * nd + falling * (nd - 3) / (pool - 3)
    return np.array([0.0, ns / nd, ns * triples / nd**3, ns * quadruples / nd**4]) - 1


def triples(rug: rugs.Rug) -> int:
    """Ordered triples of the index set that sum to zero, by XOR or modulo ns.

    Parameters
    ----------
    rug : superposition.rug.rugs.Rug
        A rug.

    Returns
    -------
    int
        From the third power sum of its row: ns^-1 sum_j R_ij^3 = triples / nd^3.

    Notes
    -----
    Source: ours.
    """
    return round((rug.power_sums()[2] + 1) * rug.nd**3 / rug.ns)


def excess(cumulants: ArrayLike, a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Excess:
    """First-order cost of interference that is not Gaussian.

    Parameters
    ----------
    cumulants : array_like, shape (3, ...)
        Second (above 0), third and fourth cumulant of the interference, as from `row_cumulants`.
    a : array_like
        Gain, a > 0.
    b : array_like
        Effective bias.
    p : array_like
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    Excess
        k4 / 24 E f''''(nu) and k3 / 6 E f'''(nu), with f(nu) the loss at given interference and
        nu Gaussian. What is left out is of second order in k3 and k4.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours (Edgeworth expansion of eq. 5 of The Persian Rug). As derivatives of the loss:
    k4 / 6 d^2 L / d(sigma^2)^2 + k3 / 3 a d^2 L / db d(sigma^2).
    """
    cumulants = checks.real("cumulants", cumulants, -(ranges.LARGEST**2), ranges.LARGEST**2)
    if cumulants.shape[:1] != (3,) or not np.all(cumulants[0] > 0):
        raise ValueError(
            f"cumulants of shape {cumulants.shape} do not fit; allowed: (3, ...), the first of them above 0"
        )
    k2, k3, k4 = cumulants
    a, b, k2, p = np.broadcast_arrays(
        ranges.gains(a),
        ranges.biases(b),
        k2,
        features.probability(p),
    )
    third, fourth = _derivatives(a, b, a * np.sqrt(k2), p)
    return Excess(kurtosis=k4 * a**4 * fourth / 24, skewness=k3 * a**3 * third / 6)


def exact_excess(off_diagonal: ArrayLike, a: float, b: float, p: float) -> float:
    """The same without expansion: `superposition.rug.rugs.row_loss` above the loss of Gaussian interference.

    Parameters
    ----------
    off_diagonal : array_like, shape (n,)
        Weights of the other features, divided by the gain, not all zero.
    a : float
        Gain, a > 0.
    b : float
        Effective bias.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float
        `superposition.rug.rugs.row_loss` minus `superposition.rug.meanfield.loss`.

    Raises
    ------
    ValueError
        If an argument is outside its range, or `p` too small for `superposition.rug.rugs.row_loss`.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and eq. 5.
    """
    weights, (a, b, p) = ranges.off_diagonal(off_diagonal), ranges.one_output(a, b, p)
    sigma = np.sqrt(features.variance(p) * np.sum(weights**2))
    return rugs.row_loss(weights, a, b, p) - float(meanfield.loss(a, b, sigma, p))


def partner_loss(weight: float, a: float, b: float, p: float, r: float) -> float:
    """Loss of a rug in which every feature has one partner of a given weight, for ns to infinity.

    The partner is one feature of the law of section 2; the rest of the interference is Gaussian,
    and the whole has the smallest variance, whatever the weight.

    Parameters
    ----------
    weight : float
        R_{i, partner}, from -1 (antipodal rug) to 1; weight^2 up to 1 / r - 1.
    a : float
        Gain, a > 0.
    b : float
        Effective bias.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio nd / ns, in (0, 1].

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours; eq. 5 of The Persian Rug with one term of eq. 4 kept out of the Gaussian.
    """
    a, b, p = ranges.one_output(a, b, p)
    r = checks.number("r", ranges.ratios(r))
    reach = min(1.0, float(np.sqrt(1 / r - 1)))
    weight = checks.number("weight", weight, -reach, reach)
    sigma = np.sqrt(features.variance(p) * max(1 / r - 1 - weight**2, 0))
    nodes, shares = np.polynomial.legendre.leggauss(64)
    shift = a * weight * (np.append((nodes + 1) / 2, 0.0) - features.mean(p))
    chance = np.append(p * shares / 2, 1 - p)
    return float(chance @ meanfield.loss(a, b + shift, sigma, p))


def rug_loss(rug: rugs.Rug, a: float, b: float, p: float) -> float:
    """Loss per feature of a rug from the first four power sums of its row, at any size.

    Parameters
    ----------
    rug : superposition.rug.rugs.Rug
        A rug; the partner of an antipodal one is kept out of the Gaussian, as in `partner_loss`.
    a : float
        Gain, a > 0.
    b : float
        Effective bias.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    float
        Up to second order in `excess`, and for antipodal rugs up to p times the first.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours; `superposition.rug.rugs.row_loss` has the same without expansion, for rows with few different weights.
    """
    sums, (a, b, p) = rug.power_sums(), ranges.one_output(a, b, p)
    if rug.antipodal:
        limit = partner_loss(-1, a, b, p, rug.nd / rug.ns)
        sums = sums - np.array([-1, 1, -1, 1])
        b = b + a * features.mean(p)  # the partner is off most of the time  # pyrefly: ignore  # a number by now
    else:
        limit = float(meanfield.loss(a, b, meanfield.noise_std(p, rug.nd / rug.ns), p))
    if sums[1] < 1e-9:  # no interference is left
        return limit
    return limit + float(excess(row_cumulants(sums, p), a, b, p).total)


def _derivatives(a, b, s, p):
    """Third and fourth derivative of the loss with respect to b; s = a sigma."""
    # Off: M_2''' = 2 phi(z) / s. On: the same under the integral over u, and -2 u M_1''' by parts.
    from scipy.special import ndtr

    low, high = b / s, (a + b) / s
    bell_low, bell_high = (np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi) for z in (low, high))
    weight = 2 * (1 + a) / a**2
    third = 2 * (1 - p) * bell_low / s + p * (weight * (ndtr(high) - ndtr(low)) - 2 * bell_high / (s * a))
    fourth = -2 * (1 - p) * low * bell_low / s**2
    fourth = fourth + p * (weight * (bell_high - bell_low) / s + 2 * high * bell_high / (s**2 * a))
    return third, fourth
