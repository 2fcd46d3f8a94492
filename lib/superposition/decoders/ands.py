"""The AND of every pair of m bits: what a layer of N units leaves to a linear reader, and two layers read by ReLUs.

Bits are on with probability p, independently; x has shape (..., m), and the M = m (m - 1) / 2 ANDs stand in the order
of `numpy.triu_indices`. *Early*: neurons ReLU(s . x - 1) with random signs s, so that the ANDs are computed in the
layer. *Late*: the layer is a rug, which keeps the bits, and the reader computes. A law is a list of Gaussian cases.

Source: ours. The task is the universal AND of Hänni, Mendel, Vaintrob and Chan, who take random subsets for signs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import binom

from superposition.features import Estimate
from superposition.moments import moment
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from jaxtyping import Float


THRESHOLDS = np.linspace(-1, 3, 81)  # of readers, over their gain


class Cases(NamedTuple):
    """What a reader meets, one entry a case: its probability, the mean and spread of the reading, and the AND."""

    weight: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    target: np.ndarray


def inputs(m: int, p: float) -> tuple[Float[np.ndarray, "inputs m"], Float[np.ndarray, " inputs"]]:
    """All inputs and their probabilities."""
    x = (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(float)
    on = x.sum(axis=1)
    return x, p**on * (1 - p) ** (m - on)


def ands(x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """The AND of every pair."""
    i, j = np.triu_indices(x.shape[-1], 1)
    return np.take(x, i, axis=-1) * np.take(x, j, axis=-1)


def signs(N: int, m: int, seed: int) -> Float[np.ndarray, "N m"]:
    """Random signs, a neuron a row."""
    return np.random.default_rng(seed).choice([-1.0, 1.0], (N, m))


def layer(s: Float[np.ndarray, "N m"], x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... N"]:
    """ReLU(s . x - 1): silent unless two of its bits are on with a plus."""
    return _fired(x @ s.T)


def early_reading(s: Float[np.ndarray, "N m"], x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """4 / N times the sum of s_ki s_kj h_k, for every pair."""
    return 4 / len(s) * layer(s, x) @ ands(s)


def late_reading(rug: Rug, x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """The sum of both bits of every pair, as a rug brings them back."""
    i, j = np.triu_indices(rug.ns, 1)
    back = rug.apply(x)
    return np.take(back, i, axis=-1) + np.take(back, j, axis=-1)


def left_over(h: Float[np.ndarray, "inputs N"], x: Float[np.ndarray, "inputs m"], weight: np.ndarray) -> float:
    """Share of the ANDs' variance beyond linear functions that the best linear reader of h and x misses."""
    rest, wanted = (beyond_linear(a, x, weight) for a in (h, ands(x)))
    u, size, _ = np.linalg.svd(rest, full_matrices=False)
    least = 1e-9 * np.linalg.norm(np.sqrt(weight)[:, None] * h)  # what is linear leaves rounding
    read = u[:, size > least].T @ wanted
    return float(1 - np.sum(read**2) / np.sum(wanted**2))


def beyond_linear(h: Float[np.ndarray, "inputs N"], x: Float[np.ndarray, "inputs m"], weight: np.ndarray) -> np.ndarray:
    """What linear functions of x leave of h (inputs, N), each input times the root of its weight."""
    root = np.sqrt(weight)[:, None]
    linear, *_ = np.linalg.qr(root * np.c_[np.ones(len(x)), x])
    return root * h - linear @ (linear.T @ (root * h))


def sign_moments(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[s_1 s_2 h] and E[h^2] over the signs of a neuron with n bits on, the first for two of these bits."""
    n = np.asarray(n)[..., None]
    k = np.arange(n.max() + 1)
    others = 2 * k - (n - 2)
    second = (_fired(others + 2) - 2 * _fired(others) + _fired(others - 2)) / 4
    first = np.sum(binom.pmf(k, np.maximum(n - 2, 0), 0.5) * np.where(n >= 2, second, 0), axis=-1)
    return first, np.sum(binom.pmf(k, n, 0.5) * _fired(2 * k - n) ** 2, axis=-1)


def early_cases(m: int, N: int, p: float) -> Cases:
    """The law of `early_reading`: means and variances are exact over random signs, Gaussian is the limit of many."""
    n, both, one, none = _on(m, p)
    first, square = sign_moments(n)
    present, absent = 4 / np.sqrt(N) * np.sqrt(square - first**2), 4 / np.sqrt(N) * np.sqrt(square)
    return _cases((both, 4 * first, present, 1), (one + none, 0 * n, absent, 0))


def late_cases(m: int, N: int, p: float) -> Cases:
    """The law of `late_reading`: entries of a rug off its diagonal as independent draws."""
    n, both, one, none = _on(m, p)
    mean, square = Rug(m, N).power_sums()[:2] / (m - 1)
    spread = np.sqrt(max(square - mean**2, 0))
    present = (both, 2 + 2 * (n - 1) * mean, spread * np.sqrt(2 * n), 1)
    half = (one, 1 + (2 * n - 1) * mean, spread * np.sqrt(np.maximum(2 * n - 1, 0)), 0)
    return _cases(present, half, (none, 2 * n * mean, spread * np.sqrt(2 * n), 0))


def reader_loss(cases: Cases, a: float, b: float) -> float:
    """E (AND - ReLU(a u + b))^2 of one pair, u the reading."""
    mean, spread = a * cases.mean + b, a * cases.spread
    first, second = (moment(k, mean, spread) for k in (1, 2))
    return float(cases.weight @ (cases.target - 2 * cases.target * first + second))


def best_reader(cases: Cases) -> tuple[float, float, float]:
    """Least loss of a ReLU reader, its gain and its bias."""
    both = cases.weight * cases.target

    def at(threshold):
        """Loss at the best gain, less that of silence, and this gain."""
        mean = cases.mean - np.asarray(threshold)[..., None]
        first, second = (moment(k, mean, cases.spread) @ weight for k, weight in ((1, both), (2, cases.weight)))
        gain = first / np.where(second > 0, second, 1)
        return -gain * first, gain

    k = int(np.clip(at(THRESHOLDS)[0].argmin(), 1, len(THRESHOLDS) - 2))
    t = minimize_scalar(lambda t: at(t)[0] / both.sum(), bounds=THRESHOLDS[[k - 1, k + 1]], method="bounded").x
    a = float(at(t)[1])
    return reader_loss(cases, a, -a * t), a, -a * float(t)


def simulated(
    reading: Callable[[np.ndarray], np.ndarray], m: int, p: float, a: float, b: float, *, size: int, seed: int
) -> Estimate:
    """The same on drawn inputs, `size` for each number of bits that are on, which then count by its probability."""
    rng, n = np.random.default_rng(seed), _numbers(m, p, 1e-6)
    strata = [rng.permuted(np.tile(np.arange(m) < k, (size, 1)), axis=1).astype(float) for k in n]
    parts = [Estimate.of(np.mean((ands(x) - np.maximum(a * reading(x) + b, 0)) ** 2, axis=1)) for x in strata]
    chance = binom.pmf(n, m, p)
    return Estimate(
        float(chance @ [part.mean for part in parts]), float(np.sqrt(chance**2 @ [part.se**2 for part in parts]))
    )


def _fired(total):
    return np.maximum(total - 1, 0)


def _numbers(m, p, rare):
    """How many bits are on, up to where more are too rare."""
    n = np.arange(m + 1)
    return n[binom.sf(n - 1, m, p) > rare]


def _on(m, p):
    """How many bits are on, and how probably so with both, one or none of a given pair among them."""
    n = _numbers(m, p, 1e-15)
    chance = binom.pmf(n, m, p) / (m * (m - 1))
    return n, chance * n * (n - 1), 2 * chance * n * (m - n), chance * (m - n) * (m - n - 1)


def _cases(*groups):
    return Cases(*(np.concatenate(column) for column in zip(*(np.broadcast_arrays(*g) for g in groups), strict=True)))
