"""Descents of ReLU(W_out W_in x + b) on features that never meet, with their exact loss. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from superposition import ranges
from superposition.checked import checked
from superposition.correlated.ranges import starting_points, widths
from superposition.placing import placed


@placed
@checked(
    starting_points, G=ranges.whole(1, 1024), dims=widths, starts=ranges.whole(1), steps=ranges.steps,
    seed=ranges.whole(0), tied=ranges.flag, lr=ranges.number(0, 10, open_low=True),
)  # fmt: skip
def descend_exclusive(
    G: int, dims: Sequence[int], *, starts: int, steps: int, seed: int, tied: bool = False, lr: float = 0.01
) -> NDArray[np.float64]:
    """Descend from random encoders on features of which at most one is on, with their exact loss. Needs torch.

    Parameters
    ----------
    dims : sequence of int
        Numbers of dimensions, each from 1 to 1024; they descend together.

    Returns
    -------
    numpy.ndarray, shape (dims, starts)
        Losses per feature divided by p, 1/3 for a feature that is dropped.

    Notes
    -----
    Source: ours. Use `exclusive_code` instead for a code without loss.

    Examples
    --------
    >>> descend_exclusive(2, [1], starts=3, steps=300, seed=0).min().round(2)
    np.float64(0.0)
    """
    # Narrower encoders are padded with zeros, which stay. The decoder starts as the encoder's transpose. From a random
    # one half of the features would begin with a negative own weight, and nothing else is on with them to turn it.
    from superposition import optimise
    from superposition.devices import torch

    encoder = np.zeros((len(dims), starts, G, max(dims)))
    for one, m in zip(encoder, dims, strict=True):
        one[..., :m] = np.random.default_rng(seed).standard_normal((starts, G, m)) / np.sqrt(m)
    arrays = (encoder, encoder, np.zeros((*encoder.shape[:3], 1)))[tied:]
    weights = [torch.tensor(one, dtype=torch.float32) for one in arrays]

    def gradient():
        E, D, b = weights[0], weights[-2], weights[-1]
        lift, slope, _ = _slopes(D @ E.mT, b)
        E.grad, b.grad = slope.mT @ D, lift.sum(dim=-1, keepdim=True)
        D.grad = slope @ E + (E.grad if tied else 0)
        return b.grad  # in place of the loss, which is not used

    for _ in optimise.adam(weights, gradient, steps=steps, lr=lr):
        pass
    E, D, b = (one.double() for one in (weights[0], *weights[-2:]))
    lift, slope, off = _slopes(D @ E.mT, b)
    return ((b * lift + (D @ E.mT - torch.eye(G)) * slope) / 2 + off).sum(dim=(-1, -2)).numpy()


def _slopes(W, b):
    """Slopes in b and W of the loss of outputs b + W u, u a strength, and the loss while an output is off."""
    from superposition.devices import torch

    own, kink = torch.eye(len(b[0, 0])), (b / (0 - W)).nan_to_num().clamp(0, 1)
    low, high = torch.where(W > 0, kink, 0), torch.where(W > 0, 1, kink)  # on for u between them
    one, u, uu = high - low, (high * high - low * low) / 2, (high * high * high - low * low * low) / 3
    err = W - own
    return 2 / len(own) * (b * one + err * u), 2 / len(own) * (b * u + err * uu), own * (1 / 3 - uu) / len(own)
