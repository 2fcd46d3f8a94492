"""Descents of ReLU(W_out W_in x + b) on features that never meet, with their exact loss. Needs torch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from superposition import optimise
from superposition.devices import torch


def descend(
    G: int, dims: Sequence[int], *, starts: int, steps: int, seed: int, tied: bool = False, lr: float = 0.01
) -> NDArray[np.float64]:
    """Losses per feature over p (dims, starts), 1/3 for a feature that is dropped, each from a random encoder."""
    # Narrower encoders are padded with zeros, which stay. The decoder starts as the encoder's transpose. From a random
    # one half of the features would begin with a negative own weight, and nothing else is on with them to turn it.
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
        return b.grad  # in place of the loss, which nobody asks for

    for _ in optimise.adam(weights, gradient, steps=steps, lr=lr):
        pass
    E, D, b = (one.double() for one in (weights[0], *weights[-2:]))
    lift, slope, off = _slopes(D @ E.mT, b)
    return ((b * lift + (D @ E.mT - torch.eye(G)) * slope) / 2 + off).sum(dim=(-1, -2)).numpy()


def _slopes(W, b):
    """Of the loss of outputs b + W u, u a strength: its slopes in b and W, and what is lost while an output is off."""
    own, kink = torch.eye(len(b[0, 0])), (b / (0 - W)).nan_to_num().clamp(0, 1)
    low, high = torch.where(W > 0, kink, 0), torch.where(W > 0, 1, kink)  # on for u between them
    one, u, uu = high - low, (high * high - low * low) / 2, (high * high * high - low * low * low) / 3
    err = W - own
    return 2 / len(own) * (b * one + err * u), 2 / len(own) * (b * u + err * uu), own * (1 / 3 - uu) / len(own)
