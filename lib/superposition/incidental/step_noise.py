"""The effect of the noise of the steps on sparsity: a drift along motions that the loss leaves free.

A step of size eta moves W along -G, the gradient at the noise of this step. Its mean is the slope of the expected loss.
Its scatter changes the fourth norm of directions at second order. The loss holds lengths and overlaps, but not
rotations common to all rows, W -> W exp(A) with A antisymmetric. The scatter therefore counts as far as it is such a
rotation,

    df/d(eta t) = slope - eta drift,

and for eta above slope / drift nothing is gained. Source: ours, for Incidental Polysemanticity, section 4.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from superposition import ranges
from superposition.checked import checked
from superposition.incidental import noise_loss
from superposition.incidental import ranges as own
from superposition.incidental.noise_laws import one_law
from superposition.incidental.tail_moments import tails

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from superposition.incidental.noise_laws import Law


def _gradients(W: ArrayLike, noises: ArrayLike) -> Float[np.ndarray, "draws n m"]:
    """Gradients (draws, n, m) of the loss of weights (n, m), one vector of noise (draws, m) for all inputs each."""
    W, noises = np.asarray(W, float), np.asarray(noises, float)
    H = W + noises[:, None, :]
    outputs = H @ W.T
    G = 2 * (np.maximum(outputs, 0) - np.eye(len(W))) * (outputs > 0)
    return G.swapaxes(1, 2) @ H + G @ W


def _rotations(W: ArrayLike, moves: ArrayLike) -> Float[np.ndarray, "... m m"]:
    """Antisymmetric A (..., m, m) with W A closest to moves (..., n, m); none among directions that no row uses."""
    W, moves = np.asarray(W, float), np.asarray(moves, float)
    used, basis = np.linalg.eigh(W.T @ W)
    pairs = used[:, None] + used
    turned = W.T @ moves
    A = basis.T @ (turned - turned.swapaxes(-1, -2)) @ basis
    return basis @ np.where(pairs > used[-1] / 2, A / np.maximum(pairs, used[-1] / 2), 0) @ basis.T


def _free_drift(W: ArrayLike, law: Law, *, draws: int, seed: int) -> float:
    """Fall of the mean f / S^2 of weights (n, m) by the scatter of steps of size eta, per eta^2 and step. Ours."""
    W = np.asarray(W, float)
    u = W / np.linalg.norm(W, axis=1, keepdims=True)
    found = _gradients(W, law.sample((draws, W.shape[1]), np.random.default_rng(seed)))
    A = _rotations(W, found - found.mean(axis=0))
    first, second = u @ A, u @ A @ A  # of u exp(A)
    return -float(np.mean(np.sum(6 * u**2 * first**2 + 2 * u**3 * second, axis=2)))


_rate = ranges.number(1e-3, 0.25, open_high=True)


def share_exists(n: int, m: int) -> None:
    """Refuse a simplex in too few dimensions."""
    if m < max(2, n - 1):
        raise ValueError(f"m = {m} is too small for a simplex of n = {n} rows; allowed: from {max(2, n - 1)} on")


def scatter_fits(W: np.ndarray, draws: int) -> None:
    """Refuse more gradients than fit into memory."""
    if draws * W.shape[1] * max(W.shape) > own.MOST:
        raise ValueError(f"draws = {draws} of W of shape {W.shape} are too many; allowed: {own.MOST} numbers")


@checked(share_exists, n=own.several, m=own.neurons)
def free_share(n: int, m: int) -> float:
    """Share of the push on the shut outputs of a simplex that is left where only all rows turn together.

    The simplex has n rows in m dimensions and a random orientation. The share is that of a push by the fourth
    cumulant, to which it is exact at every m. Source: ours, for section 4.

    Examples
    --------
    >>> [round(free_share(n, m), 4) for n, m in ((2, 8), (3, 8), (8, 16))]
    [1.0, 0.5714, 0.7056]
    """
    # The push is a gradient of sum_k u_k^4, whose average over orientations is a zonal function K(u . v) of degree 4,
    # K'(t) = t ((m + 4) t^2 - 3) / (m + 1) if K'(1) = 1. Common turns out of the span take away the mean of the pushes
    # there, those within it are (n - 1)(n - 2) / 2 planes; motions and pushes are compared by their energy.
    o = -1 / (n - 1)
    alike = o * ((m + 4) * o**2 - 3) / (m + 1)  # K'(o)
    bent = 3 * ((m + 4) * o**2 - 1) / (m + 1)  # K''(o)
    outside = (m - n + 1) * (n - 1) * (1 - alike)
    inside = (n - 1) / 2 * ((n - 2) * (1 + (n - 1) * o * alike) - (n - 1) * bent * (1 - o**2))
    return (outside + inside) / (n * (m - 1))


@checked(W=own.rows("n m"), law=one_law)
def free_and_common_push(W: ArrayLike, law: Law) -> tuple[float, float]:
    """Rate of the mean f / S^2 by the shut outputs of unit rows (n, m): each row free, and common rotations only.

    Source: ours, for section 4. Use `fourth_norm_slope` for all outputs.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> [round(push, 4) for push in free_and_common_push([[0.9, 0.1, 0.4], [-0.3, 0.9, -0.3]], bipolar(0.5))]
    [0.04, 0.0317]
    """
    W = np.asarray(W, float)
    n, u = len(W), W / np.linalg.norm(W, axis=1, keepdims=True)
    force = np.empty_like(u)
    for j, w in enumerate(u):
        others = np.delete(u @ w, j)
        force[j] = -2 * tails(others, w, law).mixed[1].sum(axis=0)
    force -= np.sum(force * u, axis=1, keepdims=True) * u
    rise = 4 * (u**3 - np.sum(u**4, axis=1, keepdims=True) * u)
    return float(np.sum(rise * force) / n), float(np.sum(rise * (u @ _rotations(u, force))) / n)


@checked(scatter_fits, W=own.rows("n m"), law=one_law, draws=ranges.whole(2), seed=ranges.seed)
def slope_and_drift(W: ArrayLike, law: Law, *, draws: int, seed: int) -> tuple[float, float]:
    """Slope of the mean f / S^2 of weights (n, m) per eta t, and its fall by scatter per eta^2 and step.

    Their ratio is the learning rate beyond which nothing is gained. Source: ours, for section 4.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> W = [[0.9, 0.1, 0.4], [-0.3, 0.9, -0.3]]
    >>> [round(part, 3) for part in slope_and_drift(W, bipolar(0.5), draws=1000, seed=0)]
    [-0.117, 0.132]
    """
    return noise_loss.fourth_norm_slope(W, law), _free_drift(W, law, draws=draws, seed=seed)


@checked(
    own.descent_settles, W=own.rows("n m"), law=one_law, level=ranges.number(0, 1), eta=_rate,
    most=ranges.whole(1, 10**6),
)  # fmt: skip
def descend_to_level(
    W: Float[np.ndarray, "n m"], law: Law, level: float, *, eta: float = 0.1, most: int = 20_000
) -> Float[np.ndarray, "n m"]:
    """Weights (n, m) on their descent on the expected loss, once the mean f / S^2 has risen to a level.

    Source: ours, for section 4.

    Raises
    ------
    ValueError
        If an argument is outside of its range, or the level is not reached within ``most`` steps.

    Examples
    --------
    >>> from superposition.incidental import bipolar
    >>> W = descend_to_level([[0.9, 0.1, 0.4], [-0.3, 0.9, -0.3]], bipolar(0.5), 0.4)
    >>> bool(np.mean(np.sum(W**4, axis=1) / np.sum(W**2, axis=1) ** 2) >= 0.4)
    True
    """
    settled = round(10 / eta)
    W = noise_loss.descend_expected_loss(W, law, eta=eta / 4, steps=4 * settled, record=[4 * settled])[0]
    for _ in range(0, most, settled):
        if np.mean(np.sum(W**4, axis=1) / np.sum(W**2, axis=1) ** 2) >= level:
            return W
        W = noise_loss.descend_expected_loss(W, law, eta=eta, steps=settled, record=[settled])[0]
    raise ValueError(f"level = {level} is not reached within {most} steps; allowed: one that descent reaches")
