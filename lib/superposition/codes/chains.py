"""Swept fans whose pairs are tuned to the probability, with a chain of three at the end of an odd number of features.

A pair has the loudness, the gains and the biases of the best digon. In a swept fan of odd size the feature opposite to
the right one of the last pair may be nearly as loud as it. Then the three weaken each other along a chain, and the
first responds a little to the last, which a bias suppresses. Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from superposition import features, ranges, relu_integrals
from superposition.checked import checked
from superposition.codes import partners, swept
from superposition.codes.fans import Code, rounded

CHAIN = 5  # features of the least fan with a chain of three
HIDDEN = -1e9  # weight of what is infinitely louder
SYMMETRIC = 0.007  # p from which both steps of loudness are alike
COMMON = 0.3  # p from which the first start may end in a poorer minimum
_WRITTEN, _SCALE, _OPPOSITE = 12, 17, 12  # bits of an encoder, of a reader's factor, of an arrow opposite to another


@checked(p=ranges.sparse_probability, B=ranges.whole(CHAIN))
def chain_loss(p: float, B: int = CHAIN) -> float:
    """Loss of a swept fan with tuned pairs and, if B is odd, a chain of three; exact at an infinite ratio of loudness.

    Parameters
    ----------
    B : int
        Number of features, at least 5. For even B there is no chain.

    Returns
    -------
    float
        Per feature. From seven features on it is approached as `growth` of `chain_code` rises, and not reached.

    Notes
    -----
    Source: ours. A pair or a chain is only read while the features that hide it are off: with k of them it saves
    (1 - p)^k times the saving of a digon, or of five features. For five features, as p goes to 0, the loss is
    `swept_loss` times 1 - 0.365 p; from p = 0.02 to 0.5 it lies 0.5 to 0.9 percent below.

    Examples
    --------
    >>> from superposition.codes import swept_loss
    >>> [round(float(chain_loss(0.05, B) / swept_loss(0.05, B)), 4) for B in (5, 6, 7)]
    [0.9925, 0.9997, 0.9974]
    """
    odd, hidden = B % 2, (1 - p) ** (2 * np.arange((B - 2) // 2))
    pair = 2 * (25 / 162 * p**2 - cached_digon(p)[1])
    saved = pair * float(hidden[: len(hidden) - odd].sum())
    if odd:
        saved += CHAIN * (float(swept.swept_loss.unchecked(p, CHAIN)) - _tuned(p)[0]) * float(hidden[-1])
    return float(swept.swept_loss.unchecked(p, B)) - saved / B


def _in_reach(B: int, ratio: float, growth: float | None) -> None:
    """Refuse loudness that spans more than double precision carries."""
    swept.spans(B, ratio, 3.0, growth)


@checked(
    _in_reach, p=ranges.sparse_probability, ratio=ranges.number(1, 1e8), B=ranges.whole(CHAIN, swept.LARGEST_SWEPT),
    growth=ranges.number(1, 1e6, open_low=True),
)  # fmt: skip
def chain_code(p: float, ratio: float = 1e5, B: int = CHAIN, growth: float | None = None) -> Code:
    """Weights with nearly `chain_loss`: features in a plane, levels a finite ratio of loudness apart.

    Parameters
    ----------
    B : int
        Number of features, from 5 to 40.
    growth : float, optional
        As in `swept_fan`.

    Returns
    -------
    Code
        With the best gain and bias of each feature of a pair, and of the first of the chain.

    Examples
    --------
    >>> import numpy as np
    >>> np.sign(chain_code(0.05).W.round(9) * np.tri(5)).astype(int)
    array([[ 1,  0,  0,  0,  0],
           [ 0,  1,  0,  0,  0],
           [ 0, -1,  1,  0,  0],
           [-1,  0, -1,  1,  0],
           [-1, -1,  0,  0,  1]])
    """
    angle, neighbour, side = swept.fan_layout(B, growth)
    pairs, (c, _) = np.arange(1, B - 1 - B % 2 * 3, 2), cached_digon(p)
    quieter, gain, b = np.full(B - 1, ratio), np.ones(B), np.zeros(B)
    quieter[pairs] = c
    noise = float(np.sqrt(features.variance(p)))
    for late, weight in enumerate((1 / c, c)):
        part = partners.partner_optimum.unchecked(weight * noise, weight, p)
        gain[pairs + late], b[pairs + late] = float(part.a), float(part.b)
    if B % 2:
        _, x, y, shift, gain[-4] = _tuned(p)
        quieter[-3:-1], b[-4] = (1 / x, 1 / y), gain[-4] * shift
    level = -np.r_[0, np.cumsum(np.log(quieter))]
    level = np.exp(level - level[-1] / 2)
    w = rounded(level[:, None] * np.c_[np.cos(angle), np.sin(angle)], _WRITTEN)
    w[np.abs(angle) == np.pi / 2, 0] = w[np.abs(angle) == np.pi, 1] = 0
    if B % 2:
        w[-2] = -w[-3] * rounded(level[-2] / level[-3], _OPPOSITE)
    v = side[:, None] * np.c_[-w[neighbour, 1], w[neighbour, 0]]
    v[0] = w[0]
    v *= rounded(gain / np.sum(v * w, axis=1), _SCALE)[:, None]
    return Code(w.T.copy(), v, b)


@lru_cache(maxsize=64)
def cached_digon(p: float) -> tuple[float, float]:
    """The ratio c and the loss of the best digon."""
    c, loss = partners.best_digon(p)
    return float(c), float(loss)


@lru_cache(maxsize=1024)
def _tuned(p):
    """Loss, the ratios of loudness of the second to the first and the third to the second, bias / gain and gain."""
    from scipy.optimize import minimize

    def loss(values):
        x, y, shift = _ratios(values)
        rows = np.array([[-x, x * y], [-1 / x, -y], [-1 / y, HIDDEN], [HIDDEN, HIDDEN]])
        overlap, power = _moments(rows, np.array([shift, 0, 0, 0]), p)
        return float(p / 3 - overlap[0] ** 2 / power[0] + np.sum(p / 3 - 2 * overlap[1:] + power[1:])) / CHAIN

    near, far = np.full(2, np.log(0.8 * p) / 3), np.log([min(1 / 3, 7.2 * p), 1 / 3])
    options = {"xatol": 1e-3, "fatol": 1e-7 * p**2, "maxfev": 400}
    starts = [[*(near if p > SYMMETRIC else far), -0.5]]
    if p > COMMON:
        starts.append([*np.log([0.3, 0.2]), -0.1])
    found = min(
        (minimize(loss, start, method="Nelder-Mead", options=options) for start in starts), key=lambda end: end.fun
    )
    x, y, shift = _ratios(found.x)
    overlap, power = _moments(np.array([[-x, x * y]]), np.array([shift]), p)
    return found.fun, x, y, shift, float(overlap[0] / power[0])


def _ratios(values):
    x, y = np.exp(np.clip(values[:2], -60, 3)).tolist()
    return x, y, float(np.clip(values[2], -3, 3) * x * y)


def _moments(rows, shift, p):
    """E[x f] and E[f^2] of outputs of weight 1 on which two others act, rows (n, 2), over all sets of active ones."""
    active = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    chance = (p ** active.sum(axis=1) * (1 - p) ** (2 - active.sum(axis=1)))[:, None]
    others = active[:, None] * rows  # what is off has the weight 0, which changes no integral
    own = np.broadcast_to(np.array([1.0, 0.0])[:, None, None, None], (2, *others.shape[:2], 1))
    weights = np.concatenate([own, np.broadcast_to(others, (2, *others.shape))], axis=-1)
    overlap = p * (chance * relu_integrals.relu_moment(shift, weights[0], 0)).sum(axis=0)
    with_own, without = relu_integrals.relu_power(shift, weights, 2)
    return overlap, (chance * (p * with_own + (1 - p) * without)).sum(axis=0)
