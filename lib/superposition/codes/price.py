"""The price of loud and quiet codes: what a limit on weights, on digits, on norms or on silence takes from them.

A fan needs ratio^(B - 1) of dynamic range. Each budget sets the best ratio, and with it the loss.
Source: ours; where the budget is tight the text's rug is the better code (The Persian Rug, section 4.2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks, features
from superposition.codes.exact_losses import best_decoder
from superposition.codes.fans import Code, cone, priority_fan
from superposition.features import Estimate

HALF_PRECISION = 2.0**14  # half precision reaches from 2^-14 to nearly 2^16: loudness may go as far both ways


class Priced(NamedTuple):
    """A code at the best ratio a budget allows: ``ratio``, ``loss``, and what it ``costs`` beside the loss."""

    ratio: float
    loss: float
    costs: float


def ratio_within(B: int, largest: float) -> float:
    """Ratio of loudness of a fan whose encoder and decoder stay below a bound.

    Parameters
    ----------
    B : int
        Number of features, at least 4.
    largest : float
        Largest weight, at least 1.

    Returns
    -------
    float
        1 where the bound leaves no loudness. For half precision `largest` is HALF_PRECISION.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours. Balanced, loudness runs from ratio^((B-1)/2) down to its inverse, and the decoder is longer by
    1 / sin(180 / (B - 2)).

    Examples
    --------
    >>> round(ratio_within(10, 2.0**14), 1)
    7.0
    """
    B = checks.whole("B", B, 4)
    largest = checks.number("largest", largest, 1, open_high=True)
    return max(1.0, float((largest * np.sin(np.pi / (B - 2))) ** (2 / (B - 1))))


def bounded_fan(p: float, B: int, largest: float) -> Priced:
    """The best fan with bounded weights, with the bias and gain that suit its ratio.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    B : int
        Number of features, from 4 to 14.
    largest : float
        Largest weight of encoder and decoder, at least 1.

    Returns
    -------
    Priced
        ``costs`` is the largest weight of the balanced code.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> fan = bounded_fan(0.1, 4, 100)
    >>> round(fan.loss / 0.1**2, 3)  # two digons
    0.166
    """
    B = checks.whole("B", B, 4, 14)
    ratio = ratio_within(B, largest)
    code = priority_fan(B, ratio)
    found = best_decoder(code.W, p, rtol=1e-3)
    even = balanced(code)
    return Priced(ratio, found.loss, float(max(np.abs(even.W_in).max(), np.abs(even.W_out).max())))


def balanced(code: Code) -> Code:
    """The same product with encoder and decoder of each feature equally long.

    Parameters
    ----------
    code : superposition.codes.fans.Code
        Any code. Where the product is fixed one feature cannot be rescaled alone, so only a common factor is moved.

    Returns
    -------
    superposition.codes.fans.Code

    Examples
    --------
    >>> code = balanced(priority_fan(6, 10))
    >>> bool(np.isclose(np.linalg.norm(code.W_in), np.linalg.norm(code.W_out)))
    True
    """
    factor = np.sqrt(np.linalg.norm(code.W_out) / np.linalg.norm(code.W_in))
    return Code(code.W_in * factor, code.W_out / factor, code.b)


def norm_cost(W: ArrayLike) -> float:
    """Least sum of squares of encoder and decoder per feature that makes W: 2 |W|_* / n, the nuclear norm.

    Parameters
    ----------
    W : array_like, shape (n, n)
        A product W_out W_in.

    Returns
    -------
    float
        2 for every rug of gain one.

    Raises
    ------
    ValueError
        If `W` is not square.

    Examples
    --------
    >>> norm_cost(np.eye(3))
    2.0
    """
    W = checks.real("W", W, open_low=True, open_high=True)
    if W.ndim != 2 or W.shape[0] != W.shape[1]:
        raise ValueError(f"W of shape {W.shape} is not square; allowed: (n, n)")
    return float(2 * np.linalg.svd(W, compute_uv=False).sum() / len(W))


def decayed(p: float, B: int, kind: str, lambda_: float) -> Priced:
    """The best ratio of a fan or cone under weight decay: loss + lambda (|W_in|^2 + |W_out|^2) / n.

    Parameters
    ----------
    p : float
        Probability that a feature is on, in (0, 1].
    B : int
        Number of features, from 4 to 14.
    kind : {"fan", "cone"}
        Which code.
    lambda_ : float
        Strength of the decay, 0 or more.

    Returns
    -------
    Priced
        ``loss`` is the plain loss, ``costs`` what the decay adds.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> [decayed(0.1, 4, "fan", lambda_).ratio for lambda_ in (1e-9, 1e-2)]
    [2.0, 1.0]
    """
    B = checks.whole("B", B, 4, 14)
    checks.one_of("kind", kind, tuple(_RATIOS))
    lambda_ = checks.number("lambda_", lambda_, 0, open_high=True)
    found = [(ratio, *_tuned(kind, B, features.one_probability(p), ratio)) for ratio in _RATIOS[kind]]
    priced = [Priced(ratio, loss, lambda_ * norm) for ratio, loss, norm in found]
    return min(priced, key=lambda one: one.loss + one.costs)


def noisy_loss(code: Code, p: float, noise: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature with Gaussian noise on the hidden activations, the longest column of the encoder being one.

    The bias of every output is lowered by 0 to 4 standard deviations of its noise, or the output is silenced,
    whichever is best on other feature vectors.

    Parameters
    ----------
    code : superposition.codes.fans.Code
        Any code; rescaled so that its longest column of W_in has length 1.
    p : float
        Probability that a feature is on, in (0, 1].
    noise : float
        Standard deviation of each hidden activation, from 0 to 1e100.
    samples : int
        Feature vectors, at least 2; as many choose the bias.
    seed : int
        Seed of feature vectors and noise.

    Returns
    -------
    superposition.rug.rugs.Estimate

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> code = Code(np.eye(2), np.eye(2), np.zeros(2))
    >>> noisy_loss(code, 0.1, 0.0, samples=100, seed=0).mean
    0.0
    """
    noise, seed = checks.number("noise", noise, 0, 1e100), checks.whole("seed", seed, 0)
    samples, p = checks.whole("samples", samples, 2), features.one_probability(p)
    scale = np.linalg.norm(code.W_in, axis=0).max()
    W_in, W_out = code.W_in / scale, code.W_out * scale
    spread = noise * np.linalg.norm(W_out, axis=1)

    def errors(shift, rng):
        x = features.sample(len(code.b), p, samples, seed=rng)
        hidden = x @ W_in.T + noise * rng.standard_normal((samples, len(W_in)))
        return np.square(x - np.maximum(hidden @ W_out.T + code.b - shift * spread, 0))

    chosen = np.argmin([errors(shift, np.random.default_rng(seed)).mean(axis=0) for shift in _SHIFTS], axis=0)
    found = errors(_SHIFTS[chosen], np.random.default_rng(seed + 1)).mean(axis=1)
    return Estimate(float(found.mean()), float(found.std(ddof=1) / np.sqrt(samples)))


_SHIFTS = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e9])  # of a bias, in standard deviations of its noise; the last silences

# ratios of loudness among which the best is chosen
_RATIOS = {"fan": (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0), "cone": (1.0, 1.5, 2.0, 3.0, 4.0)}


@lru_cache(maxsize=4096)
def _tuned(kind, B, p, ratio):
    """Loss of a fan or cone with its best bias and gain, and its least sum of squares."""
    W = {"fan": priority_fan, "cone": cone}[kind](B, ratio).W
    best = best_decoder(W, p, rtol=1e-3)
    return best.loss, norm_cost(best.gain[:, None] * W)
