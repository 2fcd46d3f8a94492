"""What the named run on unequal features computes at one point: plain numbers from plain numbers."""

from __future__ import annotations

import numpy as np

from superposition import checks, devices, features
from superposition.frequencies import sharing
from superposition.frequencies.unequal_training import train_unequal
from superposition.rug import meanfield, ranges, training


def unequal_autoencoder(
    *,
    ns: int,
    nd: int,
    exponent: float,
    decoder: str,
    steps: int,
    batch: int,
    lr: float,
    seed: int,
    device: str = "auto",
) -> dict[str, float | int | str]:
    """Train one autoencoder on features whose frequency falls as a power of their rank, and say how they share.

    Parameters
    ----------
    ns, nd : int
        Features (2 to 16384), and hidden dimensions (1 to ns).
    exponent : float
        p_i is in proportion to i^-exponent, with one feature on at once on average; 0 to 10.
    decoder : {"tied", "free"}
        Whether W_out is the transpose of W_in.
    steps, batch : int
        Training steps, and feature vectors a step.
    lr : float
        First learning rate, above 0.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``loss``, the sum over features on fresh vectors, with its standard error ``loss_se``; ``gaussian``, what it
        would be with Gaussian interference of the same means and variances; ``own``, the features with a share above
        0.9 (`superposition.frequencies.sharing.shares`); ``used``, the part of the dimensions that the decoder uses:
        the sum of V_i / (V_i + sigma_i^2) over nd; ``negative``, the part of the interference power from weights below
        0, weighted by frequency; for each octave k of ranks, from 2^k, the mean ``share_k`` and ``lost_k``, the loss
        over that of an output of zero; and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.
    """
    p = sharing.power_law(checks.whole("ns", ns, 2, training.LIMIT), exponent)
    tied = checks.one_of("decoder", decoder, ("tied", "free")) == "tied"
    how = {"tied": tied, "steps": steps, "batch": batch, "lr": lr, "seed": seed, "device": device}
    model = train_unequal(p, nd, **how)
    share = sharing.shares(model.W_in, p)
    octaves = np.log2(np.arange(1, ns + 1)).astype(int)
    count, on = np.bincount(octaves), np.bincount(octaves, features.second_moment(p))
    rows = _rows(model, p)
    return {
        "loss": model.loss,
        "loss_se": model.loss_se,
        **rows,
        "own": int((share > 0.9).sum()),
        **_each("share", np.bincount(octaves, share) / count),
        **_each("lost", np.bincount(octaves, model.losses) / on),
        "device": str(devices.resolve_device(device)),
    }


def _rows(model, p):
    """The loss if the interference were Gaussian, the part of the dimensions in use, the part below zero."""
    W = model.W_out.astype(float) @ model.W_in
    gain, V = np.maximum(np.diag(W), 1 / ranges.LARGEST), features.variance(p)
    off = W - np.diag(np.diag(W))
    powers = off**2 * V
    variance = powers.sum(axis=1) / gain**2
    gaussian = meanfield.loss(gain, model.bias + off @ features.mean(p), np.sqrt(variance), p)
    negative = (powers * (off < 0)).sum(axis=1) / powers.sum(axis=1)
    return {
        "gaussian": float(gaussian.sum()),
        "used": float((V / (V + variance)).sum() / len(model.W_in)),
        "negative": float(p @ negative / p.sum()),
    }


def _each(name, values):
    return {f"{name}_{k}": float(value) for k, value in enumerate(values)}
