"""Descents of ReLU(W'W x + b) with four features in the plane, two pairs of partners. Needs torch.

The loss is a sum over the sets of active features, with exact weights; the strengths are a fixed net of points.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.correlated.ranges import pair, partner_probability
from superposition.placing import placed

POINTS = 128  # strengths for each set of features that are on


@placed
@checked(
    pair, p=ranges.one_probability, s=partner_probability, starts=ranges.whole(1, 4096), steps=ranges.steps,
    seed=ranges.whole(0), lr=ranges.number(0, 10, open_low=True),
)  # fmt: skip
def descend_pairs(
    p: float, s: float, *, starts: int, steps: int, seed: int, lr: float = 0.02
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Train ReLU(W'W x + b) on two pairs of partners in the plane, from many random starts. Needs torch.

    Returns
    -------
    losses : numpy.ndarray, shape (starts,)
        Per feature.
    W : numpy.ndarray, shape (starts, 2, 4)
        Directions; `partner_arrangement` names their arrangement.

    Notes
    -----
    Source: ours. Use `pairs_in_plane` instead for the exact losses of the three arrangements.

    Examples
    --------
    >>> losses, W = descend_pairs(0.1, 0.5, starts=2, steps=5, seed=0)
    >>> losses.shape, W.shape
    ((2,), (2, 2, 4))
    """
    from superposition import optimise
    from superposition.devices import torch

    # An input is scaled by the root of its share in the loss, which commutes with ReLU; the last one is the bias's.
    x, weight = _inputs(p, s)
    x = torch.tensor(np.sqrt(weight / 4)[:, None] * np.c_[x, np.ones(len(x))], dtype=torch.float32)
    rng = np.random.default_rng(seed)
    arrays = rng.standard_normal((starts, 2, 4)) * 0.7, np.zeros((starts, 1, 4))
    weights = W, b = [torch.tensor(one, dtype=torch.float32) for one in arrays]

    def forward():
        y = torch.relu(x @ torch.cat((W.mT @ W, b), dim=1).transpose(0, 1).flatten(1)).view(-1, starts, 4)
        return y, y - x[:, None, :4]

    def gradient():
        y, error = forward()
        slope = 2 * (x.T @ (error * y.sign()).flatten(1)).view(5, starts, 4).transpose(0, 1)
        W.grad, b.grad = W @ (slope[:, :4] + slope[:, :4].mT), slope[:, 4:].contiguous()
        return error

    for _ in optimise.adam(weights, gradient, steps=steps, lr=lr):
        pass
    return forward()[1].double().square().sum(dim=(0, 2)).numpy(), W.double().numpy()


@checked(W=ranges.array("2 4"))
def partner_arrangement(W: NDArray[np.float64]) -> str:
    """Arrangement of the partners 0, 1 and 2, 3 in one network of four directions in the plane.

    Returns
    -------
    str
        "antipodal", "orthogonal", "merged", "one dropped" or "other".

    Examples
    --------
    >>> partner_arrangement([[1, -1, 0, 0], [0, 0, 1, -1]])
    'antipodal'
    """
    lengths = np.linalg.norm(W, axis=0)
    if lengths.min() < 0.35:
        return "one dropped"
    cosines = np.array([W[:, i] @ W[:, i + 1] / (lengths[i] * lengths[i + 1]) for i in (0, 2)])
    for name, close in (("antipodal", cosines < -0.8), ("merged", cosines > 0.8), ("orthogonal", abs(cosines) < 0.35)):
        if close.all():
            return name
    return "other"


def _inputs(p, s):
    """Feature vectors (k, 4) and their probabilities (k,)."""
    from scipy.stats import qmc

    pair = {(1, 1): p * s, (1, 0): p * (1 - s), (0, 1): p * (1 - s), (0, 0): 1 - 2 * p + p * s}
    strengths = qmc.Sobol(4, rng=1).random(POINTS)
    both = [(a + b, pair[a] * pair[b]) for a, b in itertools.product(pair, pair) if pair[a] * pair[b] > 0]
    x = np.concatenate([np.array(on) * strengths for on, _ in both])
    weight = np.repeat([chance / POINTS for _, chance in both], POINTS)
    return x, weight
