"""A chain of three in a plane of five features: two pairs that follow each other share a feature.

In a swept fan of five the feature opposite to the right one of the pair may be nearly as loud as it. Then the three
weaken each other along a chain, and the first responds a little to the last, which a bias suppresses. Source: ours,
against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from superposition import ranges, relu_integrals
from superposition.checked import checked
from superposition.codes.fans import Code

CHAIN = 5  # features
HIDDEN = -1e9  # weight of what is infinitely louder
SYMMETRIC = 0.007  # p from which both steps of loudness are alike
COMMON = 0.3  # p from which the first start may end in a poorer minimum


@checked(p=ranges.sparse_probability)
def chain_loss(p: float) -> float:
    """Loss of five features in a plane with a chain of three, exact at an infinite ratio between levels.

    Returns
    -------
    float
        Per feature, at the best loudness within the chain and the best gain and bias of its first feature.

    Notes
    -----
    Source: ours. As p goes to 0 it is `swept_loss` times 1 - 0.365 p; from p = 0.02 to 0.5 it lies 0.5 to 0.9 percent
    below.

    Examples
    --------
    >>> from superposition.codes import swept_loss
    >>> round(float(chain_loss(0.05) / swept_loss(0.05, 5)), 4)
    0.9925
    """
    return _tuned(p)[0]


@checked(p=ranges.sparse_probability, ratio=ranges.number(1, 1e7))
def chain_code(p: float, ratio: float = 1e5) -> Code:
    """Weights with nearly `chain_loss`: five features in a plane, levels a finite ratio of loudness apart.

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
    _, x, y, shift, gain = _tuned(p)
    c, s = 0.5, 1.0  # powers of two, so that zeros of W are exact
    w = np.array(
        [[ratio, 0], [c, s], [c * x, -s * x], [-c * x * y, s * x * y], [-s * x * y / ratio, -c * x * y / ratio]]
    )
    v = np.array([[1.0, 0], [0, 1], [0, -1], [-s, c], [-s, -c]])
    v /= np.sum(v * w, axis=1)[:, None]
    v[1] *= gain
    return Code(w.T.copy(), v, np.array([0, gain * shift, 0, 0, 0]))


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
    q, zero = 1 - p, np.zeros_like(rows[:, :1])
    overlap, power = np.zeros((2, len(rows)))
    for on in (rows[:, :0], rows[:, :1], rows[:, 1:], rows):
        chance = p ** on.shape[1] * q ** (2 - on.shape[1])
        with_own = np.concatenate([zero + 1, on], axis=1)
        overlap += p * chance * relu_integrals.relu_moment(shift, with_own, 0)
        power += p * chance * relu_integrals.relu_power(shift, with_own, 2)
        power += q * chance * relu_integrals.relu_power(shift, on, 2)
    return overlap, power
