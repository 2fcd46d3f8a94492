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

ALIKE = ("rug", "antipodal", "cone")  # kinds whose directions all have the same overlaps, where features are equal
DIRECTIONS = 24  # whose losses are computed where directions differ
CROWD = 30.0  # features on at once from which the decoder of several looks has its law
POINTS = 2**13  # of the lattice on which the distribution of the interference lies
REACH = 10.0  # standard deviations of the interference that the lattice covers, beside twice the largest overlap
SHIFTS = np.linspace(-4, 1, 41)  # of a bias, in standard deviations of the interference, where many features are on
NEAR = np.r_[-np.geomspace(1.2, 1e-4, 60), 0, np.geomspace(1e-4, 0.3, 20)]  # and where few are, of a bias itself
CHUNK = 64  # characteristic functions held at once
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
        Fields ``reader``, ``loss`` (per feature), ``evidence`` and ``se``. Linear, one ReLU and one look are exact at
        any number of features that are on, for the overlaps of the dictionary at hand; where directions or
        probabilities differ, the last two are means of 24 features, with a standard error. More looks, of equal
        features on a rug without noise, are `state_evolution` where 30 features or more are on at once, and `decode` in
        a simulation where fewer are. A reader that is given the support solves by least squares, in a simulation; both
        simulations have at most 2,000 activations.

    Notes
    -----
    Source: ours. The interference on a direction is a sum of independent terms, so that its distribution follows from
    the product of their characteristic functions. Use `scores` instead for the codes of an autoencoder.

    Examples
    --------
    >>> from superposition.decoders import dictionary
    >>> for row in ceilings(dictionary(1024, 384), looks=3, samples=200):
    ...     print(f"{row.reader:17} {row.loss:.6f} {row.evidence}")
    linear            0.010026 exact
    one ReLU          0.003277 exact
    one look, Bayes   0.002866 exact
    2 looks           0.000436 law
    3 looks           0.000053 law
    told the support  0.000000 simulation
    """
    rows = [Ceiling("linear", _linear(truth), "exact", 0.0)]
    equal, few = bool(np.ptp(truth.p) == 0), min(samples, 2000)
    rows += _single(truth, 1 if equal and truth.kind in ALIKE else DIRECTIONS, seed)
    if equal and truth.kind == "rug" and truth.noise == 0:
        p = float(truth.p[0])
        if p * len(truth.p) >= CROWD:
            losses = ladder.state_evolution(p, truth.r, looks).loss
            rows += [Ceiling(f"{k} looks", float(loss), "law", 0.0) for k, loss in enumerate(losses[1:], 2)]
        else:
            rows += [_simulated(f"{k} looks", _looking(k), truth, few, seed) for k in range(2, looks + 1)]
    rows.append(_simulated("told the support", _told, truth, few, seed))
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


def _single(truth, count, seed):
    """Losses of one ReLU and of the best function of one look, means over some of the directions."""
    ns = len(truth.p)
    every = np.unique((np.arange(count) + np.random.default_rng(seed).random()) * ns // count).astype(int)
    some = every if count < ns else np.arange(ns)
    found = np.array([_of_direction(truth, i) for i in some])
    left = np.sqrt(1 - len(some) / ns) if count > 1 else 0.0
    rows = zip(("one ReLU", "one look, Bayes"), found.T, strict=True)
    if not left:
        return [Ceiling(name, float(losses.mean()), "exact", 0.0) for name, losses in rows]
    return [Ceiling(name, float(losses.mean()), "exact", left * Estimate.of(losses).se) for name, losses in rows]


def _of_direction(truth, i):
    """Losses of one ReLU, at its best gain and bias, and of the posterior mean of feature i from one look along it."""
    others = np.arange(len(truth.p)) != i
    overlaps, p = (truth.directions[:, i] @ truth.directions)[others], float(truth.p[i])
    noise, masses, step, atom = _interference(overlaps, truth.p[others], truth.noise)
    at_zero = int(np.argmin(np.abs(noise)))
    with_atom = masses.copy()
    with_atom[at_zero] += atom
    return _relu_loss(noise, with_atom, p), _look_loss(masses, with_atom, step, p)


def _interference(overlaps, p, noise):
    """Values on a lattice around the mean, their masses, the step, and the separate mass of exactly zero."""
    mean = float(p @ overlaps) / 2
    reach = REACH * np.sqrt(overlaps**2 @ features.variance(p) + noise**2) + 2 * np.abs(overlaps).max(initial=1e-3)
    step = 2 * reach / POINTS
    waves = 2 * np.pi * np.fft.rfftfreq(POINTS, step)
    product = np.exp(-((noise * waves) ** 2) / 2)
    for start in range(0, len(p), CHUNK):
        some, part = overlaps[start : start + CHUNK], p[start : start + CHUNK, None]
        box = _box(np.abs(some)[:, None] / step)
        terms = np.fft.rfft(box, POINTS)
        product = product * np.prod(1 - part + part * np.where(some[:, None] < 0, terms.conj(), terms), axis=0)
    masses = np.maximum(np.fft.irfft(product, POINTS), 0)
    first = round(mean / step) - POINTS // 2
    places = first + np.arange(POINTS)
    masses = masses[places % POINTS]
    atom = 0.0 if noise else float(np.prod(1 - p))
    masses[-first] -= atom
    return places * step, np.maximum(masses, 0), step, atom


def _box(length):
    """Masses at 0, 1, 2, ... of a variable uniform from 0 to a length, each shared by the two nearest points."""

    def below(s):
        s = np.clip(s, -1, 1)
        return np.where(s < 0, (1 + s) ** 2 / 2, 1 - (1 - s) ** 2 / 2)

    m = np.arange(int(np.max(length)) + 2)
    short = np.maximum(length, 1e-4)  # of a step; shorter ones would be lost to rounding
    return (below(short - m) - below(-m)) / short


def _relu_loss(noise, masses, p):
    """The least loss of a gain times ReLU(x + noise + shift)."""
    from scipy.optimize import minimize_scalar

    mean = float(masses @ noise)
    spread = float(np.sqrt(masses @ (noise - mean) ** 2))

    def left(shift):
        t = noise + shift
        open_, c = np.maximum(t, 0), np.clip(-t, 0, 1)
        overlap = p * masses @ (open_ / 2 + 1 / 3 - c / 2 + c**3 / 6)
        power = masses @ ((1 - p) * open_**2 + p * (open_**2 + open_ + (1 - c) ** 3 / 3))
        return p / 3 - overlap**2 / power if power > 0 else p / 3

    tried = np.unique(np.r_[SHIFTS * spread - mean, NEAR])
    best = int(np.argmin([left(shift) for shift in tried]))
    ends = tried[max(0, best - 1)], tried[min(len(tried) - 1, best + 1)]
    return min(float(minimize_scalar(left, bounds=ends, method="bounded").fun), left(tried[best]))


def _look_loss(masses, with_atom, step, p):
    """The loss of E[x | x + noise]; where no feature is on, the sum is exactly zero, and this is known."""
    from scipy.signal import fftconvolve

    box = _box(np.array([1 / step]))
    seen_on = p * fftconvolve(with_atom, box)
    value = p * fftconvolve(with_atom, box * np.minimum(np.arange(len(box)) * step, 1))
    seen = seen_on
    seen[: len(masses)] += (1 - p) * masses
    return float(p / 3 - np.sum(value[seen > 1e-16] ** 2 / seen[seen > 1e-16]))


def _looking(looks):
    """The iterated Bayes decoder."""
    return lambda truth, _: lambda h, x: ladder.decode(h, truth.directions, float(truth.p[0]), iterations=looks)


def _told(truth, rng):
    """Least squares on the features that are on, which are given, cut off at 0 and 1."""
    D = truth.directions

    def read(h: NDArray[np.float64], x: NDArray[np.float64]) -> NDArray[np.float64]:
        out = np.zeros_like(x)
        for row, seen, on in zip(out, h, x > 0, strict=True):
            row[on] = np.clip(np.linalg.lstsq(D[:, on], seen, rcond=None)[0], 0, 1)
        return out

    return read
