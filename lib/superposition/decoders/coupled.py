"""Coupled rugs: a chain of overlapping small rugs, which the same decoder reads below the threshold of one rug.

Features stand in blocks, and each small rug holds a window of neighbouring blocks. At the ends windows are shorter, so
features there are heard better, and what is known there helps the next ones.
Source: spatial coupling is that of Krzakala et al. (2012) and of Donoho, Javanmard and Montanari (2013), with fast
transforms that of Barbier, Schuelke and Krzakala (2013); chains of rugs and their extrinsic steps are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from superposition import features
from superposition.decoders.ladder import LEAST_NOISE, Evolution, extrinsic
from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.rugs import Rug

SIGMAS = np.geomspace(LEAST_NOISE, 1e4, 800)  # where the loss of one step is tabulated; far above, it is the variance


@dataclass(frozen=True, eq=False)
class CoupledRug:
    """A chain of ``blocks`` blocks of ``size`` features, under small rugs of rank ``dims``; from `coupled_rug`.

    Small rug a holds the blocks a - width + 1 to a, as far as they exist, with random ``signs`` of its features.
    """

    size: int
    dims: int
    blocks: int
    width: int
    seed: int
    rugs: tuple[Rug, ...] = field(init=False, repr=False)
    signs: tuple[NDArray[np.float64], ...] = field(init=False, repr=False)

    def __post_init__(self):
        """Draw the small rugs."""
        seeds = np.random.SeedSequence(self.seed).generate_state(len(self.windows))
        lengths = [(stop - start) * self.size for start, stop in self.windows]
        rugs = tuple(Rug(n, self.dims, seed=int(seed)) for n, seed in zip(lengths, seeds, strict=True))
        rng = np.random.default_rng([self.seed, 1])
        object.__setattr__(self, "rugs", rugs)
        object.__setattr__(self, "signs", tuple(rng.choice([-1.0, 1.0], n) for n in lengths))

    @property
    def ns(self) -> int:
        """Features of the chain."""
        return self.size * self.blocks

    @property
    def nd(self) -> int:
        """Dimensions of the chain."""
        return self.dims * len(self.windows)

    @property
    def r(self) -> float:
        """Compression ratio nd / ns of the whole chain, its ends counted."""
        return self.nd / self.ns

    @property
    def windows(self) -> list[tuple[int, int]]:
        """First block of each small rug, and the first that it does not hold."""
        return windows(self.blocks, self.width)

    def part(self, a: int) -> slice:
        """Features that small rug a holds."""
        start, stop = self.windows[a]
        return slice(start * self.size, stop * self.size)

    def apply(self, a: int, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply vectors (batch, its features) by small rug a, unit diagonal, signs included."""
        return self.rugs[a].apply(v * self.signs[a]) * self.signs[a]

    def readout(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """What hidden vectors say of features (batch, ns): each small rug times its part of them, side by side."""
        return np.concatenate([self.apply(a, x[:, self.part(a)]) for a in range(len(self.rugs))], axis=1)


def windows(blocks: int, width: int) -> list[tuple[int, int]]:
    """First block of each window, and the first that it does not hold."""
    return [(max(0, a - width + 1), min(blocks, a + 1)) for a in range(blocks + width - 1)]


def coupled_evolution(p: float, density: float, blocks: int, width: int, iterations: int) -> Evolution:
    """Loss of every block after every iteration, shape (blocks, iterations), as blocks become large."""
    heard_in = np.arange(width)[:, None] + np.arange(blocks)  # the small rugs that hold a block, (width, blocks)
    length, tau, found = np.bincount(heard_in.flat), np.full(heard_in.shape, float(features.variance(p))), []
    for _ in range(iterations):
        error = np.bincount(heard_in.flat, tau.flat) / length
        precision = 1 / np.maximum(error * (length / density - 1), LEAST_NOISE**2)[heard_in]
        sigma = precision.sum(axis=0) ** -0.5
        v = _one_step(p)(sigma)
        if found and np.array_equal(v, found[-1][1]) and np.array_equal(sigma, found[-1][0]):
            found += [(sigma, v)] * (iterations - len(found))  # it has come to rest
            break
        found.append((sigma, v))
        tau = extrinsic(v, precision**-0.5)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


@cache
def _one_step(p):
    """The loss of one step as a function of sigma: a recursion asks for it too often to compute it each time."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(np.log(SIGMAS), np.log(bayes_loss(p, SIGMAS)))
    return lambda sigma: np.exp(curve(np.log(np.clip(sigma, SIGMAS[0], SIGMAS[-1]))))


def decode_coupled(
    readout: NDArray[np.float64], code: CoupledRug, p: float, iterations: int
) -> Iterator[NDArray[np.float64]]:
    """Give the estimates (batch, ns) of the iterated Bayes decoder on a coupled rug, one after each iteration."""
    blocked = (len(readout), code.blocks, code.size)
    said = np.split(readout, np.cumsum([rug.ns for rug in code.rugs])[:-1], axis=1)
    ratios = [rug.nd / rug.ns for rug in code.rugs]
    guesses = [np.full_like(part, float(features.mean(p))) for part in said]
    tau = float(features.variance(p))
    for k in range(iterations):
        precision, pull, heard = np.zeros((*blocked[:2], 1)), np.zeros(blocked), []
        for a, ((start, stop), ratio) in enumerate(zip(code.windows, ratios, strict=True)):
            rest = said[a] - code.apply(a, guesses[a])
            if k:  # the error of a guess that its rug shows is a fair sample of all of it
                tau = ratio * np.mean(rest**2, axis=1)[:, None, None]
            noise = np.maximum(tau * (1 / ratio - 1) * np.ones((blocked[0], 1, 1)), LEAST_NOISE**2)
            y = (guesses[a] + rest).reshape(blocked[0], stop - start, code.size)
            precision[:, start:stop] += 1 / noise
            pull[:, start:stop] += y / noise
            heard.append((y, noise))
        estimate, variance = map(np.asarray, bayes_decoder(pull / precision, precision**-0.5, p))
        yield estimate.reshape(blocked[0], -1)
        v = variance.mean(axis=2, keepdims=True)
        for guess, (start, stop), (y, noise) in zip(guesses, code.windows, heard, strict=True):
            slope = np.minimum(v[:, start:stop] / noise, 0.999)  # what this rug has said itself is no news to it
            guess[:] = ((estimate[:, start:stop] - slope * y) / (1 - slope)).reshape(guess.shape)
