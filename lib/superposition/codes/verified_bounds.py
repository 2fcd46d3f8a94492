"""Certificates of Theorem F read again in verified arithmetic: intervals in z, in the weights and in the gain.

Every number is a ball of python-flint's ``arb``, whose radius covers all rounding; an inequality counts only where it
holds for whole balls. Only the statement is checked, so it does not matter how a certificate was found.
Source: ours; ball arithmetic: Johansson (2017).
"""

from __future__ import annotations

from functools import cache

from superposition import ranges
from superposition.checked import checked
from superposition.codes.frequency_programs import PERIOD, Cell, Certificate
from superposition.codes.pair_credits import SPREAD, critical_partners

_SMALLEST, _LARGEST, _DEPTH = 0.02, 64.0, 14  # weights between which intervals are tried, and how often they are halved
_INTERVALS = 64  # of the logarithm of a weight, at first


def failures(certificate: Certificate) -> list[str]:
    """The parts of a certificate that could not be verified; none if it is a proof."""
    p, A, phi = certificate.p, certificate.A, certificate.phi
    if not (0 < p < 1 and len(A) == len(phi) == len(certificate.cells) + 1 and all(certificate.cells)):
        return ["there is not one list of gains for each step of A"]
    found = [] if A[0] == 0 and all(a < b for a, b in zip(A, A[1:], strict=False)) else ["A does not rise from 0"]
    if not _concave(A, phi):
        found.append("phi is not concave and nondecreasing")
    for k, cells in enumerate(certificate.cells):
        gains = [cell.gain for cell in cells]
        found += [f"step {k}: {words}" for words in _uncovered(p, cells, float(phi[k + 1]))]
        for cell, gain in zip(cells, gains, strict=True):
            if not lies_below(p, cell):
                found.append(f"step {k}: the cosines exceed h at gain {gain:.6g}")
            for at in (k, k + 1):
                if not proves(p, cell, float(A[at]), float(phi[at])):
                    found.append(f"step {k}: phi({A[at]:g}) is not reached at gain {gain:.6g}")
    return found


@checked(p=ranges.sparse_probability, cell=ranges.instance(Cell))
def lies_below(p: float, cell: Cell) -> bool:
    """Verify that c + sum mu (1 - cos(theta z - phi)) is at most h / p, minus the term of the gap, for all z.

    Source: ours (Theorem F), in ball arithmetic.

    Examples
    --------
    >>> from superposition.codes import certificates
    >>> one = certificates()[0]
    >>> lies_below(one.p, one.cells[0][0])
    True
    """
    arb = _arb()
    if not 0 < cell.gap < cell.gain or min(cell.mu, default=0) < 0:
        return False
    waves, reach = _Waves(cell), _reach(p, cell)
    if not reach:
        return False
    period = _all(-1 - PERIOD, -1.0, 40, lambda u, v: waves.most(u, v) <= arb(1) / 3)
    return period and _all(-1.0, reach, 60, lambda u, v: _below(p, cell, waves, u, v))


@checked(p=ranges.sparse_probability, cell=ranges.instance(Cell), A=ranges.number(0), phi=ranges.number())
def proves(p: float, cell: Cell, A: float, phi: float) -> bool:
    """Verify that c + sum mu_k (1 - exp(-A kappa(theta_k w) / C(w))) is at least phi for all w > 0.

    Source: ours (Theorem F), in ball arithmetic.

    Examples
    --------
    >>> from superposition.codes import certificates
    >>> one = certificates()[0]
    >>> proves(one.p, one.cells[0][0], float(one.A[0]), float(one.phi[0]))
    True
    """
    arb, c, target = _arb(), _arb()(cell.c), _arb()(phi)
    if c >= target:
        return True
    terms = [(int(k), arb(float(mu))) for k, mu in zip(cell.harmonics, cell.mu, strict=True)]

    def enough(rates):
        return (
            c + sum((mu * (1 - (-A * rate).exp()) for (_, mu), rate in zip(terms, rates, strict=True)), arb(0))
            >= target
        )

    ends = [_small_rate(p, k) for k, _ in terms], [_large_rate(p, k) for k, _ in terms]
    if not all(map(enough, ends)):
        return False
    todo = [(0, j) for j in range(_INTERVALS)]
    while todo:
        level, j = todo.pop()
        if not enough([_rate(p, k, level, j) for k, _ in terms]):
            if level == _DEPTH:
                return False
            todo += [(level + 1, 2 * j), (level + 1, 2 * j + 1)]
    return True


def pair_inequality(eta: str = "0.3038") -> bool:
    """Whether e(alpha) + e(beta) is at least eta times the share of the pair in Theorem A; so gamma is eta / 2."""
    # By hand: up to alpha = 1/2 by squares, from alpha = 6 on by e(alpha) alone. Both sides rise with both numbers.
    arb, small = _arb(), _arb()(1) / 2
    spread = arb(16) / 10
    share = ((spread.sinh() / spread) ** 2 + 1) / 4
    if not (arb(eta) * share <= arb(1) / 3 - small / 6 and arb(1) / 3 - arb(1) / 36 >= arb(eta)):
        return False
    todo = [
        (0.5 + 5.5 * j / 64, 0.5 + 5.5 * (j + 1) / 64, 6.0 * k / 64, 6.0 * (k + 1) / 64)
        for j in range(64)
        for k in range(64)
    ]
    while todo:
        a, b, c, d = todo.pop()
        if c > b:  # alpha is the larger
            continue
        if not _cost(a) + _cost(c) >= arb(eta) * _share(b, d):
            if b - a < 1e-5:
                return False
            x, y = (a + b) / 2, (c + d) / 2
            todo += [(a, x, c, y), (a, x, y, d), (x, b, c, y), (x, b, y, d)]
    return True


class _Waves:
    """The cosines of a cell: most() is an upper bound on an interval, at() value and slope at a point."""

    def __init__(self, cell):
        arb = _arb()
        turn = 2 * arb.pi() / arb(PERIOD)
        self.c, self.terms = (
            arb(cell.c),
            [
                (arb(float(mu)), turn * int(k), arb(float(phi)))
                for mu, k, phi in zip(cell.mu, cell.harmonics, cell.phases, strict=True)
            ],
        )
        self.bend = sum((mu * theta * theta for mu, theta, _ in self.terms), arb(0))

    def at(self, z):
        value, slope = self.c, 0
        for mu, theta, phi in self.terms:
            sin, cos = (theta * z - phi).sin_cos()
            value, slope = value + mu * (1 - cos), slope + mu * theta * sin
        return value, slope

    def most(self, u, v):
        middle, half = _middle(u, v)
        value, slope = self.at(middle)
        return value + abs(slope) * half + self.bend * half**2 / 2


def _uncovered(p, cells, phi):
    """Gains that the cells of a step leave out: too far from a neighbour, or beyond the ends."""
    arb, gains = _arb(), [cell.gain for cell in cells]
    exact = [arb(gain) for gain in gains]
    for one, two, a, b in zip(cells, cells[1:], exact, exact[1:], strict=False):
        if not 0 < b - a <= arb(min(one.gap, two.gap)):
            yield f"gains from {one.gain:.6g} to {two.gain:.6g} are not covered"
    low, high = exact[0], exact[-1]
    if not (low <= 1 and (1 - low) ** 2 * (arb(1) / 3 - arb(p) / 4) >= arb(phi)):
        yield f"gains below {gains[0]:.6g} are not covered"
    if not (high >= 1 and ((high - 1) / (high + 1)) ** 2 / 3 >= arb(phi)):
        yield f"gains above {gains[-1]:.6g} are not covered"


def _below(p, cell, waves, u, v):
    """Whether the cosines lie below the parabola in g for z from u to v, by tangents at the middle."""
    # h has a second derivative of at least -2 g s, s = max(0, -z); that of the cosines is at most `bend`
    arb, (z, half) = _arb(), _middle(u, v)
    value, slope = waves.at(z)
    level, rise = _level(p, cell, z)
    bend = waves.bend + 2 * arb(cell.gain) * max(0.0, min(1.0, -u))
    return level - value - abs(rise - slope) * half >= bend * half**2 / 2


def _level(p, cell, z):
    """h(g, z) / p minus gap^2 / 4 times its coefficient of g^2, and its slope in z."""
    arb, gain = _arb(), _arb()(cell.gain)
    first, rising, second, growing = _moments(p, z)
    square = gain**2 - arb(cell.gap) ** 2 / 4
    return arb(1) / 3 - 2 * gain * first + square * second, square * growing - 2 * gain * rising


def _moments(p, z):
    """The means of gain_moments and their slopes at z >= -1; the second includes the part of features that are off."""
    arb = _arb()
    if z <= 0:
        return arb(1) / 3 + z / 2 - z**3 / 6, (1 - z * z) / 2, (1 + z) ** 3 / 3, (1 + z) ** 2
    if not z >= 0:
        raise ArithmeticError("the middle of an interval is not a number")
    over = 1 / arb(p)  # 1 + q / p
    return arb(1) / 3 + z / 2, arb(1) / 2, arb(1) / 3 + z + z * z * over, 1 + 2 * z * over


def _reach(p, cell):
    """A z above which this level is at least 1/3; None if none is found."""
    # it is a parabola in z >= 0 with a positive coefficient of z^2
    z, third = 0.01, _arb()(1) / 3
    while z < 1e4:
        level, rise = _level(p, cell, _arb()(z))
        if level >= third and rise >= 0:
            return z
        z *= 1.05
    return None


def _all(u, v, count, holds):
    """Whether something holds on a whole interval, which is halved where necessary."""
    ends = [u + (v - u) * j / count for j in range(count)] + [v]
    todo = [(a, b, 0) for a, b in zip(ends, ends[1:], strict=False)]
    while todo:
        a, b, depth = todo.pop()
        if not holds(a, b):
            if depth == 16:
                return False
            todo += [(a, (a + b) / 2, depth + 1), ((a + b) / 2, b, depth + 1)]
    return True


def _middle(u, v):
    """The middle of an interval, exactly, and a number that is at least half its length."""
    arb = _arb()
    middle = (u + v) / 2
    return arb(middle), (arb(v) - arb(middle)).max(arb(middle) - arb(u))


@cache
def _rate(p, harmonic, level, j):
    """A lower bound of kappa(theta w) / C(w) on one interval of weights."""
    arb, (u, v) = _arb(), _interval(level, j)
    tau = 2 * arb.pi() / arb(PERIOD) * harmonic * arb(u).union(arb(v))
    q = 1 - arb(p)
    square = q * q + 2 * arb(p) * q * tau.sinc() + arb(p) ** 2 * (tau / 2).sinc() ** 2
    rate = -square.min(arb(1)).log() / 2 / _credit(v)
    return rate.lower().max(arb(0)) if rate.is_finite() else arb(0)


def _small_rate(p, harmonic):
    """The same bound up to the smallest weight: kappa(tau) >= (V/2) tau^2 (1 - tau^2/12), V = p/3 - p^2/4."""
    arb = _arb()
    theta = 2 * arb.pi() / arb(PERIOD) * harmonic
    variance = arb(p) / 3 - arb(p) ** 2 / 4
    rate = variance * theta**2 / (2 * _small()) * (1 - (theta * arb(_SMALLEST)) ** 2 / 12)
    return rate.lower().max(arb(0))


def _large_rate(p, harmonic):
    """The same bound above the largest weight: |e^(i tau) - 1| is at most 2, and C at most 2."""
    arb = _arb()
    tau = 2 * arb.pi() / arb(PERIOD) * harmonic * arb(_LARGEST)
    return (-(1 - arb(p) + 2 * arb(p) / tau).log() / 2).lower().max(arb(0))


@cache
def _interval(level, j):
    """Ends of an interval of weights; neighbours share an end, whatever their levels."""

    def end(k):
        if k == 0:
            return _SMALLEST
        return (
            _LARGEST if k == _INTERVALS << level else _SMALLEST * (_LARGEST / _SMALLEST) ** (k / (_INTERVALS << level))
        )

    return end(j), end(j + 1)


@cache
def _credit(w):
    """An upper bound of the credit of a weight."""
    arb, w = _arb(), _arb()(w)
    small, louder = _small(), arb(5) / 3
    if w * w * small <= 1:
        return (small * w * w).upper()
    limit = 1 / small.sqrt()
    found = arb(1)
    for partner in critical_partners(w, louder, small):
        beta = partner.max(arb(0)).min(limit)
        both = (w + beta, louder * w + beta / louder, w / louder + louder * beta)
        shares = [((value / 2) ** 2).min(arb(1)) for value in both]
        found = found.max(shares[0] + (shares[1] + shares[2]) / 2 - small * beta**2)
    return found.max(small * w * w if not w * w * small > 1 else found).upper()


def _small():
    arb = _arb()
    louder = arb(5) / 3
    return arb(3) / 4 + (louder**2 + 1 / louder**2) / 8


def _cost(alpha):
    """e(alpha), the cost of a conflict."""
    alpha = _arb()(alpha)
    return alpha**2 * (_arb()(1) / 3 - alpha / 6) if alpha <= 1 else _arb()(1) / 3 - 1 / (6 * alpha)


def _share(alpha, beta):
    """An upper bound of the share of a pair in Theorem A: 1 less the mean of 1 - f over any interval of t."""
    from math import log, sqrt

    arb, spread = _arb(), _arb()(16) / 10
    if alpha * beta >= 1:
        return arb(1)
    root = sqrt(1 - alpha * beta)
    low = max(-SPREAD, log(beta / (1 + root))) if beta else -SPREAD
    high = min(SPREAD, log((1 + root) / alpha)) if alpha else SPREAD
    if low >= high:
        return arb(1)
    a, b = arb(alpha), arb(beta)

    def part(u, a, b):  # from 0 to u, of density (spread - t) / spread^2
        even = (1 - a * b / 2) * (spread * u - u**2 / 2)
        grown, shrunk = (2 * u).exp(), (-2 * u).exp()
        rising = a**2 / 4 * ((spread - u) * grown / 2 + grown / 4 - spread / 2 - arb(1) / 4)
        falling = b**2 / 4 * (-(spread - u) * shrunk / 2 + shrunk / 4 + spread / 2 - arb(1) / 4)
        return even - rising - falling

    def until(t):
        t = arb(t).max(-spread).min(spread)
        return part(t, a, b) if t >= 0 else -part(-t, b, a)

    return 1 - (until(high) - until(low)) / spread**2


def _concave(A, phi):
    arb = _arb()
    A, phi = [arb(float(x)) for x in A], [arb(float(x)) for x in phi]
    slopes = [(y - x) / (b - a) for a, b, x, y in zip(A, A[1:], phi, phi[1:], strict=False)]
    return all(a >= b for a, b in zip(slopes, slopes[1:], strict=False)) and slopes[-1] >= 0


@cache
def _arb():
    """python-flint's balls, with 80 bits."""
    import flint

    flint.ctx.prec = 80
    return flint.arb
