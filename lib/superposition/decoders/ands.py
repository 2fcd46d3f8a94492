"""The ANDs of all pairs of m bits: the share that linear readers of N units miss, and two layers read by ReLUs.

Bits are on with probability p, independently; x has shape (..., m), and the M = m (m - 1) / 2 ANDs are in the order of
`numpy.triu_indices`. *Early*: neurons ReLU(s . x - 1) with random signs s, so that the ANDs are computed in the layer.
*Late*: the layer is a rug, which keeps the bits, and the reader computes. A distribution is a list of Gaussian cases.

Source: ours. The task is the universal AND of Hänni, Mendel, Vaintrob and Chan, with signs for their random subsets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from superposition import checks, ranges
from superposition.checked import checked
from superposition.decoders.ranges import bit_probability, bits, finite, shaped
from superposition.features import Estimate
from superposition.moments import moment
from superposition.rug.rugs import Rug

if TYPE_CHECKING:
    from jaxtyping import Float


THRESHOLDS = np.linspace(-1, 3, 81)  # of readers, over their gain


class AndCases(NamedTuple):
    """The distribution of a reading: for each case its probability, the mean and spread of the reading, and the AND."""

    weight: np.ndarray
    mean: np.ndarray
    spread: np.ndarray
    target: np.ndarray


def _same_bits(s, x):
    """Refuse signs (N, m) and bits (..., m) with different m."""
    if s.shape[-1] != x.shape[-1]:
        raise ValueError(f"x has shape {x.shape}; allowed: (..., {s.shape[-1]}), as s has shape {s.shape}")


def _same_inputs(h, x, weight):
    """Refuse units (inputs, N), bits (inputs, m) and weights (inputs,) for different numbers of inputs."""
    shaped("h", h, len(x), "N")
    shaped("weight", weight, len(x))


def _rug_of_bits(rug, x):
    """Refuse bits (..., m) that are not as many as the features of the rug."""
    if not 2 <= rug.ns == x.shape[-1]:
        raise ValueError(f"x has shape {x.shape}; allowed: (..., {rug.ns}), one for each feature of the rug")


def _rug_exists(m, N):
    """Refuse a rug that would have more dimensions than features."""
    checks.whole("N", N, 1, m)


@checked(m=ranges.whole(2, 16), p=ranges.one_probability)
def all_inputs(m: int, p: float) -> tuple[Float[np.ndarray, "inputs m"], Float[np.ndarray, " inputs"]]:
    """All inputs of m bits, and their probabilities.

    Returns
    -------
    x : numpy.ndarray, shape (2^m, m)
    chance : numpy.ndarray, shape (2^m,)

    Examples
    --------
    >>> x, chance = all_inputs(3, 0.1)
    >>> x[3], float(chance[3].round(4))
    (array([1., 1., 0.]), 0.009)
    """
    x = (np.arange(2**m)[:, None] >> np.arange(m) & 1).astype(float)
    on = x.sum(axis=1)
    return x, p**on * (1 - p) ** (m - on)


@checked(x=bits)
def ands_of_pairs(x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """The AND of every pair of bits: their product.

    Examples
    --------
    >>> ands_of_pairs([1, 1, 0])
    array([1., 0., 0.])
    """
    i, j = np.triu_indices(x.shape[-1], 1)
    return np.take(x, i, axis=-1) * np.take(x, j, axis=-1)


@checked(N=ranges.whole(1, 16_384), m=ranges.whole(2, 4096), seed=ranges.seed)
def random_signs(N: int, m: int, seed: int | np.random.Generator) -> Float[np.ndarray, "N m"]:
    """Random signs of N neurons, one row for each neuron.

    Examples
    --------
    >>> random_signs(2, 3, seed=0)
    array([[ 1.,  1.,  1.],
           [-1., -1., -1.]])
    """
    return np.random.default_rng(seed).choice([-1.0, 1.0], (N, m))


@checked(_same_bits, s=bits, x=bits)
def and_layer(s: Float[np.ndarray, "N m"], x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... N"]:
    """A layer of neurons ReLU(s . x - 1), each zero unless at least two of its bits with sign +1 are on.

    Examples
    --------
    >>> and_layer([[1, 1, -1]], [[1, 1, 0], [1, 1, 1]])
    array([[1.],
           [0.]])
    """
    return _fired(x @ s.T)


@checked(_same_bits, s=bits, x=bits)
def early_reading(s: Float[np.ndarray, "N m"], x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """Readings u_ij of `and_layer` with random signs, 4 / N times the sum of s_ki s_kj h_k, for every pair.

    Examples
    --------
    >>> early_reading([[1, 1], [1, -1]], [1, 1])  # one pair
    array([2.])
    """
    return 4 / len(s) * and_layer(s, x) @ ands_of_pairs(s)


@checked(_rug_of_bits, rug=ranges.instance(Rug), x=bits)
def late_reading(rug: Rug, x: Float[np.ndarray, "... m"]) -> Float[np.ndarray, "... M"]:
    """Readings of every pair that a rug keeps: the sum of both bits, with the interference of all others.

    Examples
    --------
    >>> late_reading(Rug(4, 4), [1, 1, 0, 0]).round(9) + 0.0
    array([2., 1., 1., 1., 1., 0.])
    """
    i, j = np.triu_indices(rug.ns, 1)
    back = rug.apply(x)
    return np.take(back, i, axis=-1) + np.take(back, j, axis=-1)


@checked(_same_inputs, h=finite("inputs N"), x=bits, weight=ranges.array("inputs", 0, 1))
def missed_share(h: Float[np.ndarray, "inputs N"], x: Float[np.ndarray, "inputs m"], weight: np.ndarray) -> float:
    """Share of the ANDs' variance beyond linear functions that the best linear reader of h and x misses.

    Parameters
    ----------
    h : array_like, shape (inputs, N)
        Units of a layer.
    x : array_like, shape (inputs, m)
        Bits, as from `all_inputs`.
    weight : array_like, shape (inputs,)
        Probabilities of the inputs.

    Returns
    -------
    float
        From 0 to 1, and at least 1 - N / M.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or all ANDs are linear functions of these inputs.

    Notes
    -----
    Source: ours. Use `simulated_and_loss` instead where there are too many bits for all inputs.

    Examples
    --------
    >>> x, chance = all_inputs(4, 0.2)
    >>> round(missed_share(ands_of_pairs(x)[:, :2], x, chance), 9)  # two of six ANDs are known
    0.666666667
    """
    every = ands_of_pairs(x)
    rest, wanted = (beyond_linear(a, x, weight) for a in (h, every))
    if np.sum(wanted**2) <= 1e-18 * np.sum(weight[:, None] * every**2):
        raise ValueError("x has ANDs that are linear functions of the bits; allowed: all inputs, as of `all_inputs`")
    u, size, _ = np.linalg.svd(rest, full_matrices=False)
    least = 1e-9 * np.linalg.norm(np.sqrt(weight)[:, None] * h)  # linear units leave rounding errors
    read = u[:, size > least].T @ wanted
    return float(1 - np.sum(read**2) / np.sum(wanted**2))


@checked(_same_inputs, h=finite("inputs N"), x=bits, weight=ranges.array("inputs", 0, 1))
def beyond_linear(h: Float[np.ndarray, "inputs N"], x: Float[np.ndarray, "inputs m"], weight: np.ndarray) -> np.ndarray:
    """Residual of units h after the best linear functions of x, each input times the root of its weight.

    Notes
    -----
    Source: ours; the residual of weighted least squares.

    Examples
    --------
    >>> x, chance = all_inputs(3, 0.5)
    >>> float(np.abs(beyond_linear(x @ np.ones((3, 1)), x, chance)).max().round(9))
    0.0
    """
    root = np.sqrt(weight)[:, None]
    linear, *_ = np.linalg.qr(root * np.c_[np.ones(len(x)), x])
    return root * h - linear @ (linear.T @ (root * h))


def _counts(name, value):
    """Numbers of bits that are on, one or an array of whole numbers from 0 to 1024."""
    found = checks.real(name, value, 0, 1024)
    if not found.size or np.any(found != np.floor(found)):
        raise ValueError(f"{name} = {checks.shown(value)} is not whole; allowed: whole numbers from 0 to 1024")
    return found


@checked(n=_counts)
def sign_moments(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """E[s_1 s_2 h] and E[h^2] over the signs of a neuron with n bits on, the first for two of these bits.

    Returns
    -------
    first, square : numpy.ndarray, shape of n

    Notes
    -----
    Source: ours; finite sums over coin tosses.

    Examples
    --------
    >>> sign_moments([1, 2, 3])
    (array([0.  , 0.25, 0.25]), array([0.  , 0.25, 0.5 ]))
    """
    from scipy.stats import binom

    n = np.asarray(n)[..., None]
    k = np.arange(n.max() + 1)
    others = 2 * k - (n - 2)
    second = (_fired(others + 2) - 2 * _fired(others) + _fired(others - 2)) / 4
    first = np.sum(binom.pmf(k, np.maximum(n - 2, 0), 0.5) * np.where(n >= 2, second, 0), axis=-1)
    return first, np.sum(binom.pmf(k, n, 0.5) * _fired(2 * k - n) ** 2, axis=-1)


@checked(m=ranges.whole(2, 1024), N=ranges.whole(1), p=bit_probability)
def early_cases(m: int, N: int, p: float) -> AndCases:
    """Distribution of `early_reading` for N neurons: moments are exact over random signs, Gaussian for many neurons.

    Returns
    -------
    AndCases
        Fields ``weight``, ``mean``, ``spread`` and ``target``, each of shape (cases,), as `best_and_reader` takes them.

    Notes
    -----
    Source: ours. Cases below a probability of 1e-15 are left out. Use `late_cases` instead where a rug keeps the bits.

    Examples
    --------
    >>> loss, a, b = best_and_reader(early_cases(20, 50, 0.05))
    >>> round(loss / 0.05**2, 3)
    0.667
    """
    n, both, one, none = _on(m, p)
    first, square = sign_moments(n)
    present, absent = 4 / np.sqrt(N) * np.sqrt(square - first**2), 4 / np.sqrt(N) * np.sqrt(square)
    return _cases((both, 4 * first, present, 1), (one + none, 0 * n, absent, 0))


@checked(_rug_exists, m=ranges.whole(2, 1024), N=ranges.whole(1), p=bit_probability)
def late_cases(m: int, N: int, p: float) -> AndCases:
    """Distribution of `late_reading` for a rug in N dimensions, N at most m, its entries taken as independent draws.

    Returns
    -------
    AndCases
        As of `early_cases`.

    Notes
    -----
    Source: ours. Use `early_cases` instead where neurons compute the ANDs in the layer.

    Examples
    --------
    >>> loss, a, b = best_and_reader(late_cases(16, 16, 0.05))  # full rank keeps every bit
    >>> round(loss, 9)
    0.0
    """
    n, both, one, none = _on(m, p)
    mean, square = Rug(m, N).power_sums()[:2] / (m - 1)
    spread = np.sqrt(max(square - mean**2, 0))
    present = (both, 2 + 2 * (n - 1) * mean, spread * np.sqrt(2 * n), 1)
    half = (one, 1 + (2 * n - 1) * mean, spread * np.sqrt(np.maximum(2 * n - 1, 0)), 0)
    return _cases(present, half, (none, 2 * n * mean, spread * np.sqrt(2 * n), 0))


def _reader_loss(cases: AndCases, a: float, b: float) -> float:
    """E (AND - ReLU(a u + b))^2 of one pair with the reading u."""
    mean, spread = a * cases.mean + b, a * cases.spread
    first, second = (moment(k, mean, spread) for k in (1, 2))
    return float(cases.weight @ (cases.target - 2 * cases.target * first + second))


@checked(cases=ranges.instance(AndCases))
def best_and_reader(cases: AndCases) -> tuple[float, float, float]:
    """Least loss E (AND - ReLU(a u + b))^2 of a ReLU reader of a reading u, with its gain a and bias b.

    Returns
    -------
    loss, a, b : float

    Raises
    ------
    FloatingPointError
        If the search does not converge.

    Notes
    -----
    Source: ours. The distribution of u is that of `early_cases` or `late_cases`.

    Examples
    --------
    >>> loss, a, b = best_and_reader(late_cases(20, 10, 0.05))
    >>> round(loss / 0.05**2, 3), round(a, 2), round(b, 2)
    (0.595, 0.82, -1.12)
    """
    both = cases.weight * cases.target

    def at(threshold):
        """Loss at the best gain minus the loss of silence, and this gain."""
        mean = cases.mean - np.asarray(threshold)[..., None]
        first, second = (moment(k, mean, cases.spread) @ weight for k, weight in ((1, both), (2, cases.weight)))
        gain = first / np.where(second > 0, second, 1)
        return -gain * first, gain

    k = int(np.clip(at(THRESHOLDS)[0].argmin(), 1, len(THRESHOLDS) - 2))
    found = minimize_scalar(lambda t: at(t)[0] / both.sum(), bounds=THRESHOLDS[[k - 1, k + 1]], method="bounded")
    if not found.success:
        raise FloatingPointError(f"the best threshold was not found: {found.message}")
    t = found.x
    a = float(at(t)[1])
    return _reader_loss(cases, a, -a * t), a, -a * float(t)


@checked(
    reading=ranges.function, m=ranges.whole(2, 1024), p=bit_probability, a=ranges.number(), b=ranges.number(),
    size=ranges.whole(2, 10**6), seed=ranges.seed,
)  # fmt: skip
def simulated_and_loss(
    reading: Callable[[np.ndarray], np.ndarray], m: int, p: float, a: float, b: float, *, size: int,
    seed: int | np.random.Generator,
) -> Estimate:  # fmt: skip
    """Loss of the reader ReLU(a u + b) on drawn inputs, ``size`` inputs for each number of bits that are on.

    Parameters
    ----------
    reading : callable
        Readings u (size, M) of bits (size, m), as `early_reading` or `late_reading`.

    Returns
    -------
    superposition.features.Estimate
        Mean over pairs and inputs, each number of bits weighted by its probability, and the standard error.

    Notes
    -----
    Source: ours. Use `best_and_reader` instead for the closed form.

    Examples
    --------
    >>> silent = simulated_and_loss(lambda x: 0 * ands_of_pairs(x), 12, 0.1, 1.0, 0.0, size=5, seed=0)
    >>> round(silent.mean, 5)
    0.01
    """
    from scipy.stats import binom

    rng, n = np.random.default_rng(seed), _numbers(m, p, 1e-6)
    strata = [rng.permuted(np.tile(np.arange(m) < k, (size, 1)), axis=1).astype(float) for k in n]
    parts = [Estimate.of(np.mean((ands_of_pairs(x) - np.maximum(a * reading(x) + b, 0)) ** 2, axis=1)) for x in strata]
    chance = binom.pmf(n, m, p)
    return Estimate(
        float(chance @ [part.mean for part in parts]), float(np.sqrt(chance**2 @ [part.se**2 for part in parts]))
    )


def _fired(total):
    """ReLU(total - 1)."""
    return np.maximum(total - 1, 0)


def _numbers(m, p, rare):
    """Numbers of bits that are on, up to those with a probability of ``rare``."""
    from scipy.stats import binom

    n = np.arange(m + 1)
    return n[binom.sf(n - 1, m, p) > rare]


def _on(m, p):
    """Numbers of bits that are on, and their probabilities with both, one or none of a given pair among them."""
    from scipy.stats import binom

    n = _numbers(m, p, 1e-15)
    chance = binom.pmf(n, m, p) / (m * (m - 1))
    return n, chance * n * (n - 1), 2 * chance * n * (m - n), chance * (m - n) * (m - n - 1)


def _cases(*groups):
    """One `AndCases` of all groups of cases."""
    return AndCases(
        *(np.concatenate(column) for column in zip(*(np.broadcast_arrays(*g) for g in groups), strict=True))
    )
