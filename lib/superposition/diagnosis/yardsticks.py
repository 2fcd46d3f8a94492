"""Comparisons for a diagnosed model: importance of its features, linear maps, the best code of their frequencies.

Source: The Persian Rug, eq. 14 to 16, for the rug; ours, for the best known codes.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import checks, codes, frequencies
from superposition.diagnosis import company
from superposition.diagnosis.feature_laws import Population
from superposition.ranges import LARGEST

POWER = re.compile(r"\s*([0-9.eE+-]+)\s*(?:\^|\*\*)\s*i\s*")
LOUD, EQUAL = ("fan", "swept"), 4  # codes of unequal loudness; a fan of four is two digons, equally loud
SIX, STEPS, NEAR = 6, (10.0, 20.0, 30.0, 50.0, 100.0, 300.0), 1.05
WHOLE = 2048  # features up to which the eigenvalues of their covariance are worked out
OWN = {"own": "own dimension"}


class Known(NamedTuple):
    """A code to compare with: its ``loss`` per feature, and its ``phase`` in words.

    ``loudness`` is how much louder its loudest feature has to be than its quietest for the loss to be within 5 % of
    this, and ``equal`` the best known loss of features that are all equally loud, where these were worked out.
    """

    loss: float
    phase: str
    loudness: float | None = None
    equal: float | None = None


def importance(given: Any, ns: int) -> NDArray[np.float64] | None:
    """Weight of each feature's squared error, (ns,): as given, a power of its number in words, or from a file."""
    if given is None:
        return None
    power = POWER.fullmatch(given) if isinstance(given, str) else None
    if power:
        given = checks.number("importance", _float(power[1]), 0, LARGEST) ** np.arange(ns)
    elif isinstance(given, (str, os.PathLike)):
        given = company.from_file("importance", os.fspath(given))
    found = checks.real("importance", given, 0, LARGEST)
    if found.shape != (ns,) or not np.any(found):
        raise ValueError(f"importance has shape {found.shape}; allowed: ({ns},), not all 0, or '0.9^i'")
    return found


def linear(population: Population, worth: NDArray[np.float64] | None, nd: int) -> float:
    """The least loss per feature of a linear map through nd dimensions, with a bias: the variance of the other axes."""
    X, ns = population.vectors, len(population.mean)
    worth = np.ones(ns) if worth is None else worth
    if X is None or ns > WHOLE:
        return float(np.sort(worth * population.variance)[: ns - nd].sum() / ns)
    covariance = np.atleast_2d(np.cov(X.T, bias=True)) * np.sqrt(worth[:, None] * worth)
    return float(np.maximum(np.linalg.eigvalsh(covariance)[: ns - nd], 0).sum() / ns)


def best(population: Population, worth: NDArray[np.float64] | None, nd: int) -> Known | None:
    """The best known code for the text's distribution; with importances, the best allocation of the dimensions."""
    if population.p is None or population.each is None:
        return None
    ns = len(population.each)
    if worth is None:
        found = codes.best_known(population.p, nd / ns)
        equal = codes.best_known(population.p, nd / ns, largest_fan=EQUAL)
        return Known(found.loss, found.phase, _loudness(found), equal.loss)
    [found] = frequencies.allocate(population.each, [nd], importance=np.maximum(worth, 1 / LARGEST))
    phases, counts = np.unique(found.phase, return_counts=True)
    words = [OWN.get(phases[i], str(phases[i])) for i in np.argsort(-counts)]
    return Known(float((worth * found.losses).mean()), " and ".join(words))


def _loudness(found):
    """Ratio of loudest to quietest feature of a code: a fan has a step per feature, a swept fan one per pair."""
    steps = [(part.size - 1) / (2 if part.phase == "swept" else 1) for part in found.parts if part.phase in LOUD]
    return _step(found.p) ** max(steps) if steps else 1.0


@lru_cache(maxsize=256)
def _step(p):
    """The ratio of neighbours at which a fan of six is within 5 % of its limit; larger fans need the same to 1 %."""
    limit = float(codes.fan_loss(p, SIX))

    def lost(ratio):
        fan = codes.priority_fan(SIX, ratio)
        return codes.code_loss(fan.W, fan.b, p, rtol=1e-4)

    return next((ratio for ratio in STEPS if lost(ratio) <= NEAR * limit), STEPS[-1])


def _float(text):
    try:
        return float(text)
    except ValueError:
        return text
