"""The constant in front of n^2 / m: measured stage by stage, and the part of it that is exact.

A network starts with n (n - 1) / 4m pairs of opposite largest weights at one neuron, on average.
First the lengths and overlaps settle, within a time of order 1 (the stage *fast*); then the l1
term thins the encodings out, within 1 / lambda. The fast stage knows nothing of the neurons, only
of overlaps, so its part of the constant follows from the law of the overlaps alone.
Source: Incidental Polysemanticity, section 2.1; everything here is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import checks
from superposition.incidental import many_networks

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


FAST = 25.0  # time after which positive overlaps have settled, without the l1 term
EARLY, FINER = 5.0, 8  # until then steps are so many times shorter: long ones push positive overlaps below zero
END = 6.0  # lambda t at which the flow is stopped, as in the runs of Figure 3
GRID = 400  # quantiles of each largest weight in `opposite_tops_at`


def measured(
    *, n: int, m: int, networks: int, lambda_: float, step: float, seed: int, device: str = "auto"
) -> dict[str, float]:
    """Count shared neurons of many networks, and pairs of opposite tops along the way.

    Parameters
    ----------
    n, m : int
        Features, at least 2, and neurons.
    networks : int
        How many, at least 2.
    lambda_ : float
        Strength of the l1 term in the simplified convention, above 0.
    step : float
        Largest step of `superposition.incidental.many_networks.flow`.
    seed : int
        Seed of the weights at the start.
    device : str
        Not used: NumPy on the CPU.

    Returns
    -------
    dict of str to float
        In units of n (n - 1) / m, so that independent choice is 1/4: ``plain``, polysemantic
        neurons at lambda t = 6; ``constant``, the same less the pairs of opposite tops at the start
        above their exact mean 1/4, which removes most of the noise; ``fast``, pairs of
        opposite tops after the fast stage, corrected in the same way; ``isotropic``, the same from
        the overlaps after the fast stage alone, by `opposite_tops_at`; ``slow`` = ``constant`` -
        ``fast``. Each with its standard error (``_se``). ``overlap``, the mean of W_i . W_j
        sqrt(m) after the fast stage. ``unfinished``, rows with several weights per network.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    n, networks = checks.whole("n", n, 2), checks.whole("networks", networks, 2)
    lambda_ = checks.number("lambda_", lambda_, 0, open_low=True, open_high=True)
    step = checks.number("step", step, 1e-6, 0.5)
    w0 = many_networks.start(networks, n, m, seed=seed)
    settled, end = _flow(w0, 0.0, FAST, step), _flow(w0, lambda_, END / lambda_, step)
    unit = n * (n - 1) / m
    start, fast = (many_networks.opposite_tops(W) / unit for W in (w0, settled))
    plain = many_networks.count_polysemantic(end) / unit
    values = {"plain": plain, "constant": plain - start + 0.25, "fast": fast - start + 0.25, "slow": plain - fast}
    values["isotropic"] = isotropic(settled) / 4
    found = {}
    for name, value in values.items():
        found |= {name: float(value.mean()), f"{name}_se": float(value.std(ddof=1) / np.sqrt(networks))}
    several = ((np.abs(end) > 0.1).sum(axis=2) > 1).sum(axis=1)
    return {**found, "overlap": mean_overlap(settled), "unfinished": float(several.mean())}


def isotropic(W: ArrayLike) -> Float[np.ndarray, " b"]:
    """Pairs of opposite tops that networks (b, n, m) would have in random orientations, over n (n - 1) / 4m."""
    # Exact in the mean for unit rows after the fast stage, which turns with the neurons if they are turned, but for the
    # sums taken as normal in `opposite_tops_at`.
    W = np.asarray(W, float)
    n, m = W.shape[1:]
    nodes = np.linspace(-8, 2, 201)
    log_chance = np.log(opposite_tops_at(nodes, m))
    pairs = np.sqrt(m) * (W @ W.swapaxes(1, 2))[:, *np.triu_indices(n, 1)]
    return np.exp(np.interp(pairs, nodes, log_chance)).mean(axis=1)


def mean_overlap(W: ArrayLike) -> float:
    """Mean of sqrt(m) W_i·W_j over pairs and networks (b, n, m)."""
    W = np.asarray(W, float)
    n, m = W.shape[1:]
    pairs = (W.sum(axis=1) ** 2).sum(axis=1) - (W**2).sum(axis=(1, 2))
    return float(np.sqrt(m) * pairs.mean() / (n * (n - 1)))


def opposite_tops_at(overlap: ArrayLike, m: int) -> np.ndarray:
    """Chance that two random directions of overlap sqrt(m) W_i . W_j have opposite tops at one neuron, times 2m."""
    # Ours. With tops x and -y (largest of m half-normal numbers) the other m - 1 products have mean 0 and variance s^2,
    # so that the overlap has the density of N(-x y, s^2) / sqrt(m), against N(0, 1). The sum of products is taken as
    # normal: good to 2 % at m = 8, better beyond.
    from scipy.special import ndtr, ndtri

    overlap = np.asarray(overlap, float)
    x = ndtri((1 + ((np.arange(GRID) + 0.5) / GRID) ** (1 / m)) / 2)
    rest = 1 - 2 * x * _bell(x) / (2 * ndtr(x) - 1)  # variance of a normal number within -x and x
    mean, width = -np.outer(x, x) / np.sqrt(m), np.sqrt((m - 1) / m * np.outer(rest, rest))
    flat = overlap.ravel()
    chance = [np.mean(_bell((c - mean) / width) / width) for c in flat]
    return (np.array(chance) / _bell(flat)).reshape(overlap.shape)


def two_features(m: int) -> float:
    """Pairs of opposite tops after the fast stage of two features, times 2m: 1 would be chance. Ours."""
    # If W_1 . W_2 > 0 the flow without l1 is W' = (1 - W W^T) W, which ends at the polar factor (W W^T)^(-1/2) W:
    # overlap 0, in a random orientation. If not, only lengths change. Tends to 1 as 1 + 2 ln m / sqrt(2 pi m).
    from scipy.special import ndtr, ndtri

    x = ndtri((1 + ((np.arange(GRID) + 0.5) / GRID) ** (1 / m)) / 2)
    rest = 1 - 2 * x * _bell(x) / (2 * ndtr(x) - 1)
    negative = np.mean(ndtr(np.outer(x, x) / np.sqrt((m - 1) * np.outer(rest, rest))))
    return float(negative + opposite_tops_at(0.0, m) / 2)


def several_features(n: int, m: int) -> float:
    """Pairs of opposite tops after the fast stage of n features, over n (n - 1) / 4m. Ours."""
    # To first order in third parties: one moves a negative overlap c by -(b+ c' + c'+ b) / 2 of its own two overlaps b
    # and c' (half of that if both are positive), on average by 1 / (4 pi m). For many features all overlaps end at 0.
    nodes, weights = np.polynomial.legendre.leggauss(48)
    z = 4 + 4 * nodes  # a normal number's size, up to 8
    shifted = np.minimum((n - 2) / (4 * np.pi * np.sqrt(m)) - z, 0)
    return float(opposite_tops_at(0.0, m) / 2 + 4 * (weights * _bell(z)) @ opposite_tops_at(shifted, m))


def _flow(w0, lambda_, t, step):
    """The flow with shorter steps while lengths and overlaps settle."""
    early = many_networks.flow(w0, lambda_, min(EARLY, t), step=step / FINER)
    return many_networks.flow(early, lambda_, max(t - EARLY, 0.0), step=step)


def _bell(z):
    return np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
