"""Certificates for Theorem F: linear programs over frequencies that bound the loss of one output from below.

An output of gain g whose input is g (u + Z), u its own strength and Z = b/g + sum of w_j x_j, loses the mean of h(g, Z)
over Z. If c + sum of mu_k (1 - cos(theta_k Z - phi_k)) is at most h(g, z) for all z, the loss is at least that sum with
exp(-sum over j of kappa(theta_k w_j)) in the place of the cosines: independent rivals blur every frequency.
All losses here are divided by p. Source: ours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from superposition.codes.pair_credits import credit

PERIOD = 8.0  # of all certificates in z: frequencies are 2 pi k / PERIOD
HARMONICS = np.r_[1:13, 14:29:2, 32:61:4]
PHASES = 4  # of each frequency in the first round
ROUNDS = 6  # of a linear program
GIVEN = 0.12  # gap^2 over the bound that is aimed at: a twelfth of it is given away between gains
LARGEST_WEIGHT = 64.0  # of the grid of weights; beyond it a bound holds
_WEIGHTS = np.r_[
    np.geomspace(0.03, 0.8, 12, endpoint=False), np.geomspace(0.8, 3, 25), np.geomspace(3.3, LARGEST_WEIGHT, 14)
]
_FINE = np.geomspace(0.01, LARGEST_WEIGHT, 1200)

Floats = NDArray[np.float64]


class Cell(NamedTuple):
    """For one ``gain``, no farther than ``gap`` from its neighbours: the constant ``c`` and the terms of a bound."""

    gain: float
    gap: float
    c: float
    harmonics: NDArray[np.int64]
    phases: Floats
    mu: Floats


class Certificate(NamedTuple):
    """At ``p`` no output with rivals of credit ``A`` loses less than ``phi``; ``cells``, a list for each step of A."""

    p: float
    A: Floats
    phi: Floats
    cells: tuple[tuple[Cell, ...], ...]


def gain_moments(z: Floats) -> tuple[Floats, Floats]:
    """The means over a strength u of u (u + z)_+ and of (u + z)_+^2."""
    s, over = np.clip(-z, 0, 1), np.maximum(z, 0)
    return (1 - s) ** 2 * (2 + s) / 6 + over / 2, (1 - s) ** 3 / 3 + over + over**2


def loss_between(p: float, z: Floats, gain: float, gap: float) -> Floats:
    """h(g, z) / p, minus gap^2 / 4 times its coefficient of g^2."""
    # h is a parabola in g. Between two gains it is below its chord by at most that, so bounds for both gains prove
    # the same for all gains between them.
    first, second = gain_moments(z)
    second = second + (1 - p) / p * np.maximum(z, 0) ** 2
    return 1 / 3 - 2 * gain * first + (gain**2 - gap**2 / 4) * second


def blur(p: float, tau: Floats) -> Floats:
    """kappa(tau) = -ln |q + p (e^(i tau) - 1) / (i tau)|: the amount by which one rival blurs a frequency."""
    q, half = 1 - p, np.sinc(tau / (2 * np.pi))
    return -np.log(q * q + 2 * p * q * np.sinc(tau / np.pi) + p * p * half**2) / 2


def end_gain_low(p: float, value: float) -> float:
    """Up to this gain the constant (1 - g)^2 (1/3 - p/4) is at least ``value``."""
    return 1 - np.sqrt(min(1, value / (1 / 3 - p / 4)))


def end_gain_high(value: float) -> float:
    """From this gain on the constant ((g - 1) / (g + 1))^2 / 3 is at least ``value``."""
    root = np.sqrt(3 * value)
    return (1 + root) / (1 - root)


def solve_cell(p: float, gain: float, gap: float, A: Floats, scales: Floats) -> tuple[Cell, Floats]:
    """The best certificate for a gain at two credits A: the one with the largest sum of its bounds over scales."""
    # In units of the scales, for the solver's tolerance. Between rounds points are added where the cosines exceed h,
    # and to each frequency the phase that the multipliers of the points ask for.
    unit, theta = float(scales.max()), 2 * np.pi * HARMONICS / PERIOD
    fine = _grid(p, gain, points=12)
    room = np.minimum(loss_between(p, fine, gain, gap), 1 / 3) / unit
    rates = _rates(p, _WEIGHTS, HARMONICS)
    blurred = np.vstack([1 - np.exp(-credits * (rates if credits else rates[:1])) for credits in A])
    which = np.repeat(np.eye(2), [len(rates) if credits else 1 for credits in A], axis=0)
    kept = np.arange(0, len(fine), 12)
    at, phi = np.divmod(np.arange(len(HARMONICS) * PHASES), PHASES)
    phi = 2 * np.pi * phi / PHASES
    bounds = [(None, None)] * 3
    cost, best = np.r_[0, -unit / scales], -np.inf
    for round_ in range(ROUNDS):
        waves = 1 - np.cos(fine[kept, None] * theta[at] - phi)
        above = np.c_[np.ones(len(kept)), np.zeros((len(kept), 2)), waves]
        below = np.c_[-np.ones(len(which)), which, -blurred[:, at]]
        found = linprog(
            np.r_[cost, np.zeros(len(at))],
            A_ub=np.vstack([above, below]),
            b_ub=np.r_[room[kept], np.zeros(len(which))],
            bounds=bounds + [(0, None)] * len(at),
            method="highs",
        )
        if found.x is None:
            raise ValueError(f"no certificate found for gain = {gain:g} at p = {p:g}: {found.message}")
        used = found.x[3:] > 1e-6
        mu = found.x[3:][used].astype(np.float32).astype(float)
        phases = phi[used].astype(np.float32).astype(float)
        over = found.x[0] + (1 - np.cos(fine[:, None] * theta[at[used]] - phases)) @ mu - room
        score = -found.fun - max(over.max(), 0) * np.sum(unit / scales)
        if score > best:
            cell = Cell(
                gain, gap, (found.x[0] - max(over.max(), 0) - 1e-3) * unit, HARMONICS[at[used]], phases, mu * unit
            )
            best = score
        if round_ > 2 and best > -found.fun - 2e-3:
            break
        peaks = np.flatnonzero((over[1:-1] >= over[:-2]) & (over[1:-1] >= over[2:]) & (over[1:-1] > 5e-4)) + 1
        multipliers = -found.ineqlin.marginals[: len(kept)]
        asked = np.angle(np.exp(1j * np.outer(theta, fine[kept])) @ multipliers)
        at, phi = np.r_[at, np.arange(len(HARMONICS))], np.r_[phi, asked]
        kept = np.union1d(kept, peaks)
    return cell, bounds_of(p, cell, A)  # pyrefly: ignore[unbound-name]: the first score is above -inf


def bounds_of(p: float, cell: Cell, A: Floats) -> Floats:
    """The lower bound of a cell at each A, least over the weights of rivals, on a grid."""
    rates = _rates(p, _FINE, cell.harmonics)
    return np.array([cell.c + np.min((1 - np.exp(-credits * rates)) @ cell.mu) for credits in A])


def certificate(p: float, A: Floats) -> Certificate:
    """A certificate at p for the credits A, 0 first: for each step cells for all gains."""
    A, cells, values = np.asarray(A, float), [], []
    for ends in zip(A, A[1:], strict=False):
        found, least = _cover(p, np.array(ends))
        cells.append(found)
        values.append(least)
    values = np.array(values)
    points = np.r_[values[0, 0], np.minimum(values[:-1, 1], values[1:, 0]), values[-1, 1]]
    points = np.minimum(points, 0.999 * (1 / 3 - p / 4))
    strictly = concave_below(A, points) - 1e-9 * points[-1] / (1 + A)  # not concave by rounding alone
    return Certificate(p, A, strictly, tuple(cells))


def concave_below(A: Floats, points: Floats) -> Floats:
    """The concave, nondecreasing function below these points that has the largest integral."""
    steps = np.diff(A)
    slopes = (np.eye(len(A))[1:] - np.eye(len(A))[:-1]) / steps[:, None]
    falling = np.vstack([slopes[1:] - slopes[:-1], -slopes[-1:]])
    weights = (np.r_[steps, 0] + np.r_[0, steps]) / (1 + A)
    found = linprog(-weights, A_ub=falling, b_ub=np.zeros(len(falling)), bounds=[(None, point) for point in points])
    return found.x


def integral(A: Floats, phi: Floats, r: float) -> float:
    """Theorem F: r phi(0) + (r/2) times the integral of phi from 1 to 2/r - 1, by the chords of a concave phi."""
    most = 2 / r - 1
    inner = A[(A > 1) & (A < most)]
    points = np.r_[1.0, inner, most]
    values = np.interp(points, A, phi)
    return float(r * phi[0] + r / 2 * np.sum(np.diff(points) * (values[1:] + values[:-1]) / 2))


def _cover(p, A):
    """Cells for one step of A, and what they prove at its ends."""
    scales = (1 - np.exp(-0.4 * p * A)) / 3
    scales = np.maximum(scales, scales[1] / 4)
    least, grown, found = float(np.sqrt(GIVEN * scales[0])), 1.2, {}
    found[1.0], proved = solve_cell(p, 1.0, grown * least, A, scales)
    for way in (1, -1):
        at, gap = 1.0, least
        while at < end_gain_high(proved[1]) if way > 0 else at > end_gain_low(p, proved[1]):
            gap = min(gap, at / 3)
            cell, values = solve_cell(p, at + way * gap, grown * gap, A, scales)  # so that the next gap may be wider
            if gap > least and np.any(values < 0.995 * proved):
                gap = least
                cell, values = solve_cell(p, at + way * gap, grown * gap, A, scales)
            at += way * gap
            found[at], proved = cell, np.minimum(proved, values)
            gap = min(0.999 * grown * gap, 5 * least)
    return tuple(found[gain] for gain in sorted(found)), proved - 1e-3 * proved[1]


def _rates(p, w, harmonics):
    """kappa(theta w) / C(w), one row a weight."""
    return blur(p, 2 * np.pi / PERIOD * w[:, None] * harmonics) / credit.unchecked(w)[:, None]


def _grid(p, gain, points=1):
    """Points in z: a period, the unit interval below 0, and from 0 up to the point where h is p / 3."""
    square = (1 - gain) ** 2
    reach = p / 2 * (1 - gain + np.sqrt(max(0.0, square + 4 / (3 * p) * (1 - square)))) / gain
    full = np.linspace(-1 - PERIOD, -1, 100 * points, endpoint=False)
    over = (1.1 * max(reach, 0) + 0.01) * np.linspace(0, 1, 20 * points) ** 1.5
    return np.r_[full, np.linspace(-1, 0, 60 * points, endpoint=False), over]
