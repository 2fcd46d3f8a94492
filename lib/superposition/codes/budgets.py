"""The price of loud and quiet codes: the best code if activations are noisy, digits few, weights costly or bounded.

A fan needs a dynamic range of ratio^(B - 1). Each budget determines the best ratio, and thereby the loss. All kinds of
codes are compared at the same probability and at the ratio 1/4, which all of them can have.
Source: ours. Where the budget is tight the text's rug is the better code (The Persian Rug, section 4.2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.codes import ranges as within
from superposition.codes.best_map import rug_code, side_by_side
from superposition.codes.exact_losses import best_decoder
from superposition.codes.fans import Code, cone, priority_fan, valid_code
from superposition.codes.graphs import graph_code, graph_tile
from superposition.codes.planes import own_block
from superposition.codes.swept import swept_fan
from superposition.features import Estimate

BUDGETS = ("noise", "digits", "decay", "bound", "range")
FORMATS = {16: np.float16, 32: np.float32, 64: np.float64}
LADDER = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0, 30.0)
RATIOS = {"fan": LADDER, "swept": LADDER, "cone": LADDER[:4]}
KINDS = ("fan", "swept", "cone", "graph", "antipodal", "rug")
MAKERS = {"fan": priority_fan, "swept": lambda B, ratio: swept_fan(B, ratio, 1.0), "cone": cone}
SIZES = {"fan": 8, "swept": 8, "cone": 12}  # r = 1/4
RUG_SIZE, RUG_RATIO = 512, 0.25
GRAPH, INHIBITION, COPIES, OWN = "Higman-Sims", 0.07, 3, 8  # 3 * 23 + 8 dimensions for 3 * 100 + 8 features: r = 1/4
SHIFTS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0])  # of a bias, in deviations of its noise
DECISIVE = 0.1  # share of a sum that one feature vector may have


class Priced(NamedTuple):
    """A code at the best ratio that a budget allows: ``ratio``, ``loss`` with ``se``, and its ``costs``."""

    ratio: float
    loss: float
    costs: float
    se: float = 0.0


class Candidate(NamedTuple):
    """A code of one ratio of loudness: its ``loss``, its ``norm``, its ``largest`` weight and its ``reach``."""

    ratio: float
    code: Code
    loss: float
    norm: float
    largest: float
    reach: float


def _candidates(name: str, value: Any) -> tuple[Candidate, ...]:
    """Codes to choose from, a tuple from `candidate_codes` or of `candidate_code`."""
    found = tuple(value) if isinstance(value, (tuple, list)) and not hasattr(value, "_fields") else (value,)
    if not found:
        raise ValueError(f"{name} = () holds no code; allowed: one or more")
    for one in found:
        valid_code(name, ranges.instance(Candidate)(name, one).code)
    return found


def _digits(budget: str, strength: float) -> None:
    """Refuse numbers of other than 16, 32 and 64 bits."""
    if budget == "digits":
        checks.one_of("strength", strength, tuple(FORMATS))


@checked(
    _digits, budget=ranges.one_of(*BUDGETS), strength=ranges.number(0, open_low=True), offered=_candidates,
    p=ranges.one_probability, samples=within.draws, seed=within.torch_seed,
)  # fmt: skip
def under_budget(
    budget: str, strength: float, offered: tuple[Candidate, ...], p: float, *, samples: int, seed: int
) -> Priced:
    """The best of some codes under a budget, and its loss there.

    Parameters
    ----------
    strength : float
        "noise": standard deviation of hidden noise if the longest column of the encoder is 1; "digits": 16, 32 or 64,
        the bits of the numbers to which all is rounded; "decay": lambda of lambda (|W_in|^2 + |W_out|^2) / n; "bound":
        largest weight of encoder and decoder, equally long; "range": loudest divided by softest feature.
    samples : int
        Feature vectors that measure noise and digits, at least 2; a fifth as many others choose.

    Returns
    -------
    Priced
        Dropped features where no code is within the budget.

    Raises
    ------
    ValueError
        If an argument is outside its range, or one feature vector has a tenth of the loss: more samples decide.

    Notes
    -----
    Source: ours. All codes of `candidate_codes` have r = 1/4.

    Examples
    --------
    >>> from superposition.codes import candidate_code, priority_fan
    >>> offered = tuple(candidate_code(ratio, priority_fan(8, ratio), 1 / ratio) for ratio in (2, 10))
    >>> under_budget("range", 300, offered, 0.05, samples=2, seed=0).ratio
    2.0
    """
    checks.one_of("budget", budget, BUDGETS)  # a misspelt name would be taken for another
    if budget == "decay":
        best = min(offered, key=lambda one: one.loss + strength * one.norm)
        return Priced(best.ratio, best.loss, strength * best.norm)
    if budget in ("bound", "range"):
        within = [one for one in offered if (one.largest if budget == "bound" else one.reach) <= strength * (1 + 1e-9)]
        if not within:
            return Priced(1.0, float(features.variance(p)), 0.0)  # silence
        best = min(within, key=lambda one: one.loss)
        return Priced(best.ratio, best.loss, 0.0)
    measure = _noisy_loss if budget == "noise" else _rounded_loss
    best = offered[0]
    if len(offered) > 1:
        losses = [_trusted(measure, one.code, p, strength, samples // 5, seed) for one in offered]
        best = offered[int(np.argmin(losses))]
    found = measure(best.code, p, strength, samples=samples, seed=seed + 2)
    return Priced(best.ratio, found.mean, 0.0, found.se)


def _audible(name: str, value: Any) -> Code:
    """A `Code` with weights of every feature."""
    found = valid_code(name, value)
    if not found.W_in.size or not np.linalg.norm(found.W_in, axis=0).all() or not found.W_out.any():
        raise ValueError(f"{name} has features without weights; allowed: weights for every feature")
    return found


@checked(kind=ranges.one_of(*KINDS), p=ranges.one_probability)
@lru_cache(maxsize=64)
def candidate_codes(kind: str, p: float) -> tuple[Candidate, ...]:
    """The codes of a kind, one for each ratio of loudness, with the bias and gain that suit them without a budget.

    Returns
    -------
    tuple of Candidate
        All have r = 1/4; one where a kind has no loudness to choose. Source: ours.

    Examples
    --------
    >>> candidate_codes("antipodal", 0.05)[0].code.W_in.shape
    (128, 512)
    """
    checks.one_of("kind", kind, KINDS)
    if kind in MAKERS:
        return tuple(_loud(kind, ratio, p) for ratio in RATIOS[kind])
    if kind == "graph":
        tile = graph_tile(GRAPH, p, INHIBITION)
        code = side_by_side([graph_code(tile, p)] * COPIES + [own_block()] * OWN)
        return (candidate_code(1.0, code, tile.loss * (1 - OWN / len(code.b))),)
    code = rug_code(RUG_SIZE, RUG_RATIO, p, antipodal=kind == "antipodal")
    return (candidate_code(1.0, code, _noisy_loss(code, p, 0.0, samples=2_000, seed=0).mean),)


@checked(ratio=ranges.number(1), code=_audible, loss=ranges.number(0))
def candidate_code(ratio: float, code: Code, loss: float) -> Candidate:
    """A code with its norm, its largest weight and its span of loudness, for `under_budget`.

    Parameters
    ----------
    ratio : float
        Loudness of a feature divided by the loudness of the next; 1 for codes of equal loudness.
    loss : float
        Its loss without a budget, not negative.

    Returns
    -------
    Candidate
        Source: ours.

    Examples
    --------
    >>> from superposition.codes import priority_fan
    >>> round(candidate_code(10, priority_fan(5, 10), 0.01).reach)
    10000
    """
    loud = np.linalg.norm(code.W_in, axis=0)
    return Candidate(ratio, code, loss, _norm_cost(code.W), _largest_weight(code), float(loud.max() / loud.min()))


def _rounded_loss(code: Code, p: float, bits: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature where weights, bias, and hidden activations have the digits of a floating-point format."""
    kind = FORMATS[checks.one_of("bits", bits, tuple(FORMATS))]
    most = np.finfo(kind).max  # values beyond the range are cut to it, and sums are exact before they are rounded
    W_in, W_out, b = (_rounded(value, kind, most) for value in balanced(code))
    x = features.sample(len(b), p, samples, seed=seed)
    hidden = _rounded(x @ W_in.T, kind, most)
    return _decided(np.square(x - np.maximum(hidden @ W_out.T + b, 0)).mean(axis=1), f"bits = {bits}")


@checked(code=valid_code)
def balanced(code: Code) -> Code:
    """The same product with encoder and decoder equally long, by moving a common factor from one to the other.

    Source: ours.

    Examples
    --------
    >>> from superposition.codes import swept_fan
    >>> even = balanced(swept_fan(5, 10))
    >>> bool(np.isclose(np.linalg.norm(even.W_in), np.linalg.norm(even.W_out)))
    True
    """
    factor = np.sqrt(np.linalg.norm(code.W_out) / np.linalg.norm(code.W_in))
    return Code(code.W_in * factor, code.W_out / factor, code.b)


def _norm_cost(W: NDArray[np.float64]) -> float:
    """Least sum of squares of encoder and decoder per feature that makes W: 2 |W|_* / n, the nuclear norm."""
    return float(2 * np.linalg.svd(W, compute_uv=False).sum() / len(W))


def _noisy_loss(code: Code, p: float, noise: float, *, samples: int, seed: int) -> Estimate:
    """Loss per feature with Gaussian noise on hidden activations, the longest column of the encoder having length 1."""
    # Bias and gain of every output suit the noise, chosen on a fifth as many other vectors. Outputs with readers
    # of one length are alike and share them, as few vectors would not distinguish them. The noise of an output is
    # integrated and not drawn: where it is large compared with the strengths, the mean of few draws is useless.
    scale = np.linalg.norm(code.W_in, axis=0).max()
    length = np.linalg.norm(code.W_out, axis=1)
    spread, (_, alike) = noise * scale * length, np.unique(np.round(np.log(length), 6), return_inverse=True)
    x = features.sample(len(code.b), p, max(2, samples // 5), seed=np.random.default_rng(seed))
    shifts = np.add.outer([0.0, -0.05, -0.15], -SHIFTS[:, None] * spread).reshape(-1, len(spread))
    found = np.transpose([_moments(x, code, shift, spread) for shift in shifts], (1, 0, 2))
    overlaps, powers = (np.array([np.bincount(alike, row) for row in part])[:, alike] for part in found)
    best = np.argmax(overlaps**2 / np.maximum(powers, 1e-300), axis=0), np.arange(len(spread))
    gain, shift = overlaps[best] / np.maximum(powers[best], 1e-300), shifts[best]
    x = features.sample(len(code.b), p, samples, seed=np.random.default_rng(seed + 1))
    mean, square = _smoothed(x @ code.W.T + code.b + shift, spread)
    return _decided((x**2 - 2 * gain * x * mean + gain**2 * square).mean(axis=1), f"noise = {noise}")


def _decided(errors: NDArray[np.float64], what: str) -> Estimate:
    """The mean of many errors; refused where one of them is more than a tenth of the sum."""
    if errors.max() > DECISIVE * errors.sum():
        raise ValueError(
            f"{what} leaves a loss that one of {len(errors)} feature vectors decides; allowed: less, or more"
        )
    return Estimate.of(errors)


def _trusted(measure, code, p, strength, samples, seed):
    """The mean loss of a candidate; infinite where one sample decides it."""
    try:
        return measure(code, p, strength, samples=max(100, samples), seed=seed).mean
    except ValueError:
        return np.inf


def _moments(x, code, shift, spread):
    mean, square = _smoothed(x @ code.W.T + code.b + shift, spread)
    return (x * mean).mean(axis=0), square.mean(axis=0)


def _smoothed(y, spread):
    """Mean and mean square of ReLU(y + spread Z) over a normal Z."""
    positive = np.where(spread > 0, spread, 1.0)
    z = np.clip(y / positive, -40, 40)
    inside, density = ndtr(z), np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    still = np.maximum(y, 0)
    mean = np.where(spread > 0, np.where(z >= 40, y, positive * (z * inside + density)), still)
    square = np.where(z >= 40, y**2, positive**2 * ((z**2 + 1) * inside + z * density))
    return np.maximum(mean, 0), np.maximum(np.where(spread > 0, square, still**2), 0)


def _rounded(value, kind, most):
    return np.clip(value, -most, most).astype(kind).astype(np.float64)


def _loud(kind, ratio, p):
    code = MAKERS[kind](SIZES[kind], ratio)
    best = best_decoder(code.W, p, rtol=1e-2)
    return candidate_code(ratio, Code(code.W_in, best.gain[:, None] * code.W_out, best.b), best.loss)


def _largest_weight(code):
    """Largest weight of encoder and decoder, when both are equally long."""
    even = balanced(code)
    return float(max(np.abs(even.W_in).max(), np.abs(even.W_out).max()))
