"""What a reader of a known dictionary can reach: losses per feature of five readers, each by its kind of evidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import features
from superposition.decoders import ladder
from superposition.decoders.dictionaries import Dictionary
from superposition.features import Estimate
from superposition.rug import bayes, meanfield

LAWFUL = ("rug", "random")  # kinds whose interference is Gaussian as ns grows
SHIFTS = np.linspace(-2.5, 0.5, 13)  # of a bias, in standard deviations of the interference
BATCH = 2**22  # numbers of features drawn at once


class Ceiling(NamedTuple):
    """A reader, its ``loss`` per feature, how that is known ("exact", "law", "simulation"), its standard error."""

    reader: str
    loss: float
    evidence: str
    se: float


def ceilings(truth: Dictionary, *, looks: int = 4, samples: int = 20_000, seed: int = 0) -> list[Ceiling]:
    """Losses of readers that know the directions: linear, one ReLU, Bayes, so many looks, told the support."""
    rows = [Ceiling("linear", _linear(truth), "exact", 0.0)]
    equal, rug = bool(np.ptp(truth.p) == 0), truth.kind == "rug" and truth.noise == 0
    p, variance = float(truth.p[0]), features.variance(truth.p)
    if equal and rug:
        rows.append(Ceiling("one ReLU", float(meanfield.optimum(p, truth.r).loss), "law", 0.0))
    else:
        rows.append(_simulated("one ReLU", _one_relu, truth, samples, seed))
    if truth.kind in LAWFUL:
        overlaps = (truth.directions.T @ truth.directions) ** 2
        sigma = np.sqrt(overlaps @ variance - variance * np.diag(overlaps) + truth.noise**2)
        rows.append(Ceiling("one look, Bayes", float(np.mean(bayes.bayes_loss(truth.p, sigma))), "law", 0.0))
    if equal and rug:
        losses = ladder.state_evolution(p, truth.r, looks).loss
        rows += [Ceiling(f"{k} looks", float(loss), "law", 0.0) for k, loss in enumerate(losses[1:], 2)]
    rows.append(_simulated("told the support", _told, truth, min(samples, 2000), seed))
    return rows


def _linear(truth):
    """The best affine reader of all features from one activation: its loss follows from covariances alone."""
    D, variance = truth.directions, features.variance(truth.p)
    covariance = (D * variance) @ D.T + truth.noise**2 * np.eye(len(D))
    explained = np.einsum("ij,ij->j", D, np.linalg.pinv(covariance, hermitian=True) @ D) * variance**2
    return float(np.mean(variance - explained))


def _simulated(name, reader, truth, samples, seed):
    rng, errors = np.random.default_rng(seed), []
    read = reader(truth, rng)
    for start in range(0, samples, size := max(1, BATCH // len(truth.p))):
        x, h = truth.activations(min(size, samples - start), seed=rng)
        errors.append(np.mean((read(h, x) - x) ** 2, axis=1))
    found = Estimate.of(np.concatenate(errors))
    return Ceiling(name, found.mean, "simulation", found.se)


def _one_relu(truth, rng):
    """A ReLU along each direction, with gain and bias that suit it on vectors of their own."""
    D = truth.directions
    x, h = truth.activations(max(2000, min(20_000, BATCH // len(truth.p))), seed=rng)
    z = h @ D
    noise = (z - x).std(axis=0)
    centre = (z - x).mean(axis=0)
    gain, shift, best = np.zeros(len(noise)), np.zeros(len(noise)), np.full(len(noise), -np.inf)
    for step in SHIFTS:
        out = np.maximum(z - centre + step * noise, 0)
        overlap, power = np.mean(x * out, axis=0), np.mean(out**2, axis=0)
        kept = np.divide(overlap, power, out=np.zeros_like(power), where=power > 0)
        better = kept * overlap > best
        gain, shift, best = (
            np.where(better, *pair) for pair in ((kept, gain), (step * noise, shift), (kept * overlap, best))
        )
    return lambda h, _: gain * np.maximum(h @ D - centre + shift, 0)


def _told(truth, rng):
    """Least squares on the features that are on, which somebody has told, cut off at 0 and 1."""
    D = truth.directions

    def read(h: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros_like(x)
        for row, seen, on in zip(out, h, x > 0, strict=True):
            row[on] = np.clip(np.linalg.lstsq(D[:, on], seen, rcond=None)[0], 0, 1)
        return out

    return read
