"""Losses per feature of five readers of a known dictionary, each with its kind of evidence."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from superposition import features, ranges
from superposition.checked import checked
from superposition.decoders import ladder
from superposition.decoders.dictionaries import Dictionary
from superposition.decoders.families import Families
from superposition.features import Estimate
from superposition.rug import bayes, meanfield

LAWFUL = ("rug", "random")  # kinds whose interference is Gaussian as ns grows
SHIFTS = np.linspace(-2.5, 0.5, 13)  # of a bias, in standard deviations of the interference
BATCH = 2**22  # numbers of features drawn at once


def _independent(truth):
    """Refuse parents and children."""
    if isinstance(truth, Families):
        raise ValueError("truth = a dictionary of families; allowed: independent features")


class Ceiling(NamedTuple):
    """A reader, its ``loss`` per feature, the evidence ("exact", "law" or "simulation"), and the standard error."""

    reader: str
    loss: float
    evidence: str
    se: float


@checked(
    _independent, truth=ranges.instance(Dictionary), looks=ranges.whole(1, 10_000), samples=ranges.whole(2, 10**7),
    seed=ranges.whole(0),
)  # fmt: skip
def ceilings(truth: Dictionary, *, looks: int = 4, samples: int = 20_000, seed: int = 0) -> list[Ceiling]:
    """Losses of readers that know the directions, for comparison with an autoencoder that has to find them.

    Parameters
    ----------
    truth : Dictionary
        Directions, probabilities and noise of independent features.
    looks : int
        Iterations of the Bayes decoder, from 1 to 10,000.
    samples : int
        Activations of the simulations, from 2 to 1e7.

    Returns
    -------
    list of Ceiling
        Fields ``reader``, ``loss`` (per feature), ``evidence`` and ``se``. The linear reader is exact. One ReLU is the
        law of large rugs where features are equal and there is no noise, else a simulation; one look is the law of
        Gaussian interference, and left out where interference is not Gaussian (antipodal and cone); more looks are
        `state_evolution`, of equal features on a rug; a reader that is given the support solves by least squares, in a
        simulation of at most 2,000.

    Notes
    -----
    Source: ours; The Persian Rug for one ReLU and one look, `state_evolution` for more. Use `scores` instead for the
    codes of an autoencoder.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> for row in ceilings(dictionary(256, 96), looks=3, samples=200):
    ...     print(f"{row.reader:17} {row.loss:.6f} {row.evidence}")
    linear            0.010026 exact
    one ReLU          0.003250 law
    one look, Bayes   0.002818 law
    2 looks           0.000436 law
    3 looks           0.000053 law
    told the support  0.000000 simulation
    """
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
    """The loss of a reader on drawn activations."""
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
    """Least squares on the features that are on, which are given, cut off at 0 and 1."""
    D = truth.directions

    def read(h: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros_like(x)
        for row, seen, on in zip(out, h, x > 0, strict=True):
            row[on] = np.clip(np.linalg.lstsq(D[:, on], seen, rcond=None)[0], 0, 1)
        return out

    return read
