"""How much a rug depends on which rows of the Hadamard matrix it is made of."""

from __future__ import annotations

import math
from fractions import Fraction

from superposition import checks


def skewness_spread(ns: int, nd: int) -> float:
    """Standard deviation, between random index sets, of a rug's third power sum.

    Parameters
    ----------
    ns : int
        Number of features, a power of two from 8.
    nd : int
        Rank, from 1 to ns - 1.

    Returns
    -------
    float
        Of sum_{j != i} R_ij^3, for index sets without the constant row: exact. For large ns it is
        sqrt(6) (1 / r - 1)^(3/2) / ns, that is 0.82 sqrt(1 / r - 1) times the size of its mean.

    Raises
    ------
    ValueError
        If `ns` is no power of two from 8 or `nd` is out of range.

    Notes
    -----
    Source: ours. The sum is 6 ns / nd^3 times the number of triples with XOR zero, less 1; two of the
    (ns - 1) (ns - 2) / 6 triples share one number or none. Sets of a fixed size fluctuate only where
    all three members do: hence (r (1 - r))^(3/2) and not r^(5/2).

    Examples
    --------
    >>> round(skewness_spread(1024, 205), 4), round(6**0.5 * (1024 / 205 - 1) ** 1.5 / 1024, 4)
    (0.0191, 0.0191)
    """
    ns = checks.whole("ns", ns, 8)
    if ns & (ns - 1):
        raise ValueError(f"ns = {ns} is out of range; allowed: powers of two from 8")
    nd, all_ = checks.whole("nd", nd, 1, ns - 1), ns - 1
    inside = {k: Fraction(math.perm(nd, k), math.perm(all_, k)) for k in (3, 5, 6)}
    count, touching = Fraction(all_ * (all_ - 1), 6), Fraction(3 * (all_ - 3), 2)
    variance = count * (inside[3] + touching * inside[5] + (count - 1 - touching) * inside[6] - count * inside[3] ** 2)
    return 6 * ns / nd**3 * math.sqrt(variance)
