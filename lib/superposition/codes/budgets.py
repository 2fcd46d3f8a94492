"""The price of loud and quiet codes: which code wins where activations are noisy, digits few, weights dear or bounded.

A fan needs ratio^(B - 1) of dynamic range. Each budget sets the best ratio, and with it the loss.
Source: ours. Where the budget is tight the text's rug is the better code (The Persian Rug, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import checks, features
from superposition.codes.best_map import rug_code
from superposition.codes.exact_losses import best_decoder
from superposition.codes.fans import Code, cone, priority_fan
from superposition.codes.graphs import graph_code, graph_tile
from superposition.features import Estimate

KINDS = ("fan", "cone", "graph", "antipodal", "rug")
BUDGETS = ("noise", "digits", "decay", "bound")
FORMATS = {16: np.float16, 32: np.float32, 64: np.float64}
RATIOS = {"fan": (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0), "cone": (1.0, 1.5, 2.0, 3.0)}
SIZES = {"fan": 10, "cone": 15}  # r = 1/5
RUG_SIZE, RUG_RATIO = 512, 0.2
GRAPH = "Higman-Sims"  # r = .23, the nearest to 1/5
HALF_PRECISION = 2.0**14  # half precision reaches from 2^-14 to nearly 2^16: loudness may go as far both ways
SHIFTS = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 1e9])  # of a bias, in standard deviations of its noise; the last silences


class Priced(NamedTuple):
    """A code at the best ratio a budget allows: ``ratio``, ``loss``, and what it ``costs`` beside the loss."""

    ratio: float
    loss: float
    costs: float


class Candidate(NamedTuple):
    """A code of one ratio of loudness: its exact or simulated ``loss``, its ``norm`` and its ``largest`` weight."""

    ratio: float
    code: Code
    loss: float
    norm: float
    largest: float


def under_budget(budget: str, strength: float, kind: str, p: float, *, samples: int, seed: int) -> Priced:
    """The best ratio of loudness that a kind of code has under a budget, and its loss there."""
    # Budgets: hidden noise, its standard deviation beside an encoder whose longest column is 1; the bits of a number to
    # which all is rounded; lambda of lambda (|W_in|^2 + |W_out|^2) / n; a bound on weights of both, equally long.
    checks.one_of("budget", budget, BUDGETS)  # a misspelt name would be taken for another
    checks.one_of("kind", kind, KINDS)
    offered = candidates(kind, p)
    if budget == "decay":
        best = min(offered, key=lambda one: one.loss + strength * one.norm)
        return Priced(best.ratio, best.loss, strength * best.norm)
    if budget == "bound":
        offered = [one for one in offered if one.largest <= strength]
        if not offered:
            raise ValueError(f"strength = {strength} bounds the weights of every {kind}; allowed: a larger one")
        best = min(offered, key=lambda one: one.loss)
        return Priced(best.ratio, best.loss, 0.0)
    measure = noisy_loss if budget == "noise" else rounded_loss
    best = offered[0]
    if len(offered) > 1:
        best = min(offered, key=lambda one: measure(one.code, p, strength, samples=samples, seed=seed).mean)
    return Priced(best.ratio, measure(best.code, p, strength, samples=samples, seed=seed + 2).mean, 0.0)


def takeovers(kinds: Iterable[str], strengths: ArrayLike, costs: ArrayLike) -> list[int]:
    """Rows where another kind starts to be the cheapest, as a budget gets stronger; all arguments of shape (k,)."""
    names, strengths, costs = list(kinds), np.asarray(strengths, float), np.asarray(costs, float)
    found: list[int] = []
    for strength in np.unique(strengths):
        here = np.flatnonzero(strengths == strength)
        best = int(here[np.argmin(costs[here])])
        if not found or names[best] != names[found[-1]]:
            found.append(best)
    return found


@lru_cache(maxsize=64)
def candidates(kind: str, p: float) -> tuple[Candidate, ...]:
    """The codes of a kind, one for each ratio of loudness, with the bias and gain that suit them without a budget."""
    if kind in RATIOS:
        return tuple(_loud(kind, ratio, p) for ratio in RATIOS[kind])
    if kind == "graph":
        tile = graph_tile(GRAPH, p)
        return (_candidate(1.0, graph_code(tile, p), tile.loss),)
    code = rug_code(RUG_SIZE, RUG_RATIO, p, antipodal=kind == "antipodal")
    return (_candidate(1.0, code, noisy_loss(code, p, 0.0, samples=5_000, seed=0).mean),)


def rounded_loss(code: Code, p: float, bits: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature where weights, bias, and hidden activations have the digits of a floating-point format."""
    kind = FORMATS[checks.one_of("bits", bits, tuple(FORMATS))]
    most = np.finfo(kind).max  # values beyond the range are cut to it, and sums are exact before they are rounded
    W_in, W_out, b = (_rounded(value, kind, most) for value in balanced(code))
    x = features.sample(len(b), p, samples, seed=seed)
    hidden = _rounded(x @ W_in.T, kind, most)
    return Estimate.of(np.square(x - np.maximum(hidden @ W_out.T + b, 0)).mean(axis=1))


def ratio_within(B: int, largest: float) -> float:
    """Ratio of loudness of a fan whose encoder and decoder stay below a bound."""
    # Balanced, loudness runs from ratio^((B-1)/2) down to its inverse; the decoder is longer by 1 / sin(pi / (B - 2)).
    return max(1.0, float((largest * np.sin(np.pi / (B - 2))) ** (2 / (B - 1))))


def bounded_fan(p: float, B: int, largest: float) -> Priced:
    """The best fan with bounded weights, with the bias and gain that suit its ratio."""
    ratio = ratio_within(B, largest)
    code = priority_fan(B, ratio)
    found = best_decoder(code.W, p, rtol=1e-3)
    return Priced(ratio, found.loss, _largest_weight(code))


def balanced(code: Code) -> Code:
    """The same product with encoder and decoder equally long: a common factor is all that can be moved."""
    factor = np.sqrt(np.linalg.norm(code.W_out) / np.linalg.norm(code.W_in))
    return Code(code.W_in * factor, code.W_out / factor, code.b)


def norm_cost(W: NDArray[np.float64]) -> float:
    """Least sum of squares of encoder and decoder per feature that makes W: 2 |W|_* / n, the nuclear norm."""
    return float(2 * np.linalg.svd(W, compute_uv=False).sum() / len(W))


def noisy_loss(code: Code, p: float, noise: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature with Gaussian noise on the hidden activations, the longest column of the encoder being one."""
    # The bias of every output is lowered by one of SHIFTS, whichever is best on other feature vectors.
    scale = np.linalg.norm(code.W_in, axis=0).max()
    W_in, W_out = code.W_in / scale, code.W_out * scale
    spread = noise * np.linalg.norm(W_out, axis=1)

    def errors(shift, rng):
        x = features.sample(len(code.b), p, samples, seed=rng)
        hidden = x @ W_in.T + noise * rng.standard_normal((samples, len(W_in)))
        return np.square(x - np.maximum(hidden @ W_out.T + code.b - shift * spread, 0))

    chosen = np.argmin([errors(shift, np.random.default_rng(seed)).mean(axis=0) for shift in SHIFTS], axis=0)
    return Estimate.of(errors(SHIFTS[chosen], np.random.default_rng(seed + 1)).mean(axis=1))


def _rounded(value, kind, most):
    return np.clip(value, -most, most).astype(kind).astype(np.float64)


def _loud(kind, ratio, p):
    code = {"fan": priority_fan, "cone": cone}[kind](SIZES[kind], ratio)
    best = best_decoder(code.W, p, rtol=1e-3)
    return _candidate(ratio, Code(code.W_in, best.gain[:, None] * code.W_out, best.b), best.loss)


def _candidate(ratio, code, loss):
    return Candidate(ratio, code, loss, norm_cost(code.W), _largest_weight(code))


def _largest_weight(code):
    """Of encoder and decoder, equally long."""
    even = balanced(code)
    return float(max(np.abs(even.W_in).max(), np.abs(even.W_out).max()))
