"""What a diagnosed model is compared with: importance of its features, linear maps, the best code of their frequencies.

Source: The Persian Rug, eq. 14 to 16, for the rug; ours, for the best known codes.
"""

from __future__ import annotations

import os
import re
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import checks, codes, frequencies
from superposition.diagnosis import company
from superposition.diagnosis.feature_laws import Population
from superposition.ranges import LARGEST

POWER = re.compile(r"\s*([0-9.eE+-]+)\s*(?:\^|\*\*)\s*i\s*")
WHOLE = 2048  # features up to which the eigenvalues of their covariance are worked out
OWN = {"own": "own dimension"}


class Known(NamedTuple):
    """A code to compare with: its ``loss`` a feature, and its ``phase`` in words."""

    loss: float
    phase: str


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
    """The least loss a feature of a linear map through nd dimensions, with a bias: what the other axes bear."""
    X, ns = population.vectors, len(population.mean)
    worth = np.ones(ns) if worth is None else worth
    if X is None or ns > WHOLE:
        return float(np.sort(worth * population.variance)[: ns - nd].sum() / ns)
    covariance = np.atleast_2d(np.cov(X.T, bias=True)) * np.sqrt(worth[:, None] * worth)
    return float(np.maximum(np.linalg.eigvalsh(covariance)[: ns - nd], 0).sum() / ns)


def best(population: Population, worth: NDArray[np.float64] | None, nd: int) -> Known | None:
    """The best known code of features of the text's law; under importance the best allocation of the dimensions."""
    if population.p is None or population.each is None:
        return None
    ns = len(population.each)
    if worth is None:
        found = codes.best_known(population.p, nd / ns)
        return Known(found.loss, found.phase)
    [found] = frequencies.allocate(population.each, [nd], importance=np.maximum(worth, 1 / LARGEST))
    phases, counts = np.unique(found.phase, return_counts=True)
    words = [OWN.get(phases[i], str(phases[i])) for i in np.argsort(-counts)]
    return Known(float((worth * found.losses).mean()), " and ".join(words))


def _float(text):
    try:
        return float(text)
    except ValueError:
        return text
