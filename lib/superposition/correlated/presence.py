"""Reading which features are present from a sum of their vectors: one linear reader and one ReLU for each feature.

A window holds feature i (x_i = 1) with probability p_i, and h is the sum of the vectors of the features that it
holds. Reader i is the best linear one of gain one; its output is x_i + e_i, where the interference e_i is a weighted
sum of the other features.
Source: ours; the shares are as in chapter 9, and the Gaussian interference as in The Persian Rug, eq. 5.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.correlated.ranges import cells_of, present, rival_number, vectors_of
from superposition.moments import moment, moment_direct

LEAST_SHARE, MOST_SHARE = 1e-12, 1 - 1e-9  # of a dimension: noise is finite, and above 0
THRESHOLDS = np.linspace(-1, 6, 141)  # in standard deviations of the noise
LEAST_NOISE = 1e-9


class Reader(NamedTuple):
    """For each feature: the ``reader`` (n, d), ``noise``, ReLU of least loss (``gain``, ``threshold``), and losses.

    The output is gain ReLU(p + reader (h - mean of h) - threshold). ``linear`` is the loss of the best linear reader,
    ``relu`` that of one ReLU if the interference is Gaussian.
    """

    reader: NDArray[np.float64]
    noise: NDArray[np.float64]
    gain: NDArray[np.float64]
    threshold: NDArray[np.float64]
    linear: NDArray[np.float64]
    relu: NDArray[np.float64]


@checked(vectors_of, vectors=ranges.array("n d"), p=present)
def presence_reader(vectors: ArrayLike, p: ArrayLike) -> Reader:
    """The best linear reader of each feature and one ReLU behind it, from vectors and frequencies alone.

    Parameters
    ----------
    vectors : array_like, shape (n, d)
        The vector that each feature adds to the sum, with n above d.

    Notes
    -----
    Source: ours. With V = p (1 - p), A = sum_j V_j w_j w_j^T and r_i = V_i w_i^T A^-1 w_i the best linear reader of
    independent features loses V_i (1 - r_i), and at gain one its noise has the variance V_i (1/r_i - 1). Use
    `presence_losses` instead for features that are not independent.

    Examples
    --------
    >>> best = presence_reader([[1.0], [1.0]], [0.2, 0.2])
    >>> best.noise.round(3), best.linear.round(3)
    (array([0.4, 0.4]), array([0.08, 0.08]))
    """
    vectors, p = np.asarray(vectors, float), np.asarray(p, float)
    V = p * (1 - p)
    back = np.linalg.pinv((vectors * V[:, None]).T @ vectors, hermitian=True)
    rows = vectors @ back
    share = np.clip(V * np.einsum("ij,ij->i", rows, vectors), LEAST_SHARE, MOST_SHARE)
    noise = np.sqrt(V * (1 / share - 1))
    gain, threshold, relu = _best_relu(p, noise)
    return Reader(rows * (V / share)[:, None], noise, gain, threshold, V * (1 - share), relu)


@checked(
    vectors_of, cells_of, vectors=ranges.array("n d"), p=present, best=ranges.instance(Reader),
    cells=ranges.array("cells n", 0, 1), weights=ranges.array("cells", 0, 1), swell=ranges.array("cells", 0, 1e6),
    rivals=rival_number,
)  # fmt: skip
def presence_losses(
    vectors: ArrayLike, p: ArrayLike, best: Reader, cells: ArrayLike, weights: ArrayLike, swell: ArrayLike, *,
    rivals: int = 0,
) -> NDArray[np.float64]:  # fmt: skip
    """Loss of each feature if windows are of several kinds, in each of which the features are independent.

    Parameters
    ----------
    best : Reader
        A result of `presence_reader`; it is not changed.
    cells : array_like, shape (cells, n)
        Probability of each feature in each kind of window.
    weights : array_like, shape (cells,)
        Share of the windows that are of each kind; they add up to 1.
    swell : array_like, shape (cells,)
        Factor of the variance of the interference, for kinds whose windows are larger or smaller than their
        probabilities say.
    rivals : int
        Features of the strongest interference that are summed over exactly; the others are Gaussian. 0 to 8.

    Notes
    -----
    Source: ours. Exact where the interference of the features that are not kept apart is Gaussian in each kind.

    Examples
    --------
    >>> best = presence_reader([[1.0], [1.0]], [0.2, 0.2])
    >>> once = presence_losses([[1.0], [1.0]], [0.2, 0.2], best, [[0.2, 0.2]], [1.0], [1.0])
    >>> float(abs(once - best.relu).max().round(9))
    0.0
    """
    vectors, p = np.asarray(vectors, float), np.asarray(p, float)
    W = best.reader @ vectors.T
    np.fill_diagonal(W, 0)
    squares = W**2
    chosen = np.argsort(-squares * (p * (1 - p)), axis=1)[:, :rivals]
    strong, total = np.take_along_axis(W, chosen, 1), np.zeros(len(p))
    for q, weight, factor in zip(np.asarray(cells, float), np.asarray(weights), np.asarray(swell), strict=True):
        V, of_rivals = q * (1 - q), q[chosen]
        left = np.maximum(squares @ V - (strong**2 * of_rivals * (1 - of_rivals)).sum(axis=1), 0)
        rest = W @ (q - p) - (strong * of_rivals).sum(axis=1) - best.threshold
        total += weight * _apart(q, rest, np.sqrt(factor * left), best.gain, strong, of_rivals)
    return total


def _best_relu(p, noise):
    """Gain, threshold and loss of the best ReLU on x + noise Z: the gain in closed form, the threshold on a grid."""
    losses, gains = [], []
    for t in THRESHOLDS:
        off, on = -t * noise, 1 - t * noise
        product, square = p * moment(1, on, noise), p * moment(2, on, noise) + (1 - p) * moment(2, off, noise)
        gains.append(product / square)
        losses.append(p - product**2 / square)
    at = np.argmin(losses, axis=0)[None]
    gain, loss = (np.take_along_axis(np.array(one), at, 0)[0] for one in (gains, losses))
    return gain, THRESHOLDS[at[0]] * noise, loss


def _apart(q, mean, noise, gain, strong, of_rivals):
    """Loss of gain ReLU(x + mean + noise Z + the rivals that are on), over all sets of rivals."""

    def moments(m, *orders):
        z = m / noise
        return [moment_direct(k, m, noise, z) for k in orders]  # in the tail it is off by 1e-17, which is nothing here

    total, noise = np.zeros(len(q)), np.maximum(noise, LEAST_NOISE)
    for case in range(2 ** strong.shape[1]):
        on = (case >> np.arange(strong.shape[1])) & 1
        off = mean + strong @ on
        (first, second), (false,) = moments(1 + off, 1, 2), moments(off, 2)
        error = q * (1 - 2 * gain * first + gain**2 * second) + (1 - q) * gain**2 * false
        total += np.where(on, of_rivals, 1 - of_rivals).prod(axis=1) * error
    return total
