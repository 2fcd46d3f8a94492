"""What the named run on the signs of trained weights computes at one point: plain numbers from plain numbers."""

from __future__ import annotations

import numpy as np

from superposition import checks
from superposition.frequencies import few_active_features, sharing
from superposition.frequencies.unequal_training import train_unequal
from superposition.rug import training

VECTORS = 10_000  # of each half of the simulations


def shuffled_signs(
    *, ns: int, nd: int, exponent: float, steps: int, batch: int, lr: float, seed: int, device: str = "auto"
) -> dict[str, float]:
    """Train a tied autoencoder on unequal features, and draw the signs of its interference anew.

    Parameters
    ----------
    ns, nd : int
        Features (2 to 16384), and hidden dimensions (1 to ns).
    exponent : float
        p_i is in proportion to i^-exponent, with one feature on at once on average; 0 to 10.
    steps, batch : int
        Training steps, and feature vectors a step.
    lr : float
        First learning rate, above 0.
    seed : int
        Seed of weights, data, evaluation and signs.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float
        ``loss`` of the network with its standard error ``loss_se``; ``tuned`` and ``tuned_se``, the same with the best
        gain and bias of each output (`superposition.frequencies.few_active_features.tuned_losses`); ``shuffled`` and
        ``shuffled_se``, that of the same weights if those between different features get signs by the toss of a coin.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    p = sharing.power_law(checks.whole("ns", ns, 2, training.LIMIT), exponent)
    model = train_unequal(p, nd, tied=True, steps=steps, batch=batch, lr=lr, seed=seed, device=device)
    coins, own, mixed = np.random.default_rng([seed, 1]).spawn(3)
    W = model.W_out.astype(float) @ model.W_in
    signs = np.where(np.eye(ns, dtype=bool), 1, coins.choice((-1.0, 1.0), W.shape))
    tuned, tuned_se = few_active_features.tuned_losses(W, p, samples=VECTORS, seed=own)
    shuffled, shuffled_se = few_active_features.tuned_losses(W * signs, p, samples=VECTORS, seed=mixed)
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        "tuned": float(tuned.sum()),
        "tuned_se": tuned_se,
        "shuffled": float(shuffled.sum()),
        "shuffled_se": shuffled_se,
    }
