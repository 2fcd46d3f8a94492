"""Descents of ReLU(W_out W_in x + b) on features that never meet, with their exact loss. Needs torch."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from superposition import optimise
from superposition.devices import torch
from superposition.rug.moments import gauss_legendre

NODES = 24  # strengths: the loss is a cubic between the kinks


def descend(
    G: int, m: int, *, starts: int, steps: int, seed: int, tied: bool = False, lr: float = 0.01
) -> NDArray[np.float64]:
    """Losses per feature over p (starts,), 1/3 for a feature that is dropped, each from a random encoder."""
    # The decoder starts as the encoder's transpose. From a random one half of the features would begin with a negative
    # own weight, and nothing else is on with them to turn it.
    rng = np.random.default_rng(seed)
    encoder = rng.standard_normal((starts, G, m)) / np.sqrt(m)
    arrays = (encoder, np.zeros((starts, G))) if tied else (encoder, encoder, np.zeros((starts, G)))
    weights = [torch.tensor(one, dtype=torch.float32, requires_grad=True) for one in arrays]
    u, w = (torch.tensor(one, dtype=torch.float32) for one in gauss_legendre(NODES))
    own = torch.eye(G)[..., None] * u

    def losses():
        W = weights[-2] @ weights[0].transpose(1, 2)
        y = torch.relu(W[..., None] * u + weights[-1][:, :, None, None])
        return ((y - own).square() @ w).sum(dim=(1, 2)) / G

    for _ in optimise.adam(weights, optimise.by_autograd(weights, lambda: losses().sum()), steps=steps, lr=lr):
        pass
    with torch.no_grad():
        return losses().double().numpy()
