"""What the named runs `rug-recipe` and `rug-edge` compute at one point: a protocol, or a rate, tried. Needs torch."""

from __future__ import annotations

from superposition import checks, devices, features
from superposition.rug import meanfield, protocols, training

DROPPED = 0.1  # diagonal of W below which a feature counts as dropped
FRESH = 2048  # feature vectors that measure the loss after a few steps


def tried_protocol(
    *, ns: int, p: float, r: float, protocol: str, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Train one autoencoder by a protocol, and say whether it collapsed and which features it lost.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    protocol : {"recipe", "earlier", "text"}
        As in `superposition.rug.protocols.protocol`.
    steps : int
        Training steps, at least 1; under the text's protocol an upper limit.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; ``collapsed``, 1 where the output went to zero and the training ended in an error; ``ratio``, the loss
        on fresh feature vectors over the theory at nd / ns (that of an output of zero after a collapse), with its
        standard error ``ratio_se``; ``dropped``, the features whose diagonal is below 0.1, and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours, at the points of The Persian Rug, Figures 2 to 7.
    """
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    theory = float(meanfield.optimum(p, nd / ns).loss)
    found = {"collapsed": 1, "ratio": float(features.second_moment(p)) / theory, "ratio_se": 0.0, "dropped": ns}
    try:
        model = training.train(ns, nd, p, steps=steps, protocol=protocol, seed=seed, device=device)
    except FloatingPointError:
        pass
    else:
        dropped = int((model.rows.diagonal < DROPPED).sum())
        found = {"collapsed": 0, "ratio": model.loss / theory, "ratio_se": model.loss_se / theory, "dropped": dropped}
    return {"nd": nd, **found, "device": str(devices.resolve_device(device))}


def tried_rate(
    *, ns: int, p: float, r: float, shift: float, steps: int, seed: int, device: str = "auto"
) -> dict[str, float | int | str]:
    """Take a few steps at a constant rate from the start of the recipe, and say whether the outputs go to zero.

    Parameters
    ----------
    ns : int
        Number of features, 3 to 16384.
    p : float
        Probability that a feature is on, in (0, 1].
    r : float
        Compression ratio, in (0, 1); nd = max(1, round(r ns)).
    shift : float
        What sets the rate, above 0: see `superposition.rug.protocols.rate_at_shift`.
    steps : int
        Training steps, at least 1.
    seed : int
        Seed of weights, data and evaluation.
    device : str
        See `superposition.devices.resolve_device`.

    Returns
    -------
    dict of str to float, int or str
        ``nd``; the rate ``lr``; ``over_zero``, the loss on fresh feature vectors over that of an output of zero, 1
        where the training ended in an error; ``collapsed``, 1 where it did, or where the loss is no smaller than that
        of an output of zero; and the ``device``.

    Raises
    ------
    ValueError
        If an argument is outside its range.

    Notes
    -----
    Source: ours.
    """
    ns = checks.whole("ns", ns, 3, training.LIMIT)
    nd = max(1, round(checks.number("r", r, 0, 1, open_low=True, open_high=True) * ns))
    lr, over_zero = protocols.rate_at_shift(shift, ns, nd, p), 1.0
    how = {"lr": lr, "schedule": "constant", "seed": seed, "device": device, "eval_samples": FRESH}
    try:
        over_zero = training.train(ns, nd, p, steps=steps, **how).loss / float(features.second_moment(p))
    except FloatingPointError:
        pass
    collapsed = int(over_zero >= 1)
    return {
        "nd": nd,
        "lr": lr,
        "over_zero": over_zero,
        "collapsed": collapsed,
        "device": str(devices.resolve_device(device)),
    }
