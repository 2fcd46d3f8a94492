"""Any number of features in whole dimensions: fans in planes, digons, single features, and the rest dropped.

Source: ours, against The Persian Rug, section 4.2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import features
from superposition.codes import partners, swept
from superposition.codes.as_networks import network_loss
from superposition.codes.chains import CHAIN, chain_code, chain_loss
from superposition.codes.fans import Code, fan_loss, priority_fan

LARGEST_FAN = 126  # features of a fan of ratio 100 that double precision carries
LARGEST = {"float64": LARGEST_FAN, "float32": 40, "bfloat16": 24, "float16": 12}  # in a plane
# Of the loudness of a fan in a plane, and of a swept one with what its angles add.
REACH = {"float64": 1e240, "float32": 1e30, "bfloat16": 1e30, "float16": 1e7}
# Ratio between pairs of a swept fan and growth of its angles, for even and odd numbers of features. The last of an odd
# one has to see as 0 what is two steps louder, in a hidden vector that is rounded.
STEPS = {"float64": ((1e8, 1e4), (1e5, 1e2)), "float32": ((1e4, 30.0), (300.0, 10.0))}
CHAIN_RATIO = {"float64": 1e7, "float32": 1e3}
LADDER, TRIED = (3.0, 6.0, 10.0, 20.0, 50.0), 20_000  # ratios in 16 bits, and the feature vectors that choose


class Plan(NamedTuple):
    """Numbers of features in each plane, in the odd dimension and dropped, and the loss of all."""

    planes: tuple[int, ...]
    odd: int
    dropped: int
    loss: float


def plan(p: float, ns: int, nd: int, largest: int = LARGEST_FAN) -> Plan:
    """The best use of nd dimensions by ns features, spread evenly over the planes; ``loss`` is a sum, not a mean."""
    count, of_plane, silent = nd // 2, _plane_losses(p, largest), float(features.variance(p))
    of_odd = [0.0, 0.0, 2 * cached_digon(p)[1]][: 3 if nd % 2 else 1]
    found = []
    for odd, alone in enumerate(of_odd[: ns + 1]):
        held = np.arange(min(ns - odd, count * largest) + 1)
        size, more = np.divmod(held, max(count, 1))
        total = (count - more) * of_plane[size] + more * of_plane[np.minimum(size + 1, largest)] if count else 0 * held
        total = total + alone + silent * (ns - odd - held)
        at = int(np.argmin(total))
        found.append((float(total[at]), odd, at))
    loss, odd, at = min(found)
    size, more = divmod(at, max(count, 1))
    return Plan((size,) * (count - more) * (count > 0) + (size + 1,) * more, odd, ns - odd - at, loss)


@lru_cache(maxsize=64)
def cached_digon(p: float) -> tuple[float, float]:
    """The ratio c and the loss of the best digon."""
    c, loss = partners.best_digon(p)
    return float(c), float(loss)


@lru_cache(maxsize=64)
def _plane_losses(p: float, largest: int) -> NDArray[np.float64]:
    """The sum of the losses of 0, 1, ..., `largest` features in a plane."""
    two = 2 * cached_digon(p)[1]
    return np.array([0, 0, 0, two, 2 * two, *(size * plane_loss(p, size) for size in range(5, largest + 1))])


def plane_loss(p: float, size: int) -> float:
    """Least loss per feature that is known of five or more features in a plane, at an infinite ratio."""
    if size == CHAIN:
        return chain_loss.unchecked(p)
    return float(swept.swept_loss(p, size) if size <= swept.LARGEST_SWEPT else fan_loss(p, size))


def built(found: Plan, p: float, dtype: str = "float64") -> list[Code]:
    """The blocks of a plan in a number format, without the dropped features."""
    blocks = [block for size in found.planes for block in _plane_blocks(size, p, dtype)]
    if found.odd:
        blocks.append(own_block() if found.odd == 1 else _digon_block(p))
    return blocks


def _plane_blocks(size: int, p: float, dtype: str) -> list[Code]:
    """The blocks in one plane."""
    if size < 5:
        return [own_block()] * (min(size, 2) - max(0, size - 2)) + [_digon_block(p)] * max(0, size - 2)
    return [_fan_block(size, p, dtype)]


@lru_cache(maxsize=256)
def _fan_block(size: int, p: float, dtype: str) -> Code:
    """Five or more features in a plane, at a ratio of loudness that suits the format."""
    reach = REACH[dtype]
    if dtype not in STEPS:
        tried = [made(ratio) for ratio in LADDER for made in _makers(size, p, reach)]
        return min(tried, key=lambda code: _loss_in(code, p, dtype))
    if size == CHAIN:
        return chain_code.unchecked(p, CHAIN_RATIO[dtype])
    if size > swept.LARGEST_SWEPT:
        return priority_fan(size, reach ** (1 / (size - 1)))
    ratio, steep = STEPS[dtype][size % 2]
    growth = steep if size > 6 and steep ** (size / 2) < reach**0.35 else None
    return swept.swept_fan(size, min(ratio, swept.largest_ratio(size, 3.0, growth or 1.0, reach)), 3.0, growth)


def _makers(size, p, reach):
    """Codes, as functions of the ratio of loudness, that are tried in 16 bits."""
    yield lambda ratio: swept.swept_fan(size, max(1.0, min(ratio, swept.largest_ratio(size, 3.0, 1.0, reach))))
    if size == CHAIN:
        yield lambda ratio: chain_code.unchecked(p, ratio)


def _loss_in(code, p, dtype):
    """The loss in a number format; infinite where the format overflows."""
    try:
        return network_loss(code, p, samples=TRIED, seed=0, dtype=dtype).mean
    except ValueError:
        return np.inf


def own_block() -> Code:
    """One feature in a dimension of its own."""
    return Code(np.ones((1, 1)), np.ones((1, 1)), np.zeros(1))


@lru_cache(maxsize=64)
def _digon_block(p: float) -> Code:
    """The best digon, with its best gain and bias."""
    c = cached_digon(p)[0]
    noise = float(np.sqrt(features.variance(p)))
    found = [partners.partner_optimum(weight * noise, weight, p) for weight in (c, 1 / c)]
    W_out = np.array([[float(found[0].a)], [-float(found[1].a) / c]])
    return Code(np.array([[1.0, -c]]), W_out, np.array([float(part.b) for part in found]))
