"""Coupled rugs: a chain of overlapping small rugs, which the same decoder reads below the threshold of one rug.

Features are in blocks, and each small rug holds a window of neighbouring blocks. At the ends windows are shorter, so
interference is smaller there, and the features decoded there help to decode the next ones.
Source: spatial coupling is due to Krzakala et al. (2012) and Donoho, Javanmard and Montanari (2013), with fast
transforms to Barbier, Schuelke and Krzakala (2013); chains of rugs and their extrinsic steps are ours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from superposition import checks, features, ranges
from superposition.checked import checked
from superposition.decoders.ladder import LEAST_NOISE, Evolution, extrinsic
from superposition.decoders.ranges import finite, iterations, shaped
from superposition.rug.bayes import bayes_decoder, bayes_loss
from superposition.rug.rugs import Rug

SIGMAS = np.geomspace(LEAST_NOISE, 1e4, 800)  # where the loss of one step is tabulated; far above, it is the variance
LONGEST_CHAIN = 10_000  # blocks
MOST_FEATURES = 2**28  # of all small rugs together: their signs fill two gigabytes
MOST_LOSSES = 10**8  # blocks times iterations


def _whole_chain(self, x):
    """Refuse vectors whose number of features is not that of the chain."""
    shaped("x", x, "batch", self.ns)


def _one_part(self, a, v):
    """Refuse vectors whose number of features is not that of small rug a."""
    shaped("v", v, "batch", self.rugs[checks.whole("a", a, 0, len(self.rugs) - 1)].ns)


def _chain(blocks, width, iterations):
    """Refuse windows that are longer than the chain, and more losses than fit in memory."""
    checks.whole("width", width, 1, blocks)
    checks.whole("iterations", iterations, 1, MOST_LOSSES // blocks)


def _seen_by(readout, code):
    """Refuse readouts that do not contain all small rugs of a chain."""
    if readout.shape[1] != (total := sum(rug.ns for rug in code.rugs)):
        raise ValueError(f"readout has shape {readout.shape}; allowed: (batch, {total}), of all small rugs")


@dataclass(frozen=True, eq=False)
class CoupledRug:
    """A chain of small rugs that overlap: a code that is decoded below the threshold of one rug.

    Small rug a holds the blocks a - width + 1 to a, as far as they exist, with random ``signs`` of its features.

    Parameters
    ----------
    size : int
        Number of features of a block, at least 2.
    dims : int
        Dimensions of each small rug, from 1 to `size`; the chain has blocks + width - 1 small rugs.
    blocks : int
        Blocks of features, from 1 to 10,000.
    width : int
        Neighbouring blocks in a small rug, from 1 to `blocks`; at the ends of the chain fewer.
    seed : int
        Seed of index sets and signs.

    Notes
    -----
    Source: Krzakala et al. (2012) and Donoho, Javanmard and Montanari (2013) for spatial coupling; Barbier, Schuelke
    and Krzakala (2013) with fast transforms. Here each link of the chain is a rug: orthogonal rows, unit diagonal. Use
    `superposition.rug.Rug` instead above the threshold of one rug, `recovery_ratio`.

    Examples
    --------
    >>> code = CoupledRug(256, 24, blocks=8, width=3)
    >>> code.ns, code.nd, round(code.r, 3)
    (2048, 240, 0.117)
    """

    size: int
    dims: int
    blocks: int = field(default=32, kw_only=True)
    width: int = field(default=4, kw_only=True)
    seed: int = field(default=0, kw_only=True)
    rugs: tuple[Rug, ...] = field(init=False, repr=False)
    signs: tuple[NDArray[np.float64], ...] = field(init=False, repr=False)

    def __post_init__(self):
        """Check the sizes and draw the small rugs."""
        size = checks.whole("size", self.size, 2, MOST_FEATURES)
        blocks = checks.whole("blocks", self.blocks, 1, LONGEST_CHAIN)
        sizes = {"size": size, "dims": checks.whole("dims", self.dims, 1, size), "blocks": blocks}
        sizes["width"] = width = checks.whole("width", self.width, 1, blocks)
        sizes["seed"] = checks.whole("seed", self.seed, 0, checks.LARGEST_SEED)
        if size * blocks * width > MOST_FEATURES:
            raise ValueError(
                f"size, blocks, width = {size}, {blocks}, {width}; allowed: a product up to {MOST_FEATURES}"
            )
        for name, value in sizes.items():
            object.__setattr__(self, name, value)
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

    @checked(_one_part, a=ranges.whole(0), v=finite("batch n"))
    def apply(self, a: int, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Multiply vectors (batch, its features) by small rug a, unit diagonal, signs included."""
        return self.rugs[a].apply(v * self.signs[a]) * self.signs[a]

    @checked(_whole_chain, x=finite("batch ns"))
    def readout(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """R x of features (batch, ns) for each small rug and its part of the features, side by side."""
        return np.concatenate([self.apply(a, x[:, self.part(a)]) for a in range(len(self.rugs))], axis=1)


def windows(blocks: int, width: int) -> list[tuple[int, int]]:
    """First block of each window, and the first that it does not hold."""
    return [(max(0, a - width + 1), min(blocks, a + 1)) for a in range(blocks + width - 1)]


@checked(
    _chain, p=ranges.number(1e-6, 1), density=ranges.number(1e-3, 1), blocks=ranges.whole(1, LONGEST_CHAIN),
    width=ranges.whole(1, LONGEST_CHAIN), iterations=iterations,
)  # fmt: skip
def coupled_evolution(p: float, density: float, *, blocks: int = 32, width: int = 4, iterations: int) -> Evolution:
    """Loss of the iterated Bayes decoder on a coupled rug, block by block, as blocks become large.

    Parameters
    ----------
    density : float
        Dimensions of a small rug divided by features of a block, dims / size, in [1e-3, 1]: the ratio of an endless
        chain.
    blocks, width : int
        As in `CoupledRug`.

    Returns
    -------
    Evolution
        Fields ``sigma`` and ``loss``, shape (blocks, iterations). Below a loss of about 1e-18 both are constant.

    Notes
    -----
    Source: ours, in the manner of Donoho, Javanmard and Montanari (2013). Small rug a of ratio r_a meets noise of
    variance (1 / r_a - 1) times the mean of tau over its blocks; precisions of the rugs that hold a block add up to
    1 / sigma^2; v = `superposition.rug.bayes_loss` (p, sigma); the message back to rug a has 1 / tau = 1 / v - 1 / its
    own noise. With width 1 it is `state_evolution`. Use `decode_coupled` instead to decode vectors.

    Examples
    --------
    >>> loss = coupled_evolution(0.05, 0.09, iterations=200).loss  # one rug needs a ratio above 0.1122
    >>> float(loss[:, 100].max().round(3)), bool(loss[:, -1].max() < 1e-15)
    (0.009, True)
    """
    held_by = np.arange(width)[:, None] + np.arange(blocks)  # the small rugs that hold a block, (width, blocks)
    length, tau, found = np.bincount(held_by.flat), np.full(held_by.shape, float(features.variance(p))), []
    for _ in range(iterations):
        error = np.bincount(held_by.flat, tau.flat) / length
        precision = 1 / np.maximum(error * (length / density - 1), LEAST_NOISE**2)[held_by]
        sigma = precision.sum(axis=0) ** -0.5
        v = _one_step(p)(sigma)
        if found and np.array_equal(v, found[-1][1]) and np.array_equal(sigma, found[-1][0]):
            found += [(sigma, v)] * (iterations - len(found))  # a fixed point
            break
        found.append((sigma, v))
        tau = extrinsic(v, precision**-0.5)
    return Evolution(*(np.stack(part, axis=-1) for part in zip(*found, strict=True)))


@cache
def _one_step(p):
    """The loss of one step as a function of sigma, from a table, because a recursion needs it many times."""
    from scipy.interpolate import CubicSpline

    curve = CubicSpline(np.log(SIGMAS), np.log(bayes_loss(p, SIGMAS)))
    return lambda sigma: np.exp(curve(np.log(np.clip(sigma, SIGMAS[0], SIGMAS[-1]))))


@checked(
    _seen_by, readout=finite("batch n"), code=ranges.instance(CoupledRug), p=ranges.one_probability,
    iterations=iterations,
)  # fmt: skip
def decode_coupled(
    readout: NDArray[np.float64], code: CoupledRug, p: float, *, iterations: int = 200
) -> Iterator[NDArray[np.float64]]:
    """Yield the estimates of the iterated Bayes decoder on a coupled rug, one after each iteration.

    Parameters
    ----------
    readout : array_like, shape (batch, features of all small rugs)
        ``code.readout(x)``, which the hidden vectors determine.

    Yields
    ------
    numpy.ndarray, shape (batch, ns)
        Posterior means.

    Notes
    -----
    Source: ours; the step is that of `decode_rug` on each small rug. The estimates of a feature by its rugs are
    averaged with their precisions, and each rug gets back the estimate of the others and the prior. Use
    `coupled_evolution` instead for the mean loss of large blocks.

    Examples
    --------
    >>> from superposition.features import sample
    >>> code, x = CoupledRug(1024, 200, blocks=4, width=2), sample(4096, 0.05, 2, seed=0)
    >>> *_, last = decode_coupled(code.readout(x), code, 0.05, iterations=12)
    >>> bool(np.mean((last - x) ** 2) < 1e-6)
    True
    """
    blocked = (len(readout), code.blocks, code.size)
    seen = np.split(readout, np.cumsum([rug.ns for rug in code.rugs])[:-1], axis=1)
    ratios = [rug.nd / rug.ns for rug in code.rugs]
    guesses = [np.full_like(part, float(features.mean(p))) for part in seen]
    tau = float(features.variance(p))
    for k in range(iterations):
        precision, pull, given = np.zeros((*blocked[:2], 1)), np.zeros(blocked), []
        for a, ((start, stop), ratio) in enumerate(zip(code.windows, ratios, strict=True)):
            rest = seen[a] - code.apply(a, guesses[a])
            if k:  # the part of the error that its rug shows is a fair sample of the whole error
                tau = ratio * np.mean(rest**2, axis=1)[:, None, None]
            noise = np.maximum(tau * (1 / ratio - 1) * np.ones((blocked[0], 1, 1)), LEAST_NOISE**2)
            y = (guesses[a] + rest).reshape(blocked[0], stop - start, code.size)
            precision[:, start:stop] += 1 / noise
            pull[:, start:stop] += y / noise
            given.append((y, noise))
        estimate, variance = map(np.asarray, bayes_decoder(pull / precision, precision**-0.5, p))
        yield estimate.reshape(blocked[0], -1)
        v = variance.mean(axis=2, keepdims=True)
        for guess, (start, stop), (y, noise) in zip(guesses, code.windows, given, strict=True):
            slope = np.minimum(v[:, start:stop] / noise, 0.999)  # without the rug's own message
            guess[:] = ((estimate[:, start:stop] - slope * y) / (1 - slope)).reshape(guess.shape)
