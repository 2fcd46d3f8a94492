"""The distribution of the interference beyond its variance: the excess loss of a finite rug over the theory.

Source: The Persian Rug, sections 3.2 and 4.1, which call the interference Gaussian. It is a sum
of independent terms, so its cumulants are known exactly from the weights, and the first two
terms of the Edgeworth expansion give the loss. The expansion and the counts behind it are ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, moments, ranges
from superposition.checked import checked
from superposition.rug import meanfield, rugs
from superposition.rug.ranges import (
    MOST,
    biases,
    cumulants,
    fitting_cumulants,
    gains,
    off_diagonal,
    one_bias,
    one_gain,
    partner_fits,
    power_sums,
    rank_without_constant_row,
    some_weights,
)
from superposition.rug.rugs import Rug

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


@checked(p=ranges.probability)
def feature_cumulants(p: ArrayLike) -> Float[np.ndarray, "3 ..."]:
    """Second, third and fourth cumulant of one feature, shape (3, ...) with the shape of p.

    Notes
    -----
    Source: E x^k = p / (k + 1) (The Persian Rug, section 2).

    Examples
    --------
    >>> feature_cumulants(0.05).round(4)
    array([0.016 , 0.0113, 0.008 ])
    """
    m1, m2, m3, m4 = (np.asarray(p, float) / (k + 1) for k in range(1, 5))
    return np.array(
        [m2 - m1**2, m3 - 3 * m2 * m1 + 2 * m1**3, m4 - 4 * m3 * m1 - 3 * m2**2 + 12 * m2 * m1**2 - 6 * m1**4]
    )


@checked(p=ranges.probability)
def absolute_third_moment(p: ArrayLike) -> Floats:
    """E|x - p/2|^3 / Var[x]^(3/2), the factor that the Lyapunov ratio omits; shape of p.

    Notes
    -----
    Source: The Persian Rug, eq. 3, which leaves it out of Lyapunov's condition.

    Examples
    --------
    >>> float(absolute_third_moment(0.05).round(4))
    5.567
    """
    m = features.mean(p)
    return ((1 - 2 * m) * m**3 + m * (m**4 + (1 - m) ** 4) / 2) / features.variance(p) ** 1.5


@checked(off_diagonal=some_weights)
def lyapunov_ratio(off_diagonal: ArrayLike) -> float:
    """Lyapunov ratio of one row of weights (n,), sum |w|^3 / (sum w^2)^(3/2), in (0, 1].

    Notes
    -----
    Source: The Persian Rug, eq. 3. Use `row_statistics` instead for all rows of a matrix.

    Examples
    --------
    >>> lyapunov_ratio([0.5, -0.5, 0.5, 0.5])
    0.5
    """
    w = np.abs(np.asarray(off_diagonal, float))
    return float(np.sum(w**3) / np.sum(w**2) ** 1.5)


@checked(power_sums=power_sums, p=ranges.one_probability)
def row_cumulants(power_sums: ArrayLike, p: float) -> Float[np.ndarray, " 3"]:
    """Second (sigma^2), third and fourth cumulant of the interference of a row, shape (3,).

    Notes
    -----
    Source: The Persian Rug, eq. 4: cumulants of independent terms add.

    Examples
    --------
    >>> row_cumulants(Rug(8, 3).power_sums(), p=0.05).round(4)
    array([ 0.0267, -0.0113,  0.0086])
    """
    return feature_cumulants(p) * np.asarray(power_sums)[1:]


@checked(rank_without_constant_row, ns=ranges.whole(8, MOST), nd=ranges.whole(1, MOST), antipodal=ranges.flag)
def mean_power_sums(ns: int, nd: int, *, antipodal: bool = False) -> Float[np.ndarray, " 4"]:
    """Power sums of a rug, shape (4,), averaged over all index sets of its size without the constant row.

    Notes
    -----
    Source: ours. Use `Rug.power_sums` instead for one index set.

    Examples
    --------
    >>> mean_power_sums(256, 51).round(3)
    array([-1.   ,  4.02 , -0.047,  0.188])
    """
    # ns^-1 sum_j R_ij^k is nd^-k times the number of k-tuples of indices with XOR zero. Random sets hold
    # nd (nd - 1) (nd - 2) / (ns - 3) ordered triples of that kind on average, those from an odd coset none.
    pool = ns // 2 if antipodal else ns  # the XOR of three members is one of so many
    falling = nd * (nd - 1) * (nd - 2)
    triples = 0 if antipodal else falling / (ns - 3)
    quadruples = 3 * nd**2 - 2 * nd + falling * (nd - 3) / (pool - 3)
    return np.array([0.0, ns / nd, ns * triples / nd**3, ns * quadruples / nd**4]) - 1


@checked(rug=ranges.instance(Rug))
def zero_sum_triples(rug: rugs.Rug) -> int:
    """Ordered triples of a rug's index set that sum to zero: ns^-1 sum_j R_ij^3 = triples / nd^3.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> zero_sum_triples(Rug(8, 3, indices=[3, 5, 6]))
    6
    """
    return round((rug.power_sums()[2] + 1) * rug.nd**3 / rug.ns)


@checked(fitting_cumulants, cumulants=cumulants, a=gains, b=biases, p=ranges.probability)
def edgeworth_excess(cumulants: ArrayLike, a: ArrayLike, b: ArrayLike, p: ArrayLike) -> Excess:
    """First-order cost of interference that is not Gaussian, by the Edgeworth expansion of the loss.

    Returns
    -------
    Excess
        Fields ``kurtosis`` and ``skewness``, and their sum ``total``, each of the broadcast shape.

    Notes
    -----
    Source: The Persian Rug, eq. 5, expanded (ours). Use `exact_excess` instead where weights are so uneven
    that the expansion fails.

    Examples
    --------
    >>> float(edgeworth_excess([0.05, 0.001, 0.0002], a=1.2, b=-0.4, p=0.05).total.round(6))
    0.000397
    """
    # k4 / 24 E f''''(nu) and k3 / 6 E f'''(nu), with f(nu) the loss at given interference and nu Gaussian. As
    # derivatives of the loss: k4 / 6 d^2 L / d(sigma^2)^2 + k3 / 3 a d^2 L / db d(sigma^2).
    k2, k3, k4 = np.asarray(cumulants)
    a, b, k2, p = moments.floats(a, b, k2, p)
    third, fourth = _derivatives(a, b, a * np.sqrt(k2), p)
    return Excess(kurtosis=k4 * a**4 * fourth / 24, skewness=k3 * a**3 * third / 6)


@checked(off_diagonal=off_diagonal, a=one_gain, b=one_bias, p=ranges.one_probability)
def exact_excess(off_diagonal: ArrayLike, a: float, b: float, p: float) -> float:
    """Loss of one row of weights above the loss of Gaussian interference, without expansion.

    Notes
    -----
    Source: The Persian Rug, eq. 4 and eq. 5. `row_loss` computes the first of these two losses and states its limits.

    Examples
    --------
    >>> round(exact_excess([0.3, -0.2, 0.1], a=1.2, b=-0.4, p=0.05), 6)
    1e-05
    """
    sigma = np.sqrt(features.variance(p) * np.sum(np.square(off_diagonal)))
    return rugs.row_loss(off_diagonal, a, b, p) - float(meanfield.loss.unchecked(a, b, sigma, p))


@checked(
    partner_fits, weight=ranges.number(-1000, 1000), a=one_gain, b=one_bias, p=ranges.one_probability,
    r=ranges.number(1e-30, 1),
)  # fmt: skip
def partner_loss(weight: float, a: float, b: float, p: float, r: float) -> float:
    """Loss per feature of a rug in which every feature has one partner of a given weight, for ns to infinity.

    Notes
    -----
    Source: ours; the partner, one term of The Persian Rug, eq. 4, is kept out of the Gaussian, and the whole has the
    smallest variance at any weight. Use `superposition.codes.antipodal_loss` instead for the weight -1.

    Examples
    --------
    >>> round(partner_loss(-1, a=1.2, b=-0.4, p=0.05, r=0.2), 6)
    0.006244
    """
    # the partner, one term of eq. 4, is kept out of the Gaussian; the whole has the smallest variance at any weight
    sigma = np.sqrt(features.variance(p) * max(1 / r - 1 - weight**2, 0))
    nodes, shares = np.polynomial.legendre.leggauss(64)
    shift = a * weight * (np.append((nodes + 1) / 2, 0.0) - features.mean(p))
    chance = np.append(p * shares / 2, 1 - p)
    return float(chance @ meanfield.loss.unchecked(a, b + shift, sigma, p))


@checked(rug=ranges.instance(Rug), a=one_gain, b=one_bias, p=ranges.one_probability)
def rug_loss(rug: rugs.Rug, a: float, b: float, p: float) -> float:
    """Loss per feature of a rug from the first four power sums of its row, at any size.

    Notes
    -----
    Source: ours, to first order in the third and fourth cumulant (`edgeworth_excess`). Use `row_loss` instead
    for small rugs, and `simulated_loss` to check either.

    Examples
    --------
    >>> round(rug_loss(Rug(256, 51), a=1.2, b=-0.4, p=0.05), 5)
    0.00854
    """
    sums = rug.power_sums()
    if rug.antipodal:
        limit = partner_loss(-1, a, b, p, rug.nd / rug.ns)
        sums = sums - np.array([-1, 1, -1, 1])
        b = b + a * float(features.mean(p))  # the partner is off most of the time
    else:
        limit = float(meanfield.loss.unchecked(a, b, meanfield.noise_std(p, rug.nd / rug.ns), p))
    if sums[1] < 1e-9:  # no interference is left
        return limit
    return limit + float(edgeworth_excess(row_cumulants(sums, p), a, b, p).total)


@checked(rank_without_constant_row, ns=ranges.whole(8, MOST), nd=ranges.whole(1, MOST))
def skewness_spread(ns: int, nd: int) -> float:
    """Standard deviation of sum_{j != i} R_ij^3 between random index sets without the constant row, exact.

    Notes
    -----
    Source: ours.

    Examples
    --------
    >>> round(skewness_spread(256, 51), 4)
    0.0763
    """
    # The sum is 6 ns / nd^3 times the number of triples with XOR zero, less 1; two of the (ns - 1) (ns - 2) / 6 triples
    # share one number or none. Sets of a fixed size fluctuate only where all three members do: for large ns it is
    # sqrt(6) (1 / r - 1)^(3/2) / ns, with (r (1 - r))^(3/2) and not r^(5/2).
    all_ = ns - 1
    inside = {k: Fraction(math.perm(nd, k), math.perm(all_, k)) for k in (3, 5, 6)}
    count, touching = Fraction(all_ * (all_ - 1), 6), Fraction(3 * (all_ - 3), 2)
    variance = count * (inside[3] + touching * inside[5] + (count - 1 - touching) * inside[6] - count * inside[3] ** 2)
    return 6 * ns / nd**3 * math.sqrt(variance)


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
