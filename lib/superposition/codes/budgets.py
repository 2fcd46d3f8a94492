"""Five codes under four budgets: which one wins where activations are noisy, digits few, or weights dear or bounded.

Source: ours. Where the budget is tight the text's rug is the better code (The Persian Rug, section 4.2).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from superposition import checks, features
from superposition.codes.best_map import rug_code
from superposition.codes.exact_losses import best_decoder
from superposition.codes.fans import Code, cone, priority_fan
from superposition.codes.graphs import graph_code, graph_tile
from superposition.codes.price import Priced, balanced, noisy_loss, norm_cost
from superposition.features import Estimate

KINDS = ("fan", "cone", "graph", "antipodal", "rug")
BUDGETS = ("noise", "digits", "decay", "bound")
FORMATS = {16: np.float16, 32: np.float32, 64: np.float64}
RATIOS = {"fan": (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 20.0, 50.0), "cone": (1.0, 1.5, 2.0, 3.0)}
SIZES = {"fan": 10, "cone": 15}  # r = 1/5
RUG_SIZE, RUG_RATIO = 512, 0.2
GRAPH = "Higman-Sims"  # r = .23, the nearest to 1/5


class Candidate(NamedTuple):
    """A code of one ratio of loudness: its exact or simulated ``loss``, its ``norm`` and its ``largest`` weight."""

    ratio: float
    code: Code
    loss: float
    norm: float
    largest: float


def under_budget(budget: str, strength: float, kind: str, p: float, *, samples: int, seed: int) -> Priced:
    """The best ratio of loudness that a kind of code has under a budget, and its loss there.

    Parameters
    ----------
    budget : {"noise", "digits", "decay", "bound"}
        Hidden noise, its standard deviation beside an encoder whose longest column is 1; the bits of a number, 16, 32
        or 64, to which weights, bias and hidden activations are rounded; weight decay, lambda of
        lambda (|W_in|^2 + |W_out|^2) / n; a bound on the largest weight, with encoder and decoder equally long.
    strength : float
        How much of it, above 0.
    kind : {"fan", "cone", "graph", "antipodal", "rug"}
        Which code: fan and cone of r = 1/5, the Higman-Sims tile (r = .23), rugs of 512 features at r = 1/5.
    p : float
        Probability that a feature is on, in (0, 1].
    samples : int
        Feature vectors that measure, and as many others that choose the ratio.
    seed : int
        Seed of the feature vectors.

    Returns
    -------
    superposition.codes.price.Priced
        ``costs`` is what the decay adds, 0 under other budgets.

    Raises
    ------
    ValueError
        If an argument is outside its range, or no code fits the bound.

    Examples
    --------
    >>> under_budget("digits", 64, "antipodal", 0.05, samples=100, seed=0).costs
    0.0
    """
    checks.one_of("budget", budget, BUDGETS)
    checks.one_of("kind", kind, KINDS)
    strength, p = checks.number("strength", strength, 0, open_low=True), features.one_probability(p)
    samples, seed = checks.whole("samples", samples, 2), checks.whole("seed", seed, 0)
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
    """Where another code starts to be the best, as a budget gets stronger.

    Parameters
    ----------
    kinds : iterable of str
        Kind of each code, k of them.
    strengths : array_like, shape (k,)
        How much of the budget, finite.
    costs : array_like, shape (k,)
        What each costs there, finite.

    Returns
    -------
    list of int
        Rows, by rising strength: the cheapest at a strength, where its kind is not that of the strength before.

    Raises
    ------
    ValueError
        If the shapes differ or a number is not finite.

    Examples
    --------
    >>> takeovers(["fan", "rug", "fan", "rug"], [1, 1, 2, 2], [0.4, 1.0, 1.2, 1.0])
    [0, 3]
    """
    strengths = checks.of_shape("strengths", strengths, ("k",))
    costs = checks.of_shape("costs", costs, strengths.shape)
    names = [str(kind) for kind in kinds] if isinstance(kinds, Iterable) else []
    if len(names) != strengths.size:
        raise ValueError(f"kinds = {checks.shown(kinds)} does not fit; allowed: {strengths.size} names")
    found: list[int] = []
    for strength in np.unique(strengths):
        here = np.flatnonzero(strengths == strength)
        best = int(here[np.argmin(costs[here])])
        if not found or names[best] != names[found[-1]]:
            found.append(best)
    return found


@lru_cache(maxsize=64)
def candidates(kind: str, p: float) -> tuple[Candidate, ...]:
    """The codes of a kind, one for each ratio of loudness, with the bias and gain that suit them without a budget.

    Parameters
    ----------
    kind : {"fan", "cone", "graph", "antipodal", "rug"}
        Which code.
    p : float
        Probability that a feature is on, in (0, 1].

    Returns
    -------
    tuple of Candidate

    Examples
    --------
    >>> [one.ratio for one in candidates("rug", 0.05)]
    [1.0]
    """
    if kind in RATIOS:
        return tuple(_loud(kind, ratio, p) for ratio in RATIOS[kind])
    if kind == "graph":
        tile = graph_tile(GRAPH, p)
        return (_candidate(1.0, graph_code(tile, p), tile.loss),)
    code = rug_code(RUG_SIZE, RUG_RATIO, p, antipodal=kind == "antipodal")
    return (_candidate(1.0, code, noisy_loss(code, p, 0.0, samples=5_000, seed=0).mean),)


def rounded_loss(code: Code, p: float, bits: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature where weights, bias, and hidden activations have the digits of a floating-point format.

    Parameters
    ----------
    code : superposition.codes.fans.Code
        Any code; its encoder and decoder are made equally long first.
    p : float
        Probability that a feature is on, in (0, 1].
    bits : {16, 32, 64}
        Size of a number. Sums are exact before they are rounded.
    samples : int
        Feature vectors, at least 2.
    seed : int
        Their seed.

    Returns
    -------
    superposition.features.Estimate
        Values beyond the format's range are cut to its largest.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Examples
    --------
    >>> fan = priority_fan(10, 50)
    >>> coarse, fine = (rounded_loss(fan, 0.1, bits, samples=2000, seed=0).mean for bits in (16, 64))
    >>> coarse > 2 * fine
    True
    """
    kind = FORMATS[checks.one_of("bits", bits, tuple(FORMATS))]
    samples, p = checks.whole("samples", samples, 2), features.one_probability(p)
    most = np.finfo(kind).max
    W_in, W_out, b = (_rounded(value, kind, most) for value in balanced(code))
    x = features.sample(len(b), p, samples, seed=seed)
    hidden = _rounded(x @ W_in.T, kind, most)
    errors = np.square(x - np.maximum(hidden @ W_out.T + b, 0)).mean(axis=1)
    return Estimate(float(errors.mean()), float(errors.std(ddof=1) / np.sqrt(samples)))


def _rounded(value, kind, most):
    return np.clip(value, -most, most).astype(kind).astype(np.float64)


def _loud(kind, ratio, p):
    code = {"fan": priority_fan, "cone": cone}[kind](SIZES[kind], ratio)
    best = best_decoder(code.W, p, rtol=1e-3)
    return _candidate(ratio, Code(code.W_in, best.gain[:, None] * code.W_out, best.b), best.loss)


def _candidate(ratio, code, loss):
    even = balanced(code)
    return Candidate(
        ratio, code, loss, norm_cost(code.W), float(max(np.abs(even.W_in).max(), np.abs(even.W_out).max()))
    )
