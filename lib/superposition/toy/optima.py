"""Best weights of the ReLU output model by its exact loss, for few features.

A minimum is the best of many starts, all of which are reported; it is not certified.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from superposition import features, ranges
from superposition.checked import checked
from superposition.toy.loss import k_sparse_loss, population_loss, shaped
from superposition.toy.ranges import dimensions, importances, of_directions, one_model, starting_weights, starts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


SHIFT = 1e-5  # of the central differences: truncation and rounding are both about 1e-11
RATIOS = np.linspace(-1, 0.95, 40)  # thresholds of the outputs divided by the gain; from 1 on no output is open
TOLERANCE = 1e-6  # relative: losses this close are the same minimum


@dataclass(frozen=True)
class Optimum:
    """Best of many minimisations: ``W`` (m, n), ``b`` (n,), ``loss``, and the ``losses`` of all starts.

    ``hits`` starts came within the relative tolerance 1e-6 of the best.
    """

    W: np.ndarray
    b: np.ndarray
    loss: float
    losses: np.ndarray

    @property
    def hits(self) -> int:
        """Number of starts that reached the lowest loss within the tolerance."""
        return int((self.losses <= self.loss * (1 + TOLERANCE) + 1e-12).sum())


@checked(
    dimensions, starts_of, n=ranges.whole(1, 12), m=ranges.whole(1), importance=importances, p=ranges.one_probability,
    starts=ranges.whole(0, 10**6), seed=ranges.seed, first=starting_weights,
)  # fmt: skip
def minimise(
    n: int, m: int, importance: ArrayLike, p: float, *, starts: int = 8, seed: int | np.random.Generator = 0,
    first: Sequence[ArrayLike] = (),
) -> Optimum:  # fmt: skip
    """Lowest exact population loss over all weights and biases, best of many starts.

    Parameters
    ----------
    n : int
        Number of features, from 1 to 12 (4 take a second a start).
    m : int
        Number of hidden dimensions, from 1 to n.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    starts : int
        Number of random starts, 0 or more.
    first : sequence of array_like, shape (m, n)
        Weights to start from as well, with zero bias.

    Returns
    -------
    Optimum
        Not certified: a lower minimum may exist.

    Notes
    -----
    Source: Toy Models, the loss of the ReLU output model. Use `best_scale` instead for given directions.

    Examples
    --------
    >>> found = minimise(2, 1, 1.0, 0.02, starts=1, first=[[[1.0, -1.0]]])
    >>> print(f"{found.loss / (0.02**2 / 3):.3f} of the loss at unit norm")
    0.999 of the loss at unit norm
    """
    rng, importance = np.random.default_rng(seed), np.broadcast_to(np.asarray(importance, float), n)
    begin = [np.append(np.ravel(W), np.zeros(n)) for W in first]
    begin += [np.append(rng.standard_normal(m * n) * 0.7, np.full(n, features.mean(p) / 2)) for _ in range(starts)]

    def loss(flat):
        W = flat[..., : m * n].reshape(*flat.shape[:-1], m, n)
        return population_loss.unchecked(W, flat[..., m * n :], importance, p)

    found = [_descend(loss, start) for start in begin]
    losses = np.array([result.fun for result in found])
    best = found[losses.argmin()].x
    return Optimum(best[: m * n].reshape(m, n), best[m * n :], float(losses.min()), losses)


@checked(of_directions, directions=one_model, importance=importances, p=ranges.one_probability)
def best_scale(
    directions: ArrayLike, importance: ArrayLike = 1.0, p: float | None = None
) -> tuple[float, float, float]:
    """Lowest loss of given directions with a common length and a common bias.

    Parameters
    ----------
    directions : array_like, shape (m, n)
        Unit columns; a zero column is a feature that is dropped.
    importance : array_like, shape (n,) or scalar
        Positive factors of the squared errors.
    p : float, optional
        Probability that a feature is on. Without it the loss is L_1, of exactly one feature on.

    Returns
    -------
    length : float
        Common norm |W_i|.
    bias : float
        Common bias of the features that are represented; a dropped one has its own best bias.
    loss : float
        The smallest loss found, from several starts.

    Notes
    -----
    Source: Toy Models, the terms L_k, with norms and bias free. Use `minimise` instead to let directions move.

    Examples
    --------
    >>> length, bias, loss = best_scale([[1.0, -1.0]], p=0.02)
    >>> print(f"norm {length:.3f}, bias {bias:.4f}")
    norm 1.001, bias 0.0000
    """
    directions, _, importance = shaped(directions, 0.0, importance)
    kept = np.linalg.norm(directions, axis=0) > 0
    dropped_bias = 0.0 if p is None else float(features.mean(p))

    def loss(flat):
        W = flat[..., 0, None, None] * directions
        b = np.where(kept, flat[..., 1, None], dropped_bias)
        return (
            k_sparse_loss.unchecked(W, b, importance, 1)
            if p is None
            else population_loss.unchecked(W, b, importance, p)
        )

    starts = (_of_parabolas(loss), (1.0, 0.0), (1.2, -0.3), (1.5, -1.0), (0.7, 0.0))
    found = [_descend(loss, np.array(start)) for start in starts]
    best = min(found, key=lambda result: result.fun)
    return abs(float(best.x[0])), float(best.x[1]), float(best.fun)


def _of_parabolas(loss):
    """Best length and bias of those on a grid of ratios -bias / length^2, each with its best length.

    At a fixed ratio every output is proportional to length^2, so the loss is a parabola in length^2: two values and
    the loss at length 0 determine it.
    """
    none, once, twice = (loss(np.stack([np.full_like(RATIOS, size) ** 0.5, -RATIOS * size], 1)) for size in (0, 1, 2))
    curvature = (twice - 2 * once + none) / 2
    slope, curved = none - once + curvature, curvature > 0
    size = np.divide(slope, 2 * curvature, out=np.zeros_like(slope), where=curved & (slope > 0))
    best = np.argmin(none - curvature * size**2)
    return size[best] ** 0.5, -RATIOS[best] * size[best]


def _descend(loss, start):
    """Descent with central differences, all evaluated in one call."""
    from scipy.optimize import minimize  # slow to import

    shifts = np.concatenate([np.zeros((1, start.size)), SHIFT * np.eye(start.size), -SHIFT * np.eye(start.size)])

    def objective(flat):
        values = loss(flat + shifts)
        up, down = values[1:].reshape(2, -1)
        return values[0], (up - down) / (2 * SHIFT)

    return minimize(objective, start, jac=True, method="L-BFGS-B", options={"gtol": 1e-10, "ftol": 1e-15})
